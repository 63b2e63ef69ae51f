"""Theano as a compiler of PyTensor's graphs: who imports this has the linker ``theano`` and the mode ``THEANO``.

Examples
--------
>>> import pytensor, pytensor.tensor as pt, theano_pytensor
>>> x = pt.dscalar("x")
>>> pytensor.function([x], x**2, mode="THEANO")(3.0)
array(9.)
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 12):
    raise ImportError("theano_pytensor needs Python 3.12 or newer, as PyTensor's newer versions do")
try:
    import pytensor.link.basic
except ImportError as exc:
    raise ImportError("theano_pytensor needs PyTensor 3.3 or newer: pip install pytensor") from exc
if not hasattr(pytensor.link.basic, "JITLinker") or not hasattr(pytensor.link.basic.JITLinker, "required_rewrites"):
    raise ImportError(f"theano_pytensor needs PyTensor 3.3 or newer, not {pytensor.__version__}")

from theano_pytensor.convert import convert
from theano_pytensor.linker import TheanoLinker
from theano_pytensor.mode import THEANO, register

__all__ = ["THEANO", "TheanoLinker", "convert"]

register()
