"""Learn to write, letter by letter: a recurrent network with gated units (GRU) reads texts, and continues one.

    python examples/text.py               # half a minute
    python examples/text.py --steps 200   # and other options: --help
    python examples/text.py --device cuda # on a device; theano-gpu-backend has to be installed

The text is NumPy's docstrings. It shows a progress bar while it trains, prints what the network
writes, and draws the loss, also on a part of the text that it does not read, and the probabilities that it gave to
each letter into text.png.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import time

import matplotlib
import numpy as np
from tqdm import tqdm

import theano
import theano.tensor as T

matplotlib.use("Agg")
from matplotlib import pyplot as plt

BATCH = 32
LENGTH = 64
HIDDEN = 192


def load_text():
    """Return the text as numbers, and the letters that these stand for."""
    pages = {inspect.getdoc(getattr(module, name)) for module in (np, np.linalg, np.fft, np.ma) for name in dir(module)}
    text = "\n\n".join(sorted(page for page in pages if page))
    text = re.sub(" {5,}", "    ", "".join(c for c in text if 31 < ord(c) < 127 or c == "\n"))
    letters = sorted(set(text))
    number = {c: i for i, c in enumerate(letters)}
    return np.array([number[c] for c in text], "int32"), letters


class Writer:
    """Letters -> 192 gated units, which remember -> a probability for each next letter.

    The units are those of Cho et al., 2014: https://arxiv.org/abs/1406.1078

    Parameters
    ----------
    letters : int
        How many different ones there are.
    rng : numpy.random.Generator
        Chooses the weights to start from.
    """

    def __init__(self, letters, rng):
        def weights(rows, columns, name, gain=1.0):
            start = rng.normal(size=(rows, columns)) * gain / np.sqrt(rows)
            return theano.shared(start.astype("float32"), name=name)

        self.read = weights(letters, 3 * HIDDEN, "read", gain=np.sqrt(letters) * 0.3)
        self.gates = weights(HIDDEN, 2 * HIDDEN, "gates")
        self.recall = weights(HIDDEN, HIDDEN, "recall")
        self.bias = theano.shared(np.zeros(3 * HIDDEN, "float32"), name="bias")
        self.say = weights(HIDDEN, letters, "say")
        self.offset = theano.shared(np.zeros(letters, "float32"), name="offset")
        self.params = [self.read, self.gates, self.recall, self.bias, self.say, self.offset]

    def step(self, heard, h):
        """Return the units after a letter, of which ``heard`` is the row of ``read``."""
        both = T.nnet.sigmoid(heard[:, : 2 * HIDDEN] + T.dot(h, self.gates))
        update, reset = both[:, :HIDDEN], both[:, HIDDEN:]
        new = T.tanh(heard[:, 2 * HIDDEN :] + T.dot(reset * h, self.recall))
        return update * h + (1 - update) * new

    def units(self, chars, first):
        """Return the units after each letter of ``chars``, (time, batch)."""
        states, _ = theano.scan(self.step, sequences=[self.read[chars] + self.bias], outputs_info=[first])
        return states

    def scores(self, h):
        """Return what the softmax of the next letter is taken of."""
        return T.dot(h, self.say) + self.offset


def adam_updates(loss, params, rate):
    """Return what replaces each parameter after a step of Adam, its gradient at most 1 long.

    Kingma and Ba, 2015: https://arxiv.org/abs/1412.6980
    """
    slopes = T.grad(loss, params)
    length = T.sqrt(sum((g**2).sum() for g in slopes))
    scale = T.minimum(np.float32(1), 1 / length)
    count = theano.shared(np.float32(0), name="count")
    now = count + 1
    updates = [(count, now)]
    for param, slope in zip(params, slopes, strict=True):
        mean, square = (theano.shared(np.zeros_like(param.get_value())) for _ in range(2))
        g = slope * scale
        new_mean = np.float32(0.9) * mean + np.float32(0.1) * g
        new_square = np.float32(0.99) * square + np.float32(0.01) * g**2
        right = T.sqrt(1 - np.float32(0.99) ** now) / (1 - np.float32(0.9) ** now)
        moved = param - rate * right * new_mean / (T.sqrt(new_square) + np.float32(1e-8))
        updates += [(mean, new_mean), (square, new_square), (param, moved)]
    return updates


def compile_functions(writer):
    """Return the functions for a step of training, for the loss alone, and for one letter after another."""
    chars, rate = T.imatrix("chars"), T.fscalar("rate")
    memory = theano.shared(np.zeros((BATCH, HIDDEN), "float32"), name="memory")
    states = writer.units(chars[:-1], memory)
    scores = writer.scores(states.reshape((-1, HIDDEN)))
    right = chars[1:].flatten()
    loss = T.nnet.categorical_crossentropy(T.nnet.softmax(scores), right).mean()
    # What the units remember at the end of one piece of text is where they start from in the next.
    updates = [*adam_updates(loss, writer.params, rate), (memory, states[-1])]
    train = theano.function([chars, rate], loss, updates=updates, name="train")
    judge = theano.function([chars], loss, givens=[(memory, T.zeros_like(memory))], name="judge")

    letter, heat = T.iscalar("letter"), T.fscalar("heat")
    mind = theano.shared(np.zeros((1, HIDDEN), "float32"), name="mind")
    after = writer.step((writer.read[letter] + writer.bias).dimshuffle("x", 0), mind)
    likely = T.nnet.softmax(writer.scores(after) / heat)[0]
    hear = theano.function([letter, heat], likely, updates=[(mind, after)], name="hear")
    return train, judge, hear, memory, mind


def pieces(text, steps):
    """Yield a piece of text for each step: 32 voices read on in 32 places, (time, batch)."""
    voices = text[: len(text) // BATCH * BATCH].reshape(BATCH, -1)
    per_round = (voices.shape[1] - 1) // LENGTH
    for step in range(steps):
        at = step % per_round * LENGTH
        yield step % per_round == 0, np.ascontiguousarray(voices[:, at : at + LENGTH + 1].T)


def write(hear, mind, letters, start, count, heat, rng):
    """Return a text that begins with ``start``, and the probability that the network gave to each letter of it."""
    mind.set_value(np.zeros_like(mind.get_value()))
    number = {c: i for i, c in enumerate(letters)}
    written, sure = [], []
    likely = np.full(len(letters), 1 / len(letters))
    for i in range(count):
        chosen = number[start[i]] if i < len(start) else int(rng.choice(len(letters), p=likely / likely.sum()))
        written.append(letters[chosen])
        sure.append(float(likely[chosen]))
        likely = np.asarray(hear(chosen, np.float32(heat)), "float64")
    return "".join(written), sure


def draw(path, losses, unseen, letters, text, sure):
    """Draw the course of the training, and the end of the text with the letters coloured by their probabilities."""
    plt.rcParams.update({"font.size": 10, "axes.titlesize": 12, "axes.titlepad": 12})
    figure, (left, right) = plt.subplots(1, 2, figsize=(14, 5), width_ratios=[1, 1.6])
    bits = np.array(losses) / np.log(2)
    left.plot(bits, color="#3465a4", alpha=0.3, linewidth=0.7)
    width = max(1, len(bits) // 40)
    smooth = np.convolve(bits, np.ones(width) / width, "valid")
    left.plot(np.arange(len(smooth)) + width - 1, smooth, color="#3465a4", linewidth=2)
    left.plot(*zip(*((step, loss / np.log(2)) for step, loss in unseen), strict=True), ".-", color="#e07b00")
    left.text(0.98, 0.8, "text that it has not read", color="#e07b00", ha="right", transform=left.transAxes)
    left.text(0.98, 0.74, "text that it reads", color="#3465a4", ha="right", transform=left.transAxes)
    left.axhline(np.log2(len(letters)), color="#888888", linewidth=1, linestyle=":")
    left.text(len(bits), np.log2(len(letters)) - 0.08, "knowing nothing", color="#888888", ha="right", va="top")
    left.set(title="Bits for each letter", xlabel="step", ylim=(0, None))
    left.spines[["top", "right"]].set_visible(False)

    columns, lines, row = 58, [[]], 0
    for letter, p in zip(text, sure, strict=True):
        if letter == "\n" or len(lines[row]) == columns:
            lines.append([])
            row += 1
        if letter != "\n":
            lines[row].append((letter, p))
    shown = [line for line in lines if line][:17]
    colours = matplotlib.colormaps["RdYlGn"]
    for y, line in enumerate(shown):
        for x, (letter, p) in enumerate(line):
            right.add_patch(plt.Rectangle((x - 0.5, y - 0.5), 1, 1, color=colours(p), alpha=0.45, linewidth=0))
            right.text(x, y, letter, family="monospace", fontsize=9, ha="center", va="center")
    right.set(xlim=(-0.5, columns - 0.5), ylim=(len(shown) - 0.5, -0.5), xticks=[], yticks=[])
    right.set_title("What it writes: green where it was sure of a letter, red where it dared")
    right.spines[:].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    """Train, write, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1500, help="of training, 32 x 64 letters each (default: 1500)")
    parser.add_argument("--heat", type=float, default=0.6, help="how much it dares, 0.1 to 1.5 (default: 0.6)")
    parser.add_argument("--start", default="Return the ", help="what it continues")
    parser.add_argument("--picture", default="text.png", help="where to draw (default: text.png)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", help="where to compute: cuda, opencl0:0, ... (default: as the flags say)")
    options = parser.parse_args()
    if options.device:
        theano.gpuarray.use(options.device, force=True)

    text, letters = load_text()
    unknown = sorted(set(options.start) - set(letters))
    if unknown:
        parser.error(f"--start: the network knows no {''.join(unknown)!r}")
    print(f"{len(text):,} letters, {len(letters)} different ones")
    rng = np.random.default_rng(options.seed)
    writer = Writer(len(letters), rng)
    began = time.perf_counter()
    train, judge, hear, memory, mind = compile_functions(writer)
    print(f"compiled in {time.perf_counter() - began:.2f} s")

    kept = min(len(text) // 10, 32 * 200)
    others = np.ascontiguousarray(text[-kept:][: kept // BATCH * BATCH].reshape(BATCH, -1).T)
    losses, unseen = [], []
    bar = tqdm(
        pieces(text[:-kept], options.steps),
        total=options.steps,
        desc="reading",
        unit="step",
        file=sys.stdout,
        dynamic_ncols=True,
    )
    for step, (afresh, chars) in enumerate(bar):
        if afresh:
            memory.set_value(np.zeros_like(memory.get_value()))
        rate = 0.004 * min(1, (step + 1) / 30) * (1 - step / options.steps) ** 0.5
        losses.append(float(train(chars, np.float32(rate))))
        if step % 20 == 0 or step == options.steps - 1:
            unseen.append((step, float(judge(others))))
            bar.set_postfix(bits=f"{np.mean(losses[-50:]) / np.log(2):.2f}", refresh=False)

    written, sure = write(hear, mind, letters, options.start, 1200, options.heat, rng)
    print("-" * 80, written[:600], "-" * 80, sep="\n")
    draw(options.picture, losses, unseen, letters, written, sure)
    print("drawn:", options.picture)


if __name__ == "__main__":
    main()
