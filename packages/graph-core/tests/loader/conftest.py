"""Kernels and small programs for the tests of the machine."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")
module = pytest.importorskip("theano.loader.module")

from loader_specs import VECTOR, number  # noqa: E402  (nothing to import without the compiled module)


class Kernels:
    """The compiled test kernels by name."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def __getattr__(self, name: str) -> int:
        return int(self.library.symbol(name))


@pytest.fixture(scope="session")
def kernels_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    out = tmp_path_factory.mktemp("kernels") / "kernels.so"
    source = Path(__file__).parent / "kernels.c"
    flags = ["-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-I", module.include_directory()]
    subprocess.run([compiler, *flags, str(source), "-o", str(out)], check=True)
    return out


@pytest.fixture(scope="session")
def kernels(kernels_path: Path) -> Kernels:
    return Kernels(module.Library(kernels_path, "test-kernels"))


@pytest.fixture
def chain(kernels: Kernels) -> Callable[..., Any]:
    """A program x + 1 + 1 + ... of ``n`` compiled instructions."""

    def make(n: int, spec: Any = VECTOR, **more: Any) -> Any:
        one = number(1.0)
        return module.Function(
            {
                "slots": [("input", spec, None)] + [("temp", spec, None)] * n,
                "instructions": [("c", kernels.add_const, one, [k], [k + 1], 1.0) for k in range(n)],
                "inputs": [(0, "x", True, None, None)],
                "outputs": [n],
                "returns": "one",
            },
            **more,
        )

    return make
