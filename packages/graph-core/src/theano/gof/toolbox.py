"""``theano.gof.toolbox``: see :mod:`theano.graph.features`."""

from __future__ import annotations

from theano.graph.features import (
    AlreadyThere,
    Bookkeeper,
    Feature,
    History,
    NodeFinder,
    NoOutputFromInplace,
    PreserveNames,
    PreserveVariableAttributes,
    PrintListener,
    ReplacementDidntRemovedError,
    ReplaceValidate,
    Supervisor,
    Validator,
)

__all__ = [
    "AlreadyThere",
    "Bookkeeper",
    "Feature",
    "History",
    "NoOutputFromInplace",
    "NodeFinder",
    "PreserveNames",
    "PreserveVariableAttributes",
    "PrintListener",
    "ReplaceValidate",
    "ReplacementDidntRemovedError",
    "Supervisor",
    "Validator",
]
