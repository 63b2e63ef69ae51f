"""What the graph knows of vectors and numbers without running, and what derivatives say of whole numbers and of what does not move."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import run

import theano
import theano.tensor as T
from theano import scalar as scal
from theano.gradient import DisconnectedType
from theano.tensor.convert import NotScalarConstantError, length_if_known, static_int
from theano.tensor.elemwise.op import Elemwise, frozendict
from theano.tensor.index.basic import IncSubtensor, Subtensor
from theano.tensor.reduce.careduce import CAReduce, Max, Prod, ProdWithoutZeros, Sum
from theano.tensor.rules.signs import not_negative
from theano.tensor.shape.basic import Rebroadcast, Shape_i, SpecifyShape, shape_op
from theano.tensor.shape.diagonals import AllocDiag, ExtractDiag, SetDiag
from theano.tensor.shape.reshape import Reshape
from theano.tensor.shape.scalars import scalar_from_tensor, tensor_from_scalar

x, r, s, m, row = T.lvector("x"), T.TensorType("int64", (True,))("r"), T.lscalar("s"), T.dmatrix("m"), T.drow("row")
c, one = T.constant([2, 3, 4], dtype="int64"), T.constant([5], dtype="int64")
NOTHING = [None] * 3
first, second = scal.int64("a"), scal.int64("b")
both = Elemwise(scal.Composite([first, second], [first + second, first * second]))

#: A vector; its length and elements, None where these are known only at run time.
VECTORS = {
    "constants": (c + c, 3, [4, 6, 8]), "stretched": (c + one, 3, [7, 8, 9]), "stretched first": (one - c, 3, [3, 2, 1]),
    "a number of unknown worth": (c + r, 3, NOTHING), "the same first": (r + c, 3, NOTHING), "one and one": (one + one, 1, [10]),
    "unknown elements": (x + c, 3, NOTHING), "unknown elements second": (c + x, 3, NOTHING), "unknown": (x + x, None, NOTHING),
    "filled": (T.fill(c, 7), 3, [7, 7, 7]), "filled as long as": (T.second(x, c), 3, [2, 3, 4]), "filled with unknown": (T.second(c, x), 3, NOTHING),
    "made of scalars": (T.stack([s, T.constant(3), s]), 3, [None, 3, None]), "a part of that": (T.stack([s, T.constant(3), s])[1:], 2, NOTHING[:2]),
    "parts": ((x + c)[1:], 2, NOTHING), "every other": ((x + c)[::2], 2, NOTHING), "from an unknown place": ((x + c)[s:], None, NOTHING),
    "none": ((x + c)[:0], 0, []), "a part of unknown": (x[1:3], None, NOTHING), "a known part": (c[T.constant(1):], 2, NOTHING[:2]),
    "two results": (both(c, c)[0], 3, NOTHING), "shape": (m.shape, 2, [None, None]), "shape of a row": (row.shape, 2, [1, None]),
    "shape of a constant": (T.shape(T.constant(np.zeros((2, 3)))), 2, [2, 3]), "lengths of a row, turned": (row.shape[::-1], 2, NOTHING[:2]),
    "no dimension": (T.shape(s), 0, []), "one dimension": (T.shape(x), 1, [None]),
}  # fmt: skip


@pytest.mark.parametrize("name", VECTORS)
def test_lengths_and_elements_of_vectors(name):
    v, length, elements = VECTORS[name]
    assert length_if_known(v) == length
    for k, wanted in enumerate(elements):
        for place in (k, k - len(elements)) if length is not None else (k,):
            found = static_int(v[place])
            assert found == wanted, place


@pytest.mark.parametrize(
    ("v", "wanted"),
    [
        (T.constant(2) * 3, 6), (s * 3, None), (T.second(s, 7), 7), (T.second(T.constant(7), s), None), (both(T.constant(2), 5)[1], 10),
        (CAReduce(scal.add)(one), 5), (one.sum(), 5), (r.sum(), None), (T.constant([5, 5]).sum(), None), (T.constant([[5]]).max(axis=0)[0], 5),
        (T.constant([[7, 7], [7, 7]])[0, 1], 7), (c[s], None), (c[T.constant(-1)], 4), (T.constant([[7, 7], [7, 7]])[0], 7),
        (T.constant([[1, 2], [1, 3]])[0], None), (T.constant([[1, 2], [1, 3]])[:, 0], 1), (T.constant([[1, 2]])[0, 1], 2), (T.constant([7, 7])[s], None),
        (T.constant([[7, 7]])[:, :0], None), (Shape_i(1)(T.constant(np.zeros((2, 3)))), 3), (Shape_i(0)(row), 1), (Shape_i(1)(row), None),
        (SpecifyShape()(T.constant([7, 7]), [2])[1], 7), (T.unbroadcast(one, 0)[0], 5), (Reshape(2)(one, [1, 1]), 5),
        (tensor_from_scalar(scal.constant(4)), 4), (T.as_tensor_variable(scalar_from_tensor(T.constant(4))), 4),
    ],
)  # fmt: skip
def test_numbers(v, wanted):
    assert static_int(v) == wanted


def test_what_is_never_negative():
    n, small = Shape_i(0)(m), T.iscalar("small")
    yes = [
        n,
        T.constant(0),
        T.constant(1),
        n + 1,
        n * n,
        n + n * 2,
        T.maximum(n, 0),
        Elemwise(scal.Cast(scal.int64))(n),
        T.constant(2.5),
    ]
    no = [s, T.constant(-1), n - 1, n + s, s * n, T.maximum(n, -1), T.cast(s, "int64") + n, T.cast(n, "int32"), small + 1,
          T.cast(small, "int64"), T.cast(n, "int32") + T.cast(n, "int32"), -n]  # fmt: skip
    assert [not_negative(v) for v in yes] == [True] * len(yes)
    assert [not_negative(v) for v in no] == [False] * len(no)


def test_what_of_real_numbers_is_never_negative():
    """Each is computed as well, of numbers of both signs, zeros of both, inf and nan."""
    z, e = T.dcol("z"), T.exp(m)
    clipped = T.clip(m, 0, np.inf)
    yes = [
        e, m**2, m**-2.0, abs(m), T.sqrt(m), T.cosh(m), T.erfc(m), T.nnet.sigmoid(m), T.nnet.softplus(m), T.sqr(m - z),
        clipped, 1e-12 + clipped, T.maximum(m, 0), T.maximum(0, z * m), T.minimum(e, m**2), T.mul(m, z, m, z), T.mul(e, m, m),
        T.cast(Shape_i(0)(m), "float64"), clipped**1.5, T.log1p(clipped), T.floor(clipped), T.tanh(e), (e + 1).T[1:],
        T.switch(m > z, e, 2.0), T.set_subtensor(e[0], 1.0), e.sum(axis=0), clipped.max(axis=1), e.prod(), T.constant([[0.5, 0.0]]),
        T.fill(m, 0.5) * e, T.second(m, abs(z)), T.stack([e, m * m]),
    ]
    no = [
        m, m * z, e - 1, -e, m**3, T.log(e), T.minimum(e, m), T.maximum(m, z), T.clip(m, -1, 1), T.clip(m, 0, z), T.clip(m, abs(z), 5),
        m * m * m, T.expm1(m), T.constant([[0.5, -0.5]]), T.switch(m > z, e, m), T.sin(e), 1 / clipped, m.sum(), T.stack([e, m]), z**0.5 * m,
        T.set_subtensor(e[0], m[0]), clipped**z, T.exp(T.zmatrix()), T.arange(3.0),
    ]  # fmt: skip
    assert [not_negative(v) for v in yes] == [True] * len(yes)
    assert [not_negative(v) for v in no] == [False] * len(no)
    given = np.array([[1.5, -2.0, np.nan], [np.inf, -np.inf, 0.0], [-0.0, 3.0, -0.3]])
    for v, value in zip(yes, run(yes, {m: given, z: np.array([[-1.0], [2.0], [-0.0]])}), strict=True):
        assert not np.any(value < 0), v


def test_a_choice_by_a_known_sign_is_none():
    known, limit = 1e-12 + T.clip(m, 0, np.inf), T.constant(0.0)
    kept, other = T.switch(m >= 0, m, np.nan), T.switch(known >= 0, known, 0.0)
    outputs = [T.switch(known >= 0, known, np.nan), T.switch(limit <= known, known, np.nan), known < 0, T.gt(-1, known), kept, other]
    f = theano.function([m], outputs)
    ops = [op for n in f.maker.fgraph.apply_nodes for op in str(n.op).split("Composite")]
    assert str(ops).count("switch") == 2
    given = np.array([[1.0, -2.0, np.nan], [np.inf, -np.inf, -0.0]])
    for got, wanted in zip(f(given), run(outputs, {m: given}), strict=True):
        np.testing.assert_array_equal(got, wanted)


# -- derivatives -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int64", "uint8"])
@pytest.mark.parametrize(
    "op", [Sum(0), Prod(0), ProdWithoutZeros(0), CAReduce(scal.add, 0), CAReduce(scal.maximum, 0), Max(0)], ids=str
)
def test_reductions_of_whole_numbers_are_flat(op, dtype):
    k = T.TensorType(dtype, (False, False))("k")
    out = op(k)
    (zero,) = out.owner.op.L_op([k], [out], [T.dvector("g")])
    assert zero.type == m.type
    np.testing.assert_array_equal(run(zero, {k: np.ones((2, 3), dtype)}), np.zeros((2, 3)))
    if not isinstance(op, (Prod, ProdWithoutZeros)):
        assert out.owner.op.R_op([k], [m]) == [None]


def test_the_type_of_a_sum_goes_and_comes():
    f = T.fmatrix("f")
    assert theano.grad(f.sum(dtype="float64"), f).dtype == "float32"
    assert Sum(0).nfunc_spec == ("sum", 1, 1) and Prod(0).nfunc_spec == ("prod", 1, 1)
    assert Prod(0).no_zeros_in_input is False and Prod(0) != Prod(0, no_zeros_in_input=True)
    for wrong in (scal.exp, scal.clip, scal.Composite([first, second], [first + second, first * second])):
        with pytest.raises(NotImplementedError, match="two inputs and one output"):
            CAReduce(wrong)


@pytest.mark.parametrize("values", [[0, 1, 2], [-1, 1], [0, 0], [-1, 0], [1, 1], []])
def test_what_is_not_zero_is_true(values):
    assert run([T.all(x), T.any(x)], {x: np.array(values, "int64")}) == [all(values), any(values)]


def test_whole_numbers_in_parts_are_flat():
    i, y, g = T.lscalar("i"), T.lvector("y"), T.dvector("g")
    read, write = x[1:], T.inc_subtensor(x[1:], y)
    (zero, *rest) = read.owner.op.grad(read.owner.inputs, [T.dvector("g")])
    assert zero.dtype == "float64" and all(isinstance(v.type, DisconnectedType) for v in rest) and len(rest) == 1
    gx, gy, *rest = write.owner.op.grad(write.owner.inputs, [g])
    given = {x: np.arange(3), y: np.arange(2), g: np.ones(3)}
    np.testing.assert_array_equal(run(gx, given), np.zeros(3))
    np.testing.assert_array_equal(run(gy, given), np.zeros(2))
    assert gx.dtype == gy.dtype == "float64" and len(rest) == 1 and isinstance(rest[0].type, DisconnectedType)
    v = T.dvector("v")
    into = T.set_subtensor(v[i:], y)
    gx, gy, _ = into.owner.op.grad(into.owner.inputs, [g])
    given = {v: np.ones(3), i: 1, y: np.arange(2), g: np.arange(1.0, 4)}
    np.testing.assert_array_equal(run(gx, given), [1, 0, 0])
    np.testing.assert_array_equal(run(gy, given), [0, 0])
    assert gy.dtype == "float64"
    assert into.owner.op.connection_pattern(into.owner) == [[True], [True], [False]]
    assert read.owner.op.connection_pattern(read.owner) == [[True], [False]]
    for changed, wanted in (
        (IncSubtensor([slice(None)]), (False, False)),
        (IncSubtensor([0], True, True), (True, True)),
    ):
        assert (changed.inplace, changed.set_instead_of_inc) == wanted
    assert list(IncSubtensor([slice(0, 1)]).checked_inputs(into.owner)) == [2]


V, S = T.dvector("V"), T.dscalar("S")
NO_DIRECTION = [
    (Subtensor([0]), [m, T.constant(0, dtype="int64")]), (IncSubtensor([0]), [m, V, T.constant(0, dtype="int64")]), (Rebroadcast((0, True)), [m]), (Reshape(1), [m, T.constant([-1])]),
    (SpecifyShape(), [m, T.constant([2, 2])]), (ExtractDiag(), [m]), (AllocDiag(), [V]), (SetDiag(), [m, V]), (tensor_from_scalar, [scal.float64("s")]),
    (scalar_from_tensor, [S]), (Sum(), [m]), (Prod(), [m]), (CAReduce(scal.maximum), [m]), (Shape_i(0), [m]), (shape_op, [m]),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs"), NO_DIRECTION, ids=lambda v: str(v) if not isinstance(v, list) else "")
def test_what_does_not_move_has_no_direction(op, inputs):
    node = op(*inputs).owner
    assert node.op.R_op(node.inputs, [None] * len(node.inputs)) == [None]


def test_frozen_dictionaries():
    d = frozendict({0: 1})
    assert dict(d) == {0: 1} and len(d) == 1 and d.copy(a=2) == {0: 1, "a": 2} and hash(d) == hash(frozendict({0: 1}))
    assert repr(d) == "{0: 1}"


def test_conversions_between_scalars_and_tensors_undo_each_other():
    a = scal.float64("a")
    assert T.as_tensor_variable(scalar_from_tensor(S)) is S and scal.as_scalar(tensor_from_scalar(a)) is a
    for v in (a, a + a):
        assert T.as_tensor_variable(v).owner.op == tensor_from_scalar
    for v in (S, S + S):
        assert scal.as_scalar(v).owner.op == scalar_from_tensor
    assert T.as_tensor_variable(scal.constant(2.5)).eval() == 2.5 and scal.as_scalar(T.constant(2.5)).data == 2.5
    with pytest.raises(TypeError):
        scal.as_scalar(V)


def test_a_real_element_that_is_not_known_is_not_taken_for_one():
    """(NumPy makes nan of None.)"""
    v = T.stack([T.dscalar(), T.constant(1.5)]) * 2.0
    assert T.get_scalar_constant_value(v[1]) == 3.0
    with pytest.raises(NotScalarConstantError):
        T.get_scalar_constant_value(v[0])


def test_a_place_outside_is_named_with_its_axis_in_python():
    part = m[:, T.constant(5)]
    with pytest.raises(IndexError, match=r"Subtensor.*: index 5 is out of bounds for axis 1, of length 4:\n +m :"):
        run(part, {m: np.zeros((3, 4))})
