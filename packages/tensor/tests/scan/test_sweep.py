"""Random loops: values as a plain loop of Python has them, gradients of some as finite differences have them.

``THEANO_RANDOM_LOOPS`` says how many, ``THEANO_RANDOM_LOOPS_FROM`` from which seed: ``nox -s sweep`` runs 20,000,
``nox -s full`` runs 100.
"""

import os

import numpy as np
import pytest

import theano
import theano.tensor as T
from portion import portion

from .random_loops import RandomLoop, limit_of, plain, symbolic, viewed

FIRST = int(os.environ.get("THEANO_RANDOM_LOOPS_FROM", "0"))
SWEEP = os.environ.get("THEANO_RANDOM_LOOPS")
SEEDS = range(FIRST, FIRST + int(SWEEP)) if SWEEP else portion(range(FIRST, FIRST + 100), always=0)
PARTS = max(1, len(SEEDS) // 17)
FAR = {"float64": 1e-8, "float32": 2e-3, "int64": 0}


def parts(loop, results):
    return [viewed(result, view) for result, view in zip(results, loop.views) if view != "none"]


def cost_of(values, m):
    return sum(m.sin(v).sum() * (k + 1) for k, v in enumerate(values))


def compare(seed):
    """Hold one loop to its plain form."""
    loop = RandomLoop(seed)
    numbers = loop.numbers()
    # The states of streams follow from the seed: an expression is made to have them, and another one with the limit.
    states = symbolic(loop, numbers, np.inf).states if loop.until and loop.draws else []
    limit = limit_of(loop, numbers, states)
    made = symbolic(loop, numbers, limit)
    outputs = parts(loop, made.results)
    wanted, shared = plain(loop, numbers, made.states, limit)
    differentiated = loop.dtype == "float64" and loop.steps > 0 and seed % 4 == 0
    points = {}
    if differentiated:
        variables = {**made.inputs, **({} if made.shared is None else {"s": made.shared})}
        rng = np.random.default_rng(seed)
        points = {name: rng.standard_normal(numbers[name].shape) for name in variables}
        gradients = T.grad(cost_of(outputs, T), list(variables.values()), disconnected_inputs="ignore")
        outputs = [*outputs, sum((g * points[name]).sum() for name, g in zip(variables, gradients))]
    # Every tenth in Python: the same op by its `perform`.
    mode = "FAST_COMPILE" if seed % 10 == 9 else None
    given = [*made.inputs.values(), made.n]
    f = theano.function(given, outputs, updates=made.updates, on_unused_input="ignore", mode=mode)
    found = f(*(numbers[name] for name in made.inputs), loop.steps)
    if differentiated:
        def at(e):
            moved = {name: v + e * points[name] for name, v in numbers.items()}
            return cost_of(parts(loop, plain(loop, numbers, made.states, limit, moved)[0]), np)

        *found, slope = found
        ahead, here, behind = at(1e-6), at(0.0), at(-1e-6)
        if abs(ahead - 2 * here + behind) < 1e-9:  # there is a slope: nothing jumps, no condition is just met
            np.testing.assert_allclose(slope, (ahead - behind) / 2e-6, rtol=1e-5, atol=1e-5, err_msg="gradient")
    far = FAR[loop.dtype]
    for v, w in zip(found, parts(loop, wanted), strict=True):
        assert v.dtype == loop.dtype and v.shape == w.shape, (v.dtype, v.shape, w.shape)
        np.testing.assert_allclose(v, w, rtol=far, atol=far)
    if made.shared is not None:
        np.testing.assert_allclose(made.shared.get_value(), shared, rtol=far, atol=far)


@pytest.mark.parametrize("part", range(PARTS))
def test_random_loops(part):
    disagree = {}
    for seed in SEEDS[part::PARTS]:
        try:
            compare(seed)
        except Exception as error:  # the others are wanted as well
            disagree[seed] = f"{type(error).__name__}: {str(error)[:300]}"
    assert not disagree, "\n".join(f"seed {seed}: {text}" for seed, text in disagree.items())
