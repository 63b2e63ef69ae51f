"""``theano.gof.toolbox``: see :mod:`theano.graph.features`."""

from __future__ import annotations

from theano.graph.features import (
    AlreadyThere,
    Bookkeeper,
    Feature,
    History,
    NodeFinder,
    PreserveNames,
    PrintListener,
    ReplaceValidate,
    Supervisor,
)

__all__ = [
    "AlreadyThere",
    "Bookkeeper",
    "Feature",
    "History",
    "NodeFinder",
    "PreserveNames",
    "PrintListener",
    "ReplaceValidate",
    "Supervisor",
]
