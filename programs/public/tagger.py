"""Named entities by bidirectional LSTMs over characters and words, with a conditional random field on top."""

from __future__ import annotations

import itertools
import os
import sys
from collections import OrderedDict

import numpy as np

import theano
import theano.tensor as T

theano.config.floatX = "float32"
sys.path.insert(0, sys.argv[1])
import loader  # noqa: E402
import nn  # noqa: E402
import utils  # noqa: E402
from model import Model  # noqa: E402

RNG = np.random.default_rng(0)
PEOPLE, PLACES, OTHERS = ["Ann", "Bob", "Carl"], ["York", "Paris"], ["saw", "the", "town", "and", "left"]
scores, moves = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 3))
paths = [sum(scores[i, tag] for i, tag in enumerate(path)) + sum(moves[a, b] for a, b in itertools.pairwise(path))
         for path in itertools.product(range(3), repeat=4)]  # fmt: skip
o, t = T.matrix(), T.matrix()
both = [nn.forward(o, t), nn.forward(o, t, viterbi=True)]
values = theano.function([o, t], both, allow_input_downcast=True)(scores, moves)
assert np.allclose(values, [np.log(np.exp(paths).sum()), max(paths)], atol=1e-4)

with open("train.txt", "w") as file:
    for _ in range(60):
        for _ in range(RNG.integers(2, 5)):
            for kind, words in (("PER", PEOPLE), (None, OTHERS), ("LOC", PLACES)):
                chosen = [str(word) for word in RNG.choice(words, RNG.integers(0, 3))]
                tags = ["O" if kind is None else f"{'I' if i else 'B'}-{kind}" for i in range(len(chosen))]
                file.writelines(f"{word} {tag}\n" for word, tag in zip(chosen, tags))
            file.write("and O\n")
        file.write("\n")
parameters = OrderedDict(
    tag_scheme="iobes", lower=False, zeros=True, char_dim=5, char_lstm_dim=5, char_bidirect=True, word_dim=10,
    word_lstm_dim=10, word_bidirect=True, pre_emb="", all_emb=False, cap_dim=2, crf=True, dropout=0.2,
    lr_method="sgd-lr_.05",
)  # fmt: skip
np.random.seed(0)
sentences = loader.load_sentences("train.txt", False, True)
loader.update_tag_scheme(sentences, "iobes")
_, words, names = loader.word_mapping(sentences, False)
_, letters, letter_names = loader.char_mapping(sentences)
_, tags, tag_names = loader.tag_mapping(sentences)
data = loader.prepare_dataset(sentences, words, letters, tags)
os.mkdir("models")
model = Model(parameters=parameters, models_path="models")
model.save_mappings(names, letter_names, tag_names)
train, evaluate = model.build(**parameters)
for _ in range(6):
    losses = [float(train(*utils.create_input(data[i], parameters, True))) for i in np.random.permutation(len(data))]
model.save()
model.reload()
right = [np.mean(np.array(evaluate(*utils.create_input(row, parameters, False)))[1:-1] == row["tags"]) for row in data]
assert np.mean(right) > 0.95, np.mean(right)
print(f"paths of the field as counted; loss {np.mean(losses):.3f}, accuracy {np.mean(right):.3f}; saved and loaded")
