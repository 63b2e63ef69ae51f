"""For the tests of all layers: which of them run, and what they need of their process.

Some press Ctrl-C, which a shell lets be ignored by what it starts in the background. Some ask for a collection of
garbage, which walks over all that lives: what collecting the tests has made is left out.
"""

from __future__ import annotations

import gc
import os
import signal

import portion

# Threads of the BLAS of NumPy and SciPy keep a core busy for 2^28 cycles after each product, while other tests want it.
# They sleep after 2^4 cycles instead. It is read when the library is loaded; how many threads there are stays as it is.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if os.environ.get("THEANO_TEST_REPORT"):
    pytest_plugins = ["outcomes"]  # in tools/


def pytest_addoption(parser):
    """Add the options that say how much is tried."""
    parser.addoption("--cases", metavar="N|all", help="which part of large tables of cases: a number, or all")
    parser.addoption("--one-in", type=int, default=1, metavar="N",
                     help="of each test the first case and one in N of the others")  # fmt: skip


def pytest_configure(config):
    """Hand the option down to the modules of tests, which make their tables on import, and to other processes."""
    if config.getoption("cases"):
        os.environ[portion.VARIABLE] = config.getoption("cases")
    if not portion.everything() and hasattr(config.option, "warn_unused_snapshots"):
        config.option.warn_unused_snapshots = True  # some snapshots are of cases that are not tried


def pytest_report_header():
    """Say how to repeat this run."""
    return f"cases: pytest --cases {'all' if portion.everything() else portion.turn()}"


def pytest_collection_modifyitems(config, items):
    """Leave out slow tests, unless all cases are tried or somebody names them, and the cases that --one-in excludes."""
    named = config.getoption("markexpr") or any("::" in each for each in config.args)
    kept = [item for item in items if named or portion.everything() or not item.get_closest_marker("slow")]
    cases = {}
    for item in kept:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    tried = {item for each in cases.values() for item in portion.portion(each, config.getoption("one_in"))}
    config.hook.pytest_deselected(items=[item for item in items if item not in tried])
    items[:] = [item for item in items if item in tried]


def pytest_collection_finish():
    """Take what is there by now from the collector of garbage: a million objects, which live to the end."""
    gc.collect()
    gc.freeze()
