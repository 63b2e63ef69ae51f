"""NumPy's functions and arrays with tensor variables: symbolic results that are NumPy's, or a refusal, never nonsense."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.graph.traverse import inputs
from theano.tensor import numpy_calls
from theano.tensor.reduce import extremes
from theano.tensor.reduce import functions as reductions

x, y, m, i, b = T.dvector("x"), T.dvector("y"), T.dmatrix("m"), T.lvector("i"), T.TensorType("bool", (False,))("b")
VALUES = {
    x: np.array([0.5, 0.25, 0.75]), y: np.array([1.0, 2.0, 4.0]), m: np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]]),
    i: np.array([2, 0, 1]), b: np.array([True, False, True]),
}  # fmt: skip
ARRAY = np.array([3.0, -1.0, 2.0])


def values_of(arguments):
    if isinstance(arguments, (list, tuple)):
        return type(arguments)(map(values_of, arguments))
    return VALUES.get(arguments, arguments) if isinstance(arguments, T.TensorVariable) else arguments


def check(*calls):
    """Hold what calls (a function, its arguments, its keywords) make of variables to what they make of values."""
    found, wanted = [], []
    for f, arguments, keywords in calls:
        ours = f(*arguments, **keywords)
        with np.errstate(all="ignore"):
            theirs = f(*values_of(arguments), **keywords)
        many = isinstance(theirs, tuple)
        found += ours if many else [ours]
        wanted += theirs if many else [theirs]
    assert all(isinstance(v, T.TensorVariable) for v in found)
    for v, ours, theirs in zip(found, computed(found), wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=str(v))


def computed(found):
    given = [v for v in inputs(found) if v in VALUES]
    return theano.function(given, found)(*(VALUES[v] for v in given))


def universal(arity):
    """Return NumPy's universal functions of real numbers that are functions here as well."""
    takes = "d" * arity + "->"
    found = {f for f in vars(np).values() if isinstance(f, np.ufunc) and any(t.startswith(takes) for t in f.types)}
    ours = {f.__name__ for f in found if hasattr(T.elemwise.functions, numpy_calls.RENAMED.get(f.__name__, f.__name__))}
    return sorted(ours - {"equal", "not_equal"})  # these two look at the things themselves


UNARY, BINARY = universal(1), universal(2)


def test_most_are_found():
    assert len(UNARY) >= 36 and len(BINARY) >= 14


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(name):
    check((getattr(np, name), (x,), {}))


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(name):
    f = getattr(np, name)
    check(*((f, pair, {}) for pair in ((x, y), (x, ARRAY), (y, 2.0), (np.float64(2), x), (np.abs(ARRAY), x))))


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.lt, operator.ge, operator.gt, operator.le])
def test_operators_with_a_value_on_the_left(op):
    lefts = [ARRAY**2, np.float64(2), np.float32(2), np.int64(3), 2, 2.5, [1.0, 2.0, 3.0]]
    found = [op(left, x) for left in lefts]
    for left, v, value in zip(lefts, found, computed(found), strict=True):
        wanted = op(np.asarray(left), VALUES[x])
        np.testing.assert_allclose(value, wanted, err_msg=repr(left))
        assert v.dtype == wanted.dtype, left
        if isinstance(left, (int, float)) and not isinstance(left, np.floating) or isinstance(left, np.float32):
            assert op(left, T.fvector("f")).dtype == ("bool" if v.dtype == "bool" else "float32"), left


def test_other_operators():
    for op in (operator.and_, operator.or_, operator.xor):
        found = op(VALUES[b], b)
        np.testing.assert_array_equal(found.eval({b: VALUES[b]}), op(VALUES[b], VALUES[b]))
    check((np.matmul, (m, y), {}))
    np.testing.assert_allclose((np.ones((2, 2)) @ m).eval({m: VALUES[m]}), np.ones((2, 2)) @ VALUES[m])
    assert (x == ARRAY) is False and (x != ARRAY) is True and x not in [1, y] and x in [y, x]
    total = ARRAY
    total += x
    np.testing.assert_allclose(total.eval({x: VALUES[x]}), ARRAY + VALUES[x])
    np.testing.assert_array_equal(ARRAY, [3, -1, 2])


CASES = [
    (np.sum, (m,), {}), (np.sum, (m, 1), {}), (np.sum, (m,), {"axis": 0, "keepdims": True}), (np.prod, (m,), {"axis": 1}),
    (np.mean, (m,), {"axis": (0, 1)}), (np.var, (m,), {"axis": 0, "ddof": 1}), (np.std, (m,), {"axis": 1}), (np.max, (m,), {"axis": 1}),
    (np.amax, (m,), {}), (np.min, (m, 0), {}), (np.amin, (m,), {}), (np.any, (b,), {}), (np.all, (b,), {}), (np.argmax, (m,), {"axis": 1}),
    (np.argmin, (m,), {}), (np.ravel, (m,), {}), (np.ptp, (m,), {"axis": 1}), (np.cumsum, (m,), {"axis": 1}), (np.cumprod, (m,), {"axis": 0}), (np.dot, (m, y), {}),
    (np.dot, (np.ones((4, 2)), m), {}), (np.outer, (x, y), {}), (np.tensordot, (m, y, 1), {}), (np.concatenate, ([x, y, ARRAY],), {}),
    (np.concatenate, ((m, m),), {"axis": 1}), (np.stack, ([x, y],), {"axis": 1}), (np.where, (b, x, y), {}), (np.where, (b, x, 0.0), {}),
    (np.clip, (m, -1.0, 1.0), {}), (np.round, (m,), {}), (np.reshape, (m, (3, 2)), {}), (np.transpose, (m,), {}), (np.swapaxes, (m, 0, 1), {}),
    (np.moveaxis, (m, 0, 1), {}), (np.squeeze, (m,), {}), (np.repeat, (m, 2), {"axis": 1}), (np.tile, (m, (2, 1)), {}), (np.roll, (m, 1), {"axis": 1}),
    (np.sort, (m,), {"axis": 0}), (np.argsort, (m,), {"axis": 1}), (np.diff, (m,), {}), (np.diag, (x,), {}), (np.diagonal, (m,), {}), (np.trace, (m,), {}),
    (np.tril, (m,), {}), (np.triu, (m, 1), {}), (np.zeros_like, (m,), {}), (np.ones_like, (m,), {}), (np.take, (y, i), {}), (np.nonzero, (b,), {}),
    (np.flatnonzero, (b,), {}), (np.searchsorted, (y, x), {}), (np.cov, (m,), {}), (np.isclose, (x, y), {}), (np.bincount, (i,), {}),
    (np.unique, (i,), {}), (np.real, (x,), {}), (np.full_like, (m, 2.0), {}), (np.broadcast_to, (y, (2, 3)), {}), (np.compress, (ARRAY > 0, y), {}),
]  # fmt: skip
CASES += [(getattr(np, name), (m,), {"axis": 0}) for name in (*extremes.__all__, *reductions.__all__) if hasattr(np, name)]


@pytest.mark.parametrize(("f", "arguments", "keywords"), [pytest.param(*c, id=f"{c[0].__name__}-{n}") for n, c in enumerate(CASES)])
def test_functions_of_arrays(f, arguments, keywords):
    check((f, arguments, keywords))


def test_every_counterpart_has_a_case():
    tested = {c[0] for c in CASES}
    others = {np.allclose, np.around, np.imag, np.ravel_multi_index, np.size, np.unravel_index}
    assert set(numpy_calls.functions) - tested == others


def test_looking_at_a_variable_computes_nothing():
    assert np.ndim(m) == 2
    assert np.shape(m).eval({m: VALUES[m]}).tolist() == [2, 3]
    for several in (np.atleast_1d(x), np.atleast_1d([x])):
        assert several.shape == (1,) and several[0] is x
    s, t = T.dscalars("s", "t")
    for joined in (np.hstack([s, t]), np.hstack([[s], t]), np.hstack([[s], [t]])):
        assert joined.tolist() == [s, t]
    assert np.hstack([1.5, s]).tolist() == [1.5, s]


@pytest.mark.parametrize(
    "call",
    [lambda: np.add.reduce(x), lambda: np.add(x, y, out=np.zeros(3)), lambda: np.add(x, y, where=True), lambda: np.logaddexp(x, y, where=True), lambda: np.logaddexp.reduce(x),
     lambda: np.histogram(x), lambda: np.linalg.norm(x, out=x), lambda: np.put_along_axis(x, y, 0, 0), lambda: np.hstack([[x], T.dscalar()]), lambda: np.sum(x, out=np.zeros(())),
     lambda: np.add(x, object()), lambda: np.add(x, "a"), lambda: np.save("never", x), lambda: np.array_equal(x, y)],
)  # fmt: skip
def test_what_has_no_counterpart_is_refused(call):
    with pytest.raises(TypeError):
        call()


def test_a_refusal_says_what_to_do():
    with pytest.raises(TypeError, match=r"numpy\.histogram computes with values.*theano\.tensor.*as_op"):
        np.histogram(x)
    with pytest.raises(TypeError, match=r"numpy\.add\.reduce\(\) does not work on variables"):
        np.add.reduce(x)


@pytest.mark.parametrize("what", [int, float, complex, len, round, list, operator.index, iter])
def test_python_is_refused_a_value(what):
    with pytest.raises(TypeError):
        what(x)


def test_elements_cannot_be_changed():
    with pytest.raises(TypeError, match="set_subtensor"):
        x[0] = 1
    with pytest.raises(TypeError, match="cannot be changed"):
        del x[0]
