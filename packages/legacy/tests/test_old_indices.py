"""What older programs ask about an index: what it selects, of which kinds its entries are, and what it may not hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracle import run

import theano
import theano.tensor as T
from theano.tensor.index.lengths import slice_length

X = np.random.default_rng(0).normal(size=(3, 4))

INDEXES = [
    (), (0,), (-1,), (slice(None),), (slice(1, None), 0), (None, 0), (slice(None, None, -2), None, slice(5, 1, -1)),
    ([0, 1],), (slice(None), [0, 1, 1]), ([0, 1], [1, 2]), ([0, 1], slice(None), [1, 2]), (0, slice(None), [1, 2]),
    ([[0], [1]], [0, 1, 2]), (None, [0, 1], None), (slice(None), [[0, 1]], 0),
]  # fmt: skip


@pytest.mark.parametrize("index", INDEXES, ids=str)
def test_lengths_of_what_an_index_selects(index):
    expected = np.empty((4, 5, 6))[tuple(index)].shape
    n = T.lscalar("n")
    lengths = T.indexed_result_shape((n, 5, 6), index)
    assert tuple(int(k.eval({n: 4}) if n in theano.graph.traverse.inputs([k]) else k.eval()) for k in lengths) == expected
    vector = T.indexed_result_shape(T.constant([4, 5, 6]), index)
    assert tuple(int(k.eval()) for k in vector) == expected
    if all(T.is_basic_idx(i) for i in index):
        assert tuple(int(k.eval()) for k in T.basic_shape((4, 5, 6), index)) == expected
    else:
        with pytest.raises(ValueError, match="indexed_result_shape"):
            T.basic_shape((4, 5, 6), index)
        shapes = [np.shape(i) if isinstance(i, list) else i for i in index]
        by_shape = T.indexed_result_shape((4, 5, 6), shapes, indices_are_shapes=True)
        assert tuple(int(k.eval()) for k in by_shape) == expected


def test_lengths_of_slices_and_ranges():
    a, b, c = T.lscalars("a", "b", "c")
    count = theano.function([a, b, c], T.range_len(slice(a, b, c)))
    part = theano.function([a, b, c], T.slice_len(slice(a, b, c), 7))
    for start in range(-9, 10, 3):
        for stop in range(-9, 10, 2):
            for step in (-3, -1, 1, 2, 5):
                assert count(start, stop, step) == len(range(start, stop, step))
                assert part(start, stop, step) == len(range(7)[start:stop:step])
    assert count(0, 5, 0) == 0


def test_kinds_of_entries():
    i, v, mask = T.lscalar("i"), T.lvector("v"), T.TensorType("bool", (False,))("mask")
    entries = [0, np.int8(1), slice(None), None, i, theano.scalar.int64(), True, [0], v, mask, np.zeros(2, int), T.dscalar()]
    assert [T.is_basic_idx(e) for e in entries] == [True] * 6 + [False] * 6
    assert T.group_indices((0, None, v, mask, slice(1))) == [
        (True, [(0, 0), (1, None)]), (False, [(1, v), (2, mask)]), (True, [(3, slice(None, 1))]),
    ]  # fmt: skip
    constants = T.make_constant((1, slice(None, 2), i, None))
    assert constants[0].data == 1 and constants[1].stop.data == 2 and constants[2] is i and constants[3] is None
    assert T.as_index_constant([1, 2]).data.tolist() == [1, 2] and T.as_index_constant(v) is v


def test_masks_and_too_many_entries_are_refused():
    x = T.dmatrix("x")
    for entry in (True, np.bool_(False), np.zeros(2, bool), [0, [True]], T.eq(x, 0)):
        with pytest.raises(T.AdvancedBooleanIndexingError, match="mask.nonzero"):
            T.check_and_reject_bool(entry)
    T.check_and_reject_bool([0, [1, 2], x])
    T.check_advanced_indexing_dimensions(x, (0, None, slice(None)))
    T.check_advanced_indexing_dimensions(x, (T.eq(x, 0),))
    T.check_advanced_indexing_dimensions(T.constant(X), (np.ones((3, 4), bool),))
    for index in ((0, 0, 0), (np.ones((2, 2), bool), 0), (T.eq(x, 0), slice(None))):
        with pytest.raises(IndexError, match="too many indices for array: x has 2 dimensions, but 3 are indexed"):
            T.check_advanced_indexing_dimensions(x, index)
    with pytest.raises(IndexError, match="dimension 1; dimension is 4 but corresponding boolean dimension is 5"):
        T.check_advanced_indexing_dimensions(T.constant(X), (np.ones((3, 5), bool),))


@pytest.mark.parametrize("step", [None, 2, -1, -3])
def test_canonical_slices_of_numbers_and_of_symbols(step):
    """How many elements, and which ones in canonical form: ends before, at and behind both ends of the axis."""
    n, names = T.lscalar("n"), T.lscalars("start", "stop", "step")
    ends = (None, -3, -1, 0, 2)
    for start, stop in itertools.product(ends, ends):
        numbers = (start, stop, step)
        symbols = tuple(v if v is None else s for v, s in zip(numbers, names, strict=True))
        for form in (slice(*numbers), slice(*symbols)):
            canonical, direction = T.get_canonical_form_slice(form, n)
            outputs = [slice_length(form, n), canonical.start, canonical.stop, canonical.step, direction]
            given = dict(zip(names, (v or 0 for v in numbers), strict=True))
            for length in (0, 2, 5):
                count, *found = (int(v) for v in run([T.as_tensor_variable(v) for v in outputs], {**given, n: length}))
                values = list(range(length))
                wanted = values[start:stop:step]
                assert count == len(wanted), (form, length)
                assert min(found[:2]) >= 0 and found[2] > 0, (form, length, found)
                assert values[slice(*found[:3])][:: found[3]] == wanted, (form, length, found)


def test_canonical_numbers():
    """A whole number counts from the front afterwards, and there is nothing to turn round."""
    values, i, n = np.arange(5), T.iscalar("i"), T.lscalar("n")
    for number in range(-5, 5):
        for index, length in itertools.product((number, i, T.constant(number)), (5, n)):
            canonical, direction = T.get_canonical_form_slice(index, length)
            place = int(run(T.as_tensor_variable(canonical), {i: number, n: 5}))
            assert place >= 0 and values[place] == values[number] and direction == 1
            assert index is i or number < 0 or canonical is index
