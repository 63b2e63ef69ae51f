"""What is compiled for other systems: all of it, with headers that say the sizes there."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("numpy")
pytest.importorskip("pybind11")

import cross


def test_every_source_of_loader_and_kernels_is_among_them():
    there = {path for path, among in cross.sources()}
    layers = [cross.PACKAGES / layer / "src" for layer in ("graph-core", "tensor", "sparse")]
    compiled = {path for folder in layers for suffix in ("*.c", "*.cpp") for path in folder.rglob(suffix)}
    assert compiled - there == set() and len(there) > 70


@pytest.mark.parametrize(("system", "size"), [("macos", 8), ("windows", 4)])
def test_headers_say_the_sizes_of_the_system(system, size, tmp_path):
    options = cross.stand_in(system, tmp_path)
    for folder, name in (("python", "SIZEOF_LONG"), ("numpy/numpy", "NPY_SIZEOF_LONG")):
        text = "".join(path.read_text() for path in (tmp_path / folder).glob("*config.h"))
        assert re.search(rf"(?m)^#define {name} {size}$", text)
        assert "NPY_HAVE_ENDIAN_H 1" not in text
    assert (tmp_path / "python" / "Python.h").is_file(), "which includes the file beside it"
    assert options == ["-isystem", str(tmp_path / "python"), f"-I{tmp_path / 'numpy'}"]
