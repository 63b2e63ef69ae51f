"""What all rules together make of programs, as recorded: of random graphs, at the limits of fusion, with updates.

See ``written.py`` for what to do when one of these fails.
"""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from interpret import rewritten
from left_sides import CASES
from random_graphs import Writer
from test_growth import FORMS
from written import digest, ops, written

import theano
import theano.tensor as T
from theano.compile.mode import Mode
from theano.graph.traverse import explicit_inputs
from theano.tensor.rules.joining import MAX_OPERANDS, MAX_STEPS

LEVELS = ("fast_compile", "o1", "o2", "o3", "o4", "merge")
#: Counts of steps or operands around which fusion decides otherwise: of programs that join all, and of others.
EDGES = {"accumulated": MAX_STEPS, "chain": MAX_STEPS // 2, "fan": MAX_OPERANDS // 2, "densities": 7}


def drawn(seed):
    """Return a random graph: its inputs and outputs."""
    writer = Writer(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return writer.inputs, writer.write()


def line(name, fgraph, listed=True):
    order = fgraph.toposort()
    return f"{ops(order) if listed else len(order)}; {digest(name, written(fgraph.outputs, order))}"


@pytest.mark.parametrize("block", range(40))
def test_recorded_random_graphs(block, snapshot):
    """Each graph as it is, and its shapes alone."""
    lines = []
    for seed in range(10 * block, 10 * block + 10):
        inputs, outputs = drawn(seed)
        lines.append(line(f"random/{seed}", rewritten(inputs, outputs)[0], listed=False))
        lines.append(line(f"random/{seed} shapes", rewritten(inputs, [T.shape(v) for v in outputs])[0], listed=False))
    assert lines == snapshot


@pytest.mark.parametrize("level", LEVELS)
def test_recorded_levels(level, snapshot):
    """The left sides of all rules at each level of rewriting."""
    found = {}
    for name, output in sorted(CASES.items()):
        found[name] = line(f"level/{level} {name}", rewritten(explicit_inputs([output]), [output], level)[0])
    assert found == snapshot


@pytest.mark.parametrize("build", FORMS, ids=lambda f: f.__name__)
def test_recorded_at_the_limits(build, snapshot):
    """Programs of so many steps or operands that they just fit into one kernel, and of one more."""
    lines = []
    edge = EDGES.get(build.__name__, MAX_OPERANDS // 2)
    for n in (1, 2, 3, *range(edge - 2, edge + 2)):
        x, out = build(n)
        lines.append(f"{n}: {line(f'limits/{build.__name__} {n}', rewritten([x], [out])[0])}")
    assert lines == snapshot


def operands(n):
    """Return n inputs and three functions of them that could be one kernel."""
    many = [T.dvector(f"x{i}") for i in range(n)]
    return many, [T.add(*[T.exp(x) for x in many]), T.tanh(many[0] * many[-1]), T.exp(many[n // 2]).sum()]


def reduced(n):
    """Return n inputs and the sums of n element-wise functions of them, along either axis."""
    many = [T.dmatrix(f"x{i}") for i in range(n)]
    return many, [(T.exp(x) * many[0]).sum(axis=i % 2) for i, x in enumerate(many)]


def shared(n):
    """Return n inputs and products of neighbours' functions, each of which is read twice, one of them from outside."""
    many = [T.dvector(f"x{i}") for i in range(n)]
    made = [T.exp(x) for x in many]
    products = [a * b for a, b in pairwise(made)]
    return many, [T.sort(made[0]), *(T.tanh(p + q) for p, q in zip(products, products[::-1], strict=True))]


@pytest.mark.parametrize("build", [operands, reduced, shared], ids=lambda f: f.__name__)
def test_recorded_many_operands(build, snapshot):
    lines = []
    for n in (
        1,
        2,
        4,
        *range(MAX_OPERANDS // 2 - 2, MAX_OPERANDS // 2 + 2),
        *range(MAX_OPERANDS - 4, MAX_OPERANDS + 3),
    ):
        lines.append(f"{n}: {line(f'operands/{build.__name__} {n}', rewritten(*build(n))[0])}")
    assert lines == snapshot


@pytest.mark.parametrize("block", range(20))
def test_recorded_updates(block, snapshot):
    """Random graphs whose inputs are shared variables that the outputs replace, and inputs that may be overwritten."""
    lines = []
    for seed in range(7000 + 10 * block, 7010 + 10 * block):
        inputs, outputs = drawn(seed)
        rng = np.random.default_rng(seed)
        shared, updates, results = {}, [], []
        for out in outputs:
            fitting = [x for x in inputs if x.type == out.type and x not in shared]
            if fitting and rng.random() < 0.7:
                x = fitting[int(rng.integers(len(fitting)))]
                shared[x] = theano.shared(
                    np.ones([1 if one else 2 for one in x.broadcastable], x.dtype),
                    x.name,
                    broadcastable=x.broadcastable,
                )
                updates.append((shared[x], out))
            else:
                results.append(out)
        arguments = [theano.In(x, mutable=bool(rng.random() < 0.4)) for x in inputs if x not in shared]
        made = theano.clone([*results, *(u for _, u in updates)], replace=shared) if shared else results
        updates = list(zip([s for s, _ in updates], made[len(results) :], strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            f = theano.function(
                arguments, made[: len(results)], updates=updates, mode=Mode(linker="py"), on_unused_input="ignore"
            )
        lines.append(line(f"updates/{seed}", f.maker.fgraph, listed=False))
    assert lines == snapshot
