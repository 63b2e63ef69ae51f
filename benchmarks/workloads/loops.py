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


# -- numbers: a long loop of little ----------------------------------------------------------------------------------

LONG = 100_000


def long_row(rng: np.random.RandomState) -> dict[str, np.ndarray]:
    return {"x": 0.1 * rng.standard_normal(LONG), "h": np.array(0.3), "a": np.array(0.9)}


def linear(xp: Any) -> Any:
    return lambda x, h, a: a * h + x


def squashed(xp: Any) -> Any:
    return lambda x, h, a: xp.tanh(a * h + x)


def all_states(step: Any) -> Any:
    return lambda xp, x, h, a: [xp.states(lambda *v: [step(xp)(*v)], x, [h], [a])[0]]


def gradient_of_states(step: Any) -> Any:
    def body(xp: Any, x: Any, h: Any, a: Any) -> list:
        cost, grads = xp.value_and_grad(lambda *v: xp.sum(all_states(step)(xp, *v)[0] ** 2), [x, h, a])
        return [cost, *grads]

    return body


def linear_by_hand(x: Any, h: Any, a: Any) -> Any:
    out = np.empty_like(x)
    past, factor = h.item(), a.item()
    for t in range(len(x)):
        past = factor * past + x[t]
        out[t] = past
    return [out]


def squashed_by_hand(x: Any, h: Any, a: Any) -> Any:
    out = np.empty_like(x)
    past, factor = h.item(), a.item()
    for t in range(len(x)):
        past = np.tanh(factor * past + x[t])
        out[t] = past
    return [out]


def linear_gradient_by_hand(x: Any, h: Any, a: Any) -> Any:
    out, gx = np.empty_like(x), np.empty_like(x)
    past, factor, cost = h.item(), a.item(), 0.0
    for t in range(len(x)):
        past = factor * past + x[t]
        out[t] = past
        cost += past * past
    pending, ga = 0.0, 0.0
    for t in range(len(x) - 1, -1, -1):
        total = 2 * out[t] + pending
        gx[t] = total
        ga += total * (out[t - 1] if t else h.item())
        pending = total * factor
    return [np.array([cost]), gx, np.array([pending]), np.array([ga])]


def squashed_gradient_by_hand(x: Any, h: Any, a: Any) -> Any:
    out, gx = np.empty_like(x), np.empty_like(x)
    past, factor, cost = h.item(), a.item(), 0.0
    for t in range(len(x)):
        past = np.tanh(factor * past + x[t])
        out[t] = past
        cost += past * past
    pending, ga = 0.0, 0.0
    for t in range(len(x) - 1, -1, -1):
        total = (2 * out[t] + pending) * (1 - out[t] * out[t])
        gx[t] = total
        ga += total * (out[t - 1] if t else h.item())
        pending = total * factor
    return [np.array([cost]), gx, np.array([pending]), np.array([ga])]


def without_axes(function: Any) -> Any:
    """Return the same with sums as arrays of no axes, which Numba cannot make."""
    return lambda **arrays: [v.reshape(()) if v.size == 1 else v for v in function(**arrays)]


for name, step, forward, backward in (("linear", linear, linear_by_hand, linear_gradient_by_hand),
                                      ("tanh", squashed, squashed_by_hand, squashed_gradient_by_hand)):  # fmt: skip
    add(f"h_{name}_1e5", long_row, all_states(step), by_hand=forward, plain=forward)
    add(f"h_{name}_1e5_grad", long_row, gradient_of_states(step), by_hand=without_axes(backward))


# -- networks --------------------------------------------------------------------------------------------------------


def hidden(batch: int, width: int) -> Any:
    shapes = {"x": (STEPS, batch, width), "h": (batch, width), "w": (width, width)}

    def make(rng: np.random.RandomState) -> dict[str, np.ndarray]:
        return {k: v / (width**0.5 if k == "w" else 1) for k, v in normal(**shapes)(rng).items()}

    return make


def network(xp: Any, x: Any, h: Any, w: Any) -> list:
    return xp.states(lambda xt, h, w: [xp.tanh(xp.dot(h, w) + xt)], x, [h], [w])


def network_gradient(xp: Any, x: Any, h: Any, w: Any) -> list:
    cost, grads = xp.value_and_grad(lambda *v: xp.sum(network(xp, *v)[0] ** 2), [x, h, w])
    return [cost, *grads]


def network_by_hand(x: Any, h: Any, w: Any) -> Any:
    out = np.empty_like(x)
    past = h
    for t in range(len(x)):
        past = np.tanh(np.dot(past, w) + x[t])
        out[t] = past
    return [out]


def network_gradient_by_hand(x: np.ndarray, h: np.ndarray, w: np.ndarray) -> list[np.ndarray]:
    (out,) = network_by_hand(x, h, w)
    gx, gw, pending = np.empty_like(x), np.zeros_like(w), np.zeros_like(h)
    for t in reversed(range(len(x))):
        gx[t] = (2 * out[t] + pending) * (1 - out[t] ** 2)
        gw += (out[t - 1] if t else h).T @ gx[t]
        pending = gx[t] @ w.T
    return [(out**2).sum(), gx, pending, gw]


for batch, width in ((1, 64), (16, 64), (32, 256)):
    add(f"h_net_{batch}x{width}", hidden(batch, width), network, by_hand=network_by_hand, plain=network_by_hand)
    add(f"h_net_{batch}x{width}_grad", hidden(batch, width), network_gradient, by_hand=network_gradient_by_hand,
        compiled=batch == 1, tolerance={"float64": 1e-7})  # fmt: skip


RATE = 0.01


def lstm_inputs(steps: int, batch: int, width: int, cells: int) -> Any:
    """Return a maker of a sequence, what its last state is to be, the first state and the parameters."""
    shapes = {"x": (steps, batch, width), "y": (batch, cells), "h": (batch, cells), "c": (batch, cells)}
    return lambda rng: {**normal(**shapes)(rng), "b": np.zeros(4 * cells), "w": 0.08 * rng.standard_normal((width, 4 * cells)),
                        "u": 0.08 * rng.standard_normal((cells, 4 * cells))}  # fmt: skip


def lstm_step(xp: Any, cells: int) -> Any:
    def step(xt: Any, h: Any, c: Any, w: Any, u: Any, b: Any) -> list:
        z = xp.dot(xt, w) + xp.dot(h, u) + b
        i, f, o = (xp.sigmoid(z[:, k * cells : (k + 1) * cells]) for k in range(3))
        c = f * c + i * xp.tanh(z[:, 3 * cells :])
        return [o * xp.tanh(c), c]

    return step


def lstm_training(cells: int) -> Any:
    def training(xp: Any, x: Any, y: Any, h: Any, c: Any, w: Any, u: Any, b: Any) -> tuple[list, dict[str, Any]]:
        def cost(w: Any, u: Any, b: Any) -> Any:
            return xp.mean((xp.states(lstm_step(xp, cells), x, [h, c], [w, u, b])[0][-1] - y) ** 2)

        value, grads = xp.value_and_grad(cost, [w, u, b])
        return [value], {k: v - RATE * g for k, v, g in zip("wub", (w, u, b), grads, strict=True)}

    return training


def lstm_by_hand(x: Any, y: Any, h: Any, c: Any, w: Any, u: Any, b: Any) -> tuple[list, dict[str, Any]]:
    def sigmoid(v: Any) -> Any:
        return 1 / (1 + np.exp(-v))

    kept, past, cells = [], (h, c), h.shape[1]
    for xt in x:
        z = xt @ w + past[0] @ u + b
        i, f, o, g = (*(sigmoid(z[:, k * cells : (k + 1) * cells]) for k in range(3)), np.tanh(z[:, 3 * cells :]))
        cell = f * past[1] + i * g
        kept.append((xt, past, i, f, o, g, np.tanh(cell)))
        past = (o * np.tanh(cell), cell)
    difference = past[0] - y
    dh, dc = 2 * difference / difference.size, np.zeros_like(c)
    dw, du, db = np.zeros_like(w), np.zeros_like(u), np.zeros_like(b)
    for xt, before, i, f, o, g, t in reversed(kept):
        dc = dc + dh * o * (1 - t * t)
        dz = np.concatenate([dc * g * i * (1 - i), dc * before[1] * f * (1 - f), dh * t * o * (1 - o), dc * i * (1 - g * g)], 1)
        dw += xt.T @ dz
        du += before[0].T @ dz
        db += dz.sum(0)
        dh, dc = dz @ u.T, dc * f
    return [(difference**2).mean()], {"w": w - RATE * dw, "u": u - RATE * du, "b": b - RATE * db}


add("h_lstm_step", lstm_inputs(50, 32, 128, 128), lstm_training(128), state=("w", "u", "b"), by_hand=lstm_by_hand)
