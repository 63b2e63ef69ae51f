"""How ops are made, as the page of that name shows it: the parts in Python."""

from __future__ import annotations

import numpy as np
import numpy.testing as npt
import pytest

import theano
import theano.tensor as T
from theano.gof import Apply as gof_Apply
from theano.gof import MergeOptimizer
from theano.scalar import *  # noqa: F403  (the page begins with it)
from theano.scalar import Apply, Op, Variable, constant, float64, int64


class Add(Op):
    __props__ = ()

    def make_node(self, x, y):
        # note 1: constant, int64 and Scalar are defined in theano.scalar
        # note 2: constant(x) is equivalent to Constant(type = int64, data = x)
        # note 3: the call int64() is equivalent to Variable(type = int64) or Variable(type = Scalar(dtype = 'int64'))
        if isinstance(x, int):
            x = constant(x)
        elif not isinstance(x, Variable) or not x.type == int64:  # noqa: SIM201
            raise TypeError("expected an int64 Scalar")
        if isinstance(y, int):
            y = constant(y)
        elif not isinstance(y, Variable) or not y.type == int64:  # noqa: SIM201
            raise TypeError("expected an int64 Scalar")
        inputs = [x, y]
        outputs = [int64()]
        node = Apply(op=self, inputs=inputs, outputs=outputs)
        return node  # noqa: RET504

    def perform(self, node, inputs, output_storage):
        # this does z = x + y
        x, y = inputs  # extract the two inputs
        (z,) = output_storage  # extract the one storage (the comma after z is not optional)
        z[0] = x + y  # we must put the variable in z[0]


add = Add()  # I make an instance of Add


# -- make_node ----------------------------------------------------------------------------------------------


def test_nodes_are_made_of_variables_and_of_numbers():
    node1 = add.make_node(int64(), int64())  # I make a node with two Variable inputs
    node2 = add.make_node(1, 2)  # this works too
    node3 = add.make_node(int64(), 79)  # this works three
    for node in (node1, node2, node3):
        assert node.op == add and all(isinstance(v, Variable) for v in node.inputs) and len(node.outputs) == 1
    with pytest.raises(TypeError, match="expected an int64 Scalar"):
        add.make_node(float64(), int64())  # this raises a TypeError
    assert [v.data for v in node2.inputs] == [1, 2]


def test_notes_two_and_three():
    made = theano.scalar.constant(3, dtype="int64")
    assert made.type == int64 and made.data == 3
    assert int64().type == theano.scalar.Scalar(dtype="int64") == int64


def test_apply_wants_lists_of_variables():
    with pytest.raises(TypeError):
        Apply(add, [1], [int64()])
    with pytest.raises(TypeError):
        Apply(add, int64(), [int64()])


def test_when_two_nodes_are_taken_for_the_same():
    a, b = add.make_node(int64(), int64()), add.make_node(int64(), int64())
    assert a.op == b.op
    assert all(p.type == q.type for p, q in zip(a.inputs + a.outputs, b.inputs + b.outputs, strict=True))


def test_call_gives_variables():
    assert add(1, 2).owner.op == add

    class Two(Op):
        def make_node(self, x):
            return Apply(self, [x], [x.type(), x.type()])

    x = int64("x")
    both = Two()(x)
    assert isinstance(both, list) and [v.index for v in both] == [0, 1]


# -- equality -----------------------------------------------------------------------------------------------


class ByHand(Op):
    """The three methods that the page names, written out."""

    def __init__(self, key):
        self.key = key

    def __eq__(self, other):
        return type(self) is type(other) and self.key == other.key

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((type(self), self.key))

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]


class Distinct(ByHand):
    """Without them each instance is another op."""

    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__


@pytest.mark.parametrize("cls, nodes", [(ByHand, 1), (Distinct, 2)])
def test_ops_that_compare_equal_are_merged(cls, nodes):
    x = T.dscalar("x")
    f = theano.function([x], [cls("k")(x), cls("k")(x)], mode=theano.Mode("py", MergeOptimizer()))
    assert sum(isinstance(n.op, ByHand) for n in f.maker.fgraph.apply_nodes) == nodes
    assert len({ByHand("a"), ByHand("a"), ByHand("b")}) == 2


# -- parametrized ops -----------------------------------------------------------------------------------------


def test_the_examples_of_parametrized_ops():
    m, x, y = T.dmatrix("m"), T.dvector("x"), T.dvector("y")
    broadcast, inplace = T.Elemwise(theano.scalar.add), T.Elemwise(theano.scalar.add, {0: 0})
    assert broadcast != inplace and inplace.inplace_pattern == {0: 0} and inplace.destroy_map == {0: [0]}
    reduce = T.elemwise.CAReduce(theano.scalar.add, axis=(0,))
    f = theano.function([m, x, y], [reduce(m), broadcast(x, y)])
    values = np.arange(6.0).reshape(2, 3), np.ones(3), np.full(3, 2.0)
    npt.assert_array_equal(f(*values)[0], values[0].sum(axis=0))
    npt.assert_array_equal(f(*values)[1], [3, 3, 3])
    adds = theano.scalar.Add(theano.scalar.upcast_out)
    assert adds(theano.scalar.int8(), theano.scalar.float32()).type == theano.scalar.float32
    p, q = float64("p"), float64("q")
    composite = theano.scalar.Composite([p, q], [p * q + p])
    assert theano.function([p, q], composite(p, q))(3.0, 4.0) == 15.0


class MyOp(Op):
    """The page's ideas: a parameter that lets the op print, and one that keeps it from C."""

    __props__ = ("debug", "allow_c")

    def __init__(self, debug=False, allow_c=True):
        self.debug, self.allow_c = debug, allow_c

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        if self.debug:
            print("MyOp sees", inputs[0])
        output_storage[0][0] = inputs[0] + 1

    def c_code(self, node, name, inputs, outputs, sub):
        raise theano.gof.MethodNotDefined("c_code", type(self), "not allowed" if not self.allow_c else "not written")


def test_parameters_are_not_inputs(capsys):
    x = T.dscalar("x")
    assert MyOp(True)(x).owner.inputs == [x] and MyOp(True) != MyOp(False) and MyOp(True) == MyOp(True)
    f = theano.function([x], [MyOp(True)(x), MyOp(False)(x)], mode=theano.Mode("c|py", "merge"))
    assert f(3.0) == [4.0, 4.0] and len(f.maker.fgraph.apply_nodes) == 2
    assert capsys.readouterr().out == "MyOp sees 3.0\n"


def test_an_op_that_refuses_c_runs_in_python():
    x = T.dscalar("x")
    assert theano.function([x], MyOp(allow_c=False)(x), mode=theano.Mode("c|py", None))(1.0) == 2.0


# -- perform --------------------------------------------------------------------------------------------------


def test_perform_by_hand(capsys):
    node = add.make_node(int64(), int64())  # I make a node with two integer inputs
    storage = [None]  # I make my storage as a 1-element list with None
    add.perform(node, (3, 7), (storage,))  # I provide the node, two inputs and storage for one output
    print(storage[0])  # prints 10
    assert capsys.readouterr().out == "10\n"


def test_what_the_user_was_given_is_not_reused():
    """Storage may hold what was there before, but not what somebody else has: then it is None."""

    class Reuses(Op):
        __props__ = ()

        def make_node(self, x):
            return gof_Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            (z,) = output_storage
            if z[0] is None or z[0].shape != inputs[0].shape:
                z[0] = np.empty_like(inputs[0])
            np.add(inputs[0], 1, z[0])

    x = T.dvector("x")
    f = theano.function([x], Reuses()(x))
    kept = [f([float(i)]) for i in range(4)]
    assert [k.tolist() for k in kept] == [[1.0], [2.0], [3.0], [4.0]]


# -- grad -----------------------------------------------------------------------------------------------------


class Mul(Op):
    __props__ = ("form",)

    def __init__(self, form="tuple"):
        self.form = form

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * inputs[1]

    def grad(self, inputs, output_gradients):
        x, y = inputs
        (gz,) = output_gradients  # here again, the comma is not optional
        gx, gy = Mul()(gz, y), Mul()(gz, x)
        return {"tuple": (gx, gy), "list": [gx, gy], "none": [gx, None], "bare": gx}[self.form]


@pytest.mark.parametrize("form", ["tuple", "list"])
def test_grad_returns_as_many_as_there_are_inputs(form):
    x, y = T.dscalars("x", "y")
    f = theano.function([x, y], theano.grad(Mul(form)(x, y), [x, y]))
    assert f(3.0, 5.0) == [5.0, 3.0]


def test_one_gradient_by_itself_is_not_fine():
    x, y = T.dscalars("x", "y")
    with pytest.raises((TypeError, ValueError)):
        theano.grad(Mul("bare")(x, y), x)


def test_none_is_for_what_is_not_differentiable():
    x, y = T.dscalars("x", "y")
    assert theano.function([x, y], theano.grad(Mul("none")(x, y), x), on_unused_input="ignore")(3.0, 5.0) == 5.0
    with pytest.raises((TypeError, theano.gradient.DisconnectedInputError, theano.gradient.NullTypeGradError)):
        theano.function([x, y], theano.grad(Mul("none")(x, y), y))


def test_several_outputs_add_up():
    class Both(Op):
        __props__ = ()

        def make_node(self, x, y):
            return Apply(self, [x, y], [x.type(), x.type()])

        def perform(self, node, inputs, output_storage):
            x, y = inputs
            output_storage[0][0], output_storage[1][0] = x * y, x + 2 * y

        def grad(self, inputs, output_gradients):
            (x, y), (gz, gw) = inputs, output_gradients
            return gz * y + gw * 1, gz * x + gw * 2

    x, y = T.dscalars("x", "y")
    z, w = Both()(x, y)
    f = theano.function([x, y], theano.grad(z * 10 + w, [x, y]))
    npt.assert_allclose(f(3.0, 5.0), [51.0, 32.0])


def test_an_op_without_grad_is_complained_of():
    x = T.dscalar("x")
    with pytest.raises(AttributeError):
        theano.grad(MyOp()(x), x)


# -- destroyers and viewers -----------------------------------------------------------------------------------


class AddInplace(Op):
    __props__ = ("which",)

    def __init__(self, which=0):
        self.which = which
        self.destroy_map = {0: [which]}

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[self.which]
        inputs[self.which] += inputs[1 - self.which]


class Scratch(Op):
    """Uses its input as working space, and returns something else: the key None."""

    __props__ = ()
    destroy_map = {None: [0]}

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        inputs[0][:] = 0
        output_storage[0][0] = inputs[0] + 7


@pytest.mark.parametrize("which", [0, 1])
def test_who_overwrites_runs_last(which):
    x, y = T.dvectors("x", "y")
    a, b = x + 1, y + 1
    outs = [AddInplace(which)(a, b), a * 10, b * 10]
    f = theano.function([x, y], outs, accept_inplace=True, mode=theano.Mode("vm", None))
    order = f.maker.fgraph.toposort()
    (over,) = (n for n in order if isinstance(n.op, AddInplace))
    readers = [n for n, _ in over.inputs[which].clients if n is not over]
    assert readers and all(order.index(n) < order.index(over) for n in readers)
    npt.assert_array_equal(f([1.0], [5.0]), [[8.0], [20.0], [60.0]])


def test_scratch_space_is_destroyed_too():
    x = T.dvector("x")
    a = x + 1
    f = theano.function([x], [Scratch()(a), a * 10], accept_inplace=True, mode=theano.Mode("vm", None))
    npt.assert_array_equal(f([1.0]), [[7.0], [20.0]])


def test_two_may_not_overwrite_one_thing():
    x, y = T.dvectors("x", "y")
    a = x + 1
    with pytest.raises(theano.gof.InconsistencyError):
        theano.function([x, y], [AddInplace()(a, y), AddInplace()(a, y * 2)], accept_inplace=True, mode="FAST_COMPILE")


def test_inplace_ops_of_the_user_need_leave_and_stored_values_are_protected():
    x, y = T.dvectors("x", "y")
    kept = theano.shared(np.array([1.0]))
    with pytest.raises(TypeError, match="accept_inplace"):
        theano.function([x, y], AddInplace()(x + 1, y))
    for stored in (kept[:], T.constant(np.array([1.0]))):
        with pytest.raises(theano.gof.InconsistencyError):
            theano.function([y], AddInplace()(stored, y), accept_inplace=True)
    f = theano.function([y], AddInplace()(kept, y), accept_inplace=True)  # as if it were the update of it
    npt.assert_array_equal(f([5.0]), [6.0])
    npt.assert_array_equal(kept.get_value(), [6.0])
    with pytest.raises(theano.gof.InconsistencyError):
        theano.function([theano.In(x, value=np.array([1.0])), y], AddInplace()(x, y), accept_inplace=True)
    for given in (x, theano.In(x, mutable=True)):
        f = theano.function([given, y], AddInplace()(x, y), accept_inplace=True)
        value = np.array([1.0])
        npt.assert_array_equal(f(value, [5.0]), [6.0])
        assert value[0] == 6.0


class Either(Op):
    """An output that may be a view of one input or of the other: more than the page could promise."""

    __props__ = ()
    view_map = {0: [1, 2]}

    def make_node(self, c, a, b):
        return Apply(self, [c, a, b], [a.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[1] if inputs[0] else inputs[2]


class Transpose(Op):
    __props__ = ()
    view_map = {0: [0]}

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0].T


def test_a_view_is_protected_with_what_it_views():
    x, kept = T.dmatrix("x"), theano.shared(np.eye(2))
    with pytest.raises(theano.gof.InconsistencyError):
        theano.function([x], AddInplace()(Transpose()(kept), x + 1), accept_inplace=True)
    f = theano.function([x], Transpose()(x))
    value = np.arange(6.0).reshape(2, 3)
    result = f(value)
    npt.assert_array_equal(result, value.T)
    result[:] = -1
    assert value.min() == 0  # what the caller gets is the caller's: no view of an argument


def test_an_output_may_view_one_of_several_inputs():
    c, a, b, y = T.bscalar("c"), T.dvector("a"), T.dvector("b"), T.dvector("y")
    with pytest.raises(theano.gof.InconsistencyError):
        kept = theano.shared(np.array([1.0]))
        theano.function([c, a, y], AddInplace()(Either()(c, a, kept), y), accept_inplace=True)
    p, q = a + 1, b + 2
    out = [AddInplace()(Either()(c, p, q), y), p * 10, q * 10]
    f = theano.function([c, a, b, y], out, accept_inplace=True, mode=theano.Mode("vm", None))
    assert isinstance(f.maker.fgraph.toposort()[-1].op, AddInplace)
    npt.assert_array_equal(f(1, [1.0], [5.0], [100.0]), [[102.0], [20.0], [70.0]])
    npt.assert_array_equal(f(0, [1.0], [5.0], [100.0]), [[107.0], [20.0], [70.0]])


# -- hidden outputs -------------------------------------------------------------------------------------------


class Growing(Op):
    """Use a hidden buffer to prevent unnecessary reallocation of memory."""

    __props__ = ()
    default_output = 0
    view_map = {0: []}

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type.make_variable(), x.type.make_variable()])

    def perform(self, node, inputs, output_storage):
        (x, y), (z, stor) = inputs, output_storage
        if z[0] is None or stor[0] is None:
            stor[0] = np.ndarray(x.size * 2)
        elif x.size > stor[0].size:
            stor[0].resize(x.size * 2, refcheck=0)
        z[0] = stor[0][: x.size]
        np.add(x, y, z[0])


def test_the_hidden_buffer_is_hidden():
    x, y = T.dvectors("x", "y")
    out = Growing()(x, y)
    assert isinstance(out, Variable) and out.index == 0 and len(out.owner.outputs) == 2
    f = theano.function([x, y], out)
    kept = [(n, f(np.arange(float(n)), np.ones(n))) for n in (2, 3, 10, 4)]
    for n, result in kept:
        npt.assert_array_equal(result, np.arange(n) + 1.0)
    by_hand = [[None], [None]]
    node = out.owner
    for n in (3, 5):
        node.op.perform(node, [np.ones(n), np.ones(n)], by_hand)
        npt.assert_array_equal(by_hand[0][0], np.full(n, 2.0))
        assert by_hand[1][0].size >= n


class Plan(Op):
    """The other example: a plan is kept along with what it was made for."""

    __props__ = ()
    default_output = 0

    def __init__(self):
        self.plans = 0

    def make_node(self, x):
        return Apply(self, [x], [T.zvector(), theano.generic()])

    def perform(self, node, inputs, output_storage):
        (x,), (z, plan) = inputs, output_storage
        if plan[0] is None or plan[0][0] != x.size:
            self.plans += 1
            plan[0] = (x.size, np.exp(-2j * np.pi * np.outer(np.arange(x.size), np.arange(x.size)) / x.size))
        z[0] = plan[0][1] @ x


def test_a_plan_is_reused_for_inputs_of_its_kind():
    x, op = T.dvector("x"), Plan()
    f = theano.function([x], op(x), mode=theano.Mode("vm_nogc", None))
    rng = np.random.default_rng(1)
    for n in (4, 4, 6, 6):
        value = rng.standard_normal(n)
        npt.assert_allclose(f(value), np.fft.fft(value))
    cells = [[None], [None]]
    for n in (4, 4, 6):
        op.perform(op(x).owner, [np.ones(n)], cells)
    assert op.plans <= 4 + 2


def test_private_inputs():
    """The other way: state that comes in as an input and is marked as destroyed."""

    class Counter(Op):
        __props__ = ()
        destroy_map = {0: [1]}

        def make_node(self, x, state):
            return Apply(self, [x, state], [state.type()])

        def perform(self, node, inputs, output_storage):
            x, state = inputs
            state += x
            output_storage[0][0] = state

    state, x = theano.shared(np.zeros(1)), T.dvector("x")
    out = Counter()(x, state)
    f = theano.function([x], out * 1, updates=[(state, out)], accept_inplace=True)
    assert [f([2.0]).tolist() for _ in range(3)] == [[2.0], [4.0], [6.0]]
