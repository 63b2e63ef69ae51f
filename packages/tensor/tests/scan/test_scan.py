"""What theano.scan is called with, what a step may return, and what is refused."""

import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.errors import DisconnectedInputError, NullTypeGradError
from theano.gradient import undefined_grad, verify_grad
from theano.graph.traverse import ancestors, toposort
from theano.ifelse import ifelse
from theano.scan import until
from theano.scan.op import Scan
from theano.updates import OrderedUpdates

x, X, n, z = T.dvector("x"), T.dmatrix("X"), T.lscalar("n"), T.dscalar("z")
rng = np.random.default_rng(5)


def scans(f):
    return [node for node in f.maker.fgraph.toposort() if isinstance(node.op, Scan)]


# -- names ------------------------------------------------------------------------------------------------------------


def test_the_module_can_be_called():
    from theano import scan
    from theano.scan import foldl, foldr, map, reduce, scan_checkpoints  # noqa: F401
    from theano.scan_module import until as old_until

    assert theano.scan_module.scan is theano.scan.scan
    assert scan is theano.scan and old_until is until
    assert theano.scan.scan(lambda a: a, x)[0].type == scan(lambda a: a, x)[0].type
    assert theano.foldl is foldl and theano.reduce is reduce


# -- what a step sees ---------------------------------------------------------------------------------------------------


def test_the_op_shows_the_graph_of_its_step():
    a = T.dscalar("a")
    rows, _ = theano.scan(lambda x_t, past, a: a * past + x_t, x, T.as_tensor_variable(np.float64(0)), a)
    op = next(node.op for node in toposort([rows]) if isinstance(node.op, Scan))
    step = theano.function(op.inputs, op.outputs)
    assert len(op.inputs) == 3 and step(*[2.0] * 3) == [6.0]


def test_arguments_come_in_the_documented_order():
    seen = []

    def step(*arguments):
        seen.extend(arguments)
        return arguments[0], arguments[4], arguments[3] + 1

    a, b, c = T.dvectors("abc")
    initial = T.dvector("initial")
    theano.scan(
        step,
        sequences=[{"input": a, "taps": [-3, 2]}, b, {"input": c, "taps": 3}],
        outputs_info=[{"initial": initial, "taps": [-3, -5]}, None, z],
        non_sequences=[X, 2.0],
    )
    assert [str(v) for v in seen[:7]] == [
        "a[t-3]",
        "a[t+2]",
        "b[t]",
        "c[t+3]",
        "initial[t-3]",
        "initial[t-5]",
        "z[t-1]",
    ]
    assert seen[7] is X and seen[8].data == 2.0 and len(seen) == 9


@pytest.mark.parametrize("taps", [[0], [1], [-1], [-2, 1], [2, -2, 0], [1, 3]])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("steps", [None, 2])
def test_taps_of_sequences(taps, backwards, steps):
    values = np.arange(8.0)
    result, _ = theano.scan(
        lambda *rows: sum(row * 10**k for k, row in enumerate(rows)), {"input": x, "taps": taps}, n_steps=steps,
        go_backwards=backwards,
    )  # fmt: skip
    first, last = -min(0, *taps), 8 - max(0, *taps)
    wanted = [sum(values[t + k] * 10**i for i, k in enumerate(taps)) for t in range(first, last)]
    wanted = wanted[::-1] if backwards else wanted
    np.testing.assert_array_equal(result.eval({x: values}), wanted[:steps])


def test_the_shortest_sequence_counts():
    result, _ = theano.scan(lambda a, b: a + b.sum(), [x, X])
    f = theano.function([x, X], result)
    assert len(f(np.ones(3), np.ones((5, 2)))) == 3 and len(f(np.ones(7), np.ones((5, 2)))) == 5


@pytest.mark.parametrize("steps", [0, 1, 2, "n"])
def test_number_of_steps(steps):
    result, _ = theano.scan(lambda p: p * 2, outputs_info=z, n_steps=n if steps == "n" else steps)
    f = theano.function([z, n], result, on_unused_input="ignore")
    for count in (0, 1, 5) if steps == "n" else (steps,):
        np.testing.assert_array_equal(f(3.0, count), 3.0 * 2.0 ** np.arange(1, count + 1))
    assert len(scans(f)) == (steps not in (1,))


def test_no_steps_at_all():
    f = theano.function([X, z, n], theano.scan(lambda row, p: [row[:2] * p, p + row.sum()], X, [None, z], n_steps=n)[0])
    assert [v.shape for v in f(np.zeros((4, 3)), 1.0, 0)] == [(0, 2), (0,)]


# -- what a step returns -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        lambda y, u, c: (y, u, c), lambda y, u, c: (u, y, c), lambda y, u, c: ([y], u, c), lambda y, u, c: ([y], list(u.items()), c),
        lambda y, u, c: (list(u.items()), [y], c), lambda y, u, c: [[y], u, c], lambda y, u, c: ([y], OrderedUpdates(u), c),
    ],
)  # fmt: skip
def test_forms_of_what_is_returned(form):
    count = theano.shared(0, name="count")
    result, updates = theano.scan(
        lambda a, p: form(p + a, {count: count + 1}, until(a > 3)), x, outputs_info=T.zeros(()), return_list=True
    )
    assert isinstance(result, list) and isinstance(updates, OrderedUpdates)
    f = theano.function([x], result, updates=updates)
    np.testing.assert_array_equal(f([1, 2, 5, 7])[0], [1, 3, 8])
    assert count.get_value() == 3


def test_updates_alone_and_nothing():
    count = theano.shared(np.int64(1))
    nothing, updates = theano.scan(lambda: {count: count * 2}, n_steps=n)
    assert nothing is None
    theano.function([n], [], updates=updates)(5)
    assert count.get_value() == 32
    assert theano.scan(lambda a: [], x) == (None, OrderedUpdates())


def test_updates_of_any_shape_and_by_default():
    grows = theano.shared(np.zeros(1), name="grows")
    _, updates = theano.scan(lambda a: {grows: T.concatenate([grows, T.stack([a])])}, x)
    theano.function([x], [], updates=updates)([1, 2])
    np.testing.assert_array_equal(grows.get_value(), [0, 1, 2])
    counter = theano.shared(0)
    counter.default_update = counter + 1
    result, updates = theano.scan(lambda a: a + counter, x)
    f = theano.function([x], result, updates=updates)
    np.testing.assert_array_equal(f([0, 0, 0]), [0, 1, 2])
    np.testing.assert_array_equal(f([0]), [3])


def test_results_that_are_inputs_or_constants():
    results, _ = theano.scan(lambda a, p, w: [a, p, w, T.constant(2.0)], x, [None] * 4, [z, X])
    values = theano.function([x, z, X], results)([1.0, 2], 5.0, np.ones((1, 2)))
    for value, wanted in zip(values, ([1, 2], [5, 5], np.ones((2, 1, 2)), [2, 2])):
        np.testing.assert_array_equal(value, wanted)


def test_states_that_only_pass_on():
    (a, b), _ = theano.scan(lambda a2, a1, b2, b1: [a1, b1], outputs_info=[
        {"initial": x, "taps": [-2, -1]}, {"initial": x * 2, "taps": [-2, -1]}], n_steps=3)  # fmt: skip
    np.testing.assert_array_equal(theano.function([x], a)([1, 2]), [2, 2, 2])
    np.testing.assert_array_equal(T.grad(a[-1] + b[0], x).eval({x: [1, 2]}), [0, 3])


def test_numbers_begin_in_the_dtype_of_results():
    result, _ = theano.scan(lambda a, p: p + a, x, outputs_info=0)
    assert result.dtype == "float64"
    result, _ = theano.scan(lambda a, p: p + a, x, outputs_info=np.float32(0.5))
    np.testing.assert_array_equal(result.eval({x: [1, 2]}), [1.5, 3.5])


def test_a_first_value_known_to_be_of_length_one():
    rows, _ = theano.scan(lambda a, p: a + p, T.dtensor3("t"), outputs_info=T.constant(np.zeros((1, 3))))
    assert rows.broadcastable == (False, False, False)


# -- loops inside other things, and other things inside loops ------------------------------------------------------------


def test_loops_inside_loops_inside_a_choice():
    def table(A, w):
        def row(a, p):
            inner, _ = theano.scan(lambda e, q: T.tanh(e * w + q), a, outputs_info=p)
            return inner[-1]

        return theano.scan(row, A, outputs_info=T.zeros(()))[0]

    def cost(A, w):
        return ifelse(w > 0, (table(A, w) ** 2).sum(), w)

    for w in (0.7, -0.7):
        verify_grad(cost, [rng.standard_normal((2, 3)), w], rng=np.random.RandomState(0))
        verify_grad(lambda A, v: T.grad(cost(A, v), v), [rng.standard_normal((2, 3)), w], rng=np.random.RandomState(0))


def test_lazy_choices_in_a_step():
    result, _ = theano.scan(lambda a, p: ifelse(a > 0, p + a, p * 2), x, outputs_info=T.ones(()))
    np.testing.assert_array_equal(result.eval({x: [1, -1, 2]}), [2, 4, 6])
    g = T.grad(result[-1], x)
    np.testing.assert_array_equal(g.eval({x: [1, -1, 2]}), [2, 0, 1])


# -- derivatives ---------------------------------------------------------------------------------------------------------


def test_disconnected_and_undefined_parts():
    results, _ = theano.scan(lambda a, p, q: [a * p, q * 2], x, [z, T.dscalar("q")])
    with pytest.raises(DisconnectedInputError):
        T.grad(results[1].sum(), x)
    whole, _ = theano.scan(lambda a, k: a * k, [x, T.arange(5)])
    np.testing.assert_array_equal(T.grad(whole.sum(), x).eval({x: np.ones(3)}), [0, 1, 2])
    k = T.lscalar("k")
    powers, _ = theano.scan(lambda p: p * z, outputs_info=T.ones(()), n_steps=k)
    with pytest.raises(DisconnectedInputError):
        T.grad(powers[-1], k)
    undefined, _ = theano.scan(lambda a, p, q: [undefined_grad(a) + p, q * a], x, [z, T.dscalar("q")])
    with pytest.raises(NullTypeGradError):
        T.grad(undefined[0].sum(), x)
    T.grad(undefined[1].sum(), x)
    T.grad(undefined[0].sum(), z)


def test_a_gradient_that_is_not_linear_is_taken_in_each_step():
    p, q = T.dscalars("p", "q")
    clip = lambda v: theano.gradient.grad_clip(v, -0.5, 0.5)

    class Clip(theano.compile.ViewOp):
        def grad(self, inputs, grads):
            return [T.clip(grads[0], -0.5, 0.5)]

    given = theano.OpFromGraph([q], [q + 0], grad_overrides=lambda inputs, grads: [T.clip(grads[0], -0.5, 0.5)])
    within = theano.OpFromGraph([q], [clip(q) * 1])
    loop = lambda v: theano.scan(lambda s, v: s * clip(v), outputs_info=T.ones(()), non_sequences=v, n_steps=1)[0][-1]
    for held in (clip, Clip(), given, within, loop):
        fixed = held(z)
        for step, arguments, wanted in (
            (lambda a, v, f=held: a * f(v), [z], 1.5),
            (lambda a, f=fixed: a * f, [], 1.5),
            (lambda a, f: a * f, [fixed], 0.5),  # this one is computed before the loop
        ):
            result, _ = theano.scan(step, x, non_sequences=arguments)
            f = theano.function([x, z], T.grad(result.sum(), z), on_unused_input="ignore")
            assert f([1.0, 2.0, 3.0], 0.7) == wanted
    assert not any(isinstance(n.op, theano.gradient.GradClip) for n in f.maker.fgraph.toposort())


def test_gradient_through_a_number_of_steps_that_until_decides():
    result, _ = theano.scan(lambda a, p: (p * a, until(a > 2)), x, outputs_info=T.ones(()))
    g = theano.function([x], T.grad(result.sum(), x))
    np.testing.assert_allclose(g([1.0, 2, 3, 4]), [9, 4, 2, 0])
    last = theano.shared(1.0)
    _, updates = theano.scan(lambda a: ({last: last * a}, until(a > 2)), x)
    g = theano.function([x], T.grad(updates[last], x))
    np.testing.assert_allclose(g([1.0, 2, 3, 4]), [6, 3, 2, 0])


def test_gradient_with_random_numbers_that_steps_draw():
    stream = T.shared_randomstreams.RandomStreams(7)
    result, updates = theano.scan(lambda a, p: T.tanh(p * z * stream.uniform() + a), x, outputs_info=T.ones(()))
    f = theano.function([x, z], [result, T.grad((result**2).sum(), z)], updates=updates)

    def seeded(w):
        stream.seed(7)
        return f([0.3, -0.5, 0.2, 0.9], w)

    slope = ((seeded(0.7 + 1e-6)[0] ** 2).sum() - (seeded(0.7 - 1e-6)[0] ** 2).sum()) / 2e-6
    np.testing.assert_allclose(seeded(0.7)[1], slope, rtol=1e-6)
    assert len(scans(f)) == 2  # the draws are stored on the way forward
    first, second = f([0.0, 0, 0], 1.0)[0], f([0.0, 0, 0], 1.0)[0]
    assert not np.allclose(first, second)


def test_strict_lets_a_step_draw_random_numbers():
    stream = T.shared_randomstreams.RandomStreams(7)
    rows, updates = theano.scan(lambda a: a * stream.uniform(), x, strict=True)
    assert theano.function([x], rows, updates=updates)([1.0, 1]).shape == (2,) and len(updates) == 1


def test_arguments_are_drawn_before_the_loop():
    stream = T.shared_randomstreams.RandomStreams(7)
    y = stream.uniform(size=(3,))
    rows, updates = theano.scan(lambda v, p: v + p, outputs_info=T.zeros(3), non_sequences=y, n_steps=2)
    assert not updates
    drawn, rows = theano.function([], [y, rows])()
    np.testing.assert_allclose(rows, [drawn, drawn * 2])


@pytest.mark.parametrize("truncate", [-1, 1, 2, 10])
def test_truncation(truncate):
    w = T.dscalar("w")
    result, _ = theano.scan(lambda a, p: p * w + a, x, outputs_info=z, truncate_gradient=truncate)
    g = theano.function([x, w, z], T.grad(result[-1], [x, w, z]))
    gx, gw, gz = g([1.0, 2, 3, 4], 0.5, 2.0)
    k = 4 if truncate == -1 else min(4, truncate)
    np.testing.assert_allclose(gx, [0.5 ** (3 - t) if 3 - t < k else 0 for t in range(4)])
    states = [2.0, 2, 3, 4.5]
    np.testing.assert_allclose(gw, sum(0.5 ** (3 - t) * states[t] for t in range(4 - k, 4)))
    np.testing.assert_allclose(gz, 0.5**4 if k == 4 else 0)


def test_truncation_of_what_updates_carry():
    """Back to a number of steps ago, so that what a loop begins with has a gradient only where that is all steps."""
    kept, n = theano.shared(np.float64(3.0), "kept"), T.lscalar("n")
    _, updates = theano.scan(lambda a: {kept: kept * a}, x, n_steps=n, truncate_gradient=2)
    f = theano.function([x, n], T.grad(updates[kept], [kept, x]))
    for steps, of_kept, of_x in ((1, 2.0, [3.0, 0, 0]), (2, 6.0, [9.0, 6.0, 0]), (3, 0.0, [0, 30.0, 18.0])):
        found, rows = f([2.0, 3, 5], steps)
        np.testing.assert_allclose(found, of_kept)
        np.testing.assert_allclose(rows, of_x)


def test_whole_numbers_have_zeros_as_gradients():
    i, k = T.lvector("i"), T.lscalar("k")
    rows, _ = theano.scan(lambda j, p, m: p * j + m, i, z, k)
    f = theano.function([i, z, k], T.grad(rows.sum(), [i, k, z]))
    of_i, of_k, of_z = f([2, 3], 5.0, 1)
    assert of_i.tolist() == [0, 0] and of_k == 0 and of_i.dtype == of_k.dtype == theano.config.floatX and of_z == 8


def test_folds_give_the_last_results():
    def step(a, p, q, w):
        return [p * w + a, q - a * p]

    folds = [
        (theano.reduce, {}, 1, "reduce"), (theano.reduce, {"go_backwards": True}, -1, "reduce"), (theano.foldl, {}, 1, "foldl"),
        (theano.foldr, {}, -1, "foldr"), (theano.foldr, {"name": "mine"}, -1, "mine"),
    ]  # fmt: skip
    made = [fold(step, x, [z, z * 2], T.constant(0.5), mode=None, **more) for fold, more, _, _ in folds]
    assert all(isinstance(results, list) and not updates for results, updates in made)
    for (results, _), (_, _, _, name) in zip(made, folds, strict=True):
        loop = next(v.owner.op for v in ancestors(results) if v.owner is not None and isinstance(v.owner.op, Scan))
        assert loop.name == name
    one, _ = theano.foldr(lambda a, p: p * 10 + a, x, T.zeros(()))
    values = np.array([1.0, 2, 3])
    *found, single = theano.function([x, z], [*(v for results, _ in made for v in results), one])(values, 4.0)
    for k, (_, _, way, _) in enumerate(folds):
        p, q = 4.0, 8.0
        for a in values[::way]:
            p, q = p * 0.5 + a, q - a * p
        assert found[2 * k : 2 * k + 2] == [p, q], k
    assert single == 321


# -- the op --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "DebugMode", theano.Mode("py", None)])
def test_modes(mode):
    count = theano.shared(0.0)
    (a, b), updates = theano.scan(lambda e, p, q: ([p + e * q + count, p], {count: count + 1}), x, [z, x[:1].sum()])
    if mode == "DebugMode":
        a, b = a[:3], b[:3]
    f = theano.function([x, z], [a, b, T.grad(a.sum(), x)], updates=updates, mode=mode)
    values = f([1.0, 2, 3], 0.5)
    p, q, c, wanted = 0.5, 1.0, 0.0, []
    for e in (1.0, 2, 3):
        p, q, c = p + e * q + c, p, c + 1
        wanted.append(p)
    np.testing.assert_allclose(values[0], wanted)
    assert count.get_value() == 3


def test_pickling_and_equality():
    def made():
        return theano.scan(lambda a, p: T.tanh(a + p), x, z)[0].owner.inputs[0].owner.op

    one, other = made(), made()
    assert one == other and hash(one) == hash(other) and pickle.loads(pickle.dumps(one)) == one
    assert theano.scan(lambda a, p: T.tanh(a * p), x, z)[0].owner.inputs[0].owner.op != one
    f = theano.function([x, z], theano.scan(lambda a, p: T.tanh(a + p), x, z)[0])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))([1, 2], 3), f([1, 2], 3))


def test_shapes_are_known_without_the_loop():
    (a, b), _ = theano.scan(lambda row, p: [T.dot(row, X.T), p + row.sum()], X, [None, {"initial": x, "taps": [-2]}])
    f = theano.function([X, x], [*a.shape, *b.shape], on_unused_input="ignore")
    assert not scans(f) and f(np.ones((4, 3)), np.ones(2)) == [4, 4, 4]
    c, _ = theano.scan(lambda row, p: (p + row.sum(), until(row[0] > 0)), X, z)
    assert theano.function([X, z], c.shape[0])(np.zeros((4, 3)), 0.0) == 4


def test_printed_with_its_step():
    text = theano.printing.debugprint(theano.scan(lambda a, p: T.tanh(a + p), x, z, name="chain")[0], file="str")
    assert "for{cpu,chain}" in text and "Inner graphs" in text and ">Elemwise{tanh" in text
    rows, _ = theano.scan(lambda a, s, p: s * p + a, x, T.zeros((), "float64"), z, name="chain")
    lines = theano.printing.debugprint(rows, print_type=True, file="str").splitlines()
    below = lines.index("Inner graphs of the scan ops:") + 2
    found = {line.split(" [")[0].lstrip(" |>"): line for line in lines}
    mark = lambda name: found[name].split("[id ")[1].split("]")[0]
    assert lines[below].split() == ["for{cpu,chain}", "[id", f"{mark('for{cpu,chain}')}]", "<TensorType(float64,", "vector)>", "''"]
    arrows = {line.split(" [")[0].lstrip(" |>"): line.split(" -> ")[1] for line in lines[below:] if " -> " in line}
    assert arrows["x[t]"] == f"[id {mark('x')}]"
    outside = next(line for line in lines[: below - 2] if line.lstrip(" |").startswith("z "))
    assert arrows["z"] == f"[{outside.split(' [')[1].split(']')[0]}]" and len(arrows) == 3


def test_vectorized():
    row = T.dvector("row")
    sums, _ = theano.scan(lambda a, p: p * 0.5 + a, row, T.zeros(()))
    f = theano.function([X], theano.vectorize_graph(sums, {row: X}))
    g = theano.function([row], sums)
    values = rng.standard_normal((3, 4))
    np.testing.assert_allclose(f(values), [g(v) for v in values])
    assert [node.op.spec.states for node in scans(f)] == [((-1,),)]


def test_checkpoints():
    def step(a, p, w):
        return T.tanh(a + p * w)

    weight = T.dscalar("weight")
    plain, _ = theano.scan(step, x, z, weight)
    for padding, length in ((True, 10), (True, 7), (False, 9)):
        some, _ = theano.scan_checkpoints(step, x, z, weight, save_every_N=3, padding=padding)
        f = theano.function(
            [x, z, weight], [plain[-1], some[-1], *T.grad(plain[-1], [x, z, weight]), *T.grad(some[-1], [x, z, weight])]
        )
        values = f(rng.standard_normal(length), 0.3, 0.8)
        np.testing.assert_allclose(values[0], values[1])
        for a, b in zip(values[2:5], values[5:]):
            np.testing.assert_allclose(a, b)
        assert len(theano.function([x, z, weight], some)(np.ones(length), 0.3, 0.8)) == -(-length // 3)
    with pytest.raises(RuntimeError, match="taps"):
        theano.scan_checkpoints(step, x, {"initial": x, "taps": [-2]}, weight)
