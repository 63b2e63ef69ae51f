"""What nodes become on a device: the entries of the lowering table for the target ``gpu``.

A module has the name of the family of its ops, which is their folder in the tensor layer. An entry has kernels for what
its op's description says, if that is a loop (`elemwise`, `reduce`), or a kernel of its own, which ships as text. What
only moves elements needs none: the tensor layer's entries are for all devices (`targets.ANY`).
"""

from theano.gpuarray.lowering import blas as _blas  # noqa: F401
from theano.gpuarray.lowering import conv as _conv  # noqa: F401
from theano.gpuarray.lowering import create as _create  # noqa: F401
from theano.gpuarray.lowering import device as _device  # noqa: F401
from theano.gpuarray.lowering import elemwise as _elemwise  # noqa: F401
from theano.gpuarray.lowering import fft as _fft  # noqa: F401
from theano.gpuarray.lowering import index as _index  # noqa: F401
from theano.gpuarray.lowering import linalg as _linalg  # noqa: F401
from theano.gpuarray.lowering import nnet_blocksparse as _nnet_blocksparse  # noqa: F401
from theano.gpuarray.lowering import nnet_ctc as _nnet_ctc  # noqa: F401
from theano.gpuarray.lowering import nnet_neighbours as _nnet_neighbours  # noqa: F401
from theano.gpuarray.lowering import nnet_softmax as _nnet_softmax  # noqa: F401
from theano.gpuarray.lowering import pool as _pool  # noqa: F401
from theano.gpuarray.lowering import random as _random  # noqa: F401
from theano.gpuarray.lowering import reduce as _reduce  # noqa: F401
from theano.gpuarray.lowering import sort as _sort  # noqa: F401
from theano.gpuarray.lowering.common import TARGET as TARGET
