"""Every operation with a C form: the compiled loop against the NumPy form, over dtypes.

Nothing here names an operation: the cases follow from the statements.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import accuracy
import numpy as np
import pytest

import theano.scalar as ts
from portion import everything, portion
from theano.scalar.cbody import expression
from theano.scalar.dtypes import all_dtypes, complex_dtypes, discrete_dtypes, float_dtypes, integer_dtypes, kind
from theano.scalar.registry import OPS

DEFINED = {op.op_name: op for op in OPS.values() if isinstance(op, ts.DefinedOp) and op.module == "theano.scalar"}
CASTS = [ts.Cast(ts.get_scalar_type(d)) for d in all_dtypes]
PARTS = 4
"""Into which the operations are divided, each compiled by itself."""
MIXED = [
    ("int8", "uint8"), ("uint8", "int64"), ("int64", "uint64"), ("uint64", "int8"), ("bool", "int16"),
    ("int32", "float32"), ("float16", "int8"), ("float16", "float32"), ("float32", "float64"), ("uint16", "float32"),
    ("float64", "bool"), ("complex64", "float32"), ("int64", "complex64"), ("float64", "complex128"),
    ("uint32", "int32"), ("float16", "int16"), ("complex64", "float64"),
]  # fmt: skip


ALWAYS = ("bool", "int8", "uint64", "float16", "float32", "float64", "complex64", "complex128")
WHOLE = [ts.lt, ts.le, ts.gt, ts.ge, ts.eq, ts.neq, ts.int_div, ts.mod, ts.exp]
"""Operations that are tried in all dtypes, since tests look at them by name."""


def combinations(op: Any, pairs: list[tuple[str, str]] | None = None) -> list[tuple[str, ...]]:
    """Return the input dtypes to try: one for all inputs, and pairs of different ones."""
    arity = op.nin if op.nin > 0 else 2
    found = [(d,) * arity for d in all_dtypes]
    if arity == 2:
        found += pairs or MIXED
    if arity == 3:
        found += [("bool", "int8", "float32"), ("int64", "float32", "float64"), ("float32", "uint8", "int8")]
    return found


def make_cases(ops: Any, Case: Any, pairs: Any = None) -> list[Any]:
    """Return the cases whose dtypes the operations accept."""
    cases = []
    for op in ops:
        for ins in combinations(op, pairs):
            try:
                outs = op.output_types([ts.get_scalar_type(d) for d in ins])
            except TypeError:
                continue
            cases.append(Case(op, ins, tuple(t.dtype for t in outs)))
    return cases


def special_values(dtype: str) -> np.ndarray:
    """Return the numbers at which functions go wrong."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype in integer_dtypes:
        limits = np.iinfo(dtype)
        return np.array([limits.min, limits.max, 0, 1, limits.max - 1, max(limits.min, -1), 2, 3], dtype)
    if dtype in complex_dtypes:
        return np.array([0, 1, -1, 1j, -1j, 0.5 + 0.25j, -2 - 3j], dtype)
    info = np.finfo(dtype)
    some = [0.0, -0.0, np.inf, -np.inf, np.nan, info.tiny, -info.tiny, info.smallest_subnormal,
            -info.smallest_subnormal, info.max, -info.max, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5]  # fmt: skip
    return np.array(some, dtype)


def samples(case: Any, rng: np.random.Generator) -> list[np.ndarray]:
    """Return one array per input: random ones, then all pairs of special values."""
    domains = case.op.domains(len(case.ins)) if isinstance(case.op, ts.DefinedOp) else [(0.0, 100.0)]
    arrays = []
    for dtype, (low, high) in zip(case.ins, domains, strict=True):
        if dtype in integer_dtypes and not getattr(case.op, "specials", True):
            # SciPy's own answer is poor far out.
            part = rng.integers(int(low) + 1, max(int(high), int(low) + 2), 200).astype(dtype)
        elif dtype in integer_dtypes and isinstance(case.op, ts.DefinedOp):
            limits = np.iinfo(dtype)
            part = rng.integers(limits.min, limits.max, 200, dtype=dtype, endpoint=True)
            small = 200 if "complex" in case.outs[0] else 100
            part[-small:] = rng.integers(0 if kind(dtype) == "u" else -5, 6, small)
        elif dtype == "bool":
            part = rng.integers(0, 2, 200).astype(bool)
        else:
            part = rng.uniform(low, high, 200)
            if dtype in complex_dtypes:
                part = part + 1j * rng.uniform(low, high, 200)
            part = part.astype(dtype)
        arrays.append(part)
    is_cast = not isinstance(case.op, ts.DefinedOp)
    to_integer = is_cast and case.outs[0] in integer_dtypes and case.ins[0] not in discrete_dtypes
    if to_integer or not getattr(case.op, "specials", True):
        return arrays
    specials = [special_values(d) for d in case.ins]
    if "complex" in case.outs[0]:
        # What NumPy and C make of infinite parts differs from function to function.
        specials = [s[(s == 0) | ((abs(s) > 1e-3) & (abs(s) < 1e3))] for s in specials]
    grids = np.meshgrid(*specials, indexing="ij") if len(case.ins) < 3 else [np.resize(s, 17) for s in specials]
    return [np.concatenate([a, g.ravel()]).astype(d) for a, g, d in zip(arrays, grids, case.ins, strict=True)]


def check(loops: Any, case: Any, ulps_between: Any) -> None:
    """Compare the compiled loop of one case with the NumPy form."""
    rng = np.random.default_rng(sum(map(ord, f"{case.op}{case.ins}")))
    arrays = samples(case, rng)
    wanted = case.op.numpy_form(case.outs)(*arrays)
    (found,) = loops(case, *arrays)
    if wanted.dtype.kind in "biu":
        np.testing.assert_array_equal(found, wanted, err_msg=str(case))
        return
    distance = ulps_between(found, wanted, accuracy.floor(case.op, *arrays))
    # Complex functions are built of several real ones, in NumPy as in the C library.
    allowed = max(case.op.ulp, 1 if case.outs[0] == "float16" else 0) if wanted.dtype.kind == "f" else 16
    worst = int(np.argmax(distance))
    told = (
        f"{case}: at {[a[worst] for a in arrays]} C gives {found[worst]}, NumPy {wanted[worst]} ({distance[worst]} ulp)"
    )
    assert distance[worst] <= allowed, told
    if wanted.dtype.kind == "f" and case.op.op_name not in ("maximum", "minimum"):
        zeros = (wanted == 0) & (found == 0)
        wrong = np.flatnonzero(zeros & (np.signbit(wanted) != np.signbit(found)))
        assert not wrong.size, f"{case}: sign of zero at {[a[wrong[0]] for a in arrays]}"


def tried(cases: list[Any], number: int) -> list[Any]:
    """Return the cases of one operation that this run tries: those of the dtypes in ``ALWAYS``, and a part of the others."""
    if cases[0].op in WHOLE:
        return cases
    first = [case for case in cases if len(set(case.ins)) == 1 and case.ins[0] in ALWAYS]
    others = [case for case in cases if case not in first]
    return portion(first + others, 3, always=len(first), which=number)


@pytest.fixture(scope="module")
def loops(compile_loops: Any, Case_: Any) -> Any:
    by_op = [make_cases([op], Case_) for op in (*DEFINED.values(), *CASTS)]
    return compile_loops([case for number, cases in enumerate(by_op) for case in tried(cases, number)])


def ids(op: Any) -> str:
    return str(op)


@pytest.mark.parametrize("op", [*DEFINED.values(), *CASTS], ids=ids)
def test_c_agrees_with_numpy(op: Any, loops: Any, ulps_between: Any) -> None:
    mine = [case for case in loops.symbols if case.op is op]
    assert mine
    for case in mine:
        if loops.symbols[case] is not None:
            check(loops, case, ulps_between)


def test_number_of_combinations(loops: Any) -> None:
    assert len(DEFINED) >= 80
    assert sum(symbol is not None for symbol in loops.symbols.values()) >= (900 if everything() else 500)


def test_unknown_function_in_a_c_form_is_named() -> None:
    with pytest.warns(UserWarning, match=r"calls sigmoyd, .*runs in Python. Did you mean sigmoid\?"):
        assert expression("sigmoyd({x})", {"x": ("a", "float64")}, "float64") is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a function that only some dtypes lack is no slip
        assert expression("arctan2({x}, {x})", {"x": ("a", "complex128")}, "complex128") is None


def test_which_operations_have_no_c_form(loops: Any) -> None:
    real = {
        case.op.op_name for case, symbol in loops.symbols.items() if symbol is None and set(case.ins) == {"float64"}
    }
    assert real == set()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_all_pairs(part: int, compile_loops: Any, Case_: Any, ulps_between: Any) -> None:
    """Which dtypes meet is a question of the text, so here a fast compilation will do; ``nox -s sweep`` has the usual one.

    There each operation meets all pairs; here a quarter of them, in which each dtype is first and second.
    """
    sweep = os.environ.get("SIZES") == "sweep"
    binary = [op for op in DEFINED.values() if op.nin in (-1, 2) and op.c_form is not None][part::PARTS]
    level = ["-O3", "-march=native"] if sweep else ["-O1"]
    # A part needs not all functions of a block of the support.
    flags = [*level, "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-Wno-unused-function"]
    cases = []
    for number, op in enumerate(binary):
        pairs = [(a, b) for i, a in enumerate(all_dtypes) for j, b in enumerate(all_dtypes) if sweep or (i + j + number) % 4 == 0]
        cases += make_cases([op], Case_, pairs)
    pairs_of = compile_loops(cases, flags)
    for case, symbol in pairs_of.symbols.items():
        if symbol is not None:
            check(pairs_of, case, ulps_between)


@pytest.mark.parametrize("dtype", complex_dtypes)
@pytest.mark.parametrize("op", [ts.lt, ts.le, ts.gt, ts.ge, ts.eq, ts.neq], ids=str)
def test_order_of_complex_numbers(op: Any, dtype: str, loops: Any) -> None:
    parts = [0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    numbers = np.array([complex(a, b) for a in parts for b in parts], dtype)
    x, y = (grid.ravel() for grid in np.meshgrid(numbers, numbers))
    case = next(c for c in loops.symbols if c.op is op and c.ins == (dtype, dtype))
    np.testing.assert_array_equal(loops(case, x, y)[0].astype(bool), op.numpy_form(["bool"])(x, y))


@pytest.mark.parametrize("name", ["log1p", "expm1"])
def test_complex_functions_near_zero(name: str, loops: Any) -> None:
    rng = np.random.default_rng(0)
    size = 10.0 ** rng.uniform(-12, -3, 500)
    z = (rng.normal(size=500) + 1j * rng.normal(size=500)) * size
    case = next(c for c in loops.symbols if c.op is OPS[name] and c.ins == ("complex128",))
    # to the fifth order, which is exact here
    sign = -1 if name == "log1p" else 1
    over = [1, 2, 3, 4, 5] if name == "log1p" else [1, 2, 6, 24, 120]
    wanted = sum(z**k * sign ** (k - 1) / n for k, n in zip(range(1, 6), over, strict=True))
    np.testing.assert_allclose(loops(case, z)[0], wanted, rtol=2e-14)


def test_division_of_integers_never_traps(loops: Any) -> None:
    for dtype in integer_dtypes:
        low = np.iinfo(dtype).min
        x = np.array([low, low, 7, 0], dtype)
        y = np.array([0, -1 if kind(dtype) == "i" else 1, 0, 0], dtype)
        for op in (ts.int_div, ts.mod):
            case = next(c for c in loops.symbols if c.op is op and c.ins == (dtype, dtype))
            (found,) = loops(case, x, y)
            np.testing.assert_array_equal(found, [0, low if op is ts.int_div else 0, 0, 0])


def test_undefined_behaviour(compile_loops: Any, Case_: Any) -> None:
    """The sanitiser ends the process at a signed overflow or a bad shift: that the loops return is the test."""
    ops = [ts.add, ts.sub, ts.mul, ts.neg, ts.abs_, ts.sqr, ts.int_div, ts.mod, ts.pow]
    flags = ["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    cases = [case for case in make_cases(ops, Case_) if set(case.ins) <= set(integer_dtypes)]
    checked = compile_loops(cases, flags)
    for case in checked.symbols:
        grids = np.meshgrid(*[special_values(d) for d in case.ins], indexing="ij")
        checked(case, *[g.ravel() for g in grids])


def test_float_dtypes_all_have_loops(loops: Any) -> None:
    with_loops = {case.ins[0] for case, symbol in loops.symbols.items() if symbol and case.op is ts.exp}
    assert with_loops >= set(float_dtypes)


def test_estimates_of_work():
    """What is an instruction costs little, be it written as an operator or as a function; of a function its length counts."""

    def work(op, *dtypes):
        return op.work(dtypes, [op.output_types([ts.get_scalar_type(d) for d in dtypes])[0].dtype])

    two = ["float64"] * 2
    little = [work(ts.add, *two), work(ts.abs_, "float64"), work(ts.floor, "float64"), work(ts.maximum, *two), work(ts.true_div, *two)]
    assert max(little) <= 2 * min(little)
    assert max(little) < work(ts.sqrt, "float64") < work(ts.exp, "float64") < work(ts.gammainc, *two)
    assert work(ts.add, *two, *two) == 3 * work(ts.add, *two)
