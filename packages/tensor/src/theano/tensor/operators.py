"""What Python's operators and the usual methods mean on tensors.

Each method is one call of a function that has the documentation; this file only says which.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.extensions import Chain
from theano.graph import Variable
from theano.tensor import functions as fn
from theano.tensor import numpy_calls
from theano.tensor.blas.dot import dot, matmul
from theano.tensor.convert import (
    AsTensorError,
    as_tensor_variable,
    get_scalar_constant_value,
    get_vector_length,
    whole_number,
)
from theano.tensor.create.alloc import ones_like, zeros_like
from theano.tensor.elemwise import functions as el
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.index.derived import compress
from theano.tensor.index.functions import getitem, nonzero, nonzero_values, take
from theano.tensor.reduce import extremes
from theano.tensor.reduce import functions as reduce
from theano.tensor.shape.basic import shape
from theano.tensor.shape.diagonals import diagonal, trace
from theano.tensor.shape.repeat import repeat
from theano.tensor.shape.reshape import flatten, reshape, squeeze, swapaxes, transpose
from theano.tensor.sort.cumulative import cumprod, cumsum
from theano.tensor.sort.op import argsort, sort
from theano.tensor.sort.search import searchsorted
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    import numpy as np

    from theano.tensor.annotations import Axis, Index, TensorLike
    from theano.tensor.type import Tensor


def _binary(function: Callable[[Any, Any], Any]) -> Callable[[Any, TensorLike], Tensor]:
    def method(self: Any, other: TensorLike) -> Tensor:
        try:
            return function(self, other)
        except scal.ComplexError:
            raise
        except (NotImplementedError, AsTensorError):
            # Python then asks the other operand, which may know more than we do.
            return NotImplemented

    return method


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, TensorLike], Tensor]:
    def method(self: Any, other: TensorLike) -> Tensor:
        try:
            return function(other, self)
        except scal.ComplexError:
            raise
        except (NotImplementedError, AsTensorError):
            return NotImplemented

    return method


def _unary(function: Callable[[Any], Any], name: str) -> Callable[[Any], Tensor]:
    def method(self: Any) -> Tensor:
        return function(self)

    method.__name__ = name
    method.__doc__ = f"Return ``theano.tensor.{name}`` of this tensor."
    return method


if TYPE_CHECKING:
    _Base = Variable[TensorType]  # whatever has these operators is one
else:
    _Base = object


#: Functions of NumPy that report an error of `__index__` as one of their own.
_FROM_LENGTHS = frozenset(("zeros", "empty", "ndarray", "reshape", "resize"))


def _without_value(what: str, instead: str) -> Callable[[object], NoReturn]:
    def method(self: object) -> NoReturn:
        raise TypeError(f"{what} a value, and {self} has one only when a function runs: {instead}")

    return method


_power = _binary(el.pow)


def _pow(self: TensorOperators, other: TensorLike, modulus: object = None) -> Tensor:
    if modulus is not None:
        raise TypeError(
            f"pow(x, y, z) is of numbers, and {self} has a value only when a function runs: "
            f"write {_operand(self)} ** {_operand(other)} % {_operand(modulus)}"
        )
    return _power(self, other)


def _operand(x: object) -> str:
    """Return the text of an operand, an expression in parentheses."""
    return f"({x})" if isinstance(x, Variable) and x.owner is not None else str(x)


def _rmul(self: TensorOperators, other: TensorLike) -> Tensor:
    if isinstance(other, (list, tuple)) and len(other) == 1 and self.ndim == 0 and self.dtype in scal.integer_dtypes:
        warnings.warn(
            f"{other!r} * {self} is the product of {other[0]} and {self}, in a vector of length 1; for as many "
            f"elements as {self} says, write T.full(n, {other[0]})",
            stacklevel=2,
        )
    return _reflected(el.mul)(self, other)


class TensorOperators(_Base):
    """Operators and methods of tensor variables.

    ``==`` and ``!=`` compare the variables themselves, as dictionaries need; values are compared by
    ``theano.tensor.eq`` and ``theano.tensor.neq``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> x + 1, x[0].sum(), (x > 0).dtype, x.T.owner
    (Elemwise{add,no_inplace}.0, Sum{acc_dtype=float64}.0, 'bool', InplaceDimShuffle{1,0}(x))
    """

    # NumPy arrays on the left, and NumPy's functions, leave the operation to us.
    __array_priority__ = 1000
    __hash__ = Variable.__hash__

    def __array_ufunc__(self, ufunc: object, method: str, *inputs: TensorLike, **keywords: object) -> Tensor:
        return numpy_calls.ufunc(ufunc, method, inputs, keywords)

    def __array_function__(
        self, function: object, types: tuple[type, ...], arguments: Any, keywords: Mapping[str, str | type]
    ) -> Tensor:
        return numpy_calls.function(function, arguments, keywords)

    # -- what the type says -----------------------------------------------------------------------------

    @property
    def dtype(self) -> str:
        """Name of the element type."""
        return self.type.dtype

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each dimension, whether its length is known to be 1."""
        return self.type.broadcastable

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.type.ndim

    @property
    def shape(self) -> Tensor:
        """The lengths of the dimensions, as a vector of int64."""
        return shape(self)

    @property
    def size(self) -> Tensor:
        """The number of elements."""
        return self.shape[0] if self.ndim == 1 else reduce.prod(self.shape)

    # -- operators ----------------------------------------------------------------------------------------

    __abs__ = _unary(el.abs_, "abs_")
    __neg__ = _unary(el.neg, "neg")
    __invert__ = _unary(el.invert, "invert")
    __ceil__ = _unary(el.ceil, "ceil")
    __floor__ = _unary(el.floor, "floor")
    __trunc__ = _unary(el.trunc, "trunc")

    __add__, __radd__ = _binary(el.add), _reflected(el.add)
    __sub__, __rsub__ = _binary(el.sub), _reflected(el.sub)
    __mul__, __rmul__ = _binary(el.mul), _rmul
    __div__, __rdiv__ = _binary(fn.div_proxy), _reflected(fn.div_proxy)
    __truediv__, __rtruediv__ = _binary(el.true_div), _reflected(el.true_div)
    __floordiv__, __rfloordiv__ = _binary(el.int_div), _reflected(el.int_div)
    __mod__, __rmod__ = _binary(fn.mod_check), _reflected(fn.mod_check)
    __divmod__, __rdivmod__ = _binary(fn.divmod), _reflected(fn.divmod)
    __pow__, __rpow__ = _pow, _reflected(el.pow)
    __and__, __rand__ = _binary(el.and_), _reflected(el.and_)
    __or__, __ror__ = _binary(el.or_), _reflected(el.or_)
    __xor__, __rxor__ = _binary(el.xor), _reflected(el.xor)
    __matmul__, __rmatmul__ = _binary(matmul), _reflected(matmul)
    __dot__, __rdot__ = _binary(dot), _reflected(dot)
    __lt__, __le__ = _binary(el.lt), _binary(el.le)
    __gt__, __ge__ = _binary(el.gt), _binary(el.ge)

    def __bool__(self) -> bool:
        # Programs test whether a variable exists at all (`if mask:`), and it has always been so. For an expression,
        # the value may be meant; for a comparison, only the value can be.
        if self.owner is None:
            return True
        if self.type.dtype != "bool":
            warnings.warn(
                f"the truth of {self} is that there is such an expression, whatever its value; write `is not None`",
                UserWarning,
                stacklevel=2,
            )
            return True
        raise TypeError(
            f"Variables do not support boolean operations: {self} is a symbol, known only when a function runs. "
            "If this comes from x < y < z or from 'and', 'or', 'not', 'if', 'while': use T.and_, T.or_, T.invert, "
            "T.switch or theano.ifelse.ifelse. If it comes from max, min or sorted: use T.maximum, T.minimum or "
            "T.sort(T.stack([x, y])). To test for None, write `x is None`."
        )

    __nonzero__ = __bool__

    def __len__(self) -> int:
        raise TypeError(
            f"object of type 'TensorVariable' has no len(): the length of {self} is known only when a function runs. "
            "Use x.shape[0] instead for a symbolic length."
        )

    def __iter__(self) -> Iterator[Tensor]:
        try:
            length = get_vector_length(self)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"TensorType does not support iteration: the length of {self} is not known while the graph is built. "
                "Loop over it with theano.scan, or write x[0], x[1] for its parts. "
                "(Is an expression passed where a Python sequence is needed, as in sum(x) for x.sum()?)"
            ) from None
        return (self[i] for i in range(length))

    def __contains__(self, item: int) -> bool:
        raise TypeError(f"`in` needs the values of {self}, known only when a function runs: use T.any(T.eq(x, y))")

    def __getitem__(self, args: Any) -> Tensor:
        return getitem(self, args)

    def __delitem__(self, args: Index) -> None:
        raise TypeError(
            f"'TensorVariable' object does not support item deletion: the expression {self} cannot be changed. "
            "T.concatenate([x[:i], x[i + 1:]]) is one without an element."
        )

    __int__ = _without_value("int(x) needs", "write T.cast(x, 'int64')")
    __float__ = _without_value(
        "float(x), numpy.arange(n) and functions of `math` need",
        "write T.cast(x, 'float64'), T.arange(n), or T.exp(x) and the like",
    )
    __complex__ = _without_value("complex(x) needs", "write T.cast(x, 'complex128')")
    __bytes__ = _without_value("bytes(x) needs", "call a function of it, whose result has tobytes()")

    def __round__(self, digits: int | None = None) -> NoReturn:
        instead = f"T.round(x * 10.0**{digits}) / 10.0**{digits}" if digits else "T.round(x)"
        raise TypeError(
            f"round(x) needs a value, and {self} has one only when a function runs: write {instead}, or T.iround(x) "
            "for whole numbers"
        )

    def __index__(self) -> int:
        if _FROM_LENGTHS.intersection(sys._getframe(1).f_code.co_names):
            # NumPy puts an error of its own in place of this one, which says only that n is no integer.
            warnings.warn(
                f"arrays of NumPy need lengths that are numbers, and {self} has a value only when a function runs: "
                "write T.zeros(n), T.full(n, x) or T.reshape(x, (n, -1))",
                stacklevel=2,
            )
        raise TypeError(
            f"range(n), numpy.zeros(n) and indices of lists and arrays need a value, and {self} has one only when a "
            "function runs: write T.arange(n), T.zeros(n) or T.constant(a)[n], or loop with theano.scan"
        )

    if not TYPE_CHECKING:  # to type checkers, a product of an array with what has this is an array

        def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
            """Return an array of no dimensions whose element is the variable, as NumPy makes of any other object."""
            import numpy as np  # the caller has loaded it

            if dtype is not None and np.dtype(dtype) != object:
                raise TypeError(
                    f"an array of dtype {np.dtype(dtype)} needs values, and {self} has one only when a function runs: "
                    "call a function of it, or x.eval({...}); T.stack makes a tensor of several variables"
                )
            if dtype is None:
                warnings.warn(
                    f"numpy.array makes an array of objects of {self}, which has no value until a function runs: write "
                    "T.stack([x, y]) for a tensor of variables, x.eval({...}) for the value, T.constant(a)[x] for a "
                    "part of an array, or numpy.array(x, object)",
                    stacklevel=2,
                )
            array = np.empty((), object)
            array[()] = self
            return array

    def __format__(self, spec: str) -> str:
        if spec:
            raise TypeError(
                f"the format {spec!r} needs a value, and {self} has one only when a function runs: format the result "
                "of the function, or print values while it runs with theano.printing.Print"
            )
        return str(self)

    def __setitem__(self, args: Index, value: int) -> None:
        raise TypeError(
            f"'TensorVariable' object does not support item assignment: the expression {self} cannot be changed. "
            "T.set_subtensor(x[i], y) returns a new one with the part replaced (T.inc_subtensor: increased)."
        )

    # -- element by element -------------------------------------------------------------------------------

    exp, exp2, expm1 = _unary(el.exp, "exp"), _unary(el.exp2, "exp2"), _unary(el.expm1, "expm1")
    log, log2, log10 = _unary(el.log, "log"), _unary(el.log2, "log2"), _unary(el.log10, "log10")
    log1p = _unary(el.log1p, "log1p")
    sqrt = _unary(el.sqrt, "sqrt")
    ceil, floor, trunc = _unary(el.ceil, "ceil"), _unary(el.floor, "floor"), _unary(el.trunc, "trunc")
    sin, cos, tan = _unary(el.sin, "sin"), _unary(el.cos, "cos"), _unary(el.tan, "tan")
    arcsin, arccos, arctan = _unary(el.arcsin, "arcsin"), _unary(el.arccos, "arccos"), _unary(el.arctan, "arctan")
    sinh, cosh, tanh = _unary(el.sinh, "sinh"), _unary(el.cosh, "cosh"), _unary(el.tanh, "tanh")
    arcsinh, arccosh = _unary(el.arcsinh, "arcsinh"), _unary(el.arccosh, "arccosh")
    arctanh = _unary(el.arctanh, "arctanh")
    deg2rad, rad2deg = _unary(el.deg2rad, "deg2rad"), _unary(el.rad2deg, "rad2deg")
    conj, conjugate = _unary(el.conj, "conj"), _unary(el.conj, "conj")

    @property
    def real(self) -> Tensor:
        """The real parts."""
        return el.real(self)

    @property
    def imag(self) -> Tensor:
        """The imaginary parts."""
        return el.imag(self)

    def round(self, mode: str | None = None) -> Tensor:
        """Return whole numbers near the elements; see :func:`theano.tensor.round`."""
        return fn.round(self, mode)

    def clip(self, a_min: object, a_max: object) -> Tensor:
        """Return the elements, moved into ``a_min .. a_max``."""
        return el.clip(self, a_min, a_max)

    def astype(self, dtype: str) -> Tensor:
        """Return the elements converted to another dtype."""
        return el.cast(self, dtype)

    def fill(self, value: TensorLike) -> Tensor:
        """Return ``value`` in the shape of this tensor."""
        return el.fill(self, value)

    def zeros_like(self, dtype: str | None = None, opt: bool = False) -> Tensor:
        """Return zeros of this shape."""
        return zeros_like(self, dtype, opt)

    def ones_like(self, dtype: str | None = None, opt: bool = False) -> Tensor:
        """Return ones of this shape."""
        return ones_like(self, dtype, opt)

    def copy(self, name: str | None = None) -> Tensor:
        """Return the same values in memory of their own."""
        result = el.tensor_copy(self)
        result.name = name
        return result

    # -- reductions -----------------------------------------------------------------------------------------

    def sum(
        self, axis: Axis = None, dtype: str | None = None, keepdims: bool = False, acc_dtype: str | None = None,
        initial: TensorLike | None = None,
    ) -> Tensor:  # fmt: skip
        """Return the sum along axes; see :func:`theano.tensor.sum`."""
        return reduce.sum(self, axis, dtype, keepdims, acc_dtype, initial)

    def prod(
        self, axis: Axis = None, dtype: str | None = None, keepdims: bool = False, acc_dtype: str | None = None,
        initial: TensorLike | None = None,
    ) -> Tensor:  # fmt: skip
        """Return the product along axes."""
        return reduce.prod(self, axis, dtype, keepdims, acc_dtype, initial=initial)

    def mean(
        self, axis: Axis = None, dtype: str | None = None, keepdims: bool = False, acc_dtype: str | None = None
    ) -> Tensor:
        """Return the mean along axes."""
        return reduce.mean(self, axis=axis, dtype=dtype, keepdims=keepdims, acc_dtype=acc_dtype)

    def var(self, axis: Axis = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False) -> Tensor:
        """Return the variance along axes."""
        return reduce.var(self, axis=axis, ddof=ddof, keepdims=keepdims, corrected=corrected)

    def std(self, axis: Axis = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False) -> Tensor:
        """Return the standard deviation along axes."""
        return reduce.std(self, axis=axis, ddof=ddof, keepdims=keepdims, corrected=corrected)

    def norm(self, L: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Return the ``L``-norm along axes."""
        return reduce.norm(self, L, axis=axis, keepdims=keepdims)

    def max(self, axis: Axis = None, keepdims: bool = False, initial: TensorLike | None = None) -> Tensor:
        """Return the largest elements along axes."""
        return extremes.max(self, axis, keepdims, initial)

    def min(self, axis: Axis = None, keepdims: bool = False, initial: TensorLike | None = None) -> Tensor:
        """Return the smallest elements along axes."""
        return extremes.min(self, axis, keepdims, initial)

    def argmax(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Return the places of the largest elements along axes."""
        return extremes.argmax(self, axis, keepdims=keepdims)

    def argmin(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Return the places of the smallest elements along axes."""
        return extremes.argmin(self, axis, keepdims=keepdims)

    def all(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Return whether all elements along axes are true."""
        return reduce.all(self, axis=axis, keepdims=keepdims)

    def any(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Return whether any element along axes is true."""
        return reduce.any(self, axis=axis, keepdims=keepdims)

    def ptp(self, axis: Axis = None) -> Tensor:
        """Return the range along an axis."""
        return extremes.ptp(self, axis)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: str | None = None) -> Tensor:
        """Return the sum of a diagonal; see :func:`theano.tensor.trace`."""
        return trace(self, offset, axis1, axis2, dtype)

    def cumsum(self, axis: int | None = None, dtype: str | None = None) -> Tensor:
        """Return the sums of the elements up to each place; see :func:`theano.tensor.cumsum`."""
        return cumsum(self, axis, dtype)

    def cumprod(self, axis: int | None = None, dtype: str | None = None) -> Tensor:
        """Return the products of the elements up to each place."""
        return cumprod(self, axis, dtype)

    # -- products ---------------------------------------------------------------------------------------------

    dot = _binary(dot)

    # -- shape ------------------------------------------------------------------------------------------------

    @property
    def T(self) -> Tensor:
        """The tensor with its dimensions reversed."""
        return transpose(self)

    def transpose(self, *axes: Any) -> Tensor:
        """Return the tensor with its dimensions in another order, reversed where none is given."""
        if not axes:
            return transpose(self)
        if len(axes) == 1 and isinstance(axes[0], (list, tuple)):
            axes = tuple(axes[0])
        return transpose(self, axes if axes != (None,) else None)

    def dimshuffle(self, *pattern: Any) -> Tensor:
        """Return the tensor with its dimensions reordered, dropped (if of length 1) or added ("x").

        Parameters
        ----------
        *pattern : int or "x", or one list of these

        Examples
        --------
        >>> import theano.tensor as T
        >>> T.dvector("v").dimshuffle("x", 0).type
        TensorType(float64, row)
        """
        if len(pattern) == 1 and isinstance(pattern[0], (list, tuple)):
            pattern = tuple(pattern[0])
        return DimShuffle(self.type.broadcastable, list(pattern))(self)

    def reshape(self, shape: Any, ndim: int | None = None) -> Tensor:
        """Return the elements under another shape; see :func:`theano.tensor.reshape`."""
        if ndim is not None and whole_number(ndim) is None:
            raise ValueError(
                f"Expected ndim to be an integer, not {ndim!r}. The new shape is one argument: x.reshape((2, 3))."
            )
        return reshape(self, shape, ndim=ndim)

    def flatten(self, ndim: int = 1) -> Tensor:
        """Return the tensor with its last dimensions joined, so that ``ndim`` are left."""
        return flatten(self, ndim)

    def ravel(self) -> Tensor:
        """Return the elements as a vector."""
        return flatten(self)

    def squeeze(self) -> Tensor:
        """Return the tensor without the dimensions that are known to have length 1."""
        return squeeze(self)

    def swapaxes(self, axis1: int, axis2: int) -> Tensor:
        """Return the tensor with two dimensions exchanged."""
        return swapaxes(self, axis1, axis2)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """Return the diagonal."""
        return diagonal(self, offset, axis1, axis2)

    def repeat(self, repeats: int, axis: int | None = None) -> Tensor:
        """Return the tensor with each element repeated."""
        return repeat(self, repeats, axis)

    # -- selecting --------------------------------------------------------------------------------------------

    def take(self, indices: Tensor, axis: int | None = None, mode: str = "raise") -> Tensor:
        """Return elements along an axis; see :func:`theano.tensor.take`."""
        return take(self, indices, axis, mode)

    def compress(self, a: Tensor, axis: int | None = None) -> Tensor:
        """Return the slices of ``a`` along an axis for which this vector is true."""
        return compress(self, a, axis=axis)

    def choose(self, a: Tensor, choices: Any = None, mode: str = "raise") -> Tensor:
        """Return for each element the choice that it names."""
        return fn.choose(self, a, None, mode) if choices is None else fn.choose(a, choices, None, mode)

    def nonzero(self, return_matrix: bool = False) -> tuple[Tensor, ...]:
        """Return the places of the elements that are not 0."""
        return nonzero(self, return_matrix=return_matrix)

    def nonzero_values(self) -> Tensor:
        """Return the elements that are not 0."""
        return nonzero_values(self)

    def sort(self, axis: int = -1, kind: str = "quicksort", order: object = None) -> Tensor:
        """Return the elements in order along an axis."""
        return sort(self, axis, kind, order)

    def argsort(self, axis: int = -1, kind: str = "quicksort", order: object = None) -> Tensor:
        """Return the places that put the elements in order along an axis."""
        return argsort(self, axis, kind, order)

    def searchsorted(self, v: Tensor, side: Literal["left", "right"] = "left", sorter: Any = None) -> Tensor:
        """Return where ``v`` would go into this sorted vector."""
        return searchsorted(self, v, side=side, sorter=sorter)

    # -- the rest -----------------------------------------------------------------------------------------------

    def get_scalar_constant_value(self) -> np.ndarray:
        """Return the number that this is worth; see :func:`theano.tensor.get_scalar_constant_value`."""
        return get_scalar_constant_value(self)

    def transfer(self, target: str) -> Tensor:
        """Return the values on another device; ``"cpu"`` is the only one in this layer."""
        for move in transfers:
            moved = move(self, target)
            if moved is not None:
                return moved
        if target == "cpu":
            return as_tensor_variable(self)
        raise ValueError(f"can't transfer to target {target!r}: no layer that knows it is installed")


#: Functions from a variable and the name of a device to the variable there, or None.
transfers: Chain[Callable[[Any, str], Any]] = Chain("tensor.operators.transfers", "how a variable gets to a device")
