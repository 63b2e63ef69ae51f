"""Terms of expressions for relational programming (symbolic-pymc): unification, random variables, formulas."""

from __future__ import annotations

import sys

import numpy as np
from scipy import stats

import theano
import theano.tensor as tt

sys.path.insert(0, sys.argv[1])
import symbolic_pymc.utils

symbolic_pymc.utils.HashableNDArray.tostring = np.ndarray.tobytes  # NumPy 2.3 dropped it
from symbolic_pymc.theano import random_variables as rvs  # noqa: E402
from symbolic_pymc.theano.meta import mt  # noqa: E402
from symbolic_pymc.theano.printing import tt_pprint  # noqa: E402
from unification import reify, unify, var  # noqa: E402

x, y = tt.dvectors("x", "y")
term = mt(tt.exp(x + 2.0 * y).sum())
assert term.obj is not None and term.reify().owner.op == tt.exp(x).sum().owner.op
found = unify(mt.add(var("a"), mt.inv(var("b"))), mt.add(mt(x), mt.inv(mt(y))), {})
assert found and found[var("a")].obj is x and found[var("b")].obj is y
again = reify(mt.sub(var("b"), var("a")), found).reify()
assert np.array_equal(again.eval({x: [1.0, 2.0], y: [5.0, 7.0]}), [4.0, 5.0])

theano.config.compute_test_value = "ignore"
rng = theano.shared(np.random.RandomState(7), name="rng")
shown = tt_pprint(tt.scalar("b") * rvs.NormalRV(tt.scalar("m"), tt.scalar("s"), name="X"))
assert shown.splitlines() == ["b in R, m in R, s in R", "X ~ N(m, s**2) in R", "(b * X)"], shown
n, worst = 20000, 1.0
kinds = [("Normal", (1.0, 2.0), stats.norm(1, 2)), ("Uniform", (-1.0, 3.0), stats.uniform(-1, 4)),
         ("Gamma", (2.0, 3.0), stats.gamma(2, scale=1 / 3)), ("Exponential", (2.0,), stats.expon(scale=2)),
         ("HalfNormal", (0.0, 1.5), stats.halfnorm(0, 1.5)), ("Beta", (2.0, 5.0), stats.beta(2, 5))]  # fmt: skip
for name, params, known in kinds:
    rv = getattr(rvs, f"{name}RV")(*params, size=(n,), rng=rng)
    assert rv.type.ndim == 1
    worst = min(worst, stats.kstest(rv.eval(), known.cdf).pvalue)
assert worst > 1e-3, worst
many = rvs.MvNormalRV([1.0, 2.0], np.diag([0.5, 4.0]), size=(n,), rng=rng).eval()
assert np.allclose(many.mean(0), [1, 2], atol=0.06) and np.allclose(np.cov(many.T), np.diag([0.5, 4]), atol=0.15)
print(
    f"terms unified and made again; draws of 6 distributions, p at least {worst:.3f}; printed: {shown.splitlines()[1]}"
)
