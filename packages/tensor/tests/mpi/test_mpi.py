"""Two processes on one machine send arrays to each other; ``nox -s mpi`` installs what that needs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from theano.tensor import io

MPIEXEC = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")


@pytest.mark.skipif(not io.mpi_enabled, reason="mpi4py is not installed: nox -s mpi installs it")
@pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec is here: nox -s mpi installs one")
def test_two_processes_send_to_each_other():
    program = Path(__file__).with_name("ranks.py")
    command = [str(MPIEXEC), "-n", "2", sys.executable, str(program)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip
    assert done.returncode == 0 and sorted(done.stdout.split("\n")) == ["", "rank 0 is done", "rank 1 is done"], (
        done.stdout + done.stderr
    )
