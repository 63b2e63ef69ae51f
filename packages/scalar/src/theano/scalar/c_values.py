"""How numbers look in the C++ that users write for their ops: by NumPy's names, complex ones with operators.

Our own kernels do without all this (`theano.scalar.ctypes`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from theano.errors import MethodNotDefined
from theano.graph.c_contract import CLinkerType
from theano.scalar.dtypes import is_complex

VERSION = (1, np.__version__)
"""The version of these texts and of what the headers are read from: a newer NumPy, newer code."""

HEADERS = ["<math.h>", "numpy/arrayobject.h", "numpy/arrayscalars.h"]
COMPILE_ARGS = ["-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION"]
INIT_CODE = ["import_array();"]

COMPLEX = """\
#ifndef THEANO_COMPLEX
#define THEANO_COMPLEX
/* A complex number as NumPy lays it out, with the operators that C++ gives to numbers. */
template <typename T> struct theano_complex {
    T real, imag;
    theano_complex() = default;
    template <typename U> theano_complex(U re) : real(T(re)), imag(0) {}
    theano_complex(T re, T im) : real(re), imag(im) {}
    template <typename U> theano_complex(const theano_complex<U> &z) : real(T(z.real)), imag(T(z.imag)) {}
    theano_complex operator-() const { return theano_complex(-real, -imag); }
    theano_complex &operator+=(const theano_complex &z) { return *this = *this + z; }
    theano_complex &operator-=(const theano_complex &z) { return *this = *this - z; }
    theano_complex &operator*=(const theano_complex &z) { return *this = *this * z; }
    theano_complex &operator/=(const theano_complex &z) { return *this = *this / z; }
    friend theano_complex operator+(const theano_complex &a, const theano_complex &b) {
        return theano_complex(a.real + b.real, a.imag + b.imag);
    }
    friend theano_complex operator-(const theano_complex &a, const theano_complex &b) {
        return theano_complex(a.real - b.real, a.imag - b.imag);
    }
    friend theano_complex operator*(const theano_complex &a, const theano_complex &b) {
        return theano_complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real);
    }
    friend theano_complex operator/(const theano_complex &a, const theano_complex &b) {
        /* Scaled by the larger part of the divisor, which may be near the largest or the smallest number. */
        if (fabs(double(b.real)) >= fabs(double(b.imag))) {
            const T r = b.imag / b.real, d = b.real + b.imag * r;
            return theano_complex((a.real + a.imag * r) / d, (a.imag - a.real * r) / d);
        }
        const T r = b.real / b.imag, d = b.imag + b.real * r;
        return theano_complex((a.real * r + a.imag) / d, (a.imag * r - a.real) / d);
    }
    friend bool operator==(const theano_complex &a, const theano_complex &b) {
        return a.real == b.real && a.imag == b.imag;
    }
    friend bool operator!=(const theano_complex &a, const theano_complex &b) { return !(a == b); }
};
typedef theano_complex<npy_float32> theano_complex64;
typedef theano_complex<npy_float64> theano_complex128;
#endif
"""


def element_type(dtype: str) -> str:
    """Return the C++ type of a number.

    Examples
    --------
    >>> element_type("int32"), element_type("complex64")
    ('npy_int32', 'theano_complex64')
    """
    return f"theano_{dtype}" if is_complex(dtype) else f"npy_{dtype}"


def type_number(dtype: str) -> str:
    """Return NumPy's constant for a dtype.

    Examples
    --------
    >>> type_number("uint8")
    'NPY_UINT8'
    """
    return f"NPY_{dtype.upper()}"


def support_code(dtype: str) -> list[str]:
    """Return what stands before code that computes with a dtype."""
    return [COMPLEX] if is_complex(dtype) else []


def header_dirs() -> list[str]:
    """Return where NumPy's headers are."""
    return [np.get_include()]


def typedefs(name: str, dtype: str) -> str:
    """Return the declaration of the names that code uses for the type of a variable's elements."""
    kind = element_type(dtype)
    return f"typedef {kind} dtype_{name};\ntypedef {kind} {name}_dtype;\n"


def literal(value: float, dtype: str) -> str:
    """Return a C++ constant that is worth exactly ``value``.

    Raises
    ------
    MethodNotDefined
        No such text exists: for complex numbers.

    Examples
    --------
    >>> literal(0.1, "float64"), literal(-(2**63), "int64"), literal(True, "bool")
    ('0.1', '((npy_int64)(-9223372036854775807LL - 1))', '((npy_bool)1)')
    """
    number = np.asarray(value).astype(dtype)[()]
    if is_complex(dtype):
        raise MethodNotDefined("c_literal", None, f"the type of complex numbers {dtype}")
    if dtype == "float16":
        return f"((npy_float16){int(number.view(np.uint16))}u)"
    if dtype.startswith("float"):
        real = float(number)
        if not math.isfinite(real):
            text = "NAN" if math.isnan(real) else "INFINITY" if real > 0 else "-INFINITY"
            return f"((npy_{dtype}){text})"
        return repr(real) if dtype == "float64" else f"((npy_{dtype}){real!r})"
    whole = int(number)
    text = "(-9223372036854775807LL - 1)" if whole == -(2**63) else f"{whole}{'ULL' if whole > 2**63 - 1 else 'LL'}"
    return f"((npy_{dtype}){text if abs(whole) > 2**31 - 1 else whole})"


def scalar_declare(name: str, dtype: str, check_input: bool) -> str:
    """Return the declaration of a number."""
    return f"{typedefs(name, dtype) if check_input else ''}{element_type(dtype)} {name};"


def scalar_extract(name: str, dtype: str, sub: Mapping[str, int | str], check_input: bool) -> str:
    """Return what reads a number from a NumPy scalar."""
    kind = f"Py{dtype.title().replace('Uint', 'UInt')}ArrType_Type"
    check = f"""\
if (!PyObject_TypeCheck(py_{name}, &{kind})) {{
    PyErr_Format(PyExc_TypeError, "expected a NumPy {dtype}, got an object of type %s", Py_TYPE(py_{name})->tp_name);
    {sub["fail"]}
}}
"""
    return f"{check if check_input else ''}PyArray_ScalarAsCtype(py_{name}, &{name});"


def scalar_sync(name: str, dtype: str, sub: Mapping[str, int | str]) -> str:
    """Return what makes a NumPy scalar of a number."""
    return f"""\
Py_XDECREF(py_{name});
py_{name} = NULL;
{{
    PyArray_Descr *descr = PyArray_DescrFromType({type_number(dtype)});
    if (descr) {{
        py_{name} = PyArray_Scalar(&{name}, descr, NULL);
        Py_DECREF(descr);
    }}
}}
if (!py_{name}) {{
    {sub["fail"]}
}}"""


def array_extract(name: str, dtype: str, ndim: int, sub: Mapping[str, Any], check_input: bool) -> str:
    """Return what takes an array, and a reference to it."""
    check = f"""\
if (!PyArray_Check(py_{name})) {{
    PyErr_Format(PyExc_TypeError, "expected a NumPy array, got an object of type %s", Py_TYPE(py_{name})->tp_name);
    {sub["fail"]}
}}
if (!PyArray_EquivTypenums(PyArray_TYPE((PyArrayObject *)py_{name}), {type_number(dtype)}) ||
    !PyArray_ISNOTSWAPPED((PyArrayObject *)py_{name})) {{
    PyErr_Format(PyExc_TypeError, "expected an array of {dtype}, got one of %R",
                 (PyObject *)PyArray_DESCR((PyArrayObject *)py_{name}));
    {sub["fail"]}
}}
if (PyArray_NDIM((PyArrayObject *)py_{name}) != {ndim}) {{
    PyErr_Format(PyExc_ValueError, "expected an array of {ndim} dimensions, got one of %d",
                 PyArray_NDIM((PyArrayObject *)py_{name}));
    {sub["fail"]}
}}
if (!PyArray_ISALIGNED((PyArrayObject *)py_{name})) {{
    PyErr_SetString(PyExc_NotImplementedError, "expected an array whose elements are aligned in memory");
    {sub["fail"]}
}}
"""
    return f"{name} = NULL;\n{check if check_input else ''}{name} = (PyArrayObject *)py_{name};\nPy_XINCREF({name});"


def array_sync(name: str, sub: Mapping[str, Any]) -> str:
    """Return what puts an array, or None for want of one, in the place of the object that was there."""
    return f"""\
{{
    PyObject *result = {name} ? (PyObject *){name} : Py_None;
    Py_INCREF(result);
    Py_XDECREF(py_{name});
    py_{name} = result;
}}
if ({name} && !PyArray_ISALIGNED({name})) {{
    PyErr_SetString(PyExc_NotImplementedError, "an op left an array whose elements are not aligned in memory");
    {sub["fail"]}
}}"""


class NumPyInC(CLinkerType):
    """What the C of every type with a dtype needs: NumPy's headers, and operators of complex numbers."""

    dtype: str

    def c_headers(self, **kwargs: object) -> list[str]:
        """Return NumPy's headers."""
        return HEADERS

    def c_header_dirs(self, **kwargs: object) -> list[str]:
        """Return where they are."""
        return header_dirs()

    def c_compile_args(self, **kwargs: object) -> list[str]:
        """Keep the names that NumPy has dropped out."""
        return COMPILE_ARGS

    def c_support_code(self, **kwargs: object) -> list[str]:
        """Return complex numbers with operators, where they are needed."""
        return support_code(self.dtype)

    def c_init_code(self, **kwargs: object) -> list[str]:
        """Import NumPy's C interface."""
        return INIT_CODE

    def c_code_cache_version(self) -> tuple[object, ...]:
        """Return the version of these texts, and NumPy's."""
        return VERSION
