"""The names of ``theano``: what is there, documented spellings, and what is said of what is not there."""

import importlib

import pytest

import theano
from theano import layers
from theano.errors import UnavailableLayerError


def test_documented_names_are_there():
    types = "Apply Constant Container FunctionGraph Generic In Mode Op OrderedUpdates Out Param Type Variable"
    for name in types.split():
        assert isinstance(getattr(theano, name), type), name
    others = "as_op change_flags clone config function pp pprint shared grad gof printing compile gradient"
    for name in others.split():
        assert hasattr(theano, name) and name in dir(theano), name
    assert issubclass(theano.Function, theano.compile.Function)


def test_documented_spellings():
    from theano.compile.io import In
    from theano.compile.ops import as_op
    from theano.compile.sharedvalue import SharedVariable
    from theano.gof.fg import FunctionGraph
    from theano.gof.graph import Apply, Constant, Variable
    from theano.gof.op import PureOp
    from theano.gof.type import Generic
    from theano.gof.utils import MethodNotDefined

    assert In is theano.In and as_op is theano.as_op and Apply is theano.Apply
    assert theano.Mode(theano.gof.PerformLinker()).linker.compiled == "never" and theano.CLinker().name == "c"
    assert theano.gof.OpWiseCLinker(fallback_on_perform=False).compiled == "always"
    assert theano.compile.sharedvalue.SharedVariable is SharedVariable and "io" in dir(theano.compile)
    assert PureOp is theano.Op and Generic is theano.Generic and theano.gof.FunctionGraph is FunctionGraph
    assert all((SharedVariable, Constant, Variable, MethodNotDefined))
    assert str(type(theano.generic("x").type)) and repr(Apply) == "<class 'theano.gof.graph.Apply'>"


def test_names_of_older_versions_say_where_they_come_from(monkeypatch):
    list(layers.installed())
    for missing in ("theano-legacy", "theano-sparse"):
        monkeypatch.delitem(layers._described, missing, raising=False)
    said = "Names of older versions come with theano-legacy, which is not installed: pip install theano-legacy$"
    for module in (theano, theano.compile, theano.gof, theano.gof.graph):
        with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'ancient'. {said}"):
            module.ancient
    for statement in ("import theano.ancient", "from theano.gof.params_type import ancient", "from theano.gof.ancient import name"):
        with pytest.raises(ModuleNotFoundError, match=rf"No module named 'theano[\w.]*\.ancient'. {said}"):
            exec(statement)
    with pytest.raises(ModuleNotFoundError, match="'theano.misc'. It belongs to the distribution theano-legacy: pip"):
        layers.old_names.find_spec("theano.misc")
    with pytest.raises(ModuleNotFoundError, match="'theano.sparse'. It belongs to the distribution theano-sparse: pip"):
        layers.old_names.find_spec("theano.sparse")
    for private in ("__ancient__", "__path__"):
        with pytest.raises(AttributeError, match=f"has no attribute '{private}'$"):
            getattr(theano.gof.graph if private == "__ancient__" else theano.compile.mode, private)


def test_a_layer_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(layers.PUBLISHED, "theano-imaginary", layers.Published(frozenset(["theano.imaginary"])))
    assert not hasattr(theano, "imaginary") and "imaginary" not in dir(theano)
    with pytest.raises(UnavailableLayerError, match="pip install theano-imaginary"):
        theano.imaginary
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        theano.nonsense
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        theano.compile.nonsense


def test_updates_are_ordered_and_checked():
    a, b = theano.shared({}, name="a"), theano.shared({}, name="b")
    updates = theano.OrderedUpdates([(b, a)])
    updates[a] = b
    assert list(updates) == [b, a]
    updates.update({a: a})
    assert updates[a] is a
    assert dict(theano.OrderedUpdates({a: b}) + {b: a}) == {a: b, b: a} == dict({a: b} + theano.OrderedUpdates({b: a}))
    assert list({b: a} + theano.OrderedUpdates({a: b})) == [b, a] == list(theano.OrderedUpdates({b: a}) + {a: b})
    with pytest.raises(KeyError, match="two different expressions"):
        theano.OrderedUpdates({a: b}) + {a: a}
    with pytest.raises(TypeError, match="only shared variables"):
        theano.OrderedUpdates({"a": b})
    with pytest.raises(TypeError, match="only shared variables"):
        updates[3] = a
    with pytest.raises(TypeError, match="only shared variables"):
        updates.update({3: a})


def test_clone_takes_expressions_or_inputs_and_outputs(twice):
    x, z = theano.generic("x"), theano.generic("z")
    y = twice(twice(x))
    assert theano.clone(y, replace={x: z}).owner.inputs[0].owner.inputs[0] is z
    for copy in (theano.clone(y, {twice(x): z}), theano.clone(y)):
        assert copy is not y and copy.owner.inputs[0] is not y.owner.inputs[0] and copy.owner.inputs[0].owner.inputs == [x]
    assert theano.clone(y, {y.owner.inputs[0]: z}).owner.inputs == [z]
    assert theano.clone(y, {x: y}).owner.inputs[0].owner.inputs[0] is y, "a replacement stays, and may be made of what it replaces"
    a, b = theano.clone((twice(x), twice(z)), {x: z, z: x})
    assert a.owner.inputs == [z] and b.owner.inputs == [x]
    assert [v.owner.inputs[0] for v in theano.clone([twice(x)], replace=[(x, z)])] == [z]
    fresh = theano.clone(y, share_inputs=False).owner.inputs[0].owner.inputs[0]
    assert fresh is not x and fresh.name == "x"
    with pytest.warns(DeprecationWarning, match="it is called share_inputs"):
        assert theano.clone(y, copy_inputs=False).owner.inputs[0].owner.inputs[0] is not x
    other = theano.clone(y, [(x, twice(z))], share_inputs=False).owner.inputs[0].owner.inputs[0].owner.inputs[0]
    assert other is not z and other.name == "z"
    s = theano.shared("old")
    (own,) = theano.clone(twice(s), share_inputs=False).owner.inputs
    s.set_value("new")
    assert own is not s and own.get_value() == "new"
    for wrong in (x, "x", 3):
        with pytest.raises(ValueError, match="replace must be a dictionary or a list of pairs"):
            theano.clone(y, wrong)
    with pytest.raises(TypeError):
        theano.clone(y, {x: theano.gradient.disconnected_type()})
    (new_x,), (new_y,) = theano.clone([x], [y])
    assert new_x is not x and new_y.owner.inputs[0].owner.inputs[0] is new_x
    (same,), _ = theano.clone([x], [y], False)
    assert same is x


@pytest.fixture
def twice():
    class Twice(theano.Op):
        __props__ = ()
        itypes = otypes = [theano.generic]

    return Twice()


def test_function_dump(tmp_path):
    import pickle

    x = theano.generic("x")
    x.tag.note = lambda: None  # no pickle takes it
    path = tmp_path / "call.pkl"
    theano.function_dump(str(path), [x], [x], name="again", extra_tag_to_remove=["note"])
    call = pickle.loads(path.read_bytes())
    assert call["name"] == "again" and vars(call["inputs"][0].tag) == {} and call["inputs"][0] is call["outputs"][0]
    assert theano.function(**call)(5) == [5]
    with pytest.raises((pickle.PicklingError, AttributeError)):
        theano.function_dump(str(path), [x], [x])


def test_a_star_brings_the_modules_of_graphs():
    brought = {}
    exec("from theano.graph import *", brought)
    for name in ("basic", "fg", "op", "opt", "type"):
        assert brought[name] is importlib.import_module(f"theano.graph.{name}")
