"""Graphs as pages to explore in a browser, all in one file, without a network; see :mod:`theano.printing.drawing`."""

from __future__ import annotations

from theano.d3viz.d3viz import d3viz, d3write
from theano.d3viz.formatting import PyDotFormatter

has_requirements = True

__all__ = ["PyDotFormatter", "d3viz", "d3write", "has_requirements"]
