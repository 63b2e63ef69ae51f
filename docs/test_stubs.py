"""What type checkers and editors see of the packages: in wheels, and where they are used from their sources."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import stubs
import theano
import theano.tensor as T

LAYERS = ["gpu-backend", "graph-core", "legacy", "scalar", "sparse", "tensor"]  # as their files .pth are read
PROGRAM = Path(__file__).parent / "data" / "program_with_typos.py"
HEAD = """\
import numpy as np
import theano, theano.tensor as T
from theano import gof, sparse
from theano.ifelse import ifelse
from theano.tensor.signal.pool import pool_2d
x, y, v, i = T.dmatrix("x"), T.matrix(), T.dvector("v"), T.lscalar("i")
w = theano.shared(np.zeros((2, 3)))
n = theano.shared(0.5)
f = theano.function([x], x.sum())
g = theano.function([x], [x, x.T])
s = sparse.csr_matrix("s")
"""
EXPRESSIONS = """\
x | x + 1 | 2 * x | -x | x @ y | x > 0 | x[0] | x[1:, None] | x.T | x.shape | x.sum(axis=0) | x.mean() | x.dtype
x.reshape((2, 3)) | x.dimshuffle(0, "x", 1) | x.astype("int32") | T.exp(x) | T.switch(x > 0, x, 0) | T.dot(x, y)
T.sum(x) | T.zeros((2, 3)) | T.arange(3) | T.concatenate([x, y]) | T.stack([v, v]) | T.einsum("ij->", x) | T.pad(x, 1)
T.linalg.inv(x) | T.nlinalg.det(x) | T.nnet.softmax(x) | T.nnet.relu(x) | T.grad(x.sum(), x) | T.grad(x.sum(), [x, w])
w | w + 1 | w.get_value() | n | f | f(1) | g(1) | theano.config.floatX | theano.clone(x) | theano.dot(x, y)
ifelse(x.sum() > 0, x, 0) | ifelse(n, w, x + w) | gof.Op | theano.gof.Apply | theano.configparser.config
theano.scan(lambda a: a, outputs_info=[v], n_steps=2)[1] | theano.scan(lambda a: a, outputs_info=v, n_steps=2)[0]
theano.scan(lambda a: a, outputs_info={"initial": x, "taps": [-2]}, n_steps=i)[0] | theano.reduce(T.add, x, v)[0]
theano.scan(lambda a: 2 * a, outputs_info=[v], n_steps=2)[0] | theano.scan(lambda a: T.exp(a), v)[0]
theano.scan(lambda a, b: [a, b], outputs_info=[v, v], n_steps=2)[0][1].sum() | theano.map(lambda a: 2 * a, v)[0]
theano.scan(lambda a: a, v, return_list=True)[0] | pool_2d(x, (2, 2), ignore_border=True)
"""


@pytest.mark.parametrize("path", stubs.texts(), ids=lambda path: path.relative_to(stubs.PACKAGES).as_posix())
def test_stubs_are_up_to_date(path):
    assert path.read_text("utf-8") == stubs.texts()[path], "run python tools/stubs.py"


@pytest.fixture(scope="session", params=["sources", "wheels"])
def environment(request, tmp_path_factory):
    """Return an environment with all layers as an editable install has them, or as wheels bring them."""
    place = tmp_path_factory.mktemp(request.param)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)}))
    numpy = Path(importlib.util.find_spec("numpy").origin).parents[1]
    (site / "others.pth").write_text(f"{numpy}\n")
    for layer in LAYERS:
        source = stubs.PACKAGES / layer / "src"
        if request.param == "sources":
            (site / f"__editable__.theano_{layer}.pth").write_text(f"{source}\n")
            continue
        for file in (file for end in ("*.py", "*.pyi", "py.typed") for file in source.rglob(end)):
            target = site / file.relative_to(source)
            if not (file.name == "__init__.pyi" and file.parent.name == "theano" and layer != "graph-core"):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target)
    return Path(sysconfig.get_path("scripts", vars={"base": str(place)}), "python")


@pytest.fixture(scope="session")
def said_by_mypy(environment, tmp_path_factory):
    """Return what mypy says of the program and of the expressions, in one run."""
    folder = tmp_path_factory.mktemp("mypy")
    (folder / "program.py").write_text(PROGRAM.read_text("utf-8"), "utf-8")
    (folder / "expressions.py").write_text(revealing(), "utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--python-executable", environment, "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def pyright(environment, file):
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which("pyright", path=places) or shutil.which("basedpyright", path=places)
    if found is None:
        pytest.skip("pyright is not installed: nox -s editors")
    (file.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "basic", "reportMissingModuleSource": false}')
    command = [found, "--outputjson", "--pythonpath", environment, file]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["generalDiagnostics"]


def typos():
    lines = PROGRAM.read_text("utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if "# typo" in line}


def program(tmp_path, text):
    file = tmp_path / "program.py"
    file.write_text(text, "utf-8")
    return file


def test_mypy_finds_the_typos_of_a_program(said_by_mypy):
    said = [line for line in said_by_mypy if line.startswith("program.py")]
    assert {int(line.split(":")[1]) for line in said if " error: " in line} == typos(), "\n".join(said)
    assert len(typos()) == 6


def test_pyright_finds_the_typos_of_a_program(environment, tmp_path):
    said = pyright(environment, program(tmp_path, PROGRAM.read_text("utf-8")))
    assert {d["range"]["start"]["line"] + 1 for d in said if d["severity"] == "error"} == typos(), said


def revealing():
    expressions = re.split(r" \| |\n", EXPRESSIONS.strip())
    assert len(expressions) >= 40
    return HEAD + "".join(f"reveal_type({each})\n" for each in expressions)


UNKNOWN = re.compile(r'"(?:builtins\.)?(?:Any|Unknown|list\[Any\])"')


def test_mypy_knows_what_expressions_are(said_by_mypy):
    said = [line for line in said_by_mypy if line.startswith("expressions.py")]
    assert sum("Revealed type" in line for line in said) >= 40 and not any(" error: " in line for line in said), said
    assert not [line for line in said if UNKNOWN.search(line)]


def test_pyright_knows_what_expressions_are(environment, tmp_path):
    said = [d["message"] for d in pyright(environment, program(tmp_path, revealing()))]
    assert len(said) >= 40 and all(message.startswith("Type of") for message in said), said
    assert not [message for message in said if UNKNOWN.search(message)]


@pytest.mark.parametrize(("begun", "names"), [
    ("T.", "exp dmatrix nnet grad einsum linalg"), ("T.nnet.", "softmax relu conv2d"), ("x.", "sum T dimshuffle"),
    ("T.exp(x + 1).", "sum mean"), ("w.", "get_value set_value sum"), ("w.get_value().", "shape astype"),
    ("f.", "trust_input copy"), ("f(1).", "shape"), ("theano.", "function shared scan config"), ("sparse.", "dot"),
    ("theano.config.", "floatX device"), ("T.grad(x.sum(), x).", "sum"),
])  # fmt: skip
def test_jedi_completes(environment, begun, names):
    jedi = pytest.importorskip("jedi", reason="nox -s editors")
    text = HEAD + begun
    script = jedi.Script(text, environment=jedi.create_environment(str(environment), safe=False))
    found = {each.name for each in script.complete(text.count("\n") + 1, len(begun))}
    assert set(names.split()) <= found


# -- dir --------------------------------------------------------------------------------------------------------------

#: What was there because a module is written with it, or for old programs.
HIDDEN = {
    theano: "annotations os time importlib pkgutil Any TYPE_CHECKING _ELSEWHERE _MODULES PY3 lowering legacy tests",
    T: "annotations lazily _LATER COUNTERPARTS TYPES values_eq_approx_always_true basic gof compile scal",
}


@pytest.mark.parametrize(("module", "most"), [(theano, 90), (T, 640)])
def test_dir_shows_what_programs_use(module, most):
    shown = dir(module)
    assert not set(HIDDEN[module].split()) & set(shown) and len(shown) <= most, len(shown)
    assert all(hasattr(module, name) for name in shown)
    assert [name for name in shown if name.startswith("_")] in ([], ["__version__"])


def test_dir_of_a_function_shows_what_programs_use():
    f = theano.function([], [])
    shown = {name for name in dir(f) if not name.startswith("_")}
    assert shown == set("container copy free get_shared maker name profile trust_input value".split())
    assert f.frames_at_rest >= 0 and f.input_storage == [] and hasattr(f, "finder")


def test_names_that_are_not_shown_are_there():
    assert theano.gof.Op is theano.Op and theano.compat and theano.sandbox and theano.tests and theano.rewriting
    assert T.basic and T.COp and T.values_eq_approx_always_true and T.as_index_variable and T.signal.pool
