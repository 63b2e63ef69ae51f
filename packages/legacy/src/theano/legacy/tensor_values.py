"""Ops and numbers that older modules of the tensor layer held under a name: instances, groups of classes."""

from __future__ import annotations

import numpy as np

from theano.graph.enum_type import EnumList
from theano.legacy.diagonals import DiagonalSubtensor, IncDiagonalSubtensor
from theano.tensor.elemwise import All, Any, CAReduce, Elemwise, Prod, ProdWithoutZeros, Sum
from theano.tensor.nnet.activation import scalar_ultra_fast_sigmoid

diagonal_subtensor = DiagonalSubtensor(False)
inc_diagonal_subtensor = IncDiagonalSubtensor(False)
ultra_fast_sigmoid_inplace = Elemwise(scalar_ultra_fast_sigmoid, {0: 0}, name="ultra_fast_sigmoid_inplace")

ALL_REDUCE = [CAReduce, All, Any, Sum, Prod, ProdWithoutZeros]

#: How windows are pooled, as C has it.
PoolingMode_t = EnumList(
    ("POOLING_MAX", "max"), ("POOLING_SUM", "sum"), ("POOLING_AVERAGE_COUNT_INCLUDE_PADDING", "average_inc_pad"),
    ("POOLING_AVERAGE_COUNT_EXCLUDE_PADDING", "average_exc_pad"),
)  # fmt: skip

#: Masks and a factor of the generator MRG31k3p (P. L'Ecuyer, R. Touzin, Proc. Winter Simulation Conf., 2000).
MASK12, MASK13, MASK2, MULT2 = np.int32(2**9 - 1), np.int32(2**24 - 1), np.int32(2**16 - 1), np.int32(21069)
np_int32_vals = [np.int32(number) for number in (0, 7, 9, 15, 16, 22, 24)]
