"""``theano.scan_module.scan_checkpoints``: see :mod:`theano.scan.checkpoints`."""

from theano.scan.checkpoints import scan_checkpoints

__all__ = ["scan_checkpoints"]
