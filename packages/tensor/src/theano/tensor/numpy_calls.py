"""NumPy's functions, called with tensor variables: ``numpy.exp(x)`` is ``theano.tensor.exp(x)``.

NumPy asks the variables among the arguments, through two methods that :class:`TensorOperators` has. What has no
counterpart here is refused, with a word on what to do: NumPy itself would take a variable for an object without
elements, and compute nonsense with it.

Examples
--------
>>> import numpy as np, theano.tensor as T
>>> x = T.dvector("x")
>>> np.exp(x).owner, np.argmax(x).owner.op, (np.ones(3) * x).owner
(Elemwise{exp,no_inplace}(x), Argmax{axis=None}, Elemwise{mul,no_inplace}(TensorConstant{(3,) of 1.0}, x))
>>> np.median(x)  # doctest: +IGNORE_EXCEPTION_DETAIL
Traceback (most recent call last):
TypeError: numpy.median computes with values, and a variable has none before a function runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from theano.tensor.blas.dot import matmul
from theano.tensor.convert import AsTensorError
from theano.tensor.elemwise import functions as el

#: Where our function has another name than NumPy's.
_RENAMED = {
    "isnan": "isnan_", "isinf": "isinf_",
    "absolute": "abs_", "negative": "neg", "subtract": "sub", "multiply": "mul", "divide": "true_div",
    "floor_divide": "int_div", "remainder": "mod", "power": "pow", "square": "sqr", "reciprocal": "inv", "sign": "sgn",
    "rint": "round_half_to_even", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
    "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor", "conjugate": "conj", "degrees": "rad2deg",
    "radians": "deg2rad",
}  # fmt: skip

#: NumPy's functions with a counterpart in ``theano.tensor``, which enters them when it is loaded.
functions: dict[str, Callable[..., Any]] = {}

#: Functions that look at a variable as a Python object, and may; ``atleast_1d`` makes an array of such objects, by
#: which programs take one variable or several.
_HARMLESS = frozenset((
    "shape", "ndim", "size", "iscomplexobj", "isrealobj", "result_type", "can_cast", "array_repr", "atleast_1d",
))  # fmt: skip


def ufunc(f: Any, method: str, inputs: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Return what a universal function of NumPy is of variables.

    Parameters
    ----------
    f : numpy.ufunc
    method : str
        ``"__call__"``; ``reduce`` and the like are refused.
    inputs : sequence
        Variables among them.
    keywords : dict
        Nothing but ``out``, and that as ``array += x`` has it: the name then stands for the expression.
    """
    name = f.__name__
    if f in (np.equal, np.not_equal):
        return f is np.not_equal  # as == and != of variables: the things themselves are compared
    out = keywords.get("out")
    in_place = out is not None and len(keywords) == 1 and len(out) == 1 and out[0] is inputs[0]
    if method != "__call__" or keywords and not in_place:
        how = f"numpy.{name}" + ("" if method == "__call__" else f".{method}") + f"({', '.join(keywords)})"
        raise TypeError(f"{how} cannot be told of variables: they have no values yet. Use theano.tensor.")
    ours = matmul if f is np.matmul else getattr(el, _RENAMED.get(name, name), None)
    if ours is None:
        raise TypeError(refusal(name))
    try:
        return ours(*inputs)
    except AsTensorError:
        return NotImplemented


def function(f: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Return what another function of NumPy is of variables.

    The first argument may be given by position, and so may those that mean the same in both; others go by keyword.
    """
    name = f.__name__
    if name in _HARMLESS:
        return f._implementation(*arguments, **keywords)
    ours = functions.get({"amax": "max", "amin": "min", "round_": "round"}.get(name, name))
    if ours is None:
        raise TypeError(refusal(name))
    try:
        return ours(*arguments, **keywords)
    except TypeError as error:
        if "argument" in str(error):
            error.add_note(f"theano.tensor.{name} was called for numpy.{name}; its parameters are not all the same")
        raise


def refusal(name: str) -> str:
    """Return why a function of NumPy is not computed."""
    return (
        f"numpy.{name} computes with values, and a variable has none before a function runs. Look for it in "
        f"theano.tensor, or compute it inside a function (theano.compile.as_op makes an op of Python code)."
    )
