"""Convolutional networks that classify sentences, with word vectors that are trained, dropout and Adadelta."""

from __future__ import annotations

import sys

import numpy as np

import theano

theano.config.floatX = "float32"
sys.path.insert(0, sys.argv[1])
import conv_net_classes  # noqa: E402
import conv_net_sentence as program  # noqa: E402

vars(program).update({name: value for name, value in vars(conv_net_classes).items() if name not in vars(program)})
RNG = np.random.default_rng(0)
NAMES = [f"w{i}" for i in range(20)]
index = {name: i + 1 for i, name in enumerate(NAMES)}
reviews = []
for i in range(600):
    text, y = RNG.choice(NAMES[2:], 8), int(RNG.integers(0, 2))
    place = int(RNG.integers(0, 7))
    text[place : place + 2] = ["w0", "w1"] if y else ["w1", "w0"]  # the order of two words tells the class
    reviews.append({"text": " ".join(text), "y": y, "split": int(i >= 500)})
datasets = program.make_idx_data_cv(reviews, index, 1, max_l=8, k=10, filter_h=3)
vectors = RNG.uniform(-0.25, 0.25, (21, 10)).astype("float32")
vectors[0] = 0
found = {}
for static in (False, True):
    perf = program.train_conv_net(
        datasets, vectors.copy(), img_w=10, filter_hs=[2, 3], hidden_units=[16, 2], dropout_rate=[0.3], n_epochs=30,
        batch_size=50, conv_non_linear="relu", non_static=not static, activations=[program.Iden],
    )  # fmt: skip
    found["static" if static else "trained"] = round(float(perf), 3)
assert min(found.values()) > 0.9, found
print(f"accuracy with vectors {found}")
