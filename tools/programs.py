"""Run a published program over the theano that is installed: a task of ours, and the program's own tests.

Called by ``nox -s programs``. The program is fetched from the package index, unpacked into the environment's folder
and installed as it was published; nothing of it is kept in the repository. Which tests may fail, and why, is in
``programs/known_failures.toml``. Programs from public repositories: ``tools/public_programs.py``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import public_programs

FOLDER = Path(__file__).parents[1] / "programs"


class Program(NamedTuple):
    """A program and what to run of it.

    Attributes
    ----------
    distribution : str
        What pip fetches.
    tasks : tuple of str
        Scripts of ``programs/``.
    tests : tuple of str
        Its own tests, in its unpacked folder, and options for pytest.
    environment : dict
    beside : tuple of str
        Other distributions that it is built on and that ask for Theano, too: installed without what they ask for.
    """

    distribution: str
    tasks: tuple[str, ...]
    tests: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    beside: tuple[str, ...] = ()


KERAS = {"KERAS_BACKEND": "theano"}
PROGRAMS = {
    "lasagne": Program("Lasagne==0.1", ("lasagne_convnet.py",), ("lasagne/tests",)),
    "pymc3": Program(
        "pymc3==3.11.6",
        ("pymc3_posteriors.py",),
        ("pymc3/tests", *(f"--ignore=pymc3/tests/test_{name}.py" for name in (
            "distributions", "distributions_random", "examples", "sampling", "step", "variational_inference",
        ))),
    ),
    # For Theano 1.0.4. Its fixtures name their scope as pytest 6 no longer takes it.
    "pymc3_38": Program(
        "pymc3==3.8",
        ("pymc3_posteriors.py",),
        ("pymc3/tests", *(f"--ignore=pymc3/tests/test_{name}.py" for name in (
            "distributions", "distributions_random", "examples", "sampling", "step", "variational_inference",
        ))),
        {"PROGRAM": "pymc3_38"},
    ),
    "keras2": Program(
        "Keras==2.2.5",
        ("keras2_networks.py",),
        # What is left out downloads data, wants TensorFlow, or reads the folder that Keras was built from.
        ("tests", *(f"--ignore=tests/{name}" for name in (
            "docs", "test_api.py", "test_multiprocessing.py", "integration_tests/test_datasets.py",
            "keras/datasets_test.py", "keras/utils/data_utils_test.py", "keras/utils/multi_gpu_test.py",
        ))),
        KERAS,
    ),
    "keras1": Program("Keras==1.2.2", ("keras1_networks.py", "keras1_backend.py"), environment=KERAS),
    "downhill": Program("downhill==0.4.0", ("downhill_factors.py",)),
    "theano_lstm": Program("theano-lstm==0.0.15", ("theano_lstm_counting.py",)),
    "theanets": Program("theanets==0.7.3", ("theanets_networks.py",), beside=("downhill==0.4.0",)),
    "neupy": Program("neupy==0.6.5", ("neupy_algorithms.py",)),
    "pyfms": Program("pyfms==0.4.0", ("pyfms_interactions.py",)),
    "theanolm": Program(
        "TheanoLM==1.3.2",
        ("theanolm_counting.py",),
        # Its folder of tests is named like the program itself: pytest is told to import them as parts of `tests`.
        ("tests", "--import-mode=importlib", "-o", "consider_namespace_packages=true", "-o", "python_files=*_test.py"),
    ),
    # Its tests read what it logs, on each level.
    "sknn": Program("scikit-neuralnetwork==0.7", ("sknn_classifier.py",), ("sknn/tests", "--log-level=DEBUG"),
                    {"PROGRAM": "sknn"}, ("Lasagne==0.1",)),
    "pymc3_ext": Program("pymc3-ext==0.1.1", ("pymc3_ext_optimum.py",), ("tests",),
                         beside=("pymc3==3.11.6", "aesara-theano-fallback==0.1.0")),
    "exoplanet": Program("exoplanet==0.5.3", ("exoplanet_transit.py",), ("tests",),
                         beside=("pymc3==3.11.6", "pymc3-ext==0.1.1", "aesara-theano-fallback==0.1.0",
                                 "exoplanet-core==0.1.2")),
}  # fmt: skip


class Outcome(NamedTuple):
    """How a program's tests ended: the names of those that failed, with their messages, and numbers of the others."""

    failed: dict[str, str]
    passed: int
    skipped: int


def outcome(report: ElementTree.Element) -> Outcome:
    """Return what a report of pytest in JUnit's form says.

    Examples
    --------
    >>> text = '<testcase classname="a.b" name="c"/><testcase classname="a" name="d"><failure message="no"/></testcase>'
    >>> outcome(ElementTree.fromstring(f"<suite>{text}</suite>"))
    Outcome(failed={'a.d': 'no'}, passed=1, skipped=0)
    """
    failed: dict[str, str] = {}
    passed = skipped = 0
    for case in report.iter("testcase"):
        wrong = [part for part in case if part.tag in ("failure", "error")]
        if wrong:
            failed[f"{case.get('classname')}.{case.get('name')}"] = (wrong[0].get("message") or "").split("\n")[0]
        elif any(part.tag == "skipped" for part in case):
            skipped += 1
        else:
            passed += 1
    return Outcome(failed, passed, skipped)


def unexplained(failed: Iterable[str], known: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the failed tests that no reason is known for.

    Examples
    --------
    >>> unexplained(["t.test_a[1]", "t.test_b"], [{"tests": ["test_a"], "reason": "NumPy 2"}])
    ['t.test_b']
    """
    parts = [part for entry in known for part in entry["tests"]]
    return [name for name in failed if not any(part in name for part in parts)]


def published(distribution: str, beside: Sequence[str], folder: Path) -> Path:
    """Return the folder that a distribution's sources are in, and install it and others, without what they ask for."""
    if not folder.is_dir():
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        with tempfile.TemporaryDirectory() as archive:
            subprocess.run(
                [*pip, "download", "--no-deps", "--no-binary=:all:", "-d", archive, distribution], check=True
            )
            shutil.unpack_archive(next(Path(archive).iterdir()), archive)
            folder.parent.mkdir(exist_ok=True)
            shutil.move(next(path for path in Path(archive).iterdir() if path.is_dir()), folder)
        subprocess.run([*pip, "install", "--no-deps", str(folder), *beside], check=True)
    return folder


def main(name: str, options: Sequence[str]) -> int:
    """Run a program's tasks, then its tests in its folder; return 0 where nothing failed without a known reason."""
    program = PROGRAMS[name]
    unpacked = published(program.distribution, program.beside, Path(sys.prefix) / "published" / name)
    environment = os.environ | program.environment | {"PYTHONPATH": str(FOLDER / "shims"), "MPLBACKEND": "agg"}
    for task in program.tasks:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-W", "ignore", str(FOLDER / task)], env=environment, check=True)
        print(f"{task}: {time.perf_counter() - start:.1f} s")
    if not program.tests:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", ".", "-p", "no:cacheprovider",
             "--disable-warnings", "--tb=line", "--timeout=300", f"--junitxml={report}", *program.tests, *options],
            cwd=unpacked, env=environment, check=False,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        result = outcome(ElementTree.parse(report).getroot())
    known = tomllib.loads((FOLDER / "known_failures.toml").read_text()).get(name, [])
    for entry in known:
        count = len(result.failed) - len(unexplained(result.failed, [entry]))
        print(f"{count} failed, as is known: {entry['reason']} (with the original: {entry['original']})")
    new = unexplained(result.failed, known)
    for test in new:
        print(f"FAILED {test}: {result.failed[test]}")
    print(f"{program.distribution}: {result.passed} passed, {len(result.failed)} failed ({len(new)} of them new), "
          f"{result.skipped} skipped, {seconds:.0f} s")  # fmt: skip
    return 1 if new else 0


if __name__ == "__main__":
    name, *options = sys.argv[1:]
    sys.exit(public_programs.main(options) if name == "public" else main(name, options))
