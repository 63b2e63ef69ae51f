"""Lengths of diagonals and of what is stretched, and the C of users that looks at lengths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracle import run, shapes

import theano
import theano.tensor as T
from theano.compile import (
    register_rebroadcast_c_code,
    register_shape_c_code,
    register_shape_i_c_code,
    register_specify_shape_c_code,
)
from theano.errors import MethodNotDefined
from theano.lowering.table import lower
from theano.tensor.shape.basic import Rebroadcast, Shape, Shape_i, SpecifyShape
from theano.tensor.shape.diagonals import AllocDiag, ExtractDiag

LENGTHS = (0, 1, 2, 3)


@pytest.mark.parametrize("offset", range(-4, 5))
def test_lengths_of_diagonals(offset):
    m, t, v = T.dmatrix("m"), T.dtensor3("t"), T.dvector("v")
    for rows, columns in itertools.product(LENGTHS, repeat=2):
        value = np.arange(1.0, rows * columns + 1).reshape(rows, columns)
        node = ExtractDiag(offset)(m).owner
        wanted = np.diagonal(value, offset)
        assert shapes(node, {m: value}) == [wanted.shape], (rows, columns)
        np.testing.assert_array_equal(run(node.outputs[0], {m: value}), wanted)
        deep = np.zeros((columns, 2, rows))
        for axes in ((0, 2), (2, 0), (-1, 0), (1, 2)):
            node = ExtractDiag(offset, *axes)(t).owner
            assert shapes(node, {t: deep}) == [np.diagonal(deep, offset, *axes).shape], (deep.shape, axes)
    for length in LENGTHS:
        value = np.arange(1.0, length + 1)
        node = AllocDiag(offset)(v).owner
        assert shapes(node, {v: value}) == [np.diag(value, offset).shape]
        np.testing.assert_array_equal(run(node.outputs[0], {v: value}), np.diag(value, offset))
        for axes in ((0, 2), (2, 0), (1, 3), (-2, -3)):
            several, node = np.tile(value, (5, 4, 1)), AllocDiag(offset, *axes)(t).owner
            made, rest = run(node.outputs[0], {t: several}), iter((5, 4))
            size, square = length + abs(offset), {axis % 4 for axis in axes}
            assert shapes(node, {t: several}) == [tuple(size if d in square else next(rest) for d in range(4))]
            np.testing.assert_array_equal(np.diagonal(made, offset, *axes), several)
            assert np.count_nonzero(made) == 20 * length


def test_shapes_that_are_stretched_to_each_other():
    """Known and unknown lengths, as many as NumPy is asked about."""
    a, b = T.lscalars("a", "b")
    places = [shape for ndim in range(3) for shape in itertools.product((0, 1, 2, 3), repeat=ndim)]
    for one, other in itertools.product(places, repeat=2):
        try:
            wanted = np.broadcast_shapes(one, other)
        except ValueError:
            with pytest.raises(ValueError, match="cannot be broadcast together"):
                T.broadcast_shape(one, other, arrays_are_shapes=True)
            continue
        given = {a: one[-1] if one else 1, b: other[-1] if other else 1}
        symbols = ((*one[:-1], a) if one else (), (*other[:-1], b) if other else ())
        for known in itertools.product((True, False), repeat=2):
            asked = [s if k else t for s, t, k in zip((one, other), symbols, known, strict=True)]
            found = T.broadcast_shape(*asked, arrays_are_shapes=True)
            assert tuple(int(run(n, given)) for n in found) == wanted, asked
            assert all(n.type.dtype == "int64" for n in found)
            assert not all(known) or all(isinstance(n, T.Constant) for n in found)
    row, column = T.drow(), T.dcol()
    assert [n.data for n in T.broadcast_shape(row[:, :1], T.patternbroadcast(column, (True, True)))[:1]] == [1]
    assert T.broadcast_shape() == ()


def test_c_that_people_register_is_asked_for_with_its_names_filled_in():
    """And a kernel of ours computes what nobody has registered C for."""
    x, n = T.dmatrix("x"), T.lvector("n")
    names, sub = (["in", "lengths"], ["out"]), {"fail": "goto end;"}
    let = "Py_XDECREF(out);\nout = in;\nPy_XINCREF(out);"
    cases = [
        (Shape()(x), register_shape_c_code, ("%(oname)s = %(iname)s; %(fail)s",), "out = in; goto end;"),
        (Shape_i(1)(x), register_shape_i_c_code, ("%(oname)s = %(iname)s[%(i)s];", "if (%(i)s) %(fail)s"),
         "if (1) goto end;\nout = in[1];"),
        (SpecifyShape()(x, n), register_specify_shape_c_code, ("%(oname)s = %(iname)s, %(shape)s; %(fail)s",),
         "out = in, lengths; goto end;"),
        (Rebroadcast((0, True), (1, True))(x), register_rebroadcast_c_code, ("%(iname)s[%(axis)s]; %(fail)s",),
         f"in[0]; goto end;\nin[1]; goto end;\n{let}"),
        (Rebroadcast((0, False))(T.drow("r")), register_rebroadcast_c_code, ("%(iname)s[%(axis)s]",), let),
    ]  # fmt: skip
    for y, register, texts, wanted in cases:
        node = y.owner
        assert lower(node) is not None
        with pytest.raises(MethodNotDefined, match="on values of the type TensorType"):
            node.op.c_code(node, "node", *names, sub)
        try:
            register(T.TensorType, *texts)
            assert lower(node) is None
            assert node.op.c_code(node, "node", *names, sub) == wanted
        finally:
            type(node.op).code_of.pop(T.TensorType, None)
        assert lower(node) is not None


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "int64"])
@pytest.mark.parametrize("ndim", [0, 1, 2, 3])
def test_tile_by_a_vector(ndim, dtype):
    """As many repetitions as there are, counted from the last axis; more than the result has axes are refused."""
    x, reps = T.TensorType("float64", (False,) * ndim)("x"), T.TensorType(dtype, (False,))("reps")
    if ndim:
        with pytest.raises(ValueError, match="ndim should be equal or larger"):
            T.tile(x, reps, ndim - 1)
    value = np.arange(2.0**ndim).reshape((2,) * ndim)
    for total in range(max(ndim, 1), 4):
        f = theano.function([x, reps], T.tile(x, reps, total))
        for given in ([], [2], [3, 2], [1, 0, 2], [2, 1, 1, 3], [1] * 5):
            counts = np.array(given, dtype)
            if len(given) > total:
                with pytest.raises(AssertionError, match="more elements than the result has dimensions"):
                    f(value, counts)
            else:
                want = np.tile(value.reshape((1,) * (total - ndim) + value.shape), given)
                assert f(value, counts).shape == want.shape
                np.testing.assert_array_equal(f(value, counts), want)


def test_what_is_reshaped_out_of_order_is_copied_once_and_is_the_callers():
    """The copy that a caller is owed lies in one piece, so that the reshape is a view of it."""
    x = T.dmatrix("x")
    f = theano.function([x], [T.reshape(x.T, (-1,)), T.reshape(T.reshape(x, (3, 2, 2)), (2, 6)), x.T])
    values = np.arange(12.0).reshape(4, 3)
    first = f(values)
    second = f(-values)
    for results, given in ((first, values), (second, -values)):
        for result, expected in zip(results, (given.T.reshape(-1), given.reshape(2, 6), given.T), strict=True):
            np.testing.assert_array_equal(result, expected)
            result[...] = np.nan
        np.testing.assert_array_equal(np.abs(given), np.arange(12.0).reshape(4, 3))
    for result in f.maker.fgraph.outputs[:2]:
        assert isinstance(result.owner.op, T.Reshape)
        while isinstance(result.owner.op, T.Reshape):
            result = result.owner.inputs[0]
        assert isinstance(result.owner.op, theano.compile.DeepCopyOp)
