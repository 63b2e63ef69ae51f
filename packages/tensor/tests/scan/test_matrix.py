"""A matrix of loops: values as a plain loop has them, gradients and second order as finite differences have them."""

import os

import numpy as np
import pytest

import theano
import theano.tensor as T
from portion import portion
from theano.gradient import Rop

from .matrix import limit_of, loops, plain, symbolic, values

#: The whole matrix is part of ``nox -s sweep``; a tenth of it, drawn evenly, of ``nox -s full``; a part of that of each run.
LOOPS = loops(330) if os.environ.get("SIZES") == "sweep" else portion(loops(330)[::10], always=0)
STEPS = 5
rng = np.random.default_rng(7)


def cost_of(result, shared):
    """Return a number that depends on all results, each in its own way."""
    count = np.arange(1, STEPS + 1)[: result.shape[0], None]
    return (np.sin(result) * count).sum() + shared**2


def symbolic_cost(loop, made):
    count = T.arange(1, STEPS + 1)[: made.result.shape[0]].dimshuffle(0, "x")
    last = made.updates[made.s] if loop.shared == "updated" else made.s
    return (T.sin(made.result) * T.cast(count, loop.dtype)).sum() + last**2


def close(loop, a, b, scale=1.0):
    far = {"float64": 1e-6, "float32": 2e-3}[loop.dtype] * scale
    np.testing.assert_allclose(a, b, rtol=far, atol=far)


@pytest.mark.parametrize("k", range(len(LOOPS)), ids=[str(loop).replace(" ", "_") for loop in LOOPS])
def test_loop(k):
    loop = LOOPS[k]
    numbers = values(loop, STEPS)
    limit = limit_of(loop, numbers, STEPS)
    made = symbolic(loop, numbers, STEPS, limit)
    names = [*made.inputs, "s"]
    variables = [*made.inputs.values(), made.s]
    arguments = [numbers[name] for name in made.inputs]
    cost = symbolic_cost(loop, made)
    gradients = T.grad(cost, variables, disconnected_inputs="ignore")
    points = {name: rng.standard_normal(np.shape(numbers[name])) for name in names}
    along = sum((g * points[name].astype(loop.dtype)).sum() for name, g in zip(names, gradients))
    outputs = [made.result, cost, along]
    if k % 3 == 0 or len(LOOPS) < 330:
        # The gradient of the gradient along a direction, once backwards and once forwards.
        twice = T.grad(along, variables, disconnected_inputs="ignore")
        outputs.append(sum((g * points[name].astype(loop.dtype)).sum() for name, g in zip(names, twice)))
        directions = [T.constant(points[name].astype(loop.dtype)) for name in names]
        outputs.append(Rop(along, variables, directions, disconnected_outputs="ignore"))
    f = theano.function(list(made.inputs.values()), outputs, updates=made.updates, on_unused_input="ignore")
    result, value, slope, *second = f(*arguments)

    wanted, shared = plain(loop, numbers, STEPS, limit)
    close(loop, result, wanted)
    close(loop, made.s.get_value(), shared)
    close(loop, value, cost_of(wanted, shared))

    def moved(e):
        return {name: numbers[name].astype("float64") + e * points[name] for name in names}

    def at(e):
        return cost_of(*plain(loop, numbers, STEPS, limit, moved(e)))

    close(loop, slope, (at(1e-6) - at(-1e-6)) / 2e-6, 10)
    for curvature in second:
        # Truncation cuts the first derivative; that of what is left has no plain form.
        if loop.truncate < 0:
            close(loop, curvature, (at(1e-3) - 2 * at(0) + at(-1e-3)) / 1e-6, 100)
