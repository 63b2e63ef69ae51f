"""The import rules: each planted violation is found, and a clean tree passes."""

from __future__ import annotations

import pytest

import check_layers
import order
import past

CLEAN = {
    "graph-core": {
        "theano/__init__.py": "from theano import compile",
        "theano/errors.py": "",
        "theano/settings/__init__.py": "import theano.errors",
        "theano/graph/__init__.py": "from theano.graph.op import Op",
        "theano/graph/op.py": "from theano.errors import TheanoError\nclass Op: pass",
        "theano/gradient/__init__.py": "from theano.graph import Op",
        "theano/rewriting/__init__.py": "from theano.rewriting.rule import Rule",
        "theano/rewriting/rule.py": "class Rule: pass",
        "theano/rewriting/userdefined/__init__.py": "from theano.rewriting.userdefined.adapt import as_rule",
        "theano/rewriting/userdefined/adapt.py": "from theano.rewriting.rule import Rule",
        "theano/layers/documented_graph_core.py": "OLD_NAMES = {'theano.gof': {'theano.rewriting.userdefined': 'as_rule'}}",
        "theano/compile/__init__.py": "from theano.settings import config\nfrom theano.gradient import Op",
    },
    "scalar": {"theano/scalar/__init__.py": "import numpy\nfrom theano.graph import Op"},
    "tensor": {"theano/tensor/__init__.py": "from theano.scalar import x\nfrom ..scalar import y"},
    "legacy": {"theano/legacy/__init__.py": "from theano import tensor", "theano/legacy/misc.py": ""},
}


def broken(root, distribution="graph-core", path="theano/errors.py", text=""):
    for name, files in CLEAN.items():
        for file, content in files.items():
            target = root / "packages" / name / "src" / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content)
    target = root / "packages" / distribution / "src" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    return list(check_layers.problems(check_layers.read_tree(root)))


def test_a_clean_tree_passes(tmp_path, capsys):
    assert broken(tmp_path) == []
    assert check_layers.main([str(tmp_path), "--graph"]) == 0
    assert "0 rules broken" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("distribution", "path", "text", "said"),
    [
        ("graph-core", "theano/graph/op.py", "import theano.graph", "import cycle of 2"),
        ("graph-core", "theano/graph/op.py", "def f():\n    # why\n    from theano import graph", "import cycle of 2"),
        ("graph-core", "theano/graph/op.py", "from theano.gradient import Op", "not in a tier below"),
        ("graph-core", "theano/graph/op.py", "from ..gradient import Op", "not in a tier below"),
        ("graph-core", "theano/graph/op.py", "def f():\n    import theano.scalar  # why", "scalar is above"),
        ("graph-core", "theano/graph/op.py", "if TYPE_CHECKING:\n    import theano.scalar", "scalar is above"),
        ("graph-core", "theano/__init__.py", "from theano import tensor", "tensor is above"),
        ("graph-core", "theano/__init__.py", "if TYPE_CHECKING:\n    from theano import tensor", "tensor is above"),
        ("graph-core", "theano/compile/new.py", "from theano.tensor import dot", "tensor is above"),
        ("scalar", "theano/scalar/new.py", "from theano import tensor", "tensor is above"),
        ("tensor", "theano/layers/tensor.py", "NAMES = {'theano.misc': 'theano.legacy.misc:name'}", "legacy is above"),
        ("graph-core", "theano/graph/op.py", "import numpy.linalg", "knows no arrays"),
        ("graph-core", "theano/gradient/new.py", "from theano.settings import config", "passed down"),
        ("graph-core", "theano/graph/op.py", "import theano", "public module"),
        ("graph-core", "theano/rewriting/new.py", "from theano.rewriting.userdefined import as_rule", "a facade"),
        ("graph-core", "theano/rewriting/new.py", "from .userdefined.adapt import as_rule", "a facade"),
        (
            "graph-core",
            "theano/rewriting/new.py",
            "if TYPE_CHECKING:\n    from theano.rewriting import userdefined",
            "a facade",
        ),
        ("graph-core", "theano/rewriting/new.py", "def f():\n    # why\n    from theano import gof", "an old spelling"),
        ("graph-core", "theano/compile/new.py", "from theano.rewriting.userdefined.adapt import as_rule", "a facade"),
        ("tensor", "theano/tensor/new.py", "from theano.rewriting.userdefined import as_rule", "a facade"),
        (
            "graph-core",
            "theano/graph/new.py",
            "if TYPE_CHECKING:\n    from theano.gradient import Op",
            "not in a tier below",
        ),
        ("graph-core", "theano/compile/new.py", "layers.load('tensor').shape_i", "tensor is above"),
        ("graph-core", "theano/compile/new.py", "importlib.import_module('theano.tensor')", "tensor is above"),
        ("graph-core", "theano/compile/new.py", "LATER = {'dot': 'theano.tensor:dot'}", "tensor is above"),
        (
            "graph-core",
            "theano/compile/new.py",
            "__getattr__, _ = lazily(globals(), {'d': 'theano.scalar'})",
            "scalar is above",
        ),
        ("graph-core", "theano/compile/new.py", "def f(n):\n    return f'theano.tensor.{n}'", "tensor is above"),
        ("graph-core", "theano/compile/new.py", "def f(n):\n    return f'theano.tensor.nn{n}:{n}'", "tensor is above"),
        ("graph-core", "theano/graph/new.py", "LATER = ('theano.gradient:grad',)", "not in a tier below"),
        ("graph-core", "theano/graph/new.py", "OLD = 'theano.gof'", "an old spelling"),
        ("graph-core", "theano/graph/new.py", "ABSENT = 'theano.sparse'", "public module"),
        ("graph-core", "theano/compile/new.py", "from theano.gof.graph import x", "an old spelling"),
        ("scalar", "theano/scalar/new.py", "import_module('theano.tensor.basic')", "tensor is above"),
        ("scalar", "theano/layers/scalar.py", "NAMES = {'theano.map': 'theano.tensor:map'}", "tensor is above"),
        ("graph-core", "theano/compile/new.py", "def f(n):\n    return import_module('theano.' + n)", "not spell out"),
        ("graph-core", "theano/compile/new.py", "def f(n):\n    return layers.load(n)", "not spell out"),
        ("tensor", "theano/tensor/new.py", "def f(n):\n    return importlib.import_module(n)", "not spell out"),
        ("tensor", "theano/tensor/new.py", "", "no place in the order of packages"),
        ("tensor", "theano/tensor/elemwise/op.py", "from theano.tensor.basic import x", "stands after"),
        ("tensor", "theano/tensor/new.py", "class Rule: pass", "Rule is also a class at"),
        ("tensor", "theano/tensor/new.py", "class New(Op):\n    def f(self): pass", "New.f has no docstring"),
        ("tensor", "theano/tensor/new.py", "def f():\n    import scipy", "without saying why"),
        ("tensor", "theano/tensor/new.py", "def f():\n    x = 1  # one\n    import scipy", "without saying why"),
        ("tensor", "theano/tensor/new.py", "async def f():\n    if 1:\n        import scipy", "without saying why"),
    ],
)
def test_planted(tmp_path, distribution, path, text, said, capsys):
    found = broken(tmp_path, distribution, path, text)
    assert any(said in problem for problem in found), found
    assert check_layers.main([str(tmp_path)]) == 1
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(("layer", "file", "header", "above"), [
    ("graph-core", "loader/direct.cpp", "aot/c/model.h", True), ("graph-core", "aot/c/model.c", "loader/model/model.h", False),
    ("graph-core", "loader/direct.cpp", "loader/model/model.h", False), ("tensor", "tensor/blas/c/g.c", "tensor/conv/c/model.h", True),
    ("tensor", "tensor/conv/c/g.c", "tensor/blas/c/model.h", False), ("tensor", "tensor/conv/c/g.c", "tensor/conv/c/model.h", False),
])  # fmt: skip
def test_headers_follow_the_order(tmp_path, layer, file, header, above):
    target = tmp_path / "packages" / layer / "src" / "theano" / header
    target.parent.mkdir(parents=True)
    target.write_text("")
    found = broken(tmp_path, layer, f"theano/{file}", '  #  include "model.h"\n#include "written_by_the_build.h"\n')
    assert [problem for problem in found if "includes model.h" in problem] == found and bool(found) == above


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("theano/compile/new.py", "def f():\n    import pydot  # only who draws needs it"),
        ("theano/compile/new.py", "def f():\n    # only who draws needs it\n    import pydot"),
        ("theano/compile/new.py", "def f():\n    # only who draws needs them\n    import pydot\n    import dot"),
        ("theano/graph/op.py", "if TYPE_CHECKING:\n    from theano import graph\nclass Op: pass"),
        ("theano/__init__.py", "import importlib\nOLD = {'Op': 'theano.graph:Op'}\nimportlib.import_module(OLD['Op'])"),
        ("theano/layers.py", "def load(name):\n    return importlib.import_module(name)"),
        ("theano/graph/op.py", "def f(name):\n    return import_module(f'theano.graph.{name}')"),
        ("theano/compile/new.py", "LATER = {'Op': 'theano.graph.op:Op', 'grad': 'theano.gradient'}"),
        ("theano/compile/new.py", "import_module('theano.graph.op')"),
        (
            "theano/compile/new.py",
            "def f(x):\n    raise TypeError(f'theano.tensor has no {x}, theano.tensor.cast has')",
        ),
        ("theano/compile/new.py", "'theano.tensor'\ndef f():\n    'theano.tensor'\nprint('see theano.tensor')"),
        ("theano/old.py", "from theano.compile import config as config"),
        ("theano/compile/mode.py", "def f():\n    # why\n    from theano.rewriting.userdefined import as_rule"),
        ("theano/rewriting/userdefined/new.py", "from theano.rewriting.userdefined.adapt import as_rule"),
    ],
)
def test_allowed(tmp_path, path, text):
    assert broken(tmp_path, path=path, text=text) == []


def test_a_long_ring_is_printed_in_order(tmp_path):
    broken(tmp_path, "tensor", "theano/tensor/elemwise/a.py", "import theano.tensor.elemwise.b\n")
    root = tmp_path / "packages" / "tensor" / "src" / "theano" / "tensor" / "elemwise"
    (root / "b.py").write_text("from theano.tensor.elemwise import c")
    (root / "c.py").write_text("from . import a")
    (found,) = check_layers.problems(check_layers.read_tree(tmp_path))
    a, b, c = (f"theano.tensor.elemwise.{name}" for name in "abc")
    assert found.endswith(f"{a} -> {b} -> {c} -> {a}")


def test_each_package_is_there():
    tree = check_layers.read_tree(check_layers.ROOT)
    for layer, packages in order.ORDER.items():
        used = {order.package_of(layer, module) for module, owner in tree.owner.items() if owner == layer}
        assert used == set(packages)


def test_no_exception_is_there_that_nobody_needs():
    tree = check_layers.read_tree(check_layers.ROOT)
    assert set(check_layers.BY_NAME) == {module for module, _ in tree.by_name}
    for module, name in check_layers.SHOWN:
        (path,) = (check_layers.ROOT / "packages").glob(f"*/src/{module.replace('.', '/')}.py")
        assert f'"{name}"' in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# for older programs", "older programs"),
        ('def f():\n    """Taken for old\n    programs."""', "old programs"),
        ("# as Theano 1.0.5 has it", "Theano 1."),
        ("# old and new values, older versions of NumPy", None),
    ],
)
def test_sentences_that_speak_of_older_programs(tmp_path, text, said):
    found = broken(tmp_path, text=text)
    assert [line for line in found if "speaks of" in line] == found and len(found) == (said is not None)
    assert said is None or f"speaks of {said!r}" in found[0]
    assert broken(tmp_path, "legacy", "theano/legacy/new.py", text) == []


def test_files_that_may_speak_of_older_programs_do():
    for name in past.MAY:
        (path,) = (check_layers.ROOT / "packages").glob(f"*/src/{name}")
        assert past.PAST.search(path.read_text(encoding="utf-8"))


def test_a_folder_that_hides_an_old_spelling(tmp_path):
    assert broken(tmp_path) == []
    (tmp_path / "packages" / "graph-core" / "src" / "theano" / "gof" / "__pycache__").mkdir(parents=True)
    (found,) = check_layers.problems(check_layers.read_tree(tmp_path))
    assert found.startswith("packages/graph-core/src/theano/gof:") and "remove the folder" in found


@pytest.mark.parametrize(
    ("path", "text", "count"),
    [
        ("packages/graph-core/tests/test_new.py", "def f():\n    from theano.gof import Op, graph", 2),
        ("tools/new.py", "import theano.gof.graph", 1),
        ("packages/graph-core/tests/test_new.py", "import theano\nprint(theano.gof.Op)", 0),
        ("packages/tensor/tests/programs/test_new.py", "from theano.gof import Op", 0),
    ],
)
def test_tests_import_by_the_names_of_today(tmp_path, path, text, count):
    assert broken(tmp_path) == []
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    found = list(check_layers.problems(check_layers.read_tree(tmp_path)))
    assert len(found) == count and all("an old spelling" in problem for problem in found)


def test_old_programs_are_there():
    assert all((check_layers.ROOT / path).exists() for path in check_layers.OLD_PROGRAMS)
