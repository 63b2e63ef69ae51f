"""Walks, copies with replacements, and the comparison of expressions."""

import pytest
from toy import Number, add, either, number, split, view

from theano.errors import CycleError
from theano.graph.clone import clone, clone_replace
from theano.graph.traverse import (
    applys_between,
    as_string,
    equal_computations,
    explicit_inputs,
    inputs,
    is_same_graph,
    orphans_between,
    toposort,
    variables_between,
    view_roots,
)


def test_inputs_and_orphans():
    x, y = number("x"), number("y")
    z = add(add(x, 1), y)
    assert explicit_inputs([z]) == [x, y] and len(inputs([z])) == 3
    assert [str(v) for v in orphans_between([x, y], [z])] == ["Constant{1}"]
    assert set(variables_between([x, y], [z])) >= {x, y, z}
    assert applys_between([x, y], [z]) == [z.owner.inputs[0].owner, z.owner]


def test_extra_orderings_are_kept_and_cycles_found():
    x = number("x")
    a, b = add(x, 1), add(x, 2)
    assert toposort([a, b], orderings={a.owner: [b.owner]}) == [b.owner, a.owner]
    with pytest.raises(CycleError, match="cycle of 2 nodes"):
        toposort([a, b], orderings={a.owner: [b.owner], b.owner: [a.owner]})


def test_view_roots_follow_every_viewed_input():
    x, y = number("x"), number("y")
    assert view_roots(view(either(x, view(y)))) == [x, y]


def test_one_line_expressions_mark_what_is_shared():
    x = number("x")
    y = add(x, 1)
    assert as_string([x], [add(y, y)]) == ["add(*1 -> add(x, Constant{1}), *1)"]
    a, b = split(x)
    assert as_string([], [add(a, b)]) == ["add(*1 -> Split(x)::0, *1::1)"]
    deep = x
    for _ in range(2000):
        deep = add(deep, 1)
    assert as_string([x], [deep, deep]) == [f"*1 -> {'add(' * 2000}x{', Constant{1})' * 2000}", "*1"]


def test_order_between_inputs_and_outputs():
    x, y = number("x"), number("y")
    inner = add(x, y)
    out = add(inner, 1)
    assert toposort([out], [x, y]) == toposort([out]) == [inner.owner, out.owner]
    assert toposort([out], [inner]) == [out.owner]


def test_which_input_comes_first():
    x = number("x")
    a, b, c = add(x, 1), add(x, 2), add(x, 3)
    out = add(add(a, b), c)
    inner = out.owner.inputs[0].owner
    assert toposort([out]) == [a.owner, b.owner, inner, c.owner, out.owner]
    assert toposort([out], last_input_first=True) == [c.owner, b.owner, a.owner, inner, out.owner]
    with pytest.raises(CycleError):
        toposort([a, b], (), {a.owner: [b.owner], b.owner: [a.owner]}, last_input_first=True)


def test_equal_computations():
    x, y = number("x"), number("y")
    assert equal_computations([add(x, 1)], [add(x, 1)])
    assert not equal_computations([add(x, 1)], [add(x, 2)])
    assert not equal_computations([add(x, 1)], [view(x)])
    assert equal_computations([add(x, 1)], [add(y, 1)], [x], [y])
    once, again = add(x, 1), add(x, 1)
    for pair in ([add(once, once)], [add(once, again)]), ([add(once, again)], [add(once, once)]):
        assert equal_computations(*pair)  # whatever is computed twice, whichever comes first
    assert not equal_computations([add(once, again)], [add(once, add(x, 2))])
    assert not equal_computations([add(x, x)], [add(x, y)])
    assert is_same_graph(add(x, 1), add(y, 1), {x: y})


def test_clone_with_and_without_new_inputs():
    x = number("x")
    (x2,), (y2,) = clone([x], [add(x, 1)])
    assert x2 is not x and explicit_inputs([y2]) == [x2]
    (x3,), (y3,) = clone([x], [add(x, 1)], copy_inputs=False)
    assert x3 is x and explicit_inputs([y3]) == [x]


def test_clone_replace_puts_one_thing_for_another():
    x, y = number("x"), number("y")
    middle = add(x, 1)
    out = add(middle, x)
    (new,) = clone_replace([out], {middle: y})
    assert as_string([], [new]) == ["add(y, x)"]
    (grown,) = clone_replace([out], {x: add(x, 5)})
    assert as_string([], [grown])[0].count("add(x, Constant{5})") == 1
    with pytest.raises(TypeError):
        clone_replace([out], {middle: Number("other")("z")})
    assert clone_replace([out], {})[0] is not None and as_string([], [out]) == ["add(add(x, Constant{1}), x)"]
