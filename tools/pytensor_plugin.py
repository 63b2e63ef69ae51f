"""A plugin of pytest: PyTensor's tests of its linker for Numba, with ours in the place of that.

`tools/pytensor_tests.py` runs them. The tests compare a compiled graph with the mode `py` by one function of theirs,
which has the compared mode as a parameter; here that is `THEANO`. Some tests look at the graph instead: at what PyTensor's
rewrites for Numba overwrite or rearrange, which our mode leaves to our rules. With ``THEANO_PYTENSOR_MODE=REWRITES`` in
the environment graphs are rewritten as for Numba, and our linker is given these. With ``NUMBA`` nothing is replaced: that
is what results are to be measured against.
"""

from __future__ import annotations

import importlib
import os
from typing import Any


def pytest_configure(config: Any) -> None:
    """Put our mode where the tests look for theirs, before any of them is imported."""
    chosen = os.environ.get("THEANO_PYTENSOR_MODE", "THEANO")
    if chosen == "NUMBA":
        return
    from pytensor.compile import mode as modes
    from theano_pytensor import THEANO, TheanoLinker

    linker, mode = TheanoLinker, THEANO
    if chosen == "REWRITES":
        linker = type("TheanoLinker", (TheanoLinker,), {"incompatible_rewrites": modes.NUMBA.linker.incompatible_rewrites})
        mode = modes.Mode(linker(), modes.NUMBA.provided_optimizer)
    modes.predefined_modes["NUMBA"] = modes.NUMBA = mode
    modes.predefined_linkers["numba"] = mode.linker
    importlib.import_module("pytensor.link.numba.linker").NumbaLinker = linker
    basic = importlib.import_module("tests.link.numba.test_basic")
    basic.numba_mode = mode
    basic.compare_numba_and_py.__kwdefaults__["numba_mode"] = mode
    basic.eval_python_only = lambda *args, **kwargs: None  # it is about Numba's code without Numba
