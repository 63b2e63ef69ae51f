"""Complex numbers: their parts, and making them of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano.scalar.base import at_inputs, flat
from theano.scalar.broadcasting import broadcast_shape
from theano.scalar.define import scalar_op
from theano.scalar.dtypes import is_complex, real_dtype
from theano.scalar.output_types import complex_out, float64_out, real_out, same_out_min8
from theano.scalar.trigonometric import cos, sin

if TYPE_CHECKING:
    from theano.scalar.annotations import Number


def at_parts(in_dtypes: tuple[str, ...], out_dtype: str) -> str:
    """Compute in the dtype of the output's parts."""
    return real_dtype(out_dtype)


def _in_float(in_dtypes: tuple[str, ...], out_dtype: str) -> str:
    return "complex128" if is_complex(in_dtypes[0]) else out_dtype


def _assemble(re: np.ndarray, im: np.ndarray) -> np.ndarray:
    """A complex array of two parts; ``re + 1j * im`` would turn an infinite part into nan."""
    result = np.empty(broadcast_shape(re.shape, im.shape), np.result_type(re.dtype, np.complex64))
    result.real, result.imag = re, im
    return result


def _angle_gradient(x: Number, out: Number, g: Number) -> Any:
    if not is_complex(x.type.dtype):
        return flat
    squared = real(x) * real(x) + imag(x) * imag(x)
    return complex(-g * imag(x) / squared, g * real(x) / squared)


real = scalar_op(
    "real", "x", types=real_out, py=lambda x: np.array(np.real(x)), compute=at_inputs,
    c={"biuf": "{x}", "c": "real({x})"},
    grad=lambda x, out, g: complex(g, g.zeros_like()) if is_complex(x.type.dtype) else g, holomorphic=False,
    doc="Real part.",
)  # fmt: skip

imag = scalar_op(
    "imag", "x", types=real_out, py=lambda x: np.array(np.imag(x)), compute=at_inputs,
    c={"biuf": "0", "c": "imag({x})"},
    grad=lambda x, out, g: complex(g.zeros_like(), g) if is_complex(x.type.dtype) else flat, holomorphic=False,
    doc="Imaginary part; zero for a real number.",
)  # fmt: skip

conj = scalar_op(
    "conj", "x", types=same_out_min8, py=np.conjugate, c={"biuf": "{x}", "c": "conj({x})"},
    grad=lambda x, out, g: conj(g) if is_complex(x.type.dtype) else g, holomorphic=False,
    doc="Complex conjugate.",
)  # fmt: skip

angle = scalar_op(
    "angle", "x", types=float64_out, py=np.angle, compute=_in_float, ulp=4,
    c={"f": "arctan2(0, {x})", "c": "arg({x})"},
    grad=_angle_gradient, holomorphic=False,
    doc="Angle of a complex number in the plane, between -pi and pi.",
)  # fmt: skip

complex = scalar_op(
    "complex", "re im", types=complex_out, py=_assemble, compute=at_parts,
    c=lambda in_dtypes, compute: "CMPLXF({re}, {im})" if compute == "float32" else "CMPLX({re}, {im})",
    grad=lambda re, im, out, g: (real(g), imag(g)), holomorphic=False,
    doc="The complex number of a real and an imaginary part.",
)  # fmt: skip

complex_from_polar = scalar_op(
    "complex_from_polar", "r theta", types=complex_out, compute=at_parts, ulp=4,
    py=lambda r, theta: _assemble(r * np.cos(theta), r * np.sin(theta)),
    c=lambda in_dtypes, compute: ("CMPLXF" if compute == "float32" else "CMPLX")
    + "({r} * cos({theta}), {r} * sin({theta}))",
    grad=lambda r, theta, out, g: (
        real(g) * cos(theta) + imag(g) * sin(theta),
        r * (imag(g) * cos(theta) - real(g) * sin(theta)),
    ),
    holomorphic=False, specials=False,
    doc="The complex number of a modulus and an angle.",
)  # fmt: skip
