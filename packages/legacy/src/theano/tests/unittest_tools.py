"""What tests of ops have in common: random numbers that can be had again, gradients, shapes, comparisons.

    from theano.tests import unittest_tools as utt
"""

from __future__ import annotations

import copy
import functools
import logging
import re
import sys
import unittest
import warnings
from collections.abc import Callable, Sequence
from typing import Any
from unittest import SkipTest

import numpy as np

import theano
from theano import config
from theano.compile import get_default_mode
from theano.errors import GradientError
from theano.graph.traverse import toposort
from theano.printing import debugprint
from theano.tensor.testing.verify import verify_grad as verify_grad_with
from theano.tensor.type import tolerance

logger = logging.getLogger("theano.tests.unittest_tools")


# -- random numbers ----------------------------------------------------------------------------------------------


def fetch_seed(pseed: Any = None) -> int | None:
    """Return the seed that tests start from: ``pseed``, or what the flag ``unittests.rseed`` says.

    Returns
    -------
    int or None
        None stands for another seed each time: the flag says ``random``.

    Examples
    --------
    >>> fetch_seed(), fetch_seed(3)
    (666, 3)
    """
    seed = pseed or config.unittests.rseed
    if not seed or seed == "random":
        return None
    try:
        return int(seed)
    except ValueError:
        print(f"{seed!r} is no seed: a number or 'random' is; random numbers differ from run to run", file=sys.stderr)
        return None


def seed_rng(pseed: Any = None) -> int | None:
    """Seed NumPy's global random numbers with :func:`fetch_seed`, and return the seed.

    Examples
    --------
    >>> seed_rng(), float(np.random.rand()) == float(np.random.RandomState(666).rand())
    (666, True)
    """
    seed = fetch_seed(pseed)
    np.random.seed(seed)
    return seed


class MockRandomState:
    """Stands for a generator of random numbers, and gives only one: to test what happens at the ends of a range.

    Parameters
    ----------
    val : float
        What :meth:`rand` gives. Where it is 0, :meth:`randint` gives its lower end, and else its upper one.

    Examples
    --------
    >>> MockRandomState(0.5).rand(2), MockRandomState(1).randint(3, 8, size=2)
    (array([0.5, 0.5]), array([7, 7]))
    """

    def __init__(self, val: float):
        self.val = val

    def rand(self, *shape: int) -> np.ndarray:
        """Return an array of the number."""
        return np.full(shape, self.val, dtype="float64")

    def randint(self, minval: int, maxval: int | None = None, size: Any = 1) -> np.ndarray:
        """Return an array of one end of the range."""
        low, high = (0, minval) if maxval is None else (minval, maxval)
        return np.full(size, low if self.val == 0 else high - 1, dtype="int64")


# -- gradients -----------------------------------------------------------------------------------------------------


def verify_grad(op: Any, pt: Sequence[Any], n_tests: int = 2, rng: Any = None, *args: Any, **kwargs: Any) -> None:
    """Compare the gradient of an op or an expression with finite differences.

    Parameters
    ----------
    op : Op or callable
        Takes one variable for each of ``pt`` and returns one.
    pt : list of array
        Where to compare; floating-point.
    n_tests, rng, *args, **kwargs
        As for `theano.gradient.verify_grad`; without ``rng``, one is made from :func:`fetch_seed`.

    Raises
    ------
    theano.gradient.GradientError
        The two differ. The class is also called ``verify_grad.E_grad``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> verify_grad(T.tanh, [np.array([0.5, -1.0])])
    """
    if rng is None:
        rng = np.random.RandomState(seed_rng())
    verify_grad_with(op, pt, n_tests, rng, *args, **kwargs)


vars(verify_grad).update(E_grad=GradientError)


# -- comparisons ---------------------------------------------------------------------------------------------------


def _allowed(expected: Any, value: Any, rtol: float | None, atol: float | None) -> tuple[float, float]:
    dtypes = [str(np.asarray(x).dtype) for x in (expected, value)]
    usual = tolerance(*dtypes, sloppy=config.tensor.cmp_sloppy)
    return (usual.rtol if rtol is None else rtol, usual.atol if atol is None else atol)


def assert_allclose(expected: Any, value: Any, rtol: float | None = None, atol: float | None = None) -> None:
    """Raise `WrongValue` unless two arrays are the same within rounding.

    Parameters
    ----------
    expected, value : array_like
    rtol, atol : float, optional
        How far they may be apart; by default what suits the less precise dtype and the flag ``tensor.cmp_sloppy``.

    Examples
    --------
    >>> assert_allclose([1.0, 2.0], np.array([1.0, 2.0 + 1e-9]))
    >>> assert_allclose(1.0, 1.5)
    Traceback (most recent call last):
     ...
    theano.tests.unittest_tools.WrongValue: the value is not the expected one
    ...
    """
    allowed = _allowed(expected, value, rtol, atol)
    try:
        same = np.allclose(expected, value, *allowed)
    except ValueError:  # shapes that do not fit together
        same = False
    if not same:
        raise WrongValue(expected, value, rtol, atol)


class WrongValue(Exception):
    """A value is not the expected one; the text shows both, and where and how far they are apart."""

    def __init__(self, expected_val: Any, val: Any, rtol: float | None, atol: float | None):
        super().__init__(expected_val, val, rtol, atol)
        self.val1, self.val2, self.rtol, self.atol = expected_val, val, rtol, atol

    def __str__(self) -> str:
        return "the value is not the expected one\n" + str_diagnostic(self.val1, self.val2, self.rtol, self.atol)


def str_diagnostic(expected: Any, value: Any, rtol: float | None, atol: float | None) -> str:
    """Return, over several lines, how two arrays differ.

    Examples
    --------
    >>> print(str_diagnostic([1.0, 2.0], [1.0, 2.5], None, None))
      expected: shape (2,), float64, strides (8,), from 1 to 2, 0 infinite, 0 NaN
        [1. 2.]
      value: shape (2,), float64, strides (8,), from 1 to 2.5, 0 infinite, 0 NaN
        [1.  2.5]
      absolute difference: largest 0.5, mean 0.25, median 0.25
      relative difference: largest 0.25, mean 0.125, median 0.125
      largest at (1,): expected 2.0, value 2.5
      rtol, atol: 1e-05 1e-08
    """
    a, b = np.asarray(expected), np.asarray(value)
    lines = [*_about("expected", a), *_about("value", b)]
    if a.dtype.kind in "biufc" and b.dtype.kind in "biufc" and a.size and b.size and _fit(a, b):
        with np.errstate(all="ignore"):
            apart = np.abs(b * 1.0 - a)
            relative = apart / np.abs(a)
        for name, d in (("absolute", apart), ("relative", relative)):
            lines.append(f"{name} difference: largest {d.max():g}, mean {d.mean():g}, median {np.median(d):g}")
        place = np.unravel_index(int(np.argmax(np.where(np.isnan(apart), np.inf, apart))), apart.shape)
        one, two = (np.broadcast_to(x, apart.shape)[place] for x in (a, b))
        lines.append(f"largest at {tuple(map(int, place))}: expected {one}, value {two}")
    elif not _fit(a, b):
        lines.append(f"shapes {a.shape} and {b.shape} do not fit together")
    lines.append("rtol, atol: {} {}".format(*_allowed(expected, value, rtol, atol)))
    return "\n".join(f"  {line}" for line in lines)


def _fit(a: np.ndarray, b: np.ndarray) -> bool:
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return True


def _about(name: str, array: np.ndarray) -> list[str]:
    said = f"{name}: shape {array.shape}, {array.dtype}, strides {array.strides}"
    if array.size and array.dtype.kind in "biuf":
        with np.errstate(all="ignore"):
            inf, nan = int(np.isinf(array).sum()), int(np.isnan(array).sum())
        said += f", from {array.min():g} to {array.max():g}, {inf} infinite, {nan} NaN"
    return [said, *(f"  {line}" for line in str(array).splitlines())]


# -- test cases ------------------------------------------------------------------------------------------------------


class InferShapeTester(unittest.TestCase):
    """A test case that can check an op's ``infer_shape``.

    A class with an attribute ``mode`` has its functions compiled in that mode.
    """

    mode: Any = None

    def setUp(self) -> None:
        """Seed the random numbers, and choose a mode that infers shapes."""
        seed_rng()
        mode = self.mode if self.mode is not None else get_default_mode()
        self.mode = theano.compile.get_mode(mode).including("canonicalize")

    def _compile_and_check(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        numeric_inputs: Sequence[Any],
        cls: Any,
        excluding: Sequence[str] | None = None,
        warn: bool = True,
        check_topo: bool = True,
    ) -> None:
        """Check that the shapes of ``outputs`` are computed without the op, and that they are right.

        Parameters
        ----------
        inputs, outputs : list of Variable
            As for `theano.function`.
        numeric_inputs : list of values
            For ``inputs``. Where two lengths of one of them are the same, a mistake could go unnoticed.
        cls : class of Op, or tuple of these
            What must not be in the graph of the shapes.
        excluding : list of str, optional
            Rewrites to leave out.
        warn : bool
            Warn where two lengths are the same.
        check_topo : bool
            Check that the op is gone; without, only the shapes.

        Raises
        ------
        AssertionError
            The op is still there, or a shape is wrong.
        """
        mode = self.mode.excluding(*excluding) if excluding else self.mode
        if warn:
            _warn_of_equal_lengths(inputs, numeric_inputs, cls)
        values = theano.function(inputs, outputs, mode=mode)
        shapes = theano.function(inputs, [v.shape for v in outputs], mode=mode, on_unused_input="ignore")
        if check_topo:
            _check_removed(outputs, shapes, values, cls)
        found = zip(values(*numeric_inputs), shapes(*numeric_inputs), strict=True)
        for k, (value, inferred) in enumerate(found):
            if tuple(value.shape) != tuple(map(int, inferred)):
                raise AssertionError(
                    f"infer_shape of {_name(cls)} says {tuple(map(int, inferred))} for output {k}, whose shape is "
                    f"{tuple(value.shape)}; the inputs have shapes {[np.shape(x) for x in numeric_inputs]}"
                )


def _warn_of_equal_lengths(inputs: Sequence[Any], values: Sequence[Any], cls: Any) -> None:
    for v, value in zip(inputs, values, strict=False):
        pattern = getattr(v.type, "broadcastable", None)
        shape = np.shape(value)
        # A length that the type fixes cannot be taken for another.
        free = [n for n, one in zip(shape, pattern or [False] * len(shape), strict=False) if not one]
        if len(set(free)) != len(free):
            logger.warning(
                "The input %s of shape %s, with which infer_shape of %s is tested, has the same length along several "
                "dimensions: that they are mixed up could not be seen. Use another shape, or warn=False.",
                v, shape, _name(cls),
            )  # fmt: skip
            return


def _check_removed(outputs: Sequence[Any], shapes: Any, values: Any, cls: Any) -> None:
    left = [node for node in shapes.maker.fgraph.toposort() if isinstance(node.op, cls)]
    if left:
        raise AssertionError(
            f"{left[0].op} is still computed where only the shape is asked for: its infer_shape is missing, or it "
            f"failed\n{debugprint(shapes.maker.fgraph.outputs, file='str')}"
        )
    # A rewrite may have made it, and another one replaced it: shapes were inferred of what is written here.
    if not any(isinstance(node.op, cls) for node in (*toposort(outputs), *values.maker.fgraph.toposort())):
        warnings.warn(
            f"{_name(cls)} is neither in the outputs nor in the function of them, so that this test says nothing; is "
            f"it the right class?\n{debugprint(values.maker.fgraph.outputs, file='str')}",
            stacklevel=3,
        )


def _name(cls: Any) -> str:
    many = cls if isinstance(cls, tuple) else (cls,)
    return " or ".join(c.__name__ for c in many)


class TestOptimizationMixin:
    """Says whether some op is in a compiled function: for test cases of rewrites."""

    def assertFunctionContains(self, f: Any, op: Any, min: int = 1, max: int = sys.maxsize) -> None:
        """Raise AssertionError unless an op is in a function at least and at most so often."""
        self._count(f, op, lambda node: node.op == op, min, max)

    def assertFunctionContains0(self, f: Any, op: Any) -> None:
        """Raise AssertionError if an op is in a function."""
        self.assertFunctionContains(f, op, 0, 0)

    def assertFunctionContains1(self, f: Any, op: Any) -> None:
        """Raise AssertionError unless an op is once in a function."""
        self.assertFunctionContains(f, op, 1, 1)

    def assertFunctionContainsN(self, f: Any, op: Any, N: int) -> None:
        """Raise AssertionError unless an op is ``N`` times in a function."""
        self.assertFunctionContains(f, op, N, N)

    def assertFunctionContainsClass(self, f: Any, op: Any, min: int = 1, max: int = sys.maxsize) -> None:
        """Raise AssertionError unless ops of a class are in a function at least and at most so often."""
        self._count(f, op, lambda node: isinstance(node.op, op), min, max)

    def assertFunctionContainsClassN(self, f: Any, op: Any, N: int) -> None:
        """Raise AssertionError unless ops of a class are ``N`` times in a function."""
        self.assertFunctionContainsClass(f, op, N, N)

    @staticmethod
    def _count(f: Any, op: Any, matches: Callable[[Any], bool], least: int, most: int) -> None:
        found = [node for node in f.maker.fgraph.toposort() if matches(node)]
        if not least <= len(found) <= most:
            wanted = f"{least}" if least == most else f"at least {least}" + (f" and at most {most}" * (most < sys.maxsize))
            graph = debugprint(f.maker.fgraph.outputs, file="str")
            raise AssertionError(f"{op} is {len(found)} times in the function, and should be {wanted} times\n{graph}")

    def SkipTest(self, msg: str = "Skip this test") -> None:
        """Skip the test."""
        raise SkipTest(msg)


OptimizationTestMixin = TestOptimizationMixin


class T_OpContractMixin:
    """Tests of equality, hash and text of ops: for test cases that have ``ops`` and ``clone``.

    Attributes
    ----------
    ops : list of Op
        To be tested; no two of them equal.
    other_op : Op
        One that none of them is equal to.
    """

    ops: Sequence[Any] = ()
    other_op: Any = theano.tensor.add

    def copy(self, x: Any) -> Any:
        """Return a copy."""
        return copy.copy(x)

    def deepcopy(self, x: Any) -> Any:
        """Return a deep copy."""
        return copy.deepcopy(x)

    def clone(self, op: Any) -> Any:
        """Return another op like ``op``; test cases define it."""
        raise NotImplementedError("define clone: it returns a new op that is equal to the one it is given")

    def _likes(self, op: Any) -> list[Any]:
        return [op, self.copy(op), self.deepcopy(op), self.clone(op)]

    def test_eq(self) -> None:
        """Copies are equal, others are not."""
        for op in self.ops:
            for like in self._likes(op):
                assert (op == like, op != like) == (True, False), f"{op!r} is not equal to its copy {like!r}"
            for other in [self.other_op, *(o for o in self.ops if o is not op)]:
                assert (op == other, op != other) == (False, True), f"{op!r} is equal to {other!r}"

    def test_hash(self) -> None:
        """Copies have the same hash; others have others."""
        for op in self.ops:
            for like in self._likes(op):
                assert hash(op) == hash(like), f"{op!r} and its copy have different hashes"
            for other in [self.other_op, *(o for o in self.ops if o is not op)]:
                assert hash(op) != hash(other), f"{op!r} has the hash of {other!r}"

    def test_name(self) -> None:
        """There is something to call each of them."""
        for op in self.ops:
            assert str(op), f"the name of a {type(op).__name__} is empty"


OpContractTestMixin = T_OpContractMixin


# -- decorators ------------------------------------------------------------------------------------------------------


def attr(tag: str) -> Callable[[Any], Any]:
    """Return a decorator that marks a test: ``theano-nose -m slow`` then runs those marked so."""

    def mark(test: Any) -> Any:
        try:
            # pytest comes with the test tools, not with this layer; without it the mark has no reader.
            import pytest
        except ImportError:
            return test
        return getattr(pytest.mark, tag)(test)

    return mark


def custom_name_func(testcase_func: Any, param_num: int, param: Any) -> str:
    """Return the name of a test with parameters, made of its function's name and its arguments.

    As `parameterized` writes them: what cannot stand in a name becomes one underscore, however long it is.
    """
    words = "_".join(str(x) for x in param.args)
    return f"{testcase_func.__name__}_" + re.sub(r"\W+", "_", words, flags=re.ASCII)


class AttemptManyTimes:
    """Decorator of a test that fails by chance: it passes if enough of some attempts do, each with another seed.

    Parameters
    ----------
    n_attempts : int
    n_req_successes : int
        How many of them must pass.

    Examples
    --------
    >>> throws = iter([False, True, True])
    >>> @AttemptManyTimes(n_attempts=3, n_req_successes=2)
    ... def test():
    ...     assert next(throws)
    >>> test()
    """

    def __init__(self, n_attempts: int, n_req_successes: int = 1):
        if n_attempts < n_req_successes:
            raise ValueError(f"{n_req_successes} of {n_attempts} attempts cannot pass")
        self.n_attempts, self.n_req_successes = n_attempts, n_req_successes

    def __call__(self, fct: Callable[..., Any]) -> Callable[..., None]:
        """Return the test that tries."""

        @functools.wraps(fct)
        def attempts(*args: Any, **kwargs: Any) -> None:
            first = fetch_seed()
            passed = 0
            for i in range(self.n_attempts):
                seed = "random" if first is None else first + i
                with config.change_flags(unittests__rseed=seed):
                    if args and isinstance(args[0], unittest.TestCase):
                        args[0].setUp()
                    try:
                        fct(*args, **kwargs)
                    except Exception:
                        if passed + self.n_attempts - i - 1 < self.n_req_successes:
                            raise  # the remaining attempts cannot suffice
                    else:
                        passed += 1
                if passed == self.n_req_successes:
                    return

        return attempts


def assertFailure_fast(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a test that must raise where functions are compiled fast, with few rewrites, and pass elsewhere.

    For what only rewriting makes possible.
    """
    if config.mode != "FAST_COMPILE":
        return f

    @functools.wraps(f)
    def must_raise(*args: Any, **kwargs: Any) -> None:
        try:
            f(*args, **kwargs)
        except Exception:
            return
        raise AssertionError(f"{f.__name__} passed in FAST_COMPILE, where it should fail")

    return must_raise


__all__ = [
    "AttemptManyTimes",
    "InferShapeTester",
    "MockRandomState",
    "OpContractTestMixin",
    "OptimizationTestMixin",
    "SkipTest",
    "T_OpContractMixin",
    "TestOptimizationMixin",
    "WrongValue",
    "assertFailure_fast",
    "assert_allclose",
    "attr",
    "custom_name_func",
    "fetch_seed",
    "seed_rng",
    "str_diagnostic",
    "verify_grad",
]
