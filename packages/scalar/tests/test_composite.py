"""Composite: expressions as one operation."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_c_forms import special_values

import theano.scalar as ts
from theano.scalar.define import scalar_op
from theano.scalar.dtypes import all_dtypes
from theano.scalar.output_types import upgrade_to_float


@pytest.fixture
def xy() -> tuple[Any, Any]:
    return tuple(ts.floats("x", "y"))


def test_text(xy: Any) -> None:
    x, y = xy
    assert str(ts.Composite([x, y], [x + y])) == "Composite{(i0 + i1)}"
    assert str(ts.Composite([x, y], [x * ts.sqr(y), -x])) == "Composite{(i0 * sqr(i1)), (-i0)}"
    t = ts.tanh(x)
    assert str(ts.Composite([x], [t * t + 1])) == "Composite{((t0 * t0) + 1) where t0 = tanh(i0)}"
    assert str(ts.Composite([x], [ts.cast(x, "int8")])) == "Composite{Cast{int8}(i0)}"


def test_equal_whatever_the_variables_were(xy: Any) -> None:
    x, y = xy
    a, b = ts.floats("a", "b")
    one, other = ts.Composite([x, y], [ts.exp(x) * 2 + y]), ts.Composite([a, b], [ts.exp(a) * 2 + b])
    assert one == other and hash(one) == hash(other)
    assert one != ts.Composite([x, y], [ts.exp(x) * 3 + y])
    assert one != ts.Composite([y, x], [ts.exp(x) * 2 + y])
    assert ts.Composite([x], [x * 0.0]) != ts.Composite([x], [x * -0.0])
    assert ts.Composite([x], [x * float("nan")]) == ts.Composite([x], [x * float("nan")])


def test_common_parts_are_computed_once(xy: Any) -> None:
    x, y = xy
    op = ts.Composite([x, y], [ts.exp(x + y) * 2, ts.exp(x + y) * 3])
    assert len(op.program.steps) == 4


def test_nested_composites_are_taken_apart(xy: Any) -> None:
    x, y = xy
    inner = ts.Composite([x, y], [x + y, x * y])
    s, p = inner(x, y)
    outer = ts.Composite([x, y], [ts.exp(s) - p])
    assert outer == ts.Composite([x, y], [ts.exp(x + y) - x * y])
    assert not any(isinstance(step.op, ts.Composite) for step in outer.program.steps)


def test_pickle(xy: Any) -> None:
    x, y = xy
    op = ts.Composite([x, y], [ts.exp(x) * 2 + y, ts.cast(x, "int8")])
    again = pickle.loads(pickle.dumps(op))
    assert again == op and hash(again) == hash(op) and str(again) == str(op)


def test_numbers_and_arrays(xy: Any) -> None:
    x, y = xy
    op = ts.Composite([x, y], [x + y, x * y, x])
    assert op.impl(2.0, 3.0) == (5.0, 6.0, 2.0)
    a, b = np.arange(3.0), np.arange(2.0)[:, None]
    found = op.numpy_form(["float64"] * 3)(a, b)
    for one, wanted in zip(found, (a + b, a * b, np.broadcast_to(a, (2, 3))), strict=True):
        np.testing.assert_array_equal(one, wanted)
        assert not np.may_share_memory(one, a)


def test_same_output_twice_and_constants(xy: Any) -> None:
    x, _ = xy
    y = ts.exp(x)
    op = ts.Composite([x], [y, y, ts.constant(2.5)])
    one, other, third = op.numpy_form(["float64", "float64", "float32"])(np.zeros(2))
    assert not np.may_share_memory(one, other)
    np.testing.assert_array_equal(third, [2.5, 2.5])


def test_other_dtypes_make_another_composite(xy: Any) -> None:
    x, y = xy
    op = ts.Composite([x, y], [x * y])
    node = op.make_node(ts.float32("a"), ts.int8("i"))
    assert node.outputs[0].dtype == "float32" and node.op.program.inputs == ("float32", "int8")
    assert op.make_node(x, y).op is op


def test_readable_c(xy: Any) -> None:
    x, y = xy
    op = ts.Composite([x, y], [ts.tanh(x) * ts.exp(-y) + ts.log1p(ts.exp(x)) * 0.1])
    body = op.c_statements(["x", "y"], ["float64"] * 2, ["z"], ["float64"])
    assert body.lines == [
        "const double tanh_0 = th_tanh_f64(x);",
        "const double neg_1 = -y;",
        "const double exp_2 = th_exp_f64(neg_1);",
        "const double mul_3 = tanh_0 * exp_2;",
        "const double exp_4 = th_exp_f64(x);",
        "const double log1p_5 = th_log1p_f64(exp_4);",
        "const double mul_6 = log1p_5 * 0x1.999999999999ap-4;",
        "const double add_7 = mul_3 + mul_6;",
        "z = add_7;",
    ]


def test_names_do_not_collide(xy: Any) -> None:
    x, _ = xy
    body = ts.Composite([x], [ts.exp(x)]).c_statements(["exp_0"], ["float64"], ["z"], ["float64"])
    assert body.lines[0] == "const double exp_0_ = th_exp_f64(exp_0);"


def test_no_c_form_if_a_step_has_none(xy: Any) -> None:
    x, y = xy
    hypot = scalar_op("hypot_without_c", "x y", types=upgrade_to_float, py=np.hypot, grad=None, doc="No form in C.")
    op = ts.Composite([x, y], [hypot(x, y) + 1])
    assert op.c_statements(["x", "y"], ["float64"] * 2, ["z"], ["float64"]) is None
    assert op.impl(3.0, 4.0) == 6.0


def test_unknown_variables_and_foreign_operations(xy: Any) -> None:
    x, y = xy
    with pytest.raises(ValueError, match="not among its inputs"):
        ts.Composite([x], [x + y])


def test_connection_pattern(xy: Any) -> None:
    x, y = xy
    op = ts.Composite([x, y], [ts.exp(x), ts.second(x, y)])
    assert op.connection_pattern(op.make_node(x, y)) == [[True, False], [False, True]]


def test_long_chains(xy: Any) -> None:
    x, _ = xy
    y = x
    for _ in range(3000):
        y = y * x + 1
    op = ts.Composite([x], [y])
    assert len(op.program.steps) == 6000 and len(str(op)) > 10 and op.impl(0.5) == pytest.approx(2.0)


def test_c_agrees_with_numpy(xy: Any, compile_loops: Any, Case_: Any, ulps_between: Any) -> None:
    x, y, i, h, z = *xy, ts.int8("i"), ts.float16("h"), ts.complex64("z")
    expressions = [
        ts.Composite([x, y], [ts.tanh(x) * ts.exp(-y) + ts.log1p(ts.exp(x)), x - y]),
        ts.Composite([x, i], [ts.switch(i > 0, x * i, ts.cast(x, "int16") // 3), i + 100]),
        ts.Composite([h, i], [h * 2 + i, ts.cast(ts.cast(h * 3, "float16"), "float64")]),
        ts.Composite([z, x], [z * z + x, abs(z)]),
        ts.Composite([x, y], [ts.clip(x, -1, 1) ** 2, ts.maximum(x, y), ts.lt(x, y) & (x > 0)]),
    ]
    cases = [
        Case_(op, op.program.inputs, tuple(op.program.dtype_of(o) for o in op.program.outputs)) for op in expressions
    ]
    loops = compile_loops(cases)
    rng = np.random.default_rng(0)
    for case in cases:
        arrays = [(rng.normal(size=500) * 3).astype(d) for d in case.ins]
        for found, wanted in zip(loops(case, *arrays), case.op.numpy_form(case.outs)(*arrays), strict=True):
            if wanted.dtype.kind in "biu":
                np.testing.assert_array_equal(found, wanted, err_msg=str(case))
            else:
                rtol = 5e-3 if case.outs[0] == "float16" else 1e-6
                np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-12)


def test_constants_in_c_are_worth_what_they_are(compile_loops: Any, Case_: Any) -> None:
    cases, constants = [], {}
    x = ts.float64("x")
    for dtype in all_dtypes:
        numbers = special_values(dtype)
        op = ts.Composite([x], [ts.get_scalar_type(dtype).make_constant(number) for number in numbers])
        cases.append(Case_(op, ("float64",), (dtype,) * len(numbers)))
        constants[dtype] = numbers
    loops = compile_loops(cases)
    for case, numbers in zip(cases, constants.values(), strict=True):
        found = np.stack(loops(case, np.zeros(2)))
        np.testing.assert_array_equal(found, np.stack([numbers, numbers], axis=1))
        assert found[:, 0].tobytes() == numbers.tobytes() or np.isnan(numbers).any()


@pytest.mark.parametrize("dtype", ["float64", "float16", "complex64", "int8"])
def test_kernel_on_single_numbers(dtype: str, tmp_path: Path) -> None:
    import theano.loader

    x, y = ts.get_scalar_type(dtype)("x"), ts.float64("y")
    node = ts.Composite([x, y], [ts.exp(x) * y, x + 1]).make_node(x, y)
    kernel = node.op.c_kernel(node)
    assert kernel.work > 0.5 and kernel.name == str(node.op)
    source = "#include <abi.h>\n#include <string.h>\n#include <math.h>\n#include <complex.h>\n"
    (tmp_path / "k.c").write_text(source + "".join(kernel.support) + kernel.with_symbol("th_k"))
    (headers,) = theano.loader.__path__
    command = ["gcc", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{headers}", tmp_path / "k.c"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_new_process_has_the_kernel_of_a_node() -> None:
    """The lowering table is loaded by the question, in whatever order modules were imported."""
    program = "import theano.scalar as ts; print(ts.exp.c_kernel(ts.exp(ts.float64('x')).owner).name)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("exp\n", "")


def test_gradient_where_one_output_is_made_of_another() -> None:
    """What is known of an output is not all of its gradient: it may be part of other outputs, or an input."""
    a, b = ts.floats("a", "b")
    twice = a + a
    product = twice * b
    op = ts.Composite([a, b], [twice, product, a, product])
    x, y = ts.float64("x"), ts.float64("y")
    weights = [ts.float64(f"w{i}") for i in range(4)]
    slopes = op.L_op([x, y], op.make_node(x, y).outputs, weights)
    values = {x: np.float64(3), y: np.float64(5), **{w: np.float64(10**i) for i, w in enumerate(weights)}}
    from test_gradients import evaluate

    assert evaluate(slopes, values) == [2 * 1 + 2 * 5 * 1010 + 100, 2 * 3 * 1010]
