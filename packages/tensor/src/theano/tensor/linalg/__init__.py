"""Linear algebra: factorisations, solutions of equations, functions of matrices.

The public modules are :mod:`theano.tensor.nlinalg`, :mod:`theano.tensor.slinalg` and :mod:`theano.tensor.fft`.
"""
