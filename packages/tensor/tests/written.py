"""Graphs as text that is the same on every machine and in every process: what the recorded tests compare.

A recorded test holds what the compiler makes of an expression against what it made when somebody last looked, so that
no change of it goes unseen. Whether the numbers are right, other tests say. After a change that is meant:

    pytest packages/tensor/tests -k recorded --snapshot-update

and read the difference before it is committed. A digest stands for text that would be too long to keep; with
``RECORDED_TO=folder`` in the environment the text itself is written there, for a ``diff`` with that of another commit.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from theano.graph import Constant
from theano.graph.canonical import NoCanonicalForm, text_of
from theano.graph.traverse import toposort


def written(outputs: Sequence[Any], order: Any = None) -> str:
    """Return a graph node by node, each with all parameters of its op, and with the types of what it computes."""
    number: dict[Any, str] = {}
    lines: list[str] = []

    def shown(v: Any) -> str:
        if isinstance(v, Constant):
            return f"{v.type} {constant(v.data)}"
        if v not in number:
            number[v] = f"%{len(number)}"
            lines.append(f"{number[v]} : {v.type} {v.name}")
        return number[v]

    for node in toposort(outputs) if order is None else order:
        inputs = ", ".join([shown(v) for v in node.inputs])
        for v in node.outputs:
            number[v] = f"%{len(number)}"
        results = ", ".join(f"{number[v]} : {v.type}" for v in node.outputs)
        lines.append(f"{results} = {op_text(node.op)}({inputs})")
    lines.append("return " + ", ".join([shown(v) for v in outputs]))
    return "\n".join(lines)


#: Texts of ops, by identity: most nodes have an op that many others have. An op is kept, so that its id stays its own.
_texts: dict[int, tuple[Any, str]] = {}


def op_text(op: Any) -> str:
    """Return an op with its parameters, among them the constants of its expression; folded ones lose their last digits."""
    if id(op) not in _texts:
        if len(_texts) >= 1000:
            _texts.clear()
        _texts[id(op)] = (op, _op_text(op))
    return _texts[id(op)][1]


def _op_text(op: Any) -> str:
    shown = _LONG.sub(lambda found: f"{float(found[0]):.10g}", str(op))
    try:
        return f"{shown} {json.dumps(_without_last_digits(json.loads(text_of(op))), separators=(',', ':'))}"
    except NoCanonicalForm:
        return f"{shown} {type(op).__qualname__}"


#: A number of so many digits that the last ones may be a machine's own.
_LONG = re.compile(r"-?\d+\.\d{12,}(?:e[+-]?\d+)?")


def _without_last_digits(form: Any) -> Any:
    """Return the canonical form of an op, in which a constant of so many digits is the number, not its bytes."""
    if not isinstance(form, list):
        return form
    if form[:1] == ["n"] and form[2:3] == ["Literal"] and form[3] == "float64":
        text = repr(np.frombuffer(form[4][1].encode("latin-1"), form[3])[0].item())
        if _LONG.fullmatch(text):
            return [*form[:4], f"{float(text):.10g}"]
    return [_without_last_digits(part) for part in form]


def constant(data: Any) -> str:
    """Return a constant's value: folded ones are the same on all machines but for their last digits."""
    if isinstance(data, np.ndarray) and data.dtype.kind in "fc":
        digits = 4 if data.dtype.itemsize <= 4 else 10
        return f"{data.shape} {np.array2string(data.ravel(), precision=digits, threshold=10**6, floatmode='maxprec')}"
    return f"{np.shape(data)} {data.tolist() if isinstance(data, np.ndarray) else data!r}"


def digest(name: str, text: str) -> str:
    """Return what stands for a text, which is written to a file of this name for who asks for it."""
    folder = os.environ.get("RECORDED_TO")
    if folder:
        path = Path(folder) / (name.translate(str.maketrans("/ :", "___")) + ".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def ops(order: Sequence[Any]) -> str:
    """Return the ops of nodes, each with how often it occurs."""
    counts = Counter(str(node.op).replace(",no_inplace", "") for node in order)
    return "; ".join(f"{op} {n}" if n > 1 else op for op, n in sorted(counts.items()))
