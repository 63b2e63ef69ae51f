"""Open the wheels and see who owns which file; install, mix and remove layers, and see that what is left works.

    python tools/check_wheels.py         (run by nox -s wheels, in an environment with pip and the build tools)

The wheels are made from a copy of the packages, so that the working tree stays as it is. Each combination gets a
virtual environment that borrows NumPy and the like from the environment this runs in.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from collections.abc import Callable, Iterable
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ["graph-core", "scalar", "tensor", "sparse", "legacy", "gpu-backend"]
#: Where a layer's module is not of its name, and where the layer below it is not the one before.
MODULE = {"gpu-backend": "gpuarray"}
BELOW = {"gpu-backend": "tensor"}
#: The package above the layers: its folder, distribution and module, and the layers that it pins.
LINKER, LINKER_NAME, LINKER_MODULE = "pytensor-linker", "theano-pytensor", "theano_pytensor"
LINKER_NEEDS = ("tensor", "sparse")

# What must hold with exactly the layers up to this one.
WORKS = {
    "graph-core": "import theano.graph, theano.gradient, theano.compile, theano.loader; theano.function; theano.shared",
    "scalar": "import theano.scalar as s; x = s.float64('x'); assert str((x + x).type) == str(x.type)",
    "tensor": "import theano, theano.tensor as T; x = T.dvector('x'); f = theano.function([x], x + 1); "
    "assert list(f([1, 2])) == [2, 3]",
    "sparse": "import theano, scipy.sparse as sp; x = theano.sparse.csr_matrix('x', dtype='float64'); "
    "f = theano.function([x], theano.sparse.structured_dot(x, [[1.0], [2.0]])); "
    "assert f(sp.eye(2, format='csr'))[1] == 2",
    "legacy": "import theano; theano.gof.graph.inputs, theano.sandbox.linalg; "
    "from theano.tensor.opt import local_useless_reduce",
    # There is no device here: the import works, and one that is asked for is an error that says what lacks.
    "gpu-backend": "import theano.gpuarray as g; g.GpuArrayType('float32', (False,)); assert g.use('cuda99') is None",
}
# Of each layer above the core: it is found by what is wanted of it, by its sources and by its metadata.
FOUND = (
    "import sys, theano, {before}\n"
    "there = 'importlib.metadata' in sys.modules\n"
    "theano.{module}\n"
    "assert there or 'importlib.metadata' not in sys.modules\n"
    "from importlib.metadata import entry_points\n"
    "assert entry_points(group='theano.layers')['{layer}'].load().distribution == 'theano-{layer}'\n"
)
LACKS = (
    "import theano\n"
    "assert not hasattr(theano, {name!r})\n"
    "try: theano.{name}\n"
    "except AttributeError as e: assert 'theano-{layer}' in str(e), e\n"
)


class Trouble(Exception):
    """A wheel or an installation is not as it should be."""


def expect(condition: bool, words: str) -> None:
    """Raise Trouble with these words unless a condition holds."""
    if not condition:
        raise Trouble(words)


def run(*command: object, env: dict[str, str] | None = None) -> str:
    """Run a program, with variables beside those of this process, and return what it prints; else raise Trouble."""
    beside = {**os.environ, **(env or {})}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, env=beside)
    expect(done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def owners(wheels: dict[str, Path]) -> dict[str, set[str]]:
    """Return the files each wheel puts into an environment, without its own metadata."""
    files = {}
    for layer, wheel in wheels.items():
        with zipfile.ZipFile(wheel) as archive:
            files[layer] = {name for name in archive.namelist() if ".dist-info/" not in name}
    return files


#: Sources that exported models are made of, beside those in C (theano/aot).
FOR_MODELS = {f"theano/loader/{name}.cpp" for name in ("elementwise", "move")}


def check_owners(files: dict[str, set[str]], machine: str = platform.machine()) -> None:
    """Every file has one owner, the public module belongs to the lowest layer, nothing slipped in, no library lacks.

    Parameters
    ----------
    files : dict
        Of each layer, the names in its wheel.
    machine : str
        What the wheels are for.
    """
    seen: dict[str, str] = {}
    for layer, names in files.items():
        for name in sorted(names):
            expect(name not in seen, f"{name} is in the wheels of {seen.get(name)} and {layer}")
            seen[name] = layer
            expect(name.startswith("theano/"), f"{layer}: {name} is outside theano/")
            source = name.endswith(".c") and layer in ("graph-core", "tensor") or name in FOR_MODELS
            expect(source or not name.endswith((".cpp", ".c", ".pyc")), f"{layer}: {name} does not belong into a wheel")
            expect("/tests/" not in name or name.startswith("theano/tests/"), f"{layer}: {name} is a test")
        package = "theano" if layer == "graph-core" else f"theano/{MODULE.get(layer, layer)}"
        described = "__init__" if layer == "graph-core" else layer.replace("-", "_")
        description = f"theano/layers/{described}.py"
        for wanted in (f"{package}/__init__.py", f"{package}/py.typed", description):
            expect(wanted in names, f"{layer}: {wanted} is missing")
    levels = {"_kernels", *(("_kernels_v3", "_kernels_v4") if machine == "x86_64" else ())}
    for layer, package in (("tensor", "theano/tensor"), ("sparse", "theano/sparse/kernels")):
        there = {n.removeprefix(f"{package}/").partition(".")[0] for n in files[layer] if n.endswith((".so", ".pyd"))}
        for name in sorted(levels - there):
            raise Trouble(f"{layer}: {package}/{name} is missing: one library for each level of instructions")
        for name in sorted(there - levels):
            raise Trouble(f"{layer}: {package}/{name} is there, of which {machine} has no instructions")
    for name in sorted(levels):
        expect(f"theano/tensor/lib{name}.a" in files["tensor"], f"tensor: lib{name}.a is missing, which exports link")
    expect(
        any(n.startswith("theano/gpuarray/kernels/_kernels.") for n in files["gpu-backend"]),
        "gpu-backend: theano/gpuarray/kernels/_kernels is missing",
    )
    expect(seen["theano/__init__.py"] == "graph-core", "theano/__init__.py belongs to graph-core alone")


def header_of(wheel: Path) -> Message:
    """Return the metadata of a wheel, which must have a licence beside it."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        expect(any(n.endswith("LICENSE") for n in archive.namelist()), f"{wheel.name}: no licence in the wheel")
        return HeaderParser().parsestr(archive.read(name).decode())


def expect_pins(header: Message, layers: Iterable[str]) -> None:
    """See that a distribution needs layers of its own version exactly."""
    needs = header.get_all("Requires-Dist") or []
    for layer in layers:
        pinned = f"theano-{layer}=={header['Version']}"
        expect(pinned in needs, f"{header['Name']} does not pin {pinned}: {needs}")


def check_metadata(wheels: dict[str, Path]) -> None:
    """All wheels have one version and pin each other exactly."""
    headers = {layer: header_of(wheel) for layer, wheel in wheels.items()}
    for layer in LAYERS[1:]:
        expect_pins(headers[layer], [BELOW.get(layer) or LAYERS[LAYERS.index(layer) - 1]])
    versions = {layer: header["Version"] for layer, header in headers.items()}
    expect(len(set(versions.values())) == 1, f"versions differ: {versions}")


def check_linker(wheel: Path) -> None:
    """The linker for PyTensor has a module of its own alone, and pins the layers that it calls."""
    header = header_of(wheel)
    expect(header["Name"] == LINKER_NAME, f"{wheel.name} is of {header['Name']}")
    expect_pins(header, LINKER_NEEDS)
    names = owners({LINKER: wheel})[LINKER]
    expect({f"{LINKER_MODULE}/__init__.py", f"{LINKER_MODULE}/py.typed"} <= names, f"{wheel.name}: files are missing")
    for name in sorted(names):
        kind = name.startswith(f"{LINKER_MODULE}/") and name.endswith((".py", "/py.typed"))
        expect(kind, f"{name} does not belong into {wheel.name}")


class Environment:
    """A virtual environment, with pip driven from outside.

    Parameters
    ----------
    folder : Path
        Where to make it.
    """

    def __init__(self, folder: Path):
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin" / "python"
        paths = {"base": str(folder), "platbase": str(folder)}
        site = Path(sysconfig.get_path("purelib", vars=paths))
        (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
        # Building names this folder, in which no header is; ccache need not mind.
        ignored = os.environ.get("CCACHE_IGNOREOPTIONS", "")
        os.environ["CCACHE_IGNOREOPTIONS"] = f"{ignored} -I{folder / 'include'}"

    def pip(self, *arguments: object) -> None:
        """Run pip for this environment."""
        run(sys.executable, "-m", "pip", "--python", self.python, "--disable-pip-version-check", "-q", *arguments)

    def wheel(self, path: Path) -> None:
        """Install a wheel."""
        self.pip("install", "--no-deps", path)

    def editable(self, path: Path, *options: str) -> None:
        """Install a package so that its files are used where they lie."""
        self.pip("install", "--no-deps", "--no-build-isolation", *options, "-e", path)

    def remove(self, layer: str) -> None:
        """Uninstall a layer."""
        self.pip("uninstall", "-y", f"theano-{layer}")

    def check(self, layers: list[str]) -> None:
        """See that these layers work, and that the next one says what to install."""
        for layer in layers:
            run(self.python, "-c", WORKS[layer])
            if layer != LAYERS[0]:
                # SciPy's sparse matrices bring in what reads metadata, for purposes of their own.
                before = "scipy.sparse" if layer == "sparse" else "numpy"
                run(self.python, "-c", FOUND.format(layer=layer, module=MODULE.get(layer, layer), before=before))
        for layer in LAYERS[len(layers) :] if layers else []:
            run(self.python, "-c", LACKS.format(name=MODULE.get(layer, layer), layer=layer))
        if not layers:
            run(self.python, "-c", "import importlib.util as u; assert u.find_spec('theano') is None")


def grow_and_shrink(env: Environment, wheels: dict[str, Path], copy: Path) -> None:
    """Install one wheel after the other, then remove them from the top."""
    for number, layer in enumerate(LAYERS, 1):
        env.wheel(wheels[layer])
        env.check(LAYERS[:number])
    for number in reversed(range(len(LAYERS))):
        env.remove(LAYERS[number])
        env.check(LAYERS[:number])


def all_editable(env: Environment, wheels: dict[str, Path], copy: Path) -> None:
    """Use all layers where they lie."""
    for layer in LAYERS:
        env.editable(copy / layer)
    env.check(LAYERS)
    for number in (5, 4, 3, 2):
        env.remove(LAYERS[number])
        env.check(LAYERS[:number])


def strict_editable(env: Environment, wheels: dict[str, Path], copy: Path) -> None:
    """Use the layers where they lie, linked file by file."""
    for layer in LAYERS:
        env.editable(copy / layer, "--config-settings", "editable_mode=strict")
    env.check(LAYERS)


def wheel_below_editable(env: Environment, wheels: dict[str, Path], copy: Path) -> None:
    """Work on the upper layers, above an installed core."""
    env.wheel(wheels["graph-core"])
    for layer in LAYERS[1:]:
        env.editable(copy / layer)
    env.check(LAYERS)


def editable_below_wheel(env: Environment, wheels: dict[str, Path], copy: Path) -> None:
    """Work on the core, below installed layers; then put the wheel in its place."""
    env.editable(copy / "graph-core")
    for layer in LAYERS[1:]:
        env.wheel(wheels[layer])
    env.check(LAYERS)
    env.pip("install", "--no-deps", "--force-reinstall", wheels["graph-core"])
    env.check(LAYERS)


COMBINATIONS: list[Callable[[Environment, dict[str, Path], Path], None]] = [
    grow_and_shrink,
    all_editable,
    strict_editable,
    wheel_below_editable,
    editable_below_wheel,
]


def build_wheels(
    copy: Path, folder: Path, layers: list[str] = LAYERS, env: dict[str, str] | None = None
) -> dict[str, Path]:
    """Build the wheels of copied packages, with variables that say how, into a folder; return them by layer.

    They are for any CPU: a working copy would have the kernels of this one alone.
    """
    wheels, env = {}, {"THEANO_LEVELS": "all", **(env or {})}
    pip = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation")
    for layer in layers:
        with tempfile.TemporaryDirectory(dir=folder) as alone:
            run(*pip, "-w", alone, copy / layer, env=env)
            (built,) = Path(alone).glob("*.whl")
            wheels[layer] = built.replace(folder / built.name)
    return wheels


def copy_packages(target: Path) -> Path:
    """Copy the packages without what was built in them; what ccache has compiled of them counts for the copy."""
    os.environ["CCACHE_BASEDIR"] = str(target)
    built = shutil.ignore_patterns("build", "*.egg-info", "*.so", "*.a", "__pycache__", ".*")

    def left_out(folder: str, names: list[str]) -> set[str]:
        # The tests of a layer lie beside its sources; theano.tests, which ships, lies among them.
        return {*built(folder, names), *({"tests"} if "pyproject.toml" in names else ())}

    for layer in LAYERS:
        shutil.copytree(ROOT / "packages" / layer, target / layer, ignore=left_out)
    shutil.copy2(ROOT / "packages" / "layer_build.py", target)
    return target


def main() -> int:
    """Do all checks, printing each as it passes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=[c.__name__ for c in COMBINATIONS])
    chosen = parser.parse_args().only
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        copy = copy_packages(folder / "packages")
        wheels = build_wheels(copy, folder)
        files = owners(wheels)
        check_owners(files)
        check_metadata(wheels)
        for layer, names in files.items():
            print(f"{wheels[layer].name}: {len(names)} files, {wheels[layer].stat().st_size // 1024} KiB")
        for combination in COMBINATIONS:
            if chosen in (None, combination.__name__):
                combination(Environment(folder / combination.__name__), wheels, copy)
                print(f"{combination.__name__.replace('_', ' ')}: {(combination.__doc__ or '').strip()} fine")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print(f"TROUBLE {trouble}", file=sys.stderr)
        sys.exit(1)
