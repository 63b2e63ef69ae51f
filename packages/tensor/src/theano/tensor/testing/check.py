"""``check_op``: the whole contract of an op, tried on examples.

What runs is in three parts: the op as an object (`identity`), its values in every form, layout and memory (`values`),
and what it says of shapes and derivatives (`derivatives`). Whatever fails becomes a finding; nothing stops the rest,
except C that spoils reference counts, after which nothing that runs it can be trusted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from theano.errors import DebugModeError
from theano.graph import Op
from theano.graph.signals import let_signals_through
from theano.tensor.testing import derivatives, identity, values
from theano.tensor.testing.examples import Example, make_example, sampled
from theano.tensor.testing.report import OpReport

#: What examples are cast to, as far as ``make_node`` takes them.
DTYPES = ("float64", "float32", "int64")


def check_op(
    op: Op,
    inputs: Sequence[Any] | None = None,
    *,
    reference: Callable[..., Any] | None = None,
    differentiable: Sequence[int] | None = None,
    dtypes: Sequence[str] = DTYPES,
    error_inputs: Sequence[Sequence[Any]] = (),
    fixed: Sequence[int] = (),
    seed: int | None = 666,
    raises: bool = True,
) -> OpReport:
    """Try all that an op promises, on examples.

    The node it makes and what it refuses; equality, hash, text, pickle; values of each dtype and layout, in Python
    and in C, into memory of every kind, in ``DebugMode``; inputs written and memory shared without saying so;
    ``infer_shape``; gradients of first and second order and the R-operator, against finite differences; the
    reference counts and the cache version of C code.

    Parameters
    ----------
    op : Op
    inputs : list of values, optional
        What the op is applied to: arrays and other values. Lengths that differ find more. Without, an op with
        ``itypes`` gets random ones.
    reference : callable, optional
        Takes the inputs, returns what the op should compute: an array, or one for each output.
    differentiable : list of int, optional
        The inputs with respect to which derivatives are checked; by default all of floating point.
    dtypes : list of str
        What the inputs of floating point are cast to, too, as far as ``make_node`` takes them.
    error_inputs : list of list of values
        Inputs that must be refused, by ``make_node`` or by the call.
    fixed : list of int
        The inputs whose values belong together, such as the index arrays of a sparse matrix: no other values of them
        are tried, only other layouts.
    seed : int, optional
        Of the random numbers.
    raises : bool
        Raise `OpFault` if there is a fault; otherwise only return the report.

    Returns
    -------
    OpReport
        ``print`` it.

    Raises
    ------
    OpFault
        The op does something else than it says. An AssertionError, whose text is the report.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> class Cube(theano.Op):
    ...     __props__ = ()
    ...     itypes = otypes = [T.dmatrix]
    ...     def perform(self, node, inputs, output_storage):
    ...         output_storage[0][0] = inputs[0] ** 3
    ...     def infer_shape(self, node, shapes):
    ...         return shapes
    ...     def grad(self, inputs, output_grads):
    ...         return [output_grads[0] * 2 * inputs[0] ** 2]
    >>> check_op(Cube())
    Traceback (most recent call last):
     ...
    theano.tensor.testing.report.OpFault: check_op(Cube): 1 fault
      FAULT    gradient
               of output 0: the gradient of argument 0 (shape (2, 3)) is ...
    """
    report = OpReport(str(op))
    rng = np.random.RandomState(seed)
    example = _first_example(op, sampled(op, rng) if inputs is None else list(inputs), report)
    if example is not None:
        example.fixed = frozenset(fixed)
        _check(op, example, report, rng, reference, differentiable, dtypes, error_inputs)
    if raises:
        report.raise_faults()
    return report


def _first_example(op: Op, given: list[Any], report: OpReport) -> Example | None:
    try:
        return make_example(op, given)
    except Exception as error:  # noqa: BLE001  (the boundary to ops that anybody may have written)
        let_signals_through(error)
        report.add("make_node", "fault", f"it does not take the inputs given: {said(error)}")
        return None


def _check(
    op: Op,
    example: Example,
    report: OpReport,
    rng: np.random.RandomState,
    reference: Callable[..., Any] | None,
    differentiable: Sequence[int] | None,
    dtypes: Sequence[str],
    error_inputs: Sequence[Sequence[Any]],
) -> None:
    attempt(report, "make_node", lambda: identity.check_make_node(op, example))
    attempt(report, "wrong input", lambda: identity.check_refusals(op, example, error_inputs))
    attempt(report, "equality, hash, text, pickle", lambda: identity.check_identity(op))
    if not attempt(report, "C code", lambda: values.check_c_code(example)):
        return
    attempt(report, "C code: cache", lambda: values.check_c_cache(example))
    before = identity.parameters(op)
    sound = attempt(report, "values", lambda: values.check_values(example, reference))
    sound &= attempt(report, "layouts of inputs", lambda: values.check_layouts(example)) if sound else False
    for dtype in dtypes if sound else ():
        attempt(report, f"dtype {dtype}", functools.partial(values.check_dtype, op, example, dtype))
    attempt(report, "parameters", lambda: identity.check_parameters(op, example, before))
    if not sound:
        for name in ("infer_shape", "gradient", "gradient, second order", "R-operator"):
            report.add(name, "skipped", "the values are wrong")
        return
    attempt(report, "infer_shape", lambda: derivatives.check_shapes(example))
    wrt = list(differentiable) if differentiable is not None else example.floating
    attempt(report, "gradient", lambda: derivatives.check_gradient(op, example, wrt, rng))
    attempt(report, "gradient, second order", lambda: derivatives.check_second_gradient(op, example, wrt, rng))
    attempt(report, "R-operator", lambda: derivatives.check_rop(op, example, wrt, rng))


def attempt(report: OpReport, check: str, run: Callable[[], str | None]) -> bool:
    """Run a check, note what it found, and return whether there was no fault.

    A check returns nothing if all is well, or why there was nothing to check; it raises what is wrong.
    """
    try:
        skipped = run()
    except DebugModeError as error:
        report.add(check, "fault", str(error))
        return False
    except identity.Fault as error:
        report.add(check, "fault", str(error))
        return False
    except Exception as error:  # noqa: BLE001  (as above)
        let_signals_through(error)
        report.add(check, "fault", said(error))
        return False
    report.add(check, "skipped" if skipped else "ok", skipped or "")
    return True


def said(error: BaseException) -> str:
    """Return an error as the report tells it."""
    notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
    return f"{type(error).__name__}: {error}{notes}"


__all__ = ["check_op"]
