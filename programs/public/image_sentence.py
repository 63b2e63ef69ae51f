"""Sentences and images in one space by a contrastive loss: two encoders that are trained as a pair."""

from __future__ import annotations

import os
import pickle
import sys

import numpy as np

import theano
import theano.tensor as T

theano.config.floatX = "float32"
sys.path.insert(0, sys.argv[1])
import datasets  # noqa: E402
import evaluation  # noqa: E402
import model  # noqa: E402
import train  # noqa: E402

RNG = np.random.default_rng(0)
np.random.seed(0)
im, s = T.matrix(), T.matrix()
a, b = RNG.normal(size=(2, 5, 3)).astype("float32")
scores = a @ b.T
known = sum(max(0, 0.2 - scores[k, k] + scores[i, j]) for i in range(5) for j in range(5) for k in (i, j) if i != j)
assert np.isclose(theano.function([im, s], model.contrastive_loss(0.2, im, s))(a, b), known, rtol=1e-5)

# An image has three of eight things in it; each of its five sentences names them in some order.
os.mkdir("f8k")
datasets.path_to_data = "./"
for part, count in (("train", 120), ("dev", 30), ("test", 30)):
    things = np.array([RNG.choice(8, 3, replace=False) for _ in range(5 * count)])[::5].repeat(5, axis=0)
    images = np.eye(8)[things].sum(axis=1) + 0.05 * RNG.normal(size=(5 * count, 8))
    np.save(f"f8k/f8k_{part}_ims.npy", images.astype("float32"))
    with open(f"f8k/f8k_{part}_caps.txt", "w") as file:
        file.writelines(" ".join(f"thing{i}" for i in RNG.permutation(row)) + "\n" for row in things)
found = {}
for encoder in ("bow", "gru"):
    train.trainer(data="f8k", dim=16, dim_image=8, dim_word=16, encoder=encoder, max_epochs=20, dispFreq=100,
                  lrate=0.02, batch_size=40, saveto=f"{encoder}.npz", validFreq=60, decay_c=1e-5)  # fmt: skip
    with open(f"{encoder}.npz.dictionary.pkl", "rb") as file:
        words = pickle.load(file)
    with open(f"{encoder}.npz.pkl", "rb") as file:
        options = pickle.load(file)
    tparams = train.init_tparams(train.load_params(f"{encoder}.npz", train.init_params(options)))
    trained = {"options": options, "worddict": words, "word_idict": {i: word for word, i in words.items()}}
    for name, build in (("f_senc", train.build_sentence_encoder), ("f_ienc", train.build_image_encoder)):
        _, inputs, output = build(tparams, options)
        trained[name] = theano.function(inputs, output)
    captions, images = datasets.load_dataset("f8k", load_train=False)[2]
    ranks = evaluation.i2t(train.encode_images(trained, images), train.encode_sentences(trained, captions))
    found[encoder] = round(float(ranks[0]), 1)
    assert found[encoder] > 60, found
print(
    f"images whose first sentence is one of theirs: {found} %, of images not seen in training; the loss as NumPy has it"
)
