"""Every expression of the table and every element-wise function, compiled: dtypes by layouts, against NumPy.

The compiled value, the value of ``perform`` and NumPy's must be one: exactly for whole numbers, within rounding for
others. ``COMBINATIONS=sweep`` in the environment takes all dtypes: ``nox -s sweep``.
"""

from __future__ import annotations

import os
import re
import warnings
import zlib

import numpy as np
import pytest
from arrays import LAYOUTS, lay, sample
from cases import CASES
from oracle import run
from test_elemwise import BINARY, UNARY

import theano
import theano.tensor as T
from portion import portion

SWEEP = os.environ.get("COMBINATIONS") == "sweep"
DTYPES = ("float64", "float32", "int32")
MORE_DTYPES = (
    "float64", "float32", "float16", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "complex64", "complex128",
)  # fmt: skip
#: Errors allowed, relative to the largest number of the result.
CLOSE = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2, "complex64": 1e-5, "complex128": 1e-9}

#: Expressions that are written for one shape.
ONE_SHAPE = ("specify_shape",)

#: Expressions whose reference speaks of real numbers, or of numbers between 0 and 1.
WITHOUT = {"relu": "c", "leaky_relu": "c", "binary": "biu", "xlogx": "biu"}



def dtypes_of(k):
    """Return the dtypes that an expression is tried in: one of floats, and of every other expression that of integers."""
    if SWEEP:
        return MORE_DTYPES
    return [*portion(DTYPES[:2], 2, always=0, which=k), *portion([(), DTYPES[2:]], 2, always=0, which=k)[-1]]


EXPRESSIONS = [
    pytest.param(c, d, id=f"{c.name}-{d}")
    for k, c in enumerate(CASES) for d in dtypes_of(k) if np.dtype(d).kind not in WITHOUT.get(c.name, "")
]  # fmt: skip


def exact(values):
    """Return values in a precision in which NumPy's own rounding does not matter."""
    wide = {"f": "float64", "c": "complex128"}
    return [v.astype(wide.get(v.dtype.kind, v.dtype.newbyteorder("="))) for v in values]


def compare(found, wanted, dtype, what):
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape, what
    if found.dtype.kind not in "fc":
        assert wanted.dtype.kind not in "fc", f"{what}: {found.dtype} for {wanted.dtype}"
        np.testing.assert_array_equal(found, wanted.astype(found.dtype), err_msg=what)
        return
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted), err_msg=what)
    scale = np.abs(wanted[finite]).max(initial=1.0)
    error = np.abs(found[finite] - wanted[finite]).max(initial=0) / scale
    # What is computed of short integers is computed in single precision.
    short = 1e-5 if np.dtype(dtype).itemsize < 4 else 0
    assert error <= max(CLOSE[found.dtype.name], CLOSE.get(dtype, 0), short), f"{what}: off by {error:.2g}"


def check(build, reference, variables, sampled, dtype, name):
    """Compare the three in every layout."""
    try:
        out = build(*variables)
    except TypeError as error:
        # What has no meaning for a dtype is refused when it is written down, and says so.
        assert dtype not in ("float64", "float32"), f"{name} of {dtype}: {error}"
        assert re.search("of floats|of one dtype|not supported here|is complex|takes real numbers", str(error)), error
        return
    f = theano.function(variables, out, on_unused_input="ignore")
    for layout in LAYOUTS if SWEEP else portion(LAYOUTS, 2, which=len(name)):
        values = [lay(v, layout) for v in sampled]
        what = f"{name} of {dtype}, {layout}"
        if layout == "empty" and (name in ONE_SHAPE or any(x.type.broadcastable[:1] == (True,) for x in variables)):
            continue
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, about means of nothing
            try:
                wanted = reference(*exact(values))
                if out.type.dtype.startswith("float") and np.dtype(dtype).kind in "biu":
                    # NumPy computes functions of short integers in half precision.
                    wanted = reference(*[v.astype("float64") if v.dtype.name == dtype else v for v in values])
            except (ValueError, IndexError, TypeError):
                assert layout == "empty" or dtype not in DTYPES, what
                continue
            if layout == "empty" and np.shape(wanted) != run_shape(f, values):
                continue  # the expression speaks of lengths
            found = np.asarray(f(*values))
            plain = np.asarray(run(out, dict(zip(variables, values))))
        assert found.dtype == plain.dtype == np.dtype(out.type.dtype), what
        compare(found, wanted, dtype, f"{what}, compiled")
        compare(plain, wanted, dtype, f"{what}, perform")


def run_shape(f, values):
    try:
        return np.shape(f(*values))
    except (ValueError, IndexError):
        return None


@pytest.mark.parametrize("case, dtype", EXPRESSIONS if SWEEP else portion(EXPRESSIONS, always=0))
def test_expression(case, dtype):
    rng = np.random.default_rng(zlib.crc32(f"{case.name} {dtype}".encode()))
    with theano.config.change_flags(floatX=dtype if dtype in ("float32", "float64") else "float64"):
        variables = case.variables(dtype)
        check(case.build, case.reference, variables, case.values(rng, dtype), dtype, case.name)


# -- element-wise ------------------------------------------------------------------------------------------------------

KINDS = ("bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
         "uint64", "complex64", "complex128")  # fmt: skip


def functions_of(dtype):
    """Return name, NumPy's function, domain and arity of what is defined for a dtype."""
    for table, arity in ((UNARY, 1), (BINARY, 2)):
        for name, (reference, dtypes, domain) in table.items():
            if dtype in dtypes:
                yield name, reference, domain, arity


def in_ulp(found, wanted):
    """Return the largest error in units of the last place of the dtype found."""
    wanted = wanted.astype("float64")
    finite = np.isfinite(wanted)
    unit = np.maximum(np.spacing(np.abs(wanted[finite]).astype(found.dtype)), np.finfo(found.dtype).tiny)
    return float((np.abs(found[finite].astype("float64") - wanted[finite]) / unit.astype("float64")).max(initial=0))


@pytest.mark.parametrize("dtype", KINDS)
def test_elementwise(dtype):
    rng = np.random.default_rng(zlib.crc32(dtype.encode()))
    table = list(functions_of(dtype))
    variables = [[T.TensorType(dtype, (False, False))(f"{name}{i}") for i in range(n)] for name, _, _, n in table]
    outputs = [getattr(T, name)(*vs) for (name, _, _, _), vs in zip(table, variables)]
    f = theano.function([v for vs in variables for v in vs], outputs)
    for layout in LAYOUTS:
        for shape in ((3, 4), (2, 35)) if SWEEP or layout in ("C", "step2") else ((3, 11),):
            values = [[lay(sample(dtype, shape, rng, *domain), layout) for _ in range(n)] for _, _, domain, n in table]
            found = f(*[v for vs in values for v in vs])
            for (name, reference, _, _), vs, ours, out in zip(table, values, found, outputs, strict=True):
                what = f"{name} of {dtype}, {layout}"
                with np.errstate(all="ignore"):
                    own = [v.astype(v.dtype.newbyteorder("=")) for v in vs]
                    wanted = np.asarray(reference(*(exact(own) if ours.dtype.kind == "f" else own)))
                assert ours.dtype == np.dtype(out.type.dtype) and ours.shape == wanted.shape, what
                if ours.dtype in (np.float32, np.float16):
                    # NumPy in float64 is the reference, and rounding it costs half a unit.
                    allowed = 0.51 + (out.owner.op.scalar_op.ulp or 0)
                    assert in_ulp(ours, wanted) <= allowed, f"{what}: {in_ulp(ours, wanted):.2f} ULP of {allowed}"
                elif ours.dtype.kind in "fc":
                    close = 1e-5 if ours.dtype == np.complex64 else 1e-11
                    np.testing.assert_allclose(ours, wanted, rtol=close, atol=close, err_msg=what)
                else:
                    np.testing.assert_array_equal(ours, wanted.astype(ours.dtype), err_msg=what)
