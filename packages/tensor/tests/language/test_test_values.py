"""Example values that are computed while an expression is written, and the flags beside them."""

import pickle
import warnings

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.compile.test_values import (
    debug_assert,
    debug_error_message,
    get_debug_values,
    get_test_value,
    missing_test_message,
)
from theano.errors import MethodNotDefined
from theano.graph import Apply
from theano.graph.op import COp


def valued(name, value):
    x = T.as_tensor_variable(np.asarray(value)).type(name)
    x.tag.test_value = np.asarray(value)
    return x


def test_values_follow_the_expression():
    with theano.config.change_flags(compute_test_value="raise"):
        x, y = valued("x", np.ones((2, 3))), valued("y", np.full((3, 2), 2.0))
        product = T.dot(x, y)
        np.testing.assert_array_equal(product.tag.test_value, np.full((2, 2), 6.0))
        w = theano.shared(np.eye(2), name="w")
        total = (product * w + 1).sum()
        assert get_test_value(total) == 16
        np.testing.assert_array_equal(get_test_value(T.grad(total, x)), np.full((2, 3), 2.0))
        assert get_test_value((x.shape[0], 3)) == (2, 3) and get_test_value([w.sum(), [total]]) == [2, [16]]
        assert theano.function([x, y], total)(np.ones((2, 3)), np.ones((3, 2))) == 10
    assert not hasattr((x + 1).tag, "test_value")


def test_a_wrong_shape_raises_where_it_is_written():
    with theano.config.change_flags(compute_test_value="warn"):
        x, y = valued("x", np.ones((2, 3))), valued("y", np.ones((2, 4)))
        with pytest.raises(ValueError, match=r"(?s)shape.*\(2, 3\)"):
            T.dot(x, y)
        with pytest.raises(ValueError):
            x + y


def test_missing_values():
    x, bare = valued("x", np.ones(3)), T.dvector("bare")
    for kind in (AttributeError, ValueError):  # as who asks a variable expects, and who calls an op
        raises = pytest.raises(kind, match="bare.*has no test value")
        with theano.config.change_flags(compute_test_value="raise"), raises:
            x + bare
    with theano.config.change_flags(compute_test_value="warn"), pytest.warns(UserWarning, match="Input 1: bare"):
        out = x + bare
    with theano.config.change_flags(compute_test_value="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        out = x + bare
    assert not hasattr(out.tag, "test_value")


def test_a_value_of_the_wrong_type():
    x = T.ivector("x")
    x.tag.test_value = np.ones((2, 2))
    raises = pytest.raises(TypeError, match="does not have the requested type")
    with theano.config.change_flags(compute_test_value="raise"), raises:
        x + 1


def test_values_are_not_written_over():
    x = valued("x", np.arange(3.0))
    with theano.config.change_flags(compute_test_value="raise"):
        out = T.Elemwise(theano.scalar.exp, {0: 0})(x)
    np.testing.assert_array_equal(x.tag.test_value, np.arange(3.0))
    np.testing.assert_array_equal(out.tag.test_value, np.exp(np.arange(3.0)))


def test_values_of_ops_that_are_in_c_alone():
    class Increment(COp):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def c_code(self, node, name, inputs, outputs, sub):
            return f"{outputs[0]} = {inputs[0]} + 1;"

    i = theano.scalar.int32("i")
    i.tag.test_value = 3
    with theano.config.change_flags(compute_test_value="raise"):
        out = Increment()(i)
    assert out.tag.test_value == 4
    with pytest.raises(MethodNotDefined):
        out.owner.op.perform(out.owner, [3], [[None]])


def test_rewriting_has_a_flag_of_its_own():
    x = T.dvector("x")
    with theano.config.change_flags(compute_test_value="ignore", compute_test_value_opt="raise"):
        expression = T.log(1 + T.exp(x))
        with theano.config.change_flags(on_opt_error="raise"), pytest.raises(Exception, match="has no test value"):
            theano.function([x], expression)
        with pytest.warns(theano.errors.RewriteWarning, match="has no test value"):
            theano.function([x], expression)
    valued_x = valued("x", np.ones(3))
    with theano.config.change_flags(compute_test_value="raise", compute_test_value_opt="off"):
        assert theano.function([valued_x], T.log(1 + T.exp(valued_x)))([0.0]) == np.log(2)


def test_checks_within_make_node():
    x, y = valued("x", np.ones(3)), T.dvector("y")
    assert get_debug_values(x) == []
    with theano.config.change_flags(compute_test_value="raise"):
        ((value, two),) = get_debug_values(x, T.constant(2))
        assert value.shape == (3,) and two == 2
        (alone,) = get_debug_values(x)  # one value is not in a tuple
        assert alone.shape == (3,)
        with pytest.raises(AttributeError):
            get_debug_values(x, y)
        with pytest.raises(ValueError, match="why"):
            debug_error_message("why")
        with pytest.raises(ValueError):
            debug_assert(False)
        with pytest.raises(AttributeError, match="gone"):
            missing_test_message("gone")
        debug_assert(True)
    with theano.config.change_flags(compute_test_value="ignore"):
        assert get_debug_values(x, y) == []
        with pytest.raises(ValueError, match="seen"):
            debug_error_message("seen")


def test_printing_and_pickling():
    x = valued("x", [1.0, 2.0])
    assert repr(x) == "x"
    with theano.config.change_flags(print_test_value=True):
        assert repr(x) == "x\narray([1., 2.])"
    assert hasattr(pickle.loads(pickle.dumps(x)).tag, "test_value")
    with theano.config.change_flags(pickle_test_value=False):
        assert not hasattr(pickle.loads(pickle.dumps(x)).tag, "test_value")
    assert hasattr(x.tag, "test_value")


def test_float64_can_be_reported():
    x = T.fvector("x")
    with theano.config.change_flags(warn_float64="raise"):
        x * np.float32(2)
        with pytest.raises(Exception, match="float64"):
            x * np.float64(2) * np.ones(3)
        with pytest.raises(Exception, match=r"float64 \(y\)"):
            T.dvector("y")
    with theano.config.change_flags(warn_float64="warn"), pytest.warns(UserWarning, match="float64"):
        T.dvector("y")


def test_how_many_frames_are_remembered():
    def deep(n):
        return T.dvector("x") + 1 if n == 0 else deep(n - 1)

    assert len(deep(20).tag.trace) == 8
    with theano.config.change_flags({"traceback.limit": 3}):
        assert len(deep(20).tag.trace) == 3
    with theano.config.change_flags({"traceback.limit": -1}):
        assert len(deep(20).tag.trace) > 20
    assert len(deep(20).tag.trace) == 8


def test_the_debugger_is_started_on_request(monkeypatch):
    started = []
    monkeypatch.setattr("sys.breakpointhook", lambda *a, **k: started.append(1))
    with theano.config.change_flags(compute_test_value="pdb"):
        T.dvector("x") + 1
    with theano.config.change_flags(warn_float64="pdb"):
        T.dvector("x")
    assert len(started) == 2
