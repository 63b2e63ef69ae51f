"""Compiled code against plain code at the sizes where loops go wrong: 0, 1, around 8 and around 1024.

``SIZES=sweep`` in the environment takes more sizes, layouts and dtypes: ``nox -s sweep``.
"""

from __future__ import annotations

import itertools
import os
import zlib

import numpy as np
import pytest
from arrays import lay
from sizes import FLOATS, LAYOUTS, MORE_FLOATS, MORE_INTEGERS, MORE_LAYOUTS, MORE_SIZES, PATHS, SIZES, Index

import theano
from portion import portion
from theano.compile.mode import Mode

SWEEP = os.environ.get("SIZES") == "sweep"
PLAIN = Mode(linker="py", optimizer="merge")
# Errors allowed, relative to the largest number of a result.
CLOSE = {"float64": 1e-11, "float32": 2e-5, "float16": 0.1}  # float16: where a chain is rounded, paths differ


def dtypes_of(path):
    """Return the dtypes to test a path with."""
    if not SWEEP:
        return path.dtypes
    more_floats = MORE_FLOATS if set(FLOATS) <= set(path.dtypes) else ()
    more = (*more_floats, *(MORE_INTEGERS if "int64" in path.dtypes else ()))
    return (*path.dtypes, *(dtype for dtype in more if dtype not in path.without))


# Paths of one dtype first: they are in each run, others with one dtype of two.
PAIRS = sorted(((path, dtype) for path in PATHS for dtype in dtypes_of(path)), key=lambda pair: len(pair[0].dtypes) > 1)
SINGLE = sum(len(path.dtypes) == 1 for path, _ in PAIRS)


def test_paths_have_different_names():
    assert len({path.name for path in PATHS}) == len(PATHS)


def compare(ours, plain, dtype, what, terms=0.0, count=0):
    """Hold results to the plain ones; errors count relative to the largest of these and of the terms they add up.

    A sum of ``count`` terms is right to half an epsilon for each of them, in whatever order it is taken.
    """
    ours, plain = np.asarray(ours), np.asarray(plain)
    assert (ours.dtype, ours.shape) == (plain.dtype, plain.shape), what
    if not plain.size:
        return
    if plain.dtype.kind != "f":
        np.testing.assert_array_equal(ours, plain, err_msg=what)
        return
    finite = np.isfinite(plain)
    np.testing.assert_array_equal(np.where(finite, 0, ours), np.where(finite, 0, plain), err_msg=what)
    scale = np.abs(plain[finite]).max(initial=max(terms, 1e-3))  # what should be 0 is made from numbers about 1
    error = np.abs(ours[finite].astype("float64") - plain[finite]).max(initial=0) / scale
    rounding = count * float(np.finfo(plain.dtype).eps) / 2
    assert error <= max(CLOSE[plain.dtype.name], CLOSE.get(dtype, 0), rounding), f"{what}: off by {error:.2g}"


def laid(path, values, layout):
    """Return values in a layout; "mixed" gives each input another one."""
    each = [LAYOUTS[i % (len(LAYOUTS) - 1)] if layout == "mixed" else layout for i in range(1, len(values) + 1)]
    return [v if isinstance(s, Index) else lay(v, how) for v, s, how in zip(values, path.shapes, each)]


def outcome(function, values):
    """Return the results as a list, or the error."""
    try:
        found = function(*values)
    except (ValueError, IndexError) as error:
        return error
    return found if isinstance(found, list) else [found]


@pytest.mark.parametrize(
    "path, dtype",
    [pytest.param(*pair, id=f"{pair[0].name}-{pair[1]}") for pair in (PAIRS if SWEEP else portion(PAIRS, 2, always=SINGLE))],
)
def test_compiled_and_plain_agree(path, dtype):
    with theano.config.change_flags(floatX=dtype if dtype in FLOATS else "float64"):
        variables = path.variables(dtype)
        expression = path.build(*variables)
        fast = theano.function(variables, expression, mode="FAST_RUN", on_unused_input="ignore")
        plain = theano.function(variables, expression, mode=PLAIN, on_unused_input="ignore")
        sizes = theano.function(variables, path.terms(*variables), mode=PLAIN) if path.terms else None
    seed = zlib.crc32(f"{path.name} {dtype}".encode())
    rng = np.random.default_rng(seed)
    table = set(itertools.product(MORE_SIZES, MORE_LAYOUTS) if SWEEP else portion(itertools.product(SIZES, LAYOUTS), 3, which=seed))
    for size in MORE_SIZES if SWEEP else SIZES:
        if size < path.smallest:
            continue
        values = path.values(dtype, size, rng)
        for layout in [layout for layout in MORE_LAYOUTS if (size, layout) in table]:
            given = laid(path, values, layout)
            before = [v.copy() for v in given]
            what = f"{path.name} of {dtype}, size {size}, layout {layout}"
            with np.errstate(all="ignore"):
                ours, wanted = outcome(fast, given), outcome(plain, given)
            if isinstance(wanted, Exception) or isinstance(ours, Exception):
                assert isinstance(ours, type(wanted)) or isinstance(wanted, type(ours)), f"{what}: {ours!r}, {wanted!r}"
                continue
            terms = float(np.max(sizes(*given), initial=0)) if sizes else 0.0
            for one, other in zip(ours, wanted, strict=True):
                compare(one, other, dtype, what, terms, size if sizes else 0)
            for value, old in zip(given, before):
                np.testing.assert_array_equal(value, old, err_msg=f"{what}: an input was changed")
