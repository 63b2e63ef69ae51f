"""A neural Turing machine: a controller that reads and writes a memory, learning to copy sequences."""

from __future__ import annotations

import sys

import numpy as np

import theano
import theano.tensor as T

theano.config.floatX = "float32"
sys.path.insert(0, sys.argv[1])
import ntm  # noqa: E402
import tasks  # noqa: E402
import train_copy  # noqa: E402

# Where a memory is read by content alone, and then shifted by one: against NumPy.
rng = np.random.default_rng(0)
memory, key = rng.normal(size=(2, 5, 3)).astype("float32"), rng.normal(size=(2, 3)).astype("float32")
k, m = T.matrix(), T.tensor3()
found = theano.function([k, m], ntm.cosine_sim(k, m))(key, memory)
known = np.einsum("bi,bji->bj", key, memory) / (
    np.linalg.norm(key, axis=1)[:, None] * np.linalg.norm(memory, axis=2) + 1e-5
)
assert np.allclose(found, known, atol=1e-5)

np.random.seed(0)
P, P_learn, train, test = train_copy.make_functions(
    input_size=5, output_size=5, mem_size=8, mem_width=6, hidden_sizes=[24]
)
losses = []
for _ in range(250):
    losses.append(float(train(*tasks.copy(20, np.random.randint(2) + 1, 3))))
bits = [float(test(*tasks.copy(20, 2, 3)))]
P.save("model.pkl")
P.load("model.pkl")
bits.append(float(test(*tasks.copy(20, 2, 3))))
assert np.mean(losses[-10:]) < 0.5 and max(bits) < 6, (losses[-1], bits)
print(f"loss {np.mean(losses[:10]):.3f} -> {np.mean(losses[-10:]):.3f}; loaded: {bits[1]:.2f} bits of 6 missing")
