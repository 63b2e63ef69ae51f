"""Processes that share a cache: no plan is taken for another function's, nor for that of another compiler."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from forked import TENSORS

from portion import portion

PROGRAM = """
import json, sys, numpy, theano, theano.tensor as T
from theano.compile.program_cache import counts
x = T.dvector("x")
values = numpy.array([1.0, 2.0, 4.0, numpy.nan])
found = []
for make in (lambda x: x[:3].sum(), lambda x: T.isnan(x).sum(), lambda x: x[:3].max() * 2, lambda x: x[:3].prod() - 1):
    found.append(float(theano.function([x], make(x))(values)))
print(json.dumps([found, counts.found, counts.missed]))
"""
RIGHT = [7.0, 1.0, 8.0, 7.0]
GCC = shutil.which("gcc")


def run(root, flags="", program=PROGRAM, **variables):
    environment = {**os.environ, **variables, "THEANO_FLAGS": f"compiledir={root},{flags}"}
    environment.pop("CC", None) if "CC" not in variables else None
    done = TENSORS.run(program, env=environment)
    assert done.returncode == 0, done.stderr
    return tuple(json.loads(done.stdout))


def test_programs_with_ops_that_hold_a_graph_are_found(tmp_path):
    """The graph is in the key, and in the program where the op is run in Python; its own program is found as well."""
    root = tmp_path / "cache"
    program = """
import json, numpy, theano, theano.tensor as T
from theano.compile.program_cache import counts
from theano.tensor.rows.op import map_rows
x, y, X = T.dvector("x"), T.dvector("y"), T.dmatrix("X")
op = theano.OpFromGraph([x, y], [T.sort(x) * y])
loop = theano.Mode("cvm", "fast_run").excluding("local_map_rows_at_once")
found = [
    theano.function([x, y], op(x, y) + FACTOR)([2, 1], [3, 4]).tolist(),
    theano.function([X, y], map_rows([x], [X], [T.sort(x) * y * FACTOR])[0], mode=loop)([[2, 1], [3, 5]], [3, 4]).tolist(),
]
print(json.dumps([found, counts.found, counts.missed]))
"""
    one, two = (program.replace("FACTOR", factor) for factor in ("2", "3"))
    assert run(root, program=one)[0] == [[5.0, 10.0], [[6.0, 16.0], [18.0, 40.0]]]
    found = run(root, program=one)
    assert found[0] == [[5.0, 10.0], [[6.0, 16.0], [18.0, 40.0]]] and found[1] >= 3 and found[2] == 0
    other = run(root, program=two)
    assert other[0] == [[6.0, 11.0], [[9.0, 24.0], [27.0, 60.0]]] and other[2] > 0


def test_plans_under_each_others_names(tmp_path):
    """A copy or a tool that renames may do it; the digest of the bytes is still right."""
    root = tmp_path / "cache"
    assert run(root)[0] == RIGHT
    plans = sorted(root.glob("*/*.plan"))
    if not plans:
        pytest.skip("no plans are kept here")
    assert len(plans) == 4 and run(root) == (RIGHT, 4, 0)
    kept = {path: path.read_bytes() for path in plans}
    for step in portion((1, 2, 3), always=0):  # each under the name of each other
        for path in root.glob("*/*.plan"):
            path.unlink()
        for number, path in enumerate(plans):
            other = plans[(number + step) % 4]
            target = path.with_name(".".join([path.name.split(".")[0], *other.name.split(".")[1:]]))
            target.write_bytes(kept[other])
            target.chmod(0o400)
        assert run(root) == (RIGHT, 0, 4)


@pytest.mark.skipif(GCC is None or os.name != "posix", reason="needs gcc")
def test_another_compilers_plans_and_kernels(tmp_path):
    """Processes without NaN fill the cache; the next, which has said nothing, knows what a NaN is."""
    script = tmp_path / "script"
    script.write_text(f'#!/bin/sh\nexec {GCC} -ffast-math "$@"\n')
    script.chmod(0o755)
    root = tmp_path / "cache"
    ways = {
        "flag": (f"cxx={GCC} -ffast-math", {}),
        "environment": ("", {"CC": f"{GCC} -ffast-math"}),
        "options": ("gcc.cxxflags=-ffast-math", {}),
        "script": (f"cxx={script}", {}),
    }
    for way, (flags, variables) in ways.items():
        filled = run(root, flags, **variables)
        assert filled[0] != RIGHT, f"{way}: it has been filled with something else"
    if run(root) != (RIGHT, 0, 4):  # whose plans has it taken?
        for way, (flags, variables) in ways.items():
            run(tmp_path / way, flags, **variables)
            assert run(tmp_path / way) == (RIGHT, 0, 4), way
        pytest.fail("it takes the plans of several compilers together")
    assert run(root) == (RIGHT, 4, 0)
