"""Element-wise kernels against NumPy: operations x dtypes x layouts, broadcasting, in place, several outputs."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from kernel_harness import compile_many, run
from kernel_toys import Array, Toy, node
from layouts import LAYOUTS, distance, laid_out, numbers

import theano.scalar as ts
from portion import everything, portion
from theano.scalar.composite import Composite
from theano.tensor.elemwise.lowering import elemwise_kernel

DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()
SPREAD = "uint8 int64 float32 float64 complex128".split()
SIMPLE = "add sub maximum eq second".split()


def out_dtypes(op, dtypes):
    return [t.dtype for t in op.output_types([ts.get_scalar_type(d) for d in dtypes])]


def elemwise_node(op, inputs, patterns=None, **attributes):
    """Return the node of an Elemwise over arrays with given broadcast patterns."""
    patterns = patterns or [(False,) * a.ndim for a in inputs]
    out_pattern = tuple(all(column) for column in zip(*patterns, strict=True))
    outs = [(d, out_pattern) for d in out_dtypes(op, [a.dtype.name for a in inputs])]
    variables = [Array(a.dtype.name, p)() for a, p in zip(inputs, patterns, strict=True)]
    return node(Toy("Elemwise", scalar_op=op, **attributes), variables, outs)


def cases():
    """Every operation that has a C form, with dtypes of its own."""
    for name, op in sorted(ts.OPS.items()):
        if getattr(op, "nin", 0) not in (-1, 1, 2, 3) or name != str(op):
            continue
        nin = 2 if op.nin == -1 else op.nin
        for dtype in DTYPES if name in SIMPLE else SPREAD:
            yield name, op, (dtype,) * nin
        if name in SIMPLE:
            for pair in (("int8", "float32"), ("float64", "int64"), ("uint8", "int16"), ("bool", "float64")):
                yield name, op, pair


def is_defined(case):
    _, op, dtypes = case
    try:
        out_dtypes(op, dtypes)
    except TypeError:
        return False
    return True


def arrays_of(op, dtypes, rng, shape):
    intervals = op.domains(len(dtypes)) if hasattr(op, "domains") else [(-4.0, 4.0)] * len(dtypes)
    return [numbers(rng, shape, d, low, high) for d, (low, high) in zip(dtypes, intervals, strict=True)]


def prepared(ndim):
    """Return (name, op, dtypes, kernel) for those cases of this run that this number of axes has a kernel for."""
    found = []
    for name, op, dtypes in portion(filter(is_defined, cases()), 4):
        arrays = [np.zeros((2,) * ndim, d) for d in dtypes]
        n = elemwise_node(op, arrays)
        kernel = elemwise_kernel(n.op, n)
        if kernel is not None:
            found.append((name, op, dtypes, kernel, n))
    for start in range(0, len(found), 120):
        compile_many([k for _, _, _, k, _ in found[start : start + 120]])
    return found


@pytest.fixture(scope="module")
def matrices():
    return prepared(2)


def check(name, op, dtypes, arrays, kernel, n, what):
    want = op.numpy_form([v.type.dtype for v in n.outputs])(*arrays)
    want = want if isinstance(want, tuple) else (want,)
    for got, expected in zip(run(kernel, n, arrays), want, strict=True):
        expected = np.broadcast_to(expected, got.shape)
        # How exact operations are is the scalar layer's affair; here a wrong element must not hide in rounding.
        allowed = 4 * (max(op.ulp, 1) if got.dtype.kind == "c" else op.ulp)
        assert distance(got, np.asarray(expected)) <= allowed, f"{name}{dtypes} {what}"


def test_operations_dtypes_layouts(matrices):
    rng = np.random.default_rng(1)
    count = 0
    for name, op, dtypes, kernel, n in matrices:
        base = arrays_of(op, dtypes, rng, (5, 13))
        for layout in LAYOUTS:
            if layout == "scalar":
                continue
            arrays = [laid_out(a, layout) for a in base]
            check(name, op, dtypes, arrays, kernel, n, layout)
            count += 1
        # Each operand in a layout of its own.
        mixed = [laid_out(a, LAYOUTS[(i * 3 + count) % 7]) for i, a in enumerate(base)]
        if len({a.shape for a in mixed}) == 1:
            check(name, op, dtypes, mixed, kernel, n, "mixed")
    assert count >= (2500 if everything() else 600), count


def test_numbers_of_axes():
    rng = np.random.default_rng(2)
    for shape in [(), (1,), (7,), (3, 4, 5), (2, 1, 3, 2), (1, 1, 1), (0, 3), (3, 0, 2)]:
        for dtypes in (("float64", "float64"), ("int16", "float32")):
            arrays = [numbers(rng, shape, d) for d in dtypes]
            n = elemwise_node(ts.sub, arrays)
            kernel = elemwise_kernel(n.op, n)
            for layout in ("C", "F", "transposed", "negative", "step2", "offset"):
                laid = [laid_out(a, layout) for a in arrays]
                check("sub", ts.sub, dtypes, laid, kernel, n, f"{shape} {layout}")


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1023, 1024, 1025, 200_001])
def test_sizes(size):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=size), rng.normal(size=size)
    n = elemwise_node(ts.add, [x, y])
    result = run(elemwise_kernel(n.op, n), n, [x, y])
    np.testing.assert_array_equal(result[0], x + y)
    assert (result.pieces > 1) == (size == 200_001)
    wide = np.repeat(x, 3)[::3]
    np.testing.assert_array_equal(run(elemwise_kernel(n.op, n), n, [wide, y[::-1]])[0], x + y[::-1])


BROADCASTS = [
    [((False, False), (5, 7)), ((True, False), (1, 7))],
    [((False, False), (5, 7)), ((False, True), (5, 1))],
    [((False, True), (5, 1)), ((True, False), (1, 7))],
    [((True, True), (1, 1)), ((False, False), (5, 7))],
    [((True, True), (1, 1)), ((True, True), (1, 1))],
    [((False, True), (5, 1)), ((False, True), (5, 1))],
    [((True, False), (1, 7)), ((True, True), (1, 1))],
    [((False, False, False), (2, 5, 7)), ((True, False, True), (1, 5, 1)), ((False, True, False), (2, 1, 7))],
    [((True, False, False), (1, 5, 7)), ((False, True, True), (3, 1, 1))],
    [((False, False), (5, 1)), ((True, False), (1, 1))],
]


@pytest.mark.parametrize("operands", BROADCASTS)
def test_broadcasting(operands):
    rng = np.random.default_rng(4)
    op = ts.add
    arrays = [rng.normal(size=shape) for _, shape in operands]
    n = elemwise_node(op, arrays, [p for p, _ in operands])
    kernel = elemwise_kernel(n.op, n)
    for layout in ("C", "F", "negative", "step2", "offset", "columns"):
        laid = [laid_out(a, layout) for a in arrays]
        np.testing.assert_array_equal(run(kernel, n, laid)[0], sum(laid[1:], laid[0]))


PIECES = [
    [(False, False, False), (True, False, True), (False, True, False)],
    [(False, False, False), (True, True, False), (False, False, True)],
    [(False, False, True), (True, True, False), (False, True, False)],
]


@pytest.mark.parametrize("patterns", PIECES)
def test_rows_begin_and_end_in_the_middle_of_a_piece(patterns):
    """Pieces of a loop over rows are counted in elements, so that few long rows are shared out as well as many short ones."""
    rng = np.random.default_rng(15)
    for shape in ((7, 90, 501), (2, 3, 100_003), (901, 70, 5), (3, 90_001, 4)):
        arrays = [rng.normal(size=[1 if one else n for one, n in zip(p, shape, strict=True)]) for p in patterns]
        n = elemwise_node(ts.mul, arrays, patterns)
        result = run(elemwise_kernel(n.op, n), n, arrays)
        np.testing.assert_array_equal(result[0], arrays[0] * arrays[1] * arrays[2])
        assert result.pieces > 1


@pytest.mark.parametrize("patterns", PIECES)
def test_rows_in_place_and_of_several_outputs(patterns):
    rng = np.random.default_rng(16)
    x, y, z = (ts.float64(name) for name in "xyz")
    op = Composite([x, y, z], [x * y + z, z - x])
    for shape in ((3, 5, 17), (4, 1, 40), (1, 6, 3), (2, 0, 5)):
        arrays = [rng.normal(size=[1 if one else n for one, n in zip(p, shape, strict=True)]) for p in patterns]
        want = [np.array(w) for w in op.numpy_form(["float64", "float64"])(*arrays)]
        over = {1: 0} if patterns[0] == (False, False, False) else {}
        n = elemwise_node(op, arrays, patterns, inplace_pattern=over)
        kernel = elemwise_kernel(n.op, n)
        assert "KERNEL_rows" in kernel.source
        for got, expected in zip(run(kernel, n, arrays), want, strict=True):
            np.testing.assert_allclose(got, np.broadcast_to(expected, got.shape), rtol=1e-15)


@pytest.mark.parametrize("count", [62, 63, 64, 65, 81])
def test_a_loop_over_rows_has_a_bit_for_each_operand(count):
    arrays = [np.full((5, 40), 2.0**-k) for k in range(count - 1)] + [np.arange(5.0)[:, None]]
    n = elemwise_node(ts.add, arrays, [(False, False)] * (count - 1) + [(False, True)])
    kernel = elemwise_kernel(n.op, n)
    assert ("KERNEL_rows" in kernel.source) == (count + 1 <= 64)
    np.testing.assert_array_equal(run(kernel, n, arrays)[0], sum(arrays[1:], arrays[0]))


def test_wide_broadcast_runs_in_pieces():
    rng = np.random.default_rng(5)
    x, row, column = rng.normal(size=(300, 1001)), rng.normal(size=(1, 1001)), rng.normal(size=(300, 1))
    n = elemwise_node(ts.mul, [x, row, column], [(False, False), (True, False), (False, True)])
    result = run(elemwise_kernel(n.op, n), n, [x, row, column])
    np.testing.assert_array_equal(result[0], x * row * column)
    assert result.pieces > 1


def test_mismatch_names_axis_and_inputs():
    x, y = np.zeros((3, 4)), np.zeros((3, 5))
    n = elemwise_node(ts.add, [x, y])
    with pytest.raises(ValueError, match="Input dimension mis-match: along axis 1, input 1 has length 5 but input 0 has 4"):
        run(elemwise_kernel(n.op, n), n, [x, y])
    with pytest.raises(ValueError, match="only if the variable's type says"):
        run(elemwise_kernel(n.op, n), n, [x, np.zeros((3, 1))])


def test_in_place():
    rng = np.random.default_rng(6)
    for layout in ("C", "F", "negative", "step2", "offset"):
        x, y = laid_out(rng.normal(size=(4, 9)), layout), rng.normal(size=(4, 9))
        n = elemwise_node(ts.mul, [x, y], inplace_pattern={0: 0})
        want = x * y
        result = run(elemwise_kernel(n.op, n), n, [x, y])
        assert result.views == (True,)
        np.testing.assert_array_equal(x, want)
    y = rng.normal(size=20)
    n = elemwise_node(ts.sub, [np.float64(3).reshape(1), y], [(True,), (False,)], inplace_pattern={0: 1})
    want = 3 - y
    run(elemwise_kernel(n.op, n), n, [np.full(1, 3.0), y])
    np.testing.assert_array_equal(y, want)


def heavy(dtype="float64", other="float64"):
    """Return an operation whose loop takes whole vectors only."""
    x, y = ts.get_scalar_type(dtype)("x"), ts.get_scalar_type(other)("y")
    return Composite([x, y], [ts.exp(x) * y + 0.5, ts.tanh(x + y)])


def check_heavy(arrays, patterns=None, **attributes):
    op = heavy(*(a.dtype.name for a in arrays))
    n = elemwise_node(op, arrays, patterns, **attributes)
    kernel = elemwise_kernel(n.op, n)
    want = op.numpy_form([v.type.dtype for v in n.outputs])(*arrays)
    result = run(kernel, n, arrays)
    for got, expected in zip(result, want, strict=True):
        assert got.shape == expected.shape
        double = all(a.dtype == "float64" for a in arrays)
        close = {"rtol": 1e-14, "atol": 1e-15} if double else {"rtol": 2e-6, "atol": 1e-6}
        np.testing.assert_allclose(got, expected, **close)
    return result


@pytest.mark.parametrize("size", [0, 1, 3, 7, 8, 9, 15, 16, 17, 1023, 1024, 1025, 30_001])
@pytest.mark.parametrize("dtypes", [("float64", "float64"), ("float32", "float32"), ("float32", "float64")])
def test_what_whole_vectors_leave_over(size, dtypes):
    rng = np.random.default_rng(8)
    x, y = (rng.normal(size=size).astype(d) for d in dtypes)
    for layout in ("C", "step2", "negative", "offset"):
        result = check_heavy([laid_out(x, layout), y])
        # A buffer of the test is no longer than it must be: nothing may be written behind it.
        assert all(r.shape == (size,) for r in result)
    assert (result.pieces > 1) == (size == 30_001)


ROWS = [
    [((False, False), (4000, 10)), ((True, False), (1, 10))],
    [((False, False), (4000, 10)), ((False, True), (4000, 1))],
    [((False, False), (10, 4000)), ((False, True), (10, 1))],
    [((False, True), (700, 1)), ((True, False), (1, 3))],
    [((False, True), (3, 1)), ((True, False), (1, 1500))],
    [((False, False, False), (3, 500, 7)), ((False, True, False), (3, 1, 7))],
    [((False, False, False), (3, 500, 7)), ((False, False, True), (3, 500, 1))],
    [((False, False, False), (40, 5, 7)), ((True, False, True), (1, 5, 1))],
    [((False, False, False), (5, 40, 130)), ((True, False, True), (1, 40, 1))],
    [((False, False), (300, 129)), ((True, True), (1, 1))],
]


@pytest.mark.parametrize("operands", ROWS)
@pytest.mark.parametrize("layout", ["C", "F", "negative", "step2", "columns"])
def test_short_and_long_rows(operands, layout):
    rng = np.random.default_rng(9)
    arrays = [laid_out(rng.normal(size=shape), layout) for _, shape in operands]
    patterns = [p for p, _ in operands]
    check_heavy(arrays, patterns)
    check_heavy(arrays[::-1], patterns[::-1])
    for op in (ts.sub, ts.second):  # these have a loop over rows; of `second` the shape alone is read
        n = elemwise_node(op, arrays, patterns)
        want = np.broadcast_to(op.numpy_form(["float64"])(*arrays), n.outputs and np.broadcast_shapes(*(a.shape for a in arrays)))
        np.testing.assert_array_equal(run(elemwise_kernel(n.op, n), n, arrays)[0], want)


@pytest.mark.parametrize("shape", [(128, 8), (8, 128), (130, 129), (17, 300), (300, 17), (193, 257), (5, 140, 33), (33, 5, 140)])
def test_neighbours_along_other_axes(shape):
    rng = np.random.default_rng(12)
    x = rng.normal(size=shape)
    for axes in itertools.permutations(range(len(shape))):
        back = np.argsort(axes)
        y = np.ascontiguousarray(rng.normal(size=shape).transpose(axes)).transpose(back)
        check_heavy([x, y])
        check_heavy([y, x])
        check_heavy([y, y])
        check_heavy([y.astype("float32"), x.astype("float32")])
        check_heavy([y.astype("float32"), x])
        check_heavy([x[..., ::-1], y])
        check_heavy([x[:1], y], [(True, *(False,) * (x.ndim - 1)), (False,) * x.ndim])
        check_heavy([y, x[..., :1]], [(False,) * x.ndim, (*(False,) * (x.ndim - 1), True)])
        for dtype in ("int8", "int16", "float32", "complex128"):
            a, b = numbers(rng, shape, dtype), y.astype(dtype)
            n = elemwise_node(ts.add, [a, b])
            np.testing.assert_array_equal(run(elemwise_kernel(n.op, n), n, [a, b])[0], a + b)


def test_in_place_over_another_order_of_axes():
    rng = np.random.default_rng(13)
    for shape in ((150, 200), (129, 17), (5, 130, 40)):
        x, y = rng.normal(size=shape), np.asfortranarray(rng.normal(size=shape))
        for a, b in ((x, y), (y, x)):
            a = a.copy(order="K")
            n = elemwise_node(heavy(), [a, b], inplace_pattern={1: 0})
            want = np.tanh(a + b)
            run(elemwise_kernel(n.op, n), n, [a, b])
            np.testing.assert_allclose(a, want, rtol=1e-13)


def test_every_width_of_element_is_gathered():
    rng = np.random.default_rng(10)
    for dtype in ("bool", "int8", "int16", "float16", "float32", "int64", "complex128"):
        x = numbers(rng, (37, 41), dtype)
        n = elemwise_node(ts.second, [x, x])
        kernel = elemwise_kernel(n.op, n)
        for laid in (x.T.copy().T, x[::-1, ::-1], np.repeat(x, 3, axis=1)[:, ::3], x[:, :5], x[:5]):
            np.testing.assert_array_equal(run(kernel, n, [laid, laid])[0], laid)


def test_in_place_over_what_is_gathered():
    rng = np.random.default_rng(11)
    for layout in ("C", "F", "negative", "step2", "columns"):
        x, y = laid_out(rng.normal(size=(50, 33)), layout), rng.normal(size=(50, 33))
        n = elemwise_node(heavy(), [x, y], inplace_pattern={1: 0})
        want = np.tanh(x + y)
        run(elemwise_kernel(n.op, n), n, [x, y])
        np.testing.assert_allclose(x, want, rtol=1e-14)


def test_more_operands_than_registers():
    rng = np.random.default_rng(12)
    arrays = [rng.normal(size=(20, 30)) for _ in range(70)]
    n = elemwise_node(ts.add, arrays)
    kernel = elemwise_kernel(n.op, n)
    for change in (lambda a: a, np.asfortranarray):
        arrays[1:3] = [change(a) for a in arrays[1:3]]
        np.testing.assert_allclose(run(kernel, n, arrays)[0], sum(arrays), rtol=1e-13)


def several_outputs():
    x, y = ts.float64("x"), ts.float32("y")
    total = x + y
    return Composite([x, y], [total, ts.exp(total) * 2, ts.lt(x, y)])


def test_composite_with_several_outputs():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(6, 50)), rng.normal(size=(6, 50)).astype("float32")
    n = elemwise_node(several_outputs(), [x, y])
    kernel = elemwise_kernel(n.op, n)
    total, grown, less = run(kernel, n, [laid_out(x, "F"), y])
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_allclose(grown, np.exp(x + y) * 2, rtol=1e-15)
    np.testing.assert_array_equal(less, x < y)
    assert less.dtype == "bool"


def test_half_precision_is_stored_not_computed():
    x = np.array([0.1, 65504, -1e-7, np.inf, np.nan, 2**-24], "float16")
    n = elemwise_node(ts.mul, [x, x])
    np.testing.assert_array_equal(run(elemwise_kernel(n.op, n), n, [x, x])[0], x * x)


def test_text_reads_well():
    n = elemwise_node(several_outputs(), [np.zeros((2, 2)), np.zeros((2, 2), "float32")])
    text = elemwise_kernel(n.op, n).source
    assert text.startswith("/* y0, y1, y2 = ")
    assert max(map(len, text.splitlines())) < 160
    assert not re.search(r"[ \t]+$", text, re.MULTILINE)
    depth = 0
    for line in text.splitlines():
        depth -= line.startswith("}")
        assert line.startswith("    ") or depth == 0 or line.lstrip().startswith(("{", "}")), line
        depth += line.endswith("{") and not line.startswith(" ")


def some_texts():
    """Return what is generated for some nodes, as if none of it were built with the layer."""
    from test_kernels_reduce import some_kernels  # which imports this module

    n = elemwise_node(several_outputs(), [np.zeros((2, 2)), np.zeros((2, 2), "float32")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("theano.tensor.reduce.lowering._BUILT", {})
        kernels = [elemwise_kernel(n.op, n), *some_kernels()]
    return repr([(k.source, k.support, k.work) for k in kernels])


def test_same_text_under_every_hash_seed():
    """In this process, whose seed is any, and in two others."""
    program = f"import sys; sys.path[:0] = {sys.path!r}; from test_kernels_elemwise import some_texts; print(some_texts(), end='')"
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    assert texts == {some_texts()} and len(texts.pop()) > 1000
