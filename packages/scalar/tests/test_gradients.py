"""Gradients against finite differences, to the second order, from the statements alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import theano.scalar as ts
from theano.gradient import DisconnectedType, NullType, Rop, grad
from theano.graph.traverse import toposort
from theano.graph.variable import Constant
from theano.scalar.registry import OPS
from theano.settings import change_flags

DEFINED = {op.op_name: op for op in OPS.values() if isinstance(op, ts.DefinedOp) and op.module == "theano.scalar"}
COMPLEX = {"real", "imag", "conj", "angle", "complex", "complex_from_polar"}


def evaluate(outputs: list[Any], values: dict[Any, Any]) -> list[Any]:
    """Compute variables by running perform, node by node."""
    known = dict(values)
    value = lambda v: v.data if isinstance(v, Constant) else known[v]
    for node in toposort(outputs, list(values)):
        cells = [[None] for _ in node.outputs]
        node.op.perform(node, [value(v) for v in node.inputs], cells)
        known.update((v, cell[0]) for v, cell in zip(node.outputs, cells, strict=True))
    return [value(v) for v in outputs]


def differentiable(op: Any) -> bool:
    return op.output_types([ts.float64] * max(op.nin, 2 if op.nin < 0 else 1))[0].dtype == "float64"


def real_ops() -> list[Any]:
    found = []
    for op in DEFINED.values():
        try:
            if op.op_name not in COMPLEX and differentiable(op):
                found.append(op)
        except TypeError:
            continue
    return found


def slopes(f: Any, point: list[float], index: int, step: float) -> float:
    ahead, behind = list(point), list(point)
    ahead[index] += step
    behind[index] -= step
    return (f(*ahead) - f(*behind)) / (2 * step)


@pytest.mark.parametrize("op", real_ops(), ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_first_and_second_order(op: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arity = op.nin if op.nin > 0 else 3
    point = [float(rng.uniform(low, high)) for low, high in op.domains(arity)]
    inputs = [ts.float64(f"x{i}") for i in range(arity)]
    out = op(*inputs)
    first = op.L_op(inputs, [out], [ts.constant(1.0, dtype="float64")])
    for i, gradient in enumerate(first):
        if isinstance(gradient.type, (DisconnectedType, NullType)):
            continue
        compute = lambda *p, v=gradient: evaluate([v], dict(zip(inputs, map(np.float64, p), strict=True)))[0]
        found = compute(*point)
        wanted = slopes(lambda *p: op.impl(*map(float, p)), point, i, 1e-5)
        assert found == pytest.approx(wanted, rel=2e-5, abs=1e-7), f"d/dx{i} at {point}"
        if gradient.owner is None:
            continue
        second = grad(gradient, inputs, disconnected_inputs="ignore", null_gradients="return",
                      return_disconnected="disconnected")  # fmt: skip
        for j, curvature in enumerate(second):
            if isinstance(curvature.type, (DisconnectedType, NullType)):
                continue
            value = evaluate([curvature], dict(zip(inputs, map(np.float64, point), strict=True)))[0]
            assert value == pytest.approx(slopes(compute, point, j, 1e-5), rel=5e-5, abs=1e-6), (
                f"d2/dx{i}dx{j} at {point}"
            )


#: Arguments of which the derivative is no expression: orders, and what a derivative has been taken of.
FIXED = {
    "polygamma": (0,), "jv": (0,), "iv": (0,), "ive": (0,), "kve": (0,), "second": (0,), "gammainc_der": (0,),
    "betainc_der_a": (0, 1), "betainc_der_b": (0, 1),
}  # fmt: skip
ONCE = ("gammainc gammaincc gammal gammau chi2sf gammainc_der betainc betainc_der_a betainc_der_b"
        " gammaincinv gammainccinv betaincinv").split()  # fmt: skip


@pytest.mark.parametrize("op", real_ops(), ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_along_a_direction(op: Any, seed: int) -> None:
    """The R-operator, and its own R-operator, against differences along the same direction."""
    rng = np.random.default_rng(seed)
    arity = op.nin if op.nin > 0 else 3
    point = np.array([rng.uniform(low, high) for low, high in op.domains(arity)])
    inputs = [ts.float64(f"x{i}") for i in range(arity)]
    fixed = FIXED.get(op.op_name, ())
    twice = op.op_name not in ONCE
    ways = rng.uniform(-1, 1, arity) * [i not in fixed for i in range(arity)]
    moving = [i for i in range(arity) if i not in fixed]
    directions = [ts.constant(w, dtype="float64") for w in ways]
    once = Rop(op(*inputs), [inputs[i] for i in moving], [directions[i] for i in moving])
    at = lambda expression, t: float(
        evaluate([expression], dict(zip(inputs, map(np.float64, point + t * ways), strict=True)))[0]
    )
    h = 1e-5
    out = op(*inputs)
    assert at(once, 0) == pytest.approx((at(out, h) - at(out, -h)) / (2 * h), rel=2e-5, abs=1e-7)
    if twice and once.owner is not None:
        again = Rop(once, [inputs[i] for i in moving], [directions[i] for i in moving])
        found = 0.0 if again is None or isinstance(again.type, DisconnectedType) else at(again, 0)
        assert found == pytest.approx((at(once, h) - at(once, -h)) / (2 * h), rel=5e-5, abs=1e-6)


@pytest.mark.parametrize("op", real_ops(), ids=str)
def test_float32_stays_float32(op: Any) -> None:
    inputs = [ts.float32(f"x{i}") for i in range(op.nin if op.nin > 0 else 2)]
    out = op(*inputs)
    for gradient in op.L_op(inputs, [out], [out.ones_like()]):
        assert isinstance(gradient.type, (DisconnectedType, NullType)) or gradient.dtype == "float32"


def test_directional_derivative_is_the_gradient() -> None:
    x, y, v = ts.floats("x", "y", "v")
    out = ts.arctan2(x * y, ts.exp(y))
    forward = Rop(out, x, v)
    backward = grad(out, x) * v
    values = {x: np.float64(0.3), y: np.float64(1.2), v: np.float64(0.7)}
    a, b = evaluate([forward, backward], values)
    assert a == pytest.approx(b)


def test_discrete_inputs_are_differentiated_as_any_number() -> None:
    i, x = ts.int64("i"), ts.float64("x")
    out = i * x
    gi, gx = ts.mul.L_op([i, x], [out], [out.ones_like()])
    assert gi.dtype == "float64" and evaluate([gi, gx], {i: np.int64(3), x: np.float64(2)}) == [2.0, 3.0]
    wide = ts.cast(i, "float64")
    (through,) = ts.Cast(ts.float64).L_op([i], [wide], [x])
    assert through is x  # not cut to a whole number
    of_z = ts.mul.L_op([i, ts.complex128("z")], [i * ts.complex128("z")], [ts.complex128("g")])[0]
    assert of_z.dtype == "float64"  # the real part


def test_discrete_outputs_have_zero_gradients_of_floatx() -> None:
    i, x = ts.int64("i"), ts.float64("x")
    with change_flags(floatX="float32"):
        zero = ts.sqr.L_op([i], [i * i], [x])[0]
    assert zero.dtype == "float32" and evaluate([zero], {i: np.int64(3)}) == [0.0]
    less = ts.lt(x, 1.0)
    assert evaluate(ts.lt.L_op([x, ts.constant(1.0)], [less], [x])[:1], {x: np.float64(2)}) == [0.0]
    # A derivative that nobody has written down matters to fractions alone.
    v = ts.int64("v")
    out = ts.jv(v, x)
    assert evaluate(ts.jv.L_op([v, x], [out], [x])[:1], {v: np.int64(1)}) == [0.0]


@pytest.mark.parametrize(
    "name",
    "add sub mul true_div exp exp2 expm1 sqr sin cos tan sinh cosh tanh pow inv conj neg sqrt log log2 log10 log1p".split(),
)
def test_complex_gradients(name: str) -> None:
    """The gradient of a real cost is dC/d(re) + i dC/d(im)."""
    op = OPS[name]
    rng = np.random.default_rng(1)
    arity = op.nin if op.nin > 0 else 2
    z = [ts.complex128(f"z{i}") for i in range(arity)]
    out = op(*z)
    weight = complex(0.3, -1.7)
    cost = ts.real(out * ts.constant(weight))
    point = [complex(*rng.uniform(0.5, 1.5, 2)) for _ in z]
    gradients = grad(cost, z)
    for i in range(arity):
        if name == "pow" and i == 1:
            continue
        found = evaluate([gradients[i]], dict(zip(z, map(np.complex128, point), strict=True)))[0]

        def at(delta: complex, i: int = i) -> float:
            moved = list(point)
            moved[i] += delta
            return evaluate([cost], dict(zip(z, map(np.complex128, moved), strict=True)))[0]

        h = 1e-6
        wanted = (at(h) - at(-h)) / (2 * h) + 1j * (at(1j * h) - at(-1j * h)) / (2 * h)
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", "mul true_div exp exp2 expm1 sqr sin cos tanh pow inv neg sqrt log log10 log1p".split())
def test_complex_directions(name: str) -> None:
    op = OPS[name]
    rng = np.random.default_rng(2)
    z = [ts.complex128(f"z{i}") for i in range(op.nin if op.nin > 0 else 2)]
    point, ways = ([complex(*rng.uniform(0.5, 1.5, 2)) for _ in z] for _ in range(2))
    along = Rop(op(*z), z, [ts.constant(w) for w in ways])
    found = evaluate([along], dict(zip(z, map(np.complex128, point), strict=True)))[0]
    h = 1e-6
    ahead, behind = (op.impl(*[p + t * w for p, w in zip(point, ways, strict=True)]) for t in (h, -h))
    assert found == pytest.approx((ahead - behind) / (2 * h), rel=1e-7)


@pytest.mark.parametrize("name", ["real", "imag", "abs_", "angle"])
def test_gradients_of_complex_parts(name: str) -> None:
    z, point, h = ts.complex128("z"), 0.8 - 0.6j, 1e-6
    gradient = grad(OPS[name](z), z)
    found = evaluate([gradient], {z: np.complex128(point)})[0]
    f = OPS[name].impl
    wanted = (f(point + h) - f(point - h)) / (2 * h) + 1j * (f(point + 1j * h) - f(point - 1j * h)) / (2 * h)
    assert found == pytest.approx(wanted, rel=1e-6)


def test_complex_from_parts() -> None:
    a, b = ts.floats("a", "b")
    for op in (ts.complex, ts.complex_from_polar):
        cost = ts.real(op(a, b) * ts.constant(0.3 - 1.7j))
        compute = lambda p, q: evaluate([cost], {a: np.float64(p), b: np.float64(q)})[0]  # noqa: B023
        found = evaluate(grad(cost, [a, b]), {a: np.float64(1.2), b: np.float64(0.4)})
        assert found == pytest.approx([slopes(compute, [1.2, 0.4], i, 1e-6) for i in range(2)], rel=1e-6)


def test_second_is_not_connected_to_its_first_input() -> None:
    x, y = ts.floats("x", "y")
    out = ts.second(x, y)
    gx, gy = ts.second.L_op([x, y], [out], [out])
    assert isinstance(gx.type, DisconnectedType) and gy is out
    assert ts.second.connection_pattern(out.owner) == [[False], [True]]


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
def test_of_two_equal_numbers_the_first_has_the_gradient(name: str) -> None:
    x, y = ts.floats("x", "y")
    op = getattr(ts, name)
    values = {x: np.float64(2), y: np.float64(2)}
    assert evaluate(grad(op(x, y), [x, y]), values) == [1.0, 0.0]
    assert evaluate([grad(op(x, x), x)], values) == [1.0]


def test_composite() -> None:
    x, y = ts.floats("x", "y")
    both = ts.Composite([x, y], [ts.exp(x) * y, x + y])
    outs = both(x, y)
    gx, gy = both.L_op([x, y], outs, [ts.constant(2.0, dtype="float64"), ts.constant(3.0, dtype="float64")])
    values = {x: np.float64(0.5), y: np.float64(4.0)}
    assert evaluate([gx, gy], values) == pytest.approx([2 * 4 * np.exp(0.5) + 3, 2 * np.exp(0.5) + 3])
