"""Rules from the types of an operation's inputs to the types of its outputs.

A rule takes the input types and returns a tuple of output types, or raises TypeError where
the operation makes no sense for them. Any callable of that form is a rule.

Examples
--------
>>> import theano.scalar as ts
>>> upgrade_to_float(ts.int8), upgrade_to_float(ts.int64), upgrade_to_float(ts.complex64)
((float32,), (float64,), (complex64,))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.scalar import policy
from theano.scalar.dtypes import bits, complex_dtype, is_complex, is_discrete, real_dtype
from theano.scalar.type import Scalar, all_types, get_scalar_type

Types = tuple[Scalar, ...]
TypeRule = Callable[..., Types]


def _no_complex(types: Types) -> None:
    if any(is_complex(t.dtype) for t in types):
        raise TypeError("complex numbers are not supported here")


def upcast_out(*types: Scalar) -> Types:
    """The dtype in which all inputs meet.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> upcast_out(ts.int8, ts.float32)
    (float32,)
    """
    return (get_scalar_type(Scalar.upcast(*types)),)


def upcast_out_nobool(*types: Scalar) -> Types:
    """As :func:`upcast_out`; not for booleans alone.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> upcast_out_nobool(ts.bool, ts.int16)
    (int16,)
    """
    result = upcast_out(*types)
    if result[0].dtype == "bool":
        raise TypeError("booleans are not supported here: use logical operations, or cast them to an integer first")
    return result


def upcast_out_min8(*types: Scalar) -> Types:
    """As :func:`upcast_out`; booleans become int8.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> upcast_out_min8(ts.bool, ts.bool)
    (int8,)
    """
    result = upcast_out(*types)
    return (get_scalar_type("int8"),) if result[0].dtype == "bool" else result


def upcast_out_no_complex(*types: Scalar) -> Types:
    """As :func:`upcast_out`; complex inputs are refused.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> upcast_out_no_complex(ts.int32, ts.float32)
    (float64,)
    """
    _no_complex(types)
    return upcast_out(*types)


def upcast_out_no_complex_min8(*types: Scalar) -> Types:
    """As :func:`upcast_out_min8`; complex inputs are refused."""
    _no_complex(types)
    return upcast_out_min8(*types)


def same_out(type: Scalar) -> Types:
    """The input's own type.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> same_out(ts.int8)
    (int8,)
    """
    return (type,)


def same_out_nobool(type: Scalar) -> Types:
    """The input's own type; not for booleans.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> same_out_nobool(ts.uint8)
    (uint8,)
    """
    if type.dtype == "bool":
        raise TypeError("booleans are not supported here: use invert, or cast to an integer first")
    return (type,)


def same_out_min8(type: Scalar) -> Types:
    """The input's own type; booleans become int8.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> same_out_min8(ts.bool), same_out_min8(ts.int32)
    ((int8,), (int32,))
    """
    return (get_scalar_type("int8"),) if type.dtype == "bool" else (type,)


def same_out_nocomplex(type: Scalar) -> Types:
    """The input's own type; complex inputs are refused.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> same_out_nocomplex(ts.float16)
    (float16,)
    """
    _no_complex((type,))
    return (type,)


def same_out_float_only(type: Scalar) -> Types:
    """The input's own type, which must be a real float.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> same_out_float_only(ts.float32)
    (float32,)
    """
    if not type.dtype.startswith("float"):
        raise TypeError(f"only floating inputs are supported here, not {type}")
    return (type,)


def _float_for(dtype: str) -> str:
    """The float in which an integer is computed: 32 bits where they hold all its values."""
    if not is_discrete(dtype):
        return dtype
    return "float32" if bits(dtype) <= 16 else "float64"


def upgrade_to_float(*types: Scalar) -> Types:
    """As :func:`upcast_out`, with bool and integers to 16 bits as float32 and wider ones as float64.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> upgrade_to_float(ts.int8), upgrade_to_float(ts.int32)
    ((float32,), (float64,))
    """
    return upcast_out(*[get_scalar_type(_float_for(t.dtype)) for t in types])


def upgrade_to_float_no_complex(*types: Scalar) -> Types:
    """As :func:`upgrade_to_float`; complex inputs are refused.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> upgrade_to_float_no_complex(ts.int64)
    (float64,)
    """
    _no_complex(types)
    return upgrade_to_float(*types)


def upgrade_to_float64(*types: Scalar) -> Types:
    """float64, for float64 and integer inputs; narrower floats stay; complex inputs are refused.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> upgrade_to_float64(ts.float32)
    (float32,)
    """
    _no_complex(types)
    return upcast_out(*[get_scalar_type("float64" if is_discrete(t.dtype) else t.dtype) for t in types])


def true_div_out(*types: Scalar) -> Types:
    """As :func:`upcast_out`; a quotient of integers is a ``theano.config.floatX``."""
    if all(is_discrete(t.dtype) for t in types):
        return (get_scalar_type(policy.floatx()),)
    return upcast_out(*types)


def bool_out(*types: Scalar) -> Types:
    """bool, whatever the inputs."""
    return (get_scalar_type("bool"),)


def bitwise_out(*types: Scalar) -> Types:
    """As :func:`upcast_out`, for booleans and integers."""
    if not all(is_discrete(t.dtype) for t in types):
        raise TypeError(f"only booleans and integers have bits to combine, not {' and '.join(map(str, types))}")
    result = upcast_out(*types)
    if not is_discrete(result[0].dtype):
        raise TypeError(f"no integer holds the values of {' and '.join(map(str, types))}: cast one of them first")
    return result


def choice_out(condition: Scalar, *types: Scalar) -> Types:
    """As :func:`upcast_out` over all inputs but the first, which is a condition."""
    return upcast_out(*types)


def real_out(type: Scalar) -> Types:
    """The type of the real part.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> real_out(ts.complex64)
    (float32,)
    """
    return (get_scalar_type(real_dtype(type.dtype)),)


def float64_out(type: Scalar) -> Types:
    """float64, whatever the input is."""
    return (get_scalar_type("float64"),)


def abs_out(type: Scalar) -> Types:
    """The type of the real part."""
    return real_out(type)


def complex_out(*types: Scalar) -> Types:
    """The complex type whose parts hold the (real) inputs."""
    _no_complex(types)
    return (get_scalar_type(complex_dtype(upcast_out(*types)[0].dtype)),)


def int_out(*types: Scalar) -> Types:
    """int64.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> int_out(ts.float64)
    (int64,)
    """
    return (get_scalar_type("int64"),)


def int_out_nocomplex(*types: Scalar) -> Types:
    """int64; complex inputs are refused.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> int_out_nocomplex(ts.float32)
    (int64,)
    """
    _no_complex(types)
    return int_out()


def float_out(*types: Scalar) -> Types:
    """float64.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> float_out(ts.int8)
    (float64,)
    """
    return (get_scalar_type("float64"),)


def float_out_nocomplex(*types: Scalar) -> Types:
    """float64; complex inputs are refused.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> float_out_nocomplex(ts.float64)
    (float64,)
    """
    _no_complex(types)
    return float_out()


class _Parametrised:
    """A rule with parameters, equal to another of the same parameters."""

    def __init__(self, *parameters: Any):
        self.parameters = parameters

    def __setstate__(self, state: dict[str, tuple[Scalar, ...]]) -> None:
        (self.parameters,) = state.values()  # pickles may have another name for them in each class

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.parameters == other.parameters

    def __hash__(self) -> int:
        return hash((type(self), self.parameters))


class transfer_type(_Parametrised):
    """Each output has the type of a given input, or a given type.

    Parameters
    ----------
    *transfer : int or Scalar or None
        For each output, the index of an input, a type, or None for the upcast of all.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> transfer_type(1)(ts.int8, ts.float32)
    (float32,)
    """

    def __call__(self, *types: Scalar) -> Types:
        """Return the output types."""
        meet = upcast_out(*types)[0]
        return tuple(meet if t is None else types[t] if isinstance(t, int) else t for t in self.parameters)


class specific_out(_Parametrised):
    """Given types, whatever the inputs.

    Parameters
    ----------
    *spec : Scalar

    Examples
    --------
    >>> import theano.scalar as ts
    >>> specific_out(ts.int8)(ts.float64)
    (int8,)
    """

    def __call__(self, *types: Scalar) -> Types:
        """Return the output types."""
        return tuple(self.parameters)


class unary_out_lookup(_Parametrised):
    """The output type is read from a table.

    Parameters
    ----------
    type_table : dict from Scalar to Scalar

    Examples
    --------
    >>> import theano.scalar as ts
    >>> unary_out_lookup({ts.int8: ts.int32})(ts.int8)
    (int32,)
    """

    def __init__(self, type_table: dict[Scalar, Scalar]):
        self.table = dict(type_table)
        super().__init__(frozenset(self.table.items()))

    def __call__(self, *types: Scalar) -> Types:
        """Return the output type."""
        if len(types) != 1 or types[0] not in self.table:
            raise TypeError(f"no output type is given for {', '.join(map(str, types))}")
        return (self.table[types[0]],)


def accepts(rule: TypeRule, arity: int) -> list[Types]:
    """Return the combinations of input types that a rule accepts, one dtype for all inputs.

    Examples
    --------
    >>> len(accepts(upgrade_to_float_no_complex, 1))
    12
    """
    found = []
    for each in all_types:
        try:
            rule(*[each] * arity)
        except TypeError:
            continue
        found.append((each,) * arity)
    return found
