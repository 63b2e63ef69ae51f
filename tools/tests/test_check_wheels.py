"""The look into the wheels: what is planted in one is found."""

from __future__ import annotations

import zipfile

import pytest

import check_wheels

FILES = {
    "graph-core": ["theano/__init__.py", "theano/py.typed", "theano/layers/__init__.py"],
    "scalar": ["theano/scalar/__init__.py", "theano/scalar/py.typed", "theano/layers/scalar.py"],
    "tensor": [
        "theano/tensor/__init__.py",
        "theano/tensor/py.typed",
        "theano/layers/tensor.py",
        *(f"theano/tensor/_kernels{level}.cpython-311-x86_64-linux-gnu.so" for level in ("", "_v3", "_v4")),
        *(f"theano/tensor/lib_kernels{level}.a" for level in ("", "_v3", "_v4")),
    ],
    "sparse": [
        "theano/sparse/__init__.py", "theano/sparse/py.typed", "theano/layers/sparse.py",
        *(f"theano/sparse/kernels/_kernels{level}.cpython-311-x86_64-linux-gnu.so" for level in ("", "_v3", "_v4")),
    ],
    "legacy": ["theano/legacy/__init__.py", "theano/legacy/py.typed", "theano/layers/legacy.py"],
    "gpu-backend": [
        "theano/gpuarray/__init__.py", "theano/gpuarray/py.typed", "theano/layers/gpu_backend.py",
        "theano/gpuarray/kernels/_kernels.cpython-311-x86_64-linux-gnu.so",
    ],
}
NEEDS = {
    "scalar": "theano-graph-core==2.0", "tensor": "theano-scalar==2.0", "sparse": "theano-tensor==2.0",
    "legacy": "theano-sparse==2.0", "gpu-backend": "theano-tensor==2.0",
}  # fmt: skip


def made(folder, extra=None, without="", version="2.0", needs=NEEDS):
    wheels = {}
    for layer, names in FILES.items():
        wheels[layer] = folder / f"{layer}.whl"
        with zipfile.ZipFile(wheels[layer], "w") as archive:
            for name in [*names, *(extra or {}).get(layer, [])]:
                if name != without:
                    archive.writestr(name, "")
            lines = [f"Version: {version if layer == 'tensor' else '2.0'}"]
            lines += [f"Requires-Dist: {needs[layer]}"] if layer in needs else []
            archive.writestr(f"theano_{layer}.dist-info/METADATA", "\n".join(lines) + "\n")
            archive.writestr(f"theano_{layer}.dist-info/licenses/LICENSE", "")
    return wheels


def test_good_wheels_pass(tmp_path):
    wheels = made(tmp_path)
    check_wheels.check_owners(check_wheels.owners(wheels))
    check_wheels.check_metadata(wheels)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"extra": {"tensor": ["theano/scalar/__init__.py"]}}, "in the wheels of scalar and tensor"),
        ({"extra": {"scalar": ["theano/__init__.py"]}}, "in the wheels of graph-core and scalar"),
        ({"extra": {"scalar": ["setup.py"]}}, "outside theano/"),
        ({"extra": {"graph-core": ["theano/loader/_loader.cpp"]}}, "does not belong"),
        ({"extra": {"graph-core": ["theano/graph/tests/test_x.py"]}}, "is a test"),
        ({"without": "theano/scalar/py.typed"}, "py.typed is missing"),
        ({"without": "theano/layers/tensor.py"}, "layers/tensor.py is missing"),
        ({"without": "theano/tensor/_kernels.cpython-311-x86_64-linux-gnu.so"}, "_kernels is missing"),
        ({"without": "theano/sparse/kernels/_kernels.cpython-311-x86_64-linux-gnu.so"}, "sparse.*_kernels is missing"),
        ({"without": "theano/tensor/lib_kernels_v3.a"}, "tensor: lib_kernels_v3.a is missing"),
        ({"without": FILES["gpu-backend"][-1]}, "gpu-backend.*_kernels is missing"),
        ({"version": "2.1", "needs": {**NEEDS, "tensor": "theano-scalar==2.1"}}, "versions differ"),
        ({"needs": {**NEEDS, "tensor": "theano-scalar>=2.0"}}, "does not pin"),
    ],
)
def test_planted(tmp_path, changes, said):
    wheels = made(tmp_path, **changes)
    with pytest.raises(check_wheels.Trouble, match=said):
        check_wheels.check_owners(check_wheels.owners(wheels))
        check_wheels.check_metadata(wheels)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((), None),
        (("py.typed", "other"), "files are missing"),
        (("linker.py", "linker.c"), "linker.c does not belong"),
        (("theano_pytensor/linker.py", "theano/linker.py"), "theano/linker.py does not belong"),
        (("theano-sparse==2.0", "theano-sparse>=2.0"), "does not pin theano-sparse==2.0"),
        (("Name: theano-pytensor", "Name: theano-linker"), "is of theano-linker"),
    ],
)
def test_the_linker(tmp_path, change, said):
    wheel = tmp_path / "theano_pytensor-2.0-py3-none-any.whl"
    needs = "".join(f"Requires-Dist: theano-{layer}==2.0\n" for layer in ("tensor", "sparse"))
    texts = {f"theano_pytensor/{name}": "" for name in ("__init__.py", "linker.py", "py.typed")}
    texts["theano_pytensor.dist-info/METADATA"] = f"Name: theano-pytensor\nVersion: 2.0\n{needs}"
    texts["theano_pytensor.dist-info/licenses/LICENSE"] = ""
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in texts.items():
            archive.writestr(*(part.replace(*change) if change else part for part in (name, text)))
    if said is None:
        check_wheels.check_linker(wheel)
        return
    with pytest.raises(check_wheels.Trouble, match=said):
        check_wheels.check_linker(wheel)


def test_each_machine_has_the_levels_of_its_own(tmp_path):
    files = check_wheels.owners(made(tmp_path))
    check_wheels.check_owners(files, "x86_64")
    with pytest.raises(check_wheels.Trouble, match="_kernels_v3 is there, of which aarch64 has no instructions"):
        check_wheels.check_owners(files, "aarch64")
    plain = {layer: {name for name in names if "_v3" not in name and "_v4" not in name} for layer, names in files.items()}
    check_wheels.check_owners(plain, "aarch64")


def test_the_packages_of_this_tree_agree():
    licence = (check_wheels.ROOT / "LICENSE").read_text()
    for layer in (*check_wheels.LAYERS, check_wheels.LINKER, "theano"):
        assert (check_wheels.ROOT / "packages" / layer / "LICENSE").read_text() == licence
