"""``theano.scan_module.scan_op``: see :mod:`theano.scan.op`."""

from theano.scan.op import Scan

__all__ = ["Scan"]
