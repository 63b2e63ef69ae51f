"""Lazy choice: what it computes, and what it does not."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from portion import portion
from theano.compile.debugmode import DebugMode
from theano.gradient import verify_grad
from theano.graph import Apply, Op
from theano.ifelse import IfElse, ifelse
from theano.raise_op import Raise
from theano.tensor.kernels.common import DTYPE_CODES

LAZY = ["py", "c|py", "vm", "cvm", "vm_nogc", "cvm_nogc"]


class Counted(Op):
    """Twice its input, and says how often; its gradient is counted as well."""

    __props__ = ("key",)
    runs: dict[str, int] = {}

    def __init__(self, key):
        self.key = key

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.runs[self.key] = self.runs.get(self.key, 0) + 1
        output_storage[0][0] = inputs[0] * 2

    def infer_shape(self, node, shapes):
        return shapes

    def grad(self, inputs, output_grads):
        return [output_grads[0] * Counted(self.key + "'")(T.ones_like(inputs[0]))]


@pytest.fixture(autouse=True)
def runs():
    Counted.runs = {}
    return Counted.runs


def counted(runs, f, *args):
    Counted.runs.clear()
    value = f(*args)
    return value, dict(runs)


# -- what is computed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", [None, "fast_compile", "fast_run"])
@pytest.mark.parametrize("linker", LAZY)
def test_the_branch_not_taken_is_not_computed(runs, linker, optimizer):
    c, x = T.bscalar("c"), T.dvector("x")
    z = ifelse(c, Counted("a")(x + 1), T.exp(Counted("b")(x * 3)))
    f = theano.function([c, x], z, mode=theano.Mode(linker, optimizer))
    for _ in range(3):
        value, seen = counted(runs, f, 1, [1.0, 2.0])
        np.testing.assert_array_equal(value, [4.0, 6.0])
        assert seen == {"a": 1}
        value, seen = counted(runs, f, 0, [1.0, 2.0])
        np.testing.assert_allclose(value, np.exp([6.0, 12.0]))
        assert seen == {"b": 1}


@pytest.mark.parametrize("linker", ["py", "cvm"])
def test_a_shared_part_is_computed_once_and_a_condition_before_all(runs, linker):
    x = T.dvector("x")
    both = Counted("both")(x)
    z = ifelse(T.lt(Counted("condition")(x).sum(), 0), Counted("a")(both), T.exp(both) + both)
    f = theano.function([x], z, mode=theano.Mode(linker, "fast_run"))
    value, seen = counted(runs, f, [1.0])
    np.testing.assert_allclose(value, [np.exp(2.0) + 2])
    assert seen == {"condition": 1, "both": 1}


@pytest.mark.parametrize("linker", LAZY)
def test_a_chain_of_a_hundred_costs_as_much_as_its_way(runs, linker):
    x = T.dscalar("x")
    z = x
    for k in range(100):
        z = ifelse(T.lt(z, 1e9), z + 1, Counted(f"never {k}")(z) + z)
    f = theano.function([x], z, mode=theano.Mode(linker, "fast_run"))
    value, seen = counted(runs, f, 0.0)
    assert value == 100 and not seen


@pytest.mark.parametrize("linker", ["py", "cvm"])
def test_a_hundred_choices_inside_each_other_compute_one_leaf(runs, linker):
    x, n = T.dscalar("x"), T.lscalar("n")
    z = Counted("last")(x)
    for k in reversed(range(100)):
        z = ifelse(T.eq(n, k), Counted(f"{k}")(x), z)
    f = theano.function([n, x], z, mode=theano.Mode(linker, "fast_run"))
    assert counted(runs, f, 37, 2.0) == (4.0, {"37": 1})
    assert counted(runs, f, 1000, 2.0) == (4.0, {"last": 1})


def test_choices_that_share_both_branches_are_linear_not_exponential(runs):
    """2 ** 100 ways lead through this graph."""
    c, x = T.bscalar("c"), T.dscalar("x")
    z = x
    for k in range(100):
        z = ifelse(T.lt(z, k), Counted(f"a{k}")(z), Counted(f"b{k}")(z) - z + 1)
    f = theano.function([c, x], z, on_unused_input="ignore")
    _, seen = counted(runs, f, 1, 0.0)
    assert sum(seen.values()) == 100 and set(seen.values()) == {1}


def test_the_instruction_is_native(runs):
    c, x = T.bscalar("c"), T.dvector("x")
    f = theano.function([c, x], ifelse(c, T.exp(x), T.log(x)), mode="FAST_RUN")
    g = pickle.loads(pickle.dumps(f))
    for h in (f, g):
        np.testing.assert_allclose(h(1, [1.0]), [np.e])
    program = f.maker.linked
    kinds = {str(n.op): type(how).__name__ for n, how in zip(program.nodes, program.how, strict=True)}
    assert kinds["if{inplace}"] == "Compiled" and program.lazy


def test_fusion_does_not_drag_a_branch_out():
    """What fails in the branch that is not taken does not fail; what is heavy there is not fused with the other."""
    c, x = T.bscalar("c"), T.dvector("x")
    z = ifelse(c, T.exp(T.sin(x) * 2), T.log(T.sin(x) * 3) + Raise("taken", KeyError)(x))
    f = theano.function([c, x], z, mode="FAST_RUN")
    np.testing.assert_allclose(f(1, [1.0]), np.exp(np.sin([1.0]) * 2))
    with pytest.raises(KeyError, match="taken"):
        f(0, [1.0])
    for node in f.maker.fgraph.toposort():
        assert len(node.outputs) == 1 or isinstance(node.op, IfElse)


def test_nothing_works_in_place_where_that_would_force_the_other_branch(runs):
    c, x = T.bscalar("c"), T.dvector("x")
    v = T.exp(x)
    z = ifelse(c, Counted("reader")(v), T.sqrt(v))
    f = theano.function([c, x], z, mode="FAST_RUN")
    assert counted(runs, f, 0, [2.0])[1] == {}
    assert counted(runs, f, 1, [2.0])[1] == {"reader": 1}


@pytest.mark.parametrize("linker", ["py", "cvm"])
def test_updates_are_lazy(runs, linker):
    c = T.bscalar("c")
    s, other = theano.shared(np.ones(3), "s"), theano.shared(np.zeros(3), "other")
    f = theano.function(
        [c], [], updates=[(s, ifelse(c, Counted("step")(s), s)), (other, ifelse(c, other, other + s))],
        mode=theano.Mode(linker, "fast_run"),
    )  # fmt: skip
    assert counted(runs, f, 0)[1] == {}
    np.testing.assert_array_equal(s.get_value(), np.ones(3))
    np.testing.assert_array_equal(other.get_value(), np.ones(3))
    assert counted(runs, f, 1)[1] == {"step": 1}
    np.testing.assert_array_equal(s.get_value(), 2 * np.ones(3))
    np.testing.assert_array_equal(other.get_value(), np.ones(3))


def test_only_the_outputs_that_are_read_are_computed(runs):
    c, x = T.bscalar("c"), T.dvector("x")
    a, _ = ifelse(c, [x, Counted("unread")(x)], [x + 1, Counted("unread too")(x)])
    f = theano.function([c, x], a)
    assert counted(runs, f, 1, [1.0])[1] == {} == counted(runs, f, 0, [1.0])[1]


def test_the_flag_that_switches_demand_off(runs):
    c, x = T.bscalar("c"), T.dvector("x")
    with theano.config.change_flags(**{"vm.lazy": False}):
        f = theano.function([c, x], ifelse(c, Counted("a")(x), Counted("b")(x)), mode="FAST_RUN")
    value, seen = counted(runs, f, 1, [1.0])
    assert seen == {"a": 1, "b": 1} and value == [2.0]


# -- values --------------------------------------------------------------------------------------------------------


def layouts():
    base = np.arange(24.0).reshape(4, 6)
    yield from (base, base.T, base[::-1, ::2], np.asfortranarray(base), np.broadcast_to(base[:1], (3, 6)), base[:0])
    yield np.frombuffer(b"\0" + base.tobytes(), "uint8")[1:].view("float64").reshape(4, 6)


@pytest.mark.parametrize("as_view", [False, True])
@pytest.mark.parametrize("condition", [0, 1])
def test_c_against_perform_in_every_layout(as_view, condition):
    c, x, y = T.bscalar("c"), T.dmatrix("x"), T.dmatrix("y")
    out = IfElse(2, as_view=as_view)(c, x, y, y, x)
    fast, slow = (theano.function([c, x, y], out, mode=theano.Mode(linker, None)) for linker in ("c", "py"))
    for data in layouts():
        for a, b in zip(fast(condition, data, data + 1), slow(condition, data, data + 1), strict=True):
            np.testing.assert_array_equal(a, b)
            assert not np.shares_memory(a, data)
        np.testing.assert_array_equal(fast(condition, data, data + 1)[0], data if condition else data + 1)


@pytest.mark.parametrize("dtype", sorted(DTYPE_CODES))
def test_what_is_true_of_each_dtype(dtype):
    c = T.TensorType(dtype, ())("c")
    x = T.TensorType(dtype, (False,))("x")
    f = [theano.function([c, x], ifelse(c, x, x[::-1]), mode=theano.Mode(m, None)) for m in ("py", "cvm")]
    values = [0, 1]
    if dtype.startswith(("float", "complex")):
        values += [-0.0, np.nan, np.inf, 6e-8, -1]
    if dtype.startswith("complex"):
        values += [1j, complex(0.0, -0.0)]
    data = np.array([0, 1], dtype)
    for value in np.array(values, dtype):
        expected = data if value else data[::-1]
        for g in f:
            np.testing.assert_array_equal(g(value, data), expected)


def test_zero_dimensional_and_several_values():
    c, x, n = T.dscalar("c"), T.dscalar("x"), T.lvector("n")
    got = ifelse(c, (x, n), (x * 2, n[:1]))
    assert isinstance(got, tuple)
    f = theano.function([c, x, n], list(got))
    for condition, want in ((0.5, (3.0, [1, 2])), (0.0, (6.0, [1]))):
        a, b = f(condition, 3.0, [1, 2])
        assert a == want[0] and b.tolist() == want[1]
    assert isinstance(ifelse(c, [x], [x + 1]), list) and isinstance(ifelse(c, x, x + 1), T.TensorVariable)


def test_values_that_are_no_tensors():
    from theano.graph import generic

    c, x, y = T.bscalar("c"), generic("x"), generic("y")
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        f = theano.function([c, x, y], ifelse(c, x, y), mode=mode)
        assert f(1, "left", [2]) == "left" and f(0, "left", [2]) == [2]


def test_in_debug_mode():
    c, x = T.bscalar("c"), T.dmatrix("x")
    z = ifelse(c, [T.exp(x) * 2, x.T], [T.sqrt(x), x.T + 1])
    f = theano.function([c, x], [z[0].sum(), z[1] * 2, T.grad(z[0].sum(), x)], mode=DebugMode())
    data = np.arange(1.0, 7).reshape(2, 3)
    np.testing.assert_allclose(f(1, data)[2], 2 * np.exp(data))
    np.testing.assert_allclose(f(0, data)[2], 0.5 / np.sqrt(data))


def test_in_debug_mode_what_fails_in_the_other_branch_does_not():
    c, x = T.bscalar("c"), T.dvector("x")
    f = theano.function([c, x], T.exp(ifelse(c, x, Raise("taken", KeyError)(x))), mode=DebugMode())
    np.testing.assert_allclose(f(1, [1.0]), [np.e])
    with pytest.raises(KeyError, match="taken"):
        f(0, [1.0])


@pytest.mark.parametrize("seed", portion(range(40), always=0))
def test_random_graphs_of_choices(seed):
    """Values and gradients against the graph as written, run in Python; as often as everything can be overwritten."""
    rng = np.random.default_rng(seed)
    conditions, x, y = [T.bscalar(f"c{k}") for k in range(3)], T.dvector("x"), T.dvector("y")
    pool = [x, y, T.zeros_like(x)]
    for _ in range(12):
        a, b = (pool[i] for i in rng.integers(len(pool), size=2))
        # The margin: sums of the same numbers in another order are not a tie that both must break alike.
        kind, c = rng.integers(7), conditions[rng.integers(3)]
        made = [
            lambda a=a, b=b: [a + b], lambda a=a, b=b: [a * b], lambda a=a: [T.sin(a)], lambda a=a: [a[::-1]],
            lambda a=a, b=b, c=c: [ifelse(c, a, b)], lambda a=a, b=b, c=c: ifelse(c, [a, b], [T.cos(b), a]),
            lambda a=a, b=b, c=c: [ifelse(T.lt(a.sum(), b.sum() + 0.1), T.tanh(a), b)],
        ][kind]()  # fmt: skip
        pool += made
    outputs = [pool[-1], pool[-2], *T.grad((pool[-1] * pool[-2]).sum() + 0 * (x + y).sum(), [x, y])]
    inputs = [*conditions, x, y]
    fast = theano.function(inputs, outputs, mode="FAST_RUN", on_unused_input="ignore")
    slow = theano.function(inputs, outputs, mode=theano.Mode("py", None), on_unused_input="ignore")
    for bits in range(8):
        values = [*(bits >> k & 1 for k in range(3)), rng.normal(size=3), rng.normal(size=3)]
        for one, other in zip(fast(*values), slow(*values), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_shared_values_are_not_handed_out():
    c, s = T.bscalar("c"), theano.shared(np.ones(3))
    f = theano.function([c], ifelse(c, s, s * 2), mode="FAST_RUN")
    f(1)[:] = 7
    np.testing.assert_array_equal(s.get_value(), np.ones(3))


def test_pickled_graphs_and_functions():
    c, x = T.bscalar("c"), T.dvector("x")
    z = pickle.loads(pickle.dumps(ifelse(c, x, x * 2, name="pick")))
    assert str(z.owner.op) == "if{pick}" and z.owner.op == IfElse(1) and hash(z.owner.op) == hash(IfElse(1))
    c, x = z.owner.inputs[:2]
    np.testing.assert_array_equal(theano.function([c, x], z)(0, [1.0]), [2.0])


# -- types ---------------------------------------------------------------------------------------------------------


def test_numbers_take_the_type_of_the_other_branch():
    c, x = T.bscalar("c"), T.fscalar("x")
    assert ifelse(c, x, 0).type == x.type == ifelse(c, 0.1, x).type
    assert ifelse(c, 0, 1.5).type.dtype.startswith("float")
    assert ifelse(c, np.float32(1), x).type == x.type
    with pytest.raises(TypeError, match="same type"):
        ifelse(c, T.lscalar(), 0.5)


def test_patterns_that_differ_become_the_wider_one():
    c = T.bscalar("c")
    z = ifelse(c, T.drow("r"), T.dcol("s"))
    assert z.type == T.dmatrix
    f = theano.function([c, *z.owner.inputs[1].owner.inputs, *z.owner.inputs[2].owner.inputs], z)
    assert f(1, np.ones((1, 3)), np.ones((2, 1))).shape == (1, 3)
    assert f(0, np.ones((1, 3)), np.ones((2, 1))).shape == (2, 1)


@pytest.mark.parametrize(
    "branches, error, words",
    [
        ((T.dvector(), T.dmatrix()), TypeError, "value 0 is"),
        ((T.dvector(), T.fvector()), TypeError, "theano.tensor.cast"),
        (([T.dvector()], [T.dvector(), T.dvector()]), ValueError, "got 1 and 2"),
        ((T.dvector(), [T.dvector(), T.dvector()]), ValueError, "got 1 and 2"),
    ],
)
def test_branches_that_do_not_fit(branches, error, words):
    with pytest.raises(error, match=words):
        ifelse(T.bscalar("c"), *branches)


def test_a_condition_with_dimensions_is_refused():
    with pytest.raises(TypeError, match="theano.tensor.switch"):
        ifelse(T.bvector("c"), T.dvector(), T.dvector())
    with pytest.raises(ValueError, match="takes a condition and 4 values, got 3"):
        IfElse(2)(T.bscalar(), *T.dvectors(3))


# -- derivatives -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", ["fast_compile", "fast_run"])
@pytest.mark.parametrize("linker", ["py", "cvm"])
def test_gradients_walk_back_through_one_branch(runs, linker, optimizer):
    c, x = T.bscalar("c"), T.dvector("x")
    z = ifelse(c, T.sin(Counted("a")(x)), Counted("b")(x) ** 2)
    f = theano.function([c, x], T.grad(T.sum(z * 3), x), mode=theano.Mode(linker, optimizer))
    value, seen = counted(runs, f, 1, [1.0, 2.0])
    np.testing.assert_allclose(value, 6 * np.cos([2.0, 4.0]))
    assert set(seen) <= {"a", "a'"} and "a'" in seen
    value, seen = counted(runs, f, 0, [1.0, 2.0])
    np.testing.assert_allclose(value, [24.0, 48.0])
    assert set(seen) <= {"b", "b'"} and "b'" in seen


@pytest.mark.parametrize("condition", [0, 1])
def test_gradients_of_values_of_which_one_branch_reads_one(runs, condition):
    c, x, w = T.bscalar("c"), T.dmatrix("x"), T.dmatrix("w")
    cost = ifelse(c, T.dot(Counted("a")(x), w).sum(), T.exp(Counted("b")(x)[0]).sum())
    f = theano.function([c, x, w], T.grad(cost, [x, w]))
    data, weights = np.random.default_rng(1).normal(size=(2, 3)), np.ones((3, 2))
    (dx, dw), seen = counted(runs, f, condition, data, weights)
    assert not any(k.startswith("b" if condition else "a") for k in seen)
    want = np.full((2, 3), 4.0) if condition else np.vstack([2 * np.exp(2 * data[0]), np.zeros(3)])
    np.testing.assert_allclose(dx, want)
    np.testing.assert_allclose(dw, np.repeat(2 * data.sum(0)[:, None], 2, 1) if condition else np.zeros((3, 2)))


def nested(number):
    """As many choices inside each other; the condition of each is counted."""
    x, n = T.dscalar("x"), T.lscalar("n")
    z = Counted("last")(x) ** 2
    for k in reversed(range(number)):
        z = ifelse(T.eq(Counted(f"condition {k}")(n), 2 * k), Counted(f"{k}")(x) ** 2, z)
    return theano.function([n, x], T.grad(z, x))


def test_gradients_of_choices_inside_each_other(runs):
    f = nested(24)
    value, seen = counted(runs, f, 7, 3.0)
    assert value == 24.0 and {k for k in seen if not k.startswith("condition")} <= {"7", "7'"}
    assert {k for k in seen if k.startswith("condition")} == {f"condition {k}" for k in range(8)}
    assert set(seen.values()) == {1}
    assert counted(runs, f, -1, 3.0)[0] == 24.0
    small, middle, large = (len(nested(k).maker.fgraph.apply_nodes) for k in (8, 16, 24))
    assert large - middle == middle - small, "a graph that grows by a line for each choice"


def test_zeros_of_other_lengths_stay_what_they_are():
    a, b, x = T.bscalar("a"), T.bscalar("b"), T.dvector("x")
    z = ifelse(a, ifelse(b, x, T.zeros((2,))), T.zeros((5,)))
    f = theano.function([a, b, x], z)
    assert [len(f(*c, [1.0, 2.0, 3.0])) for c in ((1, 1), (1, 0), (0, 1), (0, 0))] == [3, 2, 5, 5]


@pytest.mark.parametrize("condition", [0.0, 1.0])
def test_gradients_against_finite_differences(condition):
    rng = np.random.default_rng(2)
    verify_grad(lambda x, y: ifelse(condition, T.sin(x) * y, T.exp(x) + y), [rng.normal(size=3), rng.normal(size=3)],
                rng=rng)  # fmt: skip
    verify_grad(lambda x, y: sum(ifelse(T.gt(x[0], condition), [x * y, y], [y, x ** 3])),
                [rng.normal(size=3) + 3, rng.normal(size=3)], rng=rng)  # fmt: skip


def test_nan_in_the_other_branch_stays_there():
    x = T.dscalar("x")
    f = theano.function([x], T.grad(ifelse(T.gt(x, 0), T.sqrt(x), x * 2), x))
    assert f(4.0) == 0.25 and f(0.0) == 2.0 and f(-1.0) == 2.0


def test_gradient_of_the_condition_and_the_second_derivative():
    x = T.dscalar("x")
    z = ifelse(x, x**3, x)
    first = T.grad(z, x)
    f = theano.function([x], [first, T.grad(first, x)])
    assert [float(v) for v in f(2.0)] == [12.0, 12.0]
    assert [float(v) for v in f(0.0)] == [1.0, 0.0]


@pytest.mark.parametrize("condition", [0, 1])
def test_r_operator(condition):
    x, v, c = T.dvector("x"), T.dvector("v"), T.bscalar("c")
    z = ifelse(c, T.sin(x), x**2)
    f = theano.function([c, x, v], T.Rop(z, x, v))
    x0, v0 = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    np.testing.assert_allclose(f(condition, x0, v0), (np.cos(x0) if condition else 2 * x0) * v0)


@pytest.mark.parametrize("condition", [0, 1])
def test_shapes_are_known_without_computing(runs, condition):
    c, x = T.bscalar("c"), T.dmatrix("x")
    f = theano.function([c, x], ifelse(c, Counted("a")(x), Counted("b")(x[1:])).shape)
    value, seen = counted(runs, f, condition, np.ones((3, 2)))
    assert value.tolist() == [3 - (not condition), 2] and seen == {}


# -- rules -----------------------------------------------------------------------------------------------------------


def choices(f):
    return [node for node in f.maker.fgraph.toposort() if isinstance(node.op, IfElse)]


def test_choices_that_are_made_already_are_gone():
    c, x, y = T.bscalar("c"), T.dvector("x"), T.dvector("y")
    assert not choices(theano.function([x, y], ifelse(1, x, y), on_unused_input="ignore"))
    assert not choices(theano.function([c, x], ifelse(c, x, x), on_unused_input="ignore"))
    a, b = ifelse(c, [x, x], [x, y])
    (left,) = choices(theano.function([c, x, y], [a * 2, b]))
    assert left.op.n_outs == 1


def test_a_choice_in_a_choice_by_the_same_condition():
    c, x, y = T.bscalar("c"), T.dvector("x"), T.dvector("y")
    f = theano.function([c, x, y], ifelse(c, ifelse(c, x, T.exp(y)), ifelse(c, T.log(y), y)))
    (node,) = choices(f)
    assert node.inputs == list(f.maker.fgraph.inputs) and len(f.maker.fgraph.apply_nodes) <= 2
    np.testing.assert_array_equal(f(1, [1.0], [2.0]), [1.0])
    np.testing.assert_array_equal(f(0, [1.0], [2.0]), [2.0])


def test_views_where_nobody_overwrites_them():
    c, x = T.bscalar("c"), T.dvector("x")
    f = theano.function([c, x], ifelse(c, T.exp(x), T.sin(x)), mode="FAST_RUN")
    assert [n.op.as_view for n in choices(f)] == [True]
    mode = theano.compile.get_mode("FAST_RUN").excluding("cond_make_inplace")
    assert [n.op.as_view for n in choices(theano.function([c, x], ifelse(c, T.exp(x), T.sin(x)), mode=mode))] == [False]
    assert IfElse(2, as_view=True).view_map == {0: [1, 3], 1: [2, 4]} and str(IfElse(1, True, name="n")) == "if{n,inplace}"


# -- failing on purpose ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_raise(mode):
    x = T.dvector("x")
    f = theano.function([x], Raise("not yet")(x), mode=mode)
    with pytest.raises(NotImplementedError, match="not yet"):
        f([1.0])
    assert Raise("a") == Raise("a") != Raise("a", ValueError) and str(Raise("a")) == "Raise{NotImplementedError('a')}"
    with pytest.raises(TypeError, match="class of exceptions"):
        Raise("a", "ValueError")
    theano.function([], Raise("constants wait, too")(1.0), mode=mode)
