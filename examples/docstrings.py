"""Tell from its words where in SciPy a function comes from: sparse logistic regression on text.

    python examples/docstrings.py               # some seconds
    python examples/docstrings.py --steps 50    # and other options: --help

The texts are the docstrings of SciPy's own functions, which are there wherever this runs; the labels are the packages
that they are in. A text is a row of word counts, nearly all of them 0. The example prints how often the answer is
right and the function that Theano makes of a step, and draws which words speak for which package: docstrings.png.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import time
from collections import Counter
from pathlib import Path

import matplotlib
import numpy as np
import scipy.sparse as sp

import theano
import theano.tensor as T
from theano import sparse

matplotlib.use("Agg")
from matplotlib import pyplot as plt

PACKAGES = (
    "cluster.hierarchy", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "spatial.distance",
    "special", "stats",
)  # fmt: skip
SHOWN = 7


def docstrings():
    """Return texts and the numbers of the packages that they come from; names of packages are taken out."""
    texts, labels = [], []
    for label, package in enumerate(PACKAGES):
        module = importlib.import_module(f"scipy.{package}")
        for name in module.__all__:
            text = inspect.getdoc(getattr(module, name)) or ""
            if len(text) > 200:
                # Examples begin by importing the package, which would tell everything.
                texts.append(re.sub(r"scipy[.\w]*|>>> from.*|>>> import.*", " ", text).replace(name, " "))
                labels.append(label)
    return texts, np.array(labels)


def word_counts(texts):
    """Return a csr matrix of a row for each text and a column for each word, scaled, and the words."""
    counted = [Counter(re.findall(r"[a-z]{3,}", text.lower())) for text in texts]
    appear = Counter(word for counts in counted for word in counts)
    words = sorted(word for word, n in appear.items() if n >= 3)
    column = {word: i for i, word in enumerate(words)}
    entries = [
        (row, column[word], np.log1p(n))
        for row, counts in enumerate(counted)
        for word, n in counts.items()
        if word in column
    ]
    rows, columns, values = zip(*entries, strict=True)
    rarity = np.log(len(texts) / np.array([appear[word] for word in words]))
    counts = sp.csr_matrix((values, (rows, columns)), shape=(len(texts), len(words)))
    scaled = counts @ sp.diags(rarity)
    lengths = np.sqrt(scaled.multiply(scaled).sum(axis=1)).A1
    return sp.csr_matrix(sp.diags(1 / lengths) @ scaled), words


class Classifier:
    """Words -> a probability for each package; softmax regression with weights kept small.

    Parameters
    ----------
    words : int
        How many there are.
    step, decay : float
        How far a step goes, and how strongly weights are drawn to 0.
    """

    def __init__(self, words, step=50.0, decay=1e-4):
        x, labels = sparse.csr_matrix("x", dtype="float64"), T.lvector("labels")
        self.weights = theano.shared(np.zeros((words, len(PACKAGES))), name="weights")
        probabilities = T.nnet.softmax(sparse.dot(x, self.weights))
        cost = T.nnet.categorical_crossentropy(probabilities, labels).mean() + decay * T.sqr(self.weights).sum()
        gradient = theano.grad(cost, self.weights)
        self.train = theano.function([x, labels], cost, updates=[(self.weights, self.weights - step * gradient)])
        self.predict = theano.function([x], T.argmax(probabilities, axis=1))


def draw(weights, words, right, path):
    """Draw for each package the words that speak for it most, and how often its texts are recognised."""
    figure, axes = plt.subplots(2, 5, figsize=(13, 5.5), constrained_layout=True)
    for label, axis in enumerate(axes.flat):
        best = np.argsort(weights[:, label])[-SHOWN:]
        axis.barh(range(SHOWN), weights[best, label], color=plt.cm.tab10(label))
        axis.set_yticks(range(SHOWN), [words[i] for i in best])
        axis.set_xticks([])
        axis.spines[["top", "right", "bottom"]].set_visible(False)
        axis.set_title(f"{PACKAGES[label]}: {right[label]:.0%} right", fontsize=10)
    figure.suptitle("Words by which a docstring of SciPy is recognised, and how many of those never seen before are")
    figure.savefig(path, dpi=110)


def main():
    """Read, train, test, draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--picture", type=Path, default=Path("docstrings.png"))
    options = parser.parse_args()

    texts, labels = docstrings()
    x, words = word_counts(texts)
    rng = np.random.default_rng(0)
    tested = rng.random(len(labels)) < 0.25
    print(f"{x.shape[0]} docstrings, {x.shape[1]} words, {x.nnz / x.shape[0]:.0f} different ones in each")

    model = Classifier(len(words))
    learned = x[~tested], labels[~tested]
    theano.printing.debugprint(model.train)
    start = time.perf_counter()
    costs = [float(model.train(*learned)) for _ in range(options.steps)]
    each = (time.perf_counter() - start) / options.steps
    print(f"cost {costs[0]:.3f} -> {costs[-1]:.3f}; {each * 1e3:.2f} ms a step")

    found = model.predict(x[tested])
    right = np.array([np.mean(found[labels[tested] == label] == label) for label in range(len(PACKAGES))])
    often = np.mean(labels[tested] == np.bincount(labels[~tested]).argmax())
    print(f"right: {np.mean(found == labels[tested]):.1%} of {tested.sum()} (the most frequent package: {often:.1%})")
    draw(model.weights.get_value(), words, right, options.picture)
    print(f"wrote {options.picture}")


if __name__ == "__main__":
    main()
