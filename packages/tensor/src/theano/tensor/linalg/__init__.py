"""Linear algebra: factorisations, solutions of equations, functions of matrices.

The public doors are :mod:`theano.tensor.nlinalg`, :mod:`theano.tensor.slinalg` and :mod:`theano.tensor.fft`.
"""
