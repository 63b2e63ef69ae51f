"""The mode ``THEANO``: which rewrites of PyTensor come before ours."""

from __future__ import annotations

from typing import Any

import pytensor.compile.mode
from pytensor.compile.mode import Mode
from pytensor.configdefaults import config
from pytensor.graph.rewriting.db import RewriteDatabaseQuery

from theano_pytensor.linker import TheanoLinker

#: What PyTensor does before us: expressions in a form that does not lose digits, and equal nodes made one. All else our
#: rules do, and find the graph as it was written. The phase `canonicalize_db` has nothing of its own then; what takes
#: part in it is what programs ask for by name, as PyMC does for checks of parameters.
QUERY = RewriteDatabaseQuery(include=["minimum_compile", "stabilize", "merge", "canonicalize_db"])

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
