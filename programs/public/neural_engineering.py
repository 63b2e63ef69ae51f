"""Spiking neurons as a computer (Nengo over Theano): populations that pass on, square, and integrate two numbers."""

from __future__ import annotations

import math
import sys
import tempfile

import numpy as np

tempfile.tempdir = "."  # it keeps decoders there, for seeds that do not tell all
np.random.seed(0)
sys.path.insert(0, sys.argv[1])
import nengo_theano as nef  # noqa: E402

# All of two numbers: of one alone, the program's updates are of another type than Theano 1.0.5 takes.
net = nef.Network("task", seed=91)
net.make_input("wave", lambda t: [math.sin(2 * math.pi * t), math.cos(2 * math.pi * t)])
net.make_input("push", lambda t: [1.0, -0.5] if t < 0.5 else [0.0, 0.0])
net.make("A", 400, 2, radius=1.2)
net.make("square", 400, 2, radius=1.2)
net.make("both", neurons=200, array_size=2, dimensions=1)
net.make("sum", 600, 2)
net.make("direct", 1, 2, mode="direct")
net.connect("wave", "A")
net.connect("A", "square", func=lambda x: [x[0] ** 2, x[1] ** 2])
net.connect("wave", "both", transform=[[0, 1], [-1, 0]])
net.connect("push", "sum", transform=[[0.1, 0], [0, 0.1]], pstc=0.1)
net.connect("sum", "sum", pstc=0.1)
net.connect("wave", "direct")
names = ("wave", "A", "square", "both", "sum", "direct")
probes = {name: net.make_probe(name, dt_sample=0.01, pstc=0.03) for name in names}
net.run(1.0)
got = {name: np.asarray(probe.get_data())[20:] for name, probe in probes.items()}
wave = got["wave"]
known = {"A": wave, "square": wave**2, "both": wave[:, ::-1] * [1, -1], "direct": wave}
# Filters delay each connection by a hundredth of a second or two.
errors = {name: min(np.sqrt(np.mean((got[name][k:] - value[: len(value) - k]) ** 2)) for k in range(4))
          for name, value in known.items()}  # fmt: skip
errors["sum"] = np.sqrt(np.mean((got["sum"][-25:] - [0.5, -0.25]) ** 2))
assert max(errors[name] for name in known) < 0.08 and errors["sum"] < 0.25, errors
print("deviations from what each population computes: " + ", ".join(f"{k} {v:.3f}" for k, v in errors.items()))
