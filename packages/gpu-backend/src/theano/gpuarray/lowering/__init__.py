"""What nodes become on a device: the entries of the lowering table for the target ``gpu``.

An entry has kernels for what its op's description says, if that is a loop (`loops`), or a kernel of its own, which
ships as text. What only moves elements needs none: the tensor layer's entries are for all devices (`targets.ANY`).
"""

from theano.gpuarray.lowering import create as _create  # noqa: F401
from theano.gpuarray.lowering import cumulative as _cumulative  # noqa: F401
from theano.gpuarray.lowering import index as _index  # noqa: F401
from theano.gpuarray.lowering import loops as _loops  # noqa: F401
from theano.gpuarray.lowering import products as _products  # noqa: F401
from theano.gpuarray.lowering import random as _random  # noqa: F401
from theano.gpuarray.lowering import rows as _rows  # noqa: F401
from theano.gpuarray.lowering import search as _search  # noqa: F401
from theano.gpuarray.lowering import sort as _sort  # noqa: F401
from theano.gpuarray.lowering import transfers as _transfers  # noqa: F401
from theano.gpuarray.lowering import windows as _windows  # noqa: F401
from theano.gpuarray.lowering.common import TARGET as TARGET
