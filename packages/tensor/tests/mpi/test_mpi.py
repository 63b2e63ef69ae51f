"""Processes on one machine send arrays to each other; ``nox -s mpi`` installs what that needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from launcher import MPIEXEC

from theano.tensor import io


@pytest.mark.skipif(not io.mpi_enabled, reason="mpi4py is not installed: nox -s mpi installs it")
@pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec is here: nox -s mpi installs one")
@pytest.mark.parametrize(("program", "ranks"), [("ranks.py", 2), ("collective_ranks.py", 2), ("collective_ranks.py", 3)])
def test_processes_that_send_to_each_other(program: str, ranks: int):
    command = [str(MPIEXEC), "-n", str(ranks), sys.executable, str(Path(__file__).with_name(program))]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False
    )  # fmt: skip
    said = sorted(done.stdout.split("\n"))
    assert done.returncode == 0 and said == ["", *(f"rank {r} is done" for r in range(ranks))], (
        done.stdout + done.stderr
    )
