"""The tables of old spellings: every entry leads to what it says, and modules made of them act as modules do."""

from __future__ import annotations

import importlib
import inspect
import json
import pickle
import pydoc
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import theano
from portion import portion
from theano import layers
from theano.layers.spellings import OldModule, named, place, spellings

#: What could be imported when all of these were modules with sources: nothing of it may go.
KNOWN = json.loads((Path(__file__).parent / "old_spellings.json").read_text(encoding="utf-8"))
SHOW_WHAT_PROGRAMS_USE = ("theano", "theano.tensor", "theano.tensor.nnet", "theano.sparse")
ENTRIES = [(module, entry) for table in layers._tables(True) for module, entry in table.items()]


def fresh(program: str) -> str:
    """Return what a program prints in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(("module", "entry"), ENTRIES, ids=[module for module, _ in ENTRIES])
def test_each_entry_leads_to_what_it_names(module, entry):
    found = importlib.import_module(module)
    assert isinstance(found, OldModule) or "__getattr__" in vars(found)
    for old, _ in spellings(entry):  # of stars that both bring it, the first one counts
        assert getattr(found, old) is named(place(entry, old)), old
        assert old in dir(found) or module in SHOW_WHAT_PROGRAMS_USE, old


@pytest.mark.parametrize("module", sorted({module for module, _ in ENTRIES}))
def test_a_name_is_listed_once(module):
    entries = [entry for where, entry in ENTRIES if where == module]
    words = [word.partition("=")[0] for entry in entries for names in entry.values() for word in names.split()]
    assert [name for name, count in Counter(words).items() if count > 1 and name != "*"] == []


@pytest.mark.parametrize("module", sorted(KNOWN))
def test_names_that_were_there_are_there(module):
    found = importlib.import_module(module)
    assert [name for name in KNOWN[module] if not hasattr(found, name)] == []


@pytest.mark.parametrize("module", ["theano", "theano.compile"])
def test_names_that_were_there_are_there_alone(module):
    """Each as the first that is asked for: none is there only because another one has loaded it."""
    program = f"""
import importlib, os
found = importlib.import_module({module!r})
for name in {portion(KNOWN[module], one_in=4)!r}:
    child = os.fork()
    if not child:
        os._exit(not hasattr(found, name))
    if os.waitpid(child, 0)[1]:
        print(name)
"""
    assert fresh(program) == ""


def test_a_module_that_is_nowhere_else():
    gof = importlib.import_module("theano.gof")
    assert (
        isinstance(gof, ModuleType) and gof is theano.gof and gof.__path__ == [] and gof.__spec__.name == "theano.gof"
    )
    assert gof.graph is importlib.import_module("theano.gof.graph") and gof.graph.__package__ == "theano.gof"
    assert gof.Op is theano.Op and "graph" in dir(gof) and "Op" in gof.__all__ and "`theano.graph`" in gof.__doc__
    assert "FunctionGraph" in pydoc.render_doc(gof.fg) and inspect.getmodule(gof.Op) is sys.modules["theano.graph.op"]
    assert pickle.loads(pickle.dumps(theano.Apply)) is theano.Apply  # its module is said to be theano.gof.graph
    assert pickle.loads(b"ctheano.gof.fg\nFunctionGraph\n.") is theano.FunctionGraph
    assert importlib.reload(gof.fg).FunctionGraph is theano.FunctionGraph


def test_star_imports():
    found: dict = {}
    exec("from theano.gof import *\nfrom theano.tensor.opt import *", found)
    assert found["Op"] is theano.Op and found["local_useless_reduce"] is theano.tensor.opt.local_useless_reduce
    assert found["register_specialize"] is theano.tensor.opt.register_specialize
    assert found["opt"] is theano.gof.opt  # a module below, which its package shows


def test_star_imports_leave_names_of_modules_alone():
    found: dict = {}
    exec(
        "from theano.scalar.basic import *\nfrom theano.tensor.nlinalg import *\nfrom theano.scan_module import *",
        found,
    )
    assert found["svd"] is theano.tensor.nlinalg.svd and {"basic", "gof", "tensor", "theano", "utils"}.isdisjoint(found)


def test_a_name_stays_when_a_module_of_that_name_is_imported():
    imports = "from theano.scan_module.scan import scan; import theano.scan_module.scan_op"
    assert fresh(f"{imports}; print(theano.scan_module.scan is scan is theano.scan.scan)") == "True"


def test_attributes_without_imports():
    wanted = "theano.gof.graph.inputs, T.opt.register_specialize, T.nnet.nnet.softmax, theano.sandbox.linalg.ops.psd"
    shown = fresh(f"import theano, theano.tensor as T; print(all(({wanted}, theano.link.c.basic.CLinker)))")
    assert shown == "True"


def test_what_nobody_has_is_a_plain_error():
    for name in ("theano.nonsense", "theano.gof.nonsense", "theano.tensor.nonsense"):
        with pytest.raises(ModuleNotFoundError, match=f"No module named '{name}'"):
            importlib.import_module(name)
    with pytest.raises(ImportError, match="cannot import name 'nonsense' from 'theano.gof'"):
        exec("from theano.gof import nonsense")
    with pytest.raises(AttributeError, match="module 'theano.gof' has no attribute 'nonsense'"):
        theano.gof.nonsense


def test_tables_are_read_when_something_is_looked_for():
    tables = "[m for m in sys.modules if m.startswith(('theano.layers.documented_', 'theano.legacy.tables.'))]"
    assert fresh(f"import sys, theano, theano.tensor; print({tables})") == "[]"
    assert "graph_core" in fresh(f"import sys, theano; theano.gof; print({tables})")


def test_a_star_brings_the_language_and_modules_of_older_layouts():
    brought = {}
    exec("from theano.tensor import *", brought)
    del brought["__builtins__"]
    assert brought.keys() >= {"dmatrix", "exp", "dot", "grad", "nnet", "slinalg", "constant", "TensorType", "Elemwise"}
    assert not any(name.startswith("_") for name in brought)
    for name in ("extra_ops", "raw_random", "shared_randomstreams"):
        assert brought[name] is importlib.import_module(f"theano.tensor.{name}")


def test_what_programs_did_with_names_of_theano_0_7():
    from theano.compat.six import iteritems, with_metaclass
    from theano.compat.six.moves import cPickle, reduce, xrange, zip
    from theano.compat.six.moves.urllib.parse import quote
    from theano.gof import Op
    from theano.gof.python25 import any, partial

    assert [v for _, v in iteritems({1: 2})] == [2] and any(xrange(2)) and quote("a b") == "a%20b" and Op
    assert cPickle.loads(cPickle.dumps(partial(reduce, max)))([1, 3, 2]) == 3 and dict(zip("a", "b")) == {"a": "b"}

    class Meta(type):
        pass

    assert type(type("Made", (with_metaclass(Meta, dict),), {})) is Meta
