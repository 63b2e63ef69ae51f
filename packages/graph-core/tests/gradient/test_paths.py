"""Which nodes are asked for derivatives, what they are given, and what becomes of their answers."""

import pytest
from smooth import Number, add, cos, is_value, mul, mystery, pair, real, run, sin, unwritten, vector, whole

from theano.errors import DisconnectedInputError, MethodNotDefined, NullTypeGradError
from theano.gradient import (
    DisconnectedType,
    IdentityOp,
    Lop,
    Rop,
    consider_constant,
    disconnected_type,
    grad,
    grad_undefined,
    subgraph_grad,
)
from theano.gradient.absent import is_null
from theano.graph import Apply, Op, generic
from theano.graph.traverse import toposort

single = Number("float32")


class Told(Op):
    """An op whose gradient and direction are the functions that it is given."""

    __props__ = ("back", "forth")

    def __init__(self, back=None, forth=None, out=(real,), pattern=None):
        self.back, self.forth, self.out, self.pattern = back, forth, out, pattern

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [t() for t in self.out])

    def perform(self, node, inputs, output_storage):
        for cell in output_storage:
            cell[0] = 0.0  # what gradients of 1 have the shape of

    def connection_pattern(self, node):
        return self.pattern or [[True] * len(node.outputs)] * len(node.inputs)

    def grad(self, inputs, output_grads):
        return super().grad(inputs, output_grads) if self.back is None else self.back(inputs, output_grads)

    def __str__(self):
        return "told"


class Along(Told):
    """The same with a method of its own for directions."""

    def R_op(self, inputs, eval_points):
        return self.forth(inputs, eval_points)


def names(v):
    """Return the ops that an expression is made of."""
    return {str(node.op) for node in toposort([v])}


# -- the gradient ------------------------------------------------------------------------------------------------------


def test_what_has_no_influence_is_not_asked():
    x, y = real("x"), real("y")
    first, second = pair(x, y)
    for cost, wrt, constant in (
        (mystery(second), x, ()),
        (mystery(first), y, ()),
        (mystery(sin(x)), x, "inner"),
        (mystery(consider_constant(y)), x, ()),
    ):
        held = [cost.owner.inputs[0]] if constant else []
        with pytest.raises(DisconnectedInputError):
            grad(cost, wrt, consider_constant=held)
    # One output of a node is held constant, the other is not.
    assert run([grad(add(mystery(first), second), y, consider_constant=[first])], {x: 1.0, y: 2.0}) == [1.0]
    with pytest.raises(DisconnectedInputError):
        grad(add(mystery(first), second), x, consider_constant=[first])
    # What is held constant may be asked for itself.
    inner = sin(x)
    assert run(grad(mul(inner, x), [inner], consider_constant=[inner]), {x: 2.0}) == [2.0]


def test_all_wanted_variables_are_answered_whatever_comes_before_them():
    x, y = real("x"), real("y")
    for cost in (mul(sin(y), sin(x)), mul(sin(x), sin(y))):
        assert run([grad(cost, x)], {x: 0.5, y: 0.7}) == run([mul(cos(x), sin(y))], {x: 0.5, y: 0.7})
    answers = grad(sin(x), [y, x, y], disconnected_inputs="ignore", return_disconnected="none")
    assert answers[0] is None is answers[2] and str(answers[1].owner.op) == "mul"
    left_out = Told(lambda inputs, g: [disconnected_type(), g[0]])
    assert run(grad(left_out(x, y), [x, y], disconnected_inputs="ignore"), {x: 1.0, y: 1.0}) == [0.0, 1.0]


def test_terms_that_nobody_asked_for_are_not_looked_at():
    x, y = real("x"), real("y")
    sloppy = Told(lambda inputs, g: [g[0], 3.0])
    assert run([grad(sloppy(x, y), x)], {x: 1.0, y: 1.0}) == [1.0]
    with pytest.raises(TypeError, match="told.grad returned 3.0 for input 1"):
        grad(sloppy(x, y), y)


@pytest.mark.parametrize("answer", [lambda g: g, lambda g: iter([g]), lambda g: [g, g], lambda g: []])
def test_an_op_answers_with_one_term_for_each_input(answer):
    x = real("x")
    with pytest.raises(ValueError, match="must return a list of 1 gradients"):
        grad(Told(lambda inputs, g: answer(g[0]))(x), x)
    with pytest.raises(TypeError, match="must return a list of 1 gradients, one for each input, not None"):
        grad(Told(lambda inputs, g: None)(x), x)
    assert run([grad(Told(lambda inputs, g: (g[0],))(x), x)], {x: 1.0}) == [1.0]


def test_a_null_term_needs_no_dimensions_and_wins():
    v, x = vector("v"), real("x")
    refusing = Told(lambda inputs, g: [grad_undefined("it", 0, inputs[0])])
    assert is_null(grad(refusing(v), v, null_gradients="return"))
    for cost in (add(refusing(x), sin(x)), add(sin(x), refusing(x))):
        assert is_null(grad(cost, x, null_gradients="return"))
    several = Told(lambda inputs, g: [g[0]], out=(real, real))
    first, second = several(x)
    both = add(
        Told(lambda inputs, g: [grad_undefined("one", 0, x)])(first),
        Told(lambda inputs, g: [grad_undefined("two", 0, x)])(second),
    )
    with pytest.raises(NullTypeGradError, match="the gradient of one"):
        grad(both, x)
    # Where another output has no usable gradient, the op is told that it is disconnected.
    seen = []
    watching = Told(
        lambda inputs, g: seen.append(g) or [g[1], g[1]], out=(real, real), pattern=[[True, False], [False, True]]
    )
    first, second = watching(x, y := real("y"))
    cost = add(Told(lambda inputs, g: [grad_undefined("one", 0, x)])(first), second)
    null, known = grad(cost, [x, y], null_gradients="return")
    assert is_null(null) and not is_null(known)
    ((g, h),) = seen
    assert isinstance(g.type, DisconnectedType) and is_value(h)


def test_the_first_output_is_named_where_a_derivative_is_missing():
    x = real("x")
    first, second = Told(out=(real, real))(x)
    first.name, second.name = "first", "second"
    for ask in (lambda: grad(add(second, first), x), lambda: Rop(second, x, x)):
        with pytest.raises((MethodNotDefined, NotImplementedError)) as caught:
            ask()
        assert any("derivative of first : float64" in note for note in caught.value.__notes__)


def test_names_are_given_only_where_both_are_named_and_there_is_none():
    x, g = real("x"), real()
    for cost_name, name, inner_name, wanted in (
        ("c", "x", None, "(dc/dx)"), (None, "x", None, None), ("c", None, None, None), ("c", "x", "mine", "mine"),
    ):  # fmt: skip
        v, cost = real(name), None
        cost = sin(v)
        cost.name = cost_name
        given = add(g, 1.0)
        given.name = inner_name
        assert grad(cost, v, known_grads={v: given}).name == wanted
    cost = sin(x)
    cost.name = "c"
    assert grad(cost, x, known_grads={x: g}) is g and g.name is None
    assert grad(None, x, known_grads={cost: add(g, 1.0)}).name is None


def test_known_gradients_may_be_disconnected_or_of_types_without_dimensions():
    x, v, other = real("x"), vector("v"), generic("o")
    known = {v: disconnected_type()}
    with pytest.raises(DisconnectedInputError):
        grad(None, v, known_grads=known)
    answer = {"disconnected_inputs": "ignore", "return_disconnected": "None"}
    assert grad(None, v, known_grads=known, **answer) is None
    assert grad(None, other, known_grads={other: x}) is x
    with pytest.raises(TypeError, match="has 1 dimensions, the variable 0"):
        grad(None, x, known_grads={x: v})
    for known in ({x: 3.0}, {3.0: x}):
        with pytest.raises(TypeError, match="from variables to variables"):
            grad(None, x, known_grads=known)
    with pytest.raises(AssertionError, match="are both missing"):
        grad(None, x, known_grads={})
    assert run([grad(sin(x), x, known_grads={})], {x: 0.0}) == [1.0]
    # What is known of the cost replaces 1.
    cost = sin(x)
    assert run([grad(cost, x, known_grads={cost: x})], {x: 0.0}) == [0.0]


def test_a_gradient_gets_the_precision_of_its_variable():
    x = single("x")
    y = IdentityOp()(x)
    assert "to_real" in names(grad(None, x, known_grads={y: real("g")}))
    assert "to_real" not in names(grad(None, x, known_grads={y: single("g")}))
    assert "to_real" not in names(grad(sin(sin(real("z"))), real("z"), disconnected_inputs="ignore"))
    # Of whole numbers it is of any precision, but for types without one.
    n, seen = whole("n"), []
    first, second = Told(lambda inputs, g: seen.extend(g) or [g[1]], out=(whole, real))(n)
    g = real("g")
    grad(None, n, known_grads={first: g, second: g})
    assert seen == [g, g]


def test_lop_of_several():
    x, g, h = real("x"), real("g"), real("h")
    at = {x: 0.5, g: 2.0, h: 3.0}
    both = run(Lop([sin(x), mul(x, x)], [x], (g, h)), at)
    assert both == pytest.approx([2 * run([cos(x)], at)[0] + 3])
    y = real("y")
    assert run([Lop(sin(x), y, g, disconnected_inputs="ignore")], {y: 1.0}) == [0.0]
    inner = sin(x)
    assert run([Lop(mul(inner, x), x, g, [inner])], at) == run([mul(g, inner)], at)


def test_a_part_of_an_expression_with_its_own_cost():
    w, x, g = real("w"), real("x"), real("g")
    out, cost = mul(w, x), mul(w, w)
    at = {w: 3.0, x: 5.0, g: 2.0}
    (dw,), (dx,), of_start, of_cost = subgraph_grad([w], [x], start={out: g}, cost=cost, details=True)
    assert run([dw, dx, *of_start, *of_cost], at) == [16.0, 6.0, 10.0, 6.0]
    assert len(subgraph_grad([w], [x], start={out: g}, cost=cost)) == 2
    for given, values in (({"start": {out: g}}, [10.0]), ({"cost": cost}, [6.0])):
        (dw,), (dx,), of_start, of_cost = subgraph_grad([w], [x], details=True, **given)
        assert run([dw], at) == values == run(of_start or of_cost, at)
        assert (of_start is None) is ("cost" in given) and (of_cost is None) is ("start" in given)


# -- directions --------------------------------------------------------------------------------------------------------


def test_directions_of_some_inputs():
    x, y, u, v = (real(n) for n in "xyuv")
    at = {x: 2.0, y: 5.0, u: 3.0, v: 7.0}
    # A user's op gets a direction for each input, zero for one that does not move.
    for product in (mul, Along(forth=lambda i, d: [d[0] * i[1] + i[0] * d[1]])):
        f = product(x, y)
        assert run([Rop(f, [x, y], [u, v])], at) == [3 * 5 + 2 * 7]
        assert run([Rop(f, y, v)], at) == [14] and run([Rop(f, x, u)], at) == [15]
    told = []
    Rop(Along(forth=lambda i, d: [told.append(d[1]) or d[0]])(x, generic("o")), x, u)
    assert told == [None]  # there are no zeros of its type
    for f in (mul(IdentityOp()(y), IdentityOp()(x)), mul(IdentityOp()(x), IdentityOp()(y))):
        assert run([Rop(f, x, u)], at) == [15]
    both = Rop((x, mul(x, y)), (x, y), (u, v))
    assert isinstance(both, tuple) and both[0] is u
    assert Rop([x], [x], [u]) == [u]
    other, along = generic("o"), generic("d")
    assert Rop(IdentityOp()(other), other, along) is along
    assert Rop(IdentityOp()(x), x, along) is along  # no dimensions count as none
    with pytest.raises(ValueError, match="must return 1 derivatives, not 2"):
        Rop(Along(forth=lambda i, d: [d[0], d[0]])(x), x, u)


def test_a_direction_twice_backwards_leaves_out_what_is_not_there():
    x, y, u, v = (real(n) for n in "xyuv")
    at = {x: 2.0, y: 5.0, u: 3.0, v: 7.0}
    for missing in (None, disconnected_type(), grad_undefined("it", 0, x)):
        partly = Told(lambda inputs, g, m=missing: [m, g[0] * inputs[0]])
        assert run([Rop(partly(x, y), [x, y], [u, v])], at) == [14]
    assert run(Rop(list(pair(x, y)), [x, y], [u, v]), {**at, x: 0.0}) == [3, 7]
    assert run(Rop(list(pair(x, y)), [y, x], [v, u]), {**at, x: 0.0}) == [3, 7]
    assert run([Rop(unwritten(x, y), [x, y], [u, v])], at) == [3]
    with pytest.raises(ValueError, match="disconnected_outputs is 'maybe'"):
        Rop(y, x, u, disconnected_outputs="maybe")
