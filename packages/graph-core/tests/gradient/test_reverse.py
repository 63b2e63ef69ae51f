"""theano.grad: values, forms, everything that can be missing, and what is said about it."""

import math
import warnings

import pytest
from smooth import (
    add,
    floor,
    mul,
    mystery,
    pair,
    real,
    run,
    short,
    silent,
    sin,
    total,
    unwritten,
    vector,
    whole,
)

from theano.errors import DisconnectedInputError, NullTypeGradError
from theano.gradient import (
    DisconnectedType,
    Lop,
    NullType,
    consider_constant,
    disconnected_grad,
    format_as,
    grad,
    grad_clip,
    grad_scale,
    grad_undefined,
    subgraph_grad,
    undefined_grad,
    zero_grad,
)


def slope(cost, at, **options):
    return run([grad(cost, list(at), **options)][0], at)


def test_product_and_chain_rule():
    x, y = real("x"), real("y")
    cost = add(mul(sin(x), y), mul(x, x))
    assert slope(cost, {x: 0.7, y: 3.0}) == pytest.approx([3 * math.cos(0.7) + 1.4, math.sin(0.7)])


def test_second_order():
    x = real("x")
    assert slope(grad(sin(mul(x, x)), x), {x: 0.7}) == pytest.approx([2 * math.cos(0.49) - 4 * 0.49 * math.sin(0.49)])


def test_the_answer_has_the_form_of_wrt():
    x = real("x")
    cost = sin(x)
    assert isinstance(grad(cost, [x]), list) and isinstance(grad(cost, (x,)), tuple)
    assert grad(cost, x).owner.op == mul
    assert format_as(True, False, 1) == [1]
    with pytest.raises(ValueError, match="one gradient is wanted"):
        format_as(False, False, [1, 2])


def test_inner_variables_may_be_asked_for():
    x = real("x")
    inner = sin(x)
    cost = mul(inner, inner)
    assert run(grad(cost, [inner, x, cost]), {x: 0.5}) == pytest.approx(
        [2 * math.sin(0.5), 2 * math.sin(0.5) * math.cos(0.5), 1]
    )


def test_names():
    x = real("x")
    cost = sin(x)
    cost.name = "cost"
    assert grad(cost, x).name == "(dcost/dx)"
    assert grad(cost, x, add_names=False).name is None


def test_ten_thousand_deep_and_wide():
    x = real("x")
    cost = x
    for _ in range(10_000):
        cost = add(cost, x)
    assert run([grad(cost, x)], {x: 1.0}) == [10_001]


def test_only_nodes_on_the_way_are_asked():
    x, y = real("x"), real("y")
    assert run([grad(mul(mystery(y), x), x)], {x: 2.0, y: 5.0}) == [5.0]


def test_a_cost_must_be_a_scalar():
    v = vector("v")
    with pytest.raises(TypeError, match="the cost must be a scalar") as caught:
        grad(v, v)
    text = str(caught.value)
    assert "v : float64[1], written at" in text and "test_reverse.py:" in text and len(text.splitlines()) <= 10


def test_a_cost_is_no_function():
    with pytest.raises(TypeError, match=r"not the function .*pass what it returns, f\(x\)"):
        grad(lambda v: v, real("x"))


def test_no_cost_and_wrong_arguments():
    x = real("x")
    with pytest.raises(AssertionError, match="are both missing"):
        grad(None, x)
    with pytest.raises(TypeError, match="wrt must be a variable"):
        grad(sin(x), 3)
    for name in ("disconnected_inputs", "return_disconnected", "null_gradients"):
        with pytest.raises(ValueError, match=f"{name} is 'maybe'"):
            grad(sin(x), x, **{name: "maybe"})
    with pytest.raises(TypeError, match="consider_constant"):
        grad(sin(x), x, consider_constant=x)


def test_disconnected_inputs():
    x, y = real("x"), real("y")
    cost = sin(x)
    with pytest.raises(DisconnectedInputError) as caught:
        grad(cost, [x, y])
    text = str(caught.value)
    assert "sin(x) : float64, written at" in text and "y : float64, written at" in text
    assert "disconnected_inputs='ignore'" in text and len(text.splitlines()) <= 10
    with pytest.warns(UserWarning, match="does not depend on"):
        grad(cost, y, disconnected_inputs="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run([grad(cost, y, disconnected_inputs="ignore")], {y: 1.0}) == [0.0]
        for none in ("none", "None"):
            assert grad(cost, y, disconnected_inputs="ignore", return_disconnected=none) is None
        for typed in ("disconnected", "Disconnected"):
            g = grad(cost, y, disconnected_inputs="ignore", return_disconnected=typed)
            assert isinstance(g.type, DisconnectedType)


def test_connection_pattern_is_respected():
    x, y = real("x"), real("y")
    first, second = pair(x, y)
    assert run(grad(first, [x]), {x: 0.5, y: 1.0}) == pytest.approx([math.cos(0.5)])
    with pytest.raises(DisconnectedInputError):
        grad(first, y)
    assert slope(mul(first, second), {x: 0.5, y: 2.0}) == pytest.approx([2 * math.cos(0.5), math.sin(0.5)])


def test_discrete_values_are_flat():
    x, n = real("x"), whole("n")
    assert run([grad(mul(floor(x), x), x)], {x: 2.5}) == [2.0]
    assert run([grad(floor(x), x)], {x: 2.5}) == [0.0]
    assert run([grad(mul(n, x), n)], {x: 2.5, n: 3}) == [2.5]


def test_null_gradients():
    x, y = real("x"), real("y")
    cost = unwritten(x, y)
    assert run([grad(cost, x)], {x: 1.0, y: 1.0}) == [1.0]
    with pytest.raises(NullTypeGradError, match=r"with respect to y : float64, .*input 1 \(y\) is not implemented: later"):
        grad(cost, y)
    null = grad(cost, y, null_gradients="return")
    assert isinstance(null.type, NullType)
    with pytest.raises(NullTypeGradError, match="undefined: its grad returned None"):
        grad(silent(x), x)
    with pytest.raises(ValueError, match="the cost has no value"):
        grad(grad_undefined(sin, 0, x), x)
    # Null wins over numbers, through later ops too.
    with pytest.raises(NullTypeGradError):
        grad(add(mul(unwritten(x, sin(y)), 2.0), y), y)


def test_an_op_without_gradient_is_named():
    x = real("x")
    with pytest.raises((AttributeError, NotImplementedError), match="does not define grad") as caught:
        grad(mystery(x), x)
    assert any("mystery(x) : float64, written at" in note for note in caught.value.__notes__)


def test_an_op_that_answers_nonsense_is_named():
    x, v = real("x"), vector("v")
    with pytest.raises(ValueError, match="short.grad must return a list of 2 gradients"):
        grad(short(x, x), x)
    with pytest.raises(ValueError, match="returned a gradient of 0 dimensions for input 0, v"):
        grad(total(v), v)


def test_consider_constant_argument():
    x = real("x")
    inner = sin(x)
    cost = mul(inner, x)
    assert run([grad(cost, x, consider_constant=[inner])], {x: 0.5}) == pytest.approx([math.sin(0.5)])


def test_known_grads():
    x, g = real("x"), real("g")
    y = sin(x)
    assert run([grad(None, x, known_grads={y: g})], {x: 0.5, g: 3.0}) == pytest.approx([3 * math.cos(0.5)])
    # What is known of an inner variable replaces what would be computed for it.
    assert run([grad(mul(y, y), x, known_grads={y: g})], {x: 0.5, g: 3.0}) == pytest.approx([3 * math.cos(0.5)])
    assert run([Lop(y, x, g)], {x: 0.5, g: 3.0}) == pytest.approx([3 * math.cos(0.5)])
    # The derivative of a sum has no term of it: its inputs are noted, so that a function may take them all the same.
    z = real("z")
    assert set(grad(None, x, known_grads={add(y, z): g}).tag.derived_from) == {x, z}
    assert not hasattr(grad(None, z, known_grads={z: g}).tag, "derived_from")
    with pytest.raises(TypeError, match="has 1 dimensions, the variable 0"):
        grad(None, x, known_grads={y: vector("v")})
    with pytest.raises(ValueError, match="1 expressions but 2"):
        Lop(y, x, [g, g])


def test_barriers():
    x = real("x")
    at = {x: 0.5}
    for still in (consider_constant, zero_grad):
        assert slope(mul(still(x), x), at) == [0.5]
        assert slope(still(x), at) == [0.0]
    assert slope(mul(disconnected_grad(x), x), at) == [0.5]
    with pytest.raises(DisconnectedInputError):
        grad(disconnected_grad(x), x)
    with pytest.raises(NullTypeGradError, match="undefined_grad says so"):
        grad(undefined_grad(x), x)
    assert slope(grad_scale(mul(x, x), -2.0), at) == [-2.0]
    assert slope(grad_clip(mul(x, 5.0), -1, 1), at) == [5.0]
    assert slope(mul(grad_clip(x, -1, 1), 5.0), at) == [1.0]
    with pytest.raises(ValueError, match="above the upper bound"):
        grad_clip(x, 1, -1)


def test_gradient_in_parts():
    w, x = real("w"), real("x")
    hidden = sin(mul(w, x))
    cost = mul(hidden, hidden)
    none, (dhidden,) = subgraph_grad([], [hidden], cost=cost)
    (dw,), _ = subgraph_grad([w], [x], start={hidden: dhidden})
    assert none == []
    at = {w: 0.3, x: 2.0}
    assert run([dw], at) == pytest.approx(run([grad(cost, w)], at))
    with pytest.raises(ValueError, match="at least one"):
        subgraph_grad([w], [x])
