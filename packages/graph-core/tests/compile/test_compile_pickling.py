"""Functions as pickles and copies."""

import copy
import pickle
import re

import pytest
from rows import plus, row, same

import theano
from theano import In, function
from theano.compile.executable import make_function
from theano.compile.pickling import flatten, unflatten
from theano.compile.shared import SharedVariable


@pytest.fixture
def s():
    return SharedVariable("s", row, [1.0], strict=False)


@pytest.fixture
def f(s):
    x, y = row("x"), row("y")
    return function([x, In(y, value=[10.0])], [plus(plus(x, y), s), s], updates=[(s, plus(s, x))], name="f")


def test_a_pickle_computes_the_same(f, s):
    g = pickle.loads(pickle.dumps(f))
    assert g([1.0]) == f([1.0]) == [[12.0], [1.0]]
    assert g.name == "f" and g([1.0], y=[0.0]) == [[3.0], [2.0]]
    assert s.get_value() == [2.0], "the copy has values of its own"


def test_a_maker_is_pickled_without_its_program(f):
    data = pickle.dumps(f.maker)
    f([1.0])
    assert len(pickle.dumps(f.maker)) == len(data)
    ops = [node.op for node in f.maker.nodes_in_order()]
    # The stored values are those of the moment.
    for maker, wanted in (pickle.loads(data), [[12.0], [1.0]]), (copy.deepcopy(f.maker), [[13.0], [2.0]]):
        assert maker.name == "f" and [node.op for node in maker.nodes_in_order()] == ops
        assert make_function(maker)([1.0]) == wanted


def test_a_pickle_is_not_rewritten(f, monkeypatch):
    data = pickle.dumps(f)
    monkeypatch.setattr("theano.compile.mode.rewrite", None)
    assert pickle.loads(data)([1.0])[0] == [12.0]


def test_it_is_when_asked(f):
    with theano.config.change_flags(reoptimize_unpickled_function=True):
        g = pickle.loads(pickle.dumps(f))
    assert g.maker.rewriting is not None and g([1.0])[0] == [12.0]


def test_functions_can_be_left_out(f):
    data = pickle.dumps({"f": f, "other": 1})
    with theano.config.change_flags(unpickle_function=False):
        assert pickle.loads(data) == {"f": None, "other": 1}


def test_shared_variables_beside_functions(f, s):
    g, t = pickle.loads(pickle.dumps((f, s)))
    g([5.0])
    assert t.get_value() == [6.0] and g[t] == [6.0] and g.get_shared() == [t]
    t.set_value([0.0])
    assert g([1.0])[1] == [0.0]


def test_two_functions_keep_sharing(s):
    x = row("x")
    put = function([x], [], updates=[(s, x)])
    get = function([], s)
    put2, get2 = pickle.loads(pickle.dumps([put, get]))
    put2([42.0])
    assert get2() == [42.0] and get() == [1.0]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda things: pickle.loads(pickle.dumps(things))])
def test_values_are_found_by_variables_that_are_copied_along(copied):
    x, y, z = row("x"), row("y"), row("z")
    product = plus(y, z)
    f = function([x, In(y, value=[10.0])], plus(x, y))
    g = function([In(y, value=f.container[y], implicit=True)], y)
    of_an_expression = function([product], product)
    new_y, new_f, new_g, new_product, new_h = copied([y, f, g, product, of_an_expression])
    assert new_f[new_y] == [10.0] and new_g.container[new_y].storage is new_f.container[new_y].storage
    new_f[new_y] = [20.0]
    assert new_g[new_y] == [20.0] and f[y] == [10.0]
    assert y not in new_f.container and new_y not in f.container
    assert new_product not in new_h.container, "else all that it is computed from would be in the function's pickle"


def test_what_a_function_may_overwrite_is_copied_with_it(s):
    x, y, z = row("x"), row("y"), row("z")
    f = function([x, In(y, value=[1.0]), In(z, value=[2.0], update=plus(z, x), mutable=True)], plus(x, plus(y, z)))
    g = copy.copy(f)
    assert g.value[y] is f.value[y] and g.value[z] is not f.value[z] and g.value[z] == f.value[z]
    f([1.0])
    assert f.value[z] == [3.0] and g.value[z] == [2.0]


def test_a_pickle_of_a_pickle(f):
    g = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(f))))
    assert g([1.0])[0] == [12.0]


def test_deepcopy(f, s):
    g = copy.deepcopy(f)
    g([1.0])
    assert s.get_value() == [1.0] and g([0.0])[1] == [2.0]


def test_size(f):
    assert len(pickle.dumps(f)) < 10_000


def test_no_path_and_no_code_in_a_pickle(f):
    data = pickle.dumps(f)
    assert not re.search(rb"\.so\b", data) and b"compiledir" not in data


def test_deep_graphs():
    x = row("x")
    y = x
    for _ in range(3_000):
        y = plus(y, x)
    f = function([x], y)
    g = pickle.loads(pickle.dumps(f))
    assert g([1.0]) == [3_001.0]
    assert copy.deepcopy(f)([1.0]) == [3_001.0]


def test_errors_of_a_pickle_still_name_the_line(f):
    g = pickle.loads(pickle.dumps(f))
    with pytest.raises(ValueError, match="lengths") as caught:
        g([1.0, 2.0])
    assert __file__ in str(caught.value)


def test_flat_graphs_keep_names_and_constants():
    x = row("x")
    y = plus(same(x), row.make_constant([1.0], name="one"))
    y.name = "y"
    (x2,), (y2,) = unflatten(pickle.loads(pickle.dumps(flatten([x], [y]))))
    assert (x2.name, y2.name, y2.owner.inputs[1].name) == ("x", "y", "one")
    assert y2.eval({x2: [1.0]}) == [2.0]


# -- f.copy ----------------------------------------------------------------------------------------------


def test_copy_shares_the_shared_variables(f, s):
    g = f.copy()
    g([1.0])
    assert s.get_value() == [2.0] and g.name == "f" and f.copy(name="g").name == "g"


COPIES = {
    "copy": lambda f, s, t: f.copy(),
    "copy of a copy": lambda f, s, t: f.copy().copy(),
    "share_memory": lambda f, s, t: f.copy(share_memory=True),
    "delete_updates": lambda f, s, t: f.copy(delete_updates=True),
    "swap": lambda f, s, t: f.copy(swap={s: t}),
    "name": lambda f, s, t: f.copy(name="g"),
    "copy.copy": lambda f, s, t: copy.copy(f),
    "copy.deepcopy": lambda f, s, t: copy.deepcopy(f),
    "pickle": lambda f, s, t: pickle.loads(pickle.dumps(f)),
}


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_returns_what_the_function_returns(way):
    x, s, t = row("x"), SharedVariable("s", row, [2.0], strict=False), SharedVariable("t", row, [2.0], strict=False)
    y = plus(x, s)
    for outputs in (y, None, [], [y], [x, s], {"k": y}, {"k": x, "l": y}):
        f = function([x], outputs, updates=[(s, plus(s, row.make_constant([0.0])))], on_unused_input="ignore")
        for trusted in (False, True):
            f.trust_input = trusted
            g = COPIES[way](f, s, t)
            assert g([1.0]) == f([1.0]) and g.trust_input is trusted


def test_copy_has_its_own_defaults():
    x, y = row("x"), row("y")
    f = function([x, In(y, value=[0.0], update=plus(x, y))], y)
    g = f.copy()
    f([1.0])
    assert f[y] == [1.0] and g[y] == [0.0]


def test_copy_without_updates(f, s):
    g = f.copy(delete_updates=True)
    assert g([1.0]) == [[12.0], [1.0]] and s.get_value() == [1.0]
    assert len(g.maker.fgraph.outputs) == 2


def test_copy_with_other_shared_variables(f, s):
    t = SharedVariable("t", row, [100.0], strict=False)
    g = f.copy(swap={s: t})
    assert g([1.0]) == [[111.0], [100.0]] and t.get_value() == [101.0] and s.get_value() == [1.0]
    assert g.get_shared() == [t] and g["t"] == [101.0]


def test_swaps_that_are_refused(f, s):
    other = theano.shared({})
    with pytest.raises(ValueError, match="does not use the shared variable"):
        f.copy(swap={other: other})
    with pytest.raises(TypeError, match="cannot swap s of type"):
        f.copy(swap={s: other})
    with pytest.raises(TypeError, match="for a shared variable"):
        f.copy(swap={s: 3})


def test_copy_is_not_rewritten(f, monkeypatch):
    monkeypatch.setattr("theano.compile.mode.rewrite", None)
    assert f.copy()([1.0])[0] == [12.0]


def test_free_keeps_the_function_usable(f):
    f([1.0])
    f.free()
    assert f([1.0])[1] == [2.0]
