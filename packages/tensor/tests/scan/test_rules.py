"""What leaves a loop, what is one, and what is stored: the loop that is left, and the same values as without rules."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.graph.traverse import toposort
from theano.scan import until
from theano.scan.op import Scan
from theano.tensor.control.checks import CheckedShape

PLAIN = theano.Mode("cvm", "fast_run").excluding("scan")
x, z, n = T.dvector("x"), T.dscalar("z"), T.lscalar("n")
X, Y, W, U = T.dmatrices("X", "Y", "W", "U")
rng = np.random.default_rng(3)
VALUES = {
    x: rng.standard_normal(3), z: np.float64(0.7), n: np.int64(4), X: rng.standard_normal((4, 3)),
    Y: rng.standard_normal((4, 3)), W: rng.standard_normal((3, 3)), U: rng.standard_normal((3, 3)),
}  # fmt: skip


def specs(outputs):
    """Return the loops that are left, after a comparison of values with those that no rule of loops has seen."""
    inputs = list(VALUES)
    f, plain = (theano.function(inputs, outputs, mode=m, on_unused_input="ignore") for m in (None, PLAIN))
    arguments = [VALUES[v] for v in inputs]
    for a, b in zip(f(*arguments), plain(*arguments), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    return [node.op.spec for node in f.maker.fgraph.toposort() if isinstance(node.op, Scan)]


def ops(f):
    return [node.op for node in f.maker.fgraph.toposort()]


def test_unused_parts_go():
    (a, b, c), _ = theano.scan(
        lambda u, v, p, q, r, w: [p * u, q + v, p + r * w], [x, x**2], [z, z, z], [z * 2]
    )  # fmt: skip
    (spec,) = specs([a])
    assert (len(spec.sequences), len(spec.states), spec.fixed) == (1, 1, 0)
    (spec,) = specs([a, c])
    assert len(spec.states) == 2
    (spec,) = specs([b])
    assert len(spec.sequences) == 1 and len(spec.states) == 1


def test_unused_taps_go_and_the_depth_stays():
    a, _ = theano.scan(lambda p, q, r: q * 2.0, outputs_info={"initial": x, "taps": [-3, -2, -1]}, n_steps=n)
    (spec,) = specs([a])
    assert spec.states == ((-3, -2),)


def test_equal_inputs_and_results_are_one():
    (a, b, c), _ = theano.scan(
        lambda u, v, p, q, w, v2: [p * u + w, q * v + v2, u * v + p], [x, x], [z, z, None], [z, z]
    )
    (spec,) = specs([a, b, c])
    assert (len(spec.sequences), len(spec.states), spec.fixed) == (1, 1, 1)


def test_constants_are_known_inside():
    a, _ = theano.scan(lambda p, w: p * w, outputs_info=z, non_sequences=T.constant(2.5), n_steps=n)
    (spec,) = specs([a])
    assert spec.fixed == 0


def test_what_is_the_same_in_each_step_is_computed_once():
    a, _ = theano.scan(lambda u, p, w: p + u * T.exp(w).sum(), x, z, x)
    f = theano.function([x, z], a)
    (loop,) = [op for op in ops(f) if isinstance(op, Scan)]
    inside = toposort(loop.inner.outputs, loop.inner.inputs)
    assert T.exp not in [node.op for node in inside]
    g = T.grad(a.sum(), x)
    for spec in specs([g]):
        assert spec.fixed <= 3


@pytest.mark.parametrize(
    ("read", "keep"),
    [
        (lambda a: a[-1], 2), (lambda a: a[-2], 3), (lambda a: a[-3:], 4), (lambda a: a[-1] + a[-2], 3),
        (lambda a: a, None), (lambda a: a[0], None), (lambda a: a[::-1], None), (lambda a: a[-1] + a.sum(), None),
    ],
)  # fmt: skip
def test_only_what_is_read_is_stored(read, keep):
    a, _ = theano.scan(lambda p: T.sin(p) + 1, outputs_info=x, n_steps=n)
    (spec,) = specs([read(a)])
    assert spec.keep == (keep,)


def test_memory_does_not_depend_on_the_number_of_steps():
    a, _ = theano.scan(lambda p: p * 1.0000001, outputs_info=T.zeros((1000,)) + z, n_steps=n)
    f = theano.function([z, n], a[-1])
    spec = next(op.spec for op in ops(f) if isinstance(op, Scan))
    assert spec.keep == (2,)
    assert f(1.0, 200_000)[0] == pytest.approx(1.0000001**200_000)


def test_loops_of_equally_many_steps_are_one():
    a, _ = theano.scan(lambda u, p: p * u, x, z)
    b, _ = theano.scan(lambda u, p: p + u, x, z)
    c, _ = theano.scan(lambda u, p: p * u, x, z)
    (spec,) = specs([a, b, c])
    assert len(spec.states) == 2 and len(spec.sequences) == 1
    after, _ = theano.scan(lambda u, p: p - u, a, z)
    assert len(specs([after])) == 2
    other, _ = theano.scan(lambda u, p: p + u, x, z, n_steps=2)
    assert len(specs([a, other])) == 2


def test_loops_that_end_alike_are_one():
    a, _ = theano.scan(lambda u, p: (p * u, until(u > 0)), x, z)
    b, _ = theano.scan(lambda u, p: (p + u, until(u > 0)), x, z)
    c, _ = theano.scan(lambda u, p: (p + u, until(u > 1)), x, z)
    assert len(specs([a, b])) == 1 and len(specs([a, c])) == 2


def test_a_loop_of_one_step_inside_a_step_has_a_gradient():
    inner = [
        lambda y: theano.scan(lambda row, b: T.tanh(row + b), x, y, n_steps=1)[0][-1],
        lambda y: theano.scan(lambda b: T.tanh(x[0] + b), None, y, n_steps=1)[0].sum(),
        lambda y: theano.scan(lambda row, b: T.tanh(row + b), x[:1], y)[0][-1],
        lambda y: T.unbroadcast(T.tanh(x[0] + y).dimshuffle("x"), 0)[-1],
    ]
    costs = [theano.scan(step, None, z, n_steps=3)[0].sum() for step in inner]
    f = theano.function([x, z], [g for cost in costs for g in T.grad(cost, [x, z])])
    assert f.maker.rewriting.complete, f.maker.rewriting.stop
    first, y = 0.4, 0.7
    dy, total = np.array([0.0, 1.0]), np.zeros(2)  # by x[0], and by z
    for _ in range(3):
        y = np.tanh(first + y)
        dy = (1 - y * y) * (dy + np.eye(2)[0])
        total += dy
    found = f([first, 0.2], 0.7)
    for slopes, slope in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_allclose([*slopes, slope], [total[0], 0, total[1]], rtol=1e-12)


def test_products_of_sequences_leave():
    h, _ = theano.scan(lambda u, p, w, v: T.tanh(T.dot(u, w) + T.dot(p, v)), X, x, [W, U])
    f = theano.function([X, x, W, U], h)
    (loop,) = [op for op in ops(f) if isinstance(op, Scan)]
    inside = [str(node.op) for node in toposort(loop.inner.outputs, loop.inner.inputs)]
    assert inside.count("dot") == 1
    assert len(specs([h])) == 1


def test_products_of_results_leave():
    def step(u, p, w, v):
        state = T.tanh(u + T.dot(p, w))
        return [state, T.dot(state, v) * 2]

    (h, y), _ = theano.scan(step, X, [x, None], [W, U])
    (spec,) = specs([h, y])
    assert spec.mapped == 0


@pytest.mark.parametrize("taps", [(-1,), (-2, -1), (-3, -1)])
def test_products_of_what_states_were_before_leave(taps):
    def step(u, *rest):
        *past, w, v = rest
        state = T.tanh(u + past[0])
        return [state, T.dot(past[-1] - past[0], v), T.dot(past[0] + state, w)]

    first = x if taps == (-1,) else T.stack([x * k for k in range(-min(taps))])
    (h, y, s), _ = theano.scan(step, X, [{"initial": first, "taps": list(taps)}, None, None], [W, U])
    (spec,) = specs([h, y, s])
    assert spec.mapped == 0


def test_products_of_a_state_that_is_a_row_of_a_sequence_leave():
    (h, y), _ = theano.scan(lambda u, p, w: [u, T.dot(u + p, w)], X, [x, None], W)
    assert specs([h, y]) == []  # and then no step sees the past


def test_products_leave_a_loop_that_ends_early():
    def step(u, p, w):
        return [u + p, T.dot(p, w)], until(p.sum() > z)

    (h, y), _ = theano.scan(step, X, [x * 0, None], W)
    (spec,) = specs([h, y])
    assert spec.until and spec.mapped == 0


def test_a_product_that_the_next_step_needs_is_computed_once():
    def step(u, p, w):
        product = T.dot(p, w)
        return [T.tanh(u + product), product * 2]

    (h, y), _ = theano.scan(step, X, [x, None], W)
    (spec,) = specs([h, y])
    assert spec.mapped == 1


def test_maps_stay_loops_where_what_leaves_them_is_excluded():
    mode = theano.compile.get_default_mode().excluding("scanOp_pushout_seqs_ops")
    a, _ = theano.scan(lambda u: u + 1, x, n_steps=3)
    b, _ = theano.scan(lambda u: [u, u * 2], a, n_steps=3)
    c, _ = theano.scan(lambda u: u + 1, z * x, n_steps=3)
    f = theano.function([x, z], [*b, c], mode=mode)
    assert len([op for op in ops(f) if isinstance(op, Scan)]) == 2
    for found, expected in zip(f([1, 2, 3], 2), ([2, 3, 4], [4, 6, 8], [3, 5, 7]), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_sums_of_products_leave():
    def step(u, p, w, v, b):
        return T.tanh(T.dot(u, w) + T.dot(p, v) + b)

    for inputs, first in ((X, x), (X.reshape((4, 1, 3)), X[:1])):
        h, _ = theano.scan(step, inputs, first, [W, U, x])
        found = specs(T.grad((h**2).sum(), [W, U, x]))
        backward = found[-1]
        # What is left to carry: the adjoint of the state, and the sum for the vector.
        assert len(found) == 2 and backward.carried <= 2


def test_what_elements_of_something_fixed_get_is_added_up_before_it_is_written():
    """The gradient of `w[0] * x_t + w[1] * x_s` needs no loop; that of a part chosen by a row of a sequence stays one."""
    cost = theano.scan(lambda u, v, w: T.tanh(w[0] * u + w[1] * v), {"input": x, "taps": [-1, 0]}, None, x)[0].sum()
    assert specs([T.grad(cost, x), T.grad(cost * z, z)]) == []
    rows = T.cast(T.arange(3) % 2, "int64")
    chosen = theano.scan(lambda k, u, w: w[k] * u, [rows, x], None, x)[0].sum()
    assert len(specs([T.grad(chosen, x)])) == 1


def test_a_state_of_which_the_last_value_alone_is_read_may_be_a_sum():
    """Not where other values are read, nor where a step uses the past for something else."""
    for first, rows in ((z, Y[:, 0]), (x, Y)):
        sums = theano.scan(lambda u, s: s + T.exp(u) * z, [rows], first, n_steps=4)[0]
        assert specs([sums[-1]]) == []
        assert len(specs([sums[-2:]])) == len(specs([sums])) == 1
        assert len(specs([theano.scan(lambda u, s: s + u * s, [rows], first, n_steps=4)[0][-1]])) == 1
    # One row of zeros for each number: the loop needs less memory.
    assert len(specs([theano.scan(lambda u, s: s + T.exp(u), [Y[:, 0]], x, n_steps=4)[0][-1]])) == 0
    written = theano.scan(lambda u, s, w: s + T.inc_subtensor(T.zeros_like(w)[1:], u), [Y[:, 0]], x, W[0], n_steps=4)
    assert specs([written[0][-1]]) == []


def test_what_is_added_to_more_than_once_is_no_sum():
    kept = theano.shared(np.ones(3), "kept")
    for step, left in (
        (lambda u: {kept: kept + u}, 0), (lambda u: {kept: kept + u + u}, 0), (lambda u: {kept: kept + kept + u}, 1),
        (lambda u: {kept: T.add(u, kept, kept)}, 1), (lambda u: {kept: kept + u * kept}, 1), (lambda u: {kept: kept * u}, 1),
    ):  # fmt: skip
        _, updates = theano.scan(step, X)
        assert len(specs([updates[kept]])) == left


def test_a_loop_without_memory_is_a_map():
    a, _ = theano.scan(lambda u, w: T.exp(u) * w, X, None, x)
    assert specs([a]) == []
    assert specs([T.grad((a**2).sum(), x), T.grad((a**2).sum(), X)]) == []
    b, _ = theano.scan(lambda u, v, w: T.dot(u, w) + v, {"input": X, "taps": [-1, 1]}, None, W)
    assert specs([b, T.grad(b.sum(), W)]) == []
    rows, _ = theano.scan(lambda w: w * 2, None, None, x, n_steps=n)
    assert specs([rows]) == []


def test_maps_check_lengths_only_where_they_may_not_fit():
    fewer, _ = theano.scan(lambda u, v: u * v, [x, X])
    known, _ = theano.scan(lambda u, v: u * v * z, {"input": T.constant(np.arange(4.0)), "taps": [0, 1]}, n_steps=3)
    some, _ = theano.scan(lambda u: u * z, x, n_steps=n)
    checks = [
        sum(isinstance(op, CheckedShape) for op in ops(theano.function(list(VALUES), v, on_unused_input="ignore")))
        for v in (fewer, known, some)
    ]
    assert checks == [0, 0, 1]
    assert specs([fewer, known]) == []


def test_carried_values_that_stay_and_results_that_are_rows():
    kept = theano.shared(np.ones(3))
    (a, b), updates = theano.scan(lambda u, p: ([p * u + 1, u], {kept: kept}), X, [x, None])
    found = specs([a, b, updates[kept]])
    assert [(spec.mapped, spec.carried) for spec in found] == [(0, 0)]


def test_the_way_back_reads_what_products_made():
    def step(u, h, c, w, v):
        gates = T.dot(u, w) + T.dot(h, v)
        forget, new = T.nnet.sigmoid(gates[:2]), T.tanh(gates[1:])
        c = forget * c + new
        return T.tanh(c), c

    (h, c), _ = theano.scan(step, X, [x[:2], x[1:]], [W, U[:2]])
    cost = (h[-1] ** 2).sum()
    forward, backward = specs([cost, *T.grad(cost, [W, U])])
    assert (len(forward.states), forward.mapped, len(backward.states)) == (2, 2, 0)
    f = theano.function([X, x, W, U], T.grad(cost, [W, U]))
    last = [op for op in ops(f) if isinstance(op, Scan)][-1]
    inside = [str(node.op) for node in toposort(last.inner.outputs, last.inner.inputs)]
    assert inside.count("dot") == 1


@pytest.mark.parametrize("combine", [T.add, T.mul])
@pytest.mark.parametrize("first", ["zeros", "row"])
def test_sums_and_products_of_rows_so_far_are_cumulative(combine, first):
    begin = T.zeros(X.shape[1]) if first == "zeros" else x
    a, _ = theano.scan(lambda u, p: combine(p, u), X, begin)
    assert specs([a]) == []
    assert specs([a[1:], a[::2]]) == []
    sums = combine is T.add
    assert len(specs([theano.grad((a**2).sum(), X)])) == (not sums)
    # The adjoint that such a gradient ends with is the gradient of what the loop begins with.
    assert len(specs(theano.grad((a**2).sum(), [X, x], disconnected_inputs="ignore"))) == (not sums)
    # The last sum is a sum. What needs no memory for all rows, and what is one C function, stay loops.
    assert len(specs([a[-1]])) == (not sums)
    assert len(specs([theano.scan(lambda u, p: combine(p, u), x, z)[0]])) == 1
    assert len(specs([theano.scan(lambda u, p: combine(p, u) + u, X, begin)[0]])) == 1


def test_the_gradient_of_the_last_row_needs_no_stack_of_adjoints():
    a, _ = theano.scan(lambda u, p, w: T.tanh(T.dot(p, w) + u), X, x, W)
    costs = [(a[-1] ** 2).sum(), (a[-1] ** 2).sum() + (a**3).sum()]
    for cost, adjoints in zip(costs, (0, 1), strict=True):
        f = theano.function([X, x, W], theano.grad(cost, [X, x, W]))
        backward = [node for node in f.maker.fgraph.toposort() if isinstance(node.op, Scan)][-1]
        assert len(backward.op.spec.sequences) == 1 + adjoints
        specs(theano.grad(cost, [X, x, W]))


@pytest.mark.parametrize("taps, truncate", [([-1], -1), ([-3, -1], -1), ([-2], 2), ([-1], 1)])
def test_gradients_of_the_last_row(taps, truncate):
    first = {"initial": X[0] if taps == [-1] else X[: -min(taps)], "taps": taps}
    a, _ = theano.scan(lambda u, *past: T.tanh(sum(past[:-1]) * u + 1), Y, first, Y[0], truncate_gradient=truncate)
    last = theano.grad((a[-1] ** 2).sum(), [X, Y])
    # The same, written so that nobody sees that it is the last row.
    spread = theano.grad((a**2 * T.eq(T.arange(a.shape[0]), a.shape[0] - 1).dimshuffle(0, "x")).sum(), [X, Y])
    f = theano.function([X, Y], [*last, *spread])
    found = f(VALUES[X], VALUES[Y])
    for one, other in zip(found[:2], found[2:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_the_gradient_of_a_sequence_of_all_steps_is_no_copy():
    a, _ = theano.scan(lambda u, p, w: T.tanh(T.dot(p, w) + u), X, x, W)
    f = theano.function([X, x, W], theano.grad((a**2).sum(), X))
    assert not any("IncSubtensor" in type(op).__name__ for op in ops(f))
