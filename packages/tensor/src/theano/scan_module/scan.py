"""``theano.scan_module.scan``: see :mod:`theano.scan.basic`."""

from theano.scan.basic import scan

__all__ = ["scan"]
