"""The entries of `theano_pytensor.convert.convert`, by family of ops."""

from theano_pytensor.ops import control, create, elemwise, index, linalg, reduce, scan, shape, signal, special

__all__ = ["control", "create", "elemwise", "index", "linalg", "reduce", "scan", "shape", "signal", "special"]
