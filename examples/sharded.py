"""Ten times the memory of a worker: three models of data in files, fitted shard by shard on workers of Dask.

    pip install "theano-tensor[dask]"    # beside what the other examples need
    python examples/sharded.py           # one or two minutes, and 2 GB of disk
    python examples/sharded.py --plain   # the same in one process, which needs memory for all of it
    python examples/sharded.py --memory 400 --workers 4  # and other options: --help

The data are rows of a mixture of normal distributions with a label each, in two files that NumPy maps into memory.
Logistic regression, EM for the mixture, and a network with one layer are fitted to them. The program is that for one
process; only `compiled` says, in one call, which inputs are sharded and who computes. Each worker may have so many
megabytes: Dask ends one that has more, and on Linux the system refuses to give more. Of a file a worker has the shard
that it works on. While it runs it draws the losses, and the
seconds of each step, into sharded.png.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import matplotlib
import numpy as np
from tqdm import tqdm

import theano
import theano.distributed
import theano.tensor as T

matplotlib.use("Agg")
from matplotlib import pyplot as plt

COLUMNS, GROUPS, UNITS = 31, 4, 12  #: of the rows, of the mixture, of the network
SHARD = 8  #: megabytes of a shard
COLOURS = {"logistic regression": "#3465a4", "mixture by EM": "#4e9a06", "network": "#e07b00"}


def write(folder, megabytes):
    """Write the rows and their labels into two files, piece by piece."""
    rng = np.random.default_rng(0)
    count = int(megabytes * 1e6 / 8 / (COLUMNS + 1))
    x = np.lib.format.open_memmap(folder / "x.npy", "w+", float, (count, COLUMNS))
    y = np.lib.format.open_memmap(folder / "y.npy", "w+", float, (count,))
    centres = rng.normal(size=(GROUPS, COLUMNS))
    for start in range(0, count, 50_000):
        piece = slice(start, start + 50_000)
        rows = rng.standard_normal((len(y[piece]), COLUMNS), "f4") + centres[rng.integers(0, GROUPS, len(y[piece]))]
        x[piece] = rows
        # No line tells the labels apart: they are of one kind where both numbers have the same sign.
        y[piece] = rows[:, 0] * rows[:, 1] + 0.5 * rows[:, 2] > 0


def logistic_regression():
    """Return the inputs, the loss, and the updates of a step of descent."""
    x, y = T.dmatrix("x"), T.dvector("y")
    w, b = theano.shared(np.zeros(COLUMNS), "w"), theano.shared(0.0, "b")
    loss = T.mean(T.nnet.binary_crossentropy(T.nnet.sigmoid(T.dot(x, w) + b), y))
    return [x, y], loss, [(v, v - 0.3 * g) for v, g in zip([w, b], T.grad(loss, [w, b]), strict=True)]


def mixture():
    """Return the input, the negative log-likelihood of a row, and the updates of a step of EM."""
    x = T.dmatrix("x")
    first = np.random.default_rng(1).normal(size=(GROUPS, COLUMNS))
    mean, variance = theano.shared(first, "mean"), theano.shared(np.full((GROUPS, COLUMNS), 2.0), "variance")
    weight = theano.shared(np.full(GROUPS, 1 / GROUPS), "weight")
    squares = T.dot(x**2, (1 / variance).T) - 2 * T.dot(x, (mean / variance).T)
    constant = T.log(weight) - 0.5 * (T.log(2 * np.pi * variance) + mean**2 / variance).sum(axis=1)
    score = constant - 0.5 * squares
    whole = T.logsumexp(score, axis=1, keepdims=True)
    share = T.exp(score - whole)
    total = share.sum(axis=0)
    new = T.dot(share.T, x) / total.dimshuffle(0, "x")
    spread = T.dot(share.T, x**2) / total.dimshuffle(0, "x") - new**2
    return [x], -T.mean(whole), [(mean, new), (variance, spread), (weight, total / total.sum())]


def network():
    """Return the inputs, the loss, and the updates of a step of descent with momentum."""
    x, y = T.dmatrix("x"), T.dvector("y")
    rng = np.random.default_rng(2)
    shapes = {"w": (COLUMNS, UNITS), "b": (UNITS,), "v": (UNITS,), "c": ()}
    values = [theano.shared(0.3 * rng.standard_normal(shape), name) for name, shape in shapes.items()]
    w, b, v, c = values
    loss = T.mean(T.nnet.binary_crossentropy(T.nnet.sigmoid(T.dot(T.tanh(T.dot(x, w) + b), v) + c), y))
    updates = []
    for p, g in zip(values, T.grad(loss, values), strict=True):
        speed = theano.shared(np.zeros_like(p.get_value()), f"speed of {p.name}")
        faster = 0.9 * speed - 0.3 * g
        updates += [(speed, faster), (p, p + faster)]
    return [x, y], loss, updates


MODELS = {"logistic regression": logistic_regression, "mixture by EM": mixture, "network": network}


def compiled(inputs, loss, updates, shards, on):
    """Return the step of a model: in one process, or, which is the only difference, on the workers of a client."""
    if on is None:
        return theano.function(inputs, loss, updates=updates)
    return theano.distributed.function(inputs, loss, updates, shard=dict.fromkeys(inputs, 0), shards=shards, on=on)


class Course:
    """The losses and seconds of all steps so far, drawn again at most once in two seconds.

    Parameters
    ----------
    path : str
        Where to draw.
    title : str
    """

    def __init__(self, path, title):
        self.path, self.title, self.drawn = path, title, 0.0
        self.steps = {name: [] for name in MODELS}

    def add(self, name, loss, seconds):
        """Take down a step."""
        self.steps[name].append((loss, seconds))
        if time.monotonic() - self.drawn > 2:
            self.draw()

    def draw(self):
        """Draw how the losses fall, and how long the steps take."""
        plt.rcParams.update({"font.size": 10, "axes.titlesize": 12, "axes.titlepad": 12})
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
        for name, steps in self.steps.items():
            losses, seconds = np.array(steps).reshape(-1, 2).T
            numbers = np.arange(1, len(steps) + 1)
            # What is left, as a part of what there was, is on one scale for all.
            best, first = losses.min(initial=np.inf), losses[:1]
            left.plot(numbers, (losses - best) / np.maximum(first - best, 1e-12), "o-", ms=3, color=COLOURS[name])
            right.plot(numbers, seconds, "o-", ms=3, color=COLOURS[name], label=name)
        left.set(title="Loss, from the first (1) to the smallest (0)", xlabel="step")
        right.set(title="Seconds of each step", xlabel="step", ylim=(0, None))
        right.legend(frameon=False)
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
            axes.xaxis.get_major_locator().set_params(integer=True)
        figure.suptitle(self.title)
        figure.savefig(self.path, dpi=110)
        plt.close(figure)
        self.drawn = time.monotonic()


def fit(data, steps, shards, course, on=None):
    """Fit all models; return the loss of each before and after.

    Parameters
    ----------
    data : dict of str to array
        The rows and labels, by the names of the inputs.
    steps : int
    shards : int
    course : Course
    on : dask.distributed.Client, optional
    """
    losses = {}
    for name, model in MODELS.items():
        inputs, loss, updates = model()
        step = compiled(inputs, loss, updates, shards, on)
        with tqdm(range(steps), desc=name, unit="step", file=sys.stdout, dynamic_ncols=True) as bar:
            for _ in bar:
                began = time.perf_counter()
                found = float(step(*(data[v.name] for v in inputs)))
                course.add(name, found, time.perf_counter() - began)
                losses.setdefault(name, []).append(found)
                bar.set_postfix(loss=f"{found:.6f}", refresh=False)
    course.draw()
    return losses


def memory(what):
    """Return megabytes of this process by the name that the system counts them under (Linux)."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    found = (int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(f"{what}:"))
    return max(found, default=float("nan"))


def most_memory():
    """Return how many megabytes this process had at most."""
    return memory("VmHWM")


def limit(megabytes):
    """Let the system refuse this process more than so many megabytes, with what it has now; a `MemoryError` then."""
    if sys.platform == "linux":
        import resource

        # What counts is what the process may write to, and that includes parts of stacks and heaps that it never will.
        data = memory("VmData") + megabytes - memory("VmRSS")
        resource.setrlimit(resource.RLIMIT_DATA, (int(data * 1e6), resource.getrlimit(resource.RLIMIT_DATA)[1]))


def main():
    """Write the data, fit, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=int, default=200, help="megabytes of a worker (default: 200)")
    parser.add_argument("--times", type=float, default=10, help="so many times that are the data (default: 10)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--steps", type=int, default=12, help="of each model (default: 12)")
    parser.add_argument("--plain", action="store_true", help="in this process, without Dask")
    parser.add_argument("--picture", default="sharded.png", help="where to draw (default: sharded.png)")
    options = parser.parse_args()

    megabytes = options.memory * options.times
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), megabytes)
        data = {name: np.load(Path(folder) / f"{name}.npy", mmap_mode="r") for name in "xy"}
        shards = max(1, round(megabytes / SHARD))
        if options.plain:
            course = Course(options.picture, f"{megabytes:,.0f} MB of data, one process")
            losses = fit(data, options.steps, shards, course)
            peaks = [most_memory()]
        else:
            from dask.distributed import Client, LocalCluster

            title = f"{megabytes:,.0f} MB of data, {options.workers} workers with {options.memory} MB each"
            limits = {"threads_per_worker": 1, "memory_limit": f"{options.memory}MB", "dashboard_address": None}
            with LocalCluster(n_workers=options.workers, **limits) as cluster, Client(cluster) as client:
                client.run(limit, options.memory)
                losses = fit(data, options.steps, shards, Course(options.picture, title), client)
                peaks = client.run(most_memory).values()
    for name, found in losses.items():
        print(f"{name}: loss {found[0]:.12f} at first, {found[-1]:.12f} after {len(found) - 1} steps")
    print(f"{megabytes:,.0f} MB of data; at most {max(peaks):,.0f} MB of memory in a process; drawn: {options.picture}")


if __name__ == "__main__":
    main()
