"""Pooling and convolution under Theano's names; a table says where they are."""

from __future__ import annotations

from theano.layers import lazily as _lazily

__getattr__, __dir__ = _lazily(globals())
