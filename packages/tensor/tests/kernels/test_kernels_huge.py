"""Arrays past 2^28, 2^31 and 2^32 elements: what 32 bits, or the number of a block, can no longer count.

Not among the regular tests: ``nox -s huge``, or SIZES=huge. What the machine has no memory for is skipped.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from kernel_harness import call, run
from kernel_toys import Toy
from test_kernels_elemwise import elemwise_node
from test_kernels_order import sort
from test_kernels_reduce import argmax_node, reduction

import theano.scalar as ts
from theano.tensor.elemwise.lowering import elemwise_kernel
from theano.tensor.index import lowering as index
from theano.tensor.reduce.lowering import careduce_kernel
from theano.tensor.reduce.lowering_argmax import argmax_kernel, argmin_kernel
from theano.tensor.shape import lowering as layout
from theano.tensor.sort import lowering as order

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.environ.get("SIZES") != "huge", reason="gigabytes: SIZES=huge")]
SIZES = [(1 << 28) + 70_001, (1 << 31) + 3, (1 << 32) + 65_537]
MARGIN = 2 << 30
"""Bytes that are left to everybody else."""


def needs(count: int, width: int = 1) -> None:
    """Skip the test unless there is memory for so many elements."""
    info = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    free, wanted = int(info["MemAvailable"].split()[0]) << 10, count * width
    if free < wanted + MARGIN:
        pytest.skip(f"{wanted / 2**30:.1f} GiB are needed, {free / 2**30:.1f} GiB are free")


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", ["int8", "bool", "uint8", "int16", "uint16", "uint32", "float32"])
def test_argmax(n, dtype):
    needs(n, np.dtype(dtype).itemsize)
    x = np.zeros(n, dtype)
    signed = np.dtype(dtype).kind in "if"
    for axes, shape in (((0,), (n,)), ((1,), (1, n)), ((0, 1), (n // 3, 3))):
        made = argmax_node(dtype, axes, len(shape))
        kernel = argmax_kernel(made.op, made)
        lowest = argmin_kernel(made.op, made)
        for place in (n - 2, n // 2 + 1, 1 << 28, 5):
            if place < int(np.prod(shape)):
                at = x[: int(np.prod(shape))].reshape(shape)
                x[place] = 1
                value, found = run(kernel, made, [at])
                assert (value.item(), found.item()) == (1, place)
                if signed:
                    x[place] = -1
                    value, found = run(lowest, made, [at])
                    assert (value.item(), found.item()) == (-1, place)
                x[place] = 0


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype, acc", [("uint8", "uint64"), ("int8", "int64"), ("bool", "int64"), ("float32", "float64")])
def test_sums(n, dtype, acc):
    """One in each element: the sum counts them."""
    needs(n, np.dtype(dtype).itemsize)
    x = np.ones(n, dtype)
    for axes, shape, want in (((0,), (n,), n), ((0,), (n // 2, 2), n // 2), ((1,), (2, n // 2), n // 2)):
        made = reduction("add", dtype, acc, acc, axes, len(shape))
        kernel = careduce_kernel(made.op, made)
        assert (run(kernel, made, [x[: int(np.prod(shape))].reshape(shape)])[0] == want).all()


@pytest.mark.parametrize("n", SIZES[:2])
def test_copies_places_and_order(n):
    needs(n, 5)
    x = np.zeros(n, "int8")
    marks = [0, 1 << 28, n - 3, n - 1]
    x[marks] = [1, 2, 3, 4]
    assert call(index.nonzero_kernel, Toy(), [x], ("int64", 1))[0].tolist() == marks
    places = np.array([*marks, -1, -n])
    assert call(index.advanced_subtensor_kernel, Toy(), [x, places], ("int8", 1))[0].tolist() == [1, 2, 3, 4, 4, 1]
    turned = call(layout.copy_kernel, Toy(), [x[::-1]], ("int8", 1))[0]
    assert turned.nonzero()[0].tolist() == sorted(n - 1 - m for m in marks)
    del turned
    total = call(order.cumulate_kernel, Toy(axis=0, mode="add"), [x], ("int8", 1))[0]
    assert total[[marks[1] - 1, marks[1], n - 4, n - 2, n - 1]].tolist() == [1, 3, 3, 6, 10]
    del total
    made = elemwise_node(ts.add, [x, x])
    doubled = run(elemwise_kernel(made.op, made), made, [x, x])[0]
    assert doubled[marks].tolist() == [2, 4, 6, 8] and np.count_nonzero(doubled) == 4
    del doubled
    ordered = call(sort, Toy(kind="quicksort"), [x, np.array(0)], ("int8", 1))[0]
    assert ordered[-5:].tolist() == [0, 1, 2, 3, 4]
    values = np.array([0, 1, 2, 4, 5], "int8")
    assert call(order.searchsorted_kernel, Toy(side="left"), [ordered, values], ("int64", 1))[0].tolist() == [0, n - 4, n - 3, n - 1, n]
