"""Convolution: kernels built with the layer (``c/conv.c``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.codegen.text import CText
from theano.graph.apply import Apply
from theano.graph.kernel import Kernel
from theano.lowering.accepts import INTEGERS, SINGLE_OR_DOUBLE, Accepts
from theano.lowering.table import Lowering, register
from theano.settings import config
from theano.tensor.blas.choice import thread_limit
from theano.tensor.conv.conv_elemwise import ConvElemwise, is_one
from theano.tensor.conv.geometry import axis_modes
from theano.tensor.conv.op import AbstractConv, AbstractConv_gradInputs, AbstractConv_gradWeights
from theano.tensor.elemwise.lowering import LoopPlan, plan_of, write_loop
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import driver, dtype_of, library_path, ready, title
from theano.tensor.kernels.parameters import Border, ConvAxisParams
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.tensor.conv.op import BaseAbstractConv


def geometry_of(op: BaseAbstractConv) -> parameters.ConvParams:
    """Return the geometry as parameters of kernels."""
    axes = []
    for mode, step, dilation in zip(
        axis_modes(op.border_mode, op.convdim), op.subsample, op.filter_dilation, strict=True
    ):
        before, after = (0, 0) if isinstance(mode, str) else (mode, mode) if isinstance(mode, int) else mode
        border = Border[mode.upper()] if isinstance(mode, str) else Border.GIVEN
        axes.append(ConvAxisParams(border=border, before=before, after=after, step=step, dilation=dilation))
    return parameters.ConvParams(
        groups=op.num_groups, flip=op.filter_flip, threads=thread_limit(), winograd=config.conv.winograd, axes=axes
    )


@ready("th_kernel_conv", work=1000.0)
def conv_kernel(op: AbstractConv, node: Apply) -> parameters.ConvParams:
    """Return the convolution of images with filters."""
    return geometry_of(op)


@ready("th_kernel_conv_filters", work=1000.0)
def conv_filters_kernel(op: AbstractConv_gradWeights, node: Apply) -> parameters.ConvParams:
    """Return the gradient of a convolution with respect to its filters."""
    return geometry_of(op)


@ready("th_kernel_conv_images", work=1000.0)
def conv_images_kernel(op: AbstractConv_gradInputs, node: Apply) -> parameters.ConvParams:
    """Return the gradient of a convolution with respect to its images."""
    return geometry_of(op)


def conv_elemwise_kernel(op: ConvElemwise, node: Apply) -> Kernel | None:
    """Return the convolution of images with filters, whose results a loop meets while they are in the cache."""
    dtype, path = dtype_of(node.inputs[0]), library_path()
    # Over the results of a filter all operands stay the same; over those of a pixel, only those of one number do.
    ones = [is_one(v) for v in node.inputs[2:]]
    over_planes, over_pixels = _loop(op, node, dtype, [True] * len(ones)), _loop(op, node, dtype, ones)
    if over_planes is None or over_pixels is None or path is None:
        return None
    c = CText()
    c.comment(f"{over_planes.comment}, x0 being the results of a convolution")
    write_loop(c, over_planes, "KERNEL_planes")
    if not all(ones):
        write_loop(c, over_pixels, "KERNEL_pixels")
    c("int KERNEL(th_ctx *ctx)")
    with c.block():
        c("int (*const *run)(th_ctx *, const th_loop *, const th_loop *) = ctx->params;")
        c(f"return (*run)(ctx, &KERNEL_planes_loop, &KERNEL_{'planes' if all(ones) else 'pixels'}_loop);")
    params = parameters.ConvElemwiseParams(
        run=driver(path, "th_conv_elementwise"), conv=geometry_of(op.conv), numbers=over_planes.body.params
    )
    return Kernel(title(op, node), str(c), over_planes.support, params, 1000.0, plain_loops=True)


def _loop(op: ConvElemwise, node: Apply, dtype: str, ones: Sequence[bool]) -> LoopPlan | None:
    """Return the loop over neighbouring results and operands, those that are ``ones`` being one number."""
    types = [TensorType(dtype_of(v), (one,)) for v, one in zip(node.inputs[2:], ones, strict=True)]
    scalars = Elemwise(op.scalar_op)
    return plan_of(scalars.make_node(TensorType(dtype, (False,))("y"), *(t.make_variable() for t in types)))


def _is_shared(op: Any, node: Apply) -> bool:
    """Tell whether all places have the same filters."""
    return not getattr(op, "conv", op).unshared


register(
    Lowering(AbstractConv, conv_kernel, Accepts(
        "image, kernel -> y", dtypes={"image": SINGLE_OR_DOUBLE}, same=("image kernel y",),
    ), when=_is_shared),
    Lowering(ConvElemwise, conv_elemwise_kernel, Accepts(
        "image, kernel, *others -> y", dtypes={"image": SINGLE_OR_DOUBLE}, same=("image kernel y",),
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
