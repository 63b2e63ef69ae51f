"""Convolution: kernels built with the layer (``c/conv.c``)."""

from __future__ import annotations

from typing import Any

from theano.graph.apply import Apply
from theano.lowering.accepts import INTEGERS, SINGLE_OR_DOUBLE, Accepts
from theano.lowering.table import Lowering, register
from theano.settings import config
from theano.tensor.blas.choice import thread_limit
from theano.tensor.conv.geometry import axis_modes
from theano.tensor.conv.op import AbstractConv, AbstractConv_gradInputs, AbstractConv_gradWeights
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import ready
from theano.tensor.kernels.parameters import Border, ConvAxis


def _geometry(op: Any) -> parameters.Conv:
    """Return the geometry as kernels are told of it."""
    axes = []
    for mode, step, dilation in zip(
        axis_modes(op.border_mode, op.convdim), op.subsample, op.filter_dilation, strict=True
    ):
        before, after = (0, 0) if isinstance(mode, str) else (mode, mode) if isinstance(mode, int) else mode
        border = Border[mode.upper()] if isinstance(mode, str) else Border.GIVEN
        axes.append(ConvAxis(border=border, before=before, after=after, step=step, dilation=dilation))
    return parameters.Conv(
        groups=op.num_groups, flip=op.filter_flip, threads=thread_limit(), winograd=config.conv.winograd, axes=axes
    )


@ready("th_kernel_conv", work=1000.0)
def conv_kernel(op: Any, node: Apply) -> parameters.Conv:
    """Return the convolution of images with filters."""
    return _geometry(op)


@ready("th_kernel_conv_filters", work=1000.0)
def conv_filters_kernel(op: Any, node: Apply) -> parameters.Conv:
    """Return the gradient of a convolution with respect to its filters."""
    return _geometry(op)


@ready("th_kernel_conv_images", work=1000.0)
def conv_images_kernel(op: Any, node: Apply) -> parameters.Conv:
    """Return the gradient of a convolution with respect to its images."""
    return _geometry(op)


def _is_shared(op: Any, node: Apply) -> bool:
    """Tell whether all places have the same filters."""
    return not op.unshared


register(
    Lowering(AbstractConv, conv_kernel, Accepts(
        "image, kernel -> y", dtypes={"image": SINGLE_OR_DOUBLE}, same=("image kernel y",),
    ), when=_is_shared),
    Lowering(AbstractConv_gradWeights, conv_filters_kernel, Accepts(
        "image, top, lengths -> kernel", dtypes={"image": SINGLE_OR_DOUBLE, "lengths": INTEGERS},
        same=("image top kernel",),
    ), when=_is_shared),
    Lowering(AbstractConv_gradInputs, conv_images_kernel, Accepts(
        "kernel, top, lengths -> image", dtypes={"kernel": SINGLE_OR_DOUBLE, "lengths": INTEGERS},
        same=("kernel top image",),
    ), when=_is_shared),
)  # fmt: skip
