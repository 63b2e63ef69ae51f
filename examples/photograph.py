"""Filters over a photograph, and noise taken out of it by a gradient.

    python examples/photograph.py               # some seconds
    python examples/photograph.py --noise 0.2   # and other options: --help

Blurring, edges and sharpening are convolutions. To take noise out, the sum of squared changes and of the lengths of all
slopes of the picture (its total variation) is made small, by steps along the gradient, which is a convolution as well.
It shows a progress bar, and draws all of it into photograph.png.
"""

from __future__ import annotations

import argparse
import sys
import time

import matplotlib
import numpy as np
from sklearn.datasets import load_sample_image
from tqdm import tqdm

import theano
import theano.tensor as T
from theano.tensor.nnet import conv2d

matplotlib.use("Agg")
from matplotlib import pyplot as plt

SOBEL = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]]) / 8


def each_channel(image, filters):
    """Return what each filter makes of each channel of an image: (channels, filters, rows, columns).

    Parameters
    ----------
    image : tensor of 3 dimensions
        (channels, rows, columns); beyond its border lies what is at the border.
    filters : (filters, rows, columns) array
        Of odd lengths.
    """
    around = [n // 2 for n in filters.shape[1:]]
    rows = T.clip(T.arange(-around[0], image.shape[1] + around[0]), 0, image.shape[1] - 1)
    columns = T.clip(T.arange(-around[1], image.shape[2] + around[1]), 0, image.shape[2] - 1)
    padded = image[:, rows][:, :, columns]
    return conv2d(padded.dimshuffle(0, "x", 1, 2), filters[:, None].astype("float32"), filter_flip=False)


def bell(width):
    """Return a filter that blurs, of weights that fall off like a normal distribution."""
    reach = int(3 * width)
    line = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    return np.outer(line, line) / line.sum() ** 2


def compile_filters():
    """Return the function for a blurred image, its edges, and a sharper one."""
    image = T.ftensor3("image")
    blurred = each_channel(image, bell(3.0)[None])[:, 0]
    slopes = each_channel(image, np.stack([SOBEL, SOBEL.T]))
    edges = T.sqrt(T.sqr(slopes).sum(axis=(0, 1)))
    sharper = T.clip(image + 1.5 * (image - each_channel(image, bell(1.5)[None])[:, 0]), 0, 1)
    return theano.function([image], [blurred, edges, T.cast(sharper, "float32")], name="filter")


def compile_cleaning(noisy, strength):
    """Return the picture that is made clean, and the function for a step, which returns the cost before it.

    Rudin, Osher and Fatemi, 1992: https://doi.org/10.1016/0167-2789(92)90242-F, by gradient descent with momentum.
    """
    picture, speed = theano.shared(noisy, name="picture"), theano.shared(np.zeros_like(noisy), name="speed")
    differences = np.array([[[0, 0, 0], [0, -1, 1], [0, 0, 0]], [[0, 0, 0], [0, -1, 0], [0, 1, 0]]])
    slopes = each_channel(picture, differences)
    variation = T.sqrt(T.sqr(slopes).sum(axis=(0, 1)) + np.float32(1e-4)).sum()
    cost = np.float32(0.5) * T.sqr(picture - noisy).sum() + np.float32(strength) * variation
    faster = np.float32(0.9) * speed - np.float32(0.02) * T.grad(cost, picture)
    return picture, theano.function([], cost, updates=[(speed, faster), (picture, picture + faster)], name="clean")


def closeness(a, b):
    """Return the ratio of signal and noise in decibels, for values between 0 and 1."""
    return -10 * np.log10(np.mean((a - b) ** 2))


def draw(path, pictures, costs):
    """Draw pictures with their titles, and how the cost fell."""
    plt.rcParams.update({"font.size": 10, "axes.titlesize": 12})
    figure, places = plt.subplots(2, 4, figsize=(15, 6.2), layout="constrained")
    for place, (title, picture) in zip(places.flat, pictures, strict=False):
        if picture.ndim == 3:
            place.imshow(np.clip(picture.transpose(1, 2, 0), 0, 1))
        else:
            place.imshow(picture, cmap="gray_r", vmax=np.quantile(picture, 0.995))
        place.set(title=title, xticks=[], yticks=[])
    curve = places.flat[len(pictures)]
    curve.plot(costs, color="#3465a4")
    curve.set(title="Cost of the picture", xlabel="step", ylim=(0, None))
    curve.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=100)


def main():
    """Filter, clean, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", choices=("china.jpg", "flower.jpg"), default="china.jpg", help="of scikit-learn")
    parser.add_argument("--noise", type=float, default=0.15, help="standard deviation (default: 0.15)")
    parser.add_argument("--strength", type=float, default=0.2, help="what slopes cost (default: 0.2)")
    parser.add_argument("--steps", type=int, default=150, help="along the gradient (default: 150)")
    parser.add_argument("--picture", default="photograph.png", help="where to draw (default: photograph.png)")
    options = parser.parse_args()
    if options.steps < 1 or options.noise < 0 or options.strength < 0:
        parser.error("--steps must be 1 or more, --noise and --strength must not be negative")

    image = np.ascontiguousarray(load_sample_image(options.image).transpose(2, 0, 1), "float32") / np.float32(255)
    rng = np.random.default_rng(0)
    noisy = (image + options.noise * rng.normal(size=image.shape)).astype("float32")
    began = time.perf_counter()
    filtered = compile_filters()
    picture, clean = compile_cleaning(noisy, options.strength)
    print(f"compiled in {time.perf_counter() - began:.2f} s")
    blurred, edges, sharper = filtered(image)
    costs = []
    for _ in tqdm(range(options.steps), desc="cleaning", unit="step", file=sys.stdout, dynamic_ncols=True):
        costs.append(float(clean()))
    cleaned = picture.get_value()
    before, after = closeness(np.clip(noisy, 0, 1), image), closeness(np.clip(cleaned, 0, 1), image)
    print(f"signal to noise: {before:.1f} dB before, {after:.1f} dB after")
    draw(
        options.picture,
        [("As it is", image), ("Blurred", blurred), ("Edges", edges), ("Sharper", sharper),
         (f"With noise, {before:.1f} dB", noisy), (f"Without, {after:.1f} dB", cleaned),
         ("What was taken out", 0.5 + noisy - cleaned)],
        costs,
    )  # fmt: skip
    print("drawn:", options.picture)


if __name__ == "__main__":
    main()
