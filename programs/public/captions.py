"""Show, attend and tell: captions of images by soft and by hard attention."""

from __future__ import annotations

import pickle
import sys
import types

import numpy as np
import scipy.sparse

import theano

theano.config.floatX = "float32"
folds = types.ModuleType("sklearn.cross_validation")  # which scikit-learn 0.20 dropped
folds.KFold = lambda n, n_folds, shuffle: [(None, part) for part in np.array_split(np.arange(n), n_folds)]
sys.modules["sklearn.cross_validation"] = folds
sys.path.insert(0, sys.argv[1])
import capgen  # noqa: E402
import flickr8k  # noqa: E402

RNG = np.random.default_rng(0)
words = {"<eos>": 0, "UNK": 1, "red": 2, "blue": 3, "left": 4, "right": 5}
for part, count in (("train", 200), ("dev", 40), ("test", 40)):
    captions, rows = [], []
    for i in range(count):
        colour, side = RNG.integers(0, 2, 2)
        image = np.zeros((196, 512), "float32")  # a thing of a colour at a place of the side
        image[98 * side + RNG.integers(0, 98, 20), colour] = 3.0
        image[98 * side : 98 * side + 98, 2 + side] = 1.0
        captions.append((f"{('red', 'blue')[colour]} {('left', 'right')[side]}", i))
        rows.append(image.ravel())
    with open(f"flicker_8k_align.{part}.pkl", "wb") as file:
        pickle.dump(captions, file)
        pickle.dump(scipy.sparse.csr_matrix(np.array(rows)), file)
with open("dictionary.pkl", "wb") as file:
    pickle.dump(words, file)
found = {}
for kind in ("deterministic",):  # "stochastic" takes gradients through drawn numbers, which Theano 1.0 has not, either
    np.random.seed(0)
    name = f"{kind}.npz"
    capgen.train(dim_word=8, ctx_dim=512, dim=16, attn_type=kind, n_words=6, optimizer="sgd", lrate=1.0, batch_size=10,
                 valid_batch_size=20, max_epochs=14, validFreq=40, saveFreq=40, sampleFreq=10000, saveto=name,
                 prev2out=True, ctx2out=True, alpha_c=0.01, decay_c=1e-6, use_dropout=True, selector=True)  # fmt: skip
    with open(f"{name}.pkl", "rb") as file:
        options = pickle.load(file)
    tparams = capgen.init_tparams(capgen.load_params(name, capgen.init_params(options)))
    trng, use_noise, *_ = capgen.build_model(tparams, options)
    first, after = capgen.build_sampler(tparams, options, use_noise, trng)
    test = flickr8k.load_data(load_train=False, load_dev=False)[2]
    right = []
    for caption, i in test[0]:
        context = np.asarray(test[1][i].todense()).reshape(196, 512)
        said, scores = capgen.gen_sample(tparams, first, after, context, options, trng=trng, k=3, maxlen=5)
        best = said[int(np.argmin(scores))]
        right.append(best == [*(words[word] for word in caption.split()), 0])
    found[kind] = round(float(np.mean(right)), 2)
    assert found[kind] > 0.8, found
print(f"captions said exactly: {found}")
