"""What PyMC's models ask of the mode beside the ops of PyTensor, compared with SciPy or with PyTensor's Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from comparing import Performed, compare, value
from pytensor import function
from scipy import special, stats

pm = pytest.importorskip("pymc")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_scaled_bessel_functions_run_in_the_program(dtype: str) -> None:
    from pymc.distributions.dist_math import i0e, i1e

    x = pt.vector("x", dtype=dtype)
    given = np.array([0, 1e-9, -1e-3, 0.5, -2, 8, 8.1, -30, 100, 699.9, 700, -713.5, 1e5, 1e12, np.inf, np.nan], dtype)
    with Performed() as seen:
        f = function([x], [i0e(x), i1e(x)], mode="THEANO")
    assert not seen.lines
    for got, wanted in zip(f(given), (special.i0e(given), special.i1e(given)), strict=True):
        assert got.dtype == dtype
        np.testing.assert_allclose(got, wanted, rtol=8 * float(np.finfo(dtype).eps))


def test_a_model_whose_dimensions_have_names() -> None:
    import pymc.dims as pmd

    with pm.Model(coords={"group": range(3), "row": range(12)}) as model:
        x, g = pmd.Data("x", np.arange(12.0), dims="row"), pmd.Data("g", np.arange(12) % 3, dims="row")
        a, slope = pmd.Normal("a", 0, pmd.HalfNormal("s"), dims="group"), pmd.Normal("slope")
        pmd.Normal("y", a.isel(group=g) + slope * x, 1.0, observed=pmd.as_xtensor(np.arange(12.0), dims="row"))
    point = {name: np.asarray(v) + 0.1 for name, v in model.initial_point().items()}
    with Performed() as seen:
        found = [function_of(mode="THEANO")(point) for function_of in (model.compile_logp, model.compile_dlogp)]
    assert not seen.lines
    for got, function_of in zip(found, (model.compile_logp, model.compile_dlogp), strict=True):
        np.testing.assert_allclose(got, function_of(mode="FAST_COMPILE")(point))


@pytest.mark.parametrize("tail", ["lower", "upper"])
def test_slopes_of_censored_normals_far_out(tail: str) -> None:
    """PyMC has two formulas of each tail, of which the one not chosen overflows."""
    mu = pt.dvector("mu")
    normal: Any = pm.Normal.dist(mu, 1.0)
    value = pm.logcdf(normal, 0.0) if tail == "lower" else pm.logccdf(normal, 0.0)
    given, sign = np.array([-1e3, -50, -10, -1, 0, 1, 10, 50, 1e3]), -1 if tail == "lower" else 1
    found = function([mu], pytensor.grad(value.sum(), mu), mode="THEANO")(given)
    expected = sign * np.exp(stats.norm.logpdf(given) - stats.norm.logcdf(sign * given))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-300)  # PyMC's square root of 2 is of float32


@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (3, 0)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_matrices_with_rows_as_their_diagonals(shape: tuple[int, int], dtype: str) -> None:
    rows = pt.matrix("rows", dtype=dtype)
    given = value(dtype, shape)
    with Performed() as seen:
        compare([rows], pm.math.batched_diag(rows), [given])
    assert not seen.lines
