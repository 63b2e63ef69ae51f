"""The tools for tests of ops that ship: they find what is wrong, and say so."""

from __future__ import annotations

import logging
import unittest

import faulty
import numpy as np
import pytest

import theano
import theano.tensor as T
from theano import config
from theano.tests import test_rop as rop
from theano.tests import unittest_tools as utt
from theano.tests.main import arguments

x = T.dmatrix("x")
X = np.arange(6.0).reshape(2, 3)


def checker(cls=utt.InferShapeTester, **attributes):
    case = type("Case", (cls,), {"runTest": lambda self: None, **attributes})()
    case.setUp()
    return case


# -- shapes ---------------------------------------------------------------------------------------------------------


def test_infer_shape_that_is_right():
    checker()._compile_and_check([x], [faulty.Sound()(x)], [X], faulty.Sound)
    checker(mode="FAST_COMPILE")._compile_and_check([x], [faulty.Sound()(x)], [X], faulty.Sound)
    checker(mode=theano.Mode("py"))._compile_and_check([x], [faulty.Sound()(x)], [X], (faulty.Sound,))


def test_infer_shape_that_is_wrong():
    with pytest.raises(AssertionError, match=r"says \(3, 2\) for output 0, whose shape is \(2, 3\)"):
        checker()._compile_and_check([x], [faulty.WrongShape()(x)], [X], faulty.WrongShape)


def test_infer_shape_that_is_missing():
    class Without(faulty.Sound):
        infer_shape = None

    class None_(theano.Op):
        __props__ = ()
        itypes = otypes = [T.dmatrix]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * 2

    with pytest.raises(AssertionError, match="is still computed where only the shape is asked for"):
        checker()._compile_and_check([x], [None_()(x)], [X], None_)
    checker()._compile_and_check([x], [None_()(x)], [X], None_, check_topo=False)


def test_wrong_class_is_noticed():
    with pytest.warns(UserWarning, match="this test says nothing"):
        checker()._compile_and_check([x], [faulty.Sound()(x)], [X], faulty.WrongShape)


def test_equal_lengths_are_warned_of(caplog):
    square = np.ones((3, 3))
    with caplog.at_level(logging.WARNING):
        checker()._compile_and_check([x], [faulty.Sound()(x)], [square], faulty.Sound, warn=False)
        assert not caplog.text
        checker()._compile_and_check([x], [faulty.Sound()(x)], [square], faulty.Sound)
    assert "same length along several dimensions" in caplog.text
    caplog.clear()
    row = T.TensorType("float64", (True, True))("row")
    checker()._compile_and_check([row], [faulty.Sound()(row)], [np.ones((1, 1))], faulty.Sound)
    assert not caplog.text


# -- gradients --------------------------------------------------------------------------------------------------------


def test_verify_grad():
    utt.verify_grad(faulty.Sound(), [X])
    with pytest.raises(utt.verify_grad.E_grad):
        utt.verify_grad(faulty.WrongGradient(), [X])
    utt.verify_grad(lambda a, b: a * b, [X, X], 1, np.random.RandomState(1), abs_tol=1e-3)
    point = X.copy()
    utt.verify_grad(T.inplace.exp_inplace, [point])
    np.testing.assert_array_equal(point, X, "what an op overwrites is a copy")


# -- directions --------------------------------------------------------------------------------------------------------


def test_rop_and_lop():
    case = checker(rop.RopLop_checker)
    case.check_rop_lop(faulty.Sound()(case.x), case.in_shape)
    case.check_rop_lop(case.x[:3] ** 2, (3,))
    case.check_mat_rop_lop(case.mx.sum(axis=1), (case.mat_in_shape[0],))
    with pytest.raises(AssertionError, match="Rop is not the product"):
        case.check_rop_lop(faulty.WrongRop()(case.x), case.in_shape)
    with pytest.raises(AssertionError, match=r"[RL]op is not the product"):
        case.check_rop_lop(faulty.WrongGradient()(case.x), case.in_shape)


def test_rop_where_there_is_none():
    case = checker(rop.RopLop_checker)
    case.check_nondiff_rop(rop.break_op(case.x))
    with pytest.raises(AssertionError, match="without an error"):
        case.check_nondiff_rop(case.x * 2)


# -- comparisons ---------------------------------------------------------------------------------------------------------


def test_assert_allclose():
    utt.assert_allclose(X, X + 1e-9)
    utt.assert_allclose(np.float32([1, 2]), np.float32([1, 2]) + np.float32(5e-6))
    for wrong in (X + 1e-3, X.T, np.where(X == 5, np.nan, X), X.astype("complex128") + 1j):
        with pytest.raises(utt.WrongValue, match="the value is not the expected one"):
            utt.assert_allclose(X, wrong)
    utt.assert_allclose(X, X + 1e-3, atol=1e-2)
    with pytest.raises(utt.WrongValue, match="do not fit together"):
        utt.assert_allclose(X, X.T)
    with pytest.raises(utt.WrongValue) as caught:
        utt.assert_allclose(X, X + np.eye(2, 3))
    assert "largest at (0, 0): expected 0.0, value 1.0" in str(caught.value)
    assert caught.value.val1 is X and caught.value.rtol is None


# -- random numbers ----------------------------------------------------------------------------------------------------------


def test_seeds():
    assert utt.seed_rng() == 666
    one = np.random.rand()
    assert utt.seed_rng() == 666 and np.random.rand() == one
    with config.change_flags(unittests__rseed=3):
        assert utt.fetch_seed() == 3 and utt.fetch_seed(5) == 5
    with config.change_flags(unittests__rseed="random"):
        assert utt.fetch_seed() is None and utt.seed_rng() is None
    assert list(utt.MockRandomState(0).randint(2, 5, size=2)) == [2, 2]
    assert list(utt.MockRandomState(1).randint(5, size=2)) == [4, 4]
    assert utt.MockRandomState(0.25).rand(2, 3).shape == (2, 3)


# -- parts of test cases --------------------------------------------------------------------------------------------------------


def test_optimization_mixin():
    f = theano.function([x], T.exp(x) + x.sum(), mode=theano.Mode(optimizer=None))
    mixin = utt.TestOptimizationMixin()
    assert utt.OptimizationTestMixin is utt.TestOptimizationMixin
    mixin.assertFunctionContains(f, T.exp)
    mixin.assertFunctionContains1(f, T.exp)
    mixin.assertFunctionContains0(f, T.tanh)
    mixin.assertFunctionContainsN(f, T.exp, 1)
    mixin.assertFunctionContainsClass(f, T.elemwise.Elemwise)
    mixin.assertFunctionContainsClassN(f, T.elemwise.Elemwise, 2)
    with pytest.raises(AssertionError, match="is 1 times in the function, and should be 0 times"):
        mixin.assertFunctionContains0(f, T.exp)
    with pytest.raises(AssertionError, match="should be 3 times"):
        mixin.assertFunctionContainsClassN(f, T.elemwise.Elemwise, 3)
    with pytest.raises(unittest.SkipTest):
        mixin.SkipTest("not here")


def test_contract_mixin():
    class Right(utt.T_OpContractMixin):
        ops = [T.exp, T.tanh]

        def clone(self, op):
            return T.elemwise.Elemwise(op.scalar_op)

    class Wrong(Right):
        ops = [faulty.UnequalEqual()]

        def clone(self, op):
            return type(op)()

    for name in ("test_eq", "test_hash", "test_name"):
        getattr(Right(), name)()
    with pytest.raises(AssertionError, match="is not equal to its copy"):
        Wrong().test_eq()
    with pytest.raises(AssertionError, match="different hashes"):
        Wrong().test_hash()


def test_attempts():
    seeds = []

    @utt.AttemptManyTimes(n_attempts=4, n_req_successes=2)
    def test():
        seeds.append(config.unittests.rseed)
        assert len(seeds) > 2

    test()
    assert seeds == [666, 667, 668, 669] and config.unittests.rseed == 666
    with pytest.raises(ZeroDivisionError):
        utt.AttemptManyTimes(3)(lambda: 1 / 0)()
    with pytest.raises(ValueError, match="cannot pass"):
        utt.AttemptManyTimes(1, 2)

    class Case(unittest.TestCase):
        ready = 0

        def setUp(self):
            self.ready += 1

        @utt.AttemptManyTimes(3, 2)
        def runTest(self):
            assert self.ready > 1

    Case().debug()


def test_small_tools():
    def fails():
        raise ValueError

    assert utt.assertFailure_fast(fails) is fails
    with config.change_flags(mode="FAST_COMPILE"):
        utt.assertFailure_fast(fails)()
        with pytest.raises(AssertionError, match="should fail"):
            utt.assertFailure_fast(lambda: None)()

    @utt.attr("slow")
    def test():
        pass

    assert test.pytestmark[0].name == "slow"
    param = type("Param", (), {"args": ("a b", 3)})
    assert utt.custom_name_func(test_small_tools, 0, param) == "test_small_tools_a_b_3"


# -- the program --------------------------------------------------------------------------------------------------------------------


def test_arguments_of_the_program():
    assert arguments(["a/test_b.py:C.d", "-k", "x", "--batch"])[4:] == ["a/test_b.py::C::d", "-k", "x"]
    assert arguments(["a/test_b.py::C"])[4:] == ["a/test_b.py::C"]
    assert arguments(["folder"])[4:] == ["folder"]
    assert "--doctest-modules" in arguments(["--theano"]) and arguments(["--theano"])[-1].endswith("theano")


def test_theano_test(monkeypatch):
    called = []
    monkeypatch.setattr("pytest.main", lambda words: called.append(words) or 0)
    assert theano.test() is True
    assert "--doctest-modules" in called[0]
    monkeypatch.setattr("pytest.main", lambda words: 1)
    assert theano.test(verbose=2) is False


