"""DebugMode: each of its exceptions, with the op, the line and the values in the text, and none without a reason."""

from __future__ import annotations

import logging
import pickle
import random

import faulty
import numpy as np
import pytest
from every_op import tables

import theano
import theano.tensor as T
from portion import portion
from theano.compile import DebugMode
from theano.compile.debugmode import (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugModeError,
    InvalidValueError,
    StochasticOrder,
)
from theano.graph.kernel import Kernel
from theano.rewriting import phases
from theano.rewriting.rule import FunctionRule
from theano.tensor.closeness import values_eq_approx_up_to_phases

X = np.arange(1.0, 7.0).reshape(2, 3)
x = T.dmatrix("x")

#: The fault, the exception, and what the text must say.
FAULTS = [
    (faulty.WrongDestroyMap(), BadDestroyMap, "wrote into its input 0, which destroy_map {} does not name"),
    (faulty.UndeclaredView(), BadViewMap, "shares memory with input 0, which neither view_map {}"),
    (faulty.OutputsShareMemory(), BadViewMap, "outputs 0 and 1 of perform of OutputsShareMemory share memory"),
    (faulty.WrongDtype(), InvalidValueError, "float32, shape (2, 3), where make_node promises TensorType(float64, matrix)"),
    (faulty.WrongDimensions(), InvalidValueError, "Wrong number of dimensions"),
    (faulty.WrongBroadcastPattern(), InvalidValueError, "length 1 along dimension 0"),
    (faulty.NoValue(), InvalidValueError, "computed no value for output 0"),
    (faulty.NoArray(), InvalidValueError, "list [["),
    (faulty.Stateful(), BadThunkOutput, "is not the same from perform and from perform, run a second time"),
    (faulty.ResizedStorage(), BadThunkOutput, "the storage of output 0 has 2 elements afterwards, not 1"),
    (faulty.ReplacedStorage(), BadThunkOutput, "the list of output storages is not the one that was given"),
]


def run(outputs, *values, inputs=(x,), **kwargs):
    mode = kwargs.pop("mode", None) or DebugMode(stability_patience=1, **kwargs)
    return theano.function(list(inputs), outputs, mode=mode)(*values)


@pytest.mark.parametrize(("op", "error", "says"), FAULTS, ids=[type(op).__name__ for op, _, _ in FAULTS])
def test_fault_of_an_op(op, error, says):
    out = op(x)  # the line that the message must name
    with pytest.raises(error) as caught:
        run(out, X)
    text = str(caught.value)
    assert says in text and type(op).__name__ in text
    assert "test_debugmode.py" in text and "out = op(x)" in text
    assert isinstance(caught.value, DebugModeError)


def test_sound_op_passes():
    np.testing.assert_array_equal(run(faulty.Sound()(x), X, check_preallocated_output="ALL"), 2 * X)


def test_attributes_of_the_exceptions():
    with pytest.raises(BadDestroyMap) as caught:
        run(faulty.WrongDestroyMap()(x), X)
    assert caught.value.idx == 0 and caught.value.node.op == faulty.WrongDestroyMap()
    np.testing.assert_array_equal(caught.value.new_val, 2 * X)
    with pytest.raises(BadThunkOutput) as caught:
        run(faulty.Stateful()(x), X)
    assert caught.value.offending_op() is faulty.Stateful and not np.array_equal(caught.value.val1, caught.value.val2)
    with pytest.raises(BadViewMap) as caught:
        run(faulty.UndeclaredView()(x), X)
    assert caught.value.in_alias_idx == [0]


def test_the_other_input_is_destroyed():
    y = T.dmatrix("y")
    with pytest.raises(BadDestroyMap, match="wrote into its input 1"):
        f = theano.function([theano.In(x, mutable=True), y], faulty.DestroysTheOther()(x, y),
                            accept_inplace=True, mode=DebugMode(stability_patience=1))  # fmt: skip
        f(X.copy(), X.copy())


# -- memory for outputs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["c_contiguous", "f_contiguous", "strided", "previous", "ALL"])
def test_op_that_believes_old_memory(form):
    with pytest.raises(BadThunkOutput, match="with output memory"):
        run(faulty.BelievesOldMemory()(x), X, check_preallocated_output=form)
    run(faulty.BelievesOldMemory()(x), X)


def test_op_that_believes_old_shape():
    with pytest.raises(BadThunkOutput, match="with output memory of wrong size"):
        run(faulty.BelievesOldShape()(x), X, check_preallocated_output=["wrong_size"])
    run(faulty.BelievesOldShape()(x), X, check_preallocated_output=["c_contiguous", "f_contiguous", "strided"])


def test_initial_memory_is_that_of_the_call_before():
    f = theano.function([x], faulty.BelievesOldMemory()(x), mode=DebugMode(check_preallocated_output="initial"))
    f(X)
    with pytest.raises(BadThunkOutput, match="initial"):
        f(X)


def test_every_form_is_offered():
    seen = []

    class Watch(faulty.Sound):
        def perform(self, node, inputs, output_storage):
            memory = output_storage[0][0]
            seen.append(None if memory is None else (memory.shape, memory.strides, memory.dtype.name))
            output_storage[0][0] = inputs[0] * 2

    run(Watch()(x), X, check_preallocated_output="ALL")
    shapes = {s[0] for s in seen if s}
    strides = {s[1] for s in seen if s and s[0] == (2, 3)}
    assert {(2, 3), (3, 3), (1, 3), (2, 4), (2, 2), (3, 4), (1, 2)} == shapes
    assert (24, 8) in strides and (8, 16) in strides
    assert {(24, -8), (-24, 8), (48, 8), (48, 16), (96, -16)} <= strides
    assert len([s for s in strides if s not in ((24, 8), (8, 16))]) == 15  # each of four steps on each of two axes
    assert {s[2] for s in seen if s} == {"float64"}


def test_kernel_that_leaves_something_out():
    class LeavesOneOut(faulty.Sound):
        def c_kernel(self, node):
            return Kernel("leaves_one_out", """
int KERNEL(th_ctx *ctx)
{
    const double *x = (const double *)ctx->in[0]->data;
    int64_t i, n = ctx->in[0]->shape[0];
    if (ctx->rt->ensure(ctx, ctx->out[0], ctx->in[0]->shape))
        return -1;
    for (i = 0; i < n; i++)
        if (x[i] != 0)
            ((double *)ctx->out[0]->data)[i] = 2 * x[i];
    return 0;
}
""")

    v = T.dvector("v")
    value = np.array([1.0, 0.0, 2.0])
    with pytest.raises(BadThunkOutput):
        f = theano.function([v], LeavesOneOut()(v), mode=DebugMode(check_preallocated_output="previous"))
        f(value)
    with pytest.raises(BadThunkOutput, match="into memory with rubbish in it"):
        mode = DebugMode(check_preallocated_output="previous", check_py_code=False)
        theano.function([v], LeavesOneOut()(v), mode=mode)(value)


def test_a_view_that_is_declared_and_is_none():
    class Copies(faulty.Sound):
        view_map = {0: [0]}

    np.testing.assert_array_equal(run(Copies()(x), X, check_preallocated_output="ALL"), 2 * X)


def test_on_fewer_dimensions():
    with theano.config.change_flags(DebugMode__check_preallocated_output_ndim=1):
        mode = DebugMode(check_preallocated_output="strided")
    assert mode.check_preallocated_output_ndim == 1
    seen = []

    class Watch(faulty.Sound):
        def perform(self, node, inputs, output_storage):
            seen.append(output_storage[0][0])
            output_storage[0][0] = inputs[0] * 2

    run(Watch()(x), X, mode=mode)
    assert {m.strides for m in seen if m is not None} == {(48, 16), (24, -8), (48, -16)}


# -- values ----------------------------------------------------------------------------------------------------


def test_values_that_are_not_finite():
    with pytest.raises(InvalidValueError, match="1 NaN and 1 infinite"):
        run(T.log(x), np.array([[0.0, -1.0]]))
    with pytest.raises(InvalidValueError, match="the input x of the function"):
        run(x + 1, np.array([[np.nan]]))
    assert np.isinf(run(T.log(x), np.array([[0.0, 1.0]]), check_isfinite=False)[0, 0])


def test_strides_of_the_two_forms(caplog):
    class Transposed(theano.Op):
        """The sum of two rows: Fortran order in Python, C order compiled."""

        __props__ = ()

        def make_node(self, x):
            return theano.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = np.asfortranarray(inputs[0] + 1)

        def c_kernel(self, node):
            return T.add.c_kernel(T.add(node.inputs[0], np.ones((1, 1))).owner)

    # One kernel wants two inputs, so that the op takes a constant, too.
    class Plus(Transposed):
        __props__ = ()

        def make_node(self, x):
            one = T.constant(np.ones((1, 1)))
            return theano.Apply(self, [x, one], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = np.asfortranarray(inputs[0] + inputs[1])

        def c_kernel(self, node):
            return T.add(*node.inputs).owner.op.c_kernel(T.add(*node.inputs).owner)

    run(Plus()(x), X)
    with caplog.at_level(logging.WARNING, "theano"):
        run(Plus()(x), X, require_matching_strides=1)
    assert "lay output 0 out differently" in caplog.text
    with pytest.raises(BadThunkOutput, match="lay output 0 out differently"):
        run(Plus()(x), X, require_matching_strides=2)


def test_compiled_form_that_differs():
    class Wrong(theano.Op):
        """Python says sum, the kernel multiplies."""

        __props__ = ()

        def make_node(self, x, y):
            return theano.Apply(self, [x, y], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] + inputs[1]

        def c_kernel(self, node):
            node = T.mul(*node.inputs).owner
            return node.op.c_kernel(node)

    y = T.dmatrix("y")
    with pytest.raises(BadThunkOutput, match="from perform and from compiled") as caught:
        run(Wrong()(x, y), X, X, inputs=(x, y))
    assert "they differ in 5 of 6 elements" in str(caught.value)
    run(Wrong()(x, y), X, X, inputs=(x, y), check_c_code=False)
    run(Wrong()(x, y), X, X, inputs=(x, y), check_py_code=False)
    with pytest.raises(ValueError, match="both False"):
        DebugMode(check_c_code=False, check_py_code=False)


def test_op_that_does_not_work_in_place_after_all(caplog):
    class Claims(faulty.Sound):
        destroy_map = {0: [0]}

    with caplog.at_level(logging.WARNING, "theano"):
        f = theano.function([theano.In(x, mutable=True)], Claims()(x), accept_inplace=True, mode=DebugMode())
        f(X.copy())
    assert "made in the memory of input 0, and returned other memory" in caplog.text
    caplog.clear()
    with theano.config.change_flags(DebugMode__warn_input_not_reused=False):
        mode = DebugMode()
    theano.function([theano.In(x, mutable=True)], Claims()(x), accept_inplace=True, mode=mode)(X.copy())
    assert not caplog.text


# -- rewriting ---------------------------------------------------------------------------------------------------


class rule_for_a_while:
    """Enters a rule into a phase, and takes it out again."""

    def __init__(self, function, name, tracks, phase="specialize", keeps="exact"):
        self.rule, self.phase = FunctionRule(function, name, tracks=tracks, keeps=keeps), phases[phase]

    def __enter__(self):
        self.phase.add(self.rule, "fast_run")

    def __exit__(self, *_):
        self.phase.remove(self.rule.name)


def test_wrong_rule_is_named():
    expression = T.exp(x)
    with (rule_for_a_while(lambda node: [T.tanh(node.inputs[0])], "exp_is_tanh", [T.exp]), pytest.raises(BadOptimization) as caught):
        run(expression + 1, X)
    error = caught.value
    assert error.reason == "exp_is_tanh" and error.old_r.owner.op == T.exp and error.new_r.owner.op == T.tanh
    np.testing.assert_allclose(error.old_r_val, np.exp(X))
    np.testing.assert_allclose(error.new_r_val, np.tanh(X))
    assert "expression = T.exp(x)" in str(error) and "mode.excluding('exp_is_tanh')" in str(error)
    assert "exp" in error.old_graph and "tanh" in error.new_graph


def test_wrong_rule_is_named_among_right_ones():
    """What follows from the wrong value is not blamed on the rules that came after."""
    expression = T.log1p(T.exp(x) * 1 + 0) * 2 / 2 + T.exp(x).sum()
    with (rule_for_a_while(lambda node: [node.inputs[0] + 1], "exp_is_one_more", [T.exp], "canonicalize"), pytest.raises(BadOptimization) as caught):
        run(expression, X)
    assert caught.value.reason == "exp_is_one_more"


def test_rule_that_changes_a_shape():
    with (rule_for_a_while(lambda node: [T.tanh(node.inputs[0])[:1]], "shorter", [T.tanh]), pytest.raises(BadOptimization) as caught):
        run(T.tanh(x), X)
    assert caught.value.reason == "shorter"


def test_rule_that_may_be_approximate():
    with rule_for_a_while(lambda node: [T.exp(node.inputs[0]) * 1.25], "about", [T.tanh], keeps="approximate"):
        run(T.tanh(x), X)


def test_rule_that_depends_on_chance():
    dice = random.Random(1)
    with (rule_for_a_while(lambda node: [node.inputs[0] + 1] if dice.random() < 0.5 else None, "sometimes", [T.exp]), pytest.raises(StochasticOrder) as caught):
        theano.function([x], T.exp(x), mode=DebugMode())
    assert "node 0 of 1" in str(caught.value) and "depends on chance" in str(caught.value)


def test_stability_patience():
    calls = []
    with rule_for_a_while(lambda node: calls.append(1), "count", [T.exp]):
        theano.function([x], T.exp(x), mode=DebugMode(stability_patience=1))
        once = len(calls)
        theano.function([x], T.exp(x), mode=DebugMode(stability_patience=5))
    assert len(calls) == 6 * once


def test_finite_where_it_was_not():
    """A stable form that gives a number where the plain one overflows is right."""
    v = T.dvector("v")
    out = run(T.log(T.sum(T.exp(v))), np.array([1000.0, 1000.0]), inputs=(v,))
    np.testing.assert_allclose(out, 1000 + np.log(2))


# -- the mode as a mode --------------------------------------------------------------------------------------------


def test_by_name_and_by_flag():
    for name in ("DebugMode", "DEBUG_MODE"):
        with pytest.raises(BadViewMap):
            theano.function([x], faulty.UndeclaredView()(x), mode=name)(X)
    with theano.config.change_flags(mode="DebugMode"), pytest.raises(BadViewMap):
        theano.function([x], faulty.UndeclaredView()(x))(X)
    with theano.config.change_flags(DebugMode__patience=3, DebugMode__check_c=False, DebugMode__check_finite=False,
                                    DebugMode__check_strides=2, DebugMode__check_preallocated_output="initial:strided"):  # fmt: skip
        mode = theano.compile.get_mode("DebugMode")
    assert (mode.stability_patience, mode.check_c_code, mode.check_py_code, mode.check_isfinite) == (3, False, True, False)
    assert mode.require_matching_strides == 2 and mode.check_preallocated_output == ("initial", "strided")


def test_variants_keep_their_parameters():
    mode = DebugMode(stability_patience=2, check_isfinite=False).excluding("inplace").including("unsafe")
    assert (mode.stability_patience, mode.check_isfinite) == (2, False)
    assert "inplace" in mode.optimizer.exclude
    with pytest.raises(ValueError, match="wrong_size and ALL, not 'round'"):
        DebugMode(check_preallocated_output=["round"])


def test_updates_givens_copies_and_pickles():
    s = theano.shared(np.ones((2, 3)), "s")
    f = theano.function([x], s.sum(), updates=[(s, s * 2 + x)], mode=DebugMode(stability_patience=2))
    assert f(X) == 6
    np.testing.assert_array_equal(s.get_value(), 2 + X)
    t = theano.shared(np.zeros((2, 3)))
    g = f.copy(swap={s: t})
    assert g(X) == 0
    np.testing.assert_array_equal(t.get_value(), X)
    again = pickle.loads(pickle.dumps(theano.function([x], T.exp(x), mode=DebugMode())))
    np.testing.assert_allclose(again(X), np.exp(X))


def test_failing_call_names_the_line():
    y = T.dmatrix("y")
    with pytest.raises(ValueError, match=r"run\(x \+ y, X"):
        run(x + y, X, np.ones((3, 2)), inputs=(x, y))


def test_layouts_of_inputs():
    for value in (X.T.copy().T, X[::-1, ::-2], np.broadcast_to(1.5, (2, 3)), np.ones((0, 3))):
        np.testing.assert_allclose(run(T.exp(x) * x.T.sum() + x[:, ::-1], value),
                                   np.exp(value) * value.sum() + value[:, ::-1])  # fmt: skip


# -- no false alarm ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", portion(tables(), always=0), ids=lambda c: c.name)
def test_no_false_alarm(case):
    variables, values = case.variables(), case.values(np.random.default_rng(3))
    outputs = [case.build(*variables)]
    if case.smooth:
        wrt = [v for v in variables if v.dtype == "float64"]
        outputs += theano.grad((outputs[0] ** 2).sum(), wrt, disconnected_inputs="ignore")
    mode = DebugMode(stability_patience=2, check_preallocated_output="ALL", check_isfinite=False)
    found = theano.function(variables, outputs, on_unused_input="ignore", mode=mode)(*values)
    if not hasattr(outputs[0].tag, "values_eq_approx"):  # the sign of an eigenvector is anybody's
        np.testing.assert_allclose(found[0], case.reference(*values), rtol=1e-8, atol=1e-10)


def test_outputs_that_lie_between_each_other():
    """Two columns of one array are in one stretch of memory, and share none."""

    class Columns(faulty.Sound):
        def make_node(self, x):
            return theano.Apply(self, [x], [T.dvector(), T.dvector()])

        def perform(self, node, inputs, output_storage):
            block = inputs[0] * 2
            output_storage[0][0], output_storage[1][0] = block[:, 0], block[:, 1]

    run(Columns()(x), X)


def test_answers_of_which_there_are_several():
    m = X @ X.T
    values, vectors = run(list(T.nlinalg.eigh(x)), m)
    np.testing.assert_allclose(vectors @ np.diag(values) @ vectors.T, m)
    u, s, vt = run(list(T.nlinalg.svd(x, full_matrices=False)), X)
    np.testing.assert_allclose(u @ np.diag(s) @ vt, X)
    same = values_eq_approx_up_to_phases
    assert same(u, u * [1, -1]) and not same(u, u * [1, -1.1]) and not same(u, u[::-1].copy())


def test_verify_grad_is_quick():
    calls = []

    class Counting(faulty.Sound):
        def perform(self, node, inputs, output_storage):
            calls.append(1)
            output_storage[0][0] = inputs[0] * 2

    theano.gradient.verify_grad(Counting(), [X], rng=np.random.RandomState(1), mode="DebugMode", n_tests=1)
    few = len(calls)
    theano.gradient.verify_grad(Counting(), [X], rng=np.random.RandomState(1), mode="DebugMode", n_tests=1, no_debug_ref=False)
    assert len(calls) - few > 1.5 * few
