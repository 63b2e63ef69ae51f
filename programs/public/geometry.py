"""Differential geometry (Theano Geometry): curvature, geodesics, transport on the sphere, and a random path."""

from __future__ import annotations

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from src.dynamics import Hamiltonian
from src.manifolds.S2 import S2
from src.params import n_steps
from src.Riemannian import curvature, geodesic, metric, parallel_transport
from src.stochastics import Brownian_coords
from src.utils import dWsf, tensor

sphere = S2()
for part in (metric, geodesic, Hamiltonian, curvature, parallel_transport, Brownian_coords):
    part.initialize(sphere)

x, v = tensor(np.array([0.3, -0.2])), tensor(np.array([0.5, 0.4]))
frame = sphere.gramSchmidt(x, tensor(np.eye(2)))
sectional, scalar = float(sphere.sec_curvf(x, frame[:, 0], frame[:, 1])), float(sphere.S_curvf(x))
assert abs(sectional - 1) < 1e-4 and abs(scalar - 2) < 1e-4, (sectional, scalar)

n_steps.set_value(1000)
length = float(sphere.normf(x, v))
path = np.array([sphere.Ff(point) for point in sphere.Exptf(x, v)])
assert np.abs((path**2).sum(1) - 1).max() < 1e-4
arc = float(np.arccos(path[-1] @ sphere.Ff(x)))
assert abs(arc - length) < 2e-3, (arc, length)
plane = np.linalg.svd(path)[1]  # a great circle: the points lie in a plane through the middle
assert plane[2] < 1e-2 * plane[0], plane
by_energy = np.array([sphere.Ff(point) for point in sphere.Exp_Hamiltoniantf(x, sphere.flatf(x, v)).T])
assert np.abs(by_energy[-1] - path[-1]).max() < 5e-3
# A vector carried around a parallel of the globe turns by the area that is cut off.
around = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
circle = 0.5 * np.stack([np.cos(around), np.sin(around)], axis=1)
speed = 2 * np.pi * 0.5 * np.stack([-np.sin(around), np.cos(around)], axis=1)
n_steps.set_value(2000)
carried = sphere.parallel_transportf(tensor(np.array([1.0, 0.0])), tensor(circle), tensor(speed))
turn = float(np.arctan2(carried[-1][1], carried[-1][0])) % (2 * np.pi)
height = float(sphere.Ff(tensor(circle[0]))[2])
area = 2 * np.pi * (1 - abs(height))
assert min(abs(turn - area % (2 * np.pi)), abs(2 * np.pi - turn - area % (2 * np.pi))) < 1e-2, (turn, area)

# A random path, with the drift as the program has it, against its steps in NumPy.
np.random.seed(0)
n_steps.set_value(100)
noise = 0.3 * dWsf(2)
walk, at = sphere.Brownian_coordsf(x, noise)[1], x
for step, point in zip(noise, walk, strict=True):
    spread = sphere.gsharpf(at)
    at = at - 0.005 * np.tensordot(spread, sphere.Gamma_gf(at), ((0, 1), (0, 1))) + np.linalg.cholesky(spread) @ step
    assert np.allclose(at, point, atol=1e-5), (at, point)
print(f"curvature {sectional:.4f}, geodesic {arc:.4f} of {length:.4f}, turned by {turn:.4f} for the area {area:.4f}")
