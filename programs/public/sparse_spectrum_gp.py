"""A variational sparse-spectrum Gaussian process: a sum of two sines found, its functions pickled and read back."""

from __future__ import annotations

import os
import sys

import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, sys.argv[1])
from VSSGP_opt import VSSGP_opt

np.random.seed(4)
n, k, components = 100, 12, 2
x = np.sort(np.random.rand(n, 1) * 5 * np.pi, axis=0)
signal = 0.6 * np.sin(-1.8 * x - 0.5) - 0.5 * np.sin(1.7 * x)
y = signal + 0.05 * np.random.randn(n, 1)
free = {
    "Z": np.random.rand(1, k, components) * 5 * np.pi, "m": np.random.randn(components * k, 1),
    "ls": np.zeros((components * k, 1)) - 4, "mu": np.random.randn(1, k, components),
    "lSigma": np.log(np.random.randn(1, k, components) ** 2 / 25),
    "lhyp": np.log(1 + 1e-2 * np.random.randn(3, components)) + np.log([[1, 5], [1, 1], [1e32, 1e32]]),
    "ltau": np.log(1),
}  # fmt: skip
phases = np.random.rand(k, components) * 2 * np.pi
fixed = {"lalpha": np.log(phases), "lalpha_delta": np.log(np.random.rand(k, components) * (2 * np.pi - phases)),
         "a": np.zeros((1, 1)), "b": np.zeros(1)}  # fmt: skip
runs = []
for _ in range(2):  # the second time it reads the functions that it pickled
    model = VSSGP_opt(n, 1, 1, k, {"X": x, "Y": y}, free, fixed, use_exact_A=True)
    at = np.concatenate([np.atleast_2d(free[name]).flatten() for name in model.opt_param_names])
    runs.append((model.func(at), model.fprime(at)))
assert os.path.exists("model_exact_A.save") and runs[0][0] == runs[1][0] and np.array_equal(runs[0][1], runs[1][1])
way = np.random.randn(at.size) * 1e-6
difference = model.func(at + way) - model.func(at - way)
assert abs(difference - 2 * runs[0][1] @ way) < 1e-3 * abs(difference), (difference, 2 * runs[0][1] @ way)
found = minimize(model.func, at, method="L-BFGS-B", jac=model.fprime, options={"maxiter": 300})
params = {"X": x, "Y": y, **fixed, **model.unpack(found.x)}
params["m"], params["ls"] = model.vssgp.f["opt_A_mean"](**params), model.vssgp.f["opt_A_cov"](**params)
error = float(np.sqrt(np.mean((model.vssgp.f["Y_pred_mean"](**params) - signal) ** 2)))
assert error < 0.1, error
print(f"bound from {-runs[0][0]:.1f} to {-found.fun:.1f}; error {error:.3f} of a signal of {signal.std():.3f}")
