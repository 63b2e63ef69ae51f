"""Lazy choice and checks: kernels built with the layer, and the parameters that each node hands them."""

from __future__ import annotations

from typing import Any

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.graph.text import printable
from theano.lowering.accepts import REAL, Accepts
from theano.lowering.table import Lowering, register
from theano.lowering.targets import ANY
from theano.tensor.control.checks import Assert
from theano.tensor.control.choice import IfElse
from theano.tensor.convert import is_tensor
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import VIEW_NS, ready


def _text(op: Any) -> Parameters:
    """Return the text of an assertion's error, as far as C can hold it."""
    return parameters.Message(text=printable(op.msg).partition("\0")[0])


@ready("th_kernel_assert", work=VIEW_NS)
def assert_kernel(op: Any, node: Apply) -> Parameters:
    """Return the first input itself, if the others are true; ``op.msg`` is the text of the error."""
    return _text(op)


@ready("th_kernel_checked_length", work=VIEW_NS)
def checked_length_kernel(op: Any, node: Apply) -> Parameters:
    """Return the first input itself, if the others are true; that they are not is a ValueError."""
    return _text(op)


@ready("th_kernel_choice", work=lambda op: VIEW_NS if op.as_view else 0.5, lazy=True)
def choice_kernel(op: Any, node: Apply) -> Parameters:
    """Return one of two lists of inputs, as input 0 says; only that one is computed."""
    return parameters.IfElse(as_view=bool(op.as_view))


def _asserts(op: Any, node: Apply) -> bool:
    """Tell whether the value is a tensor and the error an AssertionError."""
    return is_tensor(node.inputs[0]) and issubclass(op.error, AssertionError)


def _checks_a_length(op: Any, node: Apply) -> bool:
    """Tell whether the value is a tensor and the error another one, a ValueError."""
    return is_tensor(node.inputs[0]) and not issubclass(op.error, AssertionError)


def _are_buffers(op: Any, node: Apply) -> bool:
    """Tell whether all values are tensors or numbers."""
    return all(v.type.buffer_spec() is not None for v in node.inputs)


def _conditions(node: Apply) -> range:
    return range(1, len(node.inputs))


_CHECKED = Accepts("value, *conditions -> y", dtypes={"conditions": REAL}, view=True)

register(
    Lowering(Assert, assert_kernel, _CHECKED, when=_asserts, target=ANY, on_host=_conditions),
    Lowering(Assert, checked_length_kernel, _CHECKED, when=_checks_a_length, target=ANY, on_host=_conditions),
    Lowering(
        IfElse, choice_kernel, Accepts("condition, *values -> *chosen"), when=_are_buffers, target=ANY,
        on_host=lambda node: (0,),
    ),
)  # fmt: skip
