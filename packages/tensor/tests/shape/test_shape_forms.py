"""Ops of shapes as they are made: what they take and refuse on both sides of each bound, defaults, identity and text."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import run, shapes

import theano
import theano.tensor as T
from theano.errors import ShapeError
from theano.graph import Constant
from theano.tensor.convert import static_int
from theano.tensor.index.basic import IncSubtensor, Subtensor, get_idx_list
from theano.tensor.linalg.gradients import CholeskyGrad, EighGrad, EigvalshGrad, ExpmGrad
from theano.tensor.shape.basic import Rebroadcast, Shape_i, SpecifyShape, shape_i, shape_tuple
from theano.tensor.shape.diagonals import AllocDiag, ExtractDiag, SetDiag
from theano.tensor.shape.reshape import Reshape, is_flat

s, v, m, t, row = T.dscalar("s"), T.dvector("v"), T.dmatrix("m"), T.dtensor3("t"), T.drow("row")
cube = np.arange(24.0).reshape(2, 3, 4)

REFUSED = {
    "Shape_i below": (lambda: Shape_i(-1)(m), TypeError), "Shape_i above": (lambda: Shape_i(2)(m), TypeError),
    "Rebroadcast below": (lambda: Rebroadcast((-1, True)), TypeError), "Rebroadcast no flag": (lambda: Rebroadcast((0, 1)), TypeError),
    "Rebroadcast above": (lambda: Rebroadcast((2, True))(m), ValueError), "pattern too long": (lambda: T.patternbroadcast(m, (True,) * 3), ValueError),
    "addbroadcast below": (lambda: T.addbroadcast(m, -3), ValueError), "addbroadcast above": (lambda: T.addbroadcast(m, 2), ValueError),
    "specify a matrix": (lambda: SpecifyShape()(v, m), TypeError), "specify floats": (lambda: SpecifyShape()(m, v), TypeError),
    "specify too few": (lambda: SpecifyShape()(m, [2]), AssertionError), "specify too many": (lambda: SpecifyShape()(m, [2, 3, 4]), AssertionError),
    "diagonal of a vector": (lambda: ExtractDiag()(v), ValueError), "diagonal axis below": (lambda: ExtractDiag(0, -3, 1)(m), ValueError),
    "diagonal axis above": (lambda: ExtractDiag(0, 0, 2)(m), ValueError), "diagonal one axis": (lambda: ExtractDiag(0, 1, -1)(m), ValueError),
    "diagonal too deep": (lambda: SetDiag()(m, m), TypeError), "alloc of a number": (lambda: AllocDiag()(s), ValueError),
    "alloc axis below": (lambda: AllocDiag(0, -3, 1)(v), ValueError), "alloc axis above": (lambda: AllocDiag(0, 0, 2)(v), ValueError),
    "alloc one axis": (lambda: AllocDiag(0, 1, -1)(v), ValueError), "diag of a number": (lambda: T.diag(s), ValueError),
    "reshape below": (lambda: Reshape(-1), ValueError), "reshape twice open": (lambda: Reshape(2)(m, [-1, -1]), ValueError),
    "reshape floats": (lambda: Reshape(1)(m, v), TypeError), "reshape of a constant": (lambda: Reshape(1)(T.constant([1, 2]), [3]), ValueError),
    "reshape too few": (lambda: Reshape(2)(m, [2]), ValueError), "flatten to none": (lambda: T.flatten(m, 0), ValueError),
    "flatten above": (lambda: T.flatten(m, 3), ValueError), "flatten a number": (lambda: T.flatten(s, 2), ValueError),
    "padding below": (lambda: T.shape_padleft(m, -1), ValueError), "padding no number": (lambda: T.shape_padright(m, 1.0), ValueError),
    "padaxis below": (lambda: T.shape_padaxis(m, -4), IndexError), "padaxis above": (lambda: T.shape_padaxis(m, 3), IndexError),
    "transpose too few": (lambda: T.transpose(m, [0]), ValueError), "moveaxis twice": (lambda: T.moveaxis(t, [0, 0], [1, 2]), ValueError),
    "moveaxis to one": (lambda: T.moveaxis(t, [0, 1], [2, 2]), ValueError), "moveaxis too few": (lambda: T.moveaxis(t, [0, 1], [2]), ValueError),
    "too many indices": (lambda: Subtensor([0, 0])(v, 0, 0), IndexError), "too few numbers": (lambda: Subtensor([0])(v), IndexError),
    "wrong numbers": (lambda: Subtensor([0])(v, T.iscalar()), TypeError), "written too deep": (lambda: IncSubtensor([0])(m, m, T.lscalar()), ValueError),
    "complex in real": (lambda: T.set_subtensor(v[:1], T.zvector()), TypeError), "UPLO": (lambda: EighGrad("l"), ValueError),
    "scalar of a vector": (lambda: T.scalar_from_tensor(v), TypeError), "broadcast_shape": (lambda: T.broadcast_shape(m, other=1), TypeError),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    make, error = REFUSED[name]
    with pytest.raises(error):
        make()


TAKEN = {
    "Shape_i": (Shape_i(1)(m), 4), "Shape_i of a constant": (Shape_i(T.constant(1))(m), 4), "diagonal": (ExtractDiag()(m), np.diagonal(cube[0])),
    "diagonal at both ends": (ExtractDiag(1, -3, 2)(t), np.diagonal(cube, 1, -3, 2)), "SetDiag": (SetDiag()(m, v[:3]), np.where(np.eye(3, 4), np.arange(3.0)[:, None], cube[0])),
    "SetDiag axes": (ExtractDiag(1, 2, -2)(SetDiag(1, 2, -2)(t, t[:, 0, :2])), cube[:, 0, :2]), "AllocDiag": (AllocDiag()(v), np.diag(np.arange(4.0))),
    "AllocDiag at both ends": (AllocDiag(0, -2, 1)(v), np.diag(np.arange(4.0))), "reshape to nothing": (Reshape(0)(v[:1], []), 0.0),
    "flatten a number": (T.flatten(s), [1.5]), "flatten to all": (T.flatten(t, 3), cube), "outdim": (T.flatten(t, outdim=2), cube.reshape(2, 12)),
    "ndim before outdim": (T.flatten(t, 1, 2), cube.ravel()), "no padding": (T.shape_padleft(m, 0), cube[0]), "padaxis first": (T.shape_padaxis(m, -3), cube[0][None]),
    "padaxis last": (T.shape_padaxis(m, 2), cube[0][..., None]), "padaxis last, from the end": (T.shape_padaxis(m, -1), cube[0][..., None]),
    "padright": (T.shape_padright(m, 2), cube[0][..., None, None]), "transpose": (T.transpose(t), cube.T), "transpose axes": (T.transpose(t, (0, 2, 1)), cube.transpose(0, 2, 1)),
    "moveaxis back": (T.moveaxis(t, -1, 0), np.moveaxis(cube, -1, 0)), "moveaxis several": (T.moveaxis(t, [0, 1], [2, 0]), np.moveaxis(cube, [0, 1], [2, 0])),
    "swapaxes": (T.swapaxes(t, -1, 0), cube.swapaxes(-1, 0)), "squeeze one": (T.squeeze(t[:1, :, :1], 0), cube[0, :, :1]),
    "squeeze several": (T.squeeze(t[:1, :, :1], (0, -1)), cube[0, :, 0]), "squeeze nothing": (T.squeeze(t[:1]), cube[:1]), "trace": (T.diagonal(t, 1, 1, 2), np.diagonal(cube, 1, 1, 2)),
    "number of a number": (Subtensor([])(s), 1.5), "last": (v[-4], 0.0), "diag below": (T.diag(m, -1), np.diag(cube[0], -1)), "increased": (IncSubtensor([slice(None)])(v, v), np.arange(4.0) * 2),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_taken(name):
    out, wanted = TAKEN[name]
    given = {s: np.array(1.5), v: np.arange(4.0), m: cube[0], t: cube, row: cube[0, :1]}
    found = run(out, given)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_array_equal(found, wanted)
    assert shapes(out.owner, given) == [np.shape(wanted)] if out.owner is not None else True


def test_what_is_checked_at_run_time():
    both = Rebroadcast((0, True), (1, False))(m)
    assert both.broadcastable == (True, False) and shapes(both.owner, {m: np.ones((1, 3))}) == [(1, 3)]
    for value in (np.ones((2, 1)), np.ones((0, 1))):
        with pytest.raises(ValueError, match="said to be broadcastable"):
            run(both, {m: value})
    fixed = SpecifyShape()(m, [2, 3])
    for value in (np.ones((2, 2)), np.ones((3, 3))):
        with pytest.raises(AssertionError, match="expected shape"):
            run(fixed, {m: value})
    n = T.lvector("n")
    for lengths in ([2], [2, 3, 1]):
        with pytest.raises((AssertionError, ValueError)):
            run(SpecifyShape()(m, n), {m: np.ones((2, 3)), n: lengths})
    for lengths in ([6], [1, 2, 3]):
        with pytest.raises(ValueError, match="2 lengths are needed"):
            run(Reshape(2)(m, n), {m: np.ones((2, 3)), n: lengths})
    for lengths in ([-2, 3], [2, 4], [-1, -1], [-1, 4]):
        with pytest.raises(ValueError, match="Cannot reshape"):
            run(Reshape(2)(m, n), {m: np.ones((2, 3)), n: lengths})
    assert run(Reshape(2)(m, n), {m: np.ones((2, 3)), n: [3, -1]}).shape == (3, 2)
    for k in (4, -5):
        with pytest.raises(IndexError, match=f"index {k} is out of bounds for axis 1, of length 4"):
            run(m[:, k], {m: cube[0]})


def test_a_view_is_one_and_a_copy_is_none():
    value = cube.copy()
    for view in (False, True):
        out = ExtractDiag(view=view)(t)
        assert out.owner.op.view_map == ({0: [0]} if view else {})
        found = run(out, {t: value})
        assert np.shares_memory(found, value) is view and found.flags.writeable
    assert Subtensor.view_map == Reshape.view_map == Rebroadcast.view_map == SpecifyShape.view_map == {0: [0]}
    assert (
        ExtractDiag() == ExtractDiag(0, 0, 1, False)
        and AllocDiag() == AllocDiag(0, 0, 1)
        and SetDiag() == SetDiag(0, 0, 1)
    )
    assert IncSubtensor([0]) == IncSubtensor([0], False, False) and IncSubtensor([0], True).destroy_map == {0: [0]}


def test_lengths_in_their_cheapest_form():
    assert static_int(shape_i(row, 0)) == 1 and shape_i(row, 1).owner.op == Shape_i(1)
    assert [isinstance(n, Constant) for n in shape_tuple(row)] == [True, False]


def test_text():
    pairs = {
        (): "",
        ((0, True),): "0:1",
        ((0, False), (1, False)): "0,1:0",
        ((0, True), (1, False)): "0:1,1:0",
        ((1, True), (0, False)): "0:0,1:1",
    }
    assert {p: str(Rebroadcast(*p)) for p in pairs} == {p: f"Rebroadcast{{{text}}}" for p, text in pairs.items()}
    assert str(Shape_i(1)) == "Shape_i{1}" and str(Reshape(2)) == "Reshape{2}"
    assert get_idx_list([v, 1, 2], [slice(T.scal.int64, None, T.scal.int64)], True) == ((slice(1, None, 2),), 2)
    assert get_idx_list([v, 1], [T.scal.int64]) == (1,)
    assert Subtensor.collapse([1, slice(2, None, -3), 4], lambda n: n > 1) == [2, 4]
    assert is_flat(v) and not is_flat(m) and is_flat(m, 2) and is_flat(m, outdim=2) and not is_flat(m, 1, 2)


@pytest.mark.parametrize("op", [CholeskyGrad(), EighGrad(), EigvalshGrad(), ExpmGrad()], ids=str)
def test_gradients_of_factorisations_take_their_dimensions(op):
    right = [(v, m)[n - 1] for n in op.ndims]
    out = op(*right)
    assert all(o.ndim == 2 for o in (out if isinstance(out, list) else [out]))
    for i, x in enumerate(right):
        with pytest.raises(TypeError, match=f"input {i} must have"):
            op(*right[:i], t if x is m else m, *right[i + 1 :])
        with pytest.raises(TypeError, match=f"input {i} must have"):
            op(*right[:i], v if x is m else s, *right[i + 1 :])
    for wrong in (right[:-1], [*right, m]):
        with pytest.raises(TypeError, match="inputs, got"):
            op(*wrong)
    assert CholeskyGrad() == CholeskyGrad(True) != CholeskyGrad(False) and CholeskyGrad().destructive is False
    assert EigvalshGrad() == EigvalshGrad(True) != EigvalshGrad(False) and EighGrad() == EighGrad("L") != EighGrad("U")


def test_directions_and_gradients_keep_patterns():
    for out in (T.addbroadcast(m, 0), T.unbroadcast(row, 0), T.diagonal(T.patternbroadcast(m, (True, False)))):
        x = row if "row" in {str(x) for x in theano.graph.traverse.ancestors([out])} else m
        assert theano.grad(out.sum(), x).type == x.type


@pytest.mark.parametrize("lengths", [(3, 1), (1, 3), (1, 1), (2, 2), (3, 4)])
def test_a_length_that_is_said_leaves_the_type(lengths):
    for x in (T.dmatrix(), T.drow(), T.fcol()):
        assert T.specify_shape(x, lengths).type == x.type


@pytest.mark.parametrize("lengths", [(-2, -1), (-1, -2), (-3, 4), (-2, 6)])
def test_only_one_negative_length_is_taken_in_python_as_well(lengths):
    m, shape = T.dmatrix("m"), T.lvector("shape")
    with pytest.raises(ShapeError, match="Cannot reshape an array of 12 elements"):
        run(m.reshape(shape, ndim=2), {m: np.zeros((3, 4)), shape: np.array(lengths)})


def test_what_is_repeated_under_new_dimensions_is_taken_as_it_is():
    """Repeated rows beside stretched ones, and a constant made of two repeated ones: no allocation is left."""
    rows = T.alloc(T.constant(np.arange(3.0)), 20, 3)
    lower = T.ge(rows.dimshuffle(0, 1, "x"), rows.dimshuffle(0, "x", 1))
    a, b = T.dmatrix("a"), T.dmatrix("b")
    x, y = (T.specify_shape(v, (20, 3)) for v in (a, b))
    products = (x.dimshuffle(0, 1, "x") * y.dimshuffle(0, "x", 1) * lower).sum(0)
    f = theano.function([a, b], [products, x.dimshuffle(0, 1, "x") * rows.dimshuffle(0, "x", 1)])
    assert "Alloc" not in {type(node.op).__name__ for node in f.maker.fgraph.toposort()}
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(2, 20, 3))
    first, second = f(u, v)
    np.testing.assert_allclose(first, np.tril(u.T @ v), rtol=1e-12)
    np.testing.assert_array_equal(second, u[:, :, None] * np.arange(3.0))
    for bad in (u[:4], u[:, :2]):
        with pytest.raises((ValueError, AssertionError)):
            f(bad, bad)
