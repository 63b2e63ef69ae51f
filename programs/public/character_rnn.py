"""Recurrent networks over characters (RNN, GRU, LSTM, one way and both): trained on a text, and sampled."""

from __future__ import annotations

import itertools
import os
import sys

import numpy as np

import theano

theano.config.floatX = "float32"
sys.path.insert(0, sys.argv[1])
from model.gru import Gru  # noqa: E402
from model.lstm import Lstm  # noqa: E402
from model.rnn import Rnn  # noqa: E402
from train import train  # noqa: E402
from utilities.loaddata import load_data  # noqa: E402
from utilities.textreader import read_char_data  # noqa: E402

TEXT = "abcdefgh"  # each letter tells the next one
np.random.seed(0)
with open("input.txt", "w") as file:
    file.write(TEXT * 100)
os.mkdir("models")
data, vocabulary = read_char_data("input.txt", seq_length=24)
found = {}
for name, kind in (("rnn", Rnn), ("gru", Gru), ("lstm", Lstm)):
    for existing in (False, True):
        train(data, vocabulary, b_path="models/", rec_model=name, n_h=16, optimizer="rmsprop", learning_rate=0.01,
              n_epochs=6, use_existing_model=existing)  # fmt: skip
    import pickle

    with open(f"models/{name}-best_model.pkl", "rb") as file:
        params = pickle.load(file)
    letters, names, numbers = vocabulary
    x = theano.tensor.fmatrix("x")
    model = kind(input=x, input_dim=8, hidden_dim=16, output_dim=8, params=params)
    *_, vectors = load_data(data, letters, [numbers[letter] for letter in letters])
    text = "".join(names[i] for i in model.generative_sampling(numbers["a"], emb_data=vectors, sample_length=40))
    found[name] = np.mean([TEXT.index(b) == (TEXT.index(a) + 1) % 8 for a, b in itertools.pairwise(text)])
    assert found[name] > 0.9, (name, text)
for name in ("birnn", "bigru", "bilstm"):
    train(data, vocabulary, b_path="models/", rec_model=name, n_h=8, optimizer="adam", n_epochs=1)
print("letters of a sample that follow as in the text", {name: round(float(part), 2) for name, part in found.items()})
