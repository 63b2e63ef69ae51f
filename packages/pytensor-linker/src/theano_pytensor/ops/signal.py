"""Convolutions and Fourier transforms."""

from __future__ import annotations

from typing import Any

from pytensor.tensor.fft import IRFFTOp, RFFTOp
from pytensor.tensor.signal.conv import Convolve1d, Convolve2d

import theano.tensor as T
from theano import scalar as scal
from theano.tensor.elemwise import DimShuffle
from theano.tensor.fft import irfft_op, rfft_op
from theano_pytensor.convert import convert
from theano_pytensor.types import cast


@convert.register(RFFTOp)
@convert.register(IRFFTOp)
def _(op: Any, node: Any, x: Any, lengths: Any) -> Any:
    forward = isinstance(op, RFFTOp)
    axes = x.type.ndim - (1 if forward else 2)
    if node.inputs[1].type.shape != (axes,):  # theirs transforms the last axes, as many as there are lengths
        raise NotImplementedError(f"a transform along {node.inputs[1].type.shape[0]} of {axes} axes")
    if not x.type.dtype.startswith("float"):
        raise NotImplementedError(f"a transform of {x.type.dtype}")
    return (rfft_op if forward else irfft_op)(x, cast(lengths, "int64"))


@convert.register(Convolve1d)
@convert.register(Convolve2d)
def _(op: Any, node: Any, x: Any, filters: Any, full: Any) -> Any:
    """Return a convolution of one image and one filter. Infinity in a filter meets the zeros around the image: NaN."""
    dtype = node.outputs[0].type.dtype
    floats = dtype in ("float32", "float64")
    if op.ndim > 1 and not floats:
        raise NotImplementedError(f"a convolution of matrices of {dtype}")
    x, filters, known = cast(x, dtype), cast(filters, dtype), _known(full)
    if known is not True or not floats:
        x = _surrounded(x, filters, full, known)
    if not floats:
        length = filters.shape[0]
        places = T.arange(x.shape[0] - length + 1).dimshuffle(0, "x") + T.arange(length)
        return T.dot(x[places], filters[::-1])
    to_images = ("x",) * (4 - op.ndim) + tuple(range(op.ndim))
    x, filters = x.dimshuffle(*to_images), filters.dimshuffle(*to_images)
    return T.nnet.conv2d(x, filters, border_mode="full" if known else "valid")[(0,) * (4 - op.ndim)]


def _known(flag: Any) -> bool | None:
    """Return the value of a flag, where it is one whatever its operands are; gradients compute theirs from others."""
    if isinstance(flag, T.TensorConstant):
        return bool(flag.data.all())
    op = None if flag.owner is None else flag.owner.op
    kind = getattr(op, "scalar_op", op)
    if not isinstance(kind, (scal.AND, scal.Invert, DimShuffle)):
        return None
    values = [_known(v) for v in flag.owner.inputs]
    if isinstance(kind, scal.AND):
        return False if False in values else None if None in values else True
    return not values[0] if isinstance(kind, scal.Invert) and values[0] is not None else values[0]


def _surrounded(x: Any, filters: Any, full: Any, known: bool | None) -> Any:
    """Return ``x`` with as many zeros at both ends as make the shortest convolution the one that is asked for.

    All places of a filter are one less than its length. The places of the shorter operand in the longer one are those
    of this filter, too, as soon as zeros at both ends make ``x`` the longer of both.
    """
    axes = range(x.type.ndim)
    n, k = [x.shape[i] for i in axes], [filters.shape[i] for i in axes]
    ends = [T.maximum(b - a, 0) for a, b in zip(n, k, strict=True)]
    if known is not False:
        ends = [T.switch(full, b - 1, end) for b, end in zip(k, ends, strict=True)]
    zeros = T.zeros([a + 2 * end for a, end in zip(n, ends, strict=True)], x.type.dtype)
    return T.set_subtensor(zeros[tuple(slice(end, end + a) for a, end in zip(n, ends, strict=True))], x)
