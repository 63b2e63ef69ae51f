"""Attributes that programs give to objects of classes derived from ours, and to ours: they are plain objects."""

import pickle

import numpy as np
import pytest

import theano
import theano.scalar as ts
import theano.tensor as T
from theano.compile.shared import SharedVariable
from theano.graph import Apply, FunctionGraph, Op, Type, Variable
from theano.graph.features import Feature
from theano.rewriting.userdefined.graph_rewriters import Optimizer
from theano.runtime.dual import DualLinker
from theano.runtime.interpreter import WrapLinker
from theano.runtime.link import CLinker, Linker, OpWiseCLinker, PerformLinker

NAMES = """
    name auto_name index owner priority inner_profiles profile fn mode context dims value_ data updates default_update rng
    state seed debug verbose trace counter count stats cache key id label description version doc path args kwargs options
    config parent children graph fgraph maker linker optimizer provided schedule_ callback_ call_time thunks opt required
    optional storage container borrow strict mutable implicit axis_ inplace new_axis openmp_ identity_ associative_
    filename func_file sections batch_size learning_rate layer units weights bias activation W b x y n m length names
    history hashval updated reason position final cleanup requirement nodes_seen done ready requires_grad trainable
    metadata handle
""".split()


class Double(Op):
    __props__ = ()
    priority = "high"

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * 2

    def grad(self, inputs, grads):
        return [grads[0] * 2]


class Own(Type):
    def filter(self, value, strict=False, allow_downcast=None):
        return value


class Twice(ts.UnaryScalarOp):
    def impl(self, x):
        return x * 2


def derived(base):
    """Return a class derived from a base, as programs write them."""
    return type(f"My{base.__name__}", (base,), {})


MAKERS = {
    "Op": Double, "Type": Own, "Variable": lambda: derived(Variable)(Own()), "Apply": lambda: Double().make_node(T.dvector()),
    "Linker": derived(Linker), "PerformLinker": derived(PerformLinker), "CLinker": derived(CLinker),
    "OpWiseCLinker": derived(OpWiseCLinker), "DualLinker": derived(DualLinker),
    "WrapLinker": lambda: derived(WrapLinker)([PerformLinker()], print), "Mode": derived(theano.Mode), "Feature": derived(Feature),
    "Optimizer": derived(Optimizer), "SharedVariable": lambda: derived(SharedVariable)("s", Own(), 3, False),
    "scalar op": lambda: Twice(ts.same_out, name="twice"), "Elemwise": lambda: derived(T.Elemwise)(ts.add),
    "TensorType": lambda: derived(T.TensorType)("float64", (False,)), "TensorVariable": T.dvector, "result": lambda: T.dvector() + 1,
    "FunctionGraph": lambda: derived(FunctionGraph)([], []), "OpFromGraph": lambda: theano.OpFromGraph([x := T.dvector()], [x * 2]),
}  # fmt: skip
OURS = {"optimizer": ["Mode"], "value_": []}


@pytest.mark.parametrize("kind", MAKERS)
def test_any_attribute_can_be_set(kind):
    wrong = []
    for name in NAMES:
        if kind not in OURS.get(name, ()):
            thing = MAKERS[kind]()
            try:
                setattr(thing, name, "high")
                wrong += [] if getattr(thing, name) == "high" else [name]
            except Exception as error:
                wrong.append(f"{name}: {error}")
    assert not wrong


def test_objects_with_attributes_of_their_own_work():
    x = T.dvector("x")
    double, add, mode = Double(), T.Elemwise(ts.add), theano.Mode(Linker(), "fast_run")
    double.tag, double.inner_profiles, double.mine, add.nin, add.nout, mode.linker.mine = "mine", [], 1, 2, 1, "mine"
    x.auto_name = "auto_mine"
    y = add(double(x), x)
    for how in (mode, theano.Mode(PerformLinker()), "FAST_COMPILE", "DebugMode"):
        f = theano.function([x], [y, T.grad(y.sum(), x)], mode=how)
        np.testing.assert_array_equal(f([1.0, 2.0]), [[3, 6], [3, 3]])
    assert double.tag == "mine" and x.auto_name == "auto_mine" and mode.linker.mine == "mine"
    assert pickle.loads(pickle.dumps(double)).mine == 1
    assert T.dvector().auto_name.startswith("auto_") and Double().tag is not Double().tag


def test_a_linker_that_begins_without_its_base():
    class Counting(PerformLinker):
        def __init__(self, *args, **kwargs):
            self.calls = 0
            super().__init__(*args, **kwargs)
            self.name = "counting"

        def order(self, fgraph):
            self.calls += 1
            return super().order(fgraph)

    class Bare(Linker):
        def __init__(self):
            self.tag = "mine"

    x, linker = T.dvector("x"), Counting(allow_gc=False)
    for how in (linker, Bare(), Linker()):
        np.testing.assert_array_equal(theano.function([x], x * 2, mode=theano.Mode(how, None))([1.0]), [2.0])
    assert linker.calls and str(linker) == "counting"
