"""``makeTester`` and ``makeBroadcastTester``: what is right passes, and each kind of fault is found."""

from __future__ import annotations

import unittest

import numpy as np
import pytest

import theano.tensor as T
from theano.tensor import inplace
from theano.tests.makers import makeBroadcastTester, makeTester

rng = np.random.default_rng(5)
SQUARE, OTHER = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))


def failed(tests):
    """Return the names of the tests that fail."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(tests).run(result)
    found = [*result.failures, *result.errors]
    return sorted({getattr(test, "test_case", test).id().rpartition(".")[2] for test, _ in found})


def test_what_is_right_passes():
    assert failed(makeTester(
        "DotTester", T.dot, np.dot, checks={"finite": lambda inputs, outputs: bool(np.isfinite(outputs[0]).all())},
        good={"matrices": (SQUARE, OTHER), "float32": (SQUARE.astype("float32"), OTHER.astype("float32"))},
        bad_build={"no number": (SQUARE, "text")}, bad_runtime={"lengths": (np.ones((2, 3)), np.ones((2, 3)))},
        grad={"matrices": (SQUARE, OTHER)},
    )) == []  # fmt: skip
    assert failed(makeBroadcastTester(T.add, np.add, good={"row": (SQUARE, OTHER[:1])})) == []
    assert failed(makeBroadcastTester(inplace.add_inplace, np.add, inplace=True, good={"same": (SQUARE, OTHER)})) == []


class WrongGradient(T.Elemwise):
    """A product that is derived as a sum is."""

    def L_op(self, inputs, outputs, output_gradients):
        """Return the gradient of a sum."""
        return [output_gradients[0], output_gradients[0]]


@pytest.mark.parametrize("wanted, cases", [
    ("test_good", {"good": {"case": (SQUARE, OTHER)}, "expected": np.subtract}),
    ("test_good", {"good": {"case": (SQUARE, OTHER)}, "checks": {"never": lambda inputs, outputs: False}}),
    ("test_good", {"good": {"case": (SQUARE, OTHER)}, "expected": lambda x, y: [x, y]}),
    ("test_bad_build", {"bad_build": {"case": (SQUARE, OTHER)}}),
    ("test_bad_runtime", {"bad_runtime": {"case": (SQUARE, OTHER)}}),
    ("test_grad", {"grad": {"case": (SQUARE, OTHER)}, "op": WrongGradient(T.mul.scalar_op)}),
])  # fmt: skip
def test_each_fault_is_found(wanted, cases):
    arguments = {"name": "Tests", "op": T.dot, "expected": np.dot} | cases
    assert failed(makeTester(**arguments)) == [wanted]


def test_an_op_that_does_not_work_in_place_is_found():
    assert failed(makeBroadcastTester(T.add, np.add, inplace=True, good={"case": (SQUARE, OTHER)})) == ["test_good"]


def test_skipped():
    result = unittest.TestResult()
    tests = makeTester("Tests", T.dot, np.add, good={"case": (SQUARE, OTHER)}, skip="not today")
    unittest.defaultTestLoader.loadTestsFromTestCase(tests).run(result)
    assert not result.failures and {reason for _, reason in result.skipped} == {"not today"}
