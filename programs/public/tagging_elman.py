"""Elman's and Jordan's recurrent networks that tag the words of a sentence (slots of ATIS)."""

from __future__ import annotations

import shutil
import sys

import numpy as np

import theano

theano.config.floatX = "float32"
shutil.copytree(sys.argv[1], "is13")  # it is imported by this name
sys.path.insert(0, ".")
from is13.rnn import elman, jordan  # noqa: E402
from is13.utils.tools import contextwin, minibatch, shuffle  # noqa: E402

RNG, WORDS, WIN = np.random.default_rng(0), 12, 3


def sentences(count: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return sentences, and tags: a word's parity where the word before is small, else 2."""
    texts = [RNG.integers(0, WORDS, RNG.integers(4, 9)).tolist() for _ in range(count)]
    return texts, [[2 if i and text[i - 1] >= 6 else w % 2 for i, w in enumerate(text)] for text in texts]


train_x, train_y = sentences(250)
test_x, test_y = sentences(60)
found = {}
for module in (elman, jordan):
    np.random.seed(0)
    model = module.model(nh=20, nc=3, ne=WORDS, de=10, cs=WIN)
    for _ in range(8):
        shuffle([train_x, train_y], 345)
        for text, tags in zip(train_x, train_y):
            words = [np.asarray(part).astype("int32") for part in minibatch(contextwin(text, WIN), 5)]
            for part, tag in zip(words, tags):
                model.train(part, tag, 0.1)
                model.normalize()
    answers = [model.classify(np.asarray(contextwin(text, WIN)).astype("int32")) for text in test_x]
    right = np.concatenate([answer == tags for answer, tags in zip(answers, test_y)])
    name = module.__name__.split(".")[-1]
    found[name] = round(float(right.mean()), 3)
    assert found[name] > 0.95, found
    assert np.allclose(np.linalg.norm(model.emb.get_value(), axis=1), 1, atol=1e-5)
    model.save(".")
print(f"accuracy {found}")
