"""``theano.scan_module.scan_views``: see :mod:`theano.scan.views`."""

from theano.scan.views import foldl, foldr, map, reduce

__all__ = ["foldl", "foldr", "map", "reduce"]
