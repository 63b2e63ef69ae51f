"""Loops over rows: values, derivatives, shapes, and the same from the loop, from all rows at once and from copies."""

import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.gradient import DisconnectedInputError, Rop, grad, hessian, jacobian, verify_grad
from theano.tensor.rows.op import MapRows, map_rows
from theano.tensor.rows.rules import MANY_NODES

LOOP = theano.Mode("cvm", "fast_run").excluding("local_map_rows_at_once", "local_unroll_map_rows")
PLAIN = theano.Mode("py", None)
rng = np.random.default_rng(11)

r, v = T.dvector("r"), T.dvector("v")
X, W, A = T.dmatrix("X"), T.dmatrix("W"), T.dmatrix("A")
s = T.dscalar("s")


def kinds(f):
    return [type(node.op).__name__ for node in f.maker.fgraph.toposort()]


# name: an expression of a row r, of v, W and s, and the same with NumPy. Rows and v have 4 elements, W is 4 x 4.
FORMS = {
    "elementwise": (T.exp(r) * v + s, lambda r, v, W, s: np.exp(r) * v + s),
    "two rows": (r * T.sin(r), lambda r, v, W, s: r * np.sin(r)),
    "sum": (T.sum(r * v), lambda r, v, W, s: (r * v).sum()),
    "max": (T.max(r) - T.min(r), lambda r, v, W, s: r.max() - r.min()),
    "mean in float32": (T.mean(r.astype("float32")), lambda r, v, W, s: r.astype("f").mean(dtype="f8").astype("f")),
    "row dot matrix": (T.dot(r, W), lambda r, v, W, s: r @ W),
    "matrix dot row": (T.dot(W, r), lambda r, v, W, s: W @ r),
    "row dot vector": (T.dot(r, v), lambda r, v, W, s: r @ v),
    "vector dot row": (T.dot(v, r), lambda r, v, W, s: v @ r),
    "row dot row": (T.dot(r, r * v), lambda r, v, W, s: r @ (r * v)),
    "outer": (T.dot(r.dimshuffle(0, "x"), v.dimshuffle("x", 0)), lambda r, v, W, s: np.outer(r, v)),
    "shuffled": (r.dimshuffle("x", 0) * W, lambda r, v, W, s: r * W),
    "element": (r[1], lambda r, v, W, s: r[1]),
    "part": (r[1:3] * v[::-2], lambda r, v, W, s: r[1:3] * v[::-2]),
    "symbolic part": (r[T.cast(s, "int64") :], lambda r, v, W, s: r[int(s) :]),
    "written": (T.inc_subtensor(v[1:3], r[:2]), lambda r, v, W, s: v + np.r_[0, r[:2], 0]),
    "written by one": (T.set_subtensor(W[1], r[0]), lambda r, v, W, s: np.r_[W[:1], np.full((1, 4), r[0]), W[2:]]),
    "written into": (T.set_subtensor(r[::2], v[0]), lambda r, v, W, s: np.where(np.arange(4) % 2, r, v[0])),
    "repeated": (T.alloc(r, 2, r.shape[0]), lambda r, v, W, s: np.broadcast_to(r, (2, 4))),
    "reshaped": (r.reshape((2, 2)), lambda r, v, W, s: r.reshape(2, 2)),
    "reshaped by size": (W[0].reshape((2, 2)) * r.reshape((2, -1)), lambda r, v, W, s: W[0].reshape(2, 2) * r.reshape(2, 2)),
    "length": (r * r.shape[0], lambda r, v, W, s: r * 4),
    "its length": (r.shape[0] + T.cast(r.sum() * 0, "int64"), lambda r, v, W, s: np.int64(4)),
    "nothing of it": (v * 2, lambda r, v, W, s: v * 2),
    "itself": (r, lambda r, v, W, s: r),
    "sorted": (T.sort(r), lambda r, v, W, s: np.sort(r)),
    "whole numbers": (T.cast(T.sgn(r), "int8"), lambda r, v, W, s: np.sign(r).astype("i1")),
    "through a matrix": (T.sum(r.dimshuffle("x", 0) * W * r.dimshuffle(0, "x")), lambda r, v, W, s: r @ W @ r),
}
#: Those that stay a loop: a matrix in between.
STAY = {"through a matrix"}


def values(n):
    return rng.normal(size=(n, 4)), rng.normal(size=4), rng.normal(size=(4, 4)), 1.5


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    expression, numpy_form = FORMS[name]
    (out,) = map_rows([r], [X], [expression])
    loop = theano.function([X, v, W, s], out, mode=LOOP, on_unused_input="ignore")
    best = theano.function([X, v, W, s], out, on_unused_input="ignore")
    assert ("MapRows" in kinds(loop)) == (name != "nothing of it")
    assert ("MapRows" in kinds(best)) == (name in STAY)
    for n in (5, 1, 0):
        given = values(n)
        rows = [numpy_form(row, *given[1:]) for row in given[0]]
        for f in (loop, best):
            found = f(*given)
            assert found.dtype == out.type.dtype
            if n:
                np.testing.assert_allclose(found, np.stack(rows), rtol=1e-6, atol=1e-12)
            else:
                assert found.shape == (0, *np.shape(numpy_form(np.zeros(4), *given[1:])))


@pytest.mark.parametrize("name", [n for n, (e, _) in FORMS.items() if e.type.dtype == "float64" and n not in ("max", "sorted")])
@pytest.mark.parametrize("mode", ["loop", "best"])
def test_derivatives(name, mode):
    expression, _ = FORMS[name]
    mode = LOOP if mode == "loop" else None
    X0, v0, W0, _ = values(3)
    wrt = [X, v, W]

    def fun(*given):
        (out,) = map_rows([r], [given[0]], [theano.clone(expression, {v: given[1], W: given[2], s: T.constant(1.5, dtype="float64")})])
        return out

    verify_grad(fun, [X0, v0, W0], rng=np.random.RandomState(0), mode=mode)

    def slope(*given):
        out = fun(*given)
        return grad((out * T.cos(out)).sum(), given[0], disconnected_inputs="ignore")

    verify_grad(slope, [X0, v0, W0], rng=np.random.RandomState(0), mode=mode)
    # A direction is the product of the gradient's transpose.
    out = fun(*wrt)
    along = [T.dmatrix(), T.dvector(), T.dmatrix()]
    d = theano.function([*wrt, *along], Rop(out, wrt, along, disconnected_outputs="ignore"), mode=mode, on_unused_input="ignore")
    value = theano.function(wrt, out, mode=mode, on_unused_input="ignore")
    D = [rng.normal(size=a.shape) for a in (X0, v0, W0)]
    up, down = (value(*(a + h * b for a, b in zip((X0, v0, W0), D, strict=True))) for h in (1e-6, -1e-6))
    np.testing.assert_allclose(d(X0, v0, W0, *D), (up - down) / 2e-6, rtol=1e-5, atol=1e-6)


def test_the_shape_is_known_without_the_loop():
    (out,) = map_rows([r], [X], [T.sort(r)[1:] * v[0]])
    f = theano.function([X, v], out.shape, on_unused_input="ignore")
    assert "MapRows" not in kinds(f) and f(np.ones((3, 4)), np.ones(2)).tolist() == [3, 3]


def test_several_sequences_end_with_the_shortest():
    q = T.dvector("q")
    out = map_rows([r, q], [X, A], [T.sort(r) * q, q.sum()])
    both = theano.function([X, A], [*out, *grad(out[0].sum(), [X, A]), out[0].shape], mode=LOOP)
    x, a = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    product, sums, gx, ga, shape = both(x, a)
    np.testing.assert_allclose(product, np.sort(x) * a[:3])
    np.testing.assert_allclose(sums, a[:3].sum(axis=1))
    np.testing.assert_allclose(ga, np.r_[np.sort(x), np.zeros((2, 4))])
    assert gx.shape == x.shape and shape.tolist() == [3, 4]
    at_once = theano.function([X, A], map_rows([r, q], [X, A], [r * q])[0])
    assert "MapRows" not in kinds(at_once)
    np.testing.assert_allclose(at_once(x, a), x * a[:3])


@pytest.mark.parametrize("layout", ["F", "step", "back", "transposed", "one row repeated", "unaligned", "read only"])
def test_layouts(layout):
    f = theano.function([X, v], map_rows([r], [X], [T.sort(r * v), r])[0], mode=LOOP)
    base = rng.normal(size=(6, 8))
    bytes_ = np.empty(6 * 8 * 8 + 1, "u1")
    unaligned = bytes_[1:].view("f8").reshape(6, 8)
    unaligned[:] = base
    frozen = base.copy()
    frozen.flags.writeable = False
    x = {
        "F": np.asfortranarray(base), "step": base[::2, ::2], "back": base[::-1, ::-1], "transposed": base.T,
        "one row repeated": np.broadcast_to(base[0], (5, 8)), "unaligned": unaligned, "read only": frozen,
    }[layout]  # fmt: skip
    w = rng.normal(size=x.shape[1])
    np.testing.assert_array_equal(f(x, w), np.sort(np.array(x) * w))
    # Through the loop itself, which takes an array as it is.
    for given in (x, np.array(x)):
        found = map_rows([r], [X], [r * v])[0].owner.op.fn
        found = found.loop(len(given), ((np.require(given, requirements="A"), 0),), (), (), (w,), (len(given),), False)
        np.testing.assert_array_equal(found[1][0], np.array(x) * w)


@pytest.mark.parametrize(
    ("rows", "nodes", "written_out"),
    [
        (0, 1, False), (1, 1, True), (1, MANY_NODES + 1, True), (2, MANY_NODES // 2, True), (2, MANY_NODES // 2 + 1, False),
        (MANY_NODES, 1, True), (MANY_NODES + 1, 1, False),
    ],
)  # fmt: skip
def test_a_single_row_or_few_nodes_in_all_are_written_out(rows, nodes, written_out):
    expression = r * v
    for _ in range(nodes - 1):
        expression = T.sort(expression)
    given, factors = rng.normal(size=(rows, 4)), rng.normal(size=4)
    mode = theano.Mode("cvm", "fast_run").excluding("local_map_rows_at_once")
    f = theano.function([v], map_rows([r], [T.constant(given)], [expression])[0], mode=mode)
    assert ("MapRows" not in kinds(f)) == written_out
    np.testing.assert_array_equal(f(factors), np.sort(given * factors, axis=1) if nodes > 1 else given * factors)


def test_one_row_for_all_is_computed_once():
    """Repeated rows, beside others too, and parts of what is repeated; with an unknown number of rows it stays a loop."""
    n, k = T.lscalar("n"), T.lscalar("k")
    length = T.lscalar("length")
    both = T.alloc(T.constant([3, 2], dtype="int64"), 100, 2)
    same = [map_rows([length], [T.alloc(k, 100)], [T.arange(length)])[0]]
    same += [map_rows([length], [both[:, i]], [T.arange(length)])[0] for i in (0, 1)]
    same += map_rows([length, r], [T.alloc(k, 100), T.alloc(v, 100, 4)], [T.sort(r)[:length] * s])
    f = theano.function([k, v, s], same)
    assert "MapRows" not in kinds(f)
    beside = map_rows([length, r], [T.alloc(k, 100), T.constant(np.ones((99, 4)))], [T.sort(r)[:length] * s])
    unknown = map_rows([length], [T.alloc(k, n)], [T.arange(length)])
    g = theano.function([k, n, s], [*beside, *unknown], mode=LOOP)
    assert [node.op.sequences for node in g.maker.fgraph.toposort() if isinstance(node.op, MapRows)] == [1, 1]
    for got, row in zip(f(2, [4, 1, 3, 2], 2.0), ([0, 1], [0, 1, 2], [0, 1], [2, 4]), strict=True):
        np.testing.assert_array_equal(got, [row] * 100)
    for got, rows in zip(g(2, 3, 2.0), (np.full((99, 2), 2), [[0, 1]] * 3), strict=True):
        np.testing.assert_array_equal(got, rows)


def test_rows_of_different_lengths_are_refused():
    k, n = T.lvector("k"), T.lscalar("n")
    f = theano.function([k], map_rows([n], [k], [T.arange(n)])[0], mode=LOOP)
    np.testing.assert_array_equal(f([3, 3]), [[0, 1, 2]] * 2)
    with pytest.raises(ValueError, match="row 1 of output 0 has length 4 along axis 0, but the rows before it have 3"):
        f([3, 4])
    np.testing.assert_array_equal(f([2]), [[0, 1]])  # nothing is left of the call that failed


def test_an_error_in_a_row_names_its_expression():
    f = theano.function([X, v], map_rows([r], [X], [T.sort(r) + v])[0], mode=LOOP)
    with pytest.raises(ValueError, match=r"4.*3|3.*4"):
        f(np.ones((2, 4)), np.ones(3))


def test_what_stays_the_same_is_bound_anew_in_each_call():
    f = theano.function([r, v], [theano.Out(v, borrow=True), T.sort(r)])
    for w in (np.ones(3), np.frombuffer(b"x" + np.arange(3.0).tobytes(), "u1")[1:].view("f8"), np.full(3, 7.0)):
        np.testing.assert_array_equal(f.loop(2, ((np.zeros((2, 4)), 0),), (), (), (w,), (2, 2), False)[1][0], [w, w])


def test_shared_variables_and_python_ops():
    state = theano.shared(np.arange(4.0))

    @theano.as_op([T.dvector], [T.dvector])
    def doubled(x):
        return x * 2

    f = theano.function([X], map_rows([r], [X], [doubled(T.sort(r)) + state])[0], mode=LOOP)
    x = rng.normal(size=(3, 4))
    np.testing.assert_allclose(f(x), np.sort(x) * 2 + np.arange(4))
    state.set_value(np.zeros(4))
    np.testing.assert_allclose(f(x), np.sort(x) * 2)


def test_interpreted_and_pickled():
    (out,) = map_rows([r], [X], [T.sort(r) + v])
    x, w = rng.normal(size=(3, 4)), rng.normal(size=4)
    f = theano.function([X, v], out, mode=PLAIN)
    np.testing.assert_allclose(f(x, w), np.sort(x) + w)
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_allclose(again(x, w), np.sort(x) + w)


def test_calls_of_the_loop_at_once_and_inside_itself():
    inner = T.dscalar()
    (outer,) = map_rows([r], [X], [map_rows([inner], [r], [T.sort(T.stack([inner, v[0]]))[0]])[0]])
    f = theano.function([X, v], outer, mode=LOOP)
    x = rng.normal(size=(3, 4))
    np.testing.assert_allclose(f(x, [0.1]), np.minimum(x, 0.1))


def test_wrong_use():
    with pytest.raises(ValueError, match="at least one sequence"):
        MapRows([], [v], [v])
    with pytest.raises(TypeError, match="depend on W"):
        MapRows([r], [v], [r + W[0]])
    with pytest.raises(TypeError, match="one dimension more"):
        map_rows([r], [v], [r])
    with pytest.raises(TypeError, match="one dimension more"):
        map_rows([r], [T.fmatrix()], [r])
    with pytest.raises(TypeError, match="takes 2 inputs"):
        MapRows([r], [v], [r + v])(X)
    f = theano.function([r, v], r + v)
    one = np.ones(4)
    assert f(one, one).tolist() == [2] * 4


# -- jacobian and hessian ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["loop", "best", "plain"])
def test_jacobian(mode):
    mode = {"loop": LOOP, "best": None, "plain": PLAIN}[mode]
    y = T.tanh(T.dot(W, v)) * s
    w, x, a = rng.normal(size=(3, 4)), rng.normal(size=4), 0.7
    slope = (1 - np.tanh(w @ x) ** 2) * a
    f = theano.function([W, v, s], jacobian(y, [v, W, s]), mode=mode)
    by_v, by_w, by_s = f(w, x, a)
    np.testing.assert_allclose(by_v, slope[:, None] * w)
    np.testing.assert_allclose(by_w, np.einsum("ij,i,k->ijk", np.eye(3), slope, x), atol=1e-12)
    np.testing.assert_allclose(by_s, np.tanh(w @ x))
    assert [z.shape for z in f(np.zeros((0, 4)), x, a)] == [(0, 4), (0, 0, 4), (0,)]


def test_jacobian_of_few_known_rows_has_no_loop():
    y = T.stack([v.sum(), T.prod(v)])
    f = theano.function([v], T.jacobian(y, v))
    assert "MapRows" not in kinds(f)
    np.testing.assert_allclose(f([2, 3, 5]), [[1, 1, 1], [15, 10, 6]])


def test_jacobian_takes_and_returns_what_is_documented():
    y = v * s
    assert isinstance(jacobian(y, [v]), list) and isinstance(jacobian(y, (v, s)), tuple)
    assert jacobian(y, v).type.ndim == 2 and T.jacobian is jacobian and T.hessian is hessian
    assert theano.gradient.jacobian is jacobian
    # A number has a gradient, and an expression of itself the identity.
    np.testing.assert_array_equal(jacobian(y.sum(), v).eval({v: [1, 2], s: 3}), [3, 3])
    np.testing.assert_array_equal(jacobian(v, v).eval({v: [1, 2]}), np.eye(2))
    with pytest.raises(DisconnectedInputError):
        jacobian(y, W)
    found = jacobian(y, W, disconnected_inputs="ignore").eval({v: [1.0, 2.0], s: 1.0, W: np.ones((3, 4))})
    assert found.shape == (2, 3, 4) and not found.any()
    with pytest.warns(UserWarning):
        jacobian(y, W, disconnected_inputs="warn")
    square = v**2
    held = jacobian(square * v, v, consider_constant=[square])
    np.testing.assert_allclose(held.eval({v: [1.0, 2.0]}), np.diag([1, 4]))
    with pytest.raises(ValueError, match="2 dimensions.*flatten"):
        jacobian(W, v)
    with pytest.raises(TypeError, match="must be a tensor"):
        jacobian(3.0, v)


def test_jacobian_of_whole_numbers_is_zero():
    found = jacobian(T.cast(T.floor(v), "int32"), v).eval({v: [1.5, 2.5]})
    assert found.dtype == "float64" and found.shape == (2, 2) and not found.any()


def test_jacobian_in_float32():
    z = T.fvector()
    found = jacobian(T.exp(z), z).eval({z: np.array([0, 1], "f")})
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, np.diag(np.exp([0, 1])), rtol=1e-6)


def test_jacobian_of_test_values():
    with theano.config.change_flags(compute_test_value="raise"):
        x = T.dvector("x")
        x.tag.test_value = np.array([1.0, 2.0, 3.0])
        # A vector of single elements is what models of differential equations have.
        for expression in (x**2, T.stack([x[0] * x[1], T.exp(x[2])]), T.stack([x[1] ** 3])):
            found = jacobian(expression, x)
            value = theano.function([x], found)(x.tag.test_value)
            np.testing.assert_allclose(found.tag.test_value, value)


def test_jacobian_can_be_differentiated():
    w = rng.normal(size=(3, 4))

    def total(x):
        return (jacobian(T.tanh(T.dot(T.constant(w), x)), x) ** 2).sum()

    for mode in (None, LOOP):
        verify_grad(total, [rng.normal(size=4)], rng=np.random.RandomState(1), mode=mode)


@pytest.mark.parametrize("mode", ["loop", "best"])
def test_hessian(mode):
    mode = LOOP if mode == "loop" else None
    cost = T.exp(T.dot(v, T.dot(W, v))) + T.sum(r**3)
    f = theano.function([v, W, r], hessian(cost, [v, r]), mode=mode)
    x, w, q = rng.normal(size=3) / 3, rng.normal(size=(3, 3)) / 3, rng.normal(size=5)
    both, e = w + w.T, np.exp(x @ w @ x)
    by_v, by_r = f(x, w, q)
    np.testing.assert_allclose(by_v, e * (np.outer(both @ x, both @ x) + both))
    np.testing.assert_allclose(by_r, np.diag(6 * q))


def test_hessian_takes_and_returns_what_is_documented():
    assert isinstance(hessian((v**2).sum(), (v,)), tuple)
    linear = hessian(T.dot(v, r), v)
    np.testing.assert_array_equal(linear.eval({v: [1.0, 2], r: [3.0, 4]}), np.zeros((2, 2)))
    for cost, wrt, match in [(v, v, "without dimensions"), (s, s, "vector"), (W.sum(), W, "vector")]:
        with pytest.raises(TypeError, match=match):
            hessian(cost, wrt)
    with pytest.raises(DisconnectedInputError):
        hessian(v.sum(), r)


# -- theano.map -----------------------------------------------------------------------------------------------------


def test_map():
    results, updates = theano.map(lambda row, w, c: T.dot(row, w) * c, sequences=[X], non_sequences=[W, 2.0])
    assert len(updates) == 0
    x, w = rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
    np.testing.assert_allclose(results.eval({X: x, W: w}), 2 * x @ w)
    many, _ = theano.map(lambda row: [row.sum(), T.sort(row)], X)
    assert isinstance(many, list)
    np.testing.assert_allclose(many[1].eval({X: x}), np.sort(x))
    pair, _ = theano.map(lambda a, b: a - b, [X, {"input": A, "taps": [0]}], go_backwards=True)
    np.testing.assert_allclose(pair.eval({X: x, A: x[::-1]}), x[::-1] - x)
    with_updates, _ = theano.map(lambda row: (row * 2, {}), X)
    np.testing.assert_allclose(with_updates.eval({X: x}), x * 2)


def test_map_truncates_gradients():
    results, _ = theano.map(lambda row: row**2, X, truncate_gradient=2)
    g = grad(results.sum(), X).eval({X: np.ones((5, 2))})
    np.testing.assert_array_equal(g, np.repeat([[0], [0], [0], [2], [2]], 2, axis=1))


def test_map_with_a_state():
    total = theano.shared(0.0, name="total")
    results, updates = theano.map(lambda row: ([row + total], {total: total + 1}), X)
    f = theano.function([X], results, updates=updates)
    np.testing.assert_allclose(f(np.zeros((3, 1)))[:, 0], [0, 1, 2])
    assert total.get_value() == 3
    shifted, _ = theano.map(lambda a, b: a - b, [{"input": X, "taps": [-1, 0]}])
    np.testing.assert_allclose(shifted.eval({X: [[1.0], [3], [7]]}), [[-2], [-4]])


def test_map_refuses():
    with pytest.raises(ValueError, match="how many steps"):
        theano.map(lambda: s, [])
    with pytest.raises(TypeError, match="no dimension"):
        theano.map(lambda a: a, [s])
