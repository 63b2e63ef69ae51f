"""The type of arrays: an element type and which dimensions have length 1."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from theano import scalar as scal
from theano.extensions import Single
from theano.graph import Apply, BufferSpec, Type, Variable
from theano.graph.apply import O
from theano.graph.documentation import Documentation
from theano.graph.props import Interned
from theano.graph.type import CType
from theano.layers import lazily
from theano.records import record
from theano.settings import config
from theano.tensor.foreign import in_memory
from theano.tensor.type_in_c import ArraysInC

#: From a variable and a broadcast pattern to the variable with that pattern.
rebroadcaster: Single[Callable[[Variable, Sequence[bool]], Any]] = Single(
    "tensor.type.rebroadcaster", "how a variable gets another broadcast pattern"
)

NAMED_PATTERNS = {
    (): "scalar",
    (False,): "vector",
    (False, True): "col",
    (True, False): "row",
    (False, False): "matrix",
}


_DTYPES = frozenset(scal.all_dtypes)


def dtype_name(dtype: str) -> str:
    """Return the name of a dtype, however it is given; ``"floatX"`` stands for ``theano.config.floatX``.

    Examples
    --------
    >>> dtype_name("d"), dtype_name(np.int8), dtype_name("floatX")
    ('float64', 'int8', 'float64')
    """
    if type(dtype) is str and dtype in _DTYPES:
        return dtype
    return str(config.floatX) if str(dtype) == "floatX" else np.dtype(dtype).name


@record(frozen=True)
class Tolerance:
    """How far two values may be apart: ``|a - b| <= atol + rtol * |b|``."""

    rtol: float
    atol: float


_EXACT = Tolerance(0.0, 0.0)
_TOLERANCES = {  # config.tensor.cmp_sloppy: dtype: tolerance
    0: {"float16": Tolerance(1e-3, 1e-3), "float32": Tolerance(1e-5, 1e-5), "float64": Tolerance(1e-5, 1e-8)},
    1: {"float16": Tolerance(1e-2, 5e-3), "float32": Tolerance(1e-3, 1e-4), "float64": Tolerance(1e-4, 1e-3)},
    2: {"float16": Tolerance(5e-2, 1e-2), "float32": Tolerance(1e-3, 5e-4), "float64": Tolerance(1e-4, 1e-3)},
}
_half, _single, _double = _TOLERANCES[0].values()
float16_rtol, float16_atol = _half.rtol, _half.atol
float32_rtol, float32_atol = _single.rtol, _single.atol
float64_rtol, float64_atol = _double.rtol, _double.atol
#: The dimensions that an array of NumPy 2 can have.
MAX_NDIM = 64
#: How long NumPy may look for elements that two arrays share; its stubs know of no limits but "none" and "bounds".
_MOST_WORK: Any = 1000
_PART = {"complex64": "float32", "complex128": "float64"}


def tolerance(*dtypes: str, sloppy: int = 0) -> Tolerance:
    """Return how far values of the coarsest of ``dtypes`` may differ by rounding alone.

    Examples
    --------
    >>> tolerance("float64", "float32")
    Tolerance(rtol=1e-05, atol=1e-05)
    """
    table = _TOLERANCES[min(int(sloppy), 2)]
    found = [table[_PART.get(d, d)] for d in dtypes if _PART.get(d, d) in table]
    return max(found, key=lambda t: t.atol) if found else _EXACT


#: The numbers that are truth values. A table, because each type that is asked for looks its flags up.
_FLAGS = {True: True, False: False}


def _pattern(broadcastable: Any, shape: Any) -> tuple[bool, ...]:
    """Return a broadcast pattern; refuse lengths, and say which pattern they have."""
    try:
        if shape is None:
            return tuple(map(_FLAGS.__getitem__, broadcastable))
        lengths = tuple(shape)
    except (KeyError, TypeError):
        lengths = tuple(broadcastable) if np.iterable(broadcastable) else (broadcastable,)
    what = f"broadcastable needs truth values, not {broadcastable!r}" if shape is None else "shape= is not supported"
    raise TypeError(
        f"{what}: a type says which lengths are 1, and a call finds the others. "
        f"Write broadcastable={tuple(isinstance(n, (int, np.integer)) and int(n) == 1 for n in lengths)}."
    )


class TensorType(ArraysInC, CType, metaclass=Interned):  # noqa: D101  (below: instances have documentation of their own)
    __doc__ = Documentation("""Arrays of one element type, of a fixed number of dimensions, some known to have length 1.

    Parameters
    ----------
    dtype : str
        Name of the element type; ``"floatX"`` stands for ``theano.config.floatX``.
    broadcastable : sequence of bool
        One flag for each dimension: True where its length is known to be 1, so that it stretches
        against a longer dimension.
    name : str, optional
        What to call the type when it is printed.
    sparse_grad : bool
        Whether gradients with respect to variables of this type may be sparse.

    Raises
    ------
    ValueError
        There are more than 64 dimensions.

    Examples
    --------
    >>> TensorType("float64", (False, False))
    TensorType(float64, matrix)
    >>> TensorType("int32", (True, False)).filter([[1, 2, 3]])
    array([[1, 2, 3]], dtype=int32)
    """, "theano.tensor.type_documentation:document")  # fmt: skip

    __props__: tuple[str, ...] = ("dtype", "broadcastable")

    #: Also refuse values that are not finite.
    filter_checks_isfinite = False
    context_name = "cpu"

    def __init__(
        self, dtype: str, broadcastable: Sequence[bool], name: str | None = None, sparse_grad: bool = False
    ):
        self.dtype = dtype_name(dtype)
        if self.dtype not in _DTYPES:
            raise TypeError(
                f"tensors of dtype {dtype!r} do not exist. The dtypes are {', '.join(sorted(scal.all_dtypes))}."
            )
        self.broadcastable = _pattern(broadcastable, None)
        if len(self.broadcastable) > MAX_NDIM:
            raise ValueError(
                f"a tensor of {len(self.broadcastable)} dimensions: NumPy, and so Theano, has {MAX_NDIM} at most. "
                "Join some of them, with reshape or flatten."
            )
        self.numpy_dtype = np.dtype(self.dtype)
        self.name = name
        self.sparse_grad = sparse_grad

    @classmethod
    def instance_key(
        cls,
        dtype: str = "floatX",
        broadcastable: Sequence[bool] | None = None,
        name: str | None = None,
        sparse_grad: bool = False,
        shape: Any = None,
    ) -> Hashable:
        """Return what tells the types without a name apart; None for the others, each of which is made anew.

        Raises
        ------
        TypeError
            Lengths are given, as in Aesara and PyTensor, where a broadcast pattern is needed.
        """
        pattern = _pattern(() if broadcastable is None else broadcastable, shape)
        if name is not None or sparse_grad or type(dtype) is not str or dtype not in _DTYPES:
            return None
        return None if broadcastable is None else (dtype, *pattern)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.broadcastable)

    def clone(self, dtype: str | None = None, broadcastable: Sequence[bool] | None = None) -> Self:
        """Return a type like this one, of another dtype or broadcast pattern where given."""
        return type(self)(
            self.dtype if dtype is None else dtype,
            self.broadcastable if broadcastable is None else broadcastable,
            name=self.name,
            sparse_grad=self.sparse_grad,
        )

    def to_scalar_type(self) -> scal.Scalar:
        """Return the type of a single element.

        Examples
        --------
        >>> TensorType("int8", (False, True)).to_scalar_type()
        int8
        """
        return scal.get_scalar_type(self.dtype)

    # -- values ---------------------------------------------------------------------------------------

    def filter(self, value: object, strict: bool = False, allow_downcast: bool | None = None) -> np.ndarray:
        """Return ``value`` as an array of this type.

        Parameters
        ----------
        value : array_like
        strict : bool
            Take nothing but an array of exactly this dtype and layout of dimensions.
        allow_downcast : bool or None
            True converts whatever can be converted. False and None convert only what loses nothing; None
            also lets a Python float become a floatX scalar.

        Raises
        ------
        TypeError
            The value is of another dtype, number of dimensions or broadcast pattern.
        """
        if type(value) is np.ndarray and value.dtype is self.numpy_dtype:
            data = value
        elif isinstance(value, Variable):
            raise TypeError(
                f"a value is needed here, but {value} is a variable of type {value.type}. "
                "Perhaps a function is called on a (shared) variable: pass its value, or build the graph with it."
            )
        elif strict:
            data = self._as_it_is(value)
        elif allow_downcast:
            data = self._whatever_it_costs(in_memory(value))
        else:
            data = self._without_loss(in_memory(value), allow_downcast)
        self._check_dimensions(data)
        if not data.flags.aligned:
            data = data.copy()
        if self.filter_checks_isfinite and not np.all(np.isfinite(data)):
            raise ValueError(f"{self} checks that values are finite, and this one is not")
        return data

    def _whatever_it_costs(self, value: object) -> np.ndarray:
        plain = np.asarray(value)
        if plain.dtype.kind not in "biufc":
            return np.asarray(value, dtype=self.numpy_dtype)
        with np.errstate(all="ignore"):
            return plain.astype(self.numpy_dtype, copy=False)

    def _as_it_is(self, value: object) -> np.ndarray:
        if not isinstance(value, np.ndarray):
            raise TypeError(
                f"{self} is strict and takes only a numpy array, not {_short(value)} of type {type(value).__name__}. "
                f"Pass numpy.asarray(value, dtype={self.dtype!r}), or drop strict=True."
            )
        if value.dtype != self.numpy_dtype:
            raise TypeError(
                f"{self} is strict and takes only dtype {self.dtype}, not {value.dtype}. "
                f"Pass value.astype({self.dtype!r}), or drop strict=True."
            )
        # Twins such as long and long long on one platform share their bytes but not their identity.
        return value.view(self.numpy_dtype) if value.dtype is not self.numpy_dtype else value

    def _without_loss(self, value: object, allow_downcast: bool | None) -> np.ndarray:
        """Return ``value`` converted to this dtype, or raise TypeError if that could change it."""
        if isinstance(value, np.ndarray):
            if np.can_cast(value.dtype, self.numpy_dtype) and value.dtype.kind in "biufc":
                return np.asarray(value, dtype=self.numpy_dtype)
            # The byte order is a matter of storage, not of precision.
            name = value.dtype.newbyteorder("=").name if value.dtype.isnative is False else value.dtype.name
            if name == self.dtype or (name in scal.all_dtypes and scal.upcast(self.dtype, name) == self.dtype):
                return np.asarray(value, dtype=self.numpy_dtype)
            self._check_rank(value)
            raise TypeError(self._loss_message(value, f"an array of dtype {name}"))
        if (
            allow_downcast is None
            and isinstance(value, (float, np.floating))
            and self.dtype == config.floatX
            and self.ndim == 0
        ):
            # So that a program runs under any floatX without a cast around each number.
            return np.asarray(value, dtype=self.numpy_dtype)
        try:
            plain = np.asarray(value)
        except ValueError as exc:
            raise TypeError(f"{self} cannot make an array of {_short(value)}: {exc}") from exc
        if plain.dtype.kind not in "biufc":
            raise TypeError(
                f"{self} needs numbers, but got {_short(value)} of Python type {type(value).__name__} "
                f"(numpy dtype {plain.dtype})."
            )
        if plain.dtype.kind == "c" and self.numpy_dtype.kind != "c":
            raise TypeError(self._loss_message(value, f"a complex value ({plain.dtype})"))
        if np.can_cast(plain.dtype, self.numpy_dtype):
            return plain.astype(self.numpy_dtype, copy=False)
        with np.errstate(all="ignore"):
            converted = plain.astype(self.numpy_dtype)
            same = np.all((converted == plain) | ((converted != converted) & (plain != plain)))
        if not same:
            self._check_rank(plain)
            raise TypeError(self._loss_message(value, f"a value of Python type {type(value).__name__}"))
        return converted

    def _loss_message(self, value: object, what: str) -> str:
        return (
            f"{self} cannot take {what} without a risk of losing precision: {_short(value)}.\n"
            f"  If that loss does not matter, convert the value yourself with "
            f"numpy.asarray(value, dtype={self.dtype!r}),\n"
            f"  or pass allow_input_downcast=True to theano.function. Else declare the input with a wider dtype."
        )

    def _check_rank(self, data: np.ndarray) -> None:
        if data.ndim != len(self.broadcastable):
            of_classes = self.ndim == 1 and data.ndim == 2 and self.numpy_dtype.kind in "iu"
            one_hot = of_classes and data.dtype.kind in "biuf" and np.all(data.sum(1) == 1)
            raise TypeError(
                f"Wrong number of dimensions: {self} expected {len(self.broadcastable)}, "
                f"got {data.ndim} with shape {data.shape}."
                + (" The rows are one-hot, and numbers of classes are wanted: value.argmax(axis=1)." if one_hot else "")
            )

    def _check_dimensions(self, data: np.ndarray) -> None:
        self._check_rank(data)
        for axis, known_one in enumerate(self.broadcastable):
            if known_one and data.shape[axis] != 1:
                raise TypeError(
                    f"{self} needs length 1 along dimension {axis}, which is broadcastable, but the value has shape "
                    f"{data.shape}. Broadcast pattern: {self.broadcastable}."
                )

    def is_valid_value(self, value: object, strict: bool = True) -> bool:
        """Return whether ``value`` is an array of this type (or could become one, unless ``strict``)."""
        try:
            self.filter(value, strict=strict)
        except (TypeError, ValueError):
            return False
        return True

    @staticmethod
    def values_eq(a: np.ndarray, b: np.ndarray, force_same_dtype: bool = True) -> bool:
        """Return whether two arrays are the same, NaN being the same as NaN."""
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or (force_same_dtype and a.dtype != b.dtype):
            return False
        return bool(np.all((a == b) | ((a != a) & (b != b))))

    @staticmethod
    def values_eq_approx(
        a: TensorLike,
        b: TensorLike,
        allow_remove_inf: bool = False,
        allow_remove_nan: bool = False,
        rtol: float | None = None,
        atol: float | None = None,
        sloppy: int | None = None,
    ) -> bool:
        """Return whether two arrays are the same within rounding.

        Parameters
        ----------
        a, b : numpy.ndarray
        allow_remove_inf, allow_remove_nan : bool
            Let ``b`` hold a finite number where ``a`` holds an infinity or a NaN.
        rtol, atol : float, optional
            In place of the tolerance of the dtype.
        sloppy : int, optional
            Which table of tolerances to use; ``config.tensor.cmp_sloppy`` where it is not given.
        """
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
            return False
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        same = bool(np.all(a == b))
        if same or a.dtype.kind not in "fc":  # most are the same, and `isclose` takes five times as long
            return same
        allowed = tolerance(a.dtype.name, sloppy=config.tensor.cmp_sloppy if sloppy is None else sloppy)
        with np.errstate(all="ignore"):
            close = np.isclose(
                a, b, rtol=allowed.rtol if rtol is None else rtol, atol=allowed.atol if atol is None else atol,
                equal_nan=True,
            )
            if allow_remove_inf:
                close |= np.isinf(a)
            if allow_remove_nan:
                close |= np.isnan(a)
        return bool(np.all(close))

    def may_share_memory(self, a: TensorLike, b: object) -> bool:
        """Return whether the memory of two arrays overlaps, of NumPy or of other libraries."""
        a, b = in_memory(a), in_memory(b)
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)) or not np.may_share_memory(a, b):
            return False
        try:
            # Two columns of one matrix overlap in address range, but share no element.
            return bool(np.shares_memory(a, b, max_work=_MOST_WORK))
        except np.exceptions.TooHardError:
            return True

    def value_zeros(self, shape: Sequence[int]) -> np.ndarray:
        """Return an array of zeros of this dtype."""
        return np.zeros(shape, dtype=self.numpy_dtype)

    def value_copy(self, value: TensorLike) -> np.ndarray:
        """Return a copy in C order."""
        return np.array(value, dtype=self.numpy_dtype, copy=True, order="C")

    def get_shape_info(self, obj: np.ndarray) -> tuple[int, ...]:
        """Return what :meth:`get_size` needs to know about a value (for the profiler)."""
        return obj.shape

    def get_size(self, shape_info: Sequence[int]) -> int:
        """Return the number of bytes of a value of the given shape."""
        return int(np.prod(shape_info, dtype=np.int64)) * self.numpy_dtype.itemsize

    def constant_signature(self, value: Any) -> Hashable:
        """Return a stand-in for a constant's value, equal for two arrays of the same bits."""
        return TensorConstantSignature.of(value)

    # -- variables ------------------------------------------------------------------------------------

    if TYPE_CHECKING:  # of which classes they are: ``Variable`` and ``Constant``, which are set above

        def make_variable(self, name: str | None = None) -> Tensor: ...
        def make_constant(self, value: Any, name: str | None = None) -> TensorConstant: ...
        def __call__(self, name: str | None = None) -> Tensor: ...

    def is_super(self, other: Type) -> bool:
        """Return whether each value of ``other`` is also one of this type."""
        return (
            isinstance(other, TensorType)
            and self.dtype == other.dtype
            and self.ndim == other.ndim
            and all(theirs or not ours for ours, theirs in zip(self.broadcastable, other.broadcastable, strict=True))
        )

    def in_same_class(self, other: Type) -> bool:
        """Return whether both have the same values: those of one dtype and broadcast pattern."""
        return self.is_super(other) and isinstance(other, TensorType) and other.is_super(self)

    def convert_variable(self, variable: Variable[Any]) -> Variable[Self] | None:
        """Return ``variable`` with this broadcast pattern, or None where its values might not fit."""
        if variable.type == self:
            return variable
        if not self.is_super(variable.type) or rebroadcaster.answer is None:
            return None
        return rebroadcaster.answer(variable, self.broadcastable)

    def filter_trusted(self, value: Value) -> np.ndarray | None:
        """Return an array of one element as the number that this type wants; None where that is not it."""
        one = not self.ndim and isinstance(value, np.ndarray) and value.size == 1 and str(value.dtype) == self.dtype
        return value.reshape(()) if one else None

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Variable[Self]:
        """Return a variable or a value as a variable of this type, rebroadcast if need be."""
        if hasattr(other, "_as_TensorVariable"):
            other = other._as_TensorVariable()
        return super().filter_variable(other, allow_convert)

    def buffer_spec(self) -> BufferSpec:
        """Return how compiled code sees the arrays of this type."""
        return BufferSpec(self.dtype, self.ndim, self.broadcastable)

    @property
    def casts_safely(self) -> bool:
        """Whether arguments are no more than cast; not so for subclasses with a filter of their own."""
        return type(self).filter is TensorType.filter and not self.filter_checks_isfinite

    def __str__(self) -> str:
        if self.name:
            return self.name
        shape = NAMED_PATTERNS.get(self.broadcastable)
        if shape is None:
            shape = str(self.broadcastable) if any(self.broadcastable) else f"{self.ndim}D"
        return f"TensorType({self.dtype}, {shape})"


#: What annotations call a variable of a `TensorType`, and a node whose inputs and outputs all are that
#: (``TensorApply[Dot]``: a node of the op ``Dot``).
if TYPE_CHECKING:
    from theano.graph.annotations import Value
    from theano.tensor.annotations import TensorLike
    from theano.tensor.var import TensorConstant
    from theano.tensor.var import TensorVariable as Tensor
else:
    Tensor = Variable
TensorApply: TypeAlias = Apply[O, Tensor]


class TensorConstantSignature(tuple[Any, ...]):
    """A constant's value as a hashable object: dtype, shape and bits (their digest where they are many).

    Examples
    --------
    >>> a, b = TensorConstantSignature.of(np.zeros(3)), TensorConstantSignature.of(np.zeros(3))
    >>> a == b, a == TensorConstantSignature.of(-np.zeros(3))
    (True, False)
    """

    __slots__ = ()

    def __new__(cls, parts: Iterable[bytes | str | tuple[int, ...]] = ()) -> Self:
        """Return the signature of these parts; in pickles of other versions they are a type and an array."""
        parts = tuple(parts)
        return super().__new__(cls, cls.of(parts[1]) if len(parts) == 2 and isinstance(parts[1], np.ndarray) else parts)

    def __setstate__(self, state: Any) -> None:
        """Leave what other versions noted of the array."""

    @classmethod
    def of(cls, value: TensorLike) -> TensorConstantSignature:
        """Return the signature of an array."""
        data = np.asarray(value)
        # A broadcast or transposed constant is worth the same as its compact copy.
        raw = data.tobytes()
        if len(raw) > 64:
            import hashlib  # OpenSSL, which takes as long to load as ten modules of ours

            raw = hashlib.blake2b(raw).digest()
        return cls((data.dtype.str, data.shape, raw))


def _short(value: object) -> str:
    text = repr(value).replace("\n", "")
    return text if len(text) <= 60 else text[:40] + " ... " + text[-12:]


values_eq_approx = TensorType.values_eq_approx


def values_eq_approx_always_true(a: TensorLike, b: TensorLike) -> bool:
    """Return True: for values without a guarantee, such as memory that was only allocated.

    Parameters
    ----------
    a, b : array
        The values.

    Returns
    -------
    bool
        True.

    Examples
    --------
    >>> values_eq_approx_always_true(1.0, 2.0)
    True
    """
    return True


__getattr__, __dir__ = lazily(globals())
