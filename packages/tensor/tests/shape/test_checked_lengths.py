"""What rules take apart is checked where it is not known to fit: the same errors as of the graph that was written."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.errors import ShapeError
from theano.tensor.control.checks import Assert

v, w, m, n, t = T.dvector("v"), T.dvector("w"), T.dmatrix("m"), T.dmatrix("n"), T.dtensor3("t")
a, b = T.lscalars("a", "b")


def ops(f):
    return [type(node.op) for node in f.maker.fgraph.toposort()]


def checks(f):
    return sum(issubclass(op, Assert) for op in ops(f))


ALLOCATED = {
    "of numbers": (T.alloc(v, 2, 2) + m, 1), "that adds a dimension": (T.alloc(v, 1, 2) + m, 1),
    "like the other": (T.alloc(v, *m.shape) + m, 0), "rearranged": (T.alloc(v, 2, 2).dimshuffle(0, 1, "x") + t, 1),
    "rearranged like the other": (T.alloc(v, t.shape[0], t.shape[1]).dimshuffle(0, 1, "x") + t, 0),
    "of what is given": (T.alloc(v, a, b) * m, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", ALLOCATED)
def test_an_element_wise_op_stretches_what_is_repeated(name):
    expression, count = ALLOCATED[name]
    f = theano.function([v, m, t, a, b], expression, mode="FAST_RUN", on_unused_input="ignore")
    plain = theano.function([v, m, t, a, b], expression, mode=theano.Mode("py", None), on_unused_input="ignore")
    assert T.Alloc not in ops(f) and checks(f) == count
    for length in (2, 3):
        given = np.arange(2.0), np.ones((length, length)), np.ones((length, 2, 2)), 2, 2
        try:
            wanted = plain(*given)
        except ValueError:
            with pytest.raises(ValueError):
                f(*given)
            continue
        np.testing.assert_array_equal(f(*given), wanted)


@pytest.mark.parametrize("make", [lambda: T.zeros((a, 3)).shape[0], lambda: T.alloc(v.sum(), 2, a).shape[1]])
def test_a_length_that_is_given_is_known_not_to_be_negative(make):
    n = make()
    f = theano.function([v, a], [T.lt(n, 0), T.maximum(n, 0)], mode="FAST_RUN", on_unused_input="ignore")
    asked = T.eq.scalar_op, T.lt.scalar_op, T.maximum.scalar_op
    assert checks(f) and not any(getattr(node.op, "scalar_op", None) in asked for node in f.maker.fgraph.toposort())
    assert [int(x) for x in f([1.0], 4)] == [0, 4]
    with pytest.raises(ShapeError, match="negative length"):
        f([1.0], -1)


def test_one_of_two_allocations_says_how_far():
    f = theano.function([v, m], T.alloc(v, 5, 5) + T.alloc(m, 5, 5, 5), mode="FAST_RUN")
    assert ops(f).count(T.Alloc) == 1 and not checks(f)
    assert f(np.ones(5), np.ones((5, 5))).shape == (5, 5, 5)
    with pytest.raises(ValueError):
        f(np.ones(4), np.ones((5, 5)))


def test_an_allocation_of_an_allocation():
    f = theano.function([v, a, b], T.alloc(T.alloc(v.sum(), a, 1), 2, b, 3), mode="FAST_RUN")
    assert ops(f).count(T.Alloc) == 1
    np.testing.assert_array_equal(f([1.0, 2.0], 4, 4), np.full((2, 4, 3), 3.0))
    with pytest.raises(ShapeError, match="another length than what is to be repeated"):
        f([1.0], 4, 5)
    same = theano.function([v, a], T.alloc(T.alloc(v.sum(), a, 1), 2, a, 3), mode="FAST_RUN")
    assert not checks(same) and same([1.0], 4).shape == (2, 4, 3)


@pytest.mark.parametrize(("x", "y"), [(v, w), (m, w), (v, n), (m, n)], ids=str)
def test_a_product_with_zeros_has_fitting_factors(x, y):
    shapes = {v: (3,), w: (3,), m: (2, 3), n: (3, 4)}
    for zeros in (0, 1):
        factors = [T.zeros_like(f) if i == zeros else f for i, f in enumerate((x, y))]
        f = theano.function([x, y], T.dot(*factors), mode="FAST_RUN")
        assert T.Dot not in ops(f)
        given = [np.ones(shapes[i]) for i in (x, y)]
        np.testing.assert_array_equal(f(*given), np.dot(given[0], given[1]) * 0)
        with pytest.raises(ShapeError, match="the inner lengths of the factors differ"):
            f(given[0], given[1][:-1])


def test_a_repeated_number_is_written_where_it_fits():
    for written in (T.inc_subtensor(v[:a], T.alloc(w[0], b)), T.advanced_inc_subtensor(v, T.alloc(w[0], b, 2), [[0, 1], [2, 0]])):
        f = theano.function([v, w, a, b], written, mode="FAST_RUN", on_unused_input="ignore")
        plain = theano.function([v, w, a, b], written, mode=theano.Mode("py", None), on_unused_input="ignore")
        assert T.Alloc not in ops(f)
        np.testing.assert_array_equal(f(np.zeros(3), [5.0], 2, 2), plain(np.zeros(3), [5.0], 2, 2))
        with pytest.raises(ValueError):
            f(np.zeros(3), [5.0], 2, 3)


def test_reshapes_that_fail_alike_are_one():
    f = theano.function([m], m.reshape((2, 3, 4)).reshape((24,)))
    assert ops(f).count(T.Reshape) == 1
    assert f(np.ones((4, 6))).shape == (24,)
    with pytest.raises(ValueError):
        f(np.ones((4, 5)))
    assert ops(theano.function([m], m.reshape((2, 3, 4)).reshape((-1,)))).count(T.Reshape) == 2


def test_dimensions_of_length_one_need_no_reshape():
    f = theano.function([m], T.tile(m, (1, 1, 1)))
    assert T.Reshape not in ops(f)
    np.testing.assert_array_equal(f(np.eye(2)), np.eye(2)[None])


def test_all_rows():
    known = T.specify_shape(m, (2, 3))
    for part in (known[0:2], known[[0, 1]], known[T.arange(2)], known[:5, :3]):
        f = theano.function([m], T.exp(part))
        assert not [op for op in ops(f) if issubclass(op, (T.Subtensor, T.AdvancedSubtensor1))]
        np.testing.assert_array_equal(f(np.zeros((2, 3))), np.ones((2, 3)))
    for part in (known[0:1], known[[1, 0]], known[[0, 0]], known[T.arange(1, 2)]):
        f = theano.function([m], part)
        assert [op for op in ops(f) if issubclass(op, (T.Subtensor, T.AdvancedSubtensor1))]
