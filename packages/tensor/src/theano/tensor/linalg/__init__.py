"""Linear algebra: factorisations, solutions of equations, functions of matrices.

Programs find them as ``theano.tensor.nlinalg`` and ``theano.tensor.slinalg``, by the table in
`theano.layers.documented_tensor`.
"""
