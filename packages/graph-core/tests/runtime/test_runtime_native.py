"""Functions of compiled kernels: values, memory, errors, threads, processes."""

import os
import pickle
import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy
import pytest
from arrays_toy import add, add_into, backwards, in_python, matrix, mul, sub, vector

from theano import In, Mode, Out, function
from theano.compile import SharedVariable, view_op
from theano.runtime.link import Compiled


def shared(value, name=None):
    return SharedVariable(name, vector, numpy.array(value, float), strict=False)


@pytest.fixture
def xy():
    return vector("x"), vector("y")


def all_compiled(f):
    return all(isinstance(how, Compiled) for how in f.maker.linked.how)


LAYOUTS = {
    "C": lambda: numpy.arange(24.0).reshape(4, 6),
    "F": lambda: numpy.asfortranarray(numpy.arange(24.0).reshape(4, 6)),
    "transposed": lambda: numpy.arange(24.0).reshape(6, 4).T,
    "negative": lambda: numpy.arange(24.0).reshape(4, 6)[::-1, ::-1],
    "step": lambda: numpy.arange(96.0).reshape(8, 12)[::2, ::3],
    "broadcast": lambda: numpy.broadcast_to(numpy.arange(6.0), (4, 6)),
    "offset": lambda: numpy.arange(40.0)[3:27].reshape(4, 6),
    "unaligned": lambda: numpy.frombuffer(b"x" + numpy.arange(24.0).tobytes(), "float64", offset=1).reshape(4, 6),
    "empty": lambda: numpy.zeros((0, 6)),
    "swapped": lambda: numpy.arange(24.0).astype(">f8").reshape(4, 6),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_of_all_layouts(layout):
    m = matrix("m")
    f, value = function([m], m), LAYOUTS[layout]()
    result = f(value)
    assert all_compiled(f) and numpy.array_equal(result, value)
    assert not numpy.shares_memory(result, value) and result.flags.c_contiguous and result.dtype == "float64"


def test_views_are_compiled(xy):
    x, _ = xy
    f = function([In(x, borrow=True)], Out(view_op(x), borrow=True))
    mine = numpy.arange(3.0)
    assert all_compiled(f) and numpy.shares_memory(f(mine), mine)


def test_mixed_programs(xy):
    x, y = xy
    f = function([x, y], [in_python(add(x, y)), backwards(mul(x, in_python(y)))])
    a, b = f(numpy.arange(3.0), numpy.ones(3))
    assert a.tolist() == [2, 3, 4] and b.tolist() == [4, 2, 0]


@pytest.mark.parametrize("linker", ["py", "c|py", "vm", "cvm", "vm_nogc", "cvm_nogc", "c|py_nogc"])
def test_linkers_agree(linker, xy):
    x, y = xy
    f = function([x, y], backwards(sub(mul(x, y), in_python(x))), mode=Mode(linker, "fast_run"))
    for n in (3, 5, 0, 3):
        a, b = numpy.random.default_rng(n).normal(size=(2, n))
        assert numpy.allclose(f(a, b), (a * b - (a + 1))[::-1])


def test_the_c_linker(xy):
    x, y = xy
    assert function([x, y], add(x, y), mode=Mode("c"))([1.0], [2.0]).tolist() == [3.0]
    with pytest.raises(NotImplementedError, match="InPython"):
        function([x], in_python(x), mode=Mode("c"))


@pytest.mark.parametrize("seed", range(15))
def test_memory_plans_hold_for_random_graphs(seed):
    choose = random.Random(seed)
    x, y = vector("x"), vector("y")
    known = [(x, lambda a, b: a), (y, lambda a, b: b)]
    for _ in range(30):
        (u, fu), (v, fv) = choose.choice(known), choose.choice(known)
        kind = choose.choice("+*-brp")
        if kind in "+*-":
            op, np_op = {"+": (add, numpy.add), "*": (mul, numpy.multiply), "-": (sub, numpy.subtract)}[kind]
            known.append((op(u, v), lambda a, b, fu=fu, fv=fv, np_op=np_op: np_op(fu(a, b), fv(a, b))))
        elif kind == "p":
            known.append((in_python(u), lambda a, b, fu=fu: fu(a, b) + 1))
        else:
            known.append((backwards(u), lambda a, b, fu=fu: fu(a, b)[::-1]))
    picked = choose.sample(known[2:], 4)
    f = function([x, y], [v for v, _ in picked], on_unused_input="ignore")
    for n in (1, 7, 1000):
        a, b = numpy.random.default_rng(seed).normal(size=(2, n)) * 0.5
        kept = f(a, b)
        f(b, a)
        for got, (_, want) in zip(kept, picked):
            assert numpy.array_equal(got, want(a, b), equal_nan=True)


def test_updates_take_turns_with_two_buffers(xy):
    x, _ = xy
    s = shared([0.0] * 1000)
    f = function([x], [], updates=[(s, add(s, x))])
    homes = set()
    for _ in range(10):
        f(numpy.ones(1000))
        homes.add(s.get_value(borrow=True).ctypes.data)
    assert s.get_value()[0] == 10 and len(homes) == 2


def test_a_value_that_was_handed_out_is_never_written_again(xy):
    x, y = xy
    s = shared([0.0, 0.0])
    f = function([x], [add(x, x), s], updates=[(s, add(s, x))])
    kept = [(f(numpy.full(2, float(i))), s.get_value(borrow=True)) for i in range(6)]
    for i, ((double, old), new) in enumerate(kept):
        assert double.tolist() == [2 * i] * 2
        assert old.tolist() == [sum(range(i))] * 2 and new.tolist() == [sum(range(i + 1))] * 2


def test_working_in_place(xy):
    x, y = xy
    f = function([x, y], add_into(mul(x, x), y), accept_inplace=True)
    a = numpy.arange(3.0)
    assert f(a, a).tolist() == [0, 2, 6] and a.tolist() == [0, 1, 2]


def test_an_error_of_a_kernel(xy):
    x, y = xy
    s = shared([1.0])
    f = function([x, y], add(x, y), updates=[(s, add(s, s))], name="f")
    with pytest.raises(ValueError, match="lengths 3 and 2 differ") as caught:
        f(numpy.zeros(3), numpy.zeros(2))
    text = str(caught.value)
    assert "x : float64, shape (3,), created at" in text and "y : float64, shape (2,)" in text
    assert f"written at {__file__}" in text and len(text.splitlines()) <= 10
    assert s.get_value().tolist() == [1.0]


def test_sixteen_threads_call_one_function(xy):
    x, y = xy
    f = function([x, y], [backwards(add(mul(x, y), x)), in_python(sub(x, y))])
    wrong, gate = [], threading.Barrier(16)

    def work(seed):
        a, b = numpy.random.default_rng(seed).normal(size=(2, 50 + seed))
        want = (a * b + a)[::-1], a - b + 1
        gate.wait()
        for _ in range(600):
            got = f(a, b)
            if not all(numpy.array_equal(g, w) for g, w in zip(got, want)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not wrong


def test_threads_compile_side_by_side(xy):
    results, gate = [], threading.Barrier(8)

    def work(i):
        x = vector("x")
        gate.wait()
        y = x
        for _ in range(i + 1):
            y = add(y, x)
        results.append((i, function([x], y)(numpy.ones(2))[0]))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    assert sorted(results) == [(i, i + 2.0) for i in range(8)]


def test_a_pickle_in_another_process(xy, tmp_path):
    x, y = xy
    s = shared([10.0], "s")
    f = function([x], add(mul(x, x), s), updates=[(s, add(s, x))])
    f(numpy.ones(1))
    data = pickle.dumps(f)
    assert len(data) < 10_000
    (tmp_path / "f.pickle").write_bytes(data)
    program = (
        "import pickle, sys; f = pickle.load(open(sys.argv[1], 'rb'))\n"
        "import theano.compile.maker as m; assert f.maker.rewriting is None\n"
        "print(f([3.0]).tolist(), f([0.0]).tolist())"
    )
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "f.pickle")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "[20.0] [14.0]\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_calls_and_compiles(xy):
    x, y = xy
    f = function([x], add(x, x))
    f(numpy.ones(3))
    child = os.fork()
    if child == 0:
        good = f(numpy.ones(3)).tolist() == [2, 2, 2] and function([x], sub(mul(x, x), x))(numpy.ones(2)).tolist() == [0, 0]
        os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0


def test_calls_leave_reference_counts_alone(xy):
    x, y = xy
    s = shared([1.0] * 4)
    f = function([x, y], [add(x, y), in_python(x)], updates=[(s, add(s, x))])
    a, b = numpy.ones(4), numpy.ones(4)
    f(a, b)
    before = sys.getrefcount(a), sys.getrefcount(b)
    for _ in range(100):
        f(a, b)
    assert (sys.getrefcount(a), sys.getrefcount(b)) == before
