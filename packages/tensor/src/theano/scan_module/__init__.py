"""The older place of :mod:`theano.scan`; its other modules are old spellings (`theano.layers.compat`)."""

# First, since an import of the module of that name would bind it: `theano.scan_module.scan` is the function.
from theano.scan_module.scan import scan  # isort: skip

from theano.layers import lazily
from theano.scan import foldl, foldr, map, reduce, scan_checkpoints, until

__all__ = ["foldl", "foldr", "map", "reduce", "scan", "scan_checkpoints", "until"]

__getattr__, __dir__ = lazily(globals())
