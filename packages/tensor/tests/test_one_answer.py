"""One answer in all modes: C, NumPy's form, rewritten or not, give one value or one class of error.

Two halves prove it for every op. Each node of the tables of cases (``every_op.py``) is given edges of its inputs, in
compiled form and by ``perform``; and each case, in NumPy's form, as it is written and as it is rewritten. The cases that
users fell over stand in ``programs`` below and run in each mode.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from every_op import samples, tables
from oracle import run
from test_cases import other_sizes

import theano
import theano.tensor as T
from portion import portion
from theano.compile import Mode
from theano.graph import Constant
from theano.graph.traverse import inputs as graph_inputs
from theano.tensor.elemwise.op import Elemwise

pytestmark = pytest.mark.filterwarnings("ignore")

COMPILED, NUMPY, REWRITTEN = Mode("vm", None), Mode("py", None), Mode("py", "fast_run")
#: Each run tries the first one, and one of the others.
MODES = dict(portion({
    "rewritten, C": Mode("vm", "fast_run"), "as written, NumPy": NUMPY, "as written, C": COMPILED, "rewritten, NumPy": REWRITTEN,
    "rewritten little": "FAST_COMPILE",
}.items(), one_in=4))  # fmt: skip
#: The classes that a program may catch: what stands for one of their subclasses.
CLASSES = (np.linalg.LinAlgError, ZeroDivisionError, MemoryError, IndexError, AssertionError, ValueError, TypeError)


def outcome(compute: Any, *args: Any) -> Any:
    """Return the values that a function computes, or the class of the error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = compute(*args)
        except CLASSES as error:
            found = next(c for c in CLASSES if isinstance(error, c))
            # What can be addressed and what there is space for differ by machine.
            return ValueError if found is MemoryError else found
    return [np.array(x) if isinstance(x, (np.ndarray, np.generic)) else x for x in (found if isinstance(found, list) else [found])]


def called(inputs: list[Any], out: Any, mode: Any, *values: Any) -> Any:
    """Return what a function returns that is compiled for the call."""
    return theano.function(inputs, out, mode=mode)(*values)


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


#: Whose result has signs, a basis or an order of rounding that each library chooses: that there is one is compared, and
#: its values in linalg/ and test_fft.py. NaN and infinity spread through it as far as a library's steps take them.
FREE = {"Eigh", "QRFull", "QRIncomplete", "SVD", "RFFTOp", "IRFFTOp", "SoftmaxGrad", "Ger"}
#: Whose steps may overflow or vanish at the ends of the range, in one library sooner than in another.
SHORT_OF_RANGE = {"Det", "SLogDet", "MatrixInverse", "Solve", "MatrixPinv", "Expm", "ExpmGrad", "CholeskyGrad", "EighGrad"} | FREE
#: Sums in which, beside images and filters, zeros stand where a step is larger than one or a vector is wider than a row.
CONVOLUTIONS = ("AbstractConv", "ConvElemwise", "Corr")
#: Sums of terms of both signs: where some of the terms overflow together, their order decides between infinity and NaN.
SUMS = {"MapReduce"}


def overflows(name: str, edge: np.ndarray) -> bool:
    """Return whether the order of an op's sums decides what is not finite."""
    return name in SUMS and edge.dtype.kind in "fc" and bool(np.abs(edge).max(initial=0) == np.finfo(edge.dtype).max)


def comparable(name: str, problem: str, values: list[Any]) -> bool:
    """Return whether a difference is one."""
    if not problem:
        return False
    extreme = any(
        isinstance(x, np.ndarray) and x.dtype.kind in "fc"
        and (not np.isfinite(x).all() or np.abs(x[x != 0]).max(initial=1) > 1e100 or np.abs(x[x != 0]).min(initial=1) < 1e-100)
        for x in values
    )  # fmt: skip
    return not ((name in SHORT_OF_RANGE or name.startswith(CONVOLUTIONS)) and extreme or name in FREE and "against" in problem and "[" in problem[:4])


@cache
def chosen() -> dict[str, list[Any]]:
    """Return a few nodes of each op, by the case that has them."""
    count: Counter[str] = Counter()
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
            count[name] += 1
            if count[name] <= NODES:
                found.setdefault(sample.case.removesuffix(", rewritten"), []).append(sample)
    return found


CASES = {case.name: case for case in tables()}


@pytest.mark.parametrize("name", portion(sorted(CASES), always=0))
def test_a_kernel_answers_as_numpy(name):
    """What is tried are the nodes that the case of this name is the first to have."""
    wrong = []
    for node, inputs, _, case in chosen().get(name, ()):
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
                plain = outcome(run, list(here.outputs), dict(zip(free, values, strict=True)), False)
                found = outcome(f, *[np.array(v) for v in values])
                name_of_op = type(node.op).__name__
                problem = differ(plain, found, finite=overflows(name_of_op, edge))
                if comparable(name_of_op, problem, values):
                    wrong.append(f"{node} ({case}) with input {k} {what}: {problem}")
    assert not wrong, "\n".join(wrong[:20])


# -- rewritten against written, for each case --------------------------------------------------------------------------


#: Rewriting finds out that an operand is 0 or 1 everywhere, or the largest of a row that a softmax subtracts itself, and
#: drops it with its shape: docs/tutorial/errors.md.
NOT_COMPUTED = {"Choose", "choose", "choose_wide", "choose_wrap", "softmax_graph"}


def around(case: Any) -> Iterator[tuple[bool, list[Any]]]:
    """Yield values of the inputs of a case, and whether the numbers are finite."""
    for values in other_sizes(case):
        yield True, values
    given = case.values(np.random.default_rng(5))
    for k, x in enumerate(given):
        for _, edge in edges(np.asarray(x)):
            yield bool(np.all(np.isfinite(edge))), [edge if j == k else y for j, y in enumerate(given)]


#: Products of several factors, which rewriting multiplies in another order: one overflows sooner than the other.
MULTIPLIED = {"BatchNormInference", "BatchNormTrainGrad"}


@pytest.mark.parametrize("name", portion(sorted(set(CASES) - NOT_COMPUTED), always=0))
def test_rewriting_answers_as_written(name):
    case = CASES[name]
    variables = case.variables()
    out = case.build(*variables)
    f = theano.function(variables, out, mode=REWRITTEN, on_unused_input="ignore")
    wrong = []
    for finite, values in around(case):
        if not all(map(fits, variables, values)):
            continue
        plain = outcome(run, out, dict(zip(variables, values, strict=True)), False)
        problem = differ(plain, outcome(f, *values), finite=True)
        if name in MULTIPLIED and any(np.abs(v).max(initial=0) > 1e100 for v in values):
            continue
        if problem and (finite or isinstance(plain, type)):
            wrong.append(f"{[_short(v) for v in values]}: {problem}")
    assert not wrong, "\n".join(wrong[:20])


# -- programs that users fell over, in each mode ------------------------------------------------------------------------


n, i = T.lscalar("n"), T.lvector("i")
s, v, w, m, t = T.dscalar("s"), T.dvector("v"), T.dvector("w"), T.dmatrix("m"), T.dtensor3("t")
V, M, HUGE = np.arange(3.0), np.arange(12.0).reshape(3, 4), 2**63 - 1
rows, log_sm = T.arange(i.shape[0]), T.log(T.nnet.softmax(m))
NEGATIVE = {s: 2.0, n: -2, v: V}
FILLED = T.alloc(s, n)

#: A name, an expression, values, and the class of the error; None where there is a value.
PROGRAMS: list[tuple[str, Any, dict[Any, Any], Any]] = [
    *((f"negative length, {name}", e, NEGATIVE, ValueError) for name, e in {
        "alloc": FILLED, "sum": FILLED.sum(), "sum of zeros": T.zeros(n).sum(), "prod": FILLED.prod(), "mean": FILLED.mean(),
        "max": FILLED.max(), "all": T.all(FILLED > 0), "shape": T.zeros((n, 3)).shape[0], "other length": T.zeros((n, 3)).shape[1],
        "size": T.zeros((n, n)).size, "slice": FILLED[1:], "sum of a slice": FILLED[1:].sum(), "turned": FILLED[::-1],
        "first": FILLED[0], "transposed": T.alloc(s, n, 2).T.shape[0], "twice": T.alloc(FILLED, 2, n).sum(),
        "filled like it": T.fill(FILLED, s).sum(), "zeros like it": T.zeros_like(FILLED), "gradient": T.grad((FILLED**2).sum(), s),
        "join": T.join(0, T.zeros(n), v), "length of a join": T.join(0, T.zeros(n), v).shape[0], "full": T.full((n,), s).sum(),
        "ones": T.ones((n, n)).sum(), "eye": T.eye(n, 4), "shape of eye": T.eye(n, 4).shape[0], "tri": T.tri(n, 4),
        "shape of tri": T.tri(n, 4).shape[1], "empty": T.AllocEmpty("float64")(n).shape[0], "repeat": T.repeat(v, n),
        "shape of repeat": T.repeat(v, n).shape[0], "repeat a number": T.repeat(s, n).sum(), "tile": T.tile(v, (n,)),
        "shape of tile": T.tile(v, (n, 2)).shape[0], "reshape": v.reshape((n, -1)), "split": T.split(v, [5, n], 2)[0],
        "length of a split": T.split(v, T.stack([3 - n, n]), 2)[0].shape[0], "constant": T.alloc(1.0, -1).sum() + s * 0,
        "doubled": T.zeros((n,)) * 2, "dot": T.dot(T.zeros((n, 3)), v),
    }.items()),
    *((f"reshape of 3 numbers, {name}", e, {v: V, n: 1000}, ValueError) for name, e in {
        "constant": v.reshape((1000,)), "symbolic": v.reshape((n,)), "row": v.reshape((1, n)), "column": v.reshape((5, 1)),
        "shape": v.reshape((n,)).shape[0], "known shape": v.reshape((1000,)).shape[0], "there and back": v.reshape((7, n)).reshape((3,)),
        "flattened": v.reshape((n, 5)).flatten(), "sum": v.reshape((n, 5)).sum(), "times 0": v.reshape((n, 5)) * 0,
        "zeros like it": T.zeros_like(v.reshape((n, 5))), "largest": v.reshape((n, 5)).max(), "-1": v.reshape((-1, 7)).shape[0],
        "to one number": v.reshape((1, 1)), "to none": v.reshape(()),
    }.items()),
    ("reshape to -3", v.reshape((n,)), {v: V, n: -3}, ValueError),
    ("reshape to a symbolic -1", v.reshape((n,)).shape[0], {v: V, n: -1}, None),
    ("reshape, one length wrong", m.reshape((m.shape[0], 7)), {m: M}, ValueError),
    ("reshape, -1 beside 0", m.reshape((m.shape[0], -1)), {m: M[:0]}, ValueError),
    ("shape of that", m.reshape((m.shape[0], -1)).shape[1], {m: M[:0]}, ValueError),
    ("flatten of nothing", t.flatten(2), {t: np.ones((0, 3, 4))}, None),
    ("back to its shape", m.flatten().reshape(m.shape), {m: M}, None),
    ("specify_shape", T.specify_shape(v, (n,)).shape[0], {v: V, n: 7}, AssertionError),
    ("specify_shape, constant", T.specify_shape(v, (-7,)).shape[0], {v: V}, AssertionError),
    ("addbroadcast", T.addbroadcast(v, 0).shape[0], {v: V}, ValueError),
    ("addbroadcast and back", T.unbroadcast(T.addbroadcast(v, 0), 0), {v: V}, ValueError),
    ("split of too much", T.split(v, i, 2)[0].shape[0], {v: V, i: [5, 5]}, ValueError),
    *((f"arange, {name}", e, {n: HUGE, s: number}, error) for name, e, number, error in (
        ("longest", T.arange(n), 0, ValueError), ("longer", T.arange(-n, n), 0, ValueError), ("its length", T.arange(-n, n).shape[0], 0, ValueError),
        ("wide steps", T.arange(0, n, 2**61), 0, None), ("step 0", T.arange(0, n, n - n).shape[0], 0, ZeroDivisionError),
        ("nan", T.arange(s), np.nan, ValueError), ("inf", T.arange(s).shape[0], np.inf, ValueError), ("-inf", T.arange(s), -np.inf, ValueError),
        ("1e30", T.arange(s).shape[0], 1e30, ValueError), ("float step 0", T.arange(0.0, 5.0, s).shape[0], 0.0, ZeroDivisionError),
        ("step inf", T.arange(0.0, 5.0, s), np.inf, None), ("step nan", T.arange(0.0, 5.0, s), np.nan, ValueError),
        ("whole numbers of floats", T.arange(s, 5.5, 1.5, dtype="int64"), 0.5, None), ("negative", T.arange(s), -4.0, None),
    )),
    *((f"classes {given}, {name}", e, {m: M / 9, i: given}, error) for name, e in {
        "likelihood": -log_sm[rows, i], "gradient": T.grad(-log_sm[rows, i].mean(), m), "of all rows": -log_sm[T.arange(m.shape[0]), i],
        "log softmax": -T.nnet.logsoftmax(m)[rows, i].sum(), "gradient of all rows": T.grad(-log_sm[T.arange(m.shape[0]), i].sum(), m),
    }.items() for given, error in (
        ([-1, 0, -4], None), ([0, 4, 1], IndexError), ([0, -5, 1], IndexError), ([3], None), ([0, 1, 2, 3], IndexError),
        ([1, 2], IndexError if "all rows" in name else None),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "values", "error"), [pytest.param(*p[1:], id=p[0]) for p in PROGRAMS])
def test_each_mode_gives_the_same(expression, values, error):
    used = [x for x in values if x in set(graph_inputs([expression]))]
    given = {x: np.asarray(values[x], x.dtype) for x in used}
    plain = outcome(run, expression, given)
    assert (plain is error) if error else not isinstance(plain, type), _short(plain)
    for name, mode in MODES.items():
        found = outcome(called, used, expression, mode, *given.values())
        assert not differ(plain, found), f"{name}: {differ(plain, found)}"


# -- whole numbers of floats -------------------------------------------------------------------------------------------

FLOATS = [0, -0.0, 0.5, -0.5, 1.5, -1.5, 127.9, 128, -129, 255, 256, 300.7, -300, 32768, 70000, -70000, 2**31 - 1, 2**31, 3e9,
          -3e9, 2**32, 5e9, 2**53 + 1, 2**62, 2**63 - 1024, 2**63, -(2**63), 1e19, -1e19, 2**64 - 2048, 2**64, 1e30, -1e30,
          np.inf, -np.inf, np.nan]  # fmt: skip
WHOLE = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def as_defined(x: float, dtype: str) -> int:
    """Return what `Cast` says of a float, in Python's whole numbers."""
    bits = int(dtype.lstrip("uint"))
    wide = 32 if bits < 32 else bits
    half = 2 ** (wide - 1)
    if dtype[0] == "u" and bits >= 32 and x >= half:
        found = int(x) if x < 2 * half else 0
    else:
        found = int(x) if np.isfinite(x) and abs(x) < half else -half
    found %= 2**bits
    return found - 2**bits if dtype[0] == "i" and found >= 2 ** (bits - 1) else found


@pytest.mark.parametrize("target", WHOLE)
@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
def test_a_cast_is_defined_everywhere(source, target):
    """In each mode, of vectors of each length up to two blocks, alone and joined with other ops, and cast back."""
    with np.errstate(all="ignore"):
        numbers = np.array(FLOATS, source)
    wanted = np.array([as_defined(float(x), target) for x in numbers], target)
    x = T.TensorType(source, (False,))("x")
    for mode in MODES.values():
        f = theano.function([x], [T.cast(x, target), T.cast(T.cast(x, target), "float64")], mode=mode)
        for count in (1, 7, len(numbers), 133):
            there, back = f(np.resize(numbers, count))
            np.testing.assert_array_equal(there, np.resize(wanted, count))
            np.testing.assert_array_equal(back, np.resize(wanted, count).astype("float64"))
    into = theano.function([x], T.set_subtensor(T.zeros(x.shape, target)[:], T.cast(x, target)))
    np.testing.assert_array_equal(into(numbers), wanted)
    assert T.cast(x[0], target).eval({x: numbers[-1:]}) == wanted[-1]


@pytest.mark.parametrize("write", [T.set_subtensor, T.inc_subtensor])
@pytest.mark.parametrize("target", WHOLE)
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_a_float_written_into_whole_numbers_is_a_cast(source, target, write):
    """Into parts and places, one number for all or one for each, from neighbours and from every other element."""
    with np.errstate(all="ignore"):
        numbers = np.array(FLOATS, source)
    wanted = np.array([as_defined(float(x), target) for x in numbers], target)
    size = len(numbers)
    x, y, k = T.TensorType(target, (False,))("x"), T.TensorType(source, (False,))("y"), T.lvector("k")
    s, base = T.TensorType(source, ())("s"), np.full(size, 3, target)
    spread = np.repeat(numbers, 2)[::2]
    start = np.zeros(size, target) if write is T.set_subtensor else base
    for mode in MODES.values():
        f = theano.function([x, y, k], [write(x[:], y), write(x[k], y), write(x[::1], T.alloc(y[0], x.shape[0]))], mode=mode)
        g = theano.function([x, s], write(x[:], T.alloc(s, x.shape[0])), mode=mode)
        for values in (numbers, spread):
            part, places, filled = f(base, values, np.arange(size))
            np.testing.assert_array_equal(part, start + wanted)
            np.testing.assert_array_equal(places, start + wanted)
            np.testing.assert_array_equal(filled, start + wanted[0])
        for number, whole in zip(numbers, wanted, strict=True):
            np.testing.assert_array_equal(g(base, number), start + whole)


# -- dimensions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ndim", [32, 33, 64])
def test_up_to_64_dimensions(ndim):
    x = T.TensorType("float64", (True,) * (ndim - 2) + (False, False))("x")
    value = np.arange(6.0).reshape((1,) * (ndim - 2) + (2, 3))
    made = {
        "sum": x.sum(axis=-1), "logsumexp": T.logsumexp(x, axis=-1), "argmax": x.argmax(axis=-1), "max": T.exp(x).max(axis=(0, -1)),
        "any": T.any(x > 2, axis=-1), "sort": T.sort(x, axis=-1), "topk": T.topk(x, 2), "cumsum": T.cumsum(x, axis=-1), "turned": x.T,
        "flat": x.flatten(), "switch": T.switch(x > 1, x, -x), "zeros": T.zeros_like(x), "set": T.set_subtensor(x[..., 1], 7.0),
        "taken": x[..., np.array([0, 1]), np.array([0, 2])], "where": x[x > 2], "joined": T.join(ndim - 1, x, x), "constant": x + T.constant(value),
        "gradient": T.grad((x.sum(axis=-1) ** 2).sum(), x), "norm": x.norm(2), "alloc": T.alloc(x[..., 0].sum(), *[1] * (ndim - 1), 2),
    }  # fmt: skip
    plain = outcome(run, list(made.values()), {x: value})
    for mode in (COMPILED, REWRITTEN, "FAST_RUN"):
        found = outcome(called, [x], list(made.values()), mode, value)
        wrong = {name: problem for name, a, b in zip(made, plain, found, strict=True) if (problem := differ([a], [b]))}
        assert not wrong, (wrong, mode)


def test_more_than_64_dimensions_are_refused():
    x = T.TensorType("float64", (True,) * 64)("x")
    for build in (lambda: T.TensorType("float64", (True,) * 65), lambda: x.dimshuffle("x", *range(64)), lambda: T.stack([x, x]), lambda: T.shape_padleft(x)):
        with pytest.raises(ValueError, match="64 at most"):
            build()


# -- linear algebra ----------------------------------------------------------------------------------------------------

POSITIVE = np.eye(3) * 2 + 0.1
BROKEN = np.eye(3), np.full((3, 3), np.nan), np.full((3, 3), np.inf), np.ones((3, 3)), np.zeros((3, 3)), np.zeros((0, 0)), np.ones((3, 4)), np.zeros((0, 3)), np.eye(3) - 2, np.full((1, 1), np.nan)  # fmt: skip
PARTLY = [np.where(np.arange(9).reshape(3, 3) == place, number, POSITIVE) for place in (0, 1, 3, 8) for number in (np.nan, np.inf)]


@pytest.mark.parametrize("name", [
    "cholesky", "upper", "or nan", "inverse", "pinv", "det", "solve", "lower", "qr", "eigh", "eigvalsh", "generalised", "eig", "svd", "svd in parts",
    "lstsq", "expm", "solve or nan", "lower or nan", "lu",
])  # fmt: skip
def test_linear_algebra_of_what_is_no_good_matrix(name):
    """A value (of numbers, or with NaN or infinity in it) or an error of one class."""
    nlinalg, slinalg = T.nlinalg, T.slinalg
    out = {
        "cholesky": lambda: slinalg.cholesky(m), "upper": lambda: slinalg.Cholesky(lower=False)(m), "or nan": lambda: slinalg.Cholesky(on_error="nan")(m),
        "inverse": lambda: nlinalg.matrix_inverse(m), "pinv": lambda: nlinalg.pinv(m), "det": lambda: nlinalg.det(m), "solve": lambda: slinalg.solve(m, m),
        "lower": lambda: slinalg.solve_lower_triangular(m, m), "qr": lambda: nlinalg.qr(m)[1], "eigh": lambda: nlinalg.eigh(m)[0],
        "eigvalsh": lambda: slinalg.eigvalsh(m, None), "generalised": lambda: slinalg.eigvalsh(T.eye(m.shape[0]), m), "eig": lambda: nlinalg.eig(m)[0],
        "svd": lambda: nlinalg.svd(m, compute_uv=False), "svd in parts": lambda: nlinalg.svd(T.tile(m, (30, 30)))[1],
        "lstsq": lambda: nlinalg.lstsq()(m, m, T.constant(-1.0))[0], "expm": lambda: slinalg.expm(m),
        "solve or nan": lambda: slinalg.solve(m, m, on_error="nan"), "lower or nan": lambda: slinalg.solve_lower_triangular(m, m, on_error="nan"),
        "lu": lambda: slinalg.lu_factor(m)[0],
    }[name]()  # fmt: skip
    # With infinity in the matrix, which numbers of an inverse are finite depends on the order of the eliminations.
    kind = lambda o: o if isinstance(o, type) else name in ("inverse", "solve", "solve or nan") or bool(np.isfinite(o[0]).all())
    compiled = [theano.function([m], out, mode=mode) for mode in (COMPILED, "FAST_RUN")]
    for x in (*BROKEN, *PARTLY):
        plain = outcome(run, out, {m: x})
        for f in compiled:
            assert kind(outcome(f, x.copy())) == kind(plain), (x, plain)
