"""Linear algebra: factorisations, solutions of equations, functions of matrices.

``theano.tensor.linalg`` has the functions of :mod:`numpy.linalg`, for matrices and for stacks of them. The ops of one
matrix are in ``theano.tensor.nlinalg`` and ``slinalg``, by the table in `theano.layers.documented_tensor`.

Examples
--------
>>> import theano.tensor as T
>>> T.linalg.inv(T.dtensor4("A")).type
TensorType(float64, 4D)
"""

from theano.layers import lazily
from theano.tensor.composed import OF_MATRICES

__getattr__, __dir__ = lazily(globals(), OF_MATRICES)
