"""Functions of ``theano.compile.nanguardmode`` that older programs call: whether NaN or infinity is in a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.compile.nanguardmode import is_exempt
from theano.graph.apply import Apply
from theano.graph.variable import Variable
from theano.runtime.inspection import inspection_of


def flatten(l: Any) -> list[Any]:
    """Return the elements of nested lists, tuples and sets in one list.

    Examples
    --------
    >>> flatten([1, (2, [3])]), flatten(4)
    ([1, 2, 3], [4])
    """
    if not isinstance(l, (list, tuple, set)):
        return [l]
    return [x for inner in l for x in flatten(inner)]


def contains_nan(arr: object, node: Apply | None = None, var: Variable | None = None) -> bool:
    """Return whether some number in ``arr`` is NaN; no if ``var`` is tagged not to be checked.

    Examples
    --------
    >>> contains_nan(float("nan")), contains_nan(1.0)
    (True, False)
    """
    if var is not None and is_exempt(var):
        return False
    found = inspection_of(var.type).extremes(arr) if var is not None else None
    if found is not None:
        return found.nan > 0
    return _any(arr, lambda a: a != a)


def contains_inf(arr: object, node: Apply | None = None, var: Variable | None = None) -> bool:
    """Return whether some number in ``arr`` is infinite; no if ``var`` is tagged not to be checked.

    Examples
    --------
    >>> contains_inf(-float("inf")), contains_inf(1.0)
    (True, False)
    """
    if var is not None and is_exempt(var):
        return False
    found = inspection_of(var.type).extremes(arr) if var is not None else None
    if found is not None:
        return found.inf > 0
    return _any(arr, lambda a: abs(a) == float("inf"))


def _any(arr: object, test: Callable[..., object]) -> bool:
    kind = getattr(getattr(arr, "dtype", None), "kind", "f" if isinstance(arr, (float, complex)) else "")
    if kind not in ("f", "c"):
        return False  # no number, or one that is always finite
    found = test(arr)
    return bool(found.any()) if hasattr(found, "any") else bool(found)
