"""``makeTester`` and ``makeBroadcastTester``: the tests of an op as a class, made from values alone.

Programs find them as ``theano.tensor.tests.test_basic``, where the documentation has always had them.
"""

from __future__ import annotations

import unittest
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from theano.compile import In, function
from theano.graph.traverse import toposort
from theano.tensor.convert import as_tensor_variable
from theano.tensor.testing.verify import verify_grad
from theano.tensor.type import TensorType

Cases = Mapping[str, Sequence[Any]]


def makeTester(
    name: str,
    op: Callable[..., Any],
    expected: Callable[..., Any],
    checks: Mapping[str, Callable[..., bool]] | None = None,
    good: Cases | None = None,
    bad_build: Cases | None = None,
    bad_runtime: Cases | None = None,
    grad: Cases | None = None,
    mode: Any = None,
    grad_rtol: float | None = None,
    eps: float = 1e-10,
    skip: Any = False,
    test_memmap: bool = True,
    check_name: bool = False,
    grad_eps: float | None = None,
) -> type[unittest.TestCase]:
    """Return a class of tests of an op; what it is tested with are dictionaries from a name to a tuple of values.

    Parameters
    ----------
    name : str
        Of the class.
    op : Op, or callable
        From tensor variables to one, or to several in a list.
    expected : callable
        From the values to the array that ``op`` should give for them, or to a list of these.
    checks : dict from str to callable, optional
        What else should hold, by its description: from the list of inputs and that of outputs to bool.
    good : dict, optional
        Values that ``op`` takes: results and checks have to be right.
    bad_build : dict, optional
        Values for which the expression cannot be written.
    bad_runtime : dict, optional
        Values for which it can be written, but not computed.
    grad : dict, optional
        Values at which gradients are compared with differences.
    mode : Mode or str, optional
        In which functions are compiled.
    grad_rtol, grad_eps : float, optional
        As ``rel_tol`` and ``eps`` of `verify_grad`.
    eps : float
        How far results may be from what is expected, absolutely and relatively; for float32 and float16 not less than
        what their digits allow.
    skip : bool or str
        Skip all; a text says why.
    test_memmap, check_name : bool
        Without effect.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Tests = makeTester("DotTester", T.dot, np.dot,
    ...     good={"matrices": (np.ones((2, 3)), np.ones((3, 4)))},
    ...     bad_runtime={"lengths": (np.ones((2, 3)), np.ones((2, 3)))},
    ...     grad={"vectors": (np.ones(3), np.ones(3))})
    >>> unittest.TextTestRunner(stream=open("/dev/null", "w")).run(
    ...     unittest.defaultTestLoader.loadTestsFromTestCase(Tests)).wasSuccessful()
    True
    """
    right, unwritable, uncomputable, smooth = (dict(cases or {}) for cases in (good, bad_build, bad_runtime, grad))

    class Checks(unittest.TestCase):
        """Tests of one op."""

        def setUp(self) -> None:
            if skip:
                self.skipTest(skip if isinstance(skip, str) else "as its maker says")

        def test_good(self) -> None:
            """Results are what is expected, and all checks hold."""
            for case, values in right.items():
                with self.subTest(case):
                    inputs = [np.array(v) for v in values]
                    wanted = _as_list(expected(*(v.copy() for v in inputs)))
                    found = _as_list(_compiled(op, inputs, mode)(*inputs))
                    _require_all_close(found, wanted, eps)
                    for what, check in (checks or {}).items():
                        self.assertTrue(check(inputs, found), f"{case}: {what}")

        def test_bad_build(self) -> None:
            """What cannot be written is refused."""
            for case, values in unwritable.items():
                with self.subTest(case), self.assertRaises(Exception):  # noqa: B017  (of any class)
                    op(*map(_variable, map(np.asarray, values)))

        def test_bad_runtime(self) -> None:
            """What cannot be computed is refused."""
            for case, values in uncomputable.items():
                inputs = [np.array(v) for v in values]
                with self.subTest(case), self.assertRaises(Exception):  # noqa: B017  (of any class)
                    _compiled(op, inputs, mode)(*inputs)

        def test_grad(self) -> None:
            """Gradients are those of finite differences."""
            for case, values in smooth.items():
                with self.subTest(case):
                    inputs = [np.asarray(v) for v in values]
                    rng = np.random.RandomState(666)
                    verify_grad(op, inputs, mode=mode, rel_tol=grad_rtol, eps=grad_eps, rng=rng)

    Checks.__name__ = Checks.__qualname__ = name
    return Checks


def makeBroadcastTester(
    op: Callable[..., Any],
    expected: Callable[..., Any],
    checks: Mapping[str, Callable[..., bool]] | None = None,
    name: str | None = None,
    inplace: bool = False,
    **kwargs: Any,
) -> type[unittest.TestCase]:
    """Return a class of tests of an element-wise op, as :func:`makeTester` does.

    Parameters
    ----------
    op, expected, checks
        As there.
    name : str, optional
        Of the class; made of the op's name where it is not given.
    inplace : bool
        Whether the op overwrites its first input: then it has to be the result afterwards.
    **kwargs
        As there.

    Examples
    --------
    >>> import theano.tensor as T
    >>> makeBroadcastTester(T.add, np.add, good={"same": (np.ones(2), np.ones(2))}).__name__
    'AddTester'
    """
    checks = dict(checks or {})
    if inplace:
        checks["the first input is the result"] = lambda inputs, outputs: bool(np.all(inputs[0] == outputs[0]))
    title = str(getattr(op, "name", None) or getattr(op, "__name__", None) or op).split("{")[-1].split(",")[0]
    made = "".join(part.capitalize() for part in title.strip("}").split("_")) + "Tester"
    return makeTester(name or made, op, expected, checks, **kwargs)


def _require_all_close(found: Sequence[np.ndarray], wanted: Sequence[Any], eps: float) -> None:
    assert len(found) == len(wanted), f"there are {len(found)} results, and {len(wanted)} are expected"
    for result, value in zip(found, wanted, strict=True):
        _require_close(result, np.asarray(value), eps)


def _variable(value: np.ndarray) -> Any:
    return TensorType(value.dtype.name, tuple(n == 1 for n in value.shape))()


def _compiled(op: Callable[..., Any], values: Sequence[np.ndarray], mode: Any) -> Any:
    inputs = [_variable(v) for v in values]
    outputs = op(*inputs)
    results = [as_tensor_variable(v) for v in outputs] if isinstance(outputs, (list, tuple)) else outputs
    # An op may overwrite what it was given (`checks` look at it afterwards); rewriting shall not.
    nodes = toposort(results if isinstance(results, list) else [results])
    taken = {node.inputs[i] for node in nodes for several in node.op.destroy_map.values() for i in several}
    return function([In(v, mutable=v in taken, borrow=True) for v in inputs], results, mode=mode, accept_inplace=True)


def _as_list(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (list, tuple)) else [results]


def _require_close(found: Any, wanted: np.ndarray, eps: float) -> None:
    found = np.asarray(found)
    digits = max((np.finfo(v.dtype).eps for v in (found, wanted) if v.dtype.kind in "fc"), default=0.0)
    bound = max(eps, 100 * float(digits))
    np.testing.assert_allclose(found, wanted, rtol=bound, atol=bound)
