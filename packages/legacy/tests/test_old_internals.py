"""What older programs took from inside the graph code: orders, unification, small functions, names that are gone."""

import importlib
import itertools

import pytest

import theano
from theano.graph import Apply, FunctionGraph, Op, generic
from theano.legacy import gone


class Join(Op):
    """Joins anything."""

    __props__ = ()

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [generic()])


@pytest.mark.parametrize("wanted", [{1: {2, 3}, 2: {3}, 3: set()}, {4: [1], 1: [2], 2: [], 3: []}])
def test_orders(wanted):
    from theano.gof.sched import _toposort, reverse_dict
    from theano.gof.utils import toposort

    order, turned = _toposort(wanted), toposort(wanted)
    for early, lates in wanted.items():
        assert all(order.index(early) < order.index(late) for late in lates)
        assert all(turned.index(early) > turned.index(late) for late in lates)
    assert all(
        early in wanted and late in wanted[early] for late, keys in reverse_dict(wanted).items() for early in keys
    )
    for sort in (_toposort, toposort):
        with pytest.raises(ValueError, match="cycle"):
            sort({1: [2], 2: [1]})


def test_posort_agrees_with_lexicographic_order():
    from theano.gof.sched import posort

    things = [(3, 1), (1, 2), (1, 1), (2, 5), (2, 0)]
    for order in itertools.permutations(things):
        assert posort(order, lambda a, b: a[0] - b[0], lambda a, b: a[1] - b[1]) == sorted(things)


def test_orders_of_graphs():
    from theano.gof.graph import Node, general_toposort, io_connection_pattern, variables_and_orphans
    from theano.gof.sched import make_dependence_cmp, sort_apply_nodes, sort_schedule_fn

    x, y = generic("x"), generic("y")
    a = Join()(x, y)
    b = Join()(a, x)

    def needs(thing):
        return thing.inputs if isinstance(thing, Apply) else [thing.owner] if thing.owner else []

    everything = general_toposort([b], needs)
    assert everything == [x, y, a.owner, a, b.owner, b] or everything == [y, x, a.owner, a, b.owner, b]
    assert all(isinstance(thing, Node) for thing in everything)
    compare = make_dependence_cmp()
    assert (compare(b.owner, a.owner), compare(a.owner, b.owner), compare(a, a)) == (1, -1, 0)
    backwards = lambda p, q: (p is a.owner) - (q is a.owner)
    assert sort_apply_nodes([x, y], [b], [backwards]) == [a.owner, b.owner]
    assert len(sort_schedule_fn(backwards)(FunctionGraph([x, y], [b]))) == 2
    assert io_connection_pattern([x, y], [b, a]) == [[True, True], [True, True]]
    assert variables_and_orphans([x], [a])[1] == [y]


def test_unification():
    from theano.gof.unify import NV, FVar, OrV, Unification, V, Variable, VariableInList, unify, unify_build, unify_walk

    x, y, few, many = V("x"), V("y"), OrV("few", [1, 2]), NV("many", [2, 3])
    known = unify_walk({"a": x, "b": [few, y]}, {"a": y, "b": [many, "seen"]}, Unification())
    assert unify_build([x, y, few, many], known) == ["seen", "seen", 1, 1]
    assert unify([x, x], [1, 2]) == (None, False) == unify([few], [3]) == unify([1], [1, 2]) == unify([many], [2])
    assert unify_build(FVar(lambda n: n + 1, few), known) == 2
    assert unify(VariableInList(few), [2, 5])[1][few].value == 2
    assert isinstance(unify(x, few)[0], Variable) and unify({"p": 1}, {"q": 2})[0] == {"p": 1, "q": 2}


def test_small_functions():
    from theano.gof.callcache import CallCache
    from theano.gof.utils import deprecated, give_variables_names, simple_extract_stack, unique

    variables = [generic(), generic("x"), generic("x")]
    give_variables_names(variables)
    names = [v.name for v in variables]
    give_variables_names(variables)
    assert unique(names) and names == [v.name for v in variables]
    with pytest.warns(DeprecationWarning, match="shapes.len is deprecated. use size"):
        assert deprecated("shapes", "use size")(len)("ab") == 2
    assert simple_extract_stack()[-1][2] == "test_small_functions"
    assert CallCache().call(len, ["abc"], key="length") == 3


def test_the_cache_of_calls_is_kept(tmp_path):
    from theano.gof.callcache import CallCache

    cache = CallCache(str(tmp_path / "calls"))
    cache.call(pow, (2, 3))
    cache.persist()
    assert CallCache(str(tmp_path / "calls")).cache == {(pow, (2, 3)): 8}


def test_names_that_are_gone_say_what_takes_their_place():
    from theano.gof.cmodule import GCC_compiler, ModuleCache
    from theano.gof.compilelock import get_lock

    assert not isinstance(3, ModuleCache)
    with pytest.raises(NotImplementedError, match="GCC_compiler is not part of this Theano.*theano.toolchain"):
        GCC_compiler()
    with pytest.raises(NotImplementedError, match="no lock"):
        get_lock()
    for instead, names in gone.INSTEAD.items():
        assert len(instead) < 110 and all(getattr(gone, name).__name__ == name for name in names.split())


@pytest.mark.parametrize("module", "opt optdb op utils graph link cc sched toolbox".split())
def test_modules_hold_what_they_once_imported(module):
    held = importlib.import_module(f"theano.gof.{module}")
    if module not in ("link",):
        assert module == "sched" or held.config is theano.config
    assert all(getattr(held, name) is not None for name in dir(held))
