"""How dtypes are spelled in C: storage and compute types, loads, stores, conversions, constants.

Values are *stored* in arrays as their dtype says and *computed* with in a compute type. The two differ
for float16 only, which is stored as ``uint16_t`` and computed as ``float``.

Examples
--------
>>> c_type("float64"), c_type("bool"), c_type("float16"), compute_type("float16")
('double', 'uint8_t', 'uint16_t', 'float')
>>> load("float16", "*p"), load("int32", "*p")
('th_load_f16(*p)', '*p')
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from theano.scalar.c import support
from theano.scalar.dtypes import bits, complex_dtypes, discrete_dtypes, integer_dtypes, is_complex

_FLOATING = {
    "float32": "float", "float64": "double", "complex64": "float _Complex", "complex128": "double _Complex",
}  # fmt: skip
_CAST = re.compile(r"\((?:float|double|u?int\d+_t)(?: _Complex)?\)")
_NUMBER = re.compile(r"(?:0x)?\d[\da-f.]*(?:p[+-]\d+)?[fu]?")
_PLAIN = re.compile(r"\w+(?:\[\w+\])?")


def c_type(dtype: str) -> str:
    """Return the C type of an element in memory.

    Examples
    --------
    >>> c_type("uint16"), c_type("complex64")
    ('uint16_t', 'float _Complex')
    """
    if dtype in integer_dtypes:
        return f"{dtype}_t"
    if dtype == "bool":
        return "uint8_t"
    return "uint16_t" if dtype == "float16" else _FLOATING[dtype]


def compute_type(dtype: str) -> str:
    """Return the C type of a local variable that holds a value of this dtype.

    Examples
    --------
    >>> compute_type("float16"), compute_type("int8")
    ('float', 'int8_t')
    """
    return "float" if dtype == "float16" else c_type(dtype)


def unsigned_type(dtype: str) -> str:
    """Return the unsigned C type in which an integer dtype is added and multiplied: it wraps, never overflows.

    Types below 32 bits compute in 32: C would promote them to a signed ``int``.

    Examples
    --------
    >>> unsigned_type("int8"), unsigned_type("int64")
    ('uint32_t', 'uint64_t')
    """
    return "uint64_t" if bits(dtype) == 64 else "uint32_t"


def load(dtype: str, lvalue: str) -> str:
    """Return the C expression that reads ``lvalue`` (of the storage type) into the compute type.

    Examples
    --------
    >>> load("float16", "x[i]")
    'th_load_f16(x[i])'
    """
    return f"th_load_f16({lvalue})" if dtype == "float16" else lvalue


def store(dtype: str, lvalue: str, value: str) -> str:
    """Return the C statement that writes ``value`` (of the compute type) to ``lvalue``.

    Examples
    --------
    >>> store("float16", "y[i]", "y_i"), store("float32", "y[i]", "y_i")
    ('y[i] = th_store_f16(y_i);', 'y[i] = y_i;')
    """
    return f"{lvalue} = th_store_f16({value});" if dtype == "float16" else f"{lvalue} = {value};"


def storage_support(*dtypes: str) -> tuple[str, ...]:
    """Return the C blocks that :func:`load` and :func:`store` of these dtypes need.

    Examples
    --------
    >>> storage_support("float64", "int8")
    ()
    """
    return support(["half"] if "float16" in dtypes else [])


def _closes_at_end(text: str) -> bool:
    """Return whether the first parenthesis of a text is closed by its last character."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and character == ")":
            return position == len(text) - 1
    return False


def parenthesised(expression: str) -> str:
    """Return the expression so that it can stand next to any operator: in parentheses where it needs them.

    Examples
    --------
    >>> parenthesised("x"), parenthesised("a + b"), parenthesised("exp(a + b)"), parenthesised("(double)a")
    ('x', '(a + b)', 'exp(a + b)', '(double)a')
    >>> parenthesised("-1"), parenthesised("0x1.8p-4"), parenthesised("f(a) + f(b)")
    ('(-1)', '0x1.8p-4', '(f(a) + f(b))')
    """
    core = expression
    while (cast := _CAST.match(core)) is not None:
        core = core[cast.end() :]
    if _PLAIN.fullmatch(core) or _NUMBER.fullmatch(core):
        return expression
    head = core.partition("(")[0]
    if core.endswith(")") and (head == "" or _PLAIN.fullmatch(head)) and _closes_at_end(core):
        return expression
    return f"({expression})"


def convert(expression: str, source: str, target: str) -> str:
    """Return C for the value ``expression`` of dtype ``source`` as one of dtype ``target``.

    Complex to real is not a conversion; ask for the real part.

    Examples
    --------
    >>> convert("x", "int32", "float64"), convert("x", "float64", "bool"), convert("x", "int8", "int8")
    ('(double)x', '(x != 0)', 'x')
    >>> convert("x", "float64", "float16"), convert("x", "float16", "int8")
    ('th_round_f16(x)', '(int8_t)th_i32_of_f32(x)')
    >>> convert("x", "complex64", "complex128"), convert("x", "complex64", "bool")
    ('th_c128_of_c64(x)', 'th_truth_c64(x)')
    """
    if source == target:
        return expression
    value = parenthesised(expression)
    if is_complex(source) and (target == "bool" or is_complex(target)):
        own, other = ("c64", "c128") if source == "complex64" else ("c128", "c64")
        return f"th_truth_{own}({expression})" if target == "bool" else f"th_{other}_of_{own}({expression})"
    if target == "bool":
        return f"({value} != 0)"
    if is_complex(target):
        make, part = ("CMPLXF", "float") if target == "complex64" else ("CMPLX", "double")
        return f"{make}(({part}){value}, 0)"
    if target == "float16":
        # The narrowing rounds here, not at the store: what follows in the same kernel sees the half's value.
        return f"th_round_f16({expression})"
    if compute_type(source) == compute_type(target):
        return expression
    if target in integer_dtypes and source not in discrete_dtypes:
        # C leaves undefined what does not fit.
        wide = f"{target[0]}{bits(target)}" if bits(target) >= 32 else "i32"
        whole = f"th_{wide}_of_{'f64' if source == 'float64' else 'f32'}({expression})"
        return whole if bits(target) >= 32 else f"({compute_type(target)}){whole}"
    return f"({compute_type(target)}){value}"


def literal(value: Any, dtype: str) -> str:
    """Return a C constant that is worth exactly ``value``.

    Examples
    --------
    >>> literal(0.1, "float64"), literal(2, "int64"), literal(True, "bool"), literal(float("inf"), "float32")
    ('0x1.999999999999ap-4', 'INT64_C(2)', '1', 'INFINITY')
    >>> literal(0.5, "float64"), literal(3.0, "float32")
    ('0.5', '3.0f')
    """
    if dtype in complex_dtypes:
        part = "float32" if dtype == "complex64" else "float64"
        make = "CMPLXF" if dtype == "complex64" else "CMPLX"
        number = complex(value)
        return f"{make}({literal(number.real, part)}, {literal(number.imag, part)})"
    if dtype == "bool":
        return "1" if value else "0"
    if dtype in integer_dtypes:
        number = int(value)
        if dtype == "int64" and number == -(2**63):
            return "INT64_MIN"
        if bits(dtype) == 64:
            return f"{'U' if dtype[0] == 'u' else ''}INT64_C({number})"
        if dtype == "int32" and number == -(2**31):
            return "INT32_MIN"
        return f"{number}{'u' if dtype == 'uint32' else ''}"
    number = float(np.dtype(dtype).type(value))
    if math.isnan(number):
        return "NAN"
    if math.isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    short = repr(number)
    # Decimal where it reads well and is certainly exact, hexadecimal elsewhere.
    exact = len(short) <= 8 and "e" not in short and (number * 1024).is_integer()
    return (short if exact else number.hex()) + ("" if dtype == "float64" else "f")
