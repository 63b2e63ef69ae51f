"""Element-wise kernels of single operations, compiled with the layer: ``c/single.c`` says which there are."""

from __future__ import annotations

import ctypes
from functools import cache

import theano.scalar as ts
from theano.graph.kernel import Builtin
from theano.scalar.composite import Composite
from theano.tensor.kernels.common import library_path
from theano.tensor.kernels.nest import Map
from theano.tensor.kernels.parameters import SingleParams

_LETTERS = {"all": "m", "none": "s"}


def single_kernel(nest: Map, work: float) -> Builtin | None:
    """Return the kernel in the library for a loop of one operation, or None if it has none.

    Parameters
    ----------
    nest : Map
        Of at least one axis.
    work : float
        Nanoseconds per element.

    Examples
    --------
    >>> import theano.tensor as T
    >>> from theano.tensor.kernels.nest import map_of
    >>> single_kernel(map_of((T.fvector("x") * T.fvector("y")).owner), 0.3).symbol
    'th_single_mul_float32_mm'
    >>> single_kernel(map_of((T.dmatrix("x") * T.row("y")).owner), 0.3) is None
    True
    """
    path, symbol = library_path(), symbol_of(nest)
    if path is None or symbol is None or not _is_there(path, symbol):
        return None
    picoseconds = round(work * 1e3)
    params = SingleParams(ndim=nest.ndim, over=nest.over[0], work=picoseconds, ones=[x.ones for x in nest.inputs])
    return Builtin(path, symbol, params, work)


def symbol_of(nest: Map) -> str | None:
    """Return the name that the kernel of such a loop would have, or None where no kernel is like it."""
    if len(nest.inputs) > 2 or len(nest.outputs) > 1 or isinstance(nest.function, Composite):
        return None
    name, dtypes = str(nest.function), {o.dtype for o in nest.operands}
    moves = "".join(_LETTERS.get(nest.moves(x), "-") for x in nest.inputs)
    if nest.function != getattr(ts, name, None) or len(dtypes) > 1 or moves not in ("m", "mm", "ms", "sm"):
        return None
    return "_".join(("th_single", name, *dtypes, *([moves] if len(moves) == 2 else [])))


@cache
def _is_there(path: str, symbol: str) -> bool:
    return hasattr(ctypes.CDLL(path), symbol)
