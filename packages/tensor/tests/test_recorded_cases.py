"""What gradients, shapes and rewriting make of the table of cases, as recorded: see ``written.py``."""

from __future__ import annotations

import warnings

import pytest
from every_op import tables
from written import digest, ops, written

import theano
import theano.tensor as T
from theano.graph import FunctionGraph
from theano.graph.features import Supervisor
from theano.graph.traverse import toposort
from theano.rewriting import rewrite
from theano.tensor.shape.rules.shapes import ShapeFeature
from theano.tensor.type import TensorType

BY_NAME = {case.name: case for case in tables()}
REFUSED = (TypeError, ValueError, NotImplementedError, ArithmeticError, theano.gradient.NullTypeGradError)


def patterns(case):
    """Yield variables for a case: as its table has them, of the other float, and with each length of 1 that may be."""
    for dtype in ("float64", "float32"):
        yield dtype, case.variables(dtype)
    variables = case.variables()
    for i, x in enumerate(variables):
        for axis in range(x.ndim):
            one = [b or a == axis for a, b in enumerate(x.broadcastable)]
            if one != list(x.broadcastable):
                yield f"x{i} one at {axis}", [*variables[:i], TensorType(x.dtype, one)(x.name), *variables[i + 1 :]]


def attempt(name, make, listed=False):
    """Return how many nodes a graph has (which ones, if ``listed``) and its digest, or the error in its place."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            outputs, order = make()
        except REFUSED as error:
            return type(error).__name__
    return f"{ops(order) if listed else len(order)}; {digest(name, written(outputs, order))}"


def drawn(outputs):
    return outputs, toposort(outputs)


def derivatives(case, variables, wrt):
    """Yield what is asked of the gradient and the R-operator of a case, and how to get it."""

    def first(among, constant=()):
        out = case.build(*variables)
        return theano.grad((out * out).sum(), among, disconnected_inputs="ignore", consider_constant=constant)

    yield "all", lambda: drawn(first(wrt))
    for x in wrt if len(wrt) > 1 else ():
        yield f"of {x}", lambda x=x: drawn(first([x]))
        yield f"constant {x}", lambda x=x: drawn(first(wrt, [x]))
    slope = lambda: sum((g * g).sum() for g in first(wrt))
    yield "second", lambda: drawn(theano.grad(slope(), wrt, disconnected_inputs="ignore"))
    yield "forward", lambda: drawn([T.Rop(case.build(*variables), wrt, [x.type() for x in wrt])])


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_recorded_gradient(name, snapshot):
    """First and second, of all inputs together and of each alone; of a constant; the R-operator."""
    case, lines = BY_NAME[name], []
    for label, variables in patterns(case):
        wrt = [x for x in variables if x.dtype in ("float64", "float32")]
        for what, make in derivatives(case, variables, wrt) if case.smooth and wrt else ():
            lines.append(f"{label}, {what}: {attempt(f'gradient/{name} {label} {what}', make)}")
            if label != "float64":
                break
    assert lines == snapshot


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_recorded_shape(name, snapshot):
    """Static lengths, and the expressions of those that are known when it runs."""
    case, lines = BY_NAME[name], []
    for label, variables in patterns(case):

        def lengths(variables=variables):
            out = case.build(*variables)
            fgraph = FunctionGraph(variables, [out])
            feature = ShapeFeature()
            fgraph.attach_feature(feature)
            return drawn([*fgraph.outputs, *feature.lengths(fgraph.outputs[0])])

        lines.append(f"{label}: {attempt(f'shape/{name} {label}', lengths)}")
    assert lines == snapshot


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_recorded_rewriting(name, snapshot):
    """The expression and its gradient after all rules, in-place decisions among them."""
    case, lines = BY_NAME[name], []
    for dtype in ("float64", "float32"):
        variables = case.variables(dtype)

        def made(variables=variables, dtype=dtype):
            out = case.build(*variables)
            wrt = [x for x in variables if x.dtype == dtype]
            slopes = theano.grad((out * out).sum(), wrt, disconnected_inputs="ignore") if case.smooth and wrt else []
            fgraph = FunctionGraph(variables, [out, *slopes])
            fgraph.attach_feature(Supervisor(fgraph.inputs))
            rewrite(fgraph)
            return fgraph.outputs, fgraph.toposort()

        lines.append(f"{dtype}: {attempt(f'rewriting/{name} {dtype}', made, listed=True)}")
    assert lines == snapshot


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_recorded_connection(name, snapshot):
    """Which inputs of each node its outputs are differentiable functions of."""
    case, lines = BY_NAME[name], []
    variables = case.variables()
    for node in toposort([case.build(*variables)], variables):
        pattern = node.op.connection_pattern(node)
        lines.append(f"{node.op}: {' '.join(''.join('01'[one] for one in row) for row in pattern)}")
    assert lines == snapshot
