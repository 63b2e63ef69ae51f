"""A mapping that never changes, and so can be hashed."""

from theano.tensor.elemwise import frozendict

__all__ = ["frozendict"]
