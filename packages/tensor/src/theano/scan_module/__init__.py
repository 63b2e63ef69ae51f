"""Loops in expressions: so far those whose steps know nothing of each other, :func:`map`."""

from theano.scan_module.views import map

__all__ = ["map"]
