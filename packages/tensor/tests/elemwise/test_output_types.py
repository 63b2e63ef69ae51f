"""The type of what an element-wise operation returns is found once for the types of its inputs, and stays what it would be."""

from __future__ import annotations

import itertools

import pytest

import theano
import theano.scalar as scal
import theano.tensor as T
from theano.tensor.elemwise.op import Elemwise

OPS = [op for op in vars(T).values() if isinstance(op, Elemwise) and isinstance(op.scalar_op, scal.DefinedOp)]
VECTORS = {dtype: T.vector("v", dtype) for dtype in ("int8", "float16", "float32", "float64", "complex64")}
MATRICES = {dtype: T.col("m", dtype) for dtype in VECTORS}


def types(op, inputs):
    try:
        return [v.type for v in op.make_node(*inputs).outputs]
    except TypeError:
        return TypeError


@pytest.mark.parametrize("op", OPS, ids=str)
def test_twice_the_same_type(op):
    for dtypes in itertools.product(VECTORS, repeat=max(op.nin, 2) if op.nin < 0 else op.nin):
        for kinds in ({0: VECTORS}, {0: MATRICES}):
            inputs = [kinds.get(k, kinds[0])[dtype] for k, dtype in enumerate(dtypes)]
            first = types(op, inputs)
            assert types(op, inputs) == first
            if first is not TypeError:
                dtypes_found, patterns, _ = op.get_output_info(None, *inputs)
                assert [(t.dtype, list(t.broadcastable)) for t in first] == list(
                    zip(dtypes_found, patterns, strict=True)
                )


def test_a_flag_still_decides_about_whole_numbers():
    i, found = T.bvector("i"), []
    for name in ("float32", "float64", "float32"):
        with theano.config.change_flags(floatX=name):
            found.append(T.true_div(i, i).dtype)
    assert found == ["float32", "float64", "float32"]


def test_a_class_of_its_own_is_asked_each_time():
    class Counted(Elemwise):
        asked = 0

        def get_output_info(self, dim_shuffle, *inputs):
            type(self).asked += 1
            return super().get_output_info(dim_shuffle, *inputs)

    op, x = Counted(scal.add), T.dvector("x")
    T.add(x, x)
    op(x, x), op(x, x)
    assert Counted.asked == 2


def test_dimensions_are_still_added():
    m, v = T.dmatrix("m"), T.dvector("v")
    for _ in range(2):
        assert [x.type.ndim for x in (m + v).owner.inputs] == [2, 2]
