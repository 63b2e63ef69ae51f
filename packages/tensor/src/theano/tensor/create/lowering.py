"""New arrays: kernels built with the layer, and the parameters that each node hands them."""

from __future__ import annotations

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import INTEGERS, REAL, WHOLE, Accepts, Dtypes
from theano.lowering.table import Lowering, register
from theano.lowering.targets import ANY
from theano.tensor.create.alloc import Alloc, AllocEmpty
from theano.tensor.create.arange import ARange, ARangeLength
from theano.tensor.create.diagonals import Eye, Tri
from theano.tensor.device.ops import is_number_of_host
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import VIEW_NS, dtype_of, ndim_of, nothing, ones_of, ready


@ready("th_kernel_eye")
def eye_kernel(op: Eye, node: Apply) -> Parameters:
    """Return a matrix with ones on a diagonal."""
    return parameters.EyeParams(below=False)


@ready("th_kernel_eye")
def tri_kernel(op: Tri, node: Apply) -> Parameters:
    """Return a matrix with ones on a diagonal and below it."""
    return parameters.EyeParams(below=True)


@ready("th_kernel_alloc", work=0.3)
def alloc_kernel(op: Alloc, node: Apply) -> Parameters | None:
    """Return a value repeated to a shape given by further inputs."""
    value, out = node.inputs[0], node.outputs[0]
    return parameters.AllocParams(ones=ones_of(value)) if ndim_of(value) <= ndim_of(out) else None


@ready("th_kernel_alloc_empty", work=VIEW_NS)
def alloc_empty_kernel(op: AllocEmpty, node: Apply) -> Parameters:
    """Return memory of a shape given by the inputs."""
    return nothing


def _all_whole(node: Apply) -> Parameters:
    return parameters.ArangeParams(whole=all(dtype_of(v) in WHOLE for v in node.inputs))


@ready("th_kernel_arange")
def arange_kernel(op: ARange, node: Apply) -> Parameters:
    """Return the numbers from start to stop by step."""
    return _all_whole(node)


@ready("th_kernel_arange_length")
def arange_length_kernel(op: ARangeLength, node: Apply) -> Parameters:
    """Return how many numbers there are from start to stop by step."""
    return _all_whole(node)


def _is_no_triangle(op: Eye, node: Apply) -> bool:
    """Tell whether the op is of a diagonal alone."""
    return not isinstance(op, Tri)  # which no other target makes as it makes its base class


def _all(node: Apply) -> range:
    return range(len(node.inputs))


def _lengths_and_number(node: Apply) -> tuple[int, ...]:
    value, *lengths = node.inputs
    return tuple(range(0 if is_number_of_host(value) else 1, len(lengths) + 1))


# Steps are counted in int64 or in float64, which hold all but these.
_BOUNDS = Dtypes("real, but not uint64", REAL.names - {"uint64"})
_COUNTED = Dtypes("real, but not bool or float16", REAL.names - {"bool", "float16"})
_STEPS = Accepts(
    "start, stop, step -> y", dtypes={"start": _BOUNDS, "stop": _BOUNDS, "step": _BOUNDS, "y": _COUNTED}
)
_MATRIX = Accepts("rows, columns, k -> y", dtypes={"rows": INTEGERS, "columns": INTEGERS, "k": INTEGERS})

register(
    Lowering(Eye, eye_kernel, _MATRIX, when=_is_no_triangle, target=ANY, on_host=_all),
    Lowering(Tri, tri_kernel, _MATRIX),
    Lowering(Alloc, alloc_kernel, Accepts(
        "value, *lengths -> y", dtypes={"lengths": WHOLE}, converts=("value y",),
    ), target=ANY, on_host=_lengths_and_number),
    Lowering(AllocEmpty, alloc_empty_kernel, Accepts(
        "*lengths -> y", dtypes={"lengths": WHOLE},
    ), target=ANY, on_host=_all),
    Lowering(ARange, arange_kernel, _STEPS),
    Lowering(ARangeLength, arange_length_kernel, _STEPS),
)  # fmt: skip
