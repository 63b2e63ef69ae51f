"""`Function.loop` of the loader: a program run once for each step, against the same program called step by step."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T

rng = np.random.default_rng(8)


def by_calls(f, n, sequences, states, carried, fixed, mapped, until):
    """What `loop` promises, said with calls."""
    states = [(buffer.copy(), first, taps) for buffer, first, taps in states]
    carried, stacked, step = [np.array(v) for v in carried], [[] for _ in mapped], 0
    for step in range(n):
        rows = [array[offset + step] for array, offset in sequences]
        earlier = [buffer[(first + step + tap) % len(buffer)] for buffer, first, taps in states for tap in taps]
        found = f(*rows, *earlier, *(np.array(v) for v in carried), *fixed)
        found = [np.array(v) for v in found]
        for (buffer, first, _), value in zip(states, found, strict=False):
            buffer[(first + step) % len(buffer)] = value
        for rows, value in zip(stacked, found[len(states) :], strict=False):
            rows.append(value)
        carried = found[len(states) + len(mapped) :][: len(carried)]
        if until and found[-1]:
            break
    return step + 1, [buffer for buffer, *_ in states], [ring(rows, n) for rows, n in zip(stacked, mapped, strict=True)], carried


def ring(rows, n):
    """Return the last rows where a stack of ``n`` has them."""
    found = [rows[k] for k in range(max(0, len(rows) - n), len(rows))]
    shift = max(0, len(rows) - n) % n
    return np.array(found[len(found) - shift :] + found[: len(found) - shift] if len(rows) > n else found)


def compare(inputs, outputs, *request, overwrites=()):
    """Run both, and hold states, results and carried values to each other bit by bit."""
    f = theano.function(inputs, outputs, on_unused_input="ignore")
    given = [theano.In(v, mutable=True) if v in overwrites else v for v in inputs]
    g = theano.function(given, [theano.Out(v, borrow=True) for v in outputs], on_unused_input="ignore")
    steps, states, results, carried = by_calls(f, *request)
    n, sequences, own, first, *rest = request
    for _ in range(2):  # what a loop leaves behind must not matter to the next one
        buffers = tuple((buffer.copy(), *more) for buffer, *more in own)
        kept = [np.array(v) for v in first]
        ran, found, last = g.loop(n, sequences, buffers, first, *rest)
        assert ran == steps
        for mine, theirs in [
            *zip([b for b, *_ in buffers], states, strict=True), *zip((r[:ran] for r in found), results, strict=True),
            *zip(last, carried, strict=True), *zip(first, kept, strict=True),
        ]:  # fmt: skip
            np.testing.assert_array_equal(mine, theirs)
    return g


def rows_of(array, layout):
    """Return the same rows, lying otherwise."""
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "back":
        return np.ascontiguousarray(array[::-1])[::-1]
    if layout == "step":
        wide = np.repeat(array, 2, axis=0)
        return wide[::2]
    if layout == "one row":
        return np.broadcast_to(array[0], array.shape)
    return array


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "complex128", "bool"])
@pytest.mark.parametrize("layout", ["C", "F", "back", "step", "one row"])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (0,), (2, 3), (2, 1, 2)])
def test_sequences_states_and_results(dtype, layout, shape):
    kind = T.TensorType(dtype, [False] * len(shape))
    x, y, h, g, w = (kind(n) for n in "xyhgw")
    n = 7
    data = rng.integers(-3, 4, (n + 2, *shape)).astype(dtype)
    state = np.zeros((n + 2, *shape), dtype)
    state[:2] = data[:2]
    combine = T.or_ if dtype == "bool" else T.add
    new = combine(combine(h, x), g)
    sequences = ((rows_of(data, layout), 0), (rows_of(data, layout), 2))
    compare([x, y, h, g, w], [new, combine(y, w), x], n, sequences, ((state, 2, (-1, -2)),), (), (data[0],), (n, n), False)


@pytest.mark.parametrize("rows", [2, 3, 4, 9])
def test_a_buffer_is_a_ring_where_it_is_short(rows):
    x, h = T.dvectors("x", "h")
    buffer = np.zeros((rows, 3))
    buffer[0] = 1
    compare([x, h], [T.tanh(h + x)], 8, ((rng.normal(size=(8, 3)), 0),), ((buffer, 1, (-1,)),), (), (), (), False)


@pytest.mark.parametrize("overwrites", [False, True])
@pytest.mark.parametrize("shape", [(), (4,), (3, 2)])
def test_carried_values(overwrites, shape):
    kind = T.TensorType("float64", [False] * len(shape))
    x, a, b = kind("x"), kind("a"), kind("b")
    given = rng.normal(size=(6, *shape)), rng.normal(size=shape), rng.normal(size=shape)
    # they change places, are added to, stay
    for outputs in ([b, a], [a + x, b * a], [a, b], [T.exp(x), a + b], [a + x, a + x]):
        compare(
            [x, a, b],
            outputs,
            6,
            ((given[0], 0),),
            (),
            given[1:],
            (),
            (),
            False,
            overwrites={a, b} if overwrites else (),
        )


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8, 11])
@pytest.mark.parametrize("limit", [99, 4])
def test_results_are_rings_where_few_rows_are_stored(rows, limit):
    x = T.dvector("x")
    data = np.arange(16.0).reshape(8, 2)
    compare([x], [x + 1, x[0] * 2, x[0] >= limit], 8, ((data, 0),), (), (), (), (rows, rows), True)


def test_a_carried_value_may_grow_and_be_any_object():
    a = T.dvector("a")
    compare([a], [T.concatenate([a, a[:1]])], 5, (), (), (np.ones(1),), (), (), False)
    thing = theano.gof.generic("thing")
    f = theano.function([thing, T.dvector("x")], [theano.Out(thing, borrow=True)], on_unused_input="ignore")
    value = ["anything"]
    assert f.loop(3, (), (), (value,), (np.ones(2),), (), False)[2] == [value]


@pytest.mark.parametrize("limit", [-1.0, 0.5, 3.0, 99.0])
def test_until(limit):
    x, h, top = T.dscalar("x"), T.dscalar("h"), T.dscalar("top")
    buffer = np.zeros(11)
    new = h + x
    compare(
        [x, h, top], [new, 2 * new, new > top], 10, ((np.ones(10), 0),), ((buffer, 1, (-1,)),), (), (limit,), (10,), True
    )


def test_views_constants_and_one_output_twice():
    m, h = T.dmatrix("m"), T.dvector("h")
    data, buffer = rng.normal(size=(5, 3, 3)), np.zeros((6, 3))
    outputs = [m[1], m.T, T.constant(np.arange(4.0)), h, m.sum(axis=0), m.sum(axis=0)[::-1], m.sum(axis=0)]
    compare([m, h], outputs, 5, ((data, 0),), ((buffer, 1, (-1,)),), (), (), (5,) * 6, False)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "complex128"])
@pytest.mark.parametrize("n", [3, 40])
def test_fixed_matrices_of_any_layout(dtype, n):
    """Many steps read a copy of a matrix that does not lie well."""
    x = T.TensorType(dtype, [False])()
    left, right = T.TensorType(dtype, [False] * 2)(), T.TensorType(dtype, [False] * 2)()
    rows = rng.integers(-3, 4, (n, 20)).astype(dtype)
    plain = rng.integers(-3, 4, (21, 20)).astype(dtype)
    space = np.zeros(20 * 20 + 1, dtype)[1:].reshape(20, 20)
    space[...] = plain[:20]
    square = plain[:20]
    for matrix in (square, square.T, np.asfortranarray(square), square[::-1, ::-1], space, plain[1:], plain[:1].repeat(20, axis=0),
                   np.broadcast_to(plain[:1], (20, 20))):  # fmt: skip
        kept = matrix.copy()
        outputs = [T.dot(x, right) + T.dot(left, x) + left[0]]
        compare([x, left, right], outputs, n, ((rows, 0),), (), (), (matrix, matrix), (n,), False)
        np.testing.assert_array_equal(matrix, kept)


def test_an_op_in_python_may_keep_what_it_is_given():
    kept = []

    @theano.as_op([T.dvector], [T.dvector])
    def keep(x):
        kept.append(x)
        return x + 1

    x, h = T.dvectors("x", "h")
    buffer = np.zeros((6, 2))
    f = theano.function([x, h], [T.tanh(keep(T.exp(h)) + x)])
    x_, buffer_ = rng.normal(size=(5, 2)), buffer.copy()
    f.loop(5, ((x_, 0),), ((buffer_, 1, (-1,)),), (), (), (), False)
    states = [buffer[0]]
    for row in x_:
        states.append(np.tanh(np.exp(states[-1]) + 1 + row))
    np.testing.assert_allclose(buffer_, states)
    np.testing.assert_allclose(kept, np.exp(states[:-1]))


def test_long_rows_and_inner_products():
    x, h = T.dvectors("x", "h")
    W = theano.shared(rng.normal(size=(300, 300)) / 20)
    buffer = np.zeros((41, 300))
    compare(
        [x, h],
        [T.tanh(T.dot(W, h) + x), T.dot(h, x)],
        40,
        ((rng.normal(size=(40, 300)), 0),),
        ((buffer, 1, (-1,)),),
        (),
        (),
        (40,),
        False,
    )
    big = T.dvector("big")
    n = 200_000  # rows above the limit from which memory goes back at once
    compare([big], [big + 1, T.exp(big).sum()], 3, (), ((np.zeros((4, n)), 1, (-1,)),), (), (), (3,), False)


def test_a_failure_names_its_step_and_leaves_nothing():
    h, k = T.dvector("h"), T.lscalar("k")
    f = theano.function([k, h], [h + h[k]])
    buffer = np.ones((5, 3))
    with pytest.raises(IndexError) as caught:
        f.loop(4, ((np.array([0, 1, 7, 0]), 0),), ((buffer, 1, (-1,)),), (), (), (), False)
    assert caught.value.step == 2
    buffer = np.ones((5, 3))
    assert f.loop(4, ((np.zeros(4, "int64"), 0),), ((buffer, 1, (-1,)),), (), (), (), False)[0] == 4
    np.testing.assert_array_equal(buffer[:, 0], 2.0 ** np.arange(5))


def test_wrong_use():
    r, v = T.dvectors("r", "v")
    f = theano.function([r, v], [r + v])
    two, one, buffer = np.ones((2, 4)), np.ones(4), np.ones((3, 4))
    for request, error in [
        ((0, ((two, 0),), (), (), (one,), (2,), False), ValueError), ((3, ((two, 0),), (), (), (one,), (2,), False), TypeError),
        ((2, ((two, 1),), (), (), (one,), (2,), False), TypeError), ((2, ((two, -1),), (), (), (one,), (2,), False), TypeError),
        ((2, ((two.astype("f"), 0),), (), (), (one,), (2,), False), TypeError), ((2, ((two, 0),), (), (), (), (2,), False), TypeError),
        ((2, (([[1.0]], 0),), (), (), (one,), (2,), False), TypeError), ((2, ((two, 0),), (), (), ("no",), (2,), False), TypeError),
        ((2, ((two, 0),) * 3, (), (), (), (2,), False), TypeError), ((2, ((two, 0),), (), (), (one,), (), False), TypeError),
        ((2, ((two, 0),), (), (), (one,), (2, 2), False), TypeError), ((2, ((two, 0),), (), (), (one,), (2,), True), TypeError),
        ((2, ((two, 0),), ((np.ones((3, 3)), 1, (-1,)),), (), (), (), False), ValueError),
        ((2, ((two, 0),), ((buffer[:, ::2], 1, (-1,)),), (), (), (), False), TypeError),
        ((2, ((two, 0),), ((buffer, 3, (-1,)),), (), (), (), False), TypeError),
        ((2, ((two, 0),), ((buffer, 0, (-1,)),), (), (), (), False), TypeError),
        ((2, ((two, 0),), ((buffer, 1, (0,)),), (), (), (), False), ValueError),
        ((2, ((two, 0),), ((one, 1, (-1,)),), (), (), (), False), TypeError),
    ]:  # fmt: skip
        with pytest.raises(error):
            f.loop(*request)
    total = theano.shared(0.0)
    with pytest.raises(ValueError, match="updates"):
        theano.function([r], [r], updates=[(total, total + 1)]).loop(1, ((np.ones((1, 4)), 0),), (), (), (), (1,), False)
    np.testing.assert_array_equal(f(one, one)[0], one + 1)
