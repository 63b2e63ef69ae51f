"""``theano.gof.optdb``: see :mod:`theano.rewriting.databases` and :mod:`theano.rewriting.query`."""

from __future__ import annotations

from theano.rewriting import DB, EquilibriumDB, LocalGroupDB, ProxyDB, Query, SequenceDB, TopoDB

__all__ = ["DB", "EquilibriumDB", "LocalGroupDB", "ProxyDB", "Query", "SequenceDB", "TopoDB"]
