"""``theano.tensor.utils``: shapes of all variables of a graph, and small helpers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile import function
from theano.graph import FunctionGraph, Variable
from theano.tensor.convert import is_tensor
from theano.tensor.shape.basic import shape

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike


def hash_from_ndarray(data: TensorLike) -> str:
    """Return a text that is the same for arrays of the same dtype, shape and elements.

    Examples
    --------
    >>> hash_from_ndarray(np.zeros(2)) == hash_from_ndarray(np.zeros(4)[::2])
    True
    """
    array = np.asarray(data)
    import hashlib  # OpenSSL, which takes as long to load as ten modules of ours

    digest = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def shape_of_variables(
    fgraph: FunctionGraph, input_shapes: Mapping[Variable, Sequence[int]]
) -> dict[Variable, tuple[int, ...]]:
    """Return the shape of each tensor of a graph, given those of its inputs.

    Parameters
    ----------
    fgraph : FunctionGraph
    input_shapes : dict from Variable to tuple of int
        For each input.

    Returns
    -------
    dict from Variable to tuple of int

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> y = x[512:]
    >>> graph = theano.FunctionGraph([x], [y], clone=False)
    >>> shape_of_variables(graph, {x: (1024, 1024)})[y]
    (512, 1024)
    """
    missing = [v for v in fgraph.inputs if v not in input_shapes]
    if missing:
        raise ValueError(f"shape_of_variables: no shape is given for the input {missing[0]}")
    tensors = [v for v in fgraph.variables if is_tensor(v)]
    lengths = function(list(fgraph.inputs), [shape(v) for v in tensors], on_unused_input="ignore")
    # One element each, stretched: only what has no shape inference looks at it.
    inputs: Sequence[Any] = fgraph.inputs
    models = [np.broadcast_to(np.zeros((), v.type.dtype), tuple(input_shapes[v])) for v in inputs]
    return {v: tuple(int(n) for n in found) for v, found in zip(tensors, lengths(*models), strict=True)}


def check_equal_numpy(x: object, y: object) -> bool:
    """Return whether two values are the same; of arrays, also dtype, shape and memory layout.

    Parameters
    ----------
    x, y : object
        Arrays, or any values.

    Returns
    -------
    bool
        Whether they are the same.

    Examples
    --------
    >>> check_equal_numpy(np.ones(2), np.ones(2)), check_equal_numpy(np.ones(2), np.ones(2, "float32"))
    (True, False)
    """
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        same = x.dtype == y.dtype and x.shape == y.shape and x.strides == y.strides
        return bool(same and np.array_equal(x, y, equal_nan=x.dtype.kind in "fc"))
    return bool(x == y)


def constructor(f: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function as one that makes variables, and return it; a decorator.

    Parameters
    ----------
    f : callable
        Makes a variable.

    Returns
    -------
    callable
        ``f`` itself.

    Examples
    --------
    >>> constructor(lambda value: value).__name__
    '<lambda>'
    """
    constructors.append(f)
    return f


#: What :func:`constructor` has marked.
constructors: list[Callable[..., Any]] = []


def as_list(x: Any) -> list[int]:
    """Return a sequence as a list, anything else as a list of it.

    Parameters
    ----------
    x : sequence or object
        What becomes a list.

    Returns
    -------
    list
        The elements of ``x``, or ``x`` itself.

    Examples
    --------
    >>> as_list((1, 2)), as_list(3)
    ([1, 2], [3])
    """
    return list(x) if isinstance(x, (list, tuple, set, frozenset, dict)) else [x]
