"""A program: a `LocalCluster` of Dask's in a process of its own, for as long as the process that started it.

Nothing of the program that uses the cluster is run again here or in the workers, as it is where Python spawns processes
from the main module of that program: this file is the main module, and needs no more than Dask.

What it is to do comes pickled through its standard input, which then stays open until the cluster is to end.
"""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import sys
import threading
from typing import Any

CLOSE = 10.0
"""How many seconds the workers may take to end by themselves."""


def serve(file: Any) -> None:
    """Start a cluster as a file asks for it; end it at the end of the file, or of the process that wrote it."""
    parent = os.getppid()
    sys.path[:] = pickle.load(file)  # Python hands it on to the workers: they find modules where the program does
    distributed, dask = importlib.import_module("distributed"), importlib.import_module("dask")
    config, options = pickle.load(file)
    dask.config.update(dask.config.config, config)
    cluster = distributed.LocalCluster(**options)
    ended = threading.Event()

    def read() -> None:
        os.read(file.fileno(), 1)  # Python cannot end in order while a thread of it waits in `file.read`
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    # Forked children of the parent keep the other end of the file open after it was killed.
    while not ended.wait(1.0) and os.getppid() == parent:
        pass
    try:
        cluster.close(timeout=CLOSE)
    except TimeoutError:
        os._exit(1)  # which ends workers at once


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all processes: the parent says what it means
    serve(sys.stdin.buffer)
