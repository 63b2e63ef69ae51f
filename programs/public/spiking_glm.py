"""Linear models of spiking neurons in plain Theano: a population simulated, and found again by its own inference."""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, sys.argv[1])
from pyglm.models.model_factory import check_stability, make_model, stabilize_sparsity
from pyglm.population import Population
from pyglm.utils.grads import differentiable, grad_wrt_list
from pyglm.utils.packvec import get_vars, set_vars
from pyglm.utils.theano_func_wrapper import _flatten, seval

np.random.seed(3)
cells, seconds = 2, 20.0
stabilize_sparsity(model := make_model("standard_glm", N=cells, dt=0.001))
population = Population(model)
true = population.sample()
assert check_stability(model, true, cells)
stimulus = np.random.randn(int(seconds / 0.1), 1)
spikes, currents = population.simulate(true, (0, seconds), 0.001, stimulus, 0.1)
data = {"S": spikes, "X": currents, "N": cells, "dt": 0.001, "T": seconds, "stim": stimulus, "dt_stim": 0.1,
        "vars": true}  # fmt: skip
population.add_data(data)
for n, state in enumerate(population.eval_state(true)["glms"][:cells]):
    assert np.allclose(state["lam"], population.glm.nlin_model.f_nlin(currents[:, n]))

# Its own fits compare arrays with [], which NumPy 1.25 refuses: the posterior's maximum is found by SciPy, with its
# likelihood and slopes, which are those of differences.
syms = population.get_variables()
chosen = differentiable(syms["glm"])
cost = population.glm.log_prior + population.glm.ll
slope, gained = grad_wrt_list(cost, _flatten(chosen))[0], []
population.set_data(data)
for n in range(cells):
    truth, state = (population.extract_vars(x, n) for x in (true, population.sample()))
    leaves = [np.asarray(v) for v in _flatten(get_vars(chosen, truth["glm"]))]
    ends = np.cumsum([v.size for v in leaves])

    def minus(point, state=state, leaves=leaves, ends=ends):
        """Return the cost and its slope, at parameters in a vector, in the order of their names."""
        parts = iter([part.reshape(v.shape) for part, v in zip(np.split(point, ends[:-1]), leaves, strict=True)])

        def put(tree):
            return {k: put(v) if isinstance(v, dict) else next(parts) for k, v in sorted(tree.items())}

        set_vars(chosen, state["glm"], put(chosen))
        return -float(seval(cost, syms, state)), -seval(slope, syms, state)

    known = np.concatenate([v.ravel() for v in leaves])
    way = np.random.randn(known.size) * 1e-5
    difference = minus(known + way)[0] - minus(known - way)[0]
    assert abs(difference - 2 * minus(known)[1] @ way) < 1e-4 * abs(difference) + 1e-6
    found = minimize(minus, known * 0.5, jac=True, method="BFGS")
    gained.append(minus(known)[0] - found.fun)
    assert gained[-1] > 0 and np.abs(found.jac).max() < 1e-2 * np.abs(minus(known)[1]).max(), found
print(f"{int(spikes.sum())} spikes of {cells} cells; log-posteriors at most {max(gained):.1f} above those of the truth")
