"""Updates of shared variables: the right values, in place where nobody can tell, and all or nothing."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.cache.store import CacheSettings
from theano.codegen.unit import compile_kernels
from theano.compile.mode import get_mode
from theano.graph import Apply, Op
from theano.graph.kernel import Kernel
from theano.loader.module import Function as NativeFunction
from theano.loader.module import memory_trim
from theano.loader.schema import KernelInstruction, PerformInstruction
from theano.settings import config
from theano.tensor.elemwise.op import Elemwise
from theano.toolchain.description import ToolchainSettings

SHAPES = [(3, 4), (1, 1), (0, 4), (33, 65)]
PLAIN = get_mode("FAST_RUN").excluding("inplace")


def data(v: Any) -> np.ndarray:
    """Return the stored array itself."""
    return v.container.storage[0]


def place(v: Any) -> int:
    """Return where the numbers lie, without keeping a reference."""
    return int(data(v).__array_interface__["data"][0])


class Model:
    """Some shared variables with their updates, twice: rewritten fully, and without in-place work."""

    def __init__(self, build: Any, mode: Any = None):
        self.sides = []
        for m in (mode, PLAIN):
            inputs, outputs, updates = build()
            f = theano.function(inputs, outputs, updates=updates, mode=m)
            self.sides.append((f, [v for v, _ in updates]))
        self.f, self.shared = self.sides[0]

    def agree(self, *args: Any) -> None:
        """Call both and compare everything."""
        results = [f(*args) for f, _ in self.sides]
        np.testing.assert_equal(*results)
        for mine, other in zip(*[shared for _, shared in self.sides], strict=True):
            np.testing.assert_array_equal(data(mine), data(other), strict=True)


def matrix(rng: Any, shape: Any, name: str) -> Any:
    return theano.shared(rng.normal(size=shape), name)


def sgd(shape: Any) -> Any:
    rng = np.random.default_rng(0)
    w, g = matrix(rng, shape, "w"), T.dmatrix("g")
    return [g], [(w * g).sum()], [(w, w - 0.1 * g)]


def descent(shape: Any) -> Any:
    rng = np.random.default_rng(0)
    w, g = matrix(rng, shape, "w"), T.dmatrix("g")
    return [g], [w.sum()], [(w, w - 0.1 * g)]


def momentum(shape: Any) -> Any:
    rng = np.random.default_rng(0)
    w, v, g = matrix(rng, shape, "w"), matrix(rng, shape, "v"), T.dmatrix("g")
    new_v = 0.9 * v - 0.1 * g
    return [g], [], [(v, new_v), (w, w + new_v)]


def nesterov(shape: Any) -> Any:
    rng = np.random.default_rng(0)
    w, v, g = matrix(rng, shape, "w"), matrix(rng, shape, "v"), T.dmatrix("g")
    new_v = 0.9 * v - 0.1 * g
    return [g], [w.sum()], [(v, new_v), (w, w + 0.9 * new_v - 0.1 * g)]


def adam(shape: Any) -> Any:
    rng = np.random.default_rng(0)
    w, m, v, g = matrix(rng, shape, "w"), matrix(rng, shape, "m"), abs(matrix(rng, shape, "v").get_value()), T.dmatrix("g")
    v, t = theano.shared(v, "v"), theano.shared(1.0, "t")
    new_m, new_v, new_t = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g**2, t + 1
    step = new_m / (1 - 0.9**new_t) / (T.sqrt(new_v / (1 - 0.99**new_t)) + 1e-8)
    return [g], [], [(w, w - 0.01 * step), (m, new_m), (v, new_v), (t, new_t)]


def swap(shape: Any) -> Any:
    rng = np.random.default_rng(0)
    a, b, g = matrix(rng, shape, "a"), matrix(rng, shape, "b"), T.dmatrix("g")
    return [g], [(a * g).sum()], [(a, b), (b, a)]


def crossed(shape: Any) -> Any:
    rng = np.random.default_rng(0)
    a, b, g = matrix(rng, shape, "a"), matrix(rng, shape, "b"), T.dmatrix("g")
    return [g], [], [(a, b + g), (b, a - g)]


def entangled(shape: Any) -> Any:
    rng = np.random.default_rng(0)
    a, b, g = matrix(rng, shape, "a"), matrix(rng, shape, "b"), T.dmatrix("g")
    return [g], [], [(a, a + b), (b, a * b - g)]


def old_and_new_returned(shape: Any) -> Any:
    rng = np.random.default_rng(0)
    w, g = matrix(rng, shape, "w"), T.dmatrix("g")
    new = w - 0.1 * g
    return [g], [w, new, w.T, new * 2], [(w, new)]


def products(shape: Any) -> Any:
    rng = np.random.default_rng(0)
    w, b, g = matrix(rng, (shape[1], shape[1]), "w"), matrix(rng, (1, shape[1]), "b"), T.dmatrix("g")
    cost = T.tanh(T.dot(g, w) + b[0]).sum()
    return [g], [cost], [(p, p - 0.1 * d) for p, d in zip((w, b), T.grad(cost, [w, b]), strict=True)]


DENSE = [sgd, descent, momentum, nesterov, adam, swap, crossed, entangled, old_and_new_returned, products]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("build", DENSE)
def test_dense_updates(build: Any, shape: Any) -> None:
    model = Model(lambda: build(shape))
    for k in range(4):
        model.agree(np.random.default_rng(k).normal(size=shape))


def rows_and_parts(kind: str) -> Any:
    rng = np.random.default_rng(0)
    w, y, i = matrix(rng, (20, 3), "w"), T.dmatrix("y"), T.lvector("i")
    if kind == "inc":
        new = T.inc_subtensor(w[i], y)
    elif kind == "set":
        new = T.set_subtensor(w[i], y)
    elif kind == "own rows":
        new = T.inc_subtensor(w[i], y * w[i])
    elif kind == "part":
        new = T.inc_subtensor(w[: i.shape[0]], y)
    elif kind == "chain":
        new = T.set_subtensor(T.inc_subtensor(T.inc_subtensor(w[i], y)[i[::-1]], 2 * y)[1, 2], y.sum())
    elif kind == "index from the new value":
        first = T.inc_subtensor(w[i], y)
        new = T.inc_subtensor(first[T.argmax(first, axis=0)], 1.0)
    else:  # then everywhere
        new = T.inc_subtensor(w[i], y) * 0.5
    return [y, i], [w[i].sum()], [(w, new)]


@pytest.mark.parametrize(
    "kind", ["inc", "set", "own rows", "part", "chain", "index from the new value", "then everywhere"]
)
def test_rows_and_parts(kind: str) -> None:
    model = Model(lambda: rows_and_parts(kind))
    rng = np.random.default_rng(1)
    for n in (0, 1, 5, 18):
        model.agree(rng.normal(size=(n, 3)), rng.integers(-20, 20, n))


@pytest.mark.parametrize("build", [descent, momentum, nesterov, adam, crossed, products])
def test_dense_updates_are_in_place(build: Any) -> None:
    inputs, outputs, updates = build((33, 65))
    f = theano.function(inputs, outputs, updates=updates)
    g = np.ones((33, 65))
    f(g)
    watched = [v for v, _ in updates if v.name != "t"]  # the counter is read by what is not element-wise
    before = sorted(map(place, watched))
    for _ in range(3):
        f(g)
        assert sorted(map(place, watched)) == before


def test_a_product_is_written_over_what_it_is_added_to_and_nothing_else() -> None:
    rng = np.random.default_rng(2)
    a, b, c = (rng.normal(size=(20, 20)) for _ in range(3))
    for target in (0, 1, 2):
        base, left, right = shared = [theano.shared(value) for value in (a, b, c)]
        # Each has a new value of its own; that of ``target`` is the sum of the base and a product.
        updates = [(s, base + T.dot(left, right) if k == target else s * 2) for k, s in enumerate(shared)]
        f = theano.function([], updates=updates)
        writes = {type(n.op).__name__: bool(n.op.destroy_map) for n in f.maker.fgraph.toposort() if "Gem" in str(n.op)}
        assert writes == {"Gemm": target == 0}
        assert not any("inplace_updates" in phase.refused for phase in f.maker.rewriting.phases)
        # What reads the old values comes before what writes over them.
        changed = [n.op for n in f.maker.fgraph.toposort() if isinstance(n.op, Elemwise)]
        assert [bool(op.destroy_map) for op in changed] == [True] * len(changed) and changed
        f()
        for k, (s, old) in enumerate(zip(shared, (a, b, c), strict=True)):
            np.testing.assert_allclose(s.get_value(), a + b @ c if k == target else old * 2, rtol=1e-12, atol=1e-12)


def test_what_is_also_an_output_is_left_and_another_is_overwritten() -> None:
    """A replaced variable that is returned as it was cannot take the sum; the other one, replaced as well, can."""
    a, b = (theano.shared(np.full((3, 4), value), name) for value, name in ((1.0, "a"), (2.0, "b")))
    x = T.dmatrix("x")
    f = theano.function([x], [T.as_tensor_variable(a)], updates=[(a, a + b), (b, T.exp(x))])
    (add,) = [node for node in f.maker.fgraph.toposort() if len(node.inputs) == 2]
    assert [v.name for v in add.inputs] == ["a", "b"] and add.op.destroy_map == {0: [1]}
    (before,) = f(np.zeros((3, 4)))
    assert np.all(before == 1) and np.all(data(a) == 3) and np.all(data(b) == 1)



@pytest.mark.parametrize("kind", ["inc", "set", "own rows", "part", "chain", "then everywhere"])
def test_rows_are_written_in_place(kind: str) -> None:
    inputs, outputs, updates = rows_and_parts(kind)
    f = theano.function(inputs, outputs, updates=updates)
    f(np.ones((2, 3)), [4, 4])  # the first call works on a copy
    before = place(updates[0][0])
    for _ in range(3):
        f(np.ones((2, 3)), [4, 4])
        assert place(updates[0][0]) == before


# -- what others hold ---------------------------------------------------------------------------------------------


HOLD = {
    "borrowed": lambda w: w.get_value(borrow=True),
    "a view": lambda w: w.get_value(borrow=True)[1:],
    "transposed": lambda w: w.get_value(borrow=True).T,
    "a memoryview": lambda w: memoryview(w.get_value(borrow=True)),
    "in a list": lambda w: [w.get_value(borrow=True)],
}


@pytest.mark.parametrize("how", HOLD)
@pytest.mark.parametrize("kind", ["sgd", "rows"])
def test_what_somebody_holds_is_never_changed(kind: str, how: str) -> None:
    w = theano.shared(np.arange(12.0).reshape(4, 3))
    if kind == "sgd":
        g = T.dmatrix()
        f = theano.function([g], [], updates=[(w, w - g)])
        args: Any = (np.ones((4, 3)),)
    else:
        i = T.lvector()
        f = theano.function([i], [], updates=[(w, T.inc_subtensor(w[i], -1.0))])
        args = ([0, 1, 2, 3],)
    f(*args)
    for _ in range(2):
        f(*args)
        held = HOLD[how](w)
        before, wanted = np.array(held[0] if isinstance(held, list) else held), w.get_value() - 1
        f(*args)
        np.testing.assert_array_equal(np.array(held[0] if isinstance(held, list) else held), before)
        np.testing.assert_array_equal(w.get_value(), wanted)
        del held
        here = place(w)
        f(*args)
        assert place(w) == here  # in place again
        np.testing.assert_array_equal(w.get_value(), wanted - 1)


def test_a_value_given_with_borrow_stays_the_callers() -> None:
    mine = np.zeros(5)
    a, b = theano.shared(mine, borrow=True), theano.shared(mine, borrow=True)
    f = theano.function([], [], updates=[(a, a + 1), (b, b + 2)])
    f()
    np.testing.assert_array_equal([mine[0], data(a)[0], data(b)[0]], [0, 1, 2])
    a.set_value(mine, borrow=True)
    del mine
    gc.collect()
    f()
    np.testing.assert_array_equal([data(a)[0], data(b)[0]], [1, 4])


def test_two_variables_with_one_array() -> None:
    array = np.zeros(3)
    a, b = theano.shared(array, borrow=True), theano.shared(array, borrow=True)
    del array
    f = theano.function([], [], updates=[(a, a + 1), (b, b * 3 + 1)])
    for _ in range(2):
        f()
    assert data(a)[0] == 2 and data(b)[0] == 4


def test_a_variable_and_its_clone_in_one_function() -> None:
    a, v = theano.shared(np.ones(3)), theano.shared(np.zeros(3))
    twin = a.clone()  # another variable with the same storage
    f = theano.function([], [twin.sum()], updates=[(a, a * 2), (v, v + twin)])
    for k in range(4):
        assert f()[0] == 3 * 2**k
        np.testing.assert_array_equal(v.get_value(), np.full(3, 2 ** (k + 1) - 1.0))


@pytest.mark.parametrize(
    "value",
    [np.asfortranarray(np.arange(12.0).reshape(3, 4)), np.arange(24.0).reshape(3, 8)[:, ::2], np.arange(12.0)[::-1].reshape(3, 4)],
)
def test_values_of_every_layout(value: np.ndarray) -> None:
    for borrow in (False, True):
        w, g = theano.shared(value, borrow=borrow), T.dmatrix()
        f = theano.function([g], w.sum(), updates=[(w, 2 * w - g)])
        want = value.copy()
        for _ in range(3):
            assert f(np.ones((3, 4))) == pytest.approx(want.sum())
            want = 2 * want - 1
            np.testing.assert_array_equal(w.get_value(), want)


def test_a_read_only_value_is_copied() -> None:
    value = np.zeros(3)
    value.flags.writeable = False
    w = theano.shared(value, borrow=True)
    del value
    f = theano.function([], [], updates=[(w, w + 1)])
    f()
    f()
    assert w.get_value().tolist() == [2, 2, 2]


# -- all or nothing -------------------------------------------------------------------------------------------------


def failing() -> int:
    """Return a compiled kernel that fails before it writes."""
    source = 'int KERNEL(th_ctx *ctx) { return ctx->rt->fail(ctx, TH_ERR_VALUE, "on purpose"); }'
    kernel = Kernel("fails", source)
    return compile_kernels([kernel], ToolchainSettings.from_config(config), CacheSettings.from_config(config))[0]


def much(n: int = 6) -> Any:
    """Dense, sparse, product and counting updates in one function."""
    rng = np.random.default_rng(0)
    table, w, v = matrix(rng, (20, n), "table"), matrix(rng, (n, n), "w"), matrix(rng, (n, n), "v")
    count, other, vector = theano.shared(0, "count"), matrix(rng, (n, n), "other"), theano.shared(np.zeros(n), "vector")
    i = T.lvector("i")
    cost = (T.tanh(T.dot(table[i], w)) ** 2).sum()
    g_w, g_rows = T.grad(cost, w), T.dot(table[i], w)
    new_v = 0.9 * v - 0.1 * g_w
    updates = [
        (table, T.inc_subtensor(table[i], -0.1 * g_rows)),
        (v, new_v),
        (w, w + new_v),
        (count, count + 1),
        (other, v * 2),
        (vector, T.set_subtensor(vector[i[0]], cost)),
    ]
    return [i], [cost, w.sum()], updates


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "py"])
def test_a_failure_at_any_instruction_changes_nothing(mode: str) -> None:
    inputs, outputs, updates = much()
    f = theano.function(inputs, outputs, updates=updates, mode=theano.Mode("py", "fast_run") if mode == "py" else mode)
    shared = [v for v, _ in updates]
    f([1, 2])
    program = f.maker.lay_out(f.input_storage).description()
    assert mode != "FAST_RUN" or len(program["instructions"]) - program["commit_start"] >= 4
    address = failing()

    def fails(node: Any, inputs: Any, outputs: Any) -> None:
        raise RuntimeError("on purpose")

    for k, instruction in enumerate(program["instructions"]):
        ins, outs = instruction.inputs, instruction.outputs
        if instruction.kind == "c":
            broken: Any = KernelInstruction("c", address, None, ins, outs)
        else:
            broken = PerformInstruction("perform", fails, None, ins, outs)
        changed = [*program["instructions"]]
        changed[k] = broken
        g = NativeFunction(program | {"instructions": changed})
        before, arrays = [data(v).copy() for v in shared], [id(data(v)) for v in shared]
        for _ in range(2):
            with pytest.raises((ValueError, RuntimeError), match="on purpose"):
                g(np.array([3, 4]))
            for v, value in zip(shared, before, strict=True):
                np.testing.assert_array_equal(data(v), value, strict=True)
            assert [id(data(v)) for v in shared] == arrays
    good = NativeFunction(program)
    good(np.array([3, 4]))
    assert int(data(shared[3])) == 2


@pytest.mark.parametrize("bad", ["first", "second", "shape"])
def test_real_failures_change_nothing(bad: str) -> None:
    a, b, c = theano.shared(np.zeros((5, 2))), theano.shared(np.zeros((4, 2))), theano.shared(np.zeros((5, 2)))
    i, j, y = T.lvector(), T.lvector(), T.dmatrix()
    f = theano.function(
        [i, j, y],
        [],
        updates=[(a, T.inc_subtensor(a[i], 1.0)), (b, T.set_subtensor(b[j], 2.0)), (c, c + y)],
    )
    args = [np.array([0, 4]), np.array([0, 3]), np.ones((5, 2))]
    f(*args)
    before = [data(v).copy() for v in (a, b, c)]
    wrong = list(args)
    wrong[["first", "second", "shape"].index(bad)] = {"first": np.array([0, 5]), "second": np.array([1, -5])}.get(bad, np.ones((2, 2)))
    for _ in range(2):
        with pytest.raises((IndexError, ValueError)):
            f(*wrong)
        for v, value in zip((a, b, c), before, strict=True):
            np.testing.assert_array_equal(data(v), value)
    f(*args)
    assert data(a)[0, 0] == 2 and data(c)[0, 0] == 2


# -- calls within calls -----------------------------------------------------------------------------------------------


class CallBack(Op):
    """Returns its input, and calls a function meanwhile."""

    __props__ = ()

    def __init__(self, what: Any):
        self.what = what

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        self.what()
        outputs[0][0] = np.array(inputs[0])


def test_a_function_called_by_an_op_of_another() -> None:
    w, x = theano.shared(np.zeros(3)), T.dvector()
    inner = theano.function([], [], updates=[(w, w + 10)])
    seen: list[np.ndarray] = []

    def meanwhile() -> None:
        inner()
        seen.append(w.get_value())

    outer = theano.function([x], [], updates=[(w, w + CallBack(meanwhile)(x + w))])
    outer(np.ones(3))
    assert seen[0].tolist() == [10, 10, 10]
    assert w.get_value().tolist() == [1, 1, 1]  # from the value that was read when the call began


# -- pickles, copies, no growth -----------------------------------------------------------------------------------


def test_copies_and_pickles_update_in_place() -> None:
    import pickle

    inputs, outputs, updates = much()
    f = theano.function(inputs, outputs, updates=updates)
    w = updates[2][0]
    other = matrix(np.random.default_rng(3), (6, 6), "other w")
    start = other.get_value()
    g = f.copy(swap={w: other})
    before = w.get_value()
    g([1, 2])
    here = place(other)
    g([1, 2])
    np.testing.assert_array_equal(w.get_value(), before)
    assert place(other) == here and not np.array_equal(other.get_value(), start)
    h = pickle.loads(pickle.dumps(f))
    h([1])
    f([1])
    for mine, its in zip(f.get_shared(), h.get_shared(), strict=True):
        np.testing.assert_array_equal(mine.get_value(), its.get_value())
    assert f.copy(delete_updates=True)([1])[0] is not None


def resident_kb() -> int:
    gc.collect()
    memory_trim()
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("needs /proc")
    return int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmRSS:")))


def test_memory_does_not_grow() -> None:
    """A short form of tools/endurance.py."""
    inputs, outputs, updates = much(40)
    f = theano.function(inputs, outputs, updates=updates)
    for calls in (500, 5000):
        before = resident_kb()
        for k in range(calls):
            f([1, 2, 3])
            if k % 100 == 0:
                with pytest.raises(IndexError):
                    f([1, 20])
    assert resident_kb() - before < 300
    for cycles in (5, 20):
        before = resident_kb()
        for _ in range(cycles):
            inputs, outputs, updates = much(40)
            theano.function(inputs, outputs, updates=updates)([1, 2, 3])
    assert resident_kb() - before < 1500


def test_results_made_in_place_are_recycled() -> None:
    x, w = T.dmatrix(), T.dmatrix()
    f = theano.function([x, w], T.tanh(T.dot(x, w)))  # tanh works in the memory of the product
    a = np.ones((8, 8))
    y = f(a, a)
    assert y.base is None and y.flags.owndata
    places = {f(a, a).__array_interface__["data"][0] for _ in range(10)}
    assert len(places) <= 2
    keep = [f(a, k * a) for k in range(5)]
    for k, value in enumerate(keep):
        np.testing.assert_allclose(value, np.tanh(8.0 * k * np.ones((8, 8))))
