"""Operations that are classes written by hand, as Theano's documentation teaches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import theano.scalar as ts


class XPlusTwoY(ts.BinaryScalarOp):
    """impl, grad and c_code in the classic style."""

    def impl(self, x: Any, y: Any) -> Any:
        return x + 2 * y

    def grad(self, inputs: Any, gradients: Any) -> Any:
        (g,) = gradients
        return g, g * 2

    def c_code(self, node: Any, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        (x, y), (z,) = inputs, outputs
        return f"""
        npy_float64 twice_{name} = twice({y});
        {z} = {x} + twice_{name};
        """

    def c_support_code(self) -> str:
        return "static inline double twice(double y) { return 2 * y; }"


class Picky(XPlusTwoY):
    """Its C can fail, in a way that only the classic linker knows."""

    def c_code(self, node: Any, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        return f"if ({inputs[0]} < 0) {{ PyErr_SetNone(PyExc_ValueError); {sub['fail']} }}"


op = XPlusTwoY(ts.upcast_out, name="x_plus_2y")


def test_python() -> None:
    node = op.make_node(ts.float64("x"), ts.int8("y"))
    cells: list[list[Any]] = [[None]]
    op.perform(node, [np.float64(1), np.int8(3)], cells)
    assert cells[0][0] == 7.0 and type(cells[0][0]) is np.float64 and str(node.op) == "x_plus_2y"
    np.testing.assert_array_equal(op.numpy_form(["float64"])(np.arange(3.0), np.ones(3)), [2, 3, 4])


def test_c(compile_loops: Any, Case_: Any) -> None:
    case = Case_(op, ("float64", "float32"), ("float64",))
    (found,) = compile_loops([case])(case, np.arange(3.0), np.ones(3))
    np.testing.assert_array_equal(found, [2, 3, 4])


def test_what_cannot_stand_in_a_kernel_is_computed_in_python() -> None:
    x = ts.float64("x")
    assert not Picky(ts.upcast_out).supports_c_code([x, x], [x]) and op.supports_c_code([x, x], [x])
    assert op.c_statements(["a", "b"], ["float16"] * 2, ["z"], ["float16"]) is None


def test_equality_is_by_class_and_rule() -> None:
    assert op == XPlusTwoY(ts.upcast_out, name="other") and op != XPlusTwoY(ts.same_out) and op != Picky(ts.upcast_out)


def test_numpy_function_by_name() -> None:
    class MyTanh(ts.UnaryScalarOp):
        nfunc_spec = ("tanh", 1, 1)

    assert MyTanh(ts.upgrade_to_float).numpy_form(["float64"])(0.5) == np.tanh(0.5)


def test_wrong_number_of_inputs() -> None:
    with pytest.raises(TypeError, match="takes 2 inputs, got 1"):
        op(ts.float64("x"))
    with pytest.raises(TypeError, match="takes 1 input, got 2"):
        ts.exp(1, 2)


def test_refused_types_are_named() -> None:
    with pytest.raises(TypeError, match=r"erfc cannot take \(complex64\)"):
        ts.erfc(ts.complex64("z"))
    with pytest.raises(TypeError, match="invert"):
        ts.neg(ts.bool("b"))
