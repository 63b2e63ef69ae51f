"""``theano.gof.opt``: see :mod:`theano.rewriting`."""

from __future__ import annotations

from theano.rewriting import local_rule, rule

__all__ = ["local_rule", "rule"]
