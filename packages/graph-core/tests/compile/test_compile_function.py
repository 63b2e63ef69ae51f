"""theano.function: what comes in, what goes out, what is refused and in which words."""

import pytest
from rows import Row, Whole, boom, plus, plus_into, row, same, whole

import theano
from theano import In, Out, Param, function
from theano.compile.expression import ExpressionOp
from theano.compile.shared import SharedVariable
from theano.errors import MissingInputError, UnusedInputError
from theano.graph import Apply, Op, Type
from theano.graph.clone import clone


def shared_row(value, name=None):
    return SharedVariable(name, row, list(value), strict=False)


@pytest.fixture
def xy():
    return row("x"), row("y")


def short(caught):
    """Return the text of an error, which must not be long."""
    text = str(caught.value)
    assert len(text.splitlines()) <= 10, text
    return text


# -- outputs ------------------------------------------------------------------------------------------


def test_one_output(xy):
    x, y = xy
    assert function([x, y], plus(x, y))([1.0], [2.0]) == [3.0]


def test_list_of_outputs(xy):
    x, y = xy
    assert function([x, y], [plus(x, y), y])([1.0], [2.0]) == [[3.0], [2.0]]
    assert function([x], [x])([1.0]) == [[1.0]]


def test_dict_of_outputs(xy):
    x, y = xy
    f = function([x, y], {"sum": plus(x, y), "first": x})
    assert f([1.0], [2.0]) == {"first": [1.0], "sum": [3.0]}
    with pytest.raises(TypeError, match="strings"):
        function([x], {1: x})


def test_no_output(xy):
    x, _ = xy
    s = shared_row([0.0])
    assert function([x], updates=[(s, plus(s, x))])([1.0]) is None
    assert function([x], [], on_unused_input="ignore")([1.0]) == []


def test_constant_output():
    one = row.make_constant([1.0])
    f = function([], one)
    f()[0] = 5.0
    assert f() == [1.0]


def test_outputs_must_be_variables(xy):
    with pytest.raises(TypeError, match="variables or Out"):
        function([xy[0]], 3)


def test_inputs_must_be_a_list(xy):
    x, _ = xy
    with pytest.raises(TypeError, match="come in a list"):
        function(x, x)
    with pytest.raises(TypeError, match="not 'x' of type str"):
        function(["x"], x)


# -- arguments ----------------------------------------------------------------------------------------


def test_keywords_and_defaults(xy):
    x, y = xy
    f = function([x, In(y, value=[10.0])], plus(x, y))
    assert f([1.0]) == [11.0]
    assert f([1.0], [2.0]) == [3.0]
    assert f(y=[3.0], x=[1.0]) == [4.0]
    assert f([1.0]) == [11.0], "a default is what it was"


def test_param_and_tuples_are_older_spellings(xy):
    x, y = xy
    assert function([x, Param(y, [1.0])], plus(x, y))([1.0]) == [2.0]
    assert function([x, (y, [1.0])], plus(x, y))([1.0]) == [2.0]
    assert function([x, ("other", y, [1.0])], plus(x, y))([1.0], other=[3.0]) == [4.0]


def test_own_name_of_an_input(xy):
    x, _ = xy
    assert function([In(x, name="value")], x)(value=[1.0]) == [1.0]
    nameless = function([In(x, autoname=False)], x)
    with pytest.raises(TypeError):
        nameless(x=[1.0])


def test_an_input_with_a_memory(xy):
    x, y = xy
    f = function([x, In(y, value=[0.0], update=plus(x, y))], y)
    assert [f([1.0]), f([1.0]), f([1.0])] == [[0.0], [1.0], [2.0]]
    assert f[y] == [3.0]
    f["y"] = [10.0]
    assert f([1.0]) == [10.0] and f.value["y"] == [11.0]
    assert f([1.0], [50.0]) == [50.0] and f[y] == [51.0]


def test_values_are_converted_as_the_type_says(xy):
    n = whole("n")
    f = function([n], n)
    assert f((1.0, 2.0)) == [1, 2]
    with pytest.raises(TypeError, match="whole numbers only"):
        f([1.5])
    assert function([n], n, allow_input_downcast=True)([1.5]) == [1]
    assert function([In(n, allow_downcast=True)], n)([1.5]) == [1]
    with pytest.raises(TypeError, match="not all numbers are int"):
        function([In(n, strict=True)], n)([1.0])


def test_bad_argument_is_named(xy):
    x, y = xy
    f = function([x, y], plus(x, y), name="total")
    with pytest.raises(TypeError) as caught:
        f([1.0], "two")
    text = short(caught)
    for part in ("'y'", "index 1", "total", "Row(float)", "str 'two'", "a str is no list", __file__):
        assert part in text
    with pytest.raises(ValueError, match="3 numbers where 2 belong"):
        p = Row(float, 2)("p")
        function([p], p)([1.0, 2.0, 3.0])


def test_symbolic_argument(xy):
    x, y = xy
    with pytest.raises(TypeError, match="y is a symbolic variable"):
        function([x], x)(y)


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ([], {}, ("total", "x")),
        ([[1.0]], {}, ("total", "y")),
        ([[1.0], [1.0], [1.0]], {}, ("total", "3", "2")),
        ([[1.0], [1.0]], {"z": [1.0]}, ("total", "z")),
        ([[1.0], [1.0]], {"y": [1.0]}, ("total", "y")),
    ],
    ids=["none", "missing", "too many", "unknown", "twice"],
)
def test_wrong_arguments(xy, args, kwargs, words):
    x, y = xy
    f = function([x, y], plus(x, y), name="total")
    with pytest.raises(TypeError) as caught:
        f(*args, **kwargs)
    text = short(caught)
    assert all(word in text for word in words), text


# -- what a graph needs -----------------------------------------------------------------------------------


def test_unused_input(xy, monkeypatch):
    x, y = xy
    with pytest.raises(UnusedInputError) as caught:
        function([x, y], x, name="f")
    text = short(caught)
    assert all(part in text for part in ("the input y (number 1, of type Row(float)", "='ignore'", __file__))
    with pytest.warns(UserWarning, match="the input y") as warned:
        function([x, y], x, on_unused_input="warn")
    assert warned[0].filename == __file__
    assert function([x, y], x, on_unused_input="ignore")([1.0], [2.0]) == [1.0]
    with theano.config.change_flags(on_unused_input="ignore"):
        function([x, y], x)
    with pytest.raises(ValueError, match="on_unused_input is"):
        function([x], x, on_unused_input="shout")


def test_the_same_input_twice(xy):
    x, _ = xy
    with pytest.raises(UnusedInputError, match="twice .* at 0 and 1"):
        function([x, x], x)


def test_missing_input(xy):
    x, y = xy
    with pytest.raises(MissingInputError) as caught:
        function([x], plus(x, y), name="f")
    assert caught.value.variable is y
    text = short(caught)
    assert "variable y of type Row(float), created at" in text and "plus needs it" in text and "givens" in text
    with pytest.raises(MissingInputError):
        function([], x)


def test_constants_and_shared_variables_are_no_inputs():
    with pytest.raises(TypeError, match="constant .* cannot be an input"):
        function([row.make_constant([1.0])], [])
    s = shared_row([1.0], "s")
    with pytest.raises(TypeError, match=r"Cannot use a shared variable \(s\) as explicit input"):
        function([s], s)


@pytest.mark.parametrize("kind", [TypeError, AssertionError])
def test_the_keys_of_outputs_are_strings(xy, kind):
    x, y = xy
    with pytest.raises(kind, match=r"strings, not \['sum', 1\]"):
        function([x, y], {"sum": plus(x, y), 1: x})


def test_an_expression_as_input(xy):
    x, y = xy
    middle = plus(x, y)
    assert function([middle], plus(middle, middle))([2.0]) == [4.0]


def test_the_users_graph_is_not_touched(xy):
    x, y = xy
    z = plus(x, y)
    f = function([x, y], z)
    assert z.owner.inputs == [x, y] and z.fgraph is None
    assert all(v not in (x, y, z) for v in f.maker.fgraph.variables)


def test_eval(xy):
    x, y = xy
    z = plus(x, y)
    assert z.eval({x: [1.0], "y": [2.0]}) == [3.0]
    assert z.eval({x: [2.0], y: [2.0]}) == [4.0]


# -- updates and givens -------------------------------------------------------------------------------------


def test_updates_see_the_old_values():
    a, b = shared_row([1.0], "a"), shared_row([2.0], "b")
    swap = function([], [], updates={a: b, b: a})
    swap()
    assert (a.get_value(), b.get_value()) == ([2.0], [1.0])
    swap()
    assert (a.get_value(), b.get_value()) == ([1.0], [2.0])


@pytest.mark.parametrize("form", [dict, list, theano.OrderedUpdates, tuple])
def test_forms_of_updates(form, xy):
    x, _ = xy
    s = shared_row([0.0])
    f = function([x], s, updates=form([(s, plus(s, x))]))
    assert f([1.0]) == [0.0] and s.get_value() == [1.0]


def test_updates_that_are_refused(xy):
    x, y = xy
    s = shared_row([0.0], "s")
    with pytest.raises(TypeError, match="only shared variables can be updated"):
        function([x], x, updates=[(y, x)])
    with pytest.raises(ValueError, match="s is updated twice"):
        function([x], x, updates=[(s, x), (s, plus(x, x))])
    with pytest.raises(TypeError, match="is not a .shared variable, expression. pair"):
        function([x], x, updates=[s])
    with pytest.raises(TypeError) as caught:
        function([x], x, updates=[(s, Whole()(x))])
    text = short(caught)
    assert "s : Row(float)" in text and "Row(int), created at" in text


class Block(Type):
    """Says its dtype and its dimensions; ``kind`` is what else may differ."""

    __props__ = ("dtype", "ndim", "kind")

    def __init__(self, dtype, ndim, kind=""):
        self.dtype, self.ndim, self.kind = dtype, ndim, kind

    def filter(self, value, strict=False, allow_downcast=None):
        if isinstance(value, str):
            raise TypeError("no text")
        return value


@pytest.mark.parametrize(("got", "advice"), [
    (Block("float64", 1), "Cast it: theano.tensor.cast(expression, 'float32')."),
    (Block("float64", 2), "Cast it: theano.tensor.cast(expression, 'float32')."),
    (Block("float32", 2), "It has 2 dimensions, 1 are needed"),
    (Block("float32", 1, "odd"), "Convert the expression, or"),
    (Block(None, None), "Convert the expression, or"),
    (row, "Convert the expression, or"),
])  # fmt: skip
@pytest.mark.parametrize("where", ["updates", "givens"])
def test_advice_for_an_expression_of_another_type(where, got, advice):
    wanted = Block("float32", 1)
    target = SharedVariable("s", wanted, 1.0, strict=False)
    with pytest.raises(TypeError) as caught:
        function([], target, **{where: [(target, got("v"))]})
    text = short(caught)
    assert f"    s : {wanted}\n" in text and f" v : {got}" in text and f"\n  {advice}" in text


@pytest.mark.parametrize("where", ["updates", "givens"])
@pytest.mark.parametrize("length", [60, 61])
def test_a_value_of_another_type_is_shown_with_its_class(where, length):
    wanted = Block("float32", 1)
    target = SharedVariable("s", wanted, 1.0, strict=False)
    with pytest.raises(TypeError) as caught:
        function([], target, **{where: {target: "a" * length}})
    shown = "a" * 60 if length == 60 else "a" * 57 + "..."
    assert f" {shown} : str\n  Convert the expression" in short(caught)


@pytest.mark.parametrize("where", ["updates", "givens"])
def test_an_expression_of_another_type_is_shown_in_as_many_characters_as_a_value(where, xy):
    wanted = Block("float32", 1)
    target = SharedVariable("s", wanted, 1.0, strict=False)
    for length, shown in ((60, "a" * 60), (61, "a" * 57 + "...")):
        with pytest.raises(TypeError) as caught:
            function([], target, **{where: {target: row("a" * length)}})
        assert f" {shown} : Row(float)" in short(caught)


@pytest.mark.parametrize("make", [
    lambda key, value: theano.OrderedUpdates([(key, value)]), lambda key, value: theano.OrderedUpdates({key: value}),
    lambda key, value: theano.OrderedUpdates(iter([[key, value]])), lambda key, value: theano.OrderedUpdates(x=value),
])  # fmt: skip
def test_ordered_updates_are_made_for_shared_variables_only(make, xy):
    with pytest.raises(TypeError, match="only shared variables can be updated, and .*x"):
        make(xy[0], xy[1])


def test_default_updates():
    s, t = shared_row([0.0], "s"), shared_row([1.0], "t")
    s.default_update = plus(s, t)
    t.default_update = plus(t, t)
    f = function([], s)
    assert [f(), f(), f()] == [[0.0], [1.0], [3.0]] and t.get_value() == [8.0]
    function([], s, no_default_updates=True)()
    assert t.get_value() == [8.0]
    function([], s, no_default_updates=[s])()
    assert s.get_value() == [7.0] and t.get_value() == [8.0], "t is only needed by the update of s"
    function([], s, updates=[(s, same(s))])()
    assert s.get_value() == [7.0]


def test_givens(xy):
    x, y = xy
    s = shared_row([5.0])
    assert function([x], plus(x, y), givens={y: s})([1.0]) == [6.0]
    assert function([x], plus(x, y), givens=[(y, plus(x, x))])([1.0]) == [3.0]
    assert function([x], plus(x, y), givens={y: [7.0]})([1.0]) == [8.0], "a value becomes a constant"
    assert function([x], plus(x, s), givens={s: plus(s, s)})([1.0]) == [11.0]
    middle = plus(x, y)
    assert function([x], plus(middle, x), givens={middle: x})([1.0]) == [2.0]
    swapped = function([], plus(same(x), y), givens={x: s, y: row.make_constant([1.0])})
    assert swapped() == [6.0]


def test_givens_reach_updates(xy):
    x, y = xy
    s = shared_row([0.0])
    function([x], [], updates=[(s, plus(s, y))], givens={y: plus(x, x)})([1.0])
    assert s.get_value() == [2.0]


def test_a_given_shared_variable_can_be_updated(xy):
    x, _ = xy
    s = shared_row([1.0], "s")
    f = function([x], s, givens={s: x}, updates=[(s, plus(s, s))])
    assert f([10.0]) == [10.0] and s.get_value() == [20.0]


def test_givens_that_are_refused(xy):
    x, y = xy
    with pytest.raises(RuntimeError, match="is an input of the function"):
        function([x, y], plus(x, y), givens={x: y})
    with pytest.raises(TypeError, match="givens replace variables"):
        function([x], x, givens={"x": x})
    with pytest.raises(TypeError) as caught:
        function([x], plus(x, y), givens={y: Whole()(x)})
    assert "y : Row(float)" in short(caught)


# -- failing calls ------------------------------------------------------------------------------------------


def test_a_failed_call_changes_nothing(xy):
    x, _ = xy
    s, t = shared_row([1.0], "s"), shared_row([1.0], "t")
    f = function([x], boom(x), updates=[(s, plus(s, x)), (t, plus(t, x))])
    with pytest.raises(ValueError, match="boom"):
        f([1.0])
    assert s.get_value() == [1.0] == t.get_value()
    g = function([x], [], updates=[(s, plus(s, s)), (t, plus(t, x))])
    with pytest.raises(ValueError, match="lengths"):
        g([1.0, 2.0])
    assert s.get_value() == [1.0] == t.get_value()


def test_output_subset(xy):
    x, y = xy
    f = function([x, y], [plus(x, y), x, y])
    assert f([1.0], [2.0], output_subset=[2, 0]) == [[2.0], [3.0]]
    d = function([x, y], {"a": x, "b": y})
    assert d([1.0], [2.0], output_subset=["b"]) == {"b": [2.0]}
    assert f(y=[1.0], x=[2.0], output_subset=None) == [[3.0], [2.0], [1.0]]
    assert f([1.0], y=[2.0], output_subset=[]) == []
    with pytest.raises(IndexError):
        f([1.0], [2.0], output_subset=[3])
    with pytest.raises(TypeError, match="returns no list"):
        function([x], x)([1.0], output_subset=[0])
    clash = row("output_subset")
    assert function([clash], clash)(output_subset=[1.0]) == [1.0], "an input of that name comes first"


# -- working in place -----------------------------------------------------------------------------------------


def test_inplace_ops_of_the_user(xy):
    x, y = xy
    z = plus_into(plus(x, x), y)
    with pytest.raises(TypeError) as caught:
        function([x, y], z)
    assert "plus_into" in short(caught) and "accept_inplace=True" in short(caught)
    assert function([x, y], z, accept_inplace=True)([1.0], [1.0]) == [3.0]


def test_arguments_are_given_up_to_what_overwrites_them_in_the_program(xy):
    x, y = xy
    for given in (x, In(x, mutable=True)):
        f = function([given, y], plus_into(x, y), accept_inplace=True)
        mine = [1.0]
        assert f(mine, [2.0]) == [3.0] and mine == [3.0]
    viewed = function([x, y], plus_into(plus_into(x, y), y), accept_inplace=True)
    mine = [1.0]
    assert viewed(mine, [2.0]) == [5.0] and mine == [5.0]
    with pytest.raises(theano.InconsistencyError, match="x, which belongs to the caller"):
        function([In(x, value=[1.0]), y], plus_into(x, y), accept_inplace=True)


def test_reading_what_was_overwritten(xy):
    x, y = xy
    z = plus(x, x)
    first = plus_into(z, y)
    assert function([x, y], [first, plus(z, y)], accept_inplace=True)([1.0], [1.0]) == [[3.0], [3.0]]
    with pytest.raises(theano.InconsistencyError) as caught:
        function([x, y], [first, plus_into(z, x)], accept_inplace=True)
    assert "plus_into -> plus_into" in short(caught)
    with pytest.raises(theano.errors.CycleError) as caught:
        function([x, y], plus(first, z), accept_inplace=True)
    assert "cycle of 2 nodes" in short(caught)


def test_mutable_means_borrowed(xy):
    with pytest.raises(ValueError, match="mutable with borrow=False"):
        In(xy[0], mutable=True, borrow=False)


def test_shared_values_are_protected(xy):
    x, _ = xy
    s = shared_row([1.0], "s")
    with pytest.raises(theano.InconsistencyError, match="s, which belongs to the caller"):
        function([x], [], updates=[(s, plus_into(s, x))], accept_inplace=True)


# -- looking at functions ---------------------------------------------------------------------------------------


def test_maker_and_names(xy):
    x, y = xy
    f = function([x, y], plus(x, y))
    assert f.name.startswith(__file__)
    assert function([x], x, name="id").name == "id"
    topo = f.maker.fgraph.toposort()
    assert [node.op for node in topo] == [plus]
    assert topo[0].outputs[0].clients == [("output", 0)]
    assert repr(function([x, In(y, value=[2])], [x, y], name="f")).startswith("<theano.compile.Function f(x: ")
    assert "= ...) -> [" in repr(function([In(x, value=[2])], [x]))


def test_stored_values_are_found(xy):
    x, y = xy
    s = shared_row([1.0], "s")
    f = function([x, In(y, value=[2.0])], plus(plus(x, y), s), name="f")
    assert f[s] == [1.0] and f["s"] == [1.0] and f.value[y] == [2.0] and f.container["y"].value == [2.0]
    f[s] = [4.0]
    assert s.get_value() == [4.0]
    assert f.get_shared() == [s] and s in f and row("other") not in f
    with pytest.raises(TypeError, match=r"f has no input 'z'; it has \['s', 'x', 'y'\]"):
        f["z"]


def test_ambiguous_names():
    a, b = row("a"), row("a")
    f = function([a, In(b, value=[1.0])], plus(a, b))
    with pytest.raises(TypeError, match="several inputs"):
        f["a"]
    assert f[b] == [1.0]


def test_implicit_input_with_a_container(xy):
    x, y = xy
    s = shared_row([3.0])
    f = function([x, In(y, value=s)], plus(x, y))
    assert f([1.0]) == [4.0]
    s.set_value([5.0])
    assert f([1.0]) == [6.0]


def test_rebuild_strict_false():
    class Length(Op):
        """Takes rows of any kind, and says so in its output."""

        __props__ = ()

        def make_node(self, x):
            return theano.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0]

    x, n = row("x"), whole("n")
    y = Length()(x)
    assert function([n], y, givens={x: n}, rebuild_strict=False)([1]) == [1]
    s = shared_row([0.0], "s")
    with pytest.raises(TypeError, match="is of type Row"):
        function([n], [], givens={x: n}, updates=[(s, y)], rebuild_strict=False)


def test_expressions_of_clones(xy):
    x, y = xy
    (a, b), (c,) = clone([x, y], [plus(x, y)])
    assert function([a, b], Out(c))([1.0], [2.0]) == [3.0]


class Doubled(ExpressionOp):
    """An op of an expression, which says nothing more."""

    __props__ = ()

    def expression(self, x):
        return plus(x, x)


def test_an_op_of_an_expression_stays_unless_it_says_otherwise():
    x = row("x")
    stays, goes = Doubled()(x), type("Inlined", (Doubled,), {"is_inline": True})()(x)
    assert stays.owner.op.inlined(stays.owner) is None and not stays.owner.op.repeats
    assert [v.owner.op for v in goes.owner.op.inlined(goes.owner)] == [plus]
    assert function([x], [stays, goes])([1.0, 2.0]) == [[2.0, 4.0]] * 2


def test_an_op_whose_methods_are_set_on_it():
    op = Op()
    op.make_node = lambda x: Apply(op, [x], [x.type()])

    def perform(node, inputs, output_storage):
        output_storage[0][0] = [2.0 * v for v in inputs[0]]

    op.perform = perform
    x = row("x")
    assert function([x], op(op(x)))([1.0]) == [4.0]
