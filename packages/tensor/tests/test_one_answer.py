"""One answer in all modes: C, NumPy's form, rewritten or not, give one value or one class of error.

Two halves prove it for every op. Each node of the tables of cases (``every_op.py``) is given edges of its inputs, in
compiled form and by ``perform``; and each case, in NumPy's form, as it is written and as it is rewritten. The cases that
people fell over stand in ``programs`` below and run in each mode.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from every_op import samples, tables
from oracle import run
from test_cases import other_sizes

import theano
import theano.tensor as T
from theano.compile import Mode
from theano.graph import Constant
from theano.tensor.elemwise.op import Elemwise

pytestmark = pytest.mark.filterwarnings("ignore")

COMPILED, NUMPY, REWRITTEN = Mode("vm", None), Mode("py", None), Mode("py", "fast_run")
MODES = {
    "as written, NumPy": NUMPY, "as written, C": COMPILED, "rewritten, NumPy": REWRITTEN, "rewritten, C": Mode("vm", "fast_run"),
    "rewritten little": "FAST_COMPILE",
}  # fmt: skip
#: The classes that a program may catch: what stands for one of their subclasses.
CLASSES = (np.linalg.LinAlgError, ZeroDivisionError, MemoryError, IndexError, AssertionError, OverflowError, ValueError, TypeError)


def outcome(compute: Any) -> Any:
    """Return the values that are computed, or the class of the error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = compute()
        except CLASSES as error:
            return next(c for c in CLASSES if isinstance(error, c))
    return [np.array(x) if isinstance(x, (np.ndarray, np.generic)) else x for x in (found if isinstance(found, list) else [found])]


def differ(a: Any, b: Any, finite: bool = False) -> str:
    """Return what tells two outcomes apart, or ""; with ``finite``, not the values where the first ones are not finite."""
    if isinstance(a, type) or isinstance(b, type):
        return "" if a is b else f"{_short(a)} against {_short(b)}"
    for x, y in zip(a, b, strict=True):
        if not isinstance(x, np.ndarray):
            continue
        if x.dtype != y.dtype or x.shape != y.shape:
            return f"{x.dtype}{x.shape} against {y.dtype}{y.shape}"
        if x.dtype.kind not in "fc":
            if not np.array_equal(x, y):
                return f"{x} against {y}"
            continue
        wide = "complex128" if x.dtype.kind == "c" else "float64"
        x, y = x.astype(wide), y.astype(wide)
        where = np.isfinite(x) if finite else np.ones(x.shape, bool)
        scale = np.max(np.abs(x[where & np.isfinite(x)]), initial=1e-6)
        rtol = 1e-5 if a[0].dtype.itemsize > 4 else 1e-2
        if not np.allclose(x[where], y[where], rtol=rtol, atol=rtol * scale, equal_nan=True):
            return f"{_short(x)} against {_short(y)}"
    return ""


def _short(outcome: Any) -> str:
    text = outcome.__name__ if isinstance(outcome, type) else " ".join(str(outcome).split())
    return text if len(text) < 150 else text[:147] + "..."


# -- edges -----------------------------------------------------------------------------------------------------------


def edges(x: Any) -> Iterator[tuple[str, Any]]:
    """Yield values of the dtype of an input that programs meet and few think of: numbers first, then shapes."""
    if not isinstance(x, np.ndarray):
        return
    kind = x.dtype.kind
    if kind in "fc":
        big = np.finfo(x.dtype).max
        for number in (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, big, 1 / big):
            yield f"{number}", np.full_like(x, number)
        if x.size > 1:
            one = x.copy()
            one[(-1,) * x.ndim] = np.nan
            yield "one nan", one
            yield "several", np.resize(np.array([np.nan, np.inf, -np.inf, 0, -0.0, 2.5, -3.5, big]), x.shape).astype(x.dtype)
    else:
        limits = [0, 1] if kind == "b" else [np.iinfo(x.dtype).min, -1, 0, 1, 9, np.iinfo(x.dtype).max]
        for number in limits if kind != "u" else limits[2:]:
            yield f"{number}", np.full_like(x, number)
    yield from shapes(x)


def shapes(x: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield values of other lengths."""
    for axis in range(x.ndim):
        for n in (0, 1, x.shape[axis] + 1):
            lengths = [n if d == axis else m for d, m in enumerate(x.shape)]
            yield f"length {n} along {axis}", np.resize(x, lengths) if 0 not in lengths else np.zeros(lengths, x.dtype)


def fits(variable: Any, value: Any) -> bool:
    """Return whether a value is one of the variable's type: a length that is known stays."""
    return variable.type.is_valid_value(value)


# -- C against NumPy's form, for each node -----------------------------------------------------------------------------


#: A few nodes of each op say all; of element-wise ones each scalar op is another.
NODES = 4
#: Enormous results, or results of which nothing is promised.
NO_MATTER = {"AllocEmpty": "its content is undefined", "MPIRecv": "needs MPI", "LoadFromDisk": "needs a file"}


def chosen() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    seen = set()
    for cls, several in samples().items():
        for sample in several:
            op = sample.node.op
            form = op.scalar_op if isinstance(op, Elemwise) else op
            key = form, tuple(getattr(v.type, "dtype", "") for v in sample.node.inputs)
            if op.destroy_map or key in seen or cls.__name__ in NO_MATTER:
                continue
            seen.add(key)
            name = f"{cls.__name__}_{form}" if isinstance(op, Elemwise) else cls.__name__
            if len(found.setdefault(name, [])) < NODES:
                found[name].append(sample)
    return found


BY_NAME = chosen()


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_a_kernel_answers_as_numpy(name):
    wrong = []
    for node, inputs, _, case in BY_NAME[name]:
        fresh = [v if isinstance(v, Constant) else v.type(f"v{i}") for i, v in enumerate(node.inputs)]
        here = node.op.make_node(*fresh)
        free = [v for v in fresh if not isinstance(v, Constant)]
        if not free or not all(hasattr(v.type, "ndim") for v in here.inputs + here.outputs):
            continue
        f = theano.function(free, list(here.outputs), mode=COMPILED, on_unused_input="ignore")
        given = [x for v, x in zip(fresh, inputs, strict=True) if not isinstance(v, Constant)]
        for k, x in enumerate(given):
            for what, edge in edges(x):
                if not fits(free[k], edge):
                    continue
                values = [edge if j == k else np.array(y) for j, y in enumerate(given)]
                plain = outcome(lambda: run(list(here.outputs), dict(zip(free, values, strict=True)), check=False))
                found = outcome(lambda: f(*[np.array(v) for v in values]))
                problem = differ(plain, found)
                if problem:
                    wrong.append(f"{node} ({case}) with input {k} {what}: {problem}")
    assert not wrong, "\n".join(wrong[:20])


# -- rewritten against written, for each case --------------------------------------------------------------------------


CASES = {case.name: case for case in tables()}
#: Rewriting finds out that an operand is 0 or 1 everywhere, and drops it with its shape: docs/tutorial/errors.md.
NOT_COMPUTED = {"Choose", "choose", "choose_wide", "choose_wrap"}


def around(case: Any) -> Iterator[tuple[bool, list[Any]]]:
    """Yield values of the inputs of a case, and whether the numbers are finite."""
    for values in other_sizes(case):
        yield True, values
    given = case.values(np.random.default_rng(5))
    for k, x in enumerate(given):
        for _, edge in edges(np.asarray(x)):
            yield bool(np.all(np.isfinite(edge))), [edge if j == k else y for j, y in enumerate(given)]


@pytest.mark.parametrize("name", sorted(set(CASES) - NOT_COMPUTED))
def test_rewriting_answers_as_written(name):
    case = CASES[name]
    variables = case.variables()
    out = case.build(*variables)
    f = theano.function(variables, out, mode=REWRITTEN, on_unused_input="ignore")
    wrong = []
    for finite, values in around(case):
        if not all(map(fits, variables, values)):
            continue
        plain = outcome(lambda: run(out, dict(zip(variables, values, strict=True)), check=False))
        problem = differ(plain, outcome(lambda: f(*values)), finite=True)
        if problem and (finite or isinstance(plain, type)):
            wrong.append(f"{[_short(v) for v in values]}: {problem}")
    assert not wrong, "\n".join(wrong[:20])
