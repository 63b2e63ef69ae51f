"""What a function hands out belongs to the caller; what it keeps belongs to it."""

import pytest
from rows import plus, plus_into, row, same

from theano import In, Out, function
from theano.compile.plumbing_ops import deep_copy_op
from theano.compile.shared import SharedVariable
from theano.graph import generic


@pytest.fixture
def x():
    return row("x")


@pytest.fixture
def s():
    return SharedVariable("s", row, [1.0], strict=False)


def copies(f):
    return sum(node.op == deep_copy_op for node in f.maker.fgraph.toposort())


def test_an_argument_is_copied(x):
    mine = [1.0]
    f = function([x], x)
    assert f(mine) == mine and f(mine) is not mine and copies(f) == 1
    assert function([x], same(x))(mine) is not mine


def test_a_borrowed_argument_is_not(x):
    mine = [1.0]
    assert function([In(x, borrow=True)], Out(x, borrow=True))(mine) is mine
    assert function([In(x, borrow=True)], x)(mine) is not mine
    assert function([x], Out(x, borrow=True))(mine) is not mine


def test_a_shared_value_is_copied(s):
    f = function([], [s, same(s)])
    got = f()
    assert got[0] is not s.get_value(borrow=True) and got[1] is not s.get_value(borrow=True) and got[0] is not got[1]
    assert function([], Out(s, borrow=True))() is s.get_value(borrow=True)


def test_outputs_do_not_share(x):
    y = plus(x, x)
    a, b, c = function([x], [y, y, same(y)])([1.0])
    assert a == b == c and a is not b and b is not c and a is not c
    f = function([x], [Out(y, borrow=True), Out(same(y), borrow=True)])
    a, b = f([1.0])
    assert a is b and copies(f) == 0


def test_a_computed_output_is_not_copied(x):
    assert copies(function([x], [plus(x, x)])) == 0


def test_an_output_that_is_an_update(x, s):
    y = plus(s, x)
    f = function([x], y, updates=[(s, y)])
    got = f([1.0])
    got[0] = 99.0
    assert s.get_value() == [2.0]
    borrowed = function([x], Out(y, borrow=True), updates=[(s, y)])
    assert borrowed([1.0]) is s.get_value(borrow=True)


def test_two_shared_variables_never_share(x, s):
    t = SharedVariable("t", row, [2.0], strict=False)
    function([], [], updates=[(s, t)])()
    assert s.get_value() == [2.0] and s.get_value(borrow=True) is not t.get_value(borrow=True)
    y = plus(s, t)
    function([], [], updates=[(s, y), (t, y)])()
    assert s.get_value() == t.get_value() and s.get_value(borrow=True) is not t.get_value(borrow=True)


def test_swapping_copies_nothing(s):
    t = SharedVariable("t", row, [2.0], strict=False)
    swap = function([], [], updates=[(s, t), (t, s)])
    assert copies(swap) == 0
    swap()
    assert s.get_value() == [2.0] and t.get_value() == [1.0]


def test_an_update_with_an_argument(x, s):
    mine = [5.0]
    function([x], [], updates=[(s, x)])(mine)
    assert s.get_value() == [5.0] and s.get_value(borrow=True) is not mine


def test_an_update_with_a_constant(s):
    constant = row.make_constant([7.0])
    function([], [], updates=[(s, constant)])()
    s.get_value(borrow=True)[0] = 0.0
    assert constant.data == [7.0]


def test_old_value_of_an_updated_variable(x, s):
    f = function([x], s, updates=[(s, plus(s, x))])
    old = s.get_value(borrow=True)
    assert f([1.0]) is not old


def test_memory_goes_through_ops_that_work_in_place(x):
    y = plus(x, x)
    f = function([x], [plus_into(y, x)], accept_inplace=True)
    assert copies(f) == 0
    mutable = function([In(x, mutable=True)], plus_into(x, row.make_constant([1.0])), accept_inplace=True)
    mine = [1.0]
    assert mutable(mine) is mine == [2.0] or mine == [2.0]


def test_copies_of_any_python_object():
    v = generic("v")
    mine = {"deep": [1]}
    got = function([v], v)(mine)
    got["deep"].append(2)
    assert mine == {"deep": [1]}


# -- arguments that are one object ----------------------------------------------------------------------------------------


def destroying(mode=None, **more):
    """Return a function that overwrites its first argument and reads its second."""
    x, y = row("x"), row("y")
    return function([In(x, mutable=True), y], [plus_into(x, y), plus(y, y)], accept_inplace=True, mode=mode, **more)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "NanGuardMode"])
def test_one_object_as_two_arguments(mode):
    f, mine = destroying(mode), [1.0]
    assert f(mine, mine) == [[2.0], [2.0]] and mine == [1.0]
    other = [5.0]
    assert f(mine, other)[0] is mine and mine == [6.0] and other == [5.0]


def test_two_mutable_arguments():
    x, y = row("x"), row("y")
    inputs = [In(x, mutable=True), In(y, mutable=True)]
    f = function(inputs, [plus_into(x, row.make_constant([1.0])), plus_into(y, row.make_constant([5.0]))], accept_inplace=True)
    mine = [1.0]
    got = f(mine, mine)
    assert got == [[2.0], [6.0]] and got[0] is not mine and got[1] is mine


def test_an_argument_that_is_a_shared_value(s):
    x = row("x")
    f = function([In(x, mutable=True)], [plus_into(x, s)], updates=[(s, plus(s, s))], accept_inplace=True)
    for k in range(3):
        held = s.get_value(borrow=True)
        assert f(held) == [[2.0 ** (k + 1)]] and held == [2.0**k] and s.get_value() == [2.0 ** (k + 1)]


def test_an_argument_that_is_a_default_or_a_memory():
    x, y = row("x"), row("y")
    f = function([In(x, mutable=True), In(y, value=[3.0])], [plus_into(x, y)], accept_inplace=True)
    default = f.container[y].storage[0]
    assert f(default) == f(default, [3.0]) == f(default, default) == [[6.0]] and f[y] == [3.0]
    g = function([In(x, update=plus_into(x, y)), y], [], accept_inplace=True)
    g([1.0], [2.0])
    held = g[x]
    g(held, [4.0])
    assert held == [3.0] and g[x] == [7.0]
