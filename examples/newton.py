"""Newton's method without a Hessian matrix: products of the Hessian with vectors, and conjugate gradients in a scan.

    python examples/newton.py                # a few seconds
    python examples/newton.py --weight 1e-3  # and other options: --help

The model tells the digits of scikit-learn apart by one matrix of weights. Each step of Newton solves H d = -g by
conjugate gradients, which needs H only in products H v; such a product costs about as much as two gradients. It shows a
progress bar, compares with gradient descent of as much work, and draws both, and the weights, into newton.png.
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

matplotlib.use("Agg")
from matplotlib import pyplot as plt

PRODUCTS = 100  #: at most, of the Hessian with a vector, in a step of Newton
HALVINGS = 20  #: at most, of a step that goes too far


class Model:
    """Softmax regression on all digits at once.

    Parameters
    ----------
    pixels : (digits, pixels) array
    labels : (digits,) array of int
    weight : float
        How much half of the squared weights counts in the loss.
    """

    def __init__(self, pixels, labels, weight):
        self.x = theano.shared(np.c_[pixels, np.ones(len(pixels))], name="x")
        self.labels = theano.shared(labels, name="labels")
        self.w = theano.shared(np.zeros((pixels.shape[1] + 1, 10)), name="w")
        self.weight = weight

    def loss(self, w):
        """Return the mean cross entropy, with what is paid for large weights."""
        likely = T.nnet.softmax(T.dot(self.x, w))
        return T.nnet.categorical_crossentropy(likely, self.labels).mean() + 0.5 * self.weight * (w**2).sum()


def conjugate_gradients(product, b, accuracy):
    """Return an x for which ``product(x)`` is ``b``, and how many products that took.

    Hestenes and Stiefel, 1952: https://doi.org/10.6028/jres.049.044

    Parameters
    ----------
    product : callable
        A linear map, symmetric and positive.
    b : tensor
    accuracy : scalar
        The length of what is left, compared with that of ``b``.
    """

    def step(x, left, direction, length):
        across = product(direction)
        far = length / (direction * across).sum()
        x, left = x + far * direction, left - far * across
        new = (left**2).sum()
        return [x, left, left + new / length * direction, new], theano.scan_module.until(new < enough)

    start = (b**2).sum()
    enough = accuracy**2 * start
    (x, _, _, lengths), _ = theano.scan(step, outputs_info=[T.zeros_like(b), b, b, start], n_steps=PRODUCTS)
    return x[-1], lengths.shape[0]


def compile_newton(model):
    """Return the function for a step of Newton: the loss before it, its gradient's length, products, halvings."""
    w = model.w
    loss = model.loss(w)
    slope = T.grad(loss, w)
    length = slope.norm(2)
    # Solving more exactly than this does not bring the next point closer: Dembo, Eisenstat, Steihaug, 1982.
    accuracy = T.minimum(0.5, T.sqrt(length))
    direction, products = conjugate_gradients(lambda v: T.Rop(slope, w, v), -slope, accuracy)
    descent = (slope * direction).sum()

    def shorter(part):
        there = model.loss(w + part * direction)
        return part / 2, theano.scan_module.until(there <= loss + 1e-4 * part * descent)

    parts, _ = theano.scan(shorter, outputs_info=[T.constant(1.0)], n_steps=HALVINGS)
    outputs = [loss, length, products, parts.shape[0] - 1]
    return theano.function([], outputs, updates=[(w, w + 2 * parts[-1] * direction)], name="newton")


def compile_descent(model, rate):
    """Return the function for a step of gradient descent with momentum: the loss before it."""
    loss = model.loss(model.w)
    speed = theano.shared(np.zeros_like(model.w.get_value()), name="speed")
    faster = 0.95 * speed - rate * T.grad(loss, model.w)
    return theano.function([], loss, updates=[(speed, faster), (model.w, model.w + faster)], name="descent")


def run_newton(model, steps):
    """Return (work, seconds, loss) after each step; work is counted in gradients."""
    newton = compile_newton(model)
    course, work, began = [], 0, time.perf_counter()
    with tqdm(range(steps), desc="Newton", unit="step", file=sys.stdout, dynamic_ncols=True) as bar:
        for _ in bar:
            loss, length, products, halvings = newton()
            course.append((work, time.perf_counter() - began, float(loss)))
            work += 1 + 2 * int(products) + (int(halvings) + 1) / 3
            bar.set_postfix(loss=f"{loss:.6f}", gradient=f"{length:.1e}", products=int(products), refresh=False)
            if length < 1e-11:
                break
    return np.array(course)


def run_descent(model, rate, work):
    """Return (work, seconds, loss) after each step of a descent of as much work."""
    descent = compile_descent(model, rate)
    course, began = [], time.perf_counter()
    for step in tqdm(range(int(work)), desc="descent", unit="step", file=sys.stdout, dynamic_ncols=True):
        course.append((step, time.perf_counter() - began, float(descent())))
    return np.array(course)


def draw(path, courses, weights):
    """Draw how far the loss is from the smallest one, and what each digit looks like to the model."""
    plt.rcParams.update({"font.size": 10, "axes.titlesize": 12, "axes.titlepad": 12})
    figure = plt.figure(figsize=(14, 4.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.5])
    axes = left.subplots()
    best = min(course[:, 2].min() for course in courses.values())
    for (name, course), colour in zip(courses.items(), ("#3465a4", "#e07b00"), strict=True):
        marker = "o" if len(course) < 100 else ""
        axes.semilogy(course[:, 0], np.maximum(course[:, 2] - best, 1e-16), color=colour, marker=marker, label=name)
    axes.set(title="Distance of the loss from the smallest", xlabel="work, in gradients", ylim=(1e-16, None))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    limit = np.abs(weights).max()
    for digit, place in enumerate(right.subplots(2, 5).flat):
        place.imshow(weights[:-1, digit].reshape(8, 8), cmap="RdBu_r", vmin=-limit, vmax=limit)
        place.set(title=str(digit), xticks=[], yticks=[])
    right.suptitle("What speaks for a digit (red) and against it (blue)")
    figure.savefig(path, dpi=110)


def main():
    """Minimise, compare, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weight", type=float, default=1e-4, help="of half the squared weights (default: 1e-4)")
    parser.add_argument("--rate", type=float, default=1.0, help="of the descent (default: 1)")
    parser.add_argument("--steps", type=int, default=30, help="of Newton, at most (default: 30)")
    parser.add_argument("--picture", default="newton.png", help="where to draw (default: newton.png)")
    options = parser.parse_args()
    if options.weight <= 0:
        parser.error("--weight: the loss has no minimum unless large weights cost something")

    digits = load_digits()
    pixels, labels = digits.data / 16, digits.target
    courses = {}
    model = Model(pixels, labels, options.weight)
    courses["Newton"] = run_newton(model, options.steps)
    other = Model(pixels, labels, options.weight)
    courses["gradient descent with momentum"] = run_descent(other, options.rate, courses["Newton"][-1, 0])
    for name, course in courses.items():
        print(f"{name}: loss {course[-1, 2]:.12f} after {course[-1, 1]:.2f} s, work of {course[-1, 0]:.0f} gradients")
    right = np.mean((np.c_[pixels, np.ones(len(pixels))] @ model.w.get_value()).argmax(1) == labels)
    print(f"{right:.1%} of the digits are told apart")
    draw(options.picture, courses, model.w.get_value())
    print("drawn:", options.picture)


if __name__ == "__main__":
    main()
