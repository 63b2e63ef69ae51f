"""Theano as a compiler of PyTensor's graphs: who imports this has the linker ``theano`` and the mode ``THEANO``.

Examples
--------
>>> import pytensor, pytensor.tensor as pt, theano_pytensor
>>> x = pt.dscalar("x")
>>> pytensor.function([x], x**2, mode="THEANO")(3.0)
array(9.)
"""

from __future__ import annotations

from theano_pytensor.convert import convert
from theano_pytensor.linker import TheanoLinker
from theano_pytensor.mode import THEANO, register

__all__ = ["THEANO", "TheanoLinker", "convert"]

register()
