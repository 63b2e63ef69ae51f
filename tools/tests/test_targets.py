"""Wheels for other machines: what the builds are told, and which wheels are built once."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import pytest

import targets
from check_wheels import Trouble

ASKED = "import sysconfig; print(sysconfig.get_platform())"


@pytest.mark.parametrize("machine", targets.MACHINES)
def test_setuptools_builds_for_the_target(machine):
    variables = targets.environment(targets.Target(machine, "3.13"), "/z/zig", "/headers")
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, env=variables, check=True)
    assert done.stdout.strip() == f"linux-{machine}"
    assert variables["SETUPTOOLS_EXT_SUFFIX"] == f".cpython-313-{machine}-linux-gnu.so"
    assert all("-I/headers" in variables[name].split() for name in ("CFLAGS", "CXXFLAGS"))


def test_a_wheel_for_another_version_of_python_is_refused(tmp_path):
    wheel = tmp_path / "theano_graph_core-2.0-cp312-cp312-linux_x86_64.whl"
    for text, python in ((b"elf\x003.11\x00", "3.11"), (b"elf\x003.12\x00", "3.12")):
        with zipfile.ZipFile(wheel, "w") as files:
            files.writestr("theano/loader/_loader.cpython-312-x86_64-linux-gnu.so", text)
        targets.is_for(wheel, python)
        with pytest.raises(Trouble, match="_loader.*is compiled for Python 3"):
            targets.is_for(wheel, "3.13")


def test_headers_are_those_of_the_version_that_was_asked_for():
    here = "{}.{}".format(*sys.version_info)
    found = targets.headers(here)
    if found is not None:  # an interpreter may have come without them
        with open(f"{found}/patchlevel.h") as file:
            assert f"#define PY_MINOR_VERSION        {sys.version_info.minor}" in file.read()
    assert targets.headers("3.99") is None


def test_wheels_for_all_versions_are_built_once(monkeypatch, tmp_path):
    asked = []

    def build(target, copy, folder, layers):
        asked.append((*target, *layers))
        stable = {"tensor": "cp311-abi3", "scalar": "py3-none-any"}
        return {layer: tmp_path / f"{layer}-{stable.get(layer, target.python)}-{target.machine}.whl" for layer in layers}

    monkeypatch.setattr(targets, "build", build)
    monkeypatch.setattr(targets, "headers", lambda python: None if python == "3.12" else "/headers")
    sets = list(targets.build_all(tmp_path, tmp_path, ["graph-core", "scalar", "tensor"]))
    assert asked == [
        ("x86_64", "3.11", "graph-core", "scalar", "tensor"), ("x86_64", "3.13", "graph-core"),
        ("aarch64", "3.11", "graph-core", "scalar", "tensor"), ("aarch64", "3.13", "graph-core"),
    ]  # fmt: skip
    target, wheels = sets[1]
    assert target == ("x86_64", "3.13") and list(wheels) == ["graph-core", "scalar", "tensor"]
    assert "3.13" in wheels["graph-core"].name and "abi3" in wheels["tensor"].name
