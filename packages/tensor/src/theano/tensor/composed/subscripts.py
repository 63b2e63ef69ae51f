"""The notation of `einsum`, and in which order pairs of operands are multiplied.

Examples
--------
>>> asked, operands = read(("ij,jk", "A", "B"))
>>> asked.inputs, asked.of_operands([2, 2]), asked.output
(['ij', 'jk'], ['ij', 'jk'], 'ik')
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

_LETTERS = string.ascii_letters
#: How long `numpy.einsum_path` takes an axis for: lengths are not known before a function runs.
_LENGTH = 32


class Subscripts:
    """What einsum is asked for.

    Parameters
    ----------
    inputs : list of str
        The letters of each operand's axes, in which ``...`` may stand for several.
    output : str or None
        Those of the result; None: all that stand once, in alphabetical order.
    """

    def __init__(self, inputs: list[str], output: str | None):
        self.inputs = inputs
        self._output = output
        self.output = ""

    def of_operands(self, ndims: Sequence[int]) -> list[str]:
        """Return one letter for each axis of each operand, and keep those of the result as ``output``.

        Raises
        ------
        ValueError
            The letters do not fit.
        """
        if len(ndims) != len(self.inputs):
            raise ValueError(f"einsum: there are subscripts for {len(self.inputs)} operands, and {len(ndims)} operands")
        free = [c for c in _LETTERS if not any(c in word for word in (*self.inputs, self._output or ""))]
        spare = [ndim - len(word.replace("...", "")) for word, ndim in zip(self.inputs, ndims, strict=True)]
        widest = max((n for n, word in zip(spare, self.inputs, strict=True) if "..." in word), default=0)
        ellipsis = "".join(free[:widest])
        found = []
        for i, (word, n) in enumerate(zip(self.inputs, spare, strict=True)):
            if n < 0 or n and "..." not in word:
                raise ValueError(f"einsum: the subscripts {word!r} do not fit operand {i}, of {ndims[i]} dimensions")
            found.append(word.replace("...", ellipsis[len(ellipsis) - n :]))
        self.output = self._result(found, ellipsis)
        return found

    def _result(self, words: Sequence[str], ellipsis: str) -> str:
        letters = "".join(words)
        if self._output is None:
            return ellipsis + "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c not in ellipsis))
        output = self._output.replace("...", ellipsis)
        for c in output:
            if output.count(c) > 1:
                raise ValueError(f"einsum: the result names {c!r} twice")
            if c not in letters:
                raise ValueError(f"einsum: the result names {c!r}, which no operand has")
        if ellipsis and "..." not in self._output:
            raise ValueError("einsum: the result must have '...', for operands have axes there")
        return output


def read(arguments: Sequence[object]) -> tuple[Subscripts, list[object]]:
    """Return the subscripts and the operands of either way to call einsum.

    Raises
    ------
    ValueError
        The subscripts are not of this notation.
    """
    if not arguments:
        raise ValueError("einsum: give subscripts and operands")
    if not isinstance(arguments[0], str):
        return _read_lists(arguments)
    text = arguments[0].replace(" ", "")
    left, arrow, right = text.partition("->")
    words = left.split(",")
    for word in (*words, right):
        rest = word.replace("...", "", 1)
        if any(c not in _LETTERS for c in rest):
            raise ValueError(f"einsum: {arguments[0]!r} has subscripts other than letters and one '...' for an operand")
    return Subscripts(words, right if arrow else None), list(arguments[1:])


def _read_lists(arguments: Sequence[Any]) -> tuple[Subscripts, list[object]]:
    count = len(arguments) // 2
    words = ["".join("..." if n is Ellipsis else _LETTERS[n] for n in axes) for axes in arguments[1 : 2 * count : 2]]
    output = None
    if len(arguments) % 2:
        output = "".join("..." if n is Ellipsis else _LETTERS[n] for n in arguments[-1])
    return Subscripts(words, output), list(arguments[0 : 2 * count : 2])


def order_of_pairs(words: Sequence[str], output: str, optimize: bool | str) -> list[tuple[int, ...]]:
    """Return which operands to multiply in each step; a product goes behind the rest, as in `numpy.einsum_path`.

    Examples
    --------
    >>> order_of_pairs(["ab", "bc", "c"], "a", True)
    [(1, 2), (0, 1)]
    """
    if len(words) <= 2 or optimize is False:
        return [(0, 1)] * (len(words) - 1)
    shapes = [np.broadcast_to(0.0, (_LENGTH,) * len(word)) for word in words]
    path = np.einsum_path(f"{','.join(words)}->{output}", *shapes, optimize=optimize)[0][1:]
    steps: list[tuple[int, ...]] = []
    count = len(words)
    for step in path:
        first, *rest = sorted(step)
        for removed, place in enumerate(rest):  # two by two, where a step names more
            steps.append((first, place - removed) if not removed else (place - removed - 1, count - 1))
            count -= 1
    return steps
