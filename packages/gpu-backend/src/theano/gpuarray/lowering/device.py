"""Transfers. (What only moves elements has one entry for all devices, in the tensor layer.)"""

from __future__ import annotations

from theano.gpuarray.lowering.common import TARGET
from theano.lowering.table import Lowering, register
from theano.tensor.device.lowering import transfer_kernel
from theano.tensor.device.ops import ToDevice

register(Lowering(ToDevice, transfer_kernel, target=TARGET))
