"""Loops as they run, in one C function and in the machine, against calls of the step one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from portion import portion
from theano.graph.signals import let_signals_through
from theano.lowering.table import lower
from theano.scan.op import Scan
from theano.scan.run import _checked_steps, _copied, _in_step, _without_steps, layout_of, run
from theano.scan.spec import LoopSpec

DTYPES = ("float64", "float32", "float16", "int8", "int64", "uint8", "bool", "complex64")


def expression(rng, variables, dtype):
    """Return a value of a dtype that depends on some of the variables, and stays small."""
    picked = [variables[k] for k in rng.permutation(len(variables))[: rng.integers(1, 4)]]
    if dtype == "bool":
        return T.neq(sum(abs(v) for v in picked), 1)
    total = sum(T.cast(v, "complex64") if "complex" in dtype else T.cast(v.real, "float64") for v in picked)
    if "complex" in dtype:
        return T.cast(total / (1 + abs(total)), dtype)
    bounded = T.tanh(total) if rng.random() < 0.5 else T.switch(abs(total) > 9, 1, total)
    return T.cast(bounded * (3 if "int" in dtype else 1), dtype)


def some_loop(seed, shape=(), numbers=False):
    """Return a loop op with values for its inputs; of a loop over vectors, some that no step changes are numbers."""
    rng = np.random.default_rng(seed)

    def taps(low, high):
        return tuple(sorted({int(k) for k in rng.integers(low, high, rng.integers(1, 4))}))

    sequences = tuple(taps(0, 3) for _ in range(rng.integers(0, 3)))
    states = tuple(taps(-3, 0) for _ in range(rng.integers(0, 3)))
    mapped, carried, fixed = (int(n) for n in rng.integers(0, 3, 3))
    until = bool(rng.random() < 0.3)
    depths = [-min(k) for k in states] + [1] * mapped
    keep = tuple(int(rng.integers(1, d + 1 + 2 * (seed % 3 == 0))) if rng.random() < 0.3 else None for d in depths)
    if not (states or mapped or carried):
        mapped, keep = 1, (None,)
    spec = LoopSpec(sequences, states, mapped, carried, fixed, until, keep)

    def kind(stretched=False):
        return T.TensorType(str(rng.choice(DTYPES)), [bool(stretched)] * len(shape))

    unchanged = [numbers and rng.random() < 0.7 for _ in (*sequences, *range(fixed))]
    kinds = [kind(k) for k in (*unchanged[: len(sequences)], *(False for _ in (*states, *range(carried))), *unchanged[len(sequences) :])]
    groups = [len(k) for k in (*sequences, *states)] + [1] * (carried + fixed)
    inputs = [k() for k, count in zip(kinds, groups, strict=True) for _ in range(count)]
    if not inputs:
        return None
    own = spec.inner_inputs(inputs)
    replaced = [group[0].type.dtype for group in own.states]
    dtypes = [*replaced, *(str(rng.choice(DTYPES)) for _ in range(mapped)), *(v.type.dtype for v in own.carried)]
    moving = [v for v in inputs if not v.type.broadcastable or not all(v.type.broadcastable)]
    outputs = [expression(rng, inputs, dtype) for dtype in dtypes]
    if numbers:
        outputs = [v + T.zeros_like(moving[0], v.dtype) if moving else v for v in outputs]
    outputs = [inputs[k] if rng.random() < 0.1 and (k := rng.integers(len(inputs))) >= 0 and inputs[k].type == v.type else v
               for v in outputs]  # fmt: skip
    if until:
        outputs.append(T.gt(abs(expression(rng, inputs, "float64")).max(), 0.97))
    n = int(rng.integers(0, 9))

    def value(kind, *lead):
        dtype, own = kind.dtype, [1 if b else n for b, n in zip(kind.broadcastable, shape, strict=True)]
        x = rng.normal(size=(*lead, *own)) * 3
        return (
            np.asarray(x > 0 if dtype == "bool" else x)
            .astype("int64" if dtype.startswith("uint") else dtype)
            .astype(dtype)
        )

    values = [np.asarray(n)]
    values += [value(k, n + max(t) + rng.integers(0, 3)) for k, t in zip(kinds, sequences, strict=False)]
    values += [value(k, -min(t)) for k, t in zip(kinds[len(sequences) :], states, strict=False)]
    values += [value(k) for k in kinds[len(sequences) + len(states) :]]
    return Scan(spec, inputs, outputs), values


def step_by_step(op, inputs):
    """Return the values of a loop's outputs as `run` does, from calls of the step, one after the other."""
    spec = op.spec
    given = spec.outer_inputs(inputs)
    n = _checked_steps(op, layout_of(op), inputs)
    if n == 0:
        return _without_steps(op, given)
    step = op.fn
    states = [list(v) for v in given.states]
    mapped = [[] for _ in range(spec.mapped)]
    carried = given.carried
    for t in range(n):
        seen = [v[t + k] for v, taps in zip(given.sequences, spec.sequences, strict=True) for k in taps]
        seen += [v[t + m + k] for v, m, taps in zip(states, spec.depths, spec.states, strict=True) for k in taps]
        try:
            made = spec.inner_outputs(step(*seen, *carried, *given.fixed))
        except Exception as error:
            let_signals_through(error)
            raise _in_step(error, t, op) from error.__cause__
        for rows, v in zip((*states, *mapped), (*made.states, *made.mapped), strict=True):
            if rows and v.shape != rows[0].shape:
                raise ValueError(f"{op}: step {t} makes a row of shape {v.shape}, those before have {rows[0].shape}")
            rows.append(np.array(v))
        carried = made.carried
        if spec.until and made.until:
            break
    stacks = [np.stack(rows) for rows in (*states, *mapped)]
    kept = [v if k is None else v[max(0, len(v) - k) :] for v, k in zip(stacks, spec.keep, strict=True)]
    return [*kept, *_copied(spec.inner_inputs(op.inner.inputs).carried, carried)]


def check(op, values, lowered=None):
    read = op.spec.inner_inputs(op.inner.inputs)
    rows = [(False, *group[0].type.broadcastable) for group in (*read.sequences, *read.states)]
    kinds = [(), *rows, *(v.type.broadcastable for v in (*read.carried, *read.fixed))]
    given = [T.TensorType(v.dtype, kind)() for v, kind in zip(values, kinds, strict=True)]
    made = op(*given, return_list=True)
    if lowered is not None:
        assert (lower(made[0].owner) is not None) == lowered
    f = theano.function(given, made, on_unused_input="ignore")
    expected = step_by_step(op, values)
    before = [np.array(v) for v in values]
    for found in (run(op, values), run(op, values), f(*values), f(*values)):
        for a, b in zip(found, expected, strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype and np.shape(a) == np.shape(b)
            np.testing.assert_allclose(
                a, b, rtol=1e-3 if np.asarray(b).dtype in ("f4", "f2", "c8") else 1e-9, atol=1e-3
            )
    for a, b in zip(values, before, strict=True):
        np.testing.assert_array_equal(a, b)
    return f


@pytest.mark.parametrize("seed", portion(range(60), always=0))
def test_loops_over_numbers(seed):
    made = some_loop(seed)
    if made is not None:
        # in C, few rows are kept in local variables
        spec = made[0].spec
        most = (*(depth + 1 for depth in spec.depths), *(1,) * spec.mapped)
        few = all(k is None or k <= m for k, m in zip(spec.keep, most, strict=True))
        check(*made, lowered=few and not (spec.until and any(spec.keep)))


@pytest.mark.parametrize("seed", portion(range(15), always=0))
def test_loops_over_arrays(seed):
    made = some_loop(seed, (2, 1))
    if made is not None:
        check(*made, lowered=False)


@pytest.mark.parametrize("length", [1, 3, 16, 37])
@pytest.mark.parametrize("seed", portion(range(15), always=0))
@pytest.mark.parametrize("numbers", [False, True])
def test_loops_over_vectors(seed, length, numbers):
    made = some_loop(seed, (length,), numbers)
    if made is not None:
        check(*made)


def vectors(spec, fixed=(1,)):
    """Return a loop in which all vectors meet, with as many inputs as a description has."""
    count = len([k for group in (*spec.sequences, *spec.states) for k in group]) + spec.carried
    inputs = [*T.dvectors(count), *(T.TensorType("float64", [not ndim])() for ndim in fixed)]
    total = sum(v * (k + 1) for k, v in enumerate(inputs))
    return Scan(spec, inputs, [T.tanh(total + k) for k in range(spec.stacked + spec.carried)])


@pytest.mark.parametrize("n", [0, 1, 2, 7])
@pytest.mark.parametrize("keep", [None, 1, 2, 3])
def test_what_is_kept_of_vectors(n, keep):
    spec = LoopSpec(((0, 2),), ((-2, -1),), 1, 1, 2, keep=(keep, None if keep is None else 1))
    for length in (0, 1, 16, 21):
        values = [np.asarray(n), *(np.linspace(-1, 1, k * length).reshape(k, length) for k in (n + 2, 2))]
        values += [np.linspace(0, 1, length), np.linspace(1, 2, length), np.array([0.3])]
        check(vectors(spec, (1, 0)), values, lowered=True)


@pytest.mark.parametrize("keep", [(1, 1, 1, 1), (2, None, 2, None), (None, 1, None, 1), (None, None, 1, 1)])
def test_rules_leave_as_many_rows_as_are_kept(keep):
    """A graph that was rewritten may be compiled again: then rules that come before see loops that keep few rows."""
    row, h, g, W = *T.dvectors("row", "h", "g"), T.dmatrix("W")
    op = Scan(LoopSpec(((0,),), ((-1,), (-1,)), mapped=2, fixed=1, keep=keep), [row, h, g, W], [row * 2, g + row, row, T.dot(g, W)])
    values = [np.asarray(4), np.arange(12.0).reshape(4, 3), np.ones((1, 3)), np.ones((1, 3)), np.eye(3) * 2]
    check(op, values)
    of_rows = Scan(LoopSpec(((0,),), mapped=2, keep=keep[2:]), [row], [T.sort(row), row * 2])
    check(of_rows, values[:2])
    sums = Scan(LoopSpec(((0,),), ((-1,),), keep=keep[:1]), [row, h], [row + h])
    check(sums, values[:3])


@pytest.mark.parametrize("ndim", [0, 1])
def test_what_is_kept_of_rows_that_are_not_given_is_not_read(ndim):
    x, h, g = (T.TensorType("float64", [False] * ndim)() for _ in range(3))
    op = Scan(LoopSpec(((0,),), ((-2, -1),), keep=(3,)), [x, h, g], [x + h * g])
    first = T.TensorType("float64", [False] * (ndim + 1))
    source = lower(op(T.lscalar(), first(), first()).owner).source
    assert "+ 0 * ctx->in[2]->strides[0]" in source and "-1 *" not in source


def test_a_product_and_what_is_added_to_it_are_one_step():
    x, h, a = T.dscalars("x", "h", "a")

    def source(result):
        op = Scan(LoopSpec(((0,),), ((-1,),), 0, 0, 1), [x, h, a], [result])
        return lower(op(T.lscalar(), *T.dvectors(2), a).owner).source

    assert "TH_FMA" in source(a * h + x)
    # Of two products nobody could say which; one that is used twice is computed anyway; numbers of other dtypes differ.
    for other in (a * h + x * h, a * h + T.exp(a * h), a + h + x):
        assert "TH_FMA" not in source(other)


def test_numbers_that_a_step_over_vectors_reads():
    """Rules move their stretching out of the loop, and the loop is one C function."""
    x, rates, h, a = T.dmatrix("x"), T.dvector("rates"), T.dvector("h"), T.dscalar("a")
    states, _ = theano.scan(lambda row, rate, past, a: a * past - rate * row, [x, rates], h, a)
    f = theano.function([x, rates, h, a], states)
    (node,) = (n for n in f.maker.fgraph.toposort() if isinstance(n.op, Scan))
    assert "TH_READ_ROW" in lower(node).source
    rows, expected = np.linspace(-1, 1, 51).reshape(3, 17), [np.linspace(1, 2, 17)]
    for row, rate in zip(rows, (0.5, 2.0, -1.0), strict=True):
        expected.append(0.75 * expected[-1] - rate * row)
    np.testing.assert_allclose(f(rows, [0.5, 2.0, -1.0], expected[0], 0.75), expected[1:], rtol=1e-14)


def test_layouts_of_vectors():
    op = vectors(LoopSpec(((0,),), ((-1,),), 0, 1, 1))
    wide = np.arange(600.0).reshape(15, 40) / 600
    for rows in (wide[:, ::2], wide[::-1, :20], wide[:, 19::-1], np.asfortranarray(wide[:, :20]),
                 np.broadcast_to(wide[0, :20], (15, 20))):  # fmt: skip
        check(op, [np.asarray(12), rows, rows[:1], rows[3], rows[4]], lowered=True)


def test_vectors_of_different_lengths():
    op = vectors(LoopSpec(((0,),), ((-1,),)), ())
    good = [np.asarray(3), np.ones((3, 4)), np.ones((1, 4))]
    given = [T.TensorType(v.dtype, [False] * v.ndim)() for v in good]
    f = theano.function(given, op(*given))
    with pytest.raises(ValueError, match="the vectors of a step have 5 and 4 elements"):
        f(3, np.ones((3, 5)), np.ones((1, 4)))
    # Where nothing holds their lengths together they may differ.
    x, h = T.dvectors("x", "h")
    apart = Scan(LoopSpec(((0,),), ((-1,),), 1), [x, h], [h * 2, x + 1])
    check(apart, [np.asarray(3), np.ones((3, 5)), np.ones((1, 4))], lowered=False)


def test_layouts_of_sequences():
    x, h = T.dscalars("x", "h")
    op = Scan(LoopSpec(((0, 1),), ((-2, -1),)), [x, T.dscalar(), h, T.dscalar()], [x * h + 1])
    wide = np.arange(40.0).reshape(20, 2)
    for sequence in (
        wide[:, 0],
        wide[::-1, 1],
        np.broadcast_to(np.float64(2), 9),
        np.frombuffer(b"x" * 81, "u1")[1:].view("f8"),
    ):
        check(op, [np.asarray(5), sequence, np.ones(2)])


def test_the_last_value_alone_needs_no_memory_for_the_others():
    h = T.dscalar("h")
    op = Scan(LoopSpec(states=((-1,),), keep=(1,)), [h], [0.5 * h + 1])
    n = 10_000_000
    f = theano.function([], op(n, T.constant([0.0])))
    np.testing.assert_allclose(f(), [2.0])
    v = T.dvector("v")
    row = Scan(LoopSpec(states=((-1,),), keep=(1,)), [v], [T.sort(0.5 * v + 1)])
    np.testing.assert_allclose(run(row, [100_000, np.zeros((1, 2))])[0], [[2.0, 2.0]])


@pytest.mark.parametrize("kind", ["number", "row"])
@pytest.mark.parametrize(("n", "length", "first", "error", "text"), [
    (-1, 3, 1, IndexError, r"n_steps\) is -1, and cannot be negative"),
    (4, 4, 1, ValueError, r"sequence 0 \(.*\) has 4 rows, but 4 steps that look 1 rows ahead need 5"),
    (3, 4, 2, ValueError, r"the initial value of output 0 \(.*\) has 2 rows, but a step looks 1 back"),
])  # fmt: skip
def test_errors_are_the_same_in_c(kind, n, length, first, error, text):
    shape = () if kind == "number" else (2,)
    one = T.TensorType("float64", [False] * len(shape))
    x, y, h = one(), one(), one()
    op = Scan(LoopSpec(((0, 1),), ((-1,),)), [x, y, h], [x + y * h])
    values = [np.asarray(n), np.zeros((length, *shape)), np.zeros((first, *shape))]
    given = [T.TensorType(v.dtype, [False] * v.ndim)() for v in values]
    for call in (theano.function(given, op(*given)), lambda *v: step_by_step(op, v)):
        with pytest.raises(error, match=text):
            call(*values)


def test_a_step_with_a_constant_vector():
    s, w = T.dvector("s"), T.constant(np.array([1.25, 2.5]))
    f = theano.function([s], theano.scan(lambda y: T.sqrt(w + 0.5 * y * y), outputs_info=s, n_steps=3)[0])
    value = np.array([2.0, 3.0])
    for row in f(value):
        value = np.sqrt([1.25, 2.5] + 0.5 * value * value)
        np.testing.assert_allclose(row, value, rtol=1e-12)
