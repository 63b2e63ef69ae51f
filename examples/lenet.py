"""A small convolutional network in the manner of LeNet tells handwritten digits apart.

    python examples/lenet.py              # half a minute
    python examples/lenet.py --epochs 5   # and other options: --help
    python examples/lenet.py --device cuda   # on a GPU

It learns from four fifths of scikit-learn's digits, moved about a little each time, and is judged by the last fifth. It
shows a progress bar, and draws the course of the training, the first filters, what they make of a digit, and the
mistakes into lenet.png.
"""

from __future__ import annotations

import argparse
import sys
import time

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import theano
import theano.tensor as T
from theano.tensor.nnet import batch_normalization_test, batch_normalization_train, conv2d, relu
from theano.tensor.pool import pool_2d

matplotlib.use("Agg")
from matplotlib import pyplot as plt

BATCH = 32


class Network:
    """3 x 3 filters and pooling, twice; then 128 units, half of which rest in each step; then ten classes.

    LeCun et al., 1998: https://doi.org/10.1109/5.726791, with batch normalisation and rectifiers in its layers.

    Parameters
    ----------
    rng : numpy.random.Generator
        Chooses the weights to start from.
    """

    def __init__(self, rng):
        def weights(*shape, name):
            start = rng.normal(size=shape) * np.sqrt(2 / np.prod(shape[1:] if len(shape) == 4 else shape[:1]))
            return theano.shared(start.astype("float32"), name=name)

        def numbers(n, value, name):
            return theano.shared(np.full(n, value, "float32"), name=name)

        self.filters = [weights(24, 1, 3, 3, name="filters 1"), weights(48, 24, 3, 3, name="filters 2")]
        self.scales = [numbers(n, 1, f"scale {n}") for n in (24, 48)]
        self.shifts = [numbers(n, 0, f"shift {n}") for n in (24, 48)]
        self.means = [numbers(n, 0, f"mean {n}") for n in (24, 48)]
        self.variances = [numbers(n, 1, f"variance {n}") for n in (24, 48)]
        self.inner, self.inner_bias = weights(48 * 4, 128, name="inner"), numbers(128, 0, "inner bias")
        self.outer, self.outer_bias = weights(128, 10, name="outer"), numbers(10, 0, "outer bias")
        self.params = [*self.filters, *self.scales, *self.shifts]
        self.params += [self.inner, self.inner_bias, self.outer, self.outer_bias]
        self.streams = theano.tensor.random.MRG_RandomStreams(seed=int(rng.integers(2**31)))

    def layers(self, images, training):
        """Return what each layer makes of images, the last one scores of classes; and the new averages."""
        x, found, averages = images, [], []
        parts = zip(self.filters, self.scales, self.shifts, self.means, self.variances, strict=True)
        for filters, scale, shift, mean, variance in parts:
            x = conv2d(x, filters, border_mode="half")
            if training:
                x, _, _, new_mean, new_variance = batch_normalization_train(
                    x, scale, shift, "spatial", running_mean=mean, running_var=variance
                )
                averages += [(mean, new_mean), (variance, new_variance)]
            else:
                x = batch_normalization_test(x, scale, shift, mean, variance, "spatial")
            x = relu(x)
            found.append(x)
            x = pool_2d(x, (2, 2), ignore_border=True)
        x = relu(T.dot(x.flatten(2), self.inner) + self.inner_bias)
        if training:
            x *= 2 * self.streams.binomial(x.shape, p=0.5, dtype="float32")
        found.append(T.dot(x, self.outer) + self.outer_bias)
        return found, averages


def adam_updates(loss, params, rate):
    """Return what replaces each parameter after a step of Adam.

    Kingma and Ba, 2015: https://arxiv.org/abs/1412.6980
    """
    count = theano.shared(np.float32(0), name="count")
    now = count + 1
    updates = [(count, now)]
    for param, slope in zip(params, T.grad(loss, params), strict=True):
        mean, square = (theano.shared(np.zeros_like(param.get_value())) for _ in range(2))
        new_mean = np.float32(0.9) * mean + np.float32(0.1) * slope
        new_square = np.float32(0.999) * square + np.float32(0.001) * slope**2
        right = T.sqrt(1 - np.float32(0.999) ** now) / (1 - np.float32(0.9) ** now)
        moved = param - rate * right * new_mean / (T.sqrt(new_square) + np.float32(1e-8))
        updates += [(mean, new_mean), (square, new_square), (param, moved)]
    return updates


def compile_functions(network):
    """Return the function for a step of training, and the one for scores and feature maps."""
    images, labels, rate = T.ftensor4("images"), T.ivector("labels"), T.fscalar("rate")
    found, averages = network.layers(images, training=True)
    loss = T.nnet.categorical_crossentropy(T.nnet.softmax(found[-1]), labels).mean()
    train = theano.function(
        [images, labels, rate], loss, updates=[*adam_updates(loss, network.params, rate), *averages], name="train"
    )
    found, _ = network.layers(images, training=False)
    return train, theano.function([images], found, name="look")


def moved(images, rng):
    """Return each image moved by up to one pixel in any direction."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    steps = rng.integers(0, 3, (len(images), 2))
    return np.stack([padded[i, :, r : r + 8, c : c + 8] for i, (r, c) in enumerate(steps)])


def draw(path, course, network, look, images, labels):
    """Draw the course, the first filters, what they make of a digit, and mistakes."""
    plt.rcParams.update({"font.size": 10, "axes.titlesize": 12, "axes.titlepad": 12})
    figure = plt.figure(figsize=(14, 7), layout="constrained")
    (curve, filters), (maps, mistakes) = figure.subfigures(2, 2, width_ratios=[1, 1.3])
    axes = curve.subplots()
    epochs = np.arange(1, len(course) + 1)
    axes.semilogy(epochs, [loss for loss, _ in course], color="#3465a4", label="loss while training")
    wrong = [max(mistakes, 1e-4) for _, mistakes in course]
    axes.semilogy(epochs, wrong, color="#e07b00", label="mistakes among digits not seen")
    axes.set(title="Training", xlabel="epoch")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    values = network.filters[0].get_value()[:, 0]
    for place, value in zip(filters.subplots(3, 8).flat, values, strict=True):
        place.imshow(value, cmap="RdBu_r", vmin=-abs(values).max(), vmax=abs(values).max())
        place.set(xticks=[], yticks=[])
    filters.suptitle("The first filters")
    seen, _, scores = look(images)
    places = maps.subplots(2, 5).flat
    next_place = next(places)
    next_place.imshow(images[0, 0], cmap="gray_r")
    next_place.set(title=f"{labels[0]}", xticks=[], yticks=[])
    for place, value in zip(places, seen[0], strict=False):
        place.imshow(value, cmap="viridis")
        place.set(xticks=[], yticks=[])
    maps.suptitle("A digit, and what nine filters see in it")
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    likely /= likely.sum(axis=1, keepdims=True)
    # The worst first: where the right label was given the least probability.
    order = np.argsort(likely[np.arange(len(labels)), labels])
    for place, i in zip(mistakes.subplots(2, 6).flat, order, strict=False):
        place.imshow(images[i, 0], cmap="gray_r")
        taken = likely[i].argmax()
        colour = "#cc0000" if taken != labels[i] else "#4e9a06"
        place.set(xticks=[], yticks=[])
        place.set_title(f"{labels[i]} as {taken}, {likely[i, taken]:.0%}", color=colour, fontsize=9)
    mistakes.suptitle("The least sure: mistakes in red")
    figure.savefig(path, dpi=110)


def main():
    """Train, judge, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=40, help="how often all digits are seen (default: 40)")
    parser.add_argument("--rate", type=float, default=2e-3, help="of learning, at first (default: 0.002)")
    parser.add_argument("--picture", default="lenet.png", help="where to draw (default: lenet.png)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", help="where to compute: cuda, opencl0:0, ... (default: as the flag device says)")
    options = parser.parse_args()
    if options.device:
        theano.gpuarray.use(options.device, force=True)
    if options.epochs < 1:
        parser.error("--epochs must be 1 or more")

    digits = load_digits()
    rng = np.random.default_rng(options.seed)
    order = rng.permutation(len(digits.target))
    images = (digits.images[order, None] / 16).astype("float32")
    labels = digits.target[order].astype("int32")
    count = len(labels) * 4 // 5
    network = Network(rng)
    began = time.perf_counter()
    train, look = compile_functions(network)
    print(f"compiled in {time.perf_counter() - began:.2f} s")

    course, steps, step = [], options.epochs * (count // BATCH), 0
    with tqdm(total=steps, desc="learning", unit="step", file=sys.stdout, dynamic_ncols=True) as bar:
        for _ in range(options.epochs):
            chosen, losses = rng.permutation(count), []
            for start in range(0, count - BATCH + 1, BATCH):
                batch = chosen[start : start + BATCH]
                rate = np.float32(options.rate * (1 - step / steps))
                losses.append(float(train(moved(images[batch], rng), labels[batch], rate)))
                step += 1
            wrong = np.mean(look(images[count:])[-1].argmax(axis=1) != labels[count:])
            course.append((np.mean(losses), wrong))
            bar.update(count // BATCH)
            bar.set_postfix(loss=f"{course[-1][0]:.3f}", right=f"{1 - wrong:.1%}", refresh=False)

    print(f"{1 - course[-1][1]:.2%} of {len(labels) - count} digits that it had not seen are told apart")
    draw(options.picture, course, network, look, images[count:], labels[count:])
    print("drawn:", options.picture)


if __name__ == "__main__":
    main()
