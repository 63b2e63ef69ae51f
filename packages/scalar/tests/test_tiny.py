"""A tour of the scalar layer: read it first."""

from __future__ import annotations

import numpy as np

import theano.scalar as ts
from theano.gradient import grad


def test_a_symbol_an_expression_its_derivative() -> None:
    x = ts.float64("x")  # a type, called, makes a variable
    y = ts.exp(x) * x + 1  # operations make nodes
    assert y.owner.op == ts.add and y.type == ts.float64
    slope = grad(y, x)  # differentiation is graph-core's; each operation brings its rule
    assert slope.type == ts.float64


def test_one_statement_makes_an_operation() -> None:
    softsign = ts.scalar_op(
        "softsign_of_the_tour", "x",
        types=ts.upgrade_to_float_no_complex,  # integers become floats
        py=lambda x: x / (1 + np.abs(x)),  # on NumPy arrays
        c="{x} / (1 + fabs({x}))",  # on C numbers of the dtype computed with
        grad=lambda x, out, g: g / ts.sqr(1 + abs(x)),
        doc="x, squeezed between -1 and 1.",
    )  # fmt: skip
    assert softsign.impl(1.0) == 0.5 and softsign(ts.int64("i")).dtype == "float64"
    body = softsign.c_statements(["a"], ["float32"], ["b"], ["float32"])
    assert body.lines == ["b = a / (1 + fabsf(a));"] and body.support == ()
    assert "squeezed" in softsign.__doc__ and ">>> ts.softsign_of_the_tour" not in ts.exp.__doc__


def test_c_and_numpy_forms() -> None:
    body = ts.tanh.c_statements(["x"], ["int8"], ["y"], ["float32"])
    assert body.lines == ["y = th_tanh_f32((float)x);"]
    assert any("th_tanh_f32" in block for block in body.support)
    np.testing.assert_allclose(ts.tanh.numpy_form(["float32"])(np.int8([0, 1])), np.float32([0, 0.7615942]))


def test_many_operations_as_one() -> None:
    x, y = ts.floats("x", "y")
    fused = ts.Composite([x, y], [x + y, ts.exp(x + y)])
    assert str(fused) == "Composite{t0, exp(t0) where t0 = (i0 + i1)}"
    total, power = fused.impl(1.0, -1.0)
    assert (total, power) == (0.0, 1.0)
