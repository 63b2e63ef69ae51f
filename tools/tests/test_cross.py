"""What is compiled for other systems: all of it, with headers that say the sizes there."""

from __future__ import annotations

import re
import runpy

import pytest

pytest.importorskip("numpy")
pytest.importorskip("pybind11")
pytest.importorskip("setuptools")

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


def extensions(layer, monkeypatch):
    """Return what the ``setup.py`` of a layer would build."""
    said = {}
    monkeypatch.chdir(cross.PACKAGES / layer)
    monkeypatch.setattr("setuptools.setup", lambda **all_of_it: said.update(all_of_it))
    runpy.run_path(str(cross.PACKAGES / layer / "setup.py"), run_name="__main__")
    return said["ext_modules"]


def test_no_standard_of_one_language_is_said_for_both(monkeypatch):
    (loader,) = extensions("graph-core", monkeypatch)
    assert {path.rpartition(".")[2] for path in loader.sources} == {"c", "cpp"}
    assert not [option for option in loader.extra_compile_args if option.startswith("-std=")]


@pytest.mark.parametrize("layer", ["tensor", "sparse"])
@pytest.mark.parametrize(("platform", "levels"), [("linux-x86_64", 3), ("linux-aarch64", 1), ("macosx-11.0-arm64", 1)])
def test_libraries_are_those_of_the_system_that_is_built_for(layer, platform, levels, monkeypatch):
    monkeypatch.setenv("_PYTHON_HOST_PLATFORM", platform)
    found = extensions(layer, monkeypatch)
    assert len(found) == levels and found[0].name.endswith("._kernels")
    assert all("x86" not in option for option in found[0].extra_compile_args)
