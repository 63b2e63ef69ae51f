"""Loops and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from comparing import RNG, Performed, compare
from pytensor import grad
from pytensor.scalar.loop import ScalarLoop
from pytensor.scan.utils import until
from pytensor.tensor.elemwise import Elemwise


def scan(*args: Any, **kwargs: Any) -> Any:
    """Return the results of a loop without updates."""
    return pytensor.scan(*args, **kwargs, return_updates=False)


def _decay(x: Any, a: Any) -> Any:
    return scan(lambda x_t, y: a * y + pt.tanh(x_t), sequences=x, outputs_info=x[0])


def _two_taps(x: Any, a: Any) -> Any:
    return scan(lambda x_t, y2, y1: a * y1 - 0.5 * y2 + x_t, sequences=x, outputs_info={"initial": x[:2], "taps": [-2, -1]})


def _only_last(x: Any, a: Any) -> Any:
    return scan(lambda x_t, y: a * y + x_t, sequences=x, outputs_info=x[0])[-1].reshape((1,))


def _mapped(x: Any, a: Any) -> Any:
    return scan(lambda x_t, x_2: x_t * x_2 * a, sequences={"input": x, "taps": [0, 2]})


def _backwards(x: Any, a: Any) -> Any:
    return scan(lambda x_t, y: a * y * x_t + 1, sequences=x, outputs_info=pt.ones(()), go_backwards=True)


def _until(x: Any, a: Any) -> Any:
    return scan(lambda x_t, y: ((y + abs(x_t)) * a, until(y > 2)), sequences=x, outputs_info=pt.zeros(()))


def _vectors(x: Any, a: Any) -> Any:
    return scan(lambda v, y: (pt.outer(v, v) @ y * a / 10), sequences=x.reshape((-1, 2)), outputs_info=pt.ones(2)).ravel()


def _truncated(x: Any, a: Any) -> Any:
    return scan(lambda x_t, y: a * y + x_t, sequences=x, outputs_info=x[0], truncate_gradient=3)


LOOPS = (_decay, _two_taps, _only_last, _mapped, _backwards, _until, _vectors, _truncated)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("steps", [10, 2])
def test_values_and_gradients(loop: Callable[..., Any], steps: int) -> None:
    x, a = pt.dvector("x"), pt.dscalar("a")
    y = loop(x, a)
    w = pt.arange(y.shape[0]) + 1.0
    compare([x, a], [y, *grad((y * w).sum(), [x, a])], [RNG.normal(size=max(steps, 4)), np.asarray(0.7)], rtol=1e-9)


def test_a_loop_in_a_loop_and_its_second_derivative() -> None:
    x = pt.dvector("x")
    y = scan(lambda r: scan(lambda s, t: s * t, sequences=x, outputs_info=r)[-1], sequences=x)
    compare([x], [y, pytensor.gradient.hessian(y.sum(), x)], [RNG.uniform(0.5, 1.5, 4)], rtol=1e-8)


def test_no_steps() -> None:
    x = pt.dvector("x")
    compare([x], scan(lambda x_t: x_t + 1, sequences=x), [np.zeros(0)])


def test_random_numbers_in_steps() -> None:
    rng = pytensor.shared(np.random.default_rng(3))

    def step(y: Any, state: Any) -> Any:
        state, draw = pt.random.normal(y, 1, rng=state).owner.outputs
        return [y + draw, state]

    results = [
        pytensor.function([], pytensor.scan(step, outputs_info=[pt.zeros(()), rng], n_steps=5, return_updates=False)[0], mode=m)()
        for m in ("THEANO", "CVM")
    ]
    np.testing.assert_allclose(*results)


def test_a_loop_for_each_element() -> None:
    x, x0, c = pt.dvector("x"), pytensor.scalar.float64("x0"), pytensor.scalar.float64("c")
    loops = [ScalarLoop(init=[x0], constant=[c], update=[x0 * c]), ScalarLoop(init=[x0], update=[x0 + 1], until=x0 > 9)]
    few, many = pt.constant([0, 1, 5]), pt.constant([0, 3, 50])
    outputs = [Elemwise(loops[0])(few, x, 2.0), *Elemwise(loops[1])(many, x)]
    with Performed() as log:
        compare([x], outputs, [np.array([0.5, 2.0, 30.0])])
    assert not log.lines
