"""What nodes become on a device: the entries of the lowering table for the target ``gpu``.

An entry has kernels for what its op's description says, if that is a loop (`loops`); nothing but a look at lengths and
strides, where the CPU's own kernel reads no numbers (`views`); or a kernel of its own, which ships as text.
"""

from theano.gpuarray.lowering import loops as _loops  # noqa: F401
from theano.gpuarray.lowering import products as _products  # noqa: F401
from theano.gpuarray.lowering import rows as _rows  # noqa: F401
from theano.gpuarray.lowering import search as _search  # noqa: F401
from theano.gpuarray.lowering import views as _views  # noqa: F401
from theano.gpuarray.lowering.common import TARGET as TARGET
