"""Constants come with the call: kernels that differ in them only share their code, and compute what they should."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_harness import compile_many, run
from kernel_toys import Array, Toy, node

import theano
import theano.scalar as ts
import theano.tensor as T
from portion import portion
from theano.codegen.unit import compile_counts
from theano.scalar import cbody
from theano.scalar.c import snippets
from theano.scalar.composite import Composite
from theano.tensor.elemwise.lowering import elemwise_kernel
from theano.tensor.kernels.body import body_of

FLOATS = "float16 float32 float64 complex64 complex128".split()


def made(build, dtype, *values):
    """Return kernel, node and op of an expression of one vector and some constants."""
    x = ts.get_scalar_type(dtype)("x")
    op = Composite([x], [build(x, *[constant(v, dtype) for v in values])])
    out = op.program.dtype_of(op.program.outputs[0])
    n = node(Toy("Elemwise", scalar_op=op), [Array(dtype, (False,))()], [(out, 1)])
    return elemwise_kernel(n.op, n), n, op


def constant(value, dtype):
    return ts.get_scalar_type(dtype).make_constant(np.dtype(dtype).type(value))


@pytest.mark.parametrize("dtype", [*FLOATS, "int8", "uint64", "bool"])
def test_values_of_every_dtype(dtype):
    for value in (0, 1, 3) if dtype != "bool" else (False, True):
        kernel, nd, op = made(lambda v, c, one: ts.add(ts.mul(v, c), one), dtype, value, 1)
        for n in (0, 1, 7, 9, 1025):
            x = (np.arange(n) % 100).astype(dtype)  # halves hold the results exactly
            (out,) = run(kernel, nd, [x])
            np.testing.assert_array_equal(out, op.numpy_form([out.dtype.name])(x), err_msg=f"{n} times {value}")


def test_special_values_are_passed_on_bit_by_bit():
    for value in (np.nan, np.inf, -np.inf, -0.0, 5e-324, 0.1):
        kernel, nd, op = made(lambda v, c: ts.second(v, c) * 1.0, "float64", value)
        (out,) = run(kernel, nd, [np.ones(9)])
        assert out.view("int64").tolist() == np.full(9, value).view("int64").tolist()


@pytest.mark.parametrize("dtype", FLOATS)
def test_only_the_constants_differ_so_the_code_is_shared(dtype):
    one, two = (made(lambda v, a, b: ts.add(ts.mul(v, a), b), dtype, c, 2 * c)[0] for c in (3, 5))
    assert one.source == two.source and one.support == two.support
    assert one.params != two.params


def test_mixed_widths_are_aligned():
    x, y = ts.float32("x"), ts.complex128("y")
    op = Composite([x, y], [x * constant(0.1, "float32"), y * constant(1 + 2j, "complex128") + x * 0.5])
    outs = [(op.program.dtype_of(o), 1) for o in op.program.outputs]
    n = node(Toy("Elemwise", scalar_op=op), [Array("float32", (False,))(), Array("complex128", (False,))()], outs)
    kernel = elemwise_kernel(n.op, n)
    assert len(kernel.packed) % 8 == 0
    values = [np.arange(9, dtype="float32"), np.arange(9) * (1 - 1j)]
    for got, want in zip(run(kernel, n, values), op.numpy_form([d for d, _ in outs])(*values), strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_whole_divisor_stays_in_the_code():
    ten, three = (made(lambda v, c: ts.add(v // c, c), "int64", value)[0] for value in (10, 3))
    assert "INT64_C(10)" in ten.source and ten.source != three.source
    assert np.frombuffer(ten.packed, "int64").tolist() == [10]


def test_an_operation_of_other_dtypes_keeps_its_constants_in_the_text():
    x = ts.float64("x")
    body = body_of(Composite([x], [x * 0.3]), ["a"], ["float32"], ["b"], ["float32"])
    assert body.constants == () and body.params == b""


def test_another_learning_rate_compiles_nothing():
    x, w = T.vector("x", dtype="float64"), np.arange(5.0)
    results = []
    before = None
    for rate in (0.125, 0.375, 0.01):
        shared = theano.shared(w)
        f = theano.function([x], T.tanh(shared) * 0.3, updates=[(shared, shared - rate * T.exp(x) * 7.0)])
        if before is not None:
            assert compile_counts().compiled == before
        before = compile_counts().compiled
        f(w)
        results.append(shared.get_value())
        np.testing.assert_allclose(results[-1], w - rate * np.exp(w) * 7.0)


# -- functions that are called many times --------------------------------------------------------------------


def unary_functions():
    """Return the functions of our maths that operations on one float are, with their dtypes."""
    texts = (block.text for block in snippets().values())
    names = {name for text in texts for _, name in cbody._OF_ONE_NUMBER.findall(text)}
    found = sorted((name.rpartition("_")[0], "float" + name[-2:]) for name in names)
    return [(name, dtype) for name, dtype in found if getattr(getattr(ts, name, None), "nin", None) == 1]


def sum_of_many(name, dtype, count, shape):
    """Return the kernel, node and op of a sum of one function at multiples of a number."""
    function, x = getattr(ts, name), ts.get_scalar_type(dtype)("x")
    terms = [function(ts.mul(x, constant(0.5 + 0.05 * k, dtype))) for k in range(count)]
    op = Composite([x], [ts.add(*terms)])
    n = node(Toy("Elemwise", scalar_op=op), [Array(dtype, shape)()], [(dtype, len(shape))])
    return elemwise_kernel(n.op, n), n, op


def test_there_are_such_functions():
    assert {"exp", "tanh", "log1p", "sigmoid", "erf", "sin"} <= {name for name, _ in unary_functions()}


#: The first function in both dtypes is in each run.
SUMS = [(name, dtype, shape) for name, dtype in unary_functions() for shape in ((), (False,))]
TRIED = portion(SUMS, 5, always=4)


@pytest.fixture(scope="module")
def sums():
    """The sums with few and with many calls, compiled together."""
    found = {key: [sum_of_many(*key[:2], cbody.MANY_CALLS + k, key[2]) for k in (0, 1)] for key in TRIED}
    compile_many([kernel for pair in found.values() for kernel, _, _ in pair])
    return found


@pytest.mark.parametrize("name, dtype, shape", TRIED)
def test_a_function_called_many_times(name, dtype, shape, sums):
    x = np.linspace(1.05, 1.9, 67) if name == "arccosh" else np.linspace(0.05, 0.65, 67)
    x = (2 * x if name == "arccosh" else x).astype(dtype)[() if shape else 20]
    x = -x if name == "log1mexp" else x
    few, many = sums[name, dtype, shape]
    call = f"th_{name}_f{dtype[-2:]}_called("
    assert call not in few[0].source and call in many[0].source
    for kernel, n, op in (few, many):
        (out,) = run(kernel, n, [np.asarray(x)])
        assert np.isfinite(out).all()
        np.testing.assert_allclose(out, op.numpy_form([dtype])(x), rtol=1e-5 if dtype == "float32" else 1e-12)
