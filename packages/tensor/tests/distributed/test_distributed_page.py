"""The program for MPI that the tutorial shows, as a reader would run it; other blocks run with the documentation."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from launcher import MPIEXEC
from local_cluster import with_mpi

PAGE = Path(__file__).parents[4] / "docs" / "tutorial" / "distributed.md"


@with_mpi
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_the_program_of_the_tutorial(ranks: int, tmp_path: Path) -> None:
    (block,) = re.findall(r"(?m)^    # train\.py\n(?:(?:    .*)?\n)+", PAGE.read_text(encoding="utf-8"))
    script = tmp_path / "train.py"
    script.write_text(dedent(block), encoding="utf-8")
    command = [str(MPIEXEC), "-n", str(ranks), sys.executable, str(script)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip
    (wanted,) = re.findall(r"print\(costs\)  # (.*)", block)
    assert done.returncode == 0 and done.stdout == f"{wanted}\n", done.stdout + done.stderr
