"""Every scalar operation as a function of arrays: all dtypes it takes, ten layouts, compiled and by ``perform``.

Nothing here names an operation: the cases follow from the statements. The reference is the NumPy form on plain copies
of the inputs; against libraries of their own the forms are held in the tests of the scalar layer.
``COMBINATIONS=sweep`` tries all dtypes and all pairs of those that are given.
"""

from __future__ import annotations

import os
import zlib

import numpy as np
import pytest
from arrays import LAYOUTS, lay, sample
from oracle import run

import theano
import theano.scalar as ts
import theano.tensor as T
from portion import portion
from theano.scalar.registry import OPS
from theano.tensor.elemwise import Elemwise

SWEEP = os.environ.get("COMBINATIONS") == "sweep"
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
MIXED = (("int8", "float32"), ("float32", "float64"), ("uint8", "int16"), ("float16", "int8"), ("int64", "complex64"))
DEFINED = {op.op_name: op for op in OPS.values() if isinstance(op, ts.DefinedOp) and op.module == "theano.scalar"}
CLOSE = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-12, "complex64": 1e-5, "complex128": 1e-12}


def combinations(op, dtype):
    """Return the dtypes of inputs to try: this one for all, and for two inputs the pairs that begin with it."""
    arity = op.nin if op.nin > 0 else 2
    found = [(dtype,) * arity]
    if arity == 2:
        found += [(dtype, d) for d in DTYPES if d != dtype] if SWEEP else [p for p in MIXED if p[0] == dtype]
    return found


def cases(dtype):
    """Yield operations with the dtypes of their inputs, where they take them."""
    for op in DEFINED.values():
        for dtypes in combinations(op, dtype):
            try:
                op.output_types([ts.get_scalar_type(d) for d in dtypes])
            except TypeError:
                continue
            yield op, dtypes


SHORT = portion(("float32", "float64", "bool", "int8", "uint64", "float16", "complex64"), one_in=2, always=2)


@pytest.mark.parametrize("dtype", DTYPES if SWEEP else SHORT)
def test_layouts(dtype):
    table = list(cases(dtype))
    assert len(table) > (15 if dtype.startswith("complex") else 40)
    if not SWEEP:
        table = portion(table, 3, always=0, which=DTYPES.index(dtype))
    variables = [[T.TensorType(d, (False, False))(f"x{i}") for i, d in enumerate(ds)] for _, ds in table]
    outputs = [Elemwise(op)(*vs) for (op, _), vs in zip(table, variables, strict=True)]
    f = theano.function([v for vs in variables for v in vs], outputs)
    rng = np.random.default_rng(zlib.crc32(dtype.encode()))
    for layout in LAYOUTS:
        values = [
            [lay(sample(d, (3, 5), rng, *domain), layout) for d, domain in zip(ds, op.domains(len(ds)), strict=True)]
            for op, ds in table
        ]
        compiled = f(*[v for vs in values for v in vs])
        for (op, ds), vs, variable, out, found in zip(table, values, variables, outputs, compiled, strict=True):
            plain = run(out, dict(zip(variable, vs, strict=True)))
            native = [np.ascontiguousarray(v.astype(v.dtype.newbyteorder("="))) for v in vs]
            wanted = op.numpy_form([out.type.dtype])(*native)
            for value, how in ((found, "compiled"), (plain, "perform")):
                assert value.dtype == out.type.dtype and value.shape == wanted.shape
                compare(value, wanted, f"{op}{ds}, {layout}, {how}")


def compare(found, wanted, what):
    if found.dtype.kind in "biu":
        np.testing.assert_array_equal(found, wanted, err_msg=what)
        return
    close = CLOSE[found.dtype.name]
    scale = np.abs(np.where(np.isfinite(wanted), wanted, 0)).max(initial=0)
    np.testing.assert_allclose(found, wanted, rtol=close, atol=close * min(scale, 1e3), err_msg=what)


def test_every_scalar_op_of_reals_runs_compiled():
    interpreted = []
    for op in DEFINED.values():
        for dtype in ("int8", "float16", "float32", "float64"):
            for _, dtypes in [c for c in cases(dtype) if c[0] is op][:1]:
                xs = [T.TensorType(d, (False,))() for d in dtypes]
                (node,) = [Elemwise(op)(*xs).owner]
                if node.op.c_kernel(node) is None:
                    interpreted.append((str(op), dtypes))
    assert interpreted == []
