"""Types, variables, ops and nodes: what they accept, how they compare, what they say of themselves."""

import sys
from types import SimpleNamespace

import pytest
from toy import Number, add, number, split

from theano.errors import MethodNotDefined
from theano.graph import Apply, Constant, Generic, Op, Variable, generic
from theano.graph.source import SourceLine, created_at


def test_a_variable_knows_where_it_comes_from():
    x, y = number("x"), number("y")
    z = add(x, y)
    assert z.owner.op is add and z.owner.inputs == [x, y] and z.owner.outputs[z.index] is z
    assert x.owner is None and str(x) == "x" and str(z) == "add.0" and str(z.owner) == "add(x, y)"
    assert str(number()) == "<Number(any)>"


def test_a_variable_remembers_the_users_line():
    x = number("x")
    z = add(x, x)
    assert created_at(x).filename == __file__
    assert created_at(z).text == "z = add(x, x)"


def test_values_become_constants_of_the_type():
    z = add(number(), 3)
    three = z.owner.inputs[1]
    assert isinstance(three, Constant) and three.data == 3 and str(three) == "Constant{3}"
    with pytest.raises(AttributeError, match="set once"):
        three.data = 4


def test_a_variable_of_another_type_is_refused():
    with pytest.raises(TypeError, match="of type Number.other. where Number.any. is needed"):
        add(Number("other")("x"), 1)


def test_types_are_their_props():
    assert Number("a") == Number("a") != Number("b")
    assert hash(Number("a")) == hash(Number("a"))
    assert Generic() == generic


def test_props_make_str_and_are_checked():
    class AXPB(Op):
        __props__ = ("a", "b")

        def __init__(self, a, b):
            self.a, self.b = a, b

    assert str(AXPB(4, 5)) == "AXPB{a=4, b=5}" and AXPB(4, 5) == AXPB(4, 5) != AXPB(4, 6)
    assert AXPB(4, 5)._props_dict() == {"a": 4, "b": 5}
    with pytest.raises(TypeError, match="must be a tuple"):

        class Wrong(Op):
            __props__ = "a"


def test_an_op_with_own_equality_keeps_the_hash_of_its_props():
    class Loose(Op):
        __props__ = ("a",)

        def __init__(self, a):
            self.a = a

        def __eq__(self, other):
            return type(self) is type(other)

    assert hash(Loose(1)) == hash(Loose(1)) and Loose(1) == Loose(2)


def test_itypes_stand_for_make_node():
    a, b = split(number("x"))
    assert (a.index, b.index) == (0, 1) and a.owner is b.owner
    with pytest.raises(ValueError, match="takes 1 inputs, got 2"):
        split(1, 2)
    with pytest.raises(NotImplementedError, match="make_node"):
        Op()(1)


def test_default_output_and_return_list():
    class Hidden(Op):
        __props__ = ()
        default_output = 1
        itypes = [number]
        otypes = [number, number]

    out = Hidden()(number())
    assert out.index == 1 and str(out) == "Hidden.out" and out.owner.out is out
    assert add(number(), return_list=True)[0].owner.op is add
    with pytest.raises(AttributeError, match="2 outputs"):
        split(number())[0].owner.default_output()
    for choice in (-1, 2, [0, 1], "0"):
        node = Hidden().make_node(number())
        node.op.default_output = choice
        with pytest.raises(AttributeError, match="number of one of the 2 outputs"):
            node.default_output()


def test_apply_takes_fresh_outputs_only():
    x = number("x")
    y = add(x)
    with pytest.raises(ValueError, match="belongs to another node"):
        Apply(add, [x], [y])
    with pytest.raises(TypeError, match="input 0"):
        Apply(add, [3], [number()])
    with pytest.raises(TypeError, match="list or a tuple"):
        Apply(add, x, [number()])


def test_clone_with_new_inputs_keeps_or_remakes():
    x, y = number("x"), number("y")
    node = add(x, x).owner
    assert node.clone_with_new_inputs([y, y]).inputs == [y, y]
    with pytest.raises(TypeError):
        node.clone_with_new_inputs([y, Number("other")()])


def test_an_undefined_method_says_which():
    with pytest.raises(MethodNotDefined, match="Combine does not define grad"):
        add.grad([], [])
    with pytest.raises(NotImplementedError):
        add.R_op([], [])


def test_an_owner_needs_an_index():
    with pytest.raises(ValueError, match="index"):
        Variable(number, owner=add(number()).owner)
    with pytest.raises(TypeError, match="string"):
        Variable(number, name=3)


def test_a_line_of_a_notebook_is_named_by_its_cell(monkeypatch):
    cells = {"/tmp/ipykernel_7/1.py": ("Cell", "In[3]")}
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=cells.get))
    line, other = SourceLine("/tmp/ipykernel_7/1.py", 2, "<module>"), SourceLine("model.py", 3, "loss")
    assert str(line) == "/tmp/ipykernel_7/1.py:2"
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert (str(line), str(other)) == ("Cell In[3], line 2", "model.py:3")
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert str(line) == "/tmp/ipykernel_7/1.py:2"
