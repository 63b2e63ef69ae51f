"""Word vectors: skip-grams and continuous bags of words, by softmax and by negative samples."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path[:0] = [sys.argv[1], f"{sys.argv[1]}/src", f"{sys.argv[1]}/tools"]
from src.cbow import CBOW  # noqa: E402
from src.optimizations import Adam, SMOpt  # noqa: E402
from src.skipgram import SkipGram  # noqa: E402

RNG, C = np.random.default_rng(0), 2
GROUPS = np.arange(12) // 4  # words of a group appear together


class Vocabulary:
    """What a model asks of a vocabulary: the words, and how often each is drawn."""

    index_to_word = [f"word{i}" for i in range(12)]
    uni_distr = np.full(12, 1 / 12, "float32")


groups = RNG.integers(0, 3, 4000)
y = (groups * 4 + RNG.integers(0, 4, 4000)).astype("int32")
x = (groups[:, None] * 4 + RNG.integers(0, 4, (4000, 2 * C))).astype("int32")
found = {}
for kind in (SkipGram, CBOW):
    for option in (SMOpt.none, SMOpt.negative_sampling):
        model = kind(Vocabulary(), C=C, dim=8, lr_opt=Adam(0.02, 0.9, 0.999), sm_opt=option, nr_neg_samples=5)
        for _ in range(4):
            for start in range(0, 4000, 100):
                model.train(x[start : start + 100], y[start : start + 100])
        name = f"{kind.__name__} {option.name}"
        found[name] = float(model.calculate_total_loss_mean(x, y))
        vectors = np.array([model.get_word_input_rep(i) for i in range(12)])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        alike = vectors @ vectors.T
        same = GROUPS[:, None] == GROUPS
        assert alike[same].min() > alike[~same].max(), name
# A word of the group is one of four: log 4 for each that is foretold, and no model's loss is below.
assert abs(found["SkipGram none"] - 2 * C * np.log(4)) < 0.1 and abs(found["CBOW none"] - np.log(4)) < 0.05, found
model.save_word_vectors("vectors/")
assert len(Path("vectors/input.txt").read_text().splitlines()) == 12
print("losses", {name: round(loss, 2) for name, loss in found.items()}, "(softmax: known 5.55 and 1.39)")
