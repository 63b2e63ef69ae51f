"""The table of expressions through ``theano.function``: rewritten, compiled, and still what NumPy says."""

from __future__ import annotations

import numpy as np
import pytest
from cases import CASES
from oracle import run

import theano

# Every tenth one in each run of the tests; all of them, and their gradients, where time is no matter.
QUICK = [pytest.param(c, id=c.name) for c in CASES[::10]]
ALL = [pytest.param(c, id=c.name) for c in CASES]


def check(case, with_gradient):
    rng = np.random.default_rng(3)
    variables = case.variables()
    values = case.values(rng)
    out = case.build(*variables)
    f = theano.function(variables, out, on_unused_input="ignore")
    np.testing.assert_allclose(f(*values), case.reference(*values), rtol=1e-8, atol=1e-10)
    if with_gradient and case.smooth:
        wrt = [v for v in variables if v.dtype == "float64"]
        grads = theano.grad((out * out).sum(), wrt, disconnected_inputs="ignore")
        f = theano.function(variables, grads, on_unused_input="ignore")
        for actual, expected in zip(f(*values), run(grads, dict(zip(variables, values)))):
            np.testing.assert_allclose(actual, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("case", QUICK)
def test_compiled(case):
    check(case, False)


@pytest.mark.slow
@pytest.mark.parametrize("case", ALL)
def test_compiled_with_gradient(case):
    check(case, True)
