"""Everything that this repository can do, by name: ``nox -l`` lists it, ``python3 tools/run.py NAME`` does it.

``tools/run.py`` needs nothing but Python: it installs nox and uv for itself and calls this file. Environments are kept
in ``.nox`` and reused (tools/environments.py). Sessions that are part of every check have a tag: ``first`` for the
tests of three layers, ``beside`` for those that run at the same time and take about as long. ``full`` adds those with
the tag ``nightly``, and all cases of each test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nox

ROOT = Path(__file__).parent
sys.path.append(str(ROOT / "tools"))
import portion  # noqa: E402  (tools/ is not on the path before)
from environments import BUILD, LAYERS, NEEDED, SHARED_BIN, compiled_once, install, up_to  # noqa: E402
from outcomes import run_pytest  # noqa: E402

TEST = ["pytest>=8.2", "pytest-xdist>=3.2", "hypothesis", "mpmath", "python-flint", "pydot", "syrupy", "sympy", "rich"]
TEST += ["pip"]  # with which some tests make environments
DEVICES = ["pyopencl>=2025.1", "cuda-bindings>=13", "nvidia-cuda-nvrtc>=13"]
# SymPy, because its functions are on a page.
DOCS = ["sphinx>=8", "myst-parser>=4", "furo", "numpydoc", "sphinx-design", "sympy"]
EXAMPLE = ["scikit-learn", "matplotlib", "tqdm"]
EXAMPLE_LAYER = {"docstrings": "sparse"}  # the highest one that an example imports, where it is not tensor
EXAMPLE_NEEDS = {"sharded": ["distributed>=2024.1"]}
CLUSTER = ["distributed>=2024.1", "cryptography", "joblib", "tqdm", "mpi4py>=4", "mpich"]
#: What tools/conformance compares with: of the last versions that go together.
ORIGINAL = ["Theano==1.0.5", "numpy==1.19.5", "scipy==1.5.4", "six", "setuptools<60"]
NOTEBOOK = ["nbclient", "ipykernel"]
MUTATION = ["cosmic-ray>=8.3.15", "pytest-cov", "pytest-reportlog", "pytest-xdist", "tqdm"]
EDITORS = ["mypy", "basedpyright", "jedi"]  # basedpyright brings its own node
RELEASE = ["build", "towncrier>=24.8", "twine>=6"]
# Neighbours, which share what their module compiles, mostly stay in one process.
PARALLEL = ("-n", "auto", "--dist", "worksteal")
OTHER_TARGETS = ("--one-in", "3")  # loops over elements are compared on the CPU; on other targets some of them again
TARGETS = ["ziglang", "auditwheel>=6"]  # a compiler for other machines, and the judge of what it made
EMULATOR = ["qemu-user-static", "debootstrap", "gcc-aarch64-linux-gnu", "g++-aarch64-linux-gnu"]
PROGRAMS = ROOT / "programs" / "requirements"
PYTENSOR = ["pytensor>=3.3", "pymc>=6", "numba", "matplotlib", "numdifftools"]  # whose tests are run
OTHER_PYTHONS = ["3.12", "3.13"]
#: What the benchmark compares with, an environment each: names in `benchmarks/frameworks`, and packages.
PEERS = {
    "arrays": (["jax", "numba", "numexpr", "pytensor-c", "pytensor-numba"],
               ["jax", "pytensor", "numba", "numexpr", "scipy"]),
    "torch": (["torch", "torch-compile"], ["torch", "numpy"]),
}  # fmt: skip
PEERS_ENVIRONMENT = {"PYTENSOR_FLAGS": "base_compiledir={cache},numba__cache=True"}
CHECKS = [*BUILD, *NEEDED, *TEST, *DOCS, *MUTATION, "scikit-learn", "sybil>=9", "pyyaml", "nox>=2025.5", "ruff", "mypy"]

nox.options.sessions = ["lint", "layers", "types", "build", "tests", "doctests", "docs", "example"]
nox.options.reuse_existing_virtualenvs = True
nox.options.default_venv_backend = "uv|venv"

per_layer = nox.parametrize("layer", [
    *(nox.param(layer, id=layer, tags=["first"]) for layer in LAYERS[:3]),
    *(nox.param(layer, id=layer, tags=["beside"]) for layer in LAYERS[3:]),
])  # fmt: skip


@nox.session
def packages(session: nox.Session) -> None:
    """Install the packages of every check, once for all sessions that are part of it."""
    session.install(*CHECKS)


@nox.session(requires=["packages"])
def build(session: nox.Session) -> None:
    """Build all layers, and ask the doctor; the other sessions of every check use what this one has installed."""
    install(session, LAYERS)
    session.run("python", "-m", "theano.doctor")


@nox.session(venv_backend="none")
def full(session: nox.Session) -> None:
    """Pass every check with all cases of each test, and the checks that only a night has time for; hours."""
    session.run(sys.executable, "tools/run.py", "full")


@nox.session(requires=["packages"])
@per_layer
def tests(session: nox.Session, layer: str) -> None:
    """Run a layer's tests with nothing above it installed: nox -s "tests(scalar)" -- -k cast."""
    if layer == "gpu-backend":
        on_device(session)
        return
    install(session, up_to(layer))
    slowest = ("--durations", "25", "--durations-min", "5")
    run_pytest(session, *PARALLEL, *slowest, f"packages/{layer}/tests", *session.posargs)
    if layer == "tensor" and not session.posargs:
        fake_target(session)


def with_a_device(session: nox.Session) -> dict[str, str]:
    """Install all layers, and return the environment that says on which device tests run."""
    install(session, LAYERS)
    session.install(*DEVICES)  # CUDA's are looked for in the environment itself
    device = os.environ.get("GPU_TEST_DEVICE")
    lines = "" if device else session.run("python", "tools/opencl.py", silent=True)
    env = dict(line.split("=", 1) for line in str(lines).split()) if not device else {"GPU_TEST_DEVICE": device}
    if not env:
        session.skip("no device of OpenCL works here, and PoCL could not be installed")
    if not device:
        # Programs of the tests run once or twice, and PoCL takes four times as long to optimise one as to compile it
        # plainly. With all cases, those of the documentation are optimised.
        env["PYOPENCL_BUILD_OPTIONS"] = "-cl-opt-disable"
    return env | {"POCL_CACHE_DIR": str(ROOT / ".nox" / "pocl"), "GPU_TEST_NVRTC": "1"}


def on_device(session: nox.Session) -> None:
    """Run the tests of the GPU layer on a device of OpenCL, which may be the CPU; kernels are compiled for CUDA, too.

    Set GPU_TEST_DEVICE=cuda to run them on a card of NVIDIA's. There, and by the session ``devices``, all cases run and
    programs become machine code for CUDA; on the CPU some of each test do, and programs become PTX.
    """
    env = with_a_device(session)
    whole, every_case = session.posargs or "GPU_TEST_DEVICE" in os.environ, portion.everything()
    some = {} if whole else {"GPU_TEST_CASES": "2" if every_case else "0.5", "GPU_TEST_NVRTC": "ptx"}
    run_pytest(session, *PARALLEL, "packages/gpu-backend/tests", *session.posargs,
               env=env | some)
    if not session.posargs:
        pages = ("docs/tutorial/devices.md", "docs/extending/device_ops.md")
        optimised = {"PYOPENCL_BUILD_OPTIONS": ""} if every_case else {}
        run_pytest(session, "-q", "-p", "doc_blocks", *pages,
                   env={**env, "PYTHONPATH": f"tools{os.pathsep}docs", **optimised})  # fmt: skip
        tests = ROOT / "packages" / "tensor" / "tests"
        names = ("elemwise/test_elemwise.py", "reduce/test_reduce.py", "reduce/test_axes.py")
        # Third derivatives are hundreds of kernels, each a program that takes PoCL half a second: three minutes.
        run_pytest(session, "-q", *PARALLEL, *OTHER_TARGETS, "-k", "not derivatives_of_a_product",
                   *(str(tests / name) for name in names),
                   env={**env, "THEANO_FLAGS": f"device={env['GPU_TEST_DEVICE']},force_device=True"})  # fmt: skip


def fake_target(session: nox.Session) -> None:
    """Run the tests of element-wise loops and reductions again where these run on a target with memory of its own."""
    tests = ROOT / "packages" / "tensor" / "tests"
    names = ["fake_target", "elemwise/test_elemwise.py", "reduce/test_reduce.py", "reduce/test_axes.py"]
    names.append("test_sizes.py")
    paths = [str(tests / name) for name in names]
    run_pytest(session, "-q", *PARALLEL, *OTHER_TARGETS, "-p", "fake_target.plugin", *paths,
               env={"PYTHONPATH": str(tests), "THEANO_FLAGS": "optimizer_including=fake"})  # fmt: skip


@nox.session(requires=["packages"])
def warm(session: nox.Session) -> None:
    """Run the tests of tensors twice with one cache: the second time, whole functions come out of it."""
    install(session, LAYERS)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            run_pytest(
                session, "-q", *PARALLEL, "packages/tensor/tests",
                "--ignore=packages/tensor/tests/kernels", *session.posargs,
                env={"THEANO_FLAGS": f"base_compiledir={folder}"},
            )  # fmt: skip


@nox.session(python=OTHER_PYTHONS)
def versions(session: nox.Session) -> None:
    """Run the tests of all layers with other versions of Python, where they are present."""
    if not _runs(f"python{session.python}"):
        session.skip(f"python{session.python} does not run here")
    install(session, LAYERS, TEST)
    for layer in up_to("legacy"):
        run_pytest(session, "-q", *PARALLEL, f"packages/{layer}/tests", *session.posargs)


def _runs(python: str) -> bool:
    """Tell whether an interpreter works; a pyenv shim can be there without one behind it."""
    try:
        return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@nox.session(tags=["beside"], requires=["packages"])
def doctests(session: nox.Session) -> None:
    """Run every example of the docstrings, the README and the documentation, and the tests of the benchmark."""
    install(session, LAYERS)
    installed = [str(ROOT / "packages" / layer / "src") for layer in LAYERS]
    # packages/scalar/src/theano/scalar is theano.scalar, although the folder above has no __init__.py
    naming = ["-o", "consider_namespace_packages=true"]
    by_file = ("-q", "-n", "auto", "--dist", "loadfile")  # blocks of a page stand on those before
    run_pytest(session, *by_file, *naming, "--doctest-modules", "--ignore=tools/tests",
               "--ignore=tools/mutants.py", "--ignore=tools/mutation", "tools", *installed, *session.posargs)
    run_pytest(session, "-q", *PARALLEL, "--doctest-modules", "benchmarks/rating.py", "benchmarks/report.py",
               "benchmarks/__main__.py", "benchmarks/tests", *session.posargs)
    run_pytest(session, *by_file, "-p", "doc_blocks", "README.md", "CONTRIBUTING.md", "docs",
               *session.posargs, env={"PYTHONPATH": f"tools{os.pathsep}docs"})


@nox.session(tags=["nightly"], requires=["packages"])
def pages_in_float32(session: nox.Session) -> None:
    """Run the blocks of the documentation under floatX=float32."""
    install(session, LAYERS)
    tests = [f"--ignore={path}" for path in (ROOT / "docs").glob("test_*.py")]
    run_pytest(session, "-q", "-n", "auto", "--dist", "loadfile", "-p", "doc_blocks", "README.md", "docs", *tests,
               env={"PYTHONPATH": f"tools{os.pathsep}docs", "THEANO_FLAGS": "floatX=float32"})  # fmt: skip


@nox.session(requires=["packages"])
def random(session: nox.Session) -> None:
    """Look at random numbers with statistics: ten times as many numbers as the tests draw."""
    install(session, LAYERS)
    run_pytest(session, "-q", "packages/tensor/tests/random/test_statistics.py", *session.posargs,
               env={"THEANO_RANDOM_SCALE": "10"})  # fmt: skip


@nox.session(tags=["nightly"])
def mpi(session: nox.Session) -> None:
    """Send arrays between processes on this machine; the usual tests do without MPI."""
    install(session, LAYERS, [*TEST, "mpi4py>=4", "mpich"])
    run_pytest(session, "-q", "-rs", "packages/tensor/tests/mpi", *session.posargs)


@nox.session(tags=["nightly"])
def cluster(session: nox.Session) -> None:
    """Compute on shards and map with Dask, joblib and MPI on this machine, try all cases, kill processes: minutes."""
    install(session, LAYERS, [*TEST, *CLUSTER, "matplotlib", "dask-jobqueue", "dask-kubernetes", "sybil>=9"])
    run_pytest(
        session, "-q", "-rs", "-n", "3", "--dist", "worksteal", "packages/tensor/tests/distributed",
        *session.posargs,
        env={"THEANO_TESTS_CLUSTER": "1"},
    )  # fmt: skip
    if not session.posargs:
        run_pytest(session, "-q", "-p", "doc_blocks", "docs/tutorial/distributed.md",
                   env={"PYTHONPATH": f"tools{os.pathsep}docs"})  # fmt: skip


@nox.session
def engines(session: nox.Session) -> None:
    """Measure what Dask and MPI cost with 1 to 8 processes, and write docs/data/cluster.json: minutes, alone."""
    install(session, LAYERS, CLUSTER)
    session.run("python", "tools/measure_cluster.py", "--write", *session.posargs)


@nox.session
def maths(session: nox.Session) -> None:
    """Measure the scalar functions at a million points each, and write the page of results: minutes."""
    install(session, up_to("scalar"), TEST)
    session.run("python", "tools/measure_maths.py", *session.posargs)


@nox.session(requires=["packages"])
def names(session: nox.Session) -> None:
    """Compare Theano's names with ours, and write the page of what is missing."""
    install(session, LAYERS)
    session.run("python", "tools/coverage_of_names.py", *session.posargs)


@nox.session
def conformance(session: nox.Session) -> None:
    """Ask Theano 1.0.5 under Python 3.8 what the table of calls gives, and compare; an hour.

    ``nox -s conformance -- indices`` asks one group of calls. The reasons of differences are counted for their page.
    uv finds Python 3.8 or gets it; the variable UV_PYTHON says where it is.
    """
    original = Path(session.virtualenv.location, "original")
    python = str(original / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    if not Path(python).is_file():
        session.install("uv")
        session.run("uv", "venv", "-q", "--clear", "--python", os.environ.get("UV_PYTHON", "3.8"), str(original))
    session.run("uv", "pip", "install", "-q", "--python", python, *ORIGINAL, external=True)
    flags = f"cxx=,device=cpu,base_compiledir={original / 'compiled'}"
    env = {"PYTHONPATH": "tools", "THEANO_FLAGS": flags, "OMP_NUM_THREADS": "1"}
    session.run(python, "-m", "conformance.record", *session.posargs, env=env, external=True)
    install(session, LAYERS, [*TEST, "numpydoc"])
    session.run("python", "-m", "conformance.reasons", "--write", env={"PYTHONPATH": "tools"})
    session.run("python", "docs/generate.py", env={"PYTHONPATH": f"tools{os.pathsep}docs"})


@nox.session(python="3.12")
def pytensor(session: nox.Session) -> None:
    """Test the linker for PyTensor: its own tests, then those that PyTensor has of its linkers, fetched from its tag.

    ``nox -s pytensor -- --source CLONE`` takes these from a clone; with ``--of pymc`` it runs PyMC's
    tests. They are kept below .nox, not in the repository.
    """
    install(session, up_to("sparse"), [*TEST, *PYTENSOR])
    env = {"PYTHONPATH": str(ROOT / "packages" / "pytensor-linker" / "src")}
    run_pytest(session, *PARALLEL, "packages/pytensor-linker/tests", env=env)
    session.run("python", "tools/pytensor_tests.py", *session.posargs, env=env)


@nox.session(tags=["beside"], requires=["packages"])
def docs(session: nox.Session) -> None:
    """Build the documentation into docs/_build/html; a broken link inside it is an error."""
    install(session, LAYERS)
    session.run("python", "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "docs/_build/html")
    session.log("open docs/_build/html/index.html")


@nox.session(tags=["beside"], requires=["packages"])
def types(session: nox.Session) -> None:
    """Check the types with mypy --strict: graph-core without the layers above it, then all layers together."""
    install(session, [])
    session.run("python", "-m", "mypy", "packages/graph-core/src/theano")
    source = [str(ROOT / "packages" / layer / "src") for layer in LAYERS]
    session.run("python", "-m", "mypy", "--cache-dir", ".mypy_cache/layers", *(f"{folder}/theano" for folder in source),
                env={"MYPYPATH": os.pathsep.join(source)})  # fmt: skip


@nox.session(tags=["nightly"])
def editors(session: nox.Session) -> None:
    """See what pyright and jedi know of the packages, as `doctests` does with mypy."""
    install(session, LAYERS, [*TEST, *EDITORS])
    run_pytest(session, "-q", "docs/test_stubs.py", *session.posargs, env={"PYTHONPATH": "tools"})


@nox.session(tags=["beside"], requires=["packages"])
def lint(session: nox.Session) -> None:
    """Look for slips with ruff."""
    install(session, [])
    session.run(str(SHARED_BIN / "ruff"), "check", ".", *session.posargs, external=True)


@nox.session(tags=["beside"], requires=["packages"])
def layers(session: nox.Session) -> None:
    """Prove the import rules, print the sizes, and test the tools that do it."""
    install(session, [])
    session.run("python", "tools/check_layers.py")
    session.run("python", "tools/check_words.py")
    session.run("python", "tools/check_any.py")
    session.run("python", "tools/size.py")
    run_pytest(session, "-q", "--doctest-modules", "tools/mutants.py", "tools/mutation", "tools/check_words.py",
               "tools/check_any.py", "tools/summary.py", "tools/tests", *session.posargs,
               env={"PYTHONPATH": "packages/graph-core/src"})  # fmt: skip


@nox.session(tags=["nightly"])
def wheels(session: nox.Session) -> None:
    """Build wheels, see who owns which file, and install, mix and remove layers in every order that matters."""
    session.install(*BUILD, *NEEDED, "pip")
    session.run("python", "tools/check_wheels.py", *session.posargs, env=compiled_once(session))


@nox.session
def first_hour(session: nox.Session) -> None:
    """Install the wheels as newcomers would, without a compiler, with one, with zig; type the tutorial in; minutes."""
    session.install(*BUILD)
    session.run("python", "tools/first_hour.py", *session.posargs, env=compiled_once(session))


@nox.session
def changelog(session: nox.Session) -> None:
    """Print what the next version changes, from changes/: nox -s changelog -- --write puts it into CHANGELOG.md."""
    session.install("towncrier>=24.8")
    session.run("python", "tools/release.py", "--changelog", *session.posargs)


@nox.session
def release(session: nox.Session) -> None:
    """Build and check the files of a release in dist/, nox -s release -- --rehearse, --all; minutes."""
    session.install(*BUILD, *RELEASE, *(TARGETS if "--all" in session.posargs else ()))
    session.run("python", "tools/release.py", *session.posargs, env=compiled_once(session))


@nox.session(tags=["nightly"])
def arm64(session: nox.Session) -> None:
    """Build the wheels for aarch64; run doctor, digits and some tests of each layer under an emulator; minutes."""
    if portion.everything() and shutil.which("qemu-aarch64-static") is None:
        session.skip("qemu-aarch64-static is not here: apt-get install " + " ".join(EMULATOR))
    session.install(*BUILD, *TARGETS, "pip")
    session.run("python", "tools/arm64.py", *session.posargs)


@nox.session(tags=["nightly"])
def cross(session: nox.Session) -> None:
    """Compile loader, kernels and generated code for macOS and Windows, without running them; minutes."""
    install(session, LAYERS, [*TARGETS, *TEST, "sybil>=9"])
    session.run("python", "tools/cross.py", *session.posargs)


@nox.session
def sizes(session: nox.Session) -> None:
    """Measure sizes of installations and times of imports beside other systems, with the wheels in dist/; minutes."""
    session.install("pip")
    session.run("python", "tools/measure_installs.py", *session.posargs)


@nox.session(tags=["beside"])
def example(session: nox.Session) -> None:
    """Train the digits, the main example, into digits.png; tools/run.py example NAME [-- OPTIONS] runs another one."""
    named = session.posargs and not session.posargs[0].startswith("-")
    name, *options = session.posargs if named else ("digits", *session.posargs)
    program = ROOT / "examples" / f"{name}.py"
    if not program.is_file():
        session.error(f"examples: {', '.join(sorted(path.stem for path in program.parent.glob('*.py')))}")
    start = time.perf_counter()
    install(session, up_to(EXAMPLE_LAYER.get(name, "tensor")), EXAMPLE + EXAMPLE_NEEDS.get(name, []))
    installed = time.perf_counter()
    session.run("python", f"examples/{name}.py", *options)
    session.log(f"installed in {installed - start:.0f} s, ran in {time.perf_counter() - installed:.0f} s")


@nox.session(tags=["nightly"])
def examples(session: nox.Session) -> None:
    """Run all examples, some shortly, draw the pictures of convolutions, and run two of the notebooks."""
    install(session, LAYERS, [*EXAMPLE, *NOTEBOOK])
    short = {"lenet": ("--epochs", "3"), "photograph": ("--steps", "20"), "text": ("--steps", "100")}
    for name in ("digits", "docstrings", "lenet", "newton", "photograph", "posterior", "text"):
        session.run("python", f"examples/{name}.py", *short.get(name, ()))
    with tempfile.TemporaryDirectory() as folder:
        session.run("python", "docs/draw_convolutions.py", "--picture", f"{folder}/convolutions.png")
    session.run("python", "docs/gallery.py", "newton", "posterior")


@nox.session
def gallery(session: nox.Session) -> None:
    """Run all examples in full, and write the pictures of the gallery anew; minutes."""
    install(session, LAYERS, [*EXAMPLE, "distributed>=2024.1"])
    session.run("python", "docs/gallery.py", "--pictures")


@nox.session(requires=["packages"])
def pages(session: nox.Session) -> None:
    """Write the pages of the documentation and the stubs that are made from the code: commit what changes."""
    install(session, LAYERS, ["numpydoc"])
    session.run("python", "docs/generate.py", env={"PYTHONPATH": f"tools{os.pathsep}docs"})
    session.run("python", "tools/stubs.py")


@nox.session(requires=["packages"])
def endurance(session: nox.Session) -> None:
    """Call and compile very often, and see that memory does not grow: minutes; not part of a default run."""
    install(session, LAYERS)
    session.run("python", "tools/endurance.py", *session.posargs)


@nox.session(requires=["packages"])
def sweep(session: nox.Session) -> None:
    """Compare compiled code with plain code at more sizes, layouts and dtypes than the tests do."""
    install(session, LAYERS)
    run_pytest(session, "-q", *PARALLEL, "--cases", "all", "packages/tensor/tests/test_sizes.py",
               "packages/tensor/tests/test_combinations.py", "packages/tensor/tests/rules/test_fuzz.py",
               "packages/tensor/tests/rules/test_integers.py", "packages/tensor/tests/rules/test_slices.py",
               "packages/tensor/tests/rules/test_proof.py",
               "packages/tensor/tests/kernels/test_kernels_index.py",
               "packages/tensor/tests/kernels/test_kernels_all.py",
               "packages/tensor/tests/elemwise/test_scalar_ops.py", "packages/tensor/tests/scan/test_matrix.py",
               "packages/tensor/tests/conv/test_conv.py", "packages/tensor/tests/conv/test_geometries.py",
               "packages/tensor/tests/pool/test_pool_kernels.py",
               "packages/tensor/tests/scan/test_sweep.py", "packages/tensor/tests/running/test_interrupts.py",
               *session.posargs,
               env={"SIZES": "sweep", "COMBINATIONS": "sweep", "THEANO_FUZZ_GRAPHS": "100000",
                     "THEANO_RANDOM_LOOPS": "20000"})
    run_pytest(session, "-q", *PARALLEL, "--cases", "all", "packages/scalar/tests/test_maths.py",
               "packages/scalar/tests/test_c_forms.py", env={"SIZES": "sweep"})
    run_pytest(session, "-q", "packages/sparse/tests/test_graphs.py",
               env={"THEANO_SPARSE_GRAPHS": "5000"})


@nox.session(requires=["packages"])
def devices(session: nox.Session) -> None:
    """Run all cases of the GPU layer's tests, and compare 10,000 random graphs: hours where the device is the CPU."""
    env = with_a_device(session)
    run_pytest(session, "-q", *PARALLEL, "packages/gpu-backend/tests", *session.posargs, env=env)
    env |= {"GPU_GRAPHS": os.environ.get("GPU_GRAPHS", "10000"), "GPU_TEST_NVRTC": ""}
    run_pytest(session, "-q", *PARALLEL, "packages/gpu-backend/tests/test_graphs.py",
               *session.posargs, env=env)


@nox.session(requires=["packages"])
def resources(session: nox.Session) -> None:
    """Tabulate what the kernels of the tests need on cards of NVIDIA's, registers and such; no card is needed."""
    env = with_a_device(session)
    with tempfile.TemporaryDirectory() as folder:
        session.run("python", "-m", "pytest", "-q", *PARALLEL, "packages/gpu-backend/tests",
                    env={**env, "GPU_TEST_NVRTC": "", "GPU_TEST_SOURCES": folder},
                    success_codes=[0, 1])  # programs are kept instead of being run: tests that call them fail
        session.run("python", "tools/device_resources.py", folder, "--write")
    session.run("python", "tools/device_launches.py")


@nox.session(requires=["packages"])
def huge(session: nox.Session) -> None:
    """Run kernels on arrays past 2^28, 2^31 and 2^32 elements, as far as there is memory: minutes, up to 20 GiB."""
    install(session, LAYERS)
    run_pytest(session, "-q", "-rs", "packages/tensor/tests/kernels/test_kernels_huge.py",
               *session.posargs, env={"SIZES": "huge"})


@nox.session(requires=["packages"])
def hostile(session: nox.Session) -> None:
    """Attack in random ways, an hour by default: nox -s hostile -- --minutes 5 --seed 1 --only graphs,threads."""
    install(session, LAYERS)
    session.run("python", "-m", "hostile", *session.posargs, env={"PYTHONPATH": "tools"})


@nox.session(requires=["packages"])
@nox.parametrize("layer", [nox.param(layer, id=layer) for layer in LAYERS[:4]])
def unstable(session: nox.Session, layer: str) -> None:
    """Run a layer's tests ten times in random order while all cores are busy: nox -s unstable -- 20 --seed 1; hours.

    The seed of a run repeats its order. Other options: ``--help``.
    """
    os.environ["THEANO_LEVELS"] = "all"  # some runs take an older level of instructions, which is built, too
    install(session, up_to(layer))
    session.install("pytest-randomly")
    session.run("python", "tools/unstable.py", *session.posargs, "--", "-q", *PARALLEL, f"packages/{layer}/tests")


@nox.session(requires=["packages"])
def sanitise(session: nox.Session) -> None:
    """Run compiled code under the sanitisers of addresses and undefined behaviour: nox -s sanitise -- sizes."""
    install(session, LAYERS)
    session.run("python", "tools/sanitise.py", *session.posargs)


@nox.session(requires=["packages"])
def mutants(session: nox.Session) -> None:
    """Change single tokens of the sources, and count what every check notices, and what all tests notice: hours.

    A fixed list of mutants covers all layers: ``nox -s mutants -- --keep FOLDER --resume`` goes on where a measurement
    was stopped. ``--count 60 --group scan`` takes a sample, ``--renew`` replaces mutants whose lines are gone.
    """
    install(session, LAYERS)
    session.run("python", "tools/mutants.py", *session.posargs)


@nox.session(venv_backend="venv")  # old programs are installed as they were then, by pip
@nox.parametrize("program", [nox.param(path.stem, id=path.stem) for path in sorted(PROGRAMS.glob("*.txt"))])
def programs(session: nox.Session, program: str) -> None:
    """Run published programs over these layers: nox -s "programs(lasagne)" -- -k conv, "programs(public)"; minutes."""
    wanted = (PROGRAMS / f"{program}.txt").read_text().splitlines()
    install(session, LAYERS, [line for line in wanted if not line.startswith("#")])
    session.run("python", "tools/programs.py", program, *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure speed beside NumPy, numexpr and any peers given: nox -s bench -- --help; not part of a default run."""
    install(session, LAYERS, ["numexpr"])
    session.run("python", "-m", "benchmarks", *session.posargs)


@nox.session
def peers(session: nox.Session) -> None:
    """Install JAX, PyTorch, PyTensor, Numba and numexpr, for ``nox -s bench`` to compare with; some gigabytes.

    uv finds Python 3.12 or gets it; the variable UV_PYTHON says where it is.
    """
    session.install("uv")
    home, found = Path(session.virtualenv.location), {}
    for folder, (names, packages) in PEERS.items():
        python = str(home / folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
        if not Path(python).is_file():
            session.run("uv", "venv", "-q", "--python", os.environ.get("UV_PYTHON", "3.12"), str(home / folder))
        session.run("uv", "pip", "install", "-q", "--upgrade", "--python", python, *packages)
        found |= {name: {"python": python, "env": PEERS_ENVIRONMENT} for name in names}
    (home / "peers.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if os.environ.get("CI"):
    nox.options.error_on_missing_interpreters = False
