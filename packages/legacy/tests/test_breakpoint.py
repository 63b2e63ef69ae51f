"""Conditional breakpoints: what they hand through, and what the debugger sees and changes."""

from __future__ import annotations

import io
import os
import pdb  # noqa: T100
import pickle
import subprocess
import sys

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.compile.debugmode import DebugMode
from theano.tests.breakpoint import PdbBreakpoint

x, y = T.dmatrix("x"), T.dscalar("y")
X = np.arange(6.0).reshape(2, 3)
STOP = PdbBreakpoint("too large")
x_seen, y_seen = STOP(T.gt(x.sum() * y, 100), x, y)


@pytest.fixture
def debugger(monkeypatch):
    """Return what sets the lines that are typed into pdb, and the text that it has printed."""
    typed, printed = io.StringIO(), io.StringIO()

    def type_in(*lines):
        typed.seek(typed.tell())
        place = typed.tell()
        typed.write("\n".join([*lines, ""]))
        typed.seek(place)

    def start():
        session = pdb.Pdb(stdin=typed, stdout=printed, readrc=False, nosigint=True)  # Ctrl-C stays as it was
        session.use_rawinput = False
        session.set_trace(sys._getframe(1))

    monkeypatch.setattr(sys, "breakpointhook", start)
    return type_in, printed


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", DebugMode(), theano.Mode("py", None)], ids=str)
def test_values_gradients_directions_and_shapes_go_through(mode):
    cost = (x_seen**2).sum() * y_seen
    outputs = [x_seen, y_seen, cost, *T.grad(cost, [x, y]), T.Rop(cost, [x, y], [x, y]), x_seen.shape, *T.grad(cost, [x_seen, y_seen])]
    found = theano.function([x, y], outputs, mode=mode)(X, 2.0)
    square = (X**2).sum()
    wanted = [X, 2.0, square * 2, 4 * X, square, 4 * square + 2 * square, [2, 3], 4 * X, square]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b)


def test_nothing_is_copied_where_the_condition_does_not_hold():
    node = x_seen.owner
    cells = [[None], [None]]
    node.op.perform(node, [np.array(False), X, np.array(1.0)], cells)
    assert cells[0][0] is X and node.op.view_map == {0: [1], 1: [2]}
    assert node.op.connection_pattern(node) == [[0, 0], [1, 0], [0, 1]]
    shape = theano.function([x, y], x_seen.shape)
    assert not any(isinstance(n.op, PdbBreakpoint) for n in shape.maker.fgraph.toposort())
    mine = X.copy()
    f = theano.function([x, y], [T.inc_subtensor(x_seen[0, 0], y_seen), x_seen])
    changed, same = f(mine, 2.0)
    assert changed[0, 0] == 2 and (same == X).all() and (mine == X).all() and same is not mine


def test_the_debugger_sees_values_and_may_change_them(debugger, capsys):
    type_in, printed = debugger
    f = theano.function([x, y], [x_seen + 1, y_seen * 2])
    mine = X.copy()
    f(mine, 1.0)
    assert printed.getvalue() == ""
    type_in("p monitored[0].sum(), float(monitored[1])", "monitored[0][0, 0] = 50", "monitored[1] = 7", "c")
    a, b = f(mine, 10.0)
    assert "(np.float64(15.0), 10.0)" in printed.getvalue() or "(15.0, 10.0)" in printed.getvalue()
    assert a[0, 0] == 51 and (a.flat[1:] == X.flat[1:] + 1).all() and b == 14
    assert (mine == X).all(), "what the debugger changes are copies"
    said = capsys.readouterr().out
    assert "breakpoint 'too large'" in said and "monitored[0]  x, of shape (2, 3)" in said
    type_in("c")
    np.testing.assert_array_equal(f(mine, 10.0)[0], X + 1)
    type_in("monitored[0] = 'nonsense'", "c")
    with pytest.raises(TypeError):
        f(mine, 10.0)


def test_a_function_with_one_is_not_taken_from_the_cache(debugger, capsys):
    type_in, _ = debugger
    for name in "uv":
        v = T.dvector(name)
        type_in("c")
        theano.function([v], STOP(v.sum() > 0, v))([1.0])
        assert f"monitored[0]  {name}, of shape (1,)" in capsys.readouterr().out


def test_pdb_reads_what_is_typed():
    program = (
        "import theano, theano.tensor as T\n"
        "from theano.tests.breakpoint import PdbBreakpoint\n"
        "x = T.dvector('x')\n"
        "f = theano.function([x], PdbBreakpoint('negative')(T.lt(x.sum(), 0), x) * 2)\n"
        "print(f([1, 2]))\n"
        "print(f([-1, -2]))\n"
    )
    env = {k: v for k, v in os.environ.items() if k != "PYTHONBREAKPOINT"}
    done = subprocess.run(
        [sys.executable, "-c", program], input="p [v * 10 for v in monitored]\nmonitored[0][1] = 21\nc\n", text=True,
        capture_output=True, timeout=120, check=False, env=env,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "[2. 4.]" in done.stdout and "[array([-10., -20.])]" in done.stdout and "[-2. 42.]" in done.stdout


def test_what_it_is_called_with():
    (one,) = [STOP(1, x)]
    assert one.type == x.type and STOP(y, x, 2.0)[1].type.ndim == 0
    assert STOP == PdbBreakpoint("too large") != PdbBreakpoint("too small")
    assert pickle.loads(pickle.dumps(x_seen.owner.op)) == x_seen.owner.op
    with pytest.raises(TypeError, match=r"'too large': the condition x is of type .* must be a scalar"):
        STOP(x, y)
    with pytest.raises(TypeError, match="no variables to monitor"):
        STOP(y)
    state = theano.shared(np.random.RandomState(1))
    assert STOP(y, state, theano.generic("g"))[1].type == theano.generic
