"""MRG31k3p in Python's whole numbers, as the paper writes it: nothing shared with what is tested."""

from __future__ import annotations

M1, M2 = 2**31 - 1, 2**31 - 21069


def draws(state, count):
    """Return numbers drawn, and the state after them; a state is (x[n], x[n-1], x[n-2], y[n], y[n-1], y[n-2])."""
    (a, b, c), (d, e, f) = (map(int, state[:3])), (map(int, state[3:]))
    drawn = []
    for _ in range(count):
        x = (4194304 * b + 129 * c) % M1
        y = (32768 * d + 32769 * f) % M2
        a, b, c, d, e, f = x, a, b, y, d, e
        drawn.append((x - y) % M1 or M1)
    return drawn, (a, b, c, d, e, f)


def product(p, q, m):
    """Return the product of two matrices modulo m."""
    return [[sum(p[i][k] * q[k][j] for k in range(3)) % m for j in range(3)] for i in range(3)]


def power(matrix, exponent, m):
    """Return a power of a matrix modulo m."""
    result = [[int(i == j) for j in range(3)] for i in range(3)]
    while exponent:
        if exponent & 1:
            result = product(result, matrix, m)
        matrix, exponent = product(matrix, matrix, m), exponent >> 1
    return result


def jump(state, steps):
    """Return the state after so many steps."""
    p = power([[0, 4194304, 129], [1, 0, 0], [0, 1, 0]], steps, M1)
    q = power([[32768, 0, 32769], [1, 0, 0], [0, 1, 0]], steps, M2)
    first = [sum(r * int(s) for r, s in zip(row, state[:3], strict=True)) % M1 for row in p]
    return tuple(first + [sum(r * int(s) for r, s in zip(row, state[3:], strict=True)) % M2 for row in q])
