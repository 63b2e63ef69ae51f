"""The names of types that programs call (``T.dmatrix``, ``T.lvector``), and their docstrings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from theano.tensor.type import TensorType

LETTERS = {
    "b": "int8",
    "w": "int16",
    "i": "int32",
    "l": "int64",
    "f": "float32",
    "d": "float64",
    "c": "complex64",
    "z": "complex128",
}
PATTERNS: dict[str, tuple[bool, ...]] = {
    "scalar": (),
    "vector": (False,),
    "matrix": (False, False),
    "row": (True, False),
    "col": (False, True),
    **{f"tensor{n}": (False,) * n for n in range(3, 8)},
}


def document(kind: TensorType) -> str:
    """Return the docstring of a type of tensors: what its variables stand for, and a program that has one.

    Examples
    --------
    >>> import theano.tensor as T
    >>> print(document(T.lrow).partition("Parameters")[0].rstrip())
    Make a variable that stands for a row of int64: an array of shape (1, n).
    """
    ndim, free = kind.ndim, iter("nmpqrstuvw" * 7)
    lengths = ", ".join("1" if known else next(free) for known in kind.broadcastable) + "," * (ndim == 1)
    name = next((name for name, pattern in PATTERNS.items() if pattern == kind.broadcastable), "tensor")
    shown = name if not name.startswith("tensor") else f"tensor of {ndim} dimensions"
    return f"""Make a variable that stands for a {shown} of {kind.dtype}: an array of shape ({lengths}).

Parameters
----------
name : str, optional
    What graphs and messages call it, and the keyword of its value when a function is called.

Returns
-------
TensorVariable
    It has the methods and operators of an array: ``x.sum()``, ``x.T``, ``x[1:]``, ``x @ y``.

See Also
--------
theano.tensor.{name} : The same with a dtype of one's choice.
theano.function : Compile expressions; the variable is an argument there.
theano.shared : A variable that keeps its value between calls.

Examples
--------
{_example(kind, name)}
"""


def _example(kind: TensorType, name: str) -> str:
    letter = next((letter for letter, dtype in LETTERS.items() if dtype == kind.dtype), "")
    pattern = "" if name in PATTERNS else f", {kind.broadcastable}"
    made = f"{letter}{name}(" if letter and not pattern else f'TensorType("{kind.dtype}"{pattern})('
    lines = [">>> import theano", ">>> import theano.tensor as T", f'>>> x = T.{made}"x")']
    if kind.ndim > 2 or not letter:
        return "\n".join([*lines, ">>> x.ndim, x.dtype", repr((kind.ndim, kind.dtype))])
    shape = [1 if known else 2 for known in kind.broadcastable]
    value = np.arange(1, 1 + int(np.prod(shape))).reshape(shape)
    result = repr(np.asarray(2 * value, kind.dtype))
    return "\n".join([*lines, f">>> theano.function([x], 2 * x)({value.tolist()})", result])
