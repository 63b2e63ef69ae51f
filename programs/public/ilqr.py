"""Differential dynamic programming: its controls are those of Riccati's equation, and it swings a pendulum up."""

from __future__ import annotations

import sys

import numpy as np

import theano.tensor as T

sys.path.insert(0, sys.argv[1])
from ilqr import iLQR
from ilqr.cost import AutoDiffCost, QRCost
from ilqr.dynamics import AutoDiffDynamics, BatchAutoDiffDynamics, tensor_constrain

STEPS = 30
A, B = np.array([[1.0, 0.1], [-0.2, 0.9]]), np.array([[0.0], [0.1]])
place, speed, push = T.dscalar("place"), T.dscalar("speed"), T.dscalar("push")
after = T.stack([A[i, 0] * place + A[i, 1] * speed + B[i, 0] * push for i in range(2)])
cost = place**2 + 0.5 * speed**2 + 0.1 * push**2
linear = AutoDiffDynamics(after, [place, speed], [push])
square = AutoDiffCost(cost, 10 * place**2 + speed**2, [place, speed], [push])
places, pushes = iLQR(linear, square, STEPS).fit(np.array([1.0, -0.5]), np.zeros((STEPS, 1)), tol=1e-14)
ahead, gains = np.diag([10.0, 1.0]), []
for _ in range(STEPS):
    gains.append(np.linalg.solve(0.1 + B.T @ ahead @ B, B.T @ ahead @ A))
    ahead = np.diag([1.0, 0.5]) + A.T @ ahead @ (A - B @ gains[-1])
state, known = np.array([1.0, -0.5]), []
for gain in reversed(gains):
    known.append(-gain @ state)
    state = A @ state + B @ known[-1]
wrong = np.abs(np.asarray(known) - pushes).max()
assert wrong < 1e-7, wrong

# Second derivatives of what is not linear, against differences of the first.
angle = AutoDiffDynamics(T.stack([place + 0.1 * speed, speed + T.sin(place) * T.cos(push)]), [place, speed], [push],
                         hessians=True)  # fmt: skip
at, by = np.array([0.3, -0.2]), np.array([0.7])
for i in range(2):
    step = np.eye(2)[i] * 1e-6
    slope = (angle.f_x(at + step, by, 0) - angle.f_x(at - step, by, 0)) / 2e-6
    assert np.allclose(angle.f_xx(at, by, 0)[:, i], slope, atol=1e-8)


def swing(x, u, i):
    """Return where a pendulum with a limited motor is after a step: sine, cosine and speed."""
    torque = tensor_constrain(u, np.array([-8.0]), np.array([8.0]))[..., 0]
    speed = x[..., 2] + 0.05 * (9.81 * x[..., 0] + torque - 0.1 * x[..., 2])
    angle = T.arctan2(x[..., 0], x[..., 1]) + 0.05 * speed
    return T.stack([T.sin(angle), T.cos(angle), speed]).T


pendulum = BatchAutoDiffDynamics(swing, 3, 1)
goal = QRCost(np.diag([10.0, 10.0, 0.1]), 0.001 * np.eye(1), 100 * np.eye(3), np.array([0.0, 1.0, 0.0]))
start = np.array([0.0, -1.0, 0.0])
np.random.seed(1)
path, _ = iLQR(pendulum, goal, 80).fit(start, np.random.uniform(-1, 1, (80, 1)), n_iterations=150)
assert path[-1][1] > 0.99, path[-1]
print(f"linear: controls of Riccati's equation to {wrong:.0e}; a pendulum swung up to a cosine of {path[-1][1]:.4f}")
