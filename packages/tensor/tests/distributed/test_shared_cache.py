"""A cache that the nodes of a cluster share: what a look-up asks of the file system, and how often one compiles."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from forked import TENSORS

ROW = """
import numpy as np, theano, theano.tensor as T
x = T.dvector("x")
def make(i):
    return theano.function([x], T.exp(x * %s) + i)
"""
#: Two functions; between them, and behind the second, a file that is not there is looked for.
TWO = ROW % 2 + """
import os
make(1)
os.path.exists("/begin"), make(2), os.path.exists("/end")
from theano.codegen.unit import compile_counts
print("compiled", compile_counts().compiled)
"""
#: Processes that begin at once make the same functions; what they need of Python is loaded before.
MANY = """
import os, sys, time
import numpy as np, theano, theano.tensor as T
from theano.codegen.unit import compile_counts
x = T.dvector("x")
theano.function([x], T.exp(x) + T.sin(x), mode="FAST_COMPILE")
count, begin = int(sys.argv[1]), time.time() + 0.5
for _ in range(count):
    if os.fork() == 0:
        try:
            time.sleep(max(0.0, begin - time.time()))
            found = [float(theano.function([x], op(x) * 3)(np.zeros(1))[0]) for op in (T.exp, T.cos)]
            assert found == [3.0, 3.0]
            os.write(1, b"%d\\n" % compile_counts().compiled)
        finally:
            os._exit(0)
for _ in range(count):
    os.wait()
"""
COUNT = 64 if os.environ.get("THEANO_TESTS_CLUSTER") == "1" else 8


def run(program: str, flags: str, *before: str, words: tuple[str, ...] = ()) -> str:
    done = subprocess.run(
        [*before, sys.executable, "-c", program, *words], env={**os.environ, "THEANO_FLAGS": flags}, capture_output=True,
        text=True, timeout=150, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def forked(program: str, flags: str) -> str:
    done = TENSORS.run(program, env={**os.environ, "THEANO_FLAGS": flags})
    assert done.returncode == 0, done.stderr
    return done.stdout


def warm(into: Path, program: str, flags: str = "") -> None:
    script = into.parent / "script.py"
    script.write_text(program)
    command = [sys.executable, "-m", "theano.cache", "warm", "--into", str(into), str(script)]
    subprocess.run(command, env={**os.environ, "THEANO_FLAGS": flags}, check=True, timeout=150, capture_output=True)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere everybody compiles")
def test_processes_that_begin_at_once_on_an_empty_cache_compile_each_function_once(tmp_path: Path) -> None:
    counts = run(MANY, f"base_compiledir={tmp_path}", words=(str(COUNT),)).split()
    assert len(counts) == COUNT and sum(map(int, counts)) == 2


def test_nodes_of_different_cpu_levels_share_what_was_filled_ahead(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    levels = ["gcc.cxxflags=-march=x86-64-v2", ""] if os.uname().machine == "x86_64" else ["", "gcc.cxxflags=-O1"]
    for level in levels:
        warm(shared, TWO, level)
    units = sorted(path.name for path in shared.glob("*/*.so"))
    for level in levels:
        place = os.pathsep.join([str(tmp_path / "node"), str(shared)])
        assert forked(TWO, f"base_compiledir={place},{level}") == "compiled 0\n"
    assert not list((tmp_path / "node").glob("*/*/*.so")) and units == sorted(p.name for p in shared.glob("*/*.so"))
    third = f"base_compiledir={tmp_path / 'node'}{os.pathsep}{shared},gcc.cxxflags=-O0"
    assert forked(TWO, third) == "compiled 2\n", "another kind of node finds nothing of theirs, and keeps its own"


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace is here")
def test_a_warm_look_up_is_three_operations_and_no_lock(tmp_path: Path) -> None:
    """The folder of the plan is listed, the plan read, and the unit, which the system's loader then maps."""
    shared, log = tmp_path / "shared", tmp_path / "log"
    warm(shared, TWO)
    flags = f"base_compiledir={tmp_path / 'node'}{os.pathsep}{shared}"
    run(TWO, flags)  # what is known of the compiler and of our own sources is now noted with the node
    run(TWO, flags, "strace", "-f", "-e", "trace=file,flock,fcntl", "-o", str(log))
    calls = re.split(r"/begin|/end", log.read_text())[1]
    assert re.search(r"flock|F_SETLK|F_OFD", calls) is None
    asked = [line for line in calls.splitlines() if str(shared) in line]
    assert len(asked) == 4 and len({re.findall(r'"([^"]*)"', line)[0] for line in asked}) == 3, asked
    assert "O_DIRECTORY" in asked[0] and ".plan" in asked[1] and ".so" in asked[2] and ".so" in asked[3]
    of_node = [line for line in calls.splitlines() if str(tmp_path / "node") in line]
    assert len(of_node) <= 3, of_node
