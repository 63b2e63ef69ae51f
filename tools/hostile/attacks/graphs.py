"""Random graphs, and the left sides of rules in dtypes that nobody thought of.

The oracle runs each op's ``perform``, node by node, on the graph as it was written.
"""

from __future__ import annotations

import warnings

import numpy as np

import theano
import theano.tensor as T
from hostile.finding import Finding
from hostile.generators import Writer, rule_cases, run, well_behaved
from theano.compile.mode import Mode
from theano.graph import Constant
from theano.graph.traverse import explicit_inputs, toposort
from theano.rewriting import Query, phases

DTYPES = ("float64", "float64", "float32", "float32", "int8", "uint8", "int16", "int64", "uint64", "bool", "float16")
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-300, 1e300, 1e-17, np.inf, -np.inf, np.nan)


def attack(rng: np.random.Generator) -> Finding | None:
    """Compile a random graph in the default mode and in another one, and compare both with Python."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        kind = rng.random()
        if kind < 0.6:
            return _written(rng)
        return _directed(rng) if kind < 0.9 else _exact(rng)


def _modes(rng: np.random.Generator) -> list[object]:
    others = [
        "FAST_COMPILE", Mode(linker="py"), Mode(optimizer=None), Mode(optimizer="o1"), Mode(optimizer="o2"),
        Mode(optimizer="o3"), Mode(linker="vm"), Mode(optimizer="merge"),
    ]  # fmt: skip
    return [None, others[rng.integers(len(others))]]


def _written(rng: np.random.Generator) -> Finding | None:
    """A graph that the tests' writer writes, until one has values that rounding does not decide."""
    for _ in range(20):
        writer = Writer(rng)
        outputs = writer.write()
        wanted = well_behaved(outputs, writer.inputs, writer.values)
        if wanted is not None:
            return _compared(writer.inputs, outputs, writer.values, wanted, _modes(rng), 2e-3)
    return None


def _directed(rng: np.random.Generator) -> Finding | None:
    """The left side of a rule, its inputs in other dtypes."""
    cases = rule_cases()
    name = str(rng.choice(sorted(cases)))
    found = in_other_dtypes(cases[name], rng)
    if found is None:
        return None
    inputs, outputs = found
    values = [_value(x, rng) for x in inputs]
    try:
        wanted = run(outputs, dict(zip(inputs, values, strict=True)))
    except (ValueError, IndexError, np.linalg.LinAlgError):
        return None  # lengths that do not fit, or a matrix that is not positive definite
    coarse = any(v.type.dtype in ("float16", "float32") for v in [*inputs, *outputs])
    problem = _compared(inputs, outputs, values, wanted, _modes(rng), 5e-2 if coarse else 1e-5)
    if problem is not None:
        problem.details = f"the left side of {name}\n{problem.details}"
    return problem


def in_other_dtypes(output, rng):
    """Return inputs and outputs of an expression made again with other dtypes, or None where its ops refuse them."""
    inputs = explicit_inputs([output])
    known = {}
    for x in inputs:
        dtype = str(rng.choice(DTYPES)) if rng.random() < 0.8 else x.type.dtype
        known[x] = T.TensorType(dtype, x.type.broadcastable)(x.name)
        known[x].tag.psd = getattr(x.tag, "psd", False)
    try:
        for node in toposort([output], inputs):
            made = node.op.make_node(*[known.get(v, v) for v in node.inputs])
            known.update(zip(node.outputs, made.outputs, strict=True))
    except (TypeError, ValueError, NotImplementedError):
        return None
    return [known[x] for x in inputs], [known[output]]


def _value(x, rng):
    """Return a value for an input of a rule's expression: the lengths are those of the tests' cases."""
    shape = {"square": (3, 3), "psd": (3, 3), "classes": (3,)}.get(x.name, (3, 4)[2 - x.type.ndim :])
    dtype = np.dtype(x.type.dtype)
    truth = dtype.kind == "b"
    if x.name == "psd":
        root = rng.integers(-2, 3, (3, 3))
        return (root @ root.T + 3 * np.eye(3)).astype(dtype)
    if x.name == "classes":
        return rng.integers(0, 2 if truth else 4, shape).astype(dtype)
    if dtype.kind in "biu":
        low = 0 if dtype.kind in "bu" else -9
        return rng.integers(low, 2 if truth else 10, shape).astype(dtype)
    return np.asarray(np.round(rng.normal(size=shape) * rng.choice([0.5, 2, 8]), 1)).astype(dtype)


def _exact(rng: np.random.Generator) -> Finding | None:
    """Special values through rules that promise to keep them: NaN, infinities, signed zeros, huge and tiny numbers."""
    writer = Writer(rng)
    outputs = writer.write()
    inexact = [name for name, rule in phases.all_rules().items() if rule.keeps not in ("exact", "close")]
    values = []
    for x, value in zip(writer.inputs, writer.values, strict=True):
        special = (rng.random(value.shape) < 0.3) & (value.dtype.kind == "f")
        values.append(np.where(special, rng.choice(SPECIAL, value.shape), value).astype(x.type.dtype))
    if well_behaved(outputs, writer.inputs, writer.values) is None:
        return None
    try:
        wanted = run(outputs, dict(zip(writer.inputs, values, strict=True)))
    except ValueError:
        return None
    # Only whether a number is one: how large it is, sums of huge numbers leave to the order of addition.
    mode = Mode(optimizer=Query(include=["fast_run"], exclude=inexact))
    found = theano.function(writer.inputs, outputs, mode=mode, on_unused_input="ignore")(*values)
    for w, f in zip(wanted, found, strict=True):
        small = (np.abs(np.nan_to_num(w.astype("float64"), nan=0, posinf=0, neginf=0)) < 1e6).all()
        if w.dtype.kind == "f" and small and not np.array_equal(np.isnan(w), np.isnan(f)):
            return Finding("NaN in other places than without rules", _shown(writer.inputs, outputs, values, w, f))
    return None


def _compared(inputs, outputs, values, wanted, modes, tolerance) -> Finding | None:
    for mode in modes:
        which = "the default mode" if mode is None else f"{mode}"
        kept = [np.array(v) for v in values]
        f = theano.function(inputs, outputs, mode=mode, on_unused_input="ignore")
        found = [np.asarray(v) for v in f(*values)]
        if any(a.tobytes() != b.tobytes() for a, b in zip(kept, values, strict=True)):
            return Finding("an input was overwritten", f"{which}\n{_shown(inputs, outputs, values, kept, values)}")
        for w, f in zip(wanted, found, strict=True):
            if w.dtype != f.dtype or w.shape != f.shape:
                return Finding("dtype or shape of an output", f"{which}\n{_shown(inputs, outputs, values, w, f)}")
            if not _close(w, f, tolerance):
                return Finding("an output is wrong", f"{which}\n{_shown(inputs, outputs, values, w, f)}")
    return None


def _close(wanted, found, tolerance) -> bool:
    if wanted.dtype.kind not in "fc":
        return np.array_equal(wanted, found)
    # Rules may answer where the expression as written overflows or has lost its digits.
    where = np.isfinite(wanted) & (np.abs(wanted) < 1e6)
    return np.allclose(found[where], wanted[where], rtol=tolerance, atol=tolerance)


def _shown(inputs, outputs, values, wanted, found) -> str:
    text = theano.printing.debugprint([v for v in outputs if not isinstance(v, Constant)], file="str")
    given = "\n".join(f"{x} ({x.type}) = {value!r}" for x, value in zip(inputs, values, strict=True))
    return f"{text[:6000]}\n{given}\nwanted {wanted!r}\nfound {found!r}"
