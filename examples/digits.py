"""Train a small network on handwritten digits, and see what Theano does on the way.

    python examples/digits.py               # a few seconds, most of them for drawing
    python examples/digits.py --epochs 5    # and other options: --help
    python examples/digits.py --device cuda   # on a GPU

It prints the expression of the loss as it is written, the function that Theano makes of it, and where the time
went; it shows a progress bar while it trains, and draws what was learned into digits.png.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import theano
import theano.tensor as T

matplotlib.use("Agg")
from matplotlib import pyplot as plt

BATCH = 32
HIDDEN = 128
MOMENTUM = 0.9


def load_data():
    """Return images and labels to learn from, and others to test with; 64 numbers from 0 to 1 are one image."""
    digits = load_digits()
    images = (digits.data / 16).astype("float32")
    labels = digits.target.astype("int32")
    return train_test_split(images, labels, test_size=0.2, random_state=0, stratify=labels)


def nudged(images, rng):
    """Return the images with every second one moved by one pixel: what a digit is does not depend on its place."""
    squares = images.reshape(-1, 8, 8).copy()
    direction = np.where(rng.random(len(squares)) < 0.5, rng.integers(0, 4, len(squares)), -1)
    for number, (axis, step) in enumerate([(1, 1), (1, -1), (2, 1), (2, -1)]):
        chosen = direction == number
        squares[chosen] = np.roll(squares[chosen], step, axis=axis)
    return squares.reshape(-1, 64)


class Network:
    """Pixels -> 128 hidden units -> a probability for each of ten digits.

    Parameters
    ----------
    rng : numpy.random.Generator
        Chooses the weights to start from.
    """

    def __init__(self, rng):
        def weights(rows, columns, gain, name):
            start = rng.normal(size=(rows, columns)) * np.sqrt(gain / rows)
            return theano.shared(start.astype("float32"), name=name)

        self.W1 = weights(64, HIDDEN, 0.2, "W1")
        self.b1 = theano.shared(np.zeros(HIDDEN, "float32"), name="b1")
        self.W2 = weights(HIDDEN, 10, 1.0, "W2")
        self.b2 = theano.shared(np.zeros(10, "float32"), name="b2")
        self.params = [self.W1, self.b1, self.W2, self.b2]

        self.images = T.fmatrix("images")
        self.labels = T.ivector("labels")
        hidden = T.nnet.relu(T.dot(self.images, self.W1) + self.b1)
        self.probabilities = T.nnet.softmax(T.dot(hidden, self.W2) + self.b2)
        self.loss = T.nnet.categorical_crossentropy(self.probabilities, self.labels).mean()
        self.guess = T.argmax(self.probabilities, axis=1)


def momentum_updates(loss, params, rate):
    """Return what replaces each parameter after a step: gradient descent with momentum."""
    updates = []
    for param, slope in zip(params, T.grad(loss, params)):
        velocity = theano.shared(np.zeros_like(param.get_value()), name=f"v_{param.name}")
        faster = np.float32(MOMENTUM) * velocity - rate * slope
        updates += [(velocity, faster), (param, param + faster)]
    return updates


def compile_functions(network, images, labels, profile):
    """Return the function for one step of training, and the one that guesses.

    The data lies in shared variables; a step is told only which batch to take and how far to go.
    """
    number, rate = T.lscalar("number"), T.fscalar("rate")
    here = slice(number * BATCH, (number + 1) * BATCH)
    step = theano.function(
        [number, rate],
        network.loss,
        updates=momentum_updates(network.loss, network.params, rate),
        givens={network.images: images[here], network.labels: labels[here]},
        name="step",
        profile=profile,
    )
    guess = theano.function([network.images], network.guess, name="guess")
    return step, guess


def train(step, guess, data, shared, epochs, rng):
    """Train, showing progress; return the loss of each step and the test accuracy after each epoch."""
    train_images, test_images, train_labels, test_labels = data
    shared_images, shared_labels = shared
    losses, accuracies = [], []
    bar = tqdm(range(epochs), desc="training", unit="epoch", file=sys.stdout, dynamic_ncols=True)
    for epoch in bar:
        order = rng.permutation(len(train_images))
        shared_images.set_value(nudged(train_images[order], rng))
        shared_labels.set_value(train_labels[order])
        rate = np.float32(0.1 * (1 - epoch / epochs))
        losses += [float(step(number, rate)) for number in range(len(order) // BATCH)]
        accuracies.append(float(np.mean(guess(test_images) == test_labels)))
        bar.set_postfix(loss=f"{losses[-1]:.3f}", accuracy=f"{accuracies[-1]:.1%}", refresh=False)
    return losses, accuracies


def draw(path, network, losses, accuracies, images, labels, guesses):
    """Draw the course of the training, the weights learned, and some digits with what they are taken for."""
    plt.rcParams.update({"font.size": 10, "axes.titlesize": 12, "axes.titlepad": 12})
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4.4), width_ratios=[1.1, 1.75, 1.25])
    blue, orange, red = "#3465a4", "#e07b00", "#cc0000"

    per_epoch = len(losses) // len(accuracies)
    left.semilogy(losses, color=blue, alpha=0.25, linewidth=0.7)
    smooth = np.mean(np.reshape(losses, (-1, per_epoch)), axis=1)
    left.semilogy((np.arange(len(smooth)) + 0.5) * per_epoch, smooth, color=blue, linewidth=2)
    left.set(title="Loss, step by step", xlabel="step")
    left.spines[["top", "right"]].set_visible(False)
    beside = left.twinx()
    beside.plot(np.arange(1, len(accuracies) + 1) * per_epoch, accuracies, color=orange, linewidth=1.5)
    beside.set_ylim(0.85, 1.0)
    beside.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1, 0))
    beside.spines[["top", "left"]].set_visible(False)
    beside.text(0.97, 0.88, f"test accuracy\n{accuracies[-1]:.1%}", color=orange, ha="right", va="top",
                transform=beside.transAxes, fontweight="bold")

    filters = network.W1.get_value().T.reshape(8, 16, 8, 8)
    sheet = np.pad(filters, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=np.nan)
    sheet = sheet.transpose(0, 2, 1, 3).reshape(8 * 9, 16 * 9)[:-1, :-1]
    limit = np.nanquantile(np.abs(sheet), 0.99)
    middle.imshow(sheet, cmap="RdBu_r", vmin=-limit, vmax=limit)
    middle.set(title="What the 128 hidden units look for")
    middle.axis("off")

    wrong_first = np.argsort(guesses == labels, kind="stable")[:40]
    for place, index in enumerate(np.random.default_rng(1).permutation(wrong_first)):
        row, column = divmod(place, 8)
        corner = (column * 10, column * 10 + 8, row * 13 + 8, row * 13)
        right.imshow(images[index].reshape(8, 8), cmap="gray_r", extent=corner)
        good = guesses[index] == labels[index]
        said = str(guesses[index]) if good else f"{guesses[index]}, not {labels[index]}"
        right.text(column * 10 + 4, row * 13 + 10.6, said, ha="center", va="center", fontsize=8 if good else 7,
                   color="#4e9a06" if good else red, fontweight="bold")
    right.set(title="Digits it had not seen, its mistakes in red", xlim=(-1, 79), ylim=(65, -1))
    right.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    """Do all of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--picture", type=Path, default=Path("digits.png"), help="where to draw it (default: here)")
    parser.add_argument("--device", help="where to compute: cuda, opencl0:0, ... (default: as the flag device says)")
    options = parser.parse_args()
    if options.device:
        theano.gpuarray.use(options.device, force=True)

    rng = np.random.default_rng(0)
    data = train_images, test_images, train_labels, test_labels = load_data()
    network = Network(rng)
    shared = theano.shared(train_images, name="train_images"), theano.shared(train_labels, name="train_labels")

    print("The loss as it is written:\n")
    theano.printing.debugprint(network.loss)

    profile = theano.compile.ProfileStats(atexit_print=False)
    start = time.perf_counter()
    step, guess = compile_functions(network, *shared, profile)
    compiled = time.perf_counter() - start
    print("\nThe training step as it runs, with the gradients and the updates:\n")
    theano.printing.debugprint(step)
    print(f"\nTwo functions compiled in {compiled:.2f} s.\n")

    start = time.perf_counter()
    losses, accuracies = train(step, guess, data, shared, options.epochs, rng)
    trained = time.perf_counter() - start
    print("\nWhere the time went:\n")
    profile.summary(file=sys.stdout, n_apply_to_print=10)

    draw(options.picture, network, losses, accuracies, test_images, test_labels, guess(test_images))
    print(
        f"\n{options.epochs} epochs in {trained:.2f} s. "
        f"Accuracy on {len(test_labels)} digits it had not seen: {accuracies[-1]:.2%}. Picture: {options.picture}"
    )


if __name__ == "__main__":
    main()
