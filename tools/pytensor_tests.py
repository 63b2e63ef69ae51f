"""Fetch PyTensor's own tests and run those of its linkers over ours.

Usage: ``python tools/pytensor_tests.py [OPTIONS] [TESTS]``. Nothing of them is kept here: they come from a tag of
PyTensor's repository, that of the installed version, or with ``--source`` from a clone that is there. TESTS are paths
below ``tests``; by default those of ops in `TESTS`. Further options go to pytest.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = "https://github.com/pymc-devs/pytensor"
#: Tests of what a linker computes; what is left out is about Numba itself: its types, its cache, the code it is given.
TESTS = tuple(
    f"link/numba/{name}"
    for name in (
        "linalg", "signal", "sparse", "test_blockwise.py", "test_elemwise.py", "test_extra_ops.py", "test_pad.py",
        "test_random.py", "test_scalar.py", "test_scan.py", "test_shape.py", "test_sort.py", "test_subtensor.py",
        "test_tensor_basic.py", "test_compile_ops.py",
    )
)  # fmt: skip


def fetch(folder: Path, source: str | None) -> None:
    """Put the tests of the installed version, or those at ``source``, into a folder."""
    import pytensor

    tag = f"rel-{pytensor.__version__}"
    if source is None:
        clone = ["git", "clone", "--quiet", "--depth=1", f"--branch={tag}", REPOSITORY, str(folder / "clone")]
        subprocess.run(clone, check=True)
        source, tag = str(folder / "clone"), "HEAD"
    known = subprocess.run(["git", "-C", source, "tag", "--list", tag], capture_output=True, text=True).stdout.strip()
    what = ["git", "-C", source, "archive", known or "HEAD", "tests", "conftest.py"]
    archive = subprocess.run(what, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")


def main() -> int:
    """Run the tests, and return pytest's exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", help="a clone of PyTensor's repository")
    parser.add_argument("--folder", type=Path, default=ROOT / ".nox" / "pytensor-tests", help="where the tests lie")
    parser.add_argument("tests", nargs="*", help="below `tests`")
    chosen, options = parser.parse_known_args()
    if not (chosen.folder / "tests").is_dir():
        chosen.folder.mkdir(parents=True, exist_ok=True)
        fetch(chosen.folder, chosen.source)
    paths = [f"tests/{t}" for t in chosen.tests or TESTS]
    plugin = ["-p", "pytensor_plugin", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir=."]
    places = ["", str(ROOT / "tools")]
    code = f"import sys; sys.path[:0] = {places}; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *plugin, "-q", "-W", "ignore", *options, *paths]
    return subprocess.run(command, cwd=chosen.folder).returncode


if __name__ == "__main__":
    sys.exit(main())
