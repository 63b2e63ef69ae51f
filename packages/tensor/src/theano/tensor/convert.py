"""From Python values to variables: ``as_tensor_variable``, ``constant``, and what a graph knows without running.

Kinds of objects that only an upper module can convert (scalar variables, lists of variables) have a `Converter` that is
registered there.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError, NumberRangeError
from theano.extensions import Chain
from theano.graph import Apply, Constant, Variable
from theano.graph.op_contract import answers
from theano.records import record
from theano.scalar.convert import out_of_range
from theano.settings import config
from theano.tensor.foreign import in_memory
from theano.tensor.type import Tensor, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Value
    from theano.tensor.annotations import TensorLike


class AsTensorError(TypeError):
    """A value cannot become a tensor variable."""


class NotScalarConstantError(Exception):
    """The value of an expression is not one number that can be known without running it."""


class EmptyConstantError(NotScalarConstantError):
    """A constant has no element, so it cannot be one number."""


@record(frozen=True)
class Converter:
    """How :func:`as_tensor_variable` handles another kind of object.

    Parameters
    ----------
    applies : callable
        Whether an object is of that kind.
    convert : callable
        The tensor variable for it.
    """

    applies: Callable[[Any], bool]
    convert: Callable[[Any], Variable]


converters: Chain[Converter] = Chain("tensor.convert.converters", "how an object is a tensor")


def is_tensor(x: object) -> TypeGuard[Tensor]:
    """Return whether ``x`` is a variable of a tensor type."""
    return isinstance(x, Variable) and isinstance(x.type, TensorType)


def whole_number(n: Any) -> int | None:
    """Return a whole number of Python or NumPy as an int, None for anything else.

    A compiled function returns a number as an array without dimensions, which is a count, an axis or a bound, too.

    Examples
    --------
    >>> whole_number(2), whole_number(np.uint8(2)), whole_number(np.array(2)), whole_number(2.0)
    (2, 2, 2, None)
    """
    if isinstance(n, (int, np.integer)) or isinstance(n, np.ndarray) and n.ndim == 0 and n.dtype.kind in "iu":
        return int(n)
    return None


def constant_array(x: object, dtype: str | None = None) -> np.ndarray:
    """Return a Python value as the array that a constant holds.

    A Python number takes the smallest dtype that holds it, as the casting policy says; an array keeps its own.
    """
    if dtype is None and isinstance(x, bool):
        dtype = "int8"  # as in Theano; an array of booleans keeps its dtype
    if dtype is None and isinstance(x, (list, tuple)):
        data = np.asarray(x)
        if data.size == 0:
            return np.asarray(x, dtype=config.floatX)
        return np.asarray(scal.convert(x)) if data.dtype.kind in "biufc" else data
    return np.asarray(scal.convert(x, dtype=dtype))


#: Small numbers that a program writes again and again, each one constant: from its signature.
constant_cache: dict[Hashable, Tensor] = {}
#: How many of them are kept at most.
CACHED_CONSTANTS = 10_000


def constant(x: TensorLike, name: str | None = None, ndim: int | None = None, dtype: str | None = None) -> Tensor:
    """Return a constant tensor.

    A single number from -10 to 10 without a name is the same constant each time (``constant_cache``), which its
    attribute ``cached`` says.

    Parameters
    ----------
    x : array_like
        Its value, which is copied.
    name : str, optional
        What graphs and messages call it.
    ndim : int, optional
        At least this many dimensions; new ones of length 1 go to the left.
    dtype : str, optional
        In place of the smallest dtype that holds the value.

    Returns
    -------
    TensorConstant
        The constant. Its dtype is the smallest that holds the value of a Python number, or that of an array.

    Raises
    ------
    ValueError
        ``x`` has more than ``ndim`` dimensions.
    NumberRangeError
        A number does not fit: a TypeError that is an OverflowError, too.

    See Also
    --------
    as_tensor_variable, theano.shared

    Examples
    --------
    >>> constant(2.0), constant([1, 2, 3]).type
    (TensorConstant{2.0}, TensorType(int64, vector))
    """
    x = in_memory(x)
    data = constant_array(x, dtype)
    if data.dtype == object and data.size and all(isinstance(n, (int, np.integer)) for n in data.reshape(-1)):
        raise out_of_range(x, "int64 or uint64")
    if data.dtype.kind not in "biufc":
        raise TypeError(f"no constant can be made of {x!r}: numpy gives it the dtype {data.dtype}, no number")
    if not data.dtype.isnative:
        data = data.astype(data.dtype.newbyteorder("="))
    if ndim is not None:
        if data.ndim > ndim:
            raise ArgumentError(f"a constant of shape {data.shape} cannot have {ndim} dimensions")
        data = data.reshape((1,) * (ndim - data.ndim) + data.shape)
    # The graph counts on the value staying as it is, so it takes a copy of what the caller may still change.
    if isinstance(x, np.ndarray) and np.may_share_memory(data, x):
        data = data.copy()
    made = TensorType(data.dtype.name, [n == 1 for n in data.shape]).make_constant(data, name=name)
    if name is not None or data.size != 1 or data.dtype.kind not in "iuf" or not -10 <= data <= 10:
        return made
    signature = made.signature()
    known = constant_cache.get(signature)
    # A program may have named it or noted something in its tag since: that is about that one, and another is shared.
    if known is not None and known.name is None and vars(known.tag).keys() <= {"trace"}:
        return known
    if known is not None or len(constant_cache) < CACHED_CONSTANTS:
        made.cached = True
        constant_cache[signature] = made
    return made


def as_tensor_variable(x: Any, name: str | None = None, ndim: int | None = None) -> Tensor:
    """Return ``x`` as a tensor variable.

    Parameters
    ----------
    x : Variable, Apply with one output, array, number, or sequence of these
        What becomes a tensor. A variable that is one already is returned as it is.
    name : str, optional
        Name for a variable made here.
    ndim : int, optional
        Number of dimensions of the result. Dimensions of length 1 are added, or removed where the type
        knows them, at the left.

    Returns
    -------
    TensorVariable
        ``x`` itself, a constant of it, or what joins a sequence.

    Raises
    ------
    AsTensorError
        Nothing sensible can be made of ``x``.
    NumberRangeError
        A number fits in no dtype.
    ValueError
        ``x`` has too many dimensions.

    See Also
    --------
    constant, theano.shared, cast

    Examples
    --------
    >>> as_tensor_variable(np.arange(6.0).reshape(2, 3)).type
    TensorType(float64, matrix)
    >>> as_tensor_variable(True)
    Traceback (most recent call last):
     ...
    theano.tensor.convert.AsTensorError: True and False are not taken as tensors. ...
    """
    if hasattr(x, "_as_TensorVariable"):
        return as_tensor_variable(x._as_TensorVariable(), name, ndim)
    if isinstance(x, Apply):
        x = x.default_output()
    if not is_tensor(x):
        x = _to_tensor(x, name, ndim)
    return x if ndim is None or x.type.ndim == ndim else _with_ndim(x, ndim)


def _to_tensor(x: Any, name: str | None, ndim: int | None) -> Tensor:
    for converter in converters:
        if converter.applies(x):
            made: Any = converter.convert(x)
            return made
    if isinstance(x, Variable):
        raise AsTensorError(f"{x} is a variable of type {x.type}, which is no tensor type and cannot become one")
    if isinstance(x, bool):
        raise AsTensorError(
            "True and False are not taken as tensors. If they come from v == w: that compares two variables as Python "
            "objects; theano.tensor.eq(v, w) compares their values. For a constant, pass numpy.asarray(True)."
        )
    try:
        return constant(x, name=name, ndim=ndim)
    except (ArgumentError, NumberRangeError):
        raise
    except (TypeError, ValueError) as exc:
        text = repr(x)
        raise AsTensorError(
            f"cannot make a tensor of {text if len(text) < 80 else text[:76] + ' ...'} "
            f"(a Python {type(x).__name__}): {exc}"
        ) from exc


def _with_ndim(x: Tensor, ndim: int) -> Tensor:
    if x.type.ndim < ndim:
        return x.dimshuffle(*["x"] * (ndim - x.type.ndim), *range(x.type.ndim))
    extra = x.type.ndim - ndim
    if not builtins.all(x.type.broadcastable[:extra]):
        raise ArgumentError(f"{x} of type {x.type} cannot have {ndim} dimensions: only leading ones of length 1 can go")
    return x.dimshuffle(*range(extra, x.type.ndim))


def gradient_dtype(dtype: str) -> str:
    """Return the dtype of a gradient for values of ``dtype``: floatX where the values count rather than measure."""
    return dtype if dtype[0] in "fc" else str(config.floatX)


# -- values known without running -----------------------------------------------------------------------


def numpy_scalar(data: object) -> Any:
    """Return the one number that ``data`` is worth.

    Parameters
    ----------
    data : array_like
        What has equal elements.

    Returns
    -------
    NumPy scalar
        Their value.

    Raises
    ------
    EmptyConstantError
        It has no elements.
    NotScalarConstantError
        There are several different ones, or none that is a number.

    Examples
    --------
    >>> import numpy as np
    >>> numpy_scalar(np.array(3.0))
    np.float64(3.0)
    """
    array = np.asarray(data)
    if array.size == 0:
        raise EmptyConstantError(f"an array of shape {array.shape} has no value")
    first = array.reshape(-1)[0]
    if array.dtype.kind not in "biufc" or array.ndim > 0 and array.size > 1 and not np.all(array == first):
        raise NotScalarConstantError(f"the value of shape {array.shape} is not the same number everywhere")
    return first if array.ndim else array[()]


def get_scalar_constant_value(
    orig_v: Any, elemwise: bool = True, only_process_constants: bool = False, max_recur: int = 10
) -> np.ndarray:
    """Return the number that an expression is worth, as an array of zero dimensions.

    Nothing is compiled: constants are looked at, and the ops that can tell their value are asked
    (their method ``static_value``).

    Parameters
    ----------
    orig_v : Variable or number
        The expression.
    elemwise : bool
        Also compute element-wise ops of such numbers.
    only_process_constants : bool
        Look at constants only, not at ops.
    max_recur : int
        How deep to look.

    Returns
    -------
    ndarray
        Without dimensions. NotScalarConstantError says that the value is not known.

    Raises
    ------
    NotScalarConstantError
        The value is not known, or not one number.

    See Also
    --------
    extract_constant

    Examples
    --------
    >>> get_scalar_constant_value(constant(np.full((2, 3), 7.0)))
    array(7.)
    """
    if orig_v is None:
        raise NotScalarConstantError("None is not a number")
    if isinstance(orig_v, (np.integer, np.floating, np.bool_, builtins.int, builtins.float, builtins.complex)):
        return np.asarray(orig_v)
    if isinstance(orig_v, np.ndarray):
        return np.asarray(numpy_scalar(orig_v)).copy()
    if isinstance(orig_v, Constant):
        return np.asarray(numpy_scalar(orig_v.data)).copy()
    node = getattr(orig_v, "owner", None)
    if node is None or only_process_constants or max_recur <= 0:
        raise NotScalarConstantError(f"the value of {orig_v} is not known before it is computed")

    def recurse(v: Tensor) -> np.ndarray:
        return get_scalar_constant_value(v, elemwise, only_process_constants, max_recur - 1)

    if getattr(node.op, "scalar_op", None) is not None and not elemwise:
        raise NotScalarConstantError(f"{orig_v} is the result of an element-wise op")
    value = node.op.static_value(node, orig_v.index, recurse)
    if value is None:
        raise NotScalarConstantError(f"the value of {orig_v} is not known before it is computed")
    return np.asarray(value)


def static_element(x: Tensor, k: int, ask: Callable[..., object]) -> Value:
    """Return element ``k`` of a vector if it is known, or None; ``ask`` returns the value of a variable."""
    if isinstance(x, Constant):
        return x.data[k] if -len(x.data) <= k < len(x.data) else None
    if x.owner is None:
        return ask(x) if x.type.broadcastable[0] and k in (0, -1) else None
    op = x.owner.op
    return op.static_element(x.owner, k, ask) if answers(op, "static_element") else ask(x)


def static_int(v: Any) -> int | None:
    """Return the whole number that an expression is worth, or None where it is not known yet."""
    try:
        return int(get_scalar_constant_value(v))
    except NotScalarConstantError:
        return None


def extract_constant(x: TensorLike, elemwise: bool = True, only_process_constants: bool = False) -> Any:
    """Return the number that ``x`` is worth if that is known, else ``x`` as a tensor variable.

    Parameters
    ----------
    x : Variable or number
        The expression.
    elemwise : bool, optional
        Also compute element-wise ops of numbers that are known.
    only_process_constants : bool, optional
        Look at constants only, not at ops.

    Returns
    -------
    ndarray or TensorVariable
        The number, or the expression where it is not known.

    See Also
    --------
    theano.get_scalar_constant_value

    Examples
    --------
    >>> import theano.tensor as T
    >>> extract_constant(T.constant(5) + 0, elemwise=True)
    array(5, dtype=int8)
    """
    try:
        return get_scalar_constant_value(x, elemwise, only_process_constants)
    except NotScalarConstantError:
        return as_tensor_variable(x) if isinstance(x, Variable) and not is_tensor(x) else x


def length_if_known(v: TensorLike) -> int | None:
    """Return the length of a vector, or None where it is known only at run time."""
    try:
        return get_vector_length(v)
    except ValueError:
        return None


def get_vector_length(v: TensorLike) -> int:
    """Return the length of a vector where the graph tells it without running.

    Parameters
    ----------
    v : vector
        The expression.

    Returns
    -------
    int
        How many elements it has. ValueError says that the graph does not tell.

    Raises
    ------
    ArgumentError
        ``v`` is no vector.
    ValueError
        Its length is known only at run time.

    See Also
    --------
    shape

    Examples
    --------
    >>> get_vector_length(constant([4, 5, 6]))
    3
    """
    v = as_tensor_variable(v)
    if v.type.ndim != 1:
        raise ArgumentError(f"a vector is needed, but {v} has {v.type.ndim} dimensions (type {v.type})")
    if v.type.broadcastable[0]:
        return 1
    if isinstance(v, Constant):
        return len(v.data)
    if v.owner is not None:
        known = v.owner.op.static_length(v.owner, v.index)
        if known is not None:
            return int(known)
    raise ValueError(
        f"the length of {v} is known only at run time. Where a number of dimensions follows from it, say ndim=..."
    )
