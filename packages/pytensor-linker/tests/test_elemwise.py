"""All scalar ops over all dtypes, and what has their loops."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytensor
import pytensor.scalar as ps
import pytensor.tensor as pt
import pytest
from comparing import PY, Performed, compare, value
from pytensor.scalar.basic import Composite
from pytensor.tensor.elemwise import Elemwise
from theano_pytensor.ops.elemwise import SCALAR_OPS

DTYPES = ("bool", "int8", "int32", "int64", "uint8", "uint16", "float32", "float64", "complex64", "complex128")
#: Instances of the classes in the table, by the modules that have them.
INSTANCES = {
    type(op): op
    for module in (ps.basic, ps.math)
    for op in vars(module).values()
    if isinstance(op, ps.basic.ScalarOp) and type(op) in SCALAR_OPS
}
#: Bounds of the values, where not all numbers are in the domain.
BOUNDS = {"ArcSin": (-0.9, 0.9), "ArcCos": (-0.9, 0.9), "ArcTanh": (-0.9, 0.9), "ArcCosh": (1.1, 3), "Log": (0.1, 3),
          "Log2": (0.1, 3), "Log10": (0.1, 3), "Log1p": (0.1, 3), "Sqrt": (0, 3), "Pow": (1, 3), "IntDiv": (1, 3),
          "Mod": (1, 3), "TrueDiv": (1, 3), "Erfinv": (-0.9, 0.9), "Erfcinv": (0.1, 1.9), "Gamma": (1, 3),
          "GammaLn": (1, 3), "Psi": (1, 3), "TriGamma": (1, 3), "PolyGamma": (1, 3), "GammaInc": (1, 3),
          "GammaIncC": (1, 3), "Jv": (1, 3), "Reciprocal": (1, 3), "Log1mexp": (-3, -0.1), "NdtriExp": (-3, -0.1),
          **dict.fromkeys(("BetaInc", "BetaIncInv", "GammaIncInv", "GammaIncCInv"), (0.1, 0.9)), "Kve": (0.1, 3)}  # fmt: skip


def _arity(op: Any) -> int:
    return {"Switch": 3, "Clip": 3, "BetaInc": 3, "BetaIncInv": 3}.get(type(op).__name__, op.nin if op.nin > 0 else 2)


def _can(op: Any, dtypes: tuple[str, ...]) -> Any:
    try:
        xs = [pt.tensor(dtype=d, shape=(None, None)) for d in dtypes]
        return xs, Elemwise(op)(*xs)
    except Exception:
        return None


def _computes(xs: Any, y: Any, values: Any) -> bool:
    """Return whether PyTensor itself has an answer."""
    try:
        pytensor.function(xs, y, mode=PY)(*values)
    except Exception:
        return False
    return True


@pytest.mark.parametrize("name", sorted(kind.__name__ for kind in INSTANCES))
def test_each_scalar_op(name: str) -> None:
    op = next(op for kind, op in INSTANCES.items() if kind.__name__ == name)
    inputs, outputs, values = [], [], []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for dtype in DTYPES:
            made = _can(op, (dtype,) * _arity(op))
            given = [value(dtype, (3, 4), *BOUNDS.get(name, (-3, 3))) for _ in range(_arity(op))]
            if (name, dtype) == ("Softplus", "bool"):
                continue  # PyTensor computes in float16
            if made and _computes(*made, given):
                inputs += made[0]
                outputs.append(made[1])
                values += given
        assert outputs
        compare(inputs, outputs, values, rtol=1e-5)


@pytest.mark.parametrize(("a", "b"), list(itertools.combinations(DTYPES, 2)))
def test_dtypes_that_meet(a: str, b: str) -> None:
    x, y = pt.tensor(dtype=a, shape=(None, 1)), pt.tensor(dtype=b, shape=(None,))
    compare([x, y], [x + y, x * y, pt.eq(x, y)], [value(a, (3, 1)), value(b, (4,))], rtol=1e-6)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (1, 4), (2, 0, 3), (2, 3, 4, 5)])
def test_ranks_and_nothing(shape: tuple[int, ...]) -> None:
    x = pt.tensor(dtype="float64", shape=tuple(1 if n == 1 else None for n in shape))
    compare([x], [pt.exp(x) * 2, x + x.sum(), x.T - 1], [value("float64", shape)])


def test_composites_are_inlined() -> None:
    a, b = ps.float64("a"), ps.float64("b")
    op = Elemwise(Composite([a, b], [a * b + 1, ps.exp(a)]))
    x, y = pt.dmatrix("x"), pt.dvector("y")
    with Performed() as seen:
        compare([x, y], op(x, y), [value("float64", (3, 4)), value("float64", (4,))])
    assert not seen.lines


@pytest.mark.parametrize("shape", [(), (40,), (0,)])
def test_loops_of_single_elements(shape: tuple[int, ...]) -> None:
    """The gradients of incomplete gamma and beta functions are loops in PyTensor, of another length for each element."""
    a, b, x = (pt.tensor(n, dtype="float64", shape=(None,) * len(shape)) for n in "abx")
    values = [value("float64", shape, 0.2, 5), value("float64", shape, 0.2, 5), value("float64", shape, -0.05, 1.05)]
    y = pt.betainc(a, b, x).sum() + (pt.gammainc(a, 5 * x) + 2 * pt.gammaincc(b, 0.2)).sum()
    with Performed() as seen:
        compare([a, b, x], [y, *pytensor.grad(y, [a, b, x])], values, rtol=1e-6)
    assert not seen.lines


def test_an_op_without_entry_runs_and_is_named() -> None:
    x = pt.dvector("x")
    with Performed() as seen:
        compare([x], pt.hyp2f1(1.0, 2.0, 4.0, x / 4) + 1, [value("float64", (3,), 1, 3)])
    assert any("hyp2f1" in line.lower() for line in seen.lines)


def test_scalars_without_dimensions() -> None:
    a = ps.float64("a")
    f = pytensor.function([a], [ps.exp(a), pt.as_tensor(a) + 1], mode="THEANO")
    one, two = f(1.5)
    assert isinstance(one, np.float64)
    np.testing.assert_allclose([one, two], [np.exp(1.5), 2.5])
