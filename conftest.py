"""For the tests of all layers: they press Ctrl-C, which a shell lets be ignored by what it starts in the background.

Some ask for a collection of garbage, which walks over all that lives: what collecting the tests has made is left out.
"""

from __future__ import annotations

import gc
import os
import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if os.environ.get("THEANO_TEST_REPORT"):
    pytest_plugins = ["outcomes"]  # in tools/


def pytest_collection_finish():
    """Take what is there by now from the collector of garbage: a million objects, which live to the end."""
    gc.collect()
    gc.freeze()
