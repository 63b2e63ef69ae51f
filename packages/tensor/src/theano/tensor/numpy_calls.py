"""NumPy's functions, called with tensor variables: ``numpy.exp(x)`` is ``theano.tensor.exp(x)``.

NumPy asks the variables among the arguments, through two methods that :class:`TensorOperators` has. What has no
counterpart here is refused, with a word on what to do: NumPy itself would take a variable for an object without
elements, and compute nonsense with it.

Values, shapes and dtypes are those of NumPy's function, also where the function of ``theano.tensor`` means something
else. Four things are those of ``theano.tensor``: dtypes of what Python's operators write, by ``floatX``; lengths of 1,
which are stretched where the type knows them; integers to negative powers; and ``numpy.equal(array, x)``, which cannot
be distinguished from ``array == x``.

Examples
--------
>>> import numpy as np, theano.tensor as T
>>> x = T.dvector("x")
>>> np.exp(x).owner, np.argmax(x).owner.op, (np.ones(3) * x).owner
(Elemwise{exp,no_inplace}(x), Argmax{axis=None}, Elemwise{mul,no_inplace}(TensorConstant{(3,) of 1.0}, x))
>>> np.histogram(x)  # doctest: +IGNORE_EXCEPTION_DETAIL
Traceback (most recent call last):
TypeError: numpy.histogram computes with values, and a variable has none before a function runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Variable
from theano.layers.spellings import named as loaded
from theano.scalar import discrete_dtypes
from theano.tensor.blas.dot import matmul
from theano.tensor.convert import AsTensorError, as_tensor_variable
from theano.tensor.elemwise import functions as el
from theano.tensor.type import dtype_name

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

#: Where our function has another name than NumPy's.
RENAMED = {
    "isnan": "isnan_", "isinf": "isinf_",
    "absolute": "abs_", "negative": "neg", "subtract": "sub", "multiply": "mul", "divide": "true_div",
    "floor_divide": "int_div", "remainder": "mod", "power": "pow", "square": "sqr", "reciprocal": "inv", "sign": "sgn",
    "rint": "round_half_to_even", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
    "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor", "conjugate": "conj", "degrees": "rad2deg",
    "radians": "deg2rad",
}  # fmt: skip

#: Those that Python's operators call; their dtypes are those of our operators, which ask the flag ``floatX``.
_OPERATORS = frozenset((
    np.add, np.subtract, np.multiply, np.true_divide, np.floor_divide, np.remainder, np.power, np.bitwise_and,
    np.bitwise_or, np.bitwise_xor, np.less, np.less_equal, np.greater, np.greater_equal, np.matmul, np.negative,
    np.positive, np.absolute, np.invert,
))  # fmt: skip

#: Counterparts of NumPy's functions; ``theano.tensor`` enters them when it is loaded.
functions: dict[Callable[..., Any], Callable[..., Any]] = {}

#: Those that are loaded at their first use: their places by the full name of NumPy's function.
places: dict[str, str] = {}

#: Functions that look at a variable as a Python object, and may; ``atleast_1d`` makes an array of such objects, by
#: which programs take one variable or several.
_HARMLESS = frozenset((np.shape, np.array_repr, np.atleast_1d))

#: Functions of scalars that make an array of such objects, by which programs join lists of inputs.
_OF_SCALARS = frozenset((np.hstack,))

#: Functions that ask for dtype and number of dimensions alone, of arrays without elements as well.
_OF_TYPES = frozenset((np.ndim, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast))


def ufunc(f: Any, method: str, inputs: Sequence[TensorLike], keywords: Mapping[str, Any]) -> Any:
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
    if f in (np.equal, np.not_equal) and not isinstance(inputs[0], Variable):
        # array == x calls them with the array first; as == and != of variables, it compares the things themselves.
        return f is np.not_equal
    out = keywords.get("out")
    in_place = out is not None and len(keywords) == 1 and len(out) == 1 and out[0] is inputs[0]
    ours = counterpart(f) if method == "__call__" else None
    if ours is not None and f"numpy.{name}" in places and set(keywords) <= set(signature(ours).parameters):
        return ours(*inputs, **keywords)
    if method != "__call__" or keywords and not in_place:
        how = f"numpy.{name}" + ("" if method == "__call__" else f".{method}") + f"({', '.join(keywords)})"
        raise TypeError(f"{how} does not work on variables: they have no values yet. Use theano.tensor.")
    if ours is None:
        raise TypeError(refusal(f"numpy.{name}"))
    try:
        found = ours(*inputs)
    except AsTensorError:
        return NotImplemented
    return found if f in _OPERATORS or getattr(np, name, None) is not f else _as_numpys(f, inputs, found)


def counterpart(f: Callable[..., object]) -> Callable[..., Any] | None:
    """Return what stands for a function of NumPy, or None.

    Examples
    --------
    >>> counterpart(np.linalg.inv).__module__, counterpart(np.save)
    ('theano.tensor.composed.equations', None)
    """
    name = f.__name__
    if f in functions:
        return functions[f]
    if isinstance(f, np.ufunc):
        ours = matmul if f is np.matmul else getattr(el, RENAMED.get(name, name), None)
        if ours is not None:
            return ours
        full = f"numpy.{name}"
    else:
        full = f"{f.__module__}.{name}"
    return loaded(places[full]) if full in places else None


def dtype_of_result(f: np.ufunc, inputs: Sequence[TensorLike]) -> str:
    """Return the dtype of a universal function's result; Python's numbers have none, and follow the others.

    Raises
    ------
    TypeError
        NumPy does not have the function for these dtypes.
    """
    weak = (int, float, complex)
    dtypes = [type(v) if type(v) in weak else np.dtype(as_tensor_variable(v).type.dtype) for v in inputs]
    return f.resolve_dtypes((*dtypes, None))[-1].name


def _as_numpys(f: Any, inputs: Sequence[TensorLike], found: Variable) -> Variable:
    """Return a result in the dtype of NumPy's function.

    Raises
    ------
    TypeError
        NumPy does not have the function for these dtypes.
    """
    dtype = dtype_of_result(f, inputs)
    if f is np.reciprocal and dtype in discrete_dtypes:
        raise TypeError("numpy.reciprocal of whole numbers is a whole number: say 1 // x, or theano.tensor.inv(x).")
    return el.cast(found, dtype)


def function(f: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Return what another function of NumPy is of variables.

    Raises
    ------
    TypeError
        It has no counterpart, or the counterpart lacks a parameter that is given and is not NumPy's default.
    """
    if f in _HARMLESS:
        return f._implementation(*arguments, **keywords)
    if f in _OF_SCALARS:
        joined = f._implementation(*arguments, **keywords)
        if not any(getattr(element, "ndim", 0) for element in joined.flat):
            return joined
    if f in _OF_TYPES:
        return f(*map(_without_elements, arguments), **{k: _without_elements(v) for k, v in keywords.items()})
    name = f"{f.__module__}.{f.__name__}"
    ours = counterpart(f)
    if ours is None:
        raise TypeError(refusal(name))
    try:
        theirs = signature(f)
    except ValueError:  # older versions of NumPy say nothing of functions in C
        return ours(*arguments, **keywords)
    given: list[Any] = []
    named: dict[str, Any] = {}
    known = signature(ours).parameters
    for word, value in theirs.bind(*arguments, **keywords).arguments.items():
        parameter = theirs.parameters[word]
        if parameter.kind is parameter.VAR_POSITIONAL:
            given.extend(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(value)
        elif parameter.default is parameter.empty:
            given.append(value)
        elif _same(value, parameter.default):
            continue
        elif word in known:
            named[word] = dtype_name(value) if word == "dtype" else value
        else:
            raise TypeError(
                f"the parameter {word!r} of {name} has no counterpart for variables: compute its effect with functions "
                "of theano.tensor."
            )
    return ours(*given, **named)


def _same(value: Any, default: Any) -> bool:
    """Return whether a value is a parameter's default, or None where NumPy tells that from no value at all."""
    if value is default or value is None and default is np._NoValue:
        return True
    return type(value) in (bool, int, float, str) and type(value) is type(default) and value == default


def _without_elements(v: Tensor | type) -> Any:
    return np.empty((0,) * v.type.ndim, v.type.dtype) if isinstance(v, Variable) else v


def refusal(name: str) -> str:
    """Return why a function of NumPy is not computed."""
    return (
        f"{name} computes with values, and a variable has none before a function runs. Look for it in "
        f"theano.tensor, or compute it inside a function (theano.compile.as_op makes an op of Python code)."
    )
