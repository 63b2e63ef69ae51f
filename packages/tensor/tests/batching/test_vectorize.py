"""``theano.vectorize`` and ``theano.vectorize_graph``: broadcasting, signatures, what has no rule, and what is refused."""

import numpy as np
import pytest
import scipy.linalg
from oracle import run

import theano
import theano.tensor as T
from theano.batching import NoRuleError, batch, rule
from theano.errors import ShapeError
from theano.gradient import grad, hessian, jacobian
from theano.graph import Apply, Op
from theano.graph.traverse import toposort
from theano.tensor.rows.op import MapRows, map_rows

rng = np.random.default_rng(1)
x, y, v = T.dvector("x"), T.dvector("y"), T.dvector("v")
m, A = T.dmatrix("m"), T.dmatrix("A")
s, t = T.dscalars("s", "t")
X, Y, M3, M4 = T.dmatrix("X"), T.dmatrix("Y"), T.dtensor3("M3"), T.dtensor4("M4")


def loops(*outputs):
    return sum(isinstance(node.op, MapRows) for node in toposort(outputs))


# -- vectorize_graph ------------------------------------------------------------------------------------------


def test_what_meets_no_batch_axis_stays_as_it_is():
    fixed = T.exp(v).sum()
    (out,) = theano.vectorize_graph([x * fixed], {x: X})
    assert fixed.owner in toposort([out])
    assert theano.vectorize_graph(fixed, {x: X}) is fixed
    assert theano.vectorize_graph([x, fixed], {x: X}) == [X, fixed]


def test_replacements_without_batch_axes():
    out = theano.vectorize_graph(T.dot(x, y), {x: X, y: v})
    assert out.type == T.dvector
    given = rng.normal(size=(3, 4)), rng.normal(size=4)
    np.testing.assert_allclose(theano.function([X, v], out)(*given), given[0] @ given[1])
    assert theano.vectorize_graph(x + y, {x: y}).type == T.dvector


def test_constants_and_arrays_replace():
    out = theano.vectorize_graph(x.sum(), {x: np.arange(6.0).reshape(2, 3)})
    np.testing.assert_array_equal(run(out, {}), [3, 12])


def test_a_length_is_the_same_for_all_rows_and_repeated():
    out = theano.vectorize_graph(x.shape[0], {x: X})
    assert out.type == T.lvector
    np.testing.assert_array_equal(theano.function([X], out)(np.ones((3, 5))), [5, 5, 5])


@pytest.mark.parametrize(
    ("a", "b"), [((2, 3), (3,)), ((2, 3), (2, 3)), ((3,), (2, 3)), ((1, 3), (2, 1)), ((1,), (2, 3)), ((1, 1), (1,)), ((), (2, 3)), ((2, 1, 3), (4, 1))]
)  # fmt: skip
def test_batch_axes_broadcast_against_each_other(a, b):
    first = T.TensorType("float64", (*[n == 1 for n in a], False))("first")
    second = T.TensorType("float64", (*[n == 1 for n in b], False))("second")
    values = rng.normal(size=(*a, 4)), rng.normal(size=(*b, 4))
    expected = np.einsum("...i,...i->...", *values)
    out = theano.vectorize_graph(T.dot(x, y), {x: first, y: second})
    found = theano.function([first, second], out)(*values)
    np.testing.assert_allclose(found, expected)
    assert out.type.broadcastable == tuple(n == 1 for n in expected.shape)


def test_different_lengths_are_refused():
    out = theano.vectorize_graph([T.dot(x, m), T.sort(y), T.arange(T.cast(s, "int64")) + y.sum()], {x: X, m: M3, y: Y, s: v})
    f = theano.function([X, M3, Y, v], out)
    good = [np.ones((2, 3)), np.ones((2, 3, 4)), np.ones((2, 3)), np.full(2, 3.0)]
    f(*good)
    for i in range(4):
        bad = list(good)
        bad[i] = np.concatenate([bad[i], bad[i][:1]])
        with pytest.raises(ShapeError, match="vectorize: batch axes of different lengths: an axis of .* is not as long as that of X"):
            f(*bad)


@pytest.mark.parametrize(
    ("outputs", "replace", "message"),
    [
        (x.sum(), {x: T.fmatrix("F")}, "F of type .* cannot take the place of x of type .*: the dtypes differ; float64 is needed"),
        (x.sum(), {x: s}, "s of type .* cannot take the place of x .*: 1 dimensions or more are needed"),
        (T.drow("r").sum(), {}, None),
        (x.sum(), {x: object()}, "cannot take the place of x: it is no variable"),
        (x.sum(), {"x": X}, "only variables can be replaced, not 'x'"),
        (x.sum(), [x, X], "replace must be a dictionary"),
        (["x"], {x: X}, "outputs must be variables, but there is 'x'"),
        (theano.generic("g"), {theano.generic("g"): X}, "is not a tensor, so it cannot have batch axes"),
    ],
)
def test_what_is_refused(outputs, replace, message):
    if message is None:
        r = outputs.owner.inputs[0]
        replace, message = {r: M3}, "its last 2 dimensions must be known to be 1 where those of r are"
    with pytest.raises(TypeError, match=message):
        theano.vectorize_graph(outputs, replace)


# -- vectorize ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("func", "signature", "shapes"),
    [
        (lambda a, b: a @ b if isinstance(a, (np.ndarray, np.generic)) else T.dot(a, b), "(m,n),(n)->(m)", [(3, 4), (4,)]),
        (lambda a, b: a @ b if isinstance(a, (np.ndarray, np.generic)) else T.dot(a, b), "(m,n),(n)->(m)", [(2, 3, 4), (5, 1, 4)]),
        (lambda a: (a.sum(), a * 2), "(n)->(),(n)", [(2, 3, 4)]),
        (lambda a, b: a * b + 1, None, [(2, 3), (3,)]),
        (lambda a, b: a + 0 * b if isinstance(a, (np.ndarray, np.generic)) else T.constant(1.0) * a, "(),()->()", [(3,), (2, 3)]),
        (lambda a: np.float64(7) if isinstance(a, (np.ndarray, np.generic)) else T.constant(7.0), "(n)->()", [(2, 3, 4)]),
    ],
)  # fmt: skip
def test_vectorize_is_that_of_numpy(func, signature, shapes):
    values = [rng.normal(size=shape) for shape in shapes]
    variables = [T.TensorType("float64", [n == 1 for n in shape])() for shape in shapes]
    made = theano.vectorize(func, signature)(*variables)
    expected = np.vectorize(func, signature=signature)(*values)
    assert isinstance(made, tuple) == isinstance(expected, tuple)
    found = theano.function(variables, list(made) if isinstance(made, tuple) else made, on_unused_input="ignore")(*values)
    for a, b in zip(found, expected, strict=True) if isinstance(made, tuple) else [(found, expected)]:
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b)


def test_vectorize_keeps_the_form_of_the_result_and_the_name():
    def both(a):
        """Both."""
        return [a + 1, a - 1]

    made = theano.vectorize(both)
    assert made.__name__ == "both" and made.__doc__ == "Both." and isinstance(made(x), list)


def test_vectorize_twice():
    inner = theano.vectorize(lambda a, b: T.dot(a, b), "(n),(n)->()")
    outer = theano.vectorize(lambda P, q: inner(P, q).max(), "(m,n),(n)->()")
    a, b = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 4))
    np.testing.assert_allclose(theano.function([M3, X], outer(M3, X))(a, b), np.einsum("bmn,bn->bm", a, b).max(axis=1))


@pytest.mark.parametrize(
    ("func", "signature", "args", "error", "message"),
    [
        (3, None, (), TypeError, "func must be a function of variables, not 3"),
        (T.exp, "n->n", (), ValueError, "'n->n' is no signature; one is written as"),
        (T.exp, "(n)->", (), ValueError, "is no signature"),
        (T.exp, "(n)->(n)", (x, y), TypeError, r"the signature \(n\)->\(n\) is for 1 arguments, not for 2"),
        (T.exp, "(m,n)->(m,n)", (x,), TypeError, "argument 0, x of type .* has 1 dimensions, but the signature .* asks for 2 or more"),
        (T.exp, "(n)->()", (x,), ValueError, r"as output 0, which has 1 dimensions, but the signature \(n\)->\(\) says 0"),
        (T.exp, "(n)->(n),(n)", (x,), ValueError, "returned 1 variables, but the signature .* has 2"),
    ],
)  # fmt: skip
def test_vectorize_refuses(func, signature, args, error, message):
    with pytest.raises(error, match=message):
        theano.vectorize(func, signature)(*args)


def test_dimensions_of_one_name_are_equally_long():
    f = theano.function([X, v], theano.vectorize(lambda a, b: a.sum() + b.sum(), "(n),(n)->()")(X, v))
    with pytest.raises(ShapeError, match="a dimension of v is not as long as others of its name in the signature"):
        f(np.ones((2, 3)), np.ones(4))


# -- ops ------------------------------------------------------------------------------------------------------


def test_linear_algebra():
    a, b, B = rng.normal(size=(3, 4, 4)) + 4 * np.eye(4), rng.normal(size=(3, 4)), rng.normal(size=(3, 4, 2))
    spd = a @ a.transpose(0, 2, 1)
    for expression, value in (
        (T.nlinalg.matrix_inverse(m), np.linalg.inv(spd)), (T.slinalg.cholesky(m), np.linalg.cholesky(spd)),
        (T.nlinalg.det(m), np.linalg.det(spd)), (T.nlinalg.trace(m), np.trace(spd, axis1=1, axis2=2)),
        (T.slinalg.expm(m / 50), np.stack([scipy.linalg.expm(k / 50) for k in spd])), (T.nlinalg.eigh(m)[0], np.linalg.eigh(spd)[0]),
    ):  # fmt: skip
        out = theano.vectorize_graph(expression, {m: M3})
        np.testing.assert_allclose(theano.function([M3], out)(spd), value, rtol=1e-7, atol=1e-9)
    one = a[0]
    right = theano.vectorize_graph(T.slinalg.solve(A, x), {x: X})
    many = theano.vectorize_graph(T.slinalg.solve(A, m), {m: M3})
    both = theano.vectorize_graph(T.slinalg.solve(A, x), {A: M3, x: X})
    assert (loops(right), loops(many), loops(both)) == (0, 0, 1)
    np.testing.assert_allclose(theano.function([A, X], right)(one, b), np.linalg.solve(one, b.T).T)
    np.testing.assert_allclose(theano.function([A, M3], many)(one, B), np.linalg.solve(one[None], B))
    np.testing.assert_allclose(theano.function([M3, X], both)(a, b), np.linalg.solve(a, b[..., None])[..., 0])
    assert theano.function([A, M3], many)(one, B[:0]).shape == (0, 4, 2)
    singular = np.stack([a[0], np.zeros((4, 4)), a[2]])
    rows = T.linalg.solve(M3, X[:, :, None], on_error="nan")[:, :, 0]
    want = np.stack([np.linalg.solve(a[0], b[0]), np.full(4, np.nan), np.linalg.solve(a[2], b[2])])
    np.testing.assert_allclose(theano.function([M3, X], rows)(singular, b), want)


def test_a_choice_by_an_unbatched_condition_stays_lazy():
    @theano.as_op([T.dvector], [T.dvector])
    def never(a):
        raise AssertionError("computed")

    chosen = theano.ifelse.ifelse(s > 0, T.exp(x), never(y))
    f = theano.function([s, X, y], theano.vectorize_graph(chosen, {x: X}))
    value = rng.normal(size=(2, 3))
    np.testing.assert_allclose(f(1.0, value, np.ones(3)), np.exp(value))


def test_rows_that_choose_for_themselves():
    chosen = theano.ifelse.ifelse(x[0] > 0, (T.exp(x), x.sum()), (T.zeros_like(x), v.sum()))
    value, w = rng.normal(size=(4, 3)), rng.normal(size=2)
    value[:, 0] = [1, -1, 2, -2]
    f = theano.function([X, v], theano.vectorize_graph(list(chosen), {x: X}))
    found = f(value, w)
    up = value[:, 0] > 0
    np.testing.assert_allclose(found[0], np.where(up[:, None], np.exp(value), 0))
    np.testing.assert_allclose(found[1], np.where(up, value.sum(1), w.sum()))


def test_a_choice_in_a_loop_computes_what_the_row_chooses():
    seen = []

    @theano.as_op([T.dvector], [T.dvector])
    def seldom(a):
        seen.append(a.copy())
        return a

    results, _ = theano.map(lambda r: theano.ifelse.ifelse(r[0] > 0, seldom(r), T.exp(r)), X)
    value = np.array([[1.0, 2], [-1, 2], [-2, 2]])
    theano.function([X], results)(value)
    assert len(seen) == 1
    # Also where all ops have rules: no row computes both.
    kept, _ = theano.map(lambda r: theano.ifelse.ifelse(r[0] > 0, T.sin(r), T.exp(r)), X)
    f = theano.function([X], kept)
    assert loops(*f.maker.fgraph.outputs) == 1
    np.testing.assert_allclose(f(value), np.where(value[:, :1] > 0, np.sin(value), np.exp(value)))


def test_scalar_variables():
    from theano import scalar as scal
    from theano.tensor.shape.scalars import scalar_from_tensor, tensor_from_scalar

    k = scalar_from_tensor(s)
    out = tensor_from_scalar(scal.add(scal.exp(k), scalar_from_tensor(t)))
    f = theano.function([v, t], theano.vectorize_graph(out, {s: v}))
    np.testing.assert_allclose(f([1, 2], 3), np.exp([1, 2]) + 3)


def test_indices_with_a_batch_axis():
    i, j, I, J = T.lscalar("i"), T.lscalar("j"), T.lvector("I"), T.lvector("J")
    t3, t4 = T.dtensor3("t3"), T.dtensor4("t4")
    value, more = rng.normal(size=(3, 4, 5)), rng.normal(size=(2, 3, 4, 5))
    places, others = np.array([2, -1]), np.array([0, 3])
    for read in (lambda a, p, q: a[p], lambda a, p, q: a[:, q], lambda a, p, q: a[p, q], lambda a, p, q: a[p, 1:, q], lambda a, p, q: a[1:, q, ::2], lambda a, p, q: a[1, q], lambda a, p, q: a[p, None, :, q]):  # fmt: skip
        part = read(t3, i, j)
        expected = np.stack([read(value, p, q) for p, q in zip(places, others, strict=True)])
        out = theano.vectorize_graph(part, {i: I, j: J})
        assert loops(out) == 0
        np.testing.assert_array_equal(theano.function([t3, I, J], out, on_unused_input="ignore")(value, places, others), expected)
        out = theano.vectorize_graph(part, {t3: t4, i: I, j: J})
        expected = np.stack([read(a, p, q) for a, p, q in zip(more, places, others, strict=True)])
        np.testing.assert_array_equal(theano.function([t4, I, J], out, on_unused_input="ignore")(more, places, others), expected)
        written = T.set_subtensor(part, s)
        out = theano.vectorize_graph(written, {t3: t4, i: I, j: J, s: v})
        found = theano.function([t4, I, J, v], out, on_unused_input="ignore")(more, places, others, [7.0, 8.0])
        for k in range(2):
            np.testing.assert_array_equal(found[k], run(written, {t3: more[k], i: places[k], j: others[k], s: 7.0 + k}))


def test_a_part_of_each_row_is_a_part_of_all_rows():
    """A view, as it was, and none of the elements is looked up by its place."""
    i, value = T.lscalar("i"), rng.normal(size=(2, 3, 4))
    for read in (lambda a: a[1], lambda a: a[i], lambda a: a[1:, ::-1], lambda a: a[:, i], lambda a: a[1:][i - 1]):
        out = theano.vectorize_graph(read(m), {m: M3})
        f = theano.function([M3, i], out, on_unused_input="ignore")
        assert not any("Advanced" in type(node.op).__name__ for node in toposort([out]))
        np.testing.assert_array_equal(f(value, 2), np.stack([run(read(m), {m: a, i: 2}) for a in value]))


def test_slices_whose_ends_move():
    part = T.constant(np.arange(10.0))[T.cast(s, "int64") : T.cast(s, "int64") + 3]
    out = theano.vectorize_graph(part, {s: v})
    np.testing.assert_array_equal(theano.function([v], out)([1, 5]), [[1, 2, 3], [5, 6, 7]])
    k = T.lvector("k")
    mixed = m[T.cast(s, "int64") : T.cast(s, "int64") + 2, k]  # the slice is a variable that no tensor can stand for
    out = theano.vectorize_graph(mixed, {s: v})
    value = rng.normal(size=(5, 4))
    np.testing.assert_array_equal(theano.function([m, k, v], out)(value, [1, 2], [0, 3]), [value[:2, 1:3], value[3:, 1:3]])


def test_expressions_behind_an_op():
    op = theano.OpFromGraph([x, y], [T.exp(x) * y, x.sum()], name="pair")
    a, b = rng.normal(size=(3, 4)), rng.normal(size=4)
    out = theano.vectorize_graph(op(x, y), {x: X})
    assert loops(*out) == 0
    found = theano.function([X, y], out)(a, b)
    np.testing.assert_allclose(found[0], np.exp(a) * b)
    np.testing.assert_allclose(found[1], a.sum(axis=1))
    # Derivatives that somebody gave speak of one row.
    own = theano.OpFromGraph([x], [T.exp(x).sum()], grad_overrides=lambda inputs, gs: [gs[0] * 100 * T.ones_like(inputs[0])])
    out = theano.vectorize_graph(own(x), {x: X})
    assert loops(out) == 1
    np.testing.assert_allclose(theano.function([X], grad(out.sum(), X))(a), np.full_like(a, 100))


@pytest.mark.parametrize("body", [lambda r: T.exp(r) * v, lambda r: T.sort(r), lambda r: T.arange(T.cast(v[0], "int64")) + r.sum()])
def test_loops_inside(body):
    inner = theano.map(body, m)[0]
    for replace, given in (({m: M3}, (rng.normal(size=(2, 3, 4)), np.arange(1.0, 5))), ({m: M3, v: Y}, (rng.normal(size=(2, 3, 4)), np.ones((2, 4)))), ({v: Y}, (rng.normal(size=(3, 4)), np.ones((2, 4))))):  # fmt: skip
        out = theano.vectorize_graph(inner, replace)
        inputs = [replace.get(m, m), replace.get(v, v)]
        found = theano.function(inputs, out, on_unused_input="ignore")(*given)
        each = []
        one = theano.function([m, v], inner, on_unused_input="ignore")
        for k in range(2):
            each.append(one(given[0][k] if m in replace else given[0], given[1][k] if v in replace else given[1]))
        np.testing.assert_allclose(found, np.stack(each) if out is not inner else each[0])


class Doubled(Op):
    """An op with a rule of its own."""

    __props__ = ()

    def make_node(self, a):
        return Apply(self, [a], [a.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * 2

    def batch(self, node, inputs, batched):
        assert batched == [True] and node.inputs[0].type.ndim == inputs[0].type.ndim - 1
        return [self(inputs[0])]


def test_a_rule_of_a_users_op():
    out = theano.vectorize_graph(Doubled()(x), {x: X})
    assert isinstance(out.owner.op, Doubled) and out.owner.inputs == [X]

    class Wrong(Doubled):
        def batch(self, node, inputs, batched):
            return [inputs[0].sum()]

    with pytest.raises(ValueError, match="the batching rule of Wrong returned .* neither as many dimensions nor one more"):
        theano.vectorize_graph(Wrong()(x), {x: X})

    class Short(Doubled):
        def batch(self, node, inputs, batched):
            return []

    with pytest.raises(ValueError, match="the batching rule of Short returned 0 outputs, not 1"):
        theano.vectorize_graph(Short()(x), {x: X})


def test_without_a_rule():
    @theano.as_op([T.dvector], [T.dvector])
    def python(a):
        assert a.ndim == 1
        return a * 2

    node = python(x).owner
    assert rule(node, [X], [True]) is None
    with pytest.raises(NoRuleError, match="has no rule for many rows at once"):
        batch([python(x)], {x: X}, by_loop=False)
    out = theano.vectorize_graph(python(x) + 1, {x: X})
    assert loops(out) == 1
    value = rng.normal(size=(3, 4))
    np.testing.assert_allclose(theano.function([X], out)(value), value * 2 + 1)


# -- Jacobians ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        T.nnet.softmax(T.dot(A, x))[0], T.cumsum(T.exp(x)), T.sin(x)[[2, 0, 0]], T.sort(x), T.dot(A, T.tanh(T.dot(A, x))),
        T.slinalg.solve(A, T.exp(x)), T.concatenate([x, T.exp(x)]), T.logsumexp(T.dot(A, x)) * x, x.prod() * x,
    ],
)  # fmt: skip
def test_jacobians_need_no_loop(expression):
    loop = theano.Mode("cvm", "fast_run").excluding("local_map_rows_at_once", "local_unroll_map_rows")
    for made in (jacobian(expression, x), hessian((expression**2).sum(), x)):
        best = theano.function([x, A], made, on_unused_input="ignore")
        slow = theano.function([x, A], made, mode=loop, on_unused_input="ignore")
        assert loops(*best.maker.fgraph.outputs) == 0
        for n in (4, 1):
            given = rng.uniform(0.5, 1.5, n if n == 4 else 3), rng.normal(size=(n if n == 4 else 3,) * 2) + 3 * np.eye(n if n == 4 else 3)
            np.testing.assert_allclose(best(*given), slow(*given), rtol=1e-9, atol=1e-11)


def test_a_loop_stays_where_all_rows_together_need_much_more_memory():
    (out,) = map_rows([x], [X], [T.exp(x.dimshuffle("x", 0) * A).sum()])
    f = theano.function([X, A], out)
    assert loops(*f.maker.fgraph.outputs) == 1
    f = theano.function([x, A], jacobian(T.logsumexp(A * x, axis=1), x))
    assert loops(*f.maker.fgraph.outputs) == 1
    (out,) = map_rows([A], [M3], [T.dot(T.tanh(A), A)])  # products come one after the other anyhow
    assert loops(*theano.function([M3], out).maker.fgraph.outputs) == 1
    f = theano.function([x], jacobian(T.repeat(x, 2), x))  # a matrix of which the loop would make no copy either
    assert loops(*f.maker.fgraph.outputs) == 0
    (out,) = map_rows([x], [X], [T.exp(x.dimshuffle("x", 0) * T.ones((1, 4))).sum()])
    assert loops(*theano.function([X], out).maker.fgraph.outputs) == 0
