"""The table of expressions through ``theano.function``: rewritten, compiled, and still what NumPy says."""

from __future__ import annotations

import numpy as np
import pytest
from cases import CASES
from oracle import run

import theano
import theano.tensor as T
from portion import portion


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in portion(CASES, 3)])
def test_compiled(case):
    rng = np.random.default_rng(3)
    variables = case.variables()
    values = case.values(rng)
    out = case.build(*variables)
    f = theano.function(variables, out, on_unused_input="ignore")
    np.testing.assert_allclose(f(*values), case.reference(*values), rtol=1e-8, atol=1e-10)
    if case.smooth:
        wrt = [v for v in variables if v.dtype == "float64"]
        grads = theano.grad((out * out).sum(), wrt, disconnected_inputs="ignore")
        f = theano.function(variables, grads, on_unused_input="ignore")
        for actual, expected in zip(f(*values), run(grads, dict(zip(variables, values)))):
            np.testing.assert_allclose(actual, expected, rtol=1e-8, atol=1e-10)


#: Ops of the table without a kernel for float16.
INTERPRETED = {"CpuContiguous", "CrossentropyCategorical1Hot", "PermuteRowElements"}


def interpreted(out, variables):
    """Return the ops of a compiled expression that run in Python."""
    f = theano.function(variables, out, on_unused_input="ignore")
    return {str(n.op) for n in f.maker.fgraph.apply_nodes if n.op.c_kernel(n) is None}


@pytest.mark.parametrize("part", portion(range(4), 4, always=0))
def test_float16_runs_compiled(part):
    """What is stored in float16 is computed by kernels, the gradients too."""
    found = {}
    for case in CASES[part::4]:
        try:
            variables = case.variables("float16")
            out = case.build(*variables)
        except TypeError:
            continue  # refused when it is written down
        wanted = [out]
        if case.smooth:
            halves = [v for v in variables if v.dtype == "float16"]
            wanted += theano.grad(out.sum(), halves, disconnected_inputs="ignore")
        found |= dict.fromkeys(interpreted(wanted, variables) - INTERPRETED, case.name)
    assert found == {}


@pytest.mark.parametrize("dtypes", [("float32", "float64"), ("int8", "float32"), ("float16", "int8"), ("int32", "complex64")])
def test_products_of_two_dtypes(dtypes):
    rng = np.random.default_rng(0)
    values = [rng.integers(-5, 6, shape).astype(d) for d, shape in zip(dtypes, ((3, 4), (4, 5)))]
    m, n = (T.TensorType(d, (False, False))() for d in dtypes)
    for build in (
        lambda dot, m, n: dot(m, n),
        lambda dot, m, n: dot(m[0], n),
        lambda dot, m, n: dot(m, n[:, 0]),
        lambda dot, m, n: dot(m[0], n[:, 0]),
    ):
        out = build(T.dot, m, n)
        assert interpreted(out, [m, n]) == set()
        found = theano.function([m, n], out)(*values)
        assert found.dtype == out.dtype
        np.testing.assert_array_equal(found, build(np.dot, *[v.astype("complex128") for v in values]))
