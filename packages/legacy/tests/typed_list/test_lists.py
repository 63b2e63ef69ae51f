"""Ops on lists: what Python's lists do, whoever works in place, whatever mode; derivatives; errors."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
import theano.typed_list as tl
from theano.compile.debugmode import DebugMode
from theano.compile.shared import SharedVariable
from theano.errors import CycleError
from theano.gradient import DisconnectedInputError
from theano.tensor.type_other import slicetype
from theano.typed_list import TypedListType
from theano.typed_list.gradient import IncItem
from theano.typed_list.op import Changer

LIST = TypedListType(T.dvector)
l, m, x, i, s = LIST("l"), LIST("m"), T.dvector("x"), T.lscalar("i"), slicetype("s")
A, B, C = np.arange(3.0), np.array([5.0]), np.zeros(0)

#: Each op: as an expression of a list, as its method, and in Python.
CHANGES = {
    "append": (tl.append(l, x), l.append(x), lambda v: [*v, B]),
    "extend": (tl.extend(l, m), l.extend(m), lambda v: [*v, B, C]),
    "insert": (tl.insert(l, i, x), l.insert(i, x), lambda v: [*v[:1], B, *v[1:]]),
    "remove": (tl.remove(l, x), l.remove(x), lambda v: [v[0], *v[2:]]),
    "reverse": (tl.reverse(l), l.reverse(), lambda v: v[::-1]),
}
INPUTS = {"l": [A, B, C, B], "m": [B, C], "x": B, "i": 1, "s": slice(1, None, 2)}
FREE = [l, m, x, i, s]


def call(outputs, values=INPUTS, **options):
    f = theano.function(FREE, outputs, on_unused_input="ignore", **options)
    return f(**copy.deepcopy(values))


def changed_in_place(f):
    """Return of each op that changes a list, in the order in which they run, whether it works in place."""
    return [node.op.inplace for node in f.maker.fgraph.toposort() if isinstance(node.op, Changer)]


def same(found, wanted):
    """Compare lists, nested or not, of arrays."""
    if isinstance(wanted, list):
        assert isinstance(found, list) and len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    else:
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == np.asarray(wanted).dtype


# -- values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "py", "debug"])
def test_lists_change_as_pythons_do(mode):
    mode = DebugMode(check_py_code=True) if mode == "debug" else theano.Mode("py", None) if mode == "py" else mode
    found = call([v for forms in CHANGES.values() for v in forms[:2]], mode=mode)
    wanted = [python(INPUTS["l"]) for _, _, python in CHANGES.values() for _ in range(2)]
    same(found, wanted)


@pytest.mark.parametrize("name", CHANGES)
def test_in_place(name):
    op = type(CHANGES[name][0].owner.op)
    assert op(inplace=True) != op() == op(False) and op(True).destroy_map == {0: [0]} and not op().destroy_map
    v = op(inplace=True)(*CHANGES[name][0].owner.inputs)
    with pytest.raises(TypeError, match="accept_inplace"):
        theano.function(FREE, v, on_unused_input="ignore")
    same(call(v, accept_inplace=True), CHANGES[name][2](INPUTS["l"]))
    given = [A.copy(), B.copy()]
    f = theano.function([theano.In(l, mutable=True), m, x, i], CHANGES[name][0], on_unused_input="ignore")
    assert changed_in_place(f) == [True]
    same(f(given, [B, C], B, 1), CHANGES[name][2]([A, B]))


def test_reading():
    outputs = [l[0], l[i], l[-1], l[s], l[1:], l[i:], l[::-1], l.__len__(), tl.length(l), l.ind(x), l.count(x), l[1:][0]]
    v = INPUTS["l"]
    n = np.int64
    wanted = [A, B, B, v[1::2], v[1:], v[1:], v[::-1], np.array(4, n), np.array(4, n), np.array(1, n), np.array(2, n), B]
    for mode in ("FAST_RUN", "FAST_COMPILE", DebugMode()):
        same(call(outputs, mode=mode), wanted)
    assert l.ttype == T.dvector and l[1:].type == l.type and l[0].type == T.dvector


def test_a_list_may_be_of_lists():
    nested = TypedListType(T.dvector, 1)("nested")
    outputs = [nested[1][0], nested.append(m), nested.ind(m), nested.count(m), tl.make_list([m, m[:1]])]
    value = [[A], [B, C], []]
    f = theano.function([nested, m], outputs, mode=DebugMode())
    same(f(value, [B, C]), [B, [*value, [B, C]], np.array(1), np.array(1), [[B, C], [B]]])
    same(theano.function([nested, m], nested.remove(m))(value, [B, C]), [[A], []])


def test_lists_are_made_of_anything_that_has_a_type():
    same(call(tl.make_list([x, x * 2])), [B, B * 2])
    assert tl.make_list((3.0, 4.0)).type == TypedListType(T.fscalar)
    with pytest.raises(TypeError, match=r"one type, not of TensorType\(float64, vector\), TensorType\(float64, matrix\)"):
        tl.make_list([x, T.dmatrix()])
    for wrong in ([], (), x, "ab"):
        with pytest.raises(TypeError, match="a list or tuple of at least one"):
            tl.make_list(wrong)
    any_object = TypedListType(theano.generic)("any")
    assert theano.function([any_object], [any_object[0], any_object.count("b")])(["a", "b"])[1] == 1


def test_insert_counts_past_the_ends_as_python_does():
    f = theano.function([l, i, x], l.insert(i, x))
    for place in range(-6, 7):
        wanted = [A, C, A]
        wanted.insert(place, B)
        same(f([A, C, A], place, B), wanted)


# -- memory -------------------------------------------------------------------------------------------------------


def test_what_is_returned_is_the_callers():
    given, arg = [A.copy()], B.copy()
    f = theano.function([l, x], [l.append(x), l, l[0], l[:]])
    for found in f(given, arg):
        for a in found if isinstance(found, list) else [found]:
            a[...] = 77
    same([given, arg], [[A], B])


def test_values_in_a_list_are_kept_from_being_written_over():
    y, z = T.exp(x), T.exp(x) + 1
    lists = [tl.make_list([y, z]), tl.make_list([z]).append(y)]
    f = theano.function([x], [*lists, T.inc_subtensor(y[0], 10), lists[0][0] * 2, lists[1][-1].sum()])
    kept = []
    for k in range(4):
        v = np.full(3, float(k))
        kept.append((v, f(v)))
    for v, found in kept:
        bumped = np.exp(v) + np.array([10, 0, 0])
        for a, b in zip(found, [[np.exp(v), np.exp(v) + 1], [np.exp(v) + 1, np.exp(v)], bumped, np.exp(v) * 2, np.exp(v).sum()]):
            for c, d in zip(a, b) if isinstance(a, list) else [(a, b)]:
                np.testing.assert_allclose(c, d, rtol=1e-14)


def test_the_rule_works_in_place_where_nobody_reads_the_list_any_more():
    long = tl.make_list([x - 1, x * 2]).append(x + 1).reverse().insert(0, x + 2).extend(tl.make_list([T.exp(x)]))
    f, plain = (theano.function([x], long, mode=mode) for mode in (None, "FAST_COMPILE"))
    assert changed_in_place(f) == [True] * 4 and changed_in_place(plain) == [False] * 4
    for g in (f, plain):
        same(g(B), [B + 2, B + 1, B * 2, B - 1, np.exp(B)])
    # The caller's own list is copied, and so is what has its items.
    assert changed_in_place(theano.function([l, x], l.append(x).append(x))) == [False, False]
    twice = tl.make_list([x - 1, x * 2])
    both = theano.function([x], [twice.append(x + 1)[0], twice.reverse()[0]], mode=DebugMode())
    same(both(B), [B - 1, B * 2])
    both = theano.function([l, x], [l.append(x)[0], l.append(x).reverse()[0]], mode=DebugMode())
    same(both([A], B), [A, B])


def test_who_reads_a_list_reads_it_before_it_changes():
    grown = tl.append(l.reverse(), x)
    reads = [grown[0] + 1, tl.length(grown), grown.append(x)[-1] + 1, grown.reverse()[0] * 2]
    same(call(reads), [B + 1, np.array(5), B + 1, B * 2])
    with pytest.raises(CycleError, match="overwritten before a node that still reads it"):
        first = tl.Append(inplace=True)(grown, x)
        theano.function(FREE, [first, tl.Append(inplace=True)(grown, x)], accept_inplace=True, on_unused_input="ignore")


def test_a_shared_list_grows():
    history = SharedVariable("history", LIST, [], strict=False)
    step = theano.function([x], tl.length(history), updates=[(history, tl.append(history, x))])
    arg = B.copy()
    assert [int(step(arg)), int(step(A)), int(step(A))] == [0, 1, 2]
    arg[...] = 9
    same(history.get_value(), [B, A, A])
    fail = theano.function([i], tl.getitem(history, i), updates=[(history, tl.append(history, A))])
    with pytest.raises(IndexError):
        fail(8)
    assert len(history.get_value()) == 3


# -- derivatives --------------------------------------------------------------------------------------------------


def weigh(v):
    """Return a number that depends on each element of a list of three, each time in another way."""
    return (v[0] ** 2).sum() + (v[1] ** 3).sum() + (T.sin(v[2]) * v[0].sum()).sum()


y, z, w = T.dvectors("y", "z", "w")
three = tl.make_list([y, z, w])
GRADIENTS = {
    "items": weigh(three),
    "the same item twice": weigh(three) + (three[0] * three[-2].sum()).sum(),
    "a slice": weigh(three[::-1]) + (three[1:][0] ** 2).sum() + weigh(three[:2].extend(three[2:])),
    "append": weigh(tl.make_list([y, z]).append(w * y)),
    "extend": weigh(tl.make_list([y]).extend(tl.make_list([z, w]))),
    "insert": weigh(tl.make_list([y, z]).insert(1, w)) + weigh(tl.make_list([y, z]).insert(-9, w)) * 2,
    "insert behind": weigh(tl.make_list([y, z]).insert(9, w)) + weigh(tl.make_list([y, z]).insert(-1, w)) * 3,
    "remove": weigh(tl.make_list([y, z, w, y * 2]).remove(z)),
    "reverse": weigh(three.reverse()) + weigh(three.append(y).reverse()[1:]),
    "nested": weigh(tl.make_list([three, three.reverse()])[0]) + (tl.make_list([three, three[:1]])[1][0] ** 4).sum(),
    "lengths": weigh(three) * T.cast(tl.length(three) + three.count(z) + three.ind(w), "float64"),
}
VALUES = [np.array([0.3, -0.7]), np.array([0.5, 1.1]), np.array([-0.2, 0.9])]


@pytest.mark.parametrize("name", GRADIENTS)
def test_derivatives(name):
    cost, wrt = GRADIENTS[name], [y, z, w]
    found = T.grad(cost, wrt, disconnected_inputs="ignore")
    moved = T.Rop(cost, wrt, wrt)
    curved = T.grad(sum((g * v).sum() for g, v in zip(found, wrt)), wrt, disconnected_inputs="ignore")
    f = theano.function(wrt, [cost, *found, moved, *curved], on_unused_input="ignore")
    slow = theano.function(wrt, [cost, *found, moved, *curved], on_unused_input="ignore", mode=theano.Mode("py", None))
    result = f(*VALUES)
    for a, b in zip(result, slow(*VALUES)):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    # `remove` looks for an equal item, which a small step to one side would lose.
    value = theano.function(wrt, cost, on_unused_input="ignore")
    step, slopes = 1e-6, []
    for k, place in itertools.product(range(3), range(2)):
        at = [[v.copy() for v in VALUES] for _ in range(2)]
        at[0][k][place] += step
        at[1][k][place] -= step
        slopes.append((value(*at[0]) - value(*at[1])) / (2 * step))
    np.testing.assert_allclose(np.concatenate(result[1:4]), slopes, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(result[4], np.dot(slopes, np.concatenate(VALUES)), rtol=1e-6)


def test_the_gradient_with_respect_to_a_list_is_a_list():
    cost = (l[0] ** 2).sum() + (l[i] * l[0].sum()).sum()
    g = T.grad(cost, l)
    assert g.type == l.type
    f = theano.function([l, i], g)
    same(f([A, B, C], 1), [2 * A + 5.0, B * 0 + 3.0, C])
    # Each read adds to its item alone: no list of zeros for each.
    assert sum(isinstance(node.op, IncItem) for node in f.maker.fgraph.toposort()) == 3
    assert changed_in_place(f) == [True] * 3
    whole = TypedListType(T.lvector)("whole")
    # Of whole numbers it is zero, as everywhere.
    same(theano.function([whole], T.grad(T.sqrt(whole[0] * 1.0).sum(), whole))([[4], [1, 2]]), [np.zeros(1), np.zeros(2)])


def test_what_has_no_derivative_is_disconnected():
    for cost in (tl.length(l), l.count(x), l.ind(x)):
        with pytest.raises(DisconnectedInputError):
            T.grad(T.cast(cost, "float64"), l)
    with pytest.raises(DisconnectedInputError):
        T.grad(l.remove(x)[0].sum(), x)


# -- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "error"), [
    (lambda: tl.GetItem()(l, T.dmatrix()), "the index must be a whole number or a slice"),
    (lambda: l[1.5], "the index must be a whole number or a slice"),
    (lambda: tl.insert(l, x, x), "the index must be a whole number"),
    (lambda: tl.append(l, T.dmatrix("mat")), "the item does not fit into l of type TypedList"),
    (lambda: l.remove("a"), "the item does not fit"),
    (lambda: tl.extend(l, TypedListType(T.fvector)()), "both lists must be of one type"),
    (lambda: tl.extend(l, x), "the first operand must be a list|a variable of a TypedListType"),
    (lambda: tl.append(x, x), "the first operand must be a list, a variable of a TypedListType, not x"),
    (lambda: bool(l), "compare theano.typed_list.length"),
    (lambda: list(l), "nothing can go over them"),
])  # fmt: skip
def test_wrong_use_is_an_error_where_it_is_written(make, error):
    with pytest.raises(TypeError, match=error) as caught:
        make()
    assert len(str(caught.value).splitlines()) <= 10


def test_what_is_not_there_is_an_error_of_the_call():
    for v, error, said in (
        (l[i], IndexError, "index 7 is out of bounds for a list of length 2"),
        (l.ind(x), ValueError, "none of the 2 items of the list is equal"),
        (l.remove(x), ValueError, "none of the 2 items of the list is equal"),
    ):
        with pytest.raises(error, match=said):
            call(v, {**INPUTS, "l": [A, C], "i": 7})
    with pytest.raises(TypeError, match="item 1 of a list for TypedList"):
        call(l[0], {**INPUTS, "l": [A, np.eye(2)]})


# -- programs around them -----------------------------------------------------------------------------------------


def test_functions_and_expressions_of_lists_can_be_pickled():
    f = theano.function([l, x], [l.append(x), tl.length(l)])
    same(pickle.loads(pickle.dumps(f))([A], B), [[A, B], np.array(1)])
    v = pickle.loads(pickle.dumps(l.append(x)))
    assert v.owner.op == tl.Append() and v.type == l.type


def test_clone_and_givens():
    v = l.append(x)[0]
    same(theano.function([m, x], theano.clone(v, {l: m}))([B], A), B)
    same(theano.function([x], v, givens={l: LIST.make_constant([C, A])})(B), C)
