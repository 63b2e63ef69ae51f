"""What starts ranks of MPI: that of the environment which the tests run in, where it has one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

MPIEXEC = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
