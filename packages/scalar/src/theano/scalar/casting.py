"""Conversion to another dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.scalar.base import UnaryScalarOp
from theano.scalar.convert import as_scalar
from theano.scalar.dtypes import is_complex, is_discrete, normalise
from theano.scalar.output_types import specific_out
from theano.scalar.registry import OPS
from theano.scalar.type import Scalar, all_types, get_scalar_type

if TYPE_CHECKING:
    from theano.scalar.annotations import Number


def astype(x: np.ndarray, dtype: str, copy: bool = True) -> np.ndarray:
    """Return an array converted to a dtype, as :class:`Cast` defines it on every machine.

    Without ``copy``, one that has the dtype is returned itself.

    Examples
    --------
    >>> astype(np.array([-1.5, 300.0, np.nan, 3e9]), "uint8"), astype(np.array([-1.0, np.inf]), "uint64")
    (array([255,  44,   0,   0], dtype=uint8), array([18446744073709551615,                    0], dtype=uint64))
    """
    target = np.dtype(dtype)
    if x.dtype.kind != "f" or target.kind not in "iu":
        return x.astype(target, copy=copy)
    bits = max(32, 8 * target.itemsize)
    wide = x if x.dtype == "float64" else x.astype("float32")
    half = wide.dtype.type(2.0 ** (bits - 1))
    high = wide >= half if target.kind == "u" and 8 * target.itemsize == bits else np.zeros(x.shape, bool)
    with np.errstate(invalid="ignore"):
        lowered = np.where(high, wide - half, wide)
        whole = np.where(np.abs(lowered) < half, lowered, -half).astype(f"int{bits}")
    flipped = whole.astype(f"uint{bits}") ^ (high.astype(f"uint{bits}") << np.uint8(bits - 1))
    return flipped.astype(target)


class Cast(UnaryScalarOp):
    """Conversion to a given dtype, as NumPy's ``astype`` does it.

    A float becomes a whole number by dropping its fraction. What C leaves undefined, since the number does not fit, is
    defined here, and is what NumPy gives on x86-64:

    - int32 and int64: the least number of the dtype, for nan, too;
    - int8, int16, uint8 and uint16: the low bits of the conversion to int32;
    - uint32 and uint64: what the signed dtype of that size gives, wrapped around, so that -1.0 is the largest number;
      0 for a float that is larger than the largest number.

    Parameters
    ----------
    o_type : Scalar
        The type wanted.
    name : str, optional

    Examples
    --------
    >>> import theano.scalar as ts
    >>> Cast(ts.int8), Cast(ts.int8).impl(-2.7)
    (Cast{int8}, np.int8(-2))
    """

    __props__ = ("o_type",)
    arguments = ("x",)
    c_form = "{x}"
    op_name = "cast"
    ulp = 0.0

    def __init__(self, o_type: Scalar, name: str | None = None):
        if not isinstance(o_type, Scalar):
            raise TypeError(f"Cast needs a scalar type, not {o_type!r}")
        super().__init__(specific_out(o_type), name)
        self.o_type = o_type
        self.ctor_name = name

    def output_types(self, types: Sequence[Scalar]) -> list[Scalar]:
        """Return the type wanted, unless that means dropping an imaginary part."""
        if is_complex(types[0].dtype) and not is_complex(self.o_type.dtype):
            raise TypeError("casting from complex to real is ambiguous: use real(), imag(), angle() or abs()")
        return [self.o_type]

    def _numpy_callable(self) -> Callable[..., object]:
        return lambda x: astype(np.asarray(x), self.o_type.dtype)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.o_type.dtype}}}"

    def clone_float32(self) -> Cast:
        """Return the cast with float16 made float32: the form in which a half is computed."""
        return convert_to_float32 if self.o_type.dtype == "float16" else self

    gradient_rule = staticmethod(lambda x, out, g: real_cast(g, x.type.dtype))


def real_cast(g: Number, dtype: str) -> Number:
    """Return a gradient in the dtype of the input it belongs to: real where that is, and a fraction if need be."""
    if is_complex(g.type.dtype) and not is_complex(dtype):
        g = OPS["real"](g)
    return g if is_discrete(dtype) else cast(g, dtype)


_casts = {t.dtype: Cast(t, name=f"convert_to_{t.dtype}") for t in all_types}
convert_to_bool, convert_to_float16 = _casts["bool"], _casts["float16"]
convert_to_float32, convert_to_float64 = _casts["float32"], _casts["float64"]
convert_to_int8, convert_to_int16 = _casts["int8"], _casts["int16"]
convert_to_int32, convert_to_int64 = _casts["int32"], _casts["int64"]
convert_to_uint8, convert_to_uint16 = _casts["uint8"], _casts["uint16"]
convert_to_uint32, convert_to_uint64 = _casts["uint32"], _casts["uint64"]
convert_to_complex64, convert_to_complex128 = _casts["complex64"], _casts["complex128"]


def cast(x: Any, dtype: Any) -> Any:
    """Return a scalar converted to a dtype; itself, if it has that dtype already.

    Parameters
    ----------
    x : number or scalar variable
    dtype : str
        ``'floatX'`` is understood.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> cast(ts.int8("i"), "float32").owner
    Cast{float32}(i)
    """
    wanted = get_scalar_type(dtype).dtype if dtype == "floatX" else normalise(dtype)
    variable = as_scalar(x)
    if variable.type.dtype == wanted:
        return variable
    return _casts[wanted](variable)


OPS["cast"] = cast
for _name, _cast in _casts.items():
    OPS[f"convert_to_{_name}"] = _cast
