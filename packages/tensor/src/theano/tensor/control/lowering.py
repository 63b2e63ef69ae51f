"""Lazy choice and checks: kernels built with the layer, and the parameters that each node hands them."""

from __future__ import annotations

from theano.errors import ShapeError
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.graph.text import printable
from theano.loader.abi import abi_constants
from theano.lowering.accepts import REAL, Accepts
from theano.lowering.table import Lowering, register
from theano.lowering.targets import ANY
from theano.tensor.control.checks import Assert
from theano.tensor.control.choice import IfElse
from theano.tensor.convert import is_tensor
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import VIEW_NS, ready

#: What an assertion raises, and its name in C.
_ERRORS = {AssertionError: "TH_ERR_ASSERT", ShapeError: "TH_ERR_SHAPE", Exception: "TH_ERR_VALUE"}


@ready("th_kernel_assert", work=VIEW_NS)
def assert_kernel(op: Assert, node: Apply) -> Parameters:
    """Return the first input itself, if the others are true; ``op.error`` and ``op.msg`` are what it raises else."""
    name = next(name for error, name in _ERRORS.items() if issubclass(op.error, error))
    # As much of the text as C can hold.
    return parameters.MessageParams(error=abi_constants()[name], text=printable(op.msg).partition("\0")[0])


@ready("th_kernel_choice", work=lambda op: VIEW_NS if op.as_view else 0.5, lazy=True)
def choice_kernel(op: IfElse, node: Apply) -> Parameters:
    """Return one of two lists of inputs, as input 0 says; only that one is computed."""
    return parameters.IfElseParams(as_view=bool(op.as_view))


def _is_of_a_tensor(op: Assert, node: Apply) -> bool:
    """Tell whether the value is a tensor."""
    return is_tensor(node.inputs[0])


def _are_buffers(op: IfElse, node: Apply) -> bool:
    """Tell whether all values are tensors or numbers."""
    return all(v.type.buffer_spec() is not None for v in node.inputs)


def _conditions(node: Apply) -> range:
    return range(1, len(node.inputs))


register(
    Lowering(
        Assert, assert_kernel, Accepts("value, *conditions -> y", dtypes={"conditions": REAL}, view=True),
        when=_is_of_a_tensor, target=ANY, on_host=_conditions,
    ),
    Lowering(
        IfElse, choice_kernel, Accepts("condition, *values -> *chosen"), when=_are_buffers, target=ANY,
        on_host=lambda node: (0,),
    ),
)  # fmt: skip
