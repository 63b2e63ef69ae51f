"""Old spelling; what ``theano.tensor.nnet.abstract_conv`` shows is in :mod:`theano.tensor.conv.derived`, :mod:`theano.tensor.conv.functions`, :mod:`theano.tensor.conv.geometry`, :mod:`theano.tensor.conv.op`, :mod:`theano.tensor.conv.upsampling`, :mod:`theano`, :mod:`theano.graph`, :mod:`theano.legacy.conv_shapes`, :mod:`theano.scalar`, :mod:`theano.settings`, :mod:`theano.tensor.convert`, :mod:`theano.tensor.shape.basic`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from __future__ import annotations as annotations
from collections.abc import Sequence as Sequence
from theano.settings import config as config
from theano.tensor.annotations import TensorLike
from theano.tensor.control.checks import Assert as Assert
from theano.tensor.conv.derived import (
    causal_conv1d as causal_conv1d, conv2d_transpose as conv2d_transpose, separable_conv2d as separable_conv2d,
    separable_conv3d as separable_conv3d,
)
from theano.tensor.conv.functions import (
    assert_shape as assert_shape, conv2d as conv2d, conv2d_grad_wrt_inputs as conv2d_grad_wrt_inputs,
    conv2d_grad_wrt_weights as conv2d_grad_wrt_weights, conv3d as conv3d, conv3d_grad_wrt_inputs as
    conv3d_grad_wrt_inputs, conv3d_grad_wrt_weights as conv3d_grad_wrt_weights,
)
from theano.tensor.conv.geometry import (
    get_conv_gradinputs_shape as get_conv_gradinputs_shape, get_conv_gradinputs_shape_1axis as
    get_conv_gradinputs_shape_1axis, get_conv_gradweights_shape as get_conv_gradweights_shape,
    get_conv_gradweights_shape_1axis as get_conv_gradweights_shape_1axis, get_conv_output_shape as
    get_conv_output_shape, get_conv_shape_1axis as get_conv_shape_1axis, normal_steps as normal_steps,
)
from theano.tensor.conv.op import (
    AbstractConv as AbstractConv, AbstractConv2d as AbstractConv2d, AbstractConv2d_gradInputs as
    AbstractConv2d_gradInputs, AbstractConv2d_gradWeights as AbstractConv2d_gradWeights, AbstractConv3d as
    AbstractConv3d, AbstractConv3d_gradInputs as AbstractConv3d_gradInputs, AbstractConv3d_gradWeights as
    AbstractConv3d_gradWeights, AbstractConv_gradInputs as AbstractConv_gradInputs, AbstractConv_gradWeights as
    AbstractConv_gradWeights, BaseAbstractConv as BaseAbstractConv,
)
from theano.tensor.conv.upsampling import (
    bilinear_kernel_1D as bilinear_kernel_1D, bilinear_kernel_2D as bilinear_kernel_2D, bilinear_upsampling as
    bilinear_upsampling, frac_bilinear_upsampling as frac_bilinear_upsampling,
)
from theano.tensor.convert import as_tensor_variable as as_tensor_variable
from theano.tensor.var import TensorVariable
from typing import Any as Any, TYPE_CHECKING as TYPE_CHECKING

def eq(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x equals y."""
