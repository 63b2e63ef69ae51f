"""The environments of nox's sessions: a layer is built again when what its libraries are made of has changed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import environments

SHOW = "import runpy, layer_build; runpy.run_path('setup.py'); print(*layer_build.READ, sep='\\n')"


@pytest.mark.parametrize("layer", environments.LAYERS)
def test_what_setup_reads_is_part_of_the_digest(layer):
    """With another option of the compiler the installed library is no longer the one of these sources."""
    folder = environments.ROOT / "packages" / layer
    code = f"import sys; sys.argv[1:] = ['--version']; {SHOW}"
    env = {**os.environ, "PYTHONPATH": str(folder.parent)}
    said = subprocess.run([sys.executable, "-c", code], cwd=folder, env=env, check=True, capture_output=True, text=True)
    read = [Path(line) for line in said.stdout.splitlines() if line.endswith(".py")]
    assert len(read) > 1
    others = {path.name for path in read} - environments.DECLARED
    assert others == {"layer_build.py"}, "tools/environments.py does not hash these"
