"""Symbolic mathematics, differentiated and compiled to fast machine code.

``theano`` is the public door of the system. This file belongs to the graph-core
layer; the layers above it (``theano.scalar``, ``theano.tensor``, ...) live in
distributions of their own and appear here as soon as they are installed and used.

Examples
--------
>>> import theano
>>> theano.__version__[0]
'2'
"""

from __future__ import annotations

import pkgutil

# The upper layers are other distributions, which put their sub-packages into other folders.
__path__ = pkgutil.extend_path(__path__, __name__)
__version__ = "2.0.0a1"
