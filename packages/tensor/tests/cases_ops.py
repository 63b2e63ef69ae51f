"""Ops that the table of expressions does not reach: those that rules make, those of integers, those known by class.

Each case names an op (or a form of one) rather than a public function; the proofs of ``test_cases.py`` and
``test_every_op.py`` run over both tables.
"""

from __future__ import annotations

import numpy as np
import scipy.special as sp
from cases import Case

import theano.tensor as T
from theano import scalar as scal
from theano.tensor import fft
from theano.tensor.blas import routines
from theano.tensor.control.checks import Assert, CheckedLength, CheckedShape
from theano.tensor.control.default import default
from theano.tensor.conv import reference
from theano.tensor.conv.conv_elemwise import ConvElemwise
from theano.tensor.conv.op import (
    AbstractConv2d,
    AbstractConv2d_gradInputs,
    AbstractConv2d_gradWeights,
    AbstractConv3d,
)
from theano.tensor.conv.products import (
    Corr3dMM,
    Corr3dMM_gradInputs,
    Corr3dMM_gradWeights,
    CorrMM,
    CorrMM_gradInputs,
    CorrMM_gradWeights,
)
from theano.tensor.create.arange import ARangeLength
from theano.tensor.elemwise.numbers import ElemwiseOfNumbers
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.elemwise.scalars import mul_without_zeros
from theano.tensor.index.chain import SubtensorChain
from theano.tensor.nnet.activation import ultra_fast_sigmoid
from theano.tensor.nnet.blocksparse import SparseBlockGemv, SparseBlockOuter
from theano.tensor.nnet.classes import Prepend_scalar_constant_to_each_row, Prepend_scalar_to_each_row
from theano.tensor.nnet.ctc import ConnectionistTemporalClassification
from theano.tensor.nnet.neighbours import Images2Neibs
from theano.tensor.nnet.normalization import (
    AbstractBatchNormInference,
    AbstractBatchNormTrain,
    AbstractBatchNormTrainGrad,
)
from theano.tensor.pool.op import MaxPoolRop, Pool
from theano.tensor.reduce.careduce import (
    CAReduce,
    CAReduceDtype,
    Max,
    Min,
    Prod,
    ProductOfOthers,
    ProdWithoutZeros,
    Sum,
)
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.reduce.map_reduce import MapReduce, MapReduceOfNumbers
from theano.tensor.shape.scalars import scalar_from_tensor, tensor_from_scalar
from theano.tensor.xlogx import xlogy0

m, v, t3 = (3, 4), (4,), (2, 3, 4)
apart = np.array([[0.1, 1.2, -0.7, 2.0], [0.3, -1.1, 0.9, -1.9], [1.5, 0.6, -0.2, 0.8]])


def terms(x, y):
    """A scalar op of two outputs."""
    a, b = scal.float64("a"), scal.float64("b")
    return MapReduce(scal.Composite([a, b], [a * b, scal.exp(a)]), [Sum(1), Max(1)])(x, y)


STRIDED = {"border_mode": (1, 0), "subsample": (2, 1), "num_groups": 2}
image, kernel, output = (2, 4, 5, 3), (4, 2, 2, 2), (2, 4, 3, 2)


def spectrum(x):
    found = np.fft.rfftn(x, axes=tuple(range(1, x.ndim)))
    return np.stack([found.real, found.imag], axis=-1)


def inner(x, g):
    return tuple(a - b + 1 for a, b in zip(x.shape[2:], g.shape[2:], strict=True))


def outer(w, g):
    return tuple(a + b - 1 for a, b in zip(w.shape[2:], g.shape[2:], strict=True))


OP_CASES = [
    # convolutions
    Case("Conv2d", AbstractConv2d(**STRIDED), lambda x, w: reference.forward(AbstractConv2d(**STRIDED).geometry, x, w), (image, kernel)),
    Case("Conv2d_full", AbstractConv2d(border_mode="full", filter_flip=False), lambda x, w: reference.forward(AbstractConv2d(border_mode="full", filter_flip=False).geometry, x, w), ((2, 3, 3, 2), (2, 3, 2, 1))),
    Case("Conv2d_gradWeights", lambda x, g: AbstractConv2d_gradWeights(**STRIDED)(x, g, [2, 2]), lambda x, g: reference.grad_weights(AbstractConv2d(**STRIDED).geometry, x, g, (2, 2)), (image, output)),
    Case("Conv2d_gradInputs", lambda w, g: AbstractConv2d_gradInputs(**STRIDED)(w, g, [5, 3]), lambda w, g: reference.grad_inputs(AbstractConv2d(**STRIDED).geometry, w, g, (5, 3)), (kernel, output)),
    Case("Conv2d_unshared", AbstractConv2d(unshared=True), lambda x, w: reference.forward(AbstractConv2d(unshared=True).geometry, x, w), ((2, 2, 3, 3), (2, 2, 2, 2, 2, 2))),
    Case("ConvElemwise", lambda x, w: ConvElemwise(AbstractConv2d(**STRIDED), scal.mul)(x, w, T.constant(np.arange(4.0).reshape(1, 4, 1, 1))), lambda x, w: reference.forward(AbstractConv2d(**STRIDED).geometry, x, w) * np.arange(4.0).reshape(1, 4, 1, 1), (image, kernel), False),
    Case("Conv3d", AbstractConv3d(filter_dilation=(1, 2, 1)), lambda x, w: reference.forward(AbstractConv3d(filter_dilation=(1, 2, 1)).geometry, x, w), ((1, 2, 2, 4, 3), (3, 2, 2, 2, 2))),
    Case("CorrMM", CorrMM(**STRIDED), lambda x, w: reference.forward(CorrMM(**STRIDED).geometry, x, w), (image, kernel)),
    Case("CorrMM_gradWeights", lambda x, g: CorrMM_gradWeights(**STRIDED)(x, g, [2, 2]), lambda x, g: reference.grad_weights(CorrMM(**STRIDED).geometry, x, g, (2, 2)), (image, output)),
    Case("CorrMM_gradInputs", lambda w, g: CorrMM_gradInputs(**STRIDED)(w, g, [5, 3]), lambda w, g: reference.grad_inputs(CorrMM(**STRIDED).geometry, w, g, (5, 3)), (kernel, output)),
    Case("Corr3dMM", Corr3dMM("half"), lambda x, w: reference.forward(Corr3dMM("half").geometry, x, w), ((1, 2, 2, 3, 1), (1, 2, 1, 3, 1))),
    Case("Corr3dMM_gradWeights", lambda x, g: Corr3dMM_gradWeights()(x, g, x.shape[2:] - g.shape[2:] + 1), lambda x, g: reference.grad_weights(Corr3dMM().geometry, x, g, inner(x, g)), ((1, 2, 2, 3, 1), (1, 1, 2, 2, 1))),
    Case("Corr3dMM_gradInputs", lambda w, g: Corr3dMM_gradInputs()(w, g, w.shape[2:] + g.shape[2:] - 1), lambda w, g: reference.grad_inputs(Corr3dMM().geometry, w, g, outer(w, g)), ((1, 2, 1, 2, 1), (1, 1, 2, 2, 1))),
    Case("SubtensorChain", lambda x: SubtensorChain([[slice(scal.int64, None, scal.int64)], [scal.int64, slice(None, scal.int64)]])(x, *np.int64([-3, 2, -1, 2])), lambda x: x[-3::2][-1, :2], ((4, 3),)),
    # networks
    Case("Images2Neibs", lambda x: Images2Neibs("ignore_borders")(x, (2, 1), (1, 2)), lambda x: np.array([c[i : i + 2, j] for n in x for c in n for i in range(x.shape[2] - 1) for j in range(0, x.shape[3], 2)]).reshape(-1, 2), ((1, 2, 3, 4),)),
    Case("SparseBlockGemv", lambda o, w, h: SparseBlockGemv()(o, w, h, [[1, 0]], [[0]]), lambda o, w, h: o + (h[:, :1] @ w[1, 0] + h[:, 1:] @ w[0, 0]), ((1, 1, 3), (2, 1, 2, 3), (1, 2, 2))),
    Case("SparseBlockOuter", lambda o, x, y: SparseBlockOuter()(o, x, y, [[1]], [[0]], 2.0), lambda o, x, y: o + 2 * np.array([0, 1]).reshape(2, 1, 1, 1) * x[0, 0][:, None] * y[0, 0], ((2, 1, 2, 3), (1, 1, 2), (1, 1, 3))),
    Case("BatchNormTrain", lambda x, s, b: AbstractBatchNormTrain((0,))(x, s, b)[0], lambda x, s, b: (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-4) * s + b, (apart, (1, 4), (1, 4))),
    Case("BatchNormTrainGrad", lambda x, g, s, c, i: AbstractBatchNormTrainGrad((0,))(x, g, s, c, i)[0], lambda x, g, s, c, i: (g - g.mean(0) - (x - c) * i * i * (g * (x - c)).mean(0)) * s * i, (apart, m, (1, 4), (1, 4), (1, 4))),
    Case("BatchNormInference", lambda x, s, b, c, v: AbstractBatchNormInference((0,))(x, s, b, c, T.sqr(v)), lambda x, s, b, c, v: (x - c) / np.sqrt(v * v + 1e-4) * s + b, (m, (1, 4), (1, 4), (1, 4), 1 + np.arange(4.0)[None])),
    Case("Prepend_scalar_to_each_row", Prepend_scalar_to_each_row(), lambda s, x: np.c_[np.full(len(x), s), x], ((), m)),
    Case("Prepend_scalar_constant_to_each_row", Prepend_scalar_constant_to_each_row(3), lambda x: np.c_[np.full(len(x), 3.0), x], (m,)),
    Case("ctc", lambda x: ConnectionistTemporalClassification()(x, [[1]], [2]), lambda x: -np.log(((p := np.exp(x[:2, 0]) / np.exp(x[:2, 0]).sum(1, keepdims=True))[0, 0] + p[0, 1]) * p[1, 1] + p[0, 1] * p[1, 0])[None], ((3, 1, 3),), False),
    # products with a sum
    Case("Dot22Scalar", routines.Dot22Scalar(), lambda x, y, a: a * (x @ y), (m, (4, 5), ())),
    Case("Gemm", routines.Gemm(), lambda z, a, x, y, b: b * z + a * (x @ y), ((3, 5), (), m, (4, 5), ())),
    Case("Gemv", routines.Gemv(), lambda y, a, x, z, b: b * y + a * (x @ z), ((3,), (), m, v, ())),
    Case("Ger", routines.Ger(), lambda z, a, x, y: z + a * np.outer(x, y), (m, (), (3,), v)),
    # reductions by scalar op
    Case("CAReduce_add", CAReduce(scal.add, 1), lambda x: x.sum(1), (t3,)),
    Case("CAReduce_mul", CAReduce(scal.mul, (0, 2)), lambda x: x.prod((0, 2)), (t3,)),
    Case("CAReduce_maximum", CAReduce(scal.maximum, 0), lambda x: x.max(0), (m,)),
    Case("CAReduceDtype_add", CAReduceDtype(scal.add, 0), lambda x: x.sum(0), (m,)),
    Case("CAReduceDtype_mul", CAReduceDtype(scal.mul), lambda x: x.prod(), (m,)),
    Case("CAReduce_xor", CAReduce(scal.xor, 0), lambda k: np.bitwise_xor.reduce(k, 0), (np.arange(12).reshape(3, 4),), False),
    Case("Max", Max((0, 2)), lambda x: x.max((0, 2)), (t3,)),
    Case("Min", Min(1), lambda x: x.min(1), (m,)),
    Case("Sum_float32", lambda x: Sum(0)(T.cast(x, "float32")), lambda x: x.astype("f").sum(0, dtype="d").astype("f"), (m,), False),
    Case("Prod", Prod(1), lambda x: x.prod(1), (t3,)),
    Case("ProdWithoutZeros", ProdWithoutZeros(0), lambda x: np.where(x == 0, 1, x).prod(0), (m,)),
    Case("ProductOfOthers", lambda x: ProductOfOthers((0,))(x, x.prod(axis=0, keepdims=True)), lambda x: x.prod(0) / x, (m,)),
    Case("LogSumExp", LogSumExp((0, 2)), lambda x: sp.logsumexp(x, (0, 2)), (t3,)),
    Case("MapReduce_sum", lambda x, y: terms(x, y)[0], lambda x, y: (x * y).sum(1), (m, m), False),
    Case("MapReduceOfNumbers", MapReduceOfNumbers(scal.mul, [Sum(1)]), lambda x, s: (x * s).sum(1), (m, ()), False),
    Case("MapReduce_max", lambda x, y: terms(x, y)[1], lambda x, y: np.exp(x).max(1), (m, m), False),
    Case("var_of_few", lambda x: x.var(axis=0, ddof=4), lambda x: x.var(axis=0, ddof=2) * np.inf, (m,), False),
    # element-wise ops with a class of their own
    Case("ElemwiseOfNumbers", ElemwiseOfNumbers(scal.mul), lambda x, s: x * s, (m, ())),
    Case("MulWithoutZeros", Elemwise(mul_without_zeros), lambda x, y: x * y, (m, v)),
    Case("ultra_fast_sigmoid", ultra_fast_sigmoid, lambda x: 0.5 * (1 + np.sign(x) * np.select(
        [abs(x) / 2 < 1.7, abs(x) / 2 < 3], [0.75 * abs(x) / (1 + abs(x) / 2), 0.935409070603099 + 0.0458812946797165 * (abs(x) / 2 - 1.7)], 0.99505475368673)),
        (m,), False),
    Case("xlogy0", xlogy0, lambda x, y: x * np.log(y), ((m, 0.1, 3), (m, 0.1, 3))),
    # between scalars and tensors; what hands its input on
    Case("ScalarFromTensor", lambda x: tensor_from_scalar(scal.exp(scalar_from_tensor(x))), np.exp, ((),)),
    Case("TensorFromScalar_constant", lambda x: tensor_from_scalar(scal.constant(2.5)) * x, lambda x: 2.5 * x, (m,)),
    Case("ARangeLength", lambda j, k: ARangeLength()(j, k, 3) + 0 * j, lambda j, k: len(range(int(j), int(k), 3)), (np.array(2), np.array(12)), False),
    Case("CheckedShape", lambda x: CheckedShape("long enough")(x, x.shape[0] > 2), lambda x: x, (m,)),
    Case("CheckedLength", lambda k: CheckedLength("not long")(k, T.ge(k, 0)), lambda k: k, (np.array(3),), False),
    Case("Assert", lambda x: Assert("long enough")(x, x.shape[0] > 2), lambda x: x, (m,)),
    Case("Default", lambda x: default(x, T.zeros_like(x)), lambda x: x, (m,), False),
    # whole numbers
    Case("searchsorted", lambda k: T.extra_ops.searchsorted(T.constant([1.0, 2.0, 5.0]), k), lambda k: np.searchsorted([1.0, 2.0, 5.0], k), (apart,), False),
    Case("unravel", lambda k: T.stack(T.unravel_index(k, (3, 4))), lambda k: np.stack(np.unravel_index(k, (3, 4))), (np.array([0, 5, 11]),), False),
    Case("ravel_multi", lambda i, j: T.ravel_multi_index((i, j), (3, 4)), lambda i, j: np.ravel_multi_index((i, j), (3, 4)), (np.array([0, 1, 2]), np.array([3, 1, 0])), False),
    Case("ravel_multi_wide", lambda i, j: T.ravel_multi_index((i.dimshuffle(0, "x"), j), (3, 4)), lambda i, j: np.ravel_multi_index((i[:, None], j), (3, 4)), (np.array([0, 1, 2]), np.array([3, 1])), False),
    Case("unique", lambda k: T.extra_ops.Unique()(k), np.unique, (np.array([3, 1, 3, 2]),), False),
    Case("unique_inverse", lambda k: T.extra_ops.Unique(return_inverse=True)(k)[1], lambda k: np.unique(k, return_inverse=True)[1].ravel(), (np.array([[3, 1], [3, 2]]),), False),
    Case("Bincount", lambda k: T.bincount(k, minlength=9), lambda k: np.bincount(k, minlength=9), (np.array([3, 1, 3]),), False),
    Case("Bincount_weights", lambda k, w: T.bincount(k, w), lambda k, w: np.bincount(k, w), (np.array([3, 1, 3, 0]), v)),
    Case("argtopk", lambda x: T.argtopk(x, 2), lambda x: np.argsort(-x)[:, :2], (apart,), False),
    Case("MultinomialOneHot", lambda k: T.extra_ops.to_one_hot(k, 5), lambda k: np.eye(5)[k], (np.array([3, 0, 4]),), False),
    # pooling
    Case("Pool", lambda x: Pool(True)(x, (2, 2)), lambda x: x[:2].max(axis=0).reshape(2, 2).max(axis=1)[None], (apart,)),
    Case("Pool_mean", lambda x: Pool(True, "average_inc_pad")(x, (1, 2)), lambda x: x.reshape(3, 2, 2).mean(axis=2), (m,)),
    Case("MaxPoolRop", lambda x, y: MaxPoolRop(True)(x, y, (1, 4)), lambda x, y: np.take_along_axis(y, x.argmax(axis=1)[:, None], 1), (apart, m)),
    # Fourier transforms
    Case("RFFTOp", lambda x: fft.rfft_op(x), spectrum, (t3,)),
    Case("IRFFTOp", lambda x: fft.irfft(x), lambda x: np.fft.irfftn(x[..., 0] + 1j * x[..., 1], axes=(1,)), ((2, 3, 2),)),
]  # fmt: skip
