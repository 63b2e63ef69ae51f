"""The mode ``THEANO``: which rewrites of PyTensor come before ours."""

from __future__ import annotations

from typing import Any

import pytensor.compile.mode
from pytensor.compile.mode import Mode, optdb
from pytensor.configdefaults import config
from pytensor.graph.rewriting.db import RewriteDatabaseQuery

from theano_pytensor.linker import TheanoLinker

#: Of PyTensor's phase `stabilize`, what comes before our rules, which know all forms of the rest: it takes marks away
#: that users' functions put on matrices.
KEPT = frozenset({"local_drain_specify_assumptions"})


def query() -> RewriteDatabaseQuery:
    """Return what PyTensor does before us: the rewrites in `KEPT`, and equal nodes made one.

    All else our rules do, and find the graph as it was written; of `log(sum(exp(x)))` and its gradient, for one, they
    make more than of what PyTensor makes of the first alone. What programs ask for by name takes part as ever, as PyMC
    does for checks of parameters; so the phase of `canonicalize` is there, with nothing of its own.
    """
    phase: Any = optdb["stabilize"]
    names = {getattr(rewrite, "name", None) for rewrite in phase.__db__["stabilize"]}
    others = [name for name in names if name and name not in KEPT]
    phases = ["minimum_compile", "drain_specify_assumptions", "stabilize", "merge", "canonicalize_db"]
    return RewriteDatabaseQuery(include=phases, exclude=others)


QUERY = query()

THEANO = Mode(TheanoLinker(), QUERY)


def register() -> None:
    """Make linker and mode known to PyTensor; to do so twice changes nothing.

    Examples
    --------
    >>> register()
    >>> import pytensor
    >>> pytensor.compile.mode.get_mode("theano") is THEANO
    True
    """
    modes: Any = pytensor.compile.mode
    if "theano" not in modes.predefined_linkers:
        modes.register_linker("theano", THEANO.linker)
    if "THEANO" not in modes.predefined_modes:
        modes.register_mode("THEANO", THEANO)
        # The flag has a fixed list of names of its own.
        flag = config._config_var_dict["mode"]
        others = flag._apply

        def named(value: Any) -> Any:
            return value if isinstance(value, str) and value == "THEANO" else others(value)

        flag._apply = named
