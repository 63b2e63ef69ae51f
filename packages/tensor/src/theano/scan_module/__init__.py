"""The older place of :mod:`theano.scan`, under the names of its modules."""

from theano.scan import foldl, foldr, map, reduce, scan, scan_checkpoints, until

__all__ = ["foldl", "foldr", "map", "reduce", "scan", "scan_checkpoints", "until"]
