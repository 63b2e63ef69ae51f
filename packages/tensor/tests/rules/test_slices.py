"""Parts of parts, and lengths: rules over indexes and shapes, for all small numbers. SIZES=sweep takes them all."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from interpret import apply_rule, compute, rewritten, run
from test_each_rule import AFTER, CASES, VALUES, m, n, v, w

import theano
import theano.tensor as T
from theano.graph.traverse import explicit_inputs
from theano.tensor.index.rules.reads import _compose

SWEEP = os.environ.get("SIZES") == "sweep"
FAR = 4 if SWEEP else 2
NUMBERS = list(range(-FAR, FAR + 1))
LENGTHS = range(5 if SWEEP else 4)


class Symbol:
    """Stands for a number that is not known while rules run."""


UNKNOWN = Symbol()
ENDS, STEPS = [None, *NUMBERS], [None, *(k for k in NUMBERS if k)]
SLICES = [slice(*parts) for parts in itertools.product(ENDS, ENDS, STEPS)]


def with_number(entry, number):
    """Return a slice with a number in place of the unknown one."""
    if not isinstance(entry, slice):
        return entry
    return slice(*(number if part is UNKNOWN else part for part in (entry.start, entry.stop, entry.step)))


def taken(values, *indexes):
    """Return a part of a part of a list, or the class of error where there is none."""
    try:
        for index in indexes:
            values = values[index]
    except IndexError:
        return IndexError
    return values


@pytest.mark.parametrize("length", LENGTHS)
def test_merging_two_slices(length):
    merged, values = 0, list(range(length))
    for a in SLICES:
        for b in [*SLICES, *NUMBERS]:
            one = _compose(a, b)
            if one is not None:
                merged += 1
                assert taken(values, one) == taken(values, a, b), (a, b, one, length)
    assert merged > len(SLICES) * 2


@pytest.mark.parametrize("place", range(6), ids=lambda k: "first second".split()[k // 3] + "-" + "start stop step".split()[k % 3])
def test_merging_slices_of_which_a_number_is_unknown(place):
    """Where the result can be told without the number, it is right for each number."""
    free = [[UNKNOWN] if k == place else [ENDS, ENDS, STEPS][k % 3] for k in range(6)]
    for parts in itertools.product(*free):
        a, b = slice(*parts[:3]), slice(*parts[3:])
        one = _compose(a, b)
        if one is None:
            continue
        for number in (k for k in NUMBERS if k or place % 3 != 2):
            for length in LENGTHS:
                values = list(range(length))
                told = with_number(one, number), with_number(a, number), with_number(b, number)
                assert values[told[0]] == values[told[1]][told[2]], (a, b, one, number, length)


#: Where a slice can be moved: through what makes the tensor that it is taken of.
SOURCES = {
    "itself": lambda x: x,
    "of a sum": lambda x: T.exp(x * 2) + 1,
    "of a slice": lambda x: x[1:],
    "of the reverse": lambda x: x[::-1],
    "of joined": lambda x: T.join(0, x, 2 * x),
    "of stacked": lambda x: T.stack([x.sum(), x.sum() + 1, 2 * x.sum()]),
    "of an alloc": lambda x: T.alloc(x.sum(), 3),
    "of a product": lambda x: T.dot(T.outer(x, x), x),
    "of a written one": lambda x: T.set_subtensor(x[1:], 7.0),
    "of a row": lambda x: x.dimshuffle("x", 0)[0],
}


@pytest.mark.parametrize("source", SOURCES)
def test_each_slice_of_each_source(source):
    x = T.dvector("x")
    base = SOURCES[source](x)
    slices = SLICES if SWEEP else SLICES[::7]
    for at in range(0, len(slices), 100):
        several = slices[at : at + 100]
        outputs = [y for s in several for y in (base[s], base[s].shape[0])]
        fgraph, report = rewritten([x], outputs)
        assert report.complete, report
        for length in LENGTHS:
            value = np.arange(1.0, length + 1)
            wanted, found = run(outputs, {x: value}), compute(fgraph, [value])
            for k, (a, b) in enumerate(zip(wanted, found, strict=True)):
                assert a.dtype == b.dtype
                np.testing.assert_allclose(b, a, 1e-12, err_msg=f"{source} {several[k // 2]} {length}")


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("index", NUMBERS)
def test_each_index_of_each_source(source, index):
    x = T.dvector("x")
    output = SOURCES[source](x)[index]
    fgraph, report = rewritten([x], [output])
    assert report.complete, report
    for length in LENGTHS:
        value = np.arange(1.0, length + 1)
        try:
            (wanted,) = run([output], {x: value})
        except IndexError:
            with pytest.raises(IndexError):
                compute(fgraph, [value])
            continue
        np.testing.assert_allclose(compute(fgraph, [value])[0], wanted, 1e-12)


PRESENT = list(itertools.product([False, True], repeat=3))


@pytest.mark.parametrize("present", PRESENT, ids=lambda p: "".join("abc"[k] if on else "-" for k, on in enumerate(p)))
def test_length_of_a_slice_with_numbers_given_later(present):
    """Compiled: the slice, and its length, which is worked out without the slice."""
    x, numbers = T.dvector("x"), [T.lscalar(name) for name in "abc"]
    entry = slice(*(number if on else None for number, on in zip(numbers, present, strict=True)))
    given = [number for number, on in zip(numbers, present, strict=True) if on]
    f = theano.function([x, *given], [x[entry], x[entry].shape[0]])
    g = theano.function([x, *given], x[entry].shape[0])
    choices = [NUMBERS, NUMBERS, [k for k in NUMBERS if k]]
    for length in LENGTHS:
        value = np.arange(float(length))
        for told in itertools.product(*(c for c, on in zip(choices, present, strict=True) if on)):
            rest = iter(told)
            wanted = value[slice(*(next(rest) if on else None for on in present))]
            part, count = f(value, *told)
            assert part.tolist() == wanted.tolist() and count == g(value, *told) == len(wanted), (told, length)


@pytest.mark.parametrize("name", sorted(CASES))
def test_rule_at_all_lengths(name):
    """Each rule's case with tensors of length 0 and up: the same values, and of the same shape."""
    output = CASES[name]
    inputs = explicit_inputs([output])
    if not {v, w, m, n} & set(inputs):
        return
    fgraph, used, _ = apply_rule(name, inputs, output, AFTER.get(name, ()))
    assert used
    most, draw = (4 if SWEEP else 3), np.random.default_rng(0)
    for rows, columns, length in itertools.product(range(most), repeat=3):
        if name == "local_map_rows_at_once" and columns != length:
            continue  # lengths that do not fit are found out without a row, too
        shapes = {v: (length,), w: (length,), m: (rows, columns), n: (rows, columns)}
        values = [draw.uniform(0.1, 1, shapes[x]) if x in shapes else VALUES[x][0] for x in inputs]
        with np.errstate(all="ignore"):
            try:
                (wanted,) = run([output], dict(zip(inputs, values, strict=True)))
            except (ValueError, IndexError, AssertionError):
                continue  # lengths that the expression refuses
            (found,) = compute(fgraph, values)
        assert found.dtype == wanted.dtype and found.shape == wanted.shape, (rows, columns, length)
        where = np.isfinite(wanted) if wanted.dtype.kind == "f" else np.ones(wanted.shape, bool)
        tolerance = 0.1 if "sigmoid" in name else 1e-3 if "float" in name else 1e-6
        np.testing.assert_allclose(found[where], wanted[where], tolerance, tolerance)
