"""Biaxial recurrent network for music, on theano-lstm: trained on a scale, and played; it has an op in a loop."""

from __future__ import annotations

import random
import sys
import types

import numpy as np

import theano

theano.config.floatX = "float32"
sys.path.insert(0, sys.argv[1])
sys.modules["midi"] = types.ModuleType("midi")  # which reads and writes files of music
import multi_training  # noqa: E402
from data import noteStateSingleToInputForm  # noqa: E402
from midi_to_statematrix import lowerBound, upperBound  # noqa: E402
from model import Model  # noqa: E402

NOTES, STEPS = upperBound - lowerBound, 32
np.random.seed(0)
random.seed(0)
multi_training.batch_width, multi_training.batch_len = 2, STEPS
piece = np.zeros((4 * STEPS, NOTES, 2), int)
for t in range(4 * STEPS):  # three notes at a time, which change with each beat
    piece[t, [20 + t % 4, 30 + t % 4, 40 + t % 4]] = 1
pieces = {"scale": piece.tolist()}
model = Model([20], [12], dropout=0.5)
errors = [float(model.update_fun(*multi_training.getPieceBatch(pieces))) for _ in range(60)]
start = np.array(noteStateSingleToInputForm(piece[0].tolist(), 0), "int8")
played = model.predict_fun(8, 1.0, start)
assert played.shape == (8, NOTES, 2) and set(np.unique(played)) <= {0, 1}
assert (played[..., 1] <= played[..., 0]).all()  # only a note that is on is struck
model.start_slow_walk(start)
walk = [model.slow_walk_fun(1.0)[-1] for _ in range(3)]
assert walk[0].shape == (NOTES, 2)
plain = Model([8], [6])  # without dropout, its update and its thoughts have the same cost
given = multi_training.getPieceBatch(pieces)
assert np.isclose(plain.update_thought_fun(*given)[-1], plain.update_fun(*given), rtol=1e-5)
even = 2 * (STEPS - 1) * (NOTES + 3) * np.log(2)  # where each note is on by the toss of a coin
assert errors[-1] < 0.3 * even, (errors[0], errors[-1], even)
print(f"cost {errors[0]:.0f} -> {errors[-1]:.0f} (coins: {even:.0f}); 8 steps of {NOTES} notes played")
