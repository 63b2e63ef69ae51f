"""Each expression of the table: its value, its inferred shape, its gradient to order 2, its direction."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import LAYOUTS, lay
from cases import CASES
from cases_ops import OP_CASES
from oracle import numeric_slope, run, shapes

import theano
import theano.tensor as T
from portion import portion
from theano.errors import MethodNotDefined
from theano.graph.op_contract import answers
from theano.graph.traverse import applys_between

BY_NAME = [pytest.param(c, id=c.name) for c in [*CASES, *OP_CASES]]
SMOOTH = [pytest.param(c, id=c.name) for c in [*CASES, *OP_CASES] if c.smooth]
SEEDS = pytest.mark.parametrize("seed", portion([23, 24, 25], always=0))


@pytest.mark.parametrize("case", BY_NAME)
def test_value(case):
    rng = np.random.default_rng(11)
    variables = case.variables()
    out = case.build(*variables)
    for layout in LAYOUTS:
        if layout == "empty" or layout == "stretched" and case.name in ("cumprod", "prod"):
            continue
        values = [lay(v, layout) for v in case.values(rng)]
        expected = np.asarray(case.reference(*[v.astype(v.dtype.newbyteorder("=")) for v in values]))
        actual = run(out, dict(zip(variables, values)))
        assert actual.shape == expected.shape, layout
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12, err_msg=layout)


@pytest.mark.parametrize("case", BY_NAME)
def test_inferred_shapes(case):
    variables = case.variables()
    given = dict(zip(variables, case.values(np.random.default_rng(5))))
    out = case.build(*variables)
    for node in applys_between(variables, [out]):
        if not answers(node.op, "infer_shape"):
            continue
        real = [np.shape(x) for x in run(list(node.outputs), given)]
        assert shapes(node, given) == real, node


def differentiable(case, variables):
    return [v for v in variables if v.dtype == "float64"]


def check_gradient(cost, wrt, given, rng, rtol=2e-5):
    """Compare the symbolic gradient along a random direction with the numeric slope; return the symbolic slope."""
    directions = [rng.normal(size=np.shape(given[v])) for v in wrt]
    grads = theano.grad(cost, wrt, disconnected_inputs="ignore")
    for v, g in zip(wrt, grads, strict=True):
        assert g.type == v.type, f"gradient of type {g.type} for {v.type}"
    slope = sum((g * d).sum() for g, d in zip(grads, directions, strict=True))

    def value(*point):
        return run(cost, {**given, **dict(zip(wrt, point))})

    numeric = numeric_slope(value, [given[v] for v in wrt], directions)
    symbolic = run(slope, given)
    np.testing.assert_allclose(symbolic, numeric, rtol=rtol, atol=1e-7)
    return slope


@pytest.mark.parametrize("case", SMOOTH)
@SEEDS
def test_gradient_to_order_two(case, seed):
    rng = np.random.default_rng(seed)
    variables = case.variables()
    given = dict(zip(variables, case.values(rng)))
    wrt = differentiable(case, variables)
    out = case.build(*variables)
    weights = rng.normal(size=run(out, given).shape)
    cost = (out * out * weights + out * weights).sum()
    slope = check_gradient(cost, wrt, given, rng)
    try:
        check_gradient(slope, wrt, given, rng)
    except MethodNotDefined as exc:
        pytest.fail(str(exc))


@pytest.mark.parametrize("case", SMOOTH)
@SEEDS
def test_direction(case, seed):
    rng = np.random.default_rng(seed)
    variables = case.variables()
    given = dict(zip(variables, case.values(rng)))
    wrt = differentiable(case, variables)
    out = case.build(*variables)
    directions = [rng.normal(size=np.shape(given[v])) for v in wrt]
    points = [T.constant(d, ndim=d.ndim) for d in directions]
    forward = run(theano.gradient.Rop(out, wrt, points), given)
    numeric = numeric_slope(lambda *p: run(out, {**given, **dict(zip(wrt, p))}), [given[v] for v in wrt], directions)
    np.testing.assert_allclose(forward, numeric, rtol=2e-5, atol=1e-7)


SEVERAL = [p for p in SMOOTH if len(differentiable(p.values[0], p.values[0].variables())) > 1]


@pytest.mark.parametrize("case", SEVERAL)
def test_direction_of_each_input_alone(case):
    rng = np.random.default_rng(23)
    variables = case.variables()
    given = dict(zip(variables, case.values(rng)))
    out = case.build(*variables)
    for v in differentiable(case, variables):
        direction = rng.normal(size=np.shape(given[v]))
        along = theano.gradient.Rop(out, v, T.constant(direction, ndim=direction.ndim), disconnected_outputs="ignore")
        forward = run(along, given)
        numeric = numeric_slope(lambda p, v=v: run(out, {**given, v: p}), [given[v]], [direction])
        np.testing.assert_allclose(forward, numeric, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["prod", "prod_all"])
def test_gradient_of_a_product_with_zeros(name):
    case = next(c for c in CASES if c.name == name)
    (x,) = case.variables()
    for zeros in ([(0, 1)], [(0, 1), (1, 1)], [(0, 1), (1, 2)]):
        value = np.random.default_rng(2).uniform(0.5, 2, (3, 4))
        for place in zeros:
            value[place] = 0
        check_gradient(case.build(x).sum(), [x], {x: value}, np.random.default_rng(3))


#: Expressions whose shape depends on values, so that something has to be computed.
BY_VALUE = {"mask_symbolic", "mask_and_slice", "nonzero_values", "repeat_each", "unique"}


def other_sizes(case):
    """Yield values of the inputs with one length (wherever it occurs) replaced by 0, 1 and 6, then all of them."""
    shapes_ = [np.shape(s) if isinstance(s, np.ndarray) else s[0] if s and isinstance(s[0], tuple) else s for s in case.inputs]
    lengths = sorted({n for shape in shapes_ for n in shape if n != 1})
    for replaced in [*([n] for n in lengths), lengths]:
        for new in (0, 1, 6):
            specs = []
            for spec, shape in zip(case.inputs, shapes_, strict=True):
                size = tuple(new if n in replaced else n for n in shape)
                if isinstance(spec, np.ndarray):
                    specs.append(np.resize(spec, size) if spec.ndim else spec)
                else:
                    specs.append((size, *spec[1:]) if spec and isinstance(spec[0], tuple) else size)
            yield case._replace(inputs=tuple(specs)).values(np.random.default_rng(5))


#: Expressions that speak of the lengths of their inputs.
ONE_SIZE = {"reshape", "specify_shape", "alloc", "alloc_stretch", "eye", "tri", "mask", "inc_mask", "broadcast_to", "BroadcastTo"}


@pytest.mark.parametrize("case", BY_NAME)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_shapes_alone(case):
    """Also with lengths of 0 and 1: inferred shapes are real ones, and so are those of functions, which compute no values."""
    variables = case.variables()
    values = case.values(np.random.default_rng(5))
    out = case.build(*variables)
    f = theano.function(variables, out.shape, on_unused_input="ignore")
    assert tuple(f(*values)) == np.shape(case.reference(*values))
    if case.name not in BY_VALUE and out.owner is not None:
        # No node is left that reads a tensor of numbers: those of shapes read lengths.
        floats = {v for v in f.maker.fgraph.variables if getattr(v.type, "dtype", "")[:5] == "float" and v.owner is not None}
        assert not floats, f"{case.name}: {sorted(map(str, floats))} are computed for a shape"
    nodes = [n for n in applys_between(variables, [out]) if answers(n.op, "infer_shape")]
    compared = 0
    for values in other_sizes(case):
        given = dict(zip(variables, values))
        try:
            with np.errstate(all="ignore"):
                real = np.shape(run(out, given))
        except (ValueError, IndexError, AssertionError, np.linalg.LinAlgError):
            continue  # what the expression refuses
        assert tuple(f(*values)) == real, [np.shape(v) for v in values]
        compared += 1
        for node in nodes:
            assert shapes(node, given) == [np.shape(x) for x in run(list(node.outputs), given)], node
    assert compared or case.name in ONE_SIZE
