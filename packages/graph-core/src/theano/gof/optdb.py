"""``theano.gof.optdb``: see :mod:`theano.rewriting.userdefined.databases` and :mod:`theano.rewriting.query`."""

from __future__ import annotations

from theano.rewriting import Query
from theano.rewriting.userdefined import DB, EquilibriumDB, LocalGroupDB, ProxyDB, SequenceDB, TopoDB

__all__ = ["DB", "EquilibriumDB", "LocalGroupDB", "ProxyDB", "Query", "SequenceDB", "TopoDB"]
