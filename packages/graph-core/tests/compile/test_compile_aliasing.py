"""What a function hands out belongs to the caller; what it keeps belongs to it."""

import pytest
from rows import plus, plus_into, row, same

from theano import In, Out, function
from theano.compile.aliasing import insert_deepcopy
from theano.compile.copy_ops import deep_copy_op
from theano.compile.shared import Container, SharedVariable
from theano.graph import FunctionGraph, Op, generic
from theano.graph.aliasing import DestroyHandler


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


# -- who gets a copy --------------------------------------------------------------------------------------------------------


class Several(Op):
    """Its first output is new, its second a view of its first input, its third lies where the second was; one for work."""

    __props__ = ()
    itypes, otypes = [row] * 3, [row] * 3
    view_map, destroy_map = {1: [0]}, {2: [1], None: [2]}


class Either(Op):
    """A view of one of its inputs."""

    __props__ = ()
    itypes, otypes = [row] * 2, [row]
    view_map = {0: [0, 1]}


several, either = Several(), Either()

#: What a function may have as an input x: with what becomes of it where it is a memory.
INPUTS = {
    "argument": lambda x, new: In(x),
    "borrowed": lambda x, new: In(x, borrow=True),
    "mutable": lambda x, new: In(x, mutable=True),
    "memory": lambda x, new: In(x, value=[0.0], update=new, mutable=False),
    "mutable memory": lambda x, new: In(x, value=[0.0], update=new),
    "shared": lambda x, new: In(x, value=Container(row, [[0.0]]), borrow=True),
    "mutable shared": lambda x, new: In(x, value=Container(row, [[0.0]]), mutable=True),
    "updated": lambda x, new: In(x, value=Container(row, [[0.0]]), update=new, borrow=True, mutable=False),
}

#: Of each, who gets a copy of it: who has it returned, returned with borrow=True, or stored in another shared variable.
COPIED = {
    "argument": {"returned", "lent", "stored"},
    "borrowed": {"returned"},
    "mutable": {"returned"},
    "memory": {"returned", "lent", "stored"},
    "mutable memory": {"returned"},
    "shared": {"returned", "stored"},
    "mutable shared": {"returned", "stored"},
    "updated": {"returned"},
}

#: Expressions in the memory of x.
PLACES = {
    "itself": lambda x, y: x,
    "view": lambda x, y: same(x),
    "view of a view": lambda x, y: same(same(x)),
    "one of several": lambda x, y: several(x, plus(y, y), y)[1],
    "overwritten": lambda x, y: plus_into(x, y),
    "overwritten view": lambda x, y: plus_into(same(x), y),
    "view of the overwritten": lambda x, y: same(several(plus(y, y), x, y)[2]),
}


def copied(inputs, outputs):
    """Return the numbers of the outputs, updates last, that are copied, and check how many that is said to be."""
    wanted = [*(o.variable for o in outputs), *(i.update for i in inputs if i.update is not None)]
    fgraph = FunctionGraph([i.variable for i in inputs], wanted, [DestroyHandler()])
    before = list(fgraph.outputs)
    count = insert_deepcopy(fgraph, inputs, outputs)
    found = [k for k, v in enumerate(fgraph.outputs) if v is not before[k]]
    assert count == len(found)
    for k in found:
        node = fgraph.outputs[k].owner
        assert node.op == deep_copy_op and node.inputs == [before[k]]
        assert fgraph.outputs[k].tag.trace == getattr(before[k].tag, "trace", ())
    return found


def ways(v, y, s):
    """Yield in which way a value is handed out: the inputs and outputs of a function, and the number of its output."""
    store = lambda new: In(s, value=Container(row, [[0.0]]), update=new, borrow=True, mutable=False)
    yield "returned", [In(y)], [Out(plus(y, y)), Out(v)], 1
    yield "lent", [In(y)], [Out(plus(y, y)), Out(v, borrow=True)], 1
    yield "stored", [In(y), store(v)], [Out(plus(y, y))], None


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", INPUTS)
def test_what_lies_in_the_memory_of_an_input(kind, place):
    x, y, s = row("x"), row("y"), row("s")
    for way, inputs, outputs, number in ways(PLACES[place](x, y), y, s):
        wanted = way in COPIED[kind]
        # What was allowed to be overwritten, and was, is the result's.
        if "overwritten" in place and kind in ("mutable", "mutable memory") and way == "returned":
            wanted = False
        specs = [INPUTS[kind](x, plus(y, y)), *inputs]
        stored = len(outputs) + sum(i.update is not None for i in specs) - 1
        assert copied(specs, outputs) == ([stored if number is None else number] if wanted else [])


@pytest.mark.parametrize(("build", "wanted"), [
    (lambda y: plus(y, y), False), (lambda y: same(plus(y, y)), False), (lambda y: plus_into(plus(y, y), y), False),
    (lambda y: row.make_constant([1.0]), True), (lambda y: same(row.make_constant([1.0])), True),
    (lambda y: several(y, plus(y, y), plus(y, y))[0], False), (lambda y: several(y, plus(y, y), plus(y, y))[2], False),
])  # fmt: skip
def test_what_lies_in_no_input(build, wanted):
    y, s = row("y"), row("s")
    for _, inputs, outputs, number in ways(build(y), y, s):
        assert copied(inputs, outputs) == ([len(outputs) if number is None else number] if wanted else [])


@pytest.mark.parametrize(("first", "second", "wanted"), [
    ("returned", "returned", [1]), ("lent", "returned", [1]), ("returned", "lent", [1]), ("lent", "lent", []),
    # A new value of a shared variable is served first; it lends, but not to another shared variable.
    ("returned", "stored", [0]), ("lent", "stored", []), ("stored", "stored", [1]),
])  # fmt: skip
@pytest.mark.parametrize("place", ["same", "view", "one of two"])
def test_two_who_want_one_memory(first, second, wanted, place):
    y, s, t = row("y"), row("s"), row("t")
    a = plus(y, y)
    b = {"same": a, "view": same(a), "one of two": either(plus(y, y), a)}[place]
    inputs, outputs = [In(y)], []
    for way, v, target in ((first, a, s), (second, b, t)):
        if way == "stored":
            inputs.append(In(target, value=Container(row, [[0.0]]), update=v, borrow=True, mutable=False))
        else:
            outputs.append(Out(v, borrow=way == "lent"))
    assert copied(inputs, outputs) == wanted


def test_who_gets_a_copy_takes_nothing():
    """What the first output is copied from stays free for the second; so does what lies beside a copied one."""
    y = row("y")
    a = plus(y, y)
    mixed = either(a, row.make_constant([1.0]))
    assert copied([In(y)], [Out(mixed), Out(a), Out(same(a))]) == [0, 2]
    assert copied([In(y)], [Out(mixed, borrow=True), Out(same(a), borrow=True), Out(a, borrow=True)]) == [0]


def test_without_a_destroy_handler_nothing_is_overwritten():
    x = row("x")
    fgraph = FunctionGraph([x], [x])
    assert insert_deepcopy(fgraph, [In(x, mutable=True)], [Out(x)]) == 1


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
