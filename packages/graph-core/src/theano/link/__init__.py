"""The names that older programs find under ``theano.link``; there is nothing in here but references."""

from __future__ import annotations

from theano.link import basic, c, vm

__all__ = ["basic", "c", "vm"]
