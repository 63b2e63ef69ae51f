"""check_op finds each planted fault and names it, and finds none in ops that are right."""

from __future__ import annotations

import faulty
import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.testing import OpFault, check_op

X = np.arange(1.0, 7.0).reshape(2, 3)

#: The op, its inputs, the check that must find the fault, and what it must say.
FAULTS = [
    (faulty.WrongGradient(), [X], "gradient", "the gradient of argument 0 (shape (2, 3)) is"),
    (faulty.WrongSecondGradient(), [X], "gradient, second order", "the gradient of the gradient with respect to input 0"),
    (faulty.GradientOfWrongShape(), [X], "gradient", "dimensions"),
    (faulty.GradientMissing(), [X], "gradient", "grad"),
    (faulty.ConnectedInSecret(), [X], "gradient", "the gradient of argument 0 (shape (2, 3)) is 0.0"),
    (faulty.WrongRop(), [X], "R-operator", "R_op along input 0 differs from finite differences"),
    (faulty.WrongDestroyMap(), [X], "values", "wrote into its input 0, which destroy_map {} does not name"),
    (faulty.DestroysTheOther(), [X, X], "values", "wrote into its input 1"),
    (faulty.UndeclaredView(), [X], "values", "shares memory with input 0"),
    (faulty.OutputsShareMemory(), [X], "values", "outputs 0 and 1 of perform of OutputsShareMemory share memory"),
    (faulty.WrongShape(), [X], "infer_shape", "infer_shape says (3, 2) for output 0, whose shape is (2, 3)"),
    (faulty.ShapeTooShort(), [X], "infer_shape", "returns 1 lengths for output 0, which has 2 dimensions"),
    (faulty.WrongDtype(), [X], "values", "float32, shape (2, 3), where make_node promises TensorType(float64, matrix)"),
    (faulty.WrongDimensions(), [X], "values", "Wrong number of dimensions"),
    (faulty.WrongBroadcastPattern(), [X], "values", "length 1 along dimension 0"),
    (faulty.NoValue(), [X], "values", "computed no value for output 0"),
    (faulty.NoArray(), [X], "values", "wrong kind of value for output 0: list"),
    (faulty.Stateful(), [X], "values", "run a second time on the same inputs"),
    (faulty.ResizedStorage(), [X], "values", "the storage of output 0 has 2 elements afterwards, not 1"),
    (faulty.ReplacedStorage(), [X], "values", "the list of output storages is not the one that was given"),
    (faulty.BelievesOldMemory(), [X], "values", "with output memory previous"),
    (faulty.BelievesOldShape(), [X], "values", "with output memory of wrong size"),
    (faulty.BelievesContiguity(), [X], "layouts of inputs", "input 0 in Fortran order"),
    (faulty.UnequalEqual(), [X], "equality, hash, text, pickle", "not equal to a copy of it"),
    (faulty.ForgottenProperty(), [X], "parameters", "the attribute factor changes the result, and is not among __props__"),
    (faulty.UnhashableProperty(), [X], "equality, hash, text, pickle", "what __props__ ('weights',) name must be hashable"),
    (faulty.NoPickle(), [X], "equality, hash, text, pickle", "cannot be copied or pickled"),
    (faulty.AcceptsAnything(), [X], "wrong input", "make_node takes an object as input 0"),
    (faulty.ChangesItself(), [X], "parameters", "the op was changed by running it: count from 0 to"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "check", "says"), FAULTS, ids=[type(op).__name__ for op, *_ in FAULTS])
def test_fault(op, inputs, check, says):
    report = check_op(op, inputs, raises=False)
    found = {f.check: f.said for f in report.faults}
    assert check in found, str(report)
    assert says in found[check], str(report)
    # One fault is not taken for many: what follows from it is left out.
    assert len(report.faults) <= 3, str(report)


def test_sound_op():
    report = check_op(faulty.Sound(), [X], reference=lambda x: 2 * x)
    assert not report.faults and str(report).startswith("check_op(Sound): no fault")
    done = {f.check for f in report.findings if f.outcome == "ok"}
    assert {"make_node", "values", "infer_shape", "gradient", "gradient, second order", "R-operator", "dtype float32"} <= done
    assert check_op(faulty.Sound(), [X[0]]).faults == []
    assert check_op(faulty.Sound(), [np.float64(2.0)]).faults == []


def test_the_report_is_raised():
    with pytest.raises(OpFault) as caught:
        check_op(faulty.WrongGradient(), [X])
    assert isinstance(caught.value, AssertionError) and caught.value.report.faults
    assert str(caught.value).splitlines()[:2] == ["check_op(WrongGradient): 1 fault", "  FAULT    gradient"]


def test_reference():
    with pytest.raises(OpFault, match="output 0 is not what is expected"):
        check_op(faulty.Sound(), [X], reference=lambda x: 3 * x)


def test_inputs_that_must_be_refused():
    class Positive(faulty.Sound):
        def perform(self, node, inputs, output_storage):
            if (inputs[0] < 0).any():
                raise ValueError("negative")
            output_storage[0][0] = inputs[0] * 2

    check_op(Positive(), [X], error_inputs=[[-X]])
    with pytest.raises(OpFault, match="should be refused"):
        check_op(faulty.Sound(), [X], error_inputs=[[-X]])


def test_inputs_are_made_up_for_itypes():
    class Typed(theano.Op):
        __props__ = ()
        itypes = [T.dmatrix, T.lvector]
        otypes = [T.dmatrix]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * inputs[1].sum()

    assert not check_op(Typed()).faults
    with pytest.raises(TypeError, match="needs to know what the op is applied to"):
        check_op(faulty.Sound())


def test_op_that_does_not_take_its_inputs():
    report = check_op(faulty.Sound(), [X, X], raises=False)
    assert "does not take the inputs given" in report.faults[0].said


def test_several_outputs_and_other_inputs():
    class Parts(theano.Op):
        """Sum and difference, and how many there are."""

        __props__ = ()

        def make_node(self, x, y):
            x, y = T.as_tensor_variable(x), T.as_tensor_variable(y)
            if x.type != y.type:
                raise TypeError("two of a kind")
            return theano.Apply(self, [x, y], [x.type(), x.type(), T.lscalar()])

        def perform(self, node, inputs, output_storage):
            x, y = inputs
            output_storage[0][0], output_storage[1][0] = x + y, x - y
            output_storage[2][0] = np.asarray(x.size)

        def infer_shape(self, node, shapes):
            return [shapes[0], shapes[0], ()]

        def connection_pattern(self, node):
            return [[True, True, False]] * 2

        def grad(self, inputs, gs):
            a, b = [0 if isinstance(g.type, theano.gradient.DisconnectedType) else g for g in gs[:2]]
            return [inputs[0].zeros_like() + a + b, inputs[0].zeros_like() + a - b]

        def R_op(self, inputs, points):
            x, y = [0 if p is None else p for p in points]
            return [x + y, x - y, None]

    report = check_op(Parts(), [X, X[::-1]], dtypes=())
    assert not report.faults

    class Wrong(Parts):
        __props__ = ()

        def R_op(self, inputs, points):
            return [points[0] + points[1], points[0] + points[1], None]

    report = check_op(Wrong(), [X, X[::-1]], raises=False, dtypes=())
    assert [f.check for f in report.faults] == ["R-operator"]


def test_an_op_that_works_in_place():
    class InPlace(faulty.Sound):
        destroy_map = {0: [0]}

        def perform(self, node, inputs, output_storage):
            inputs[0][...] *= 2
            output_storage[0][0] = inputs[0]

    assert not check_op(InPlace(), [X]).faults


def test_a_view():
    class Rows(theano.Op):
        __props__ = ()
        view_map = {0: [0]}

        def make_node(self, x):
            x = T.as_tensor_variable(x)
            return theano.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0][::-1]

        def infer_shape(self, node, shapes):
            return shapes

        def grad(self, inputs, output_grads):
            return [output_grads[0][::-1]]

    assert not check_op(Rows(), [X]).faults


@pytest.mark.parametrize(("op", "inputs"), [
    (T.exp, [X]),
    (T.add, [X, X]),
    (T.dot(T.dmatrix(), T.dmatrix()).owner.op, [X, X.T]),
    (T.nnet.softmax(T.dmatrix()).owner.op, [X]),
    (T.dmatrix().dimshuffle(1, "x", 0).owner.op, [X]),
    (T.dmatrix().sum(axis=1).owner.op, [X]),
    (T.nlinalg.matrix_inverse, [np.eye(3) + 0.1]),
], ids=lambda v: str(v) if isinstance(v, theano.Op) else "")  # fmt: skip
def test_our_own_ops(op, inputs):
    report = check_op(op, inputs, raises=False, dtypes=("float32",))
    assert not report.faults, str(report)
