"""The type of a single number."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from theano.graph.apply import Apply, O
from theano.graph.c_contract import Sub
from theano.graph.type import BufferSpec, CType
from theano.graph.variable import Variable
from theano.scalar import c_values, policy
from theano.scalar.dtypes import DTYPE_CODES, is_complex, normalise, upcast
from theano.scalar.variable import ScalarConstant, ScalarVariable

if TYPE_CHECKING:
    from theano.graph.annotations import Value

# Relative and absolute difference up to which two computed values count as the same.
_TOLERANCE = {"float16": (1e-2, 1e-3), "float32": (1e-4, 1e-5), "complex64": (1e-4, 1e-5)}


class Scalar(c_values.NumPyInC, CType):
    """The set of numbers of one dtype; calling it makes a variable.

    Values are NumPy scalars.

    Parameters
    ----------
    dtype : str
        ``'floatX'`` stands for ``theano.config.floatX``.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> ts.float64, ts.float64 == Scalar("float64"), ts.float64("x").type
    (float64, True, float64)
    >>> Scalar("int8").filter(3)
    np.int8(3)
    >>> Scalar("int8").filter(3.5)
    Traceback (most recent call last):
        ...
    TypeError: 3.5 is not exactly an int8. Convert it first, or pass allow_downcast=True.
    """

    __props__ = ("dtype",)
    ndim = 0
    shape = ()
    broadcastable: tuple[bool, ...] = ()
    Variable = ScalarVariable
    Constant = ScalarConstant

    def __init__(self, dtype: Any):
        self.dtype = normalise(policy.floatx() if dtype == "floatX" else dtype)
        self.numpy_type = np.dtype(self.dtype).type

    def __setstate__(self, state: dict[str, Value]) -> None:
        # Pickles may have the dtype alone.
        self.__dict__.update(state, numpy_type=np.dtype(state["dtype"]).type)

    @staticmethod
    def upcast(*types: Scalar) -> str:
        """Return the name of the dtype in which values of these types meet.

        Examples
        --------
        >>> Scalar.upcast(Scalar("int32"), Scalar("float32"))
        'float64'
        """
        return upcast([t.dtype for t in types], policy.cast_policy(), policy.floatx())

    def clone(self, dtype: str | None = None, **kwargs: object) -> Scalar:
        """Return the scalar type of another dtype."""
        return type(self)(self.dtype if dtype is None else dtype)

    def filter(self, value: object, strict: bool = False, allow_downcast: bool | None = None) -> Value:
        """Return ``value`` as a NumPy scalar of this dtype.

        Parameters
        ----------
        value : object
            A number, or an array without dimensions.
        strict : bool
            Accept NumPy scalars of this very dtype only.
        allow_downcast : bool or None
            True: round or wrap what does not fit. False: only what is represented exactly.
            None: as False, but a Python float may be rounded to ``theano.config.floatX``.
        """
        if type(value) is self.numpy_type:
            return value
        if strict:
            raise TypeError(f"expected a NumPy {self.dtype}, got {value!r} of type {type(value).__name__}")
        array = np.asarray(value)
        if array.ndim != 0 or array.dtype.name not in DTYPE_CODES:
            raise TypeError(f"expected a {self.dtype}, got {value!r} of type {type(value).__name__}")
        if is_complex(array.dtype.name) and not is_complex(self.dtype):
            raise TypeError(f"{value!r} is complex, not a {self.dtype}: take its real(), imag(), abs() or angle()")
        with np.errstate(all="ignore"):
            converted = array.astype(self.dtype)[()]
        rounds_quietly = allow_downcast is None and type(value) is float and self.dtype == policy.floatx()
        if allow_downcast or rounds_quietly or converted == array or (array != array and converted != converted):
            return converted
        article = "an" if self.dtype[0] == "i" else "a"
        raise TypeError(
            f"{value!r} is not exactly {article} {self.dtype}. Convert it first, or pass allow_downcast=True."
        )

    def values_eq(self, a: np.generic, b: np.generic) -> bool:
        """Return whether two numbers are the same; nan equals nan."""
        return bool(a == b or (a != a and b != b))

    def values_eq_approx(self, a: Value, b: Value, tolerance: float | None = None) -> bool:
        """Return whether two numbers differ by rounding only."""
        relative, absolute = _TOLERANCE.get(self.dtype, (1e-5, 1e-8))
        if tolerance is not None:
            relative = absolute = tolerance
        if self.values_eq(a, b):
            return True
        if self.dtype in ("float16", "float32", "float64") or is_complex(self.dtype):
            return bool(np.isfinite(a) and np.isfinite(b) and abs(a - b) <= absolute + relative * abs(b))
        return False

    def value_zeros(self, shape: tuple[int, ...]) -> Value:
        """Return zeros of this dtype in a given shape."""
        return np.zeros(shape, self.dtype)

    def value_copy(self, value: np.generic) -> np.generic:
        """Return the number itself: it cannot be changed."""
        return value

    def get_shape_info(self, value: np.generic) -> int:
        """Return the size of a value in bytes."""
        return int(value.itemsize)

    def get_size(self, shape_info: int) -> int:
        """Return the same, of what :meth:`get_shape_info` returned."""
        return shape_info

    def constant_signature(self, value: np.generic) -> Hashable:
        """Return the bits of a value."""
        return self.filter(value).tobytes()

    def convert_variable(self, variable: Any) -> Any:
        """Return ``variable`` if it is of this type, else None."""
        return variable if variable.type == self else None

    def buffer_spec(self) -> BufferSpec:
        """Return the compiled form: a buffer without dimensions."""
        return BufferSpec(self.dtype, 0, (), True)

    def dtype_specs(self) -> tuple[Any, str, str]:
        """Return NumPy's scalar class, the C type and the class's name in NumPy's C interface."""
        return self.numpy_type, c_values.element_type(self.dtype), self.dtype.title().replace("Uint", "UInt")

    # -- the C of users' ops ------------------------------------------------------------------------

    def c_element_type(self) -> str:
        """Return the C type of a value."""
        return c_values.element_type(self.dtype)

    def c_is_simple(self) -> bool:
        """Return True: a number is a plain variable."""
        return True

    def c_literal(self, data: Value) -> str:
        """Return a number as C."""
        return c_values.literal(data, self.dtype)

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        """Declare a number, and ``dtype_<name>`` for its type."""
        return c_values.scalar_declare(name, self.dtype, check_input)

    def c_init(self, name: str, sub: Sub) -> str:
        """Begin with zero."""
        return f"{name} = 0;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: object) -> str:
        """Read a NumPy scalar."""
        return c_values.scalar_extract(name, self.dtype, sub, check_input)

    def c_sync(self, name: str, sub: Sub) -> str:
        """Make a NumPy scalar."""
        return c_values.scalar_sync(name, self.dtype, sub)

    def c_cleanup(self, name: str, sub: Sub) -> str:
        """Clean nothing up."""
        return ""

    def __str__(self) -> str:
        return self.dtype

    def __repr__(self) -> str:
        return str(self)


#: What annotations call a node whose inputs and outputs are all scalars.
ScalarApply: TypeAlias = Apply[O, Variable[Scalar]]

_instances: dict[str, Scalar] = {}


def get_scalar_type(dtype: str) -> Scalar:
    """Return the type of scalars of one dtype, always the same object for the same dtype.

    Parameters
    ----------
    dtype : str
        As for :class:`Scalar`.

    Examples
    --------
    >>> get_scalar_type("int8") is get_scalar_type("int8")
    True
    """
    if dtype == "floatX":
        dtype = policy.floatx()
    name = dtype if isinstance(dtype, str) and dtype in _instances else normalise(dtype)
    if name not in _instances:
        _instances[name] = Scalar(name)
    return _instances[name]


all_scalars = tuple(get_scalar_type(name) for name in DTYPE_CODES)
int_types = tuple(t for t in all_scalars if t.dtype.startswith("int"))
uint_types = tuple(t for t in all_scalars if t.dtype.startswith("uint"))
float_types = tuple(t for t in all_scalars if t.dtype.startswith("float"))
complex_types = tuple(t for t in all_scalars if t.dtype.startswith("complex"))
bool_type = get_scalar_type("bool")
integer_types = int_types + uint_types
discrete_types = (bool_type, *integer_types)
continuous_types = float_types + complex_types
all_types = discrete_types + continuous_types
