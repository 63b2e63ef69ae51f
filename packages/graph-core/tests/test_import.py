"""What ``import theano`` costs, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from portion import everything, portion

WATCH = """
import sys
seen = []
def watch(event, arguments):
    if event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec", "os.system", "socket.connect", "os.mkdir",
                 "os.rename", "os.remove", "ctypes.dlopen"):
        seen.append((event, str(arguments)))
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        seen.append((event, str(arguments)))
sys.dont_write_bytecode = True
sys.addaudithook(watch)
import theano
theano.config.floatX
print(seen, "numpy" in sys.modules, "theano.loader.module" in sys.modules)
"""


def run(program: str, *options: str) -> str:
    return subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True, check=True).stdout


def test_import_starts_nothing_writes_nothing_and_loads_no_arrays():
    assert run(WATCH).strip() == "[] False False"


def test_import_reads_the_flags_at_once():
    program = "import os; os.environ['THEANO_FLAGS'] = 'floatX=float32'; import theano; print(theano.config.floatX)"
    assert run(program).strip() == "float32"


def test_import_with_a_wrong_flag_names_it():
    program = "import os; os.environ['THEANO_FLAGS'] = 'floatX=float63'; import theano"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2:] == [
        "theano.errors.FlagValueError: theano.config.floatX cannot be 'float63' (set in THEANO_FLAGS).",
        "  It takes one of float64, float32, float16.",
    ]
    assert done.stderr.count("  File ") == 2, "the program, and the line of ours that raises"


def test_the_package_as_a_command_says_what_it_is():
    done = subprocess.run([sys.executable, "-m", "theano"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Theano 2.")
    assert "-m theano.doctor" in done.stdout and "\ncache      /" in done.stdout


@pytest.mark.parametrize("module", ["theano", "theano.configparser"])
def test_config_has_one_home(module):
    assert run(f"import theano, {module} as m; print(m.config is theano.config)").strip() == "True"


def test_import_brings_in_little():
    """Time is a matter of the benchmark; what it is made of is counted here."""
    program = "import numpy, sys; before = set(sys.modules); import theano; print(*sorted(set(sys.modules) - before))"
    brought = run(program).split()
    ours = [name for name in brought if name.startswith("theano")]
    assert len(ours) < 55, ours
    assert len(brought) - len(ours) < 30, brought
    compiler = ("cache", "codegen", "compile.maker", "lowering", "printing", "rewriting", "runtime")
    assert not [name for name in ours if name.removeprefix("theano.").startswith(compiler)]
    heavy = {"scipy", "subprocess", "asyncio", "email", "http", "pdb", "doctest", "unittest", "multiprocessing"}
    assert not heavy & set(brought)


def test_flags_of_test_values_are_watched_from_the_start():
    program = """
import theano
from theano.errors import TestValueError
x = theano.generic("x")
with theano.config.change_flags(compute_test_value="raise"):
    try:
        theano.compile.view_op(x)
    except TestValueError:
        print("asked for one")
"""
    assert run(program).strip() == "asked for one"


def test_the_compiler_is_there_for_who_asks():
    """Whichever of its names is asked for first, in a process of its own."""
    names = ["theano." + name for name in ("Mode", "OpFromGraph", "pp", "printing.debugprint", "runtime", "rewriting.P")]
    names += ["theano.compile." + name for name in ("mode.Mode", "maker", "get_mode", "ops_with_inner_function", "optdb")]
    for name in portion(names):
        assert run(f"import theano; {name}; print(1)").strip() == "1", name
    every = "import theano, theano.compile as c; print([n for m in (theano, c) for n in m.__all__ if not hasattr(m, n)])"
    assert run(every).strip() == "[]"


def test_who_asks_below_the_compiler_has_it_loaded():
    program = """
import sys, theano, theano.runtime.link
from theano.graph import Op, generic, FunctionGraph
class Same(Op):
    __props__ = ()
    itypes, otypes = [generic], [generic]
    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]
x = generic("x")
accepted = theano.runtime.link.PerformLinker().accept(FunctionGraph([x], [Same()(x)]))
print("theano.compile.maker" in sys.modules, accepted.make_function()("value"), "theano.compile.maker" in sys.modules)
"""
    assert run(program).split() == ["False", "value", "True"]


def test_threads_may_compile_the_first_functions_at_once():
    program = """
import threading, theano
x, start, answers = theano.generic("x"), threading.Barrier(8), []
def first():
    start.wait()
    answers.append(theano.function([x], x)(1))
threads = [threading.Thread(target=first) for _ in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
print(answers)
"""
    for _ in range(3 if everything() else 1):
        assert run(program).strip() == str([1] * 8)
