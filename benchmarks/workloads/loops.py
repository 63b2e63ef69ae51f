"""h. Loops: recurrences, elementwise and through matrices, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import BOTH, Workload, normal, registry

TABLE: dict[str, Workload] = {}
add = registry(TABLE)
STEPS, BATCH, WIDTH = 100, 32, 100


def recurrence_by_hand(h: np.ndarray, a: np.ndarray) -> list:
    for _ in range(1000):
        h = a * np.tanh(h) + 0.1
    return [h]


add("h_recur_1000x10", lambda rng: {"h": rng.standard_normal(10), "a": rng.uniform(size=10)},
    lambda xp, h, a: [xp.iterate(lambda h, a: a * xp.tanh(h) + 0.1, h, 1000, [a])], by_hand=recurrence_by_hand)  # fmt: skip


def power_by_hand(a: np.ndarray) -> list:
    h = np.ones_like(a)
    for _ in range(16):
        h = h * a
    return [h]


add("h_power_k16_n1000", lambda rng: {"a": rng.uniform(0.5, 1.5, 1000)},
    lambda xp, a: [xp.iterate(lambda h, a: h * a, a * 0 + 1, 16, [a])], by_hand=power_by_hand)  # fmt: skip


def sequence(rng: np.random.RandomState) -> dict[str, np.ndarray]:
    return {**normal(x=(STEPS, BATCH, WIDTH))(rng), **{n: 0.1 * rng.standard_normal((WIDTH, WIDTH)) for n in "wu"}}


def last_state(xp: Any, x: Any, w: Any, u: Any) -> Any:
    return xp.recurrent(lambda xt, h, w, u: xp.tanh(xp.dot(xt, w) + xp.dot(h, u)), x, (BATCH, WIDTH), [w, u])


def states_by_hand(x: np.ndarray, w: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
    states = [np.zeros((BATCH, WIDTH), x.dtype)]
    for xt in x:
        states.append(np.tanh(xt @ w + states[-1] @ u))
    return states


def recurrent_gradient(xp: Any, x: Any, w: Any, u: Any) -> list:
    cost, (gw, gu) = xp.value_and_grad(lambda w, u: xp.sum(last_state(xp, x, w, u) ** 2), [w, u])
    return [cost, gw, gu]


def recurrent_gradient_by_hand(x: np.ndarray, w: np.ndarray, u: np.ndarray) -> list:
    states = states_by_hand(x, w, u)
    gw, gu, d = np.zeros_like(w), np.zeros_like(u), 2 * states[-1]
    for t in reversed(range(STEPS)):
        d = d * (1 - states[t + 1] ** 2)
        gw += x[t].T @ d
        gu += states[t].T @ d
        d = d @ u.T
    return [(states[-1] ** 2).sum(), gw, gu]


MULTIPLICATIONS = STEPS * 2 * BATCH * WIDTH * WIDTH
add("h_rnn_fwd", sequence, lambda xp, x, w, u: [last_state(xp, x, w, u)], by_hand=lambda x, w, u: [states_by_hand(x, w, u)[-1]],
    dtypes=BOTH, flops=2 * MULTIPLICATIONS, tolerance={"float32": 1e-3})  # fmt: skip
add("h_rnn_fwdbwd", sequence, recurrent_gradient, by_hand=recurrent_gradient_by_hand, dtypes=BOTH, flops=6 * MULTIPLICATIONS,
    tolerance={"float32": 2e-3})  # fmt: skip
