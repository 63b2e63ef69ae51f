"""The names of ``theano``: what is there, old spellings, and what is said of what is not there."""

import pytest

import theano
from theano import layers
from theano.errors import UnavailableLayerError


def test_documented_names_are_there():
    types = "Apply Constant Container FunctionGraph Generic In Mode Op OrderedUpdates Out Param Type Variable"
    for name in types.split():
        assert isinstance(getattr(theano, name), type), name
    others = "as_op change_flags clone config function pp pprint shared grad gof printing compile gradient utils"
    for name in others.split():
        assert hasattr(theano, name) and name in dir(theano), name
    assert issubclass(theano.Function, theano.compile.Function)


def test_old_spellings():
    from theano.compile.function_module import Function, UnusedInputError
    from theano.compile.io import In
    from theano.compile.ops import as_op
    from theano.compile.pfunc import Param
    from theano.compile.profiling import ProfileStats
    from theano.compile.sharedvalue import SharedVariable
    from theano.gof.fg import FunctionGraph
    from theano.gof.graph import Apply, Constant, Variable
    from theano.gof.op import PureOp
    from theano.gof.type import Generic
    from theano.gof.utils import MethodNotDefined

    assert In is theano.In and Param is theano.Param and as_op is theano.as_op and Apply is theano.Apply
    assert theano.Mode(theano.gof.PerformLinker()).linker.compiled == "never" and theano.CLinker().name == "c"
    assert theano.gof.vm.VM_Linker(use_cloop=False, allow_gc=False).clone(allow_gc=True).allow_gc
    assert theano.gof.OpWiseCLinker(fallback_on_perform=False).compiled == "always"
    assert theano.compile.sharedvalue.SharedVariable is SharedVariable and "io" in dir(theano.compile)
    assert PureOp is theano.Op and Generic is theano.Generic and theano.gof.FunctionGraph is FunctionGraph
    assert all((Function, UnusedInputError, ProfileStats, SharedVariable, Constant, Variable, MethodNotDefined))
    assert str(type(theano.generic("x").type)) and repr(Apply) == "<class 'theano.gof.graph.Apply'>"


def test_a_layer_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(layers.DISTRIBUTIONS, "imaginary", "theano-imaginary")
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
    with pytest.raises(KeyError, match="two different expressions"):
        theano.OrderedUpdates({a: b}) + {a: a}
    with pytest.raises(TypeError, match="only shared variables"):
        theano.OrderedUpdates({"a": b})
    with pytest.raises(TypeError, match="only shared variables"):
        updates[3] = a
    with pytest.raises(TypeError, match="only shared variables"):
        updates.update({3: a})
