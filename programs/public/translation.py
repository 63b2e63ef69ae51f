"""Neural machine translation with attention (the tutorial's second session): sentences that are read backwards."""

from __future__ import annotations

import pickle
import sys
import types

import numpy as np

import theano

theano.config.floatX = "float32"
sys.modules["ipdb"] = types.ModuleType("ipdb")  # a debugger, which it imports always
sys.path.insert(0, f"{sys.argv[1]}/session2")
import nmt  # noqa: E402

RNG = np.random.default_rng(0)
np.random.seed(0)
LETTERS = "abcd"
for number, name in enumerate(("source", "target")):
    with open(f"{name}.pkl", "wb") as file:
        words = ["eos", "UNK", *(LETTERS if number == 0 else LETTERS.upper())]
        pickle.dump({word: i for i, word in enumerate(words)}, file)
for part, count in (("train", 1200), ("valid", 64)):
    texts = ["".join(RNG.choice(list(LETTERS), RNG.integers(2, 4))) for _ in range(count)]
    with open(f"{part}.source", "w") as source, open(f"{part}.target", "w") as target:
        source.writelines(" ".join(text) + "\n" for text in texts)
        target.writelines(" ".join(text[::-1].upper()) + "\n" for text in texts)  # read backwards, in capitals
error = nmt.train(
    dim_word=16, dim=32, n_words=6, n_words_src=6, maxlen=10, optimizer="adam", lrate=0.01, batch_size=40,
    valid_batch_size=32, max_epochs=50, validFreq=100, saveFreq=100, sampleFreq=300, clip_c=1.0, decay_c=1e-6,
    patience=50, datasets=["train.source", "train.target"], valid_datasets=["valid.source", "valid.target"],
    dictionaries=["source.pkl", "target.pkl"], use_dropout=False,
)  # fmt: skip
assert error < 0.5, error
with open("model.npz.pkl", "rb") as file:
    options = pickle.load(file)
tparams = nmt.init_tparams(nmt.load_params("model.npz", nmt.init_params(options)))
trng, use_noise, *_ = nmt.build_model(tparams, options)
first, after = nmt.build_sampler(tparams, options, trng, use_noise)
right = []
for text in texts:
    x = np.array([[2 + LETTERS.index(letter)] for letter in text] + [[0]])
    found, scores = nmt.gen_sample(tparams, first, after, x, options, trng=trng, k=3, maxlen=10, stochastic=False)
    best = found[int(np.argmin(np.array(scores) / [len(words) for words in found]))]
    right.append(best == [*x[-2::-1, 0], 0])
assert np.mean(right) > 0.9, np.mean(right)
print(f"cost of a sentence {error:.3f}; {np.mean(right):.2f} of the sentences translated exactly by beam search")
