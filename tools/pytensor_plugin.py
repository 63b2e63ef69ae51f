"""A plugin of pytest: PyTensor's tests of its linker for Numba, with ours in the place of that.

`tools/pytensor_tests.py` runs them. The tests compare a compiled graph with the mode `py` by one function of theirs,
which has the compared mode as a parameter; here that is `THEANO`. With ``THEANO_PYTENSOR_MODE=NUMBA`` in the environment
nothing is replaced: that is what the results are to be measured against.
"""

from __future__ import annotations

import importlib
import os
from typing import Any


def pytest_configure(config: Any) -> None:
    """Put our mode where the tests look for theirs, before any of them is imported."""
    if os.environ.get("THEANO_PYTENSOR_MODE") == "NUMBA":
        return
    from pytensor.compile import mode as modes
    from theano_pytensor import THEANO, TheanoLinker

    modes.predefined_modes["NUMBA"] = THEANO
    modes.NUMBA = THEANO
    modes.predefined_linkers["numba"] = THEANO.linker
    importlib.import_module("pytensor.link.numba.linker").NumbaLinker = TheanoLinker
    basic = importlib.import_module("tests.link.numba.test_basic")
    basic.numba_mode = THEANO
    basic.compare_numba_and_py.__kwdefaults__["numba_mode"] = THEANO
    basic.eval_python_only = lambda *args, **kwargs: None  # it is about Numba's code without Numba
