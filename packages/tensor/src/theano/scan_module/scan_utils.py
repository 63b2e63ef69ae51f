"""``theano.scan_module.scan_utils``: see :mod:`theano.scan.utils`."""

from theano.graph.traverse import equal_computations
from theano.scan.utils import clone, until

__all__ = ["clone", "equal_computations", "until"]
