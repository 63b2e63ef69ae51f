"""Wrong input to every op: an error of the right kind, that says what is wrong; the same in Python and compiled."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import run

import theano
import theano.tensor as T
from theano import scalar as scal
from theano.graph import Op
from theano.ifelse import ifelse
from theano.tensor import nnet
from theano.tensor.blas import routines
from theano.tensor.control.checks import CheckedLength, CheckedShape
from theano.tensor.conv.op import (
    AbstractConv2d,
    AbstractConv2d_gradInputs,
    AbstractConv2d_gradWeights,
    AbstractConv3d,
    AbstractConv3d_gradInputs,
    AbstractConv3d_gradWeights,
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
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.index.chain import SubtensorChain
from theano.tensor.linalg.determinant import Adjugate, AdjugateAlong
from theano.tensor.linalg.gradients import CholeskyGrad, EighGrad, EigvalshGrad, ExpmGrad
from theano.tensor.linalg.hints import Hint
from theano.tensor.nnet import normalization as bn
from theano.tensor.nnet.blocksparse import SparseBlockGemv, SparseBlockOuter
from theano.tensor.nnet.classes import Prepend_scalar_constant_to_each_row, Prepend_scalar_to_each_row
from theano.tensor.nnet.ctc import ctc
from theano.tensor.nnet.neighbours import Images2Neibs
from theano.tensor.pool.op import AveragePoolGrad, DownsampleFactorMaxGradGrad, MaxPoolGrad, MaxPoolRop, Pool
from theano.tensor.reduce.careduce import ProductOfOthers
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.rows.op import MapRows, map_rows
from theano.tensor.sort.cumulative import LinearRecurrence

nlinalg, slinalg = T.nlinalg, T.slinalg
m, n, v, w, s = T.dmatrix("m"), T.dmatrix("n"), T.dvector("v"), T.dvector("w"), T.dscalar("s")
i, j, t3, z = T.lvector("i"), T.lscalar("j"), T.dtensor3("t3"), T.zmatrix("z")
flag, thing = T.TensorType("bool", (False,))("flag"), theano.generic("thing")
of_a_slice = SubtensorChain([[slice(scal.int64, None)], [scal.int64]])
M, N, V, W, I, T3 = np.ones((3, 4)), np.ones((4, 3)), np.ones(5), np.ones(4), np.array([0, 2]), np.ones((2, 3, 4))
x4, y4, x5, y5 = T.dtensor4("x4"), T.dtensor4("y4"), T.dtensor5("x5"), T.dtensor5("y5")
X4, Y4, X5, Y5 = np.ones((2, 4, 5, 3)), np.ones((4, 2, 2, 2)), np.ones((2, 4, 5, 3, 1)), np.ones((4, 2, 2, 2, 1))
SINGULAR, INDEFINITE = np.ones((3, 3)), np.eye(3) - 2
LinAlgError = np.linalg.LinAlgError
cross, softmax_cross = nnet.crossentropy_categorical_1hot, nnet.crossentropy_softmax_1hot_with_bias

#: For each class of ops: what cannot be built, and what it says.
AT_BUILD = {
    "Adjugate": [(lambda: Adjugate()(v), TypeError, "must be a matrix")],
    "AdjugateAlong": [(lambda: AdjugateAlong()(m, v), TypeError, "must be a matrix")],
    "AbstractBatchNormInference": [(lambda: bn.AbstractBatchNormInference()(m, m, m, m, v), TypeError, "(?s)estimated_variance must have 2 dim.*v : float64, 1-d")],
    "AbstractBatchNormTrain": [
        (lambda: bn.AbstractBatchNormTrain((2,))(m, m, m), ValueError, "(?s)axis 2 is out of range.*m : float64, 2-d"),
        (lambda: bn.AbstractBatchNormTrain(())(m, m, m), ValueError, "axes must be numbers from 0, one at least"),
        (lambda: bn.AbstractBatchNormTrain()(m, m, v), TypeError, "(?s)bias must have 2 dim.*v : float64, 1-d"),
        (lambda: bn.AbstractBatchNormTrain()(m, m, m, running_var=m), ValueError, "given both, or neither is"),
    ],
    "AbstractBatchNormTrainGrad": [(lambda: bn.AbstractBatchNormTrainGrad()(m, v, m, m, m), TypeError, "(?s)dy must have 2 dim")],
    "ConnectionistTemporalClassification": [
        (lambda: ctc(m, m, i), TypeError, "(?s)activations must be floats in 3 dim.*m : float64, 2-d"),
        (lambda: ctc(t3, m, i), TypeError, "(?s)labels must be whole numbers in 2 dim"),
        (lambda: ctc(t3, T.lmatrix(), v), TypeError, "(?s)input_lengths must be whole numbers in 1 dim"),
    ],
    "Images2Neibs": [
        (lambda: Images2Neibs("x"), NotImplementedError, "valid, half, full, wrap_centered, ignore_borders, not 'x'"),
        (lambda: Images2Neibs()(m, (2, 2)), TypeError, "(?s)images must be a tensor of 4 dim.*m : float64, 2-d"),
        (lambda: Images2Neibs()(x4, v), TypeError, "(?s)neib_shape must be two whole numbers.*v : float64, 1-d"),
    ],
    "Prepend_scalar_constant_to_each_row": [(lambda: Prepend_scalar_constant_to_each_row()(v), TypeError, "(?s)input 0 must have 2 dim")],
    "Prepend_scalar_to_each_row": [(lambda: Prepend_scalar_to_each_row()(v, m), TypeError, "(?s)input 0 must have 0 dim")],
    "SparseBlockGemv": [
        (lambda: SparseBlockGemv()(m, x4, t3, i, i), TypeError, "(?s)o must have 3 dim.*m : float64, 2-d"),
        (lambda: SparseBlockGemv()(t3, x4, t3, m, m), TypeError, "(?s)inputIdx must be whole numbers.*m : float64, 2-d"),
    ],
    "SparseBlockOuter": [(lambda: SparseBlockOuter()(x4, t3, m, i, i), TypeError, "(?s)y must have 3 dim.*m : float64, 2-d")],
    "AbstractConv2d": [
        (lambda: AbstractConv2d()(m, x4), TypeError, "(?s)img must be a tensor of 4 dimensions.*m : float64, 2-d"),
        (lambda: AbstractConv2d(border_mode="x"), ValueError, "invalid border_mode 'x'; it must be"),
        (lambda: AbstractConv2d(border_mode=-1), ValueError, "padding is 0 or more"),
        (lambda: AbstractConv2d(num_groups=0), ValueError, "num_groups is 0"),
        (lambda: AbstractConv2d(subsample=(0, 1)), ValueError, r"subsample \(0, 1\): each"),
    ],
    "AbstractConv2d_gradInputs": [
        (lambda: AbstractConv2d_gradInputs()(x4, m, [2, 2]), TypeError, "(?s)topgrad must be a tensor of 4.*m : float64, 2-d"),
        (lambda: AbstractConv2d_gradInputs()(x4, x4, s), TypeError, "(?s)a vector of 2 integers.*s : float64, 0-d"),
    ],
    "AbstractConv3d": [(lambda: AbstractConv3d()(x4, x5), TypeError, "(?s)img must be a tensor of 5.*x4 : float64, 4-d")],
    "CorrMM": [(lambda: CorrMM()(m, x4), TypeError, "(?s)img must be a tensor of 4.*m : float64, 2-d")],
    "Pool": [
        (lambda: Pool()(m), ValueError, "ws, the size of the windows, must be given"),
        (lambda: Pool(mode="x"), ValueError, "max, sum, average_inc_pad, average_exc_pad, not 'x'"),
        (lambda: Pool()(v, (2, 2)), TypeError, "(?s)2 at least.*v : float64, 1-d"),
        (lambda: Pool()(x4, (2.5, 2)), TypeError, "ws must be 2 whole numbers"),
        (lambda: Pool()(x4, (2, 2, 2)), ValueError, r"ws must be 2 whole numbers, not \[2, 2, 2\]"),
        (lambda: Pool()(x4, (2, 2), None, (1, 1)), NotImplementedError, "padding needs ignore_border=True"),
        (lambda: Pool(True)(x4, (2, 2), None, (2, 1)), NotImplementedError, "pad must be smaller than ws; pad is"),
    ],
    "AdvancedBooleanIncSubtensor": [(lambda: T.set_subtensor(v[flag], m), TypeError, "1-dimensional subtensor with a 2-dimensional")],
    "AdvancedBooleanSubtensor": [(lambda: s[flag, flag], IndexError, "too many indices for array: s has 0 dimensions")],
    "AdvancedIncSubtensor": [(lambda: T.set_subtensor(m[i, i], m), TypeError, "1-dimensional subtensor with a 2-dimensional")],
    "AdvancedIncSubtensor1": [(lambda: T.AdvancedIncSubtensor1()(m, t3, i), TypeError, "2-dimensional subtensor with a 3-dimensional")],
    "AdvancedSubtensor": [
        (lambda: m[v], IndexError, "whole numbers or booleans, not of dtype float64"),
        (lambda: m[[0.0, 1], [1, 1]], TypeError, "whole numbers or booleans, not of dtype float64"),
        (lambda: v[m[0, 0] :], TypeError, "whole numbers or booleans, not of dtype float64"),
        (lambda: v[0.5], TypeError, "whole numbers, slices, None, Ellipsis or arrays of these, not 0.5"),
        (lambda: m[i, i, i], IndexError, "m has 2 dimensions, but 3 are indexed"),
    ],
    "AdvancedSubtensor1": [
        (lambda: T.AdvancedSubtensor1()(s, i), TypeError, "cannot index into a scalar: s"),
        (lambda: T.AdvancedSubtensor1()(m, v), TypeError, "a vector of whole numbers, not v"),
    ],
    "All": [(lambda: T.all(m, axis=3), ValueError, "axis 3 of a tensor that has 2 dimensions")],
    "Alloc": [
        (lambda: T.alloc(s, 1.5), TypeError, "whole number, not 1.5"),
        (lambda: T.alloc(m, 2), TypeError, "m has 2 dimensions, more than the 1"),
    ],
    "AllocDiag": [
        (lambda: T.AllocDiag()(s), ValueError, "s has none"),
        (lambda: T.AllocDiag(axis1=1, axis2=1)(v), ValueError, "both 1"),
        (lambda: T.AllocDiag(axis1=3)(v), ValueError, "no axis 3"),
    ],
    "AllocEmpty": [
        (lambda: T.AllocEmpty("float64")(s), TypeError, "whole number, not s of dtype float64"),
        (lambda: T.AllocEmpty("nothing"), TypeError, "nothing"),
    ],
    "Any": [(lambda: T.any(m, axis=3), ValueError, "axis 3 of a tensor that has 2 dimensions")],
    "ARange": [(lambda: T.arange(s, v), ValueError, "v of type .* cannot have 0 dimensions")],
    "ArgSortOp": [
        (lambda: T.argsort(m, axis=2), ValueError, "(?s)axis 2 is out of range.*m : float64, 2-d"),
        (lambda: T.argsort(m, axis=s), TypeError, "whole number, not s"),
    ],
    "Argmax": [(lambda: T.argmax(m, axis=2), ValueError, "axis 2 of a tensor that has 2 dimensions")],
    "Argmin": [(lambda: T.argmin(m, axis=2), ValueError, "axis 2 of a tensor that has 2 dimensions")],
    "Bincount": [
        (lambda: T.bincount(v), TypeError, "whole numbers, not v of dtype float64"),
        (lambda: T.bincount(m), TypeError, "needs a vector, but m has 2 dimensions"),
    ],
    "BatchedDot": [
        (lambda: T.batched_dot(s, t3), TypeError, "1 dimension or more"),
        (lambda: T.BatchedDot()(T.dtensor4(), t3), TypeError, "input 0 must have 2 or 3 dimensions"),
    ],
    "Bartlett": [(lambda: T.Bartlett()(s), TypeError, "whole numbers, not s of dtype float64")],
    "BroadcastTo": [(lambda: T.broadcast_to(m, (4,)), TypeError, "m has 2 dimensions, more than the 1")],
    "CAReduce": [(lambda: T.CAReduce(scal.exp), NotImplementedError, "two inputs and one output, not exp")],
    "CAReduceDtype": [(lambda: T.CAReduceDtype(scal.add, acc_dtype="int64")(m), TypeError, "acc_dtype=int64 cannot hold values of dtype float64")],
    "Cholesky": [
        (lambda: slinalg.cholesky(t3), TypeError, "(?s)must be a matrix.*t3 : float64, 3-d"),
        (lambda: slinalg.Cholesky(on_error="x"), ValueError, "'raise' or 'nan'"),
    ],
    "CholeskyGrad": [(lambda: CholeskyGrad()(v, m, m), TypeError, "(?s)input 0 must have 2 dimensions.*v : float64, 1-d")],
    "Choose": [(lambda: T.Choose("wrap")(v, m), TypeError, "whole numbers, not v of dtype float64")],
    "CpuContiguous": [(lambda: T.extra_ops.cpu_contiguous(thing), TypeError, "thing is a variable of type Generic")],
    "CrossentropyCategorical1Hot": [
        (lambda: cross(v, i), TypeError, "(?s)coding_dist must be a 2-d.*v : float64, 1-d"),
        (lambda: cross(m, v), TypeError, "(?s)classes must be a vector of whole numbers.*Cast it"),
        (lambda: cross(m, T.cast(m, "int64")), TypeError, r"(?s)a vector of whole numbers.*one-hot, theano\.tensor\.argmax"),
    ],
    "CrossentropyCategorical1HotGrad": [(lambda: nnet.crossentropy_categorical_1hot_grad(m, m, i), TypeError, "g_y must be a 1-d")],
    "CrossentropySoftmax1HotWithBiasDx": [(lambda: nnet.crossentropy_softmax_1hot_with_bias_dx(m, m, i), TypeError, "dy must be a 0-d or 1-d")],
    "CrossentropySoftmaxArgmax1HotWithBias": [
        (lambda: softmax_cross(m, m, i), TypeError, "b must be a 1-d"),
        (lambda: softmax_cross(m, v, v), TypeError, "classes must be a vector of whole numbers"),
    ],
    "CumOp": [
        (lambda: T.CumOp(mode="x"), ValueError, "'add' or 'mul'"),
        (lambda: T.cumsum(m, axis=2), ValueError, "out of bounds: m has 2 dimensions"),
        (lambda: T.cumprod(m, axis=1.5), TypeError, "whole number or None, not 1.5"),
    ],
    "Default": [(lambda: T.default(v, m), TypeError, "same type, not .*vector.* and .*matrix")],
    "Det": [(lambda: nlinalg.det(v), TypeError, "(?s)must be a matrix.*v : float64, 1-d")],
    "SLogDet": [(lambda: nlinalg.slogdet(v), TypeError, "(?s)must be a matrix.*v : float64, 1-d")],
    "DiffOp": [(lambda: T.DiffOp(axis=2)(m), ValueError, "axis 2 is out of range")],
    "DimShuffle": [
        (lambda: m.dimshuffle(0), ValueError, "drop a non-broadcastable dimension: 1"),
        (lambda: T.DimShuffle((False,), (0,))(m), TypeError, "pattern"),
    ],
    "Dot": [
        (lambda: T.Dot()(m, t3), TypeError, "(?s)input 1 must have 1 or 2 dimensions.*t3 : float64, 3-d"),
        (lambda: T.dot(m, "x"), TypeError, "'x'"),
    ],
    "Dot22": [
        (lambda: routines.Dot22()(m, v), TypeError, "input 1 must have 2 dimensions"),
        (lambda: routines.Dot22()(m, T.fmatrix("f")), TypeError, "(?s)one dtype.*m : float64.*f : float32"),
    ],
    "Dot22Scalar": [(lambda: routines.Dot22Scalar()(m, n, v), TypeError, "input 2 must have 0 dimensions")],
    "Eig": [(lambda: nlinalg.eig(t3), TypeError, "must be a matrix")],
    "Eigh": [
        (lambda: nlinalg.eigh(t3), TypeError, "must be a matrix"),
        (lambda: nlinalg.eigh(m, "X"), ValueError, "'L' or 'U', not 'X'"),
    ],
    "EighGrad": [(lambda: EighGrad()(m, v, v, v, m), TypeError, "input 2 must have 2 dimensions")],
    "Eigvalsh": [(lambda: slinalg.eigvalsh(m, v), TypeError, "b must be a matrix")],
    "EigvalshGrad": [
        (lambda: EigvalshGrad()(m, v, v), TypeError, "input 1 must have 2 dimensions"),
        (lambda: EigvalshGrad()(m, m), TypeError, "takes 3 inputs, got 2"),
    ],
    "Elemwise": [
        (lambda: T.exp(m, m), TypeError, r"takes 1 inputs, got 2: \[m, m\]"),
        (lambda: T.and_(m, m), TypeError, "booleans and integers have bits"),
        (lambda: T.add(m, thing), TypeError, "thing is a variable of type Generic"),
        (lambda: T.add(), TypeError, "one input or more, got none"),
    ],
    "Expm": [(lambda: slinalg.expm(v), TypeError, "must be a matrix")],
    "ExpmGrad": [(lambda: ExpmGrad()(v, m), TypeError, "input 0 must have 2 dimensions")],
    "ExtractDiag": [
        (lambda: T.ExtractDiag()(v), ValueError, "2 dimensions or more, but v has 1"),
        (lambda: T.ExtractDiag(0, 2, 2)(t3), ValueError, "both 2"),
        (lambda: T.ExtractDiag(0, 0, 5)(t3), ValueError, "axis 5 is out of range"),
    ],
    "Eye": [(lambda: T.eye(s), TypeError, "whole number, not s")],
    "FillDiagonal": [
        (lambda: T.FillDiagonal()(v, 0), TypeError, "2 dimensions or more, but v has 1"),
        (lambda: T.fill_diagonal(T.lmatrix(), 0.5), TypeError, "do not fit in"),
        (lambda: T.fill_diagonal(m, v), TypeError, "one number"),
    ],
    "FillDiagonalOffset": [
        (lambda: T.FillDiagonalOffset()(m, 0, s), TypeError, "whole numbers, not s"),
        (lambda: T.fill_diagonal_offset(v, 0, 1), TypeError, "matrix, but v has 1"),
        (lambda: T.fill_diagonal_offset(T.lmatrix(), 0.5, 1), TypeError, "do not fit in"),
    ],
    "Flatten": [(lambda: T.Flatten(3)(m), ValueError, "3 dimensions")],
    "Gemm": [(lambda: routines.Gemm(False)(m, s, m, v, s), TypeError, "input 3 must have 2 dimensions")],
    "Gemv": [(lambda: routines.Gemv(False)(v, s, m, m, s), TypeError, "input 3 must have 1 dimensions")],
    "Ger": [(lambda: routines.Ger(False)(m, s, m, v), TypeError, "input 2 must have 1 dimensions")],
    "Hint": [(lambda: Hint(psd=True)("x"), TypeError, "takes a variable, not 'x'")],
    "IfElse": [
        (lambda: ifelse(v, s, s), TypeError, "the condition v .* must be a scalar"),
        (lambda: ifelse(s, v, m), TypeError, "must be of the same type, but value 0 is v"),
        (lambda: ifelse(s, v, i), TypeError, "Convert one of them, with theano.tensor.cast"),
        (lambda: ifelse(s, (v, v), (v,)), ValueError, "as many values each, got 2 and 1"),
    ],
    "IncSubtensor": [
        (lambda: T.set_subtensor(m, 1), TypeError, "not the plain variable m"),
        (lambda: T.set_subtensor(m[0], m), TypeError, "1-dimensional subtensor with a 2-dimensional"),
        (lambda: T.IncSubtensor([])(m, z), TypeError, "complex values do not fit in m of dtype float64"),
    ],
    "IRFFTOp": [
        (lambda: T.fft.irfft(T.ztensor3()), TypeError, "last axis of length 2"),
        (lambda: T.fft.irfft(t3, is_odd=2), ValueError, "True or False, not 2"),
    ],
    "Join": [
        (lambda: T.join(0, m, v), TypeError, r"m \(2-d\), v \(1-d\)"),
        (lambda: T.join(s, m, m), TypeError, "one whole number, not s"),
        (lambda: T.join(0), ValueError, "empty list"),
    ],
    "LoadFromDisk": [(lambda: T.load(v, "float64", ()), TypeError, "a string or a theano.generic variable")],
    "LUFactor": [(lambda: slinalg.lu(v), TypeError, "must be a matrix")],
    "LogSoftmax": [(lambda: nnet.logsoftmax(i), TypeError, "(?s)floats.*i : int64, 1-d")],
    "LinearRecurrence": [(lambda: LinearRecurrence(1)(v, v), TypeError, "with an axis 1 are needed")],
    "LogSumExp": [
        (lambda: LogSumExp((3,))(m), ValueError, "axis 3"),
        (lambda: LogSumExp((0,))(i), TypeError, "real numbers, not int64"),
    ],
    "MakeSlice": [(lambda: T.make_slice(s, 1, 1), TypeError, "integers, not s of dtype float64")],
    "MakeVector": [
        (lambda: T.MakeVector("int8")(s), TypeError, "float64 do not fit in a vector of dtype int8"),
        (lambda: T.MakeVector()(v), TypeError, "without dimensions, but v"),
        (lambda: T.MakeVector("nothing"), TypeError, "nothing"),
    ],
    "MapRows": [
        (lambda: MapRows([], [v], [v]), ValueError, "at least one sequence"),
        (lambda: MapRows([v], [], [v * w]), TypeError, "depend on w, which is not among the inputs"),
        (lambda: MapRows([v], [w], [v * w])(m), TypeError, "takes 2 inputs, got 1"),
        (lambda: map_rows([v], [v], [v + 1]), TypeError, "one dimension more and the same dtype, but v is of type"),
    ],
    "MatrixInverse": [(lambda: nlinalg.matrix_inverse(v), TypeError, "must be a matrix")],
    "MatrixPinv": [(lambda: nlinalg.pinv(v), TypeError, "must be a matrix")],
    "Max": [(lambda: T.max(m, axis=2), ValueError, "axis 2 of a tensor that has 2 dimensions")],
    "MaxAndArgmax": [(lambda: T.max_and_argmax(m, axis=2), ValueError, "axis 2 of a tensor that has 2 dimensions")],
    "Mean": [(lambda: T.Mean(2)(m), ValueError, "axis 2")],
    "Min": [(lambda: T.min(m, axis=(0, 0)), ValueError, "twice")],
    "MPIRecv": [(lambda: T.MPIRecv(0, 0, (2.5, "x"), "float64"), ValueError, "invalid literal")],
    "MPISend": [(lambda: T.MPISend(0, 0)(thing), TypeError, "thing is a variable of type Generic")],
    "Nonzero": [(lambda: T.nonzero(s), ValueError, "s has no dimension")],
    "PermuteRowElements": [(lambda: T.permute_row_elements(m, v), TypeError, "whole numbers")],
    "Prod": [(lambda: T.prod(m, axis=2), ValueError, "axis 2")],
    "ProductOfOthers": [(lambda: ProductOfOthers(3)(m, m), ValueError, "axis 3")],
    "ProdWithoutZeros": [(lambda: T.ProdWithoutZeros(axis=5)(m), ValueError, "axis 5")],
    "QRFull": [
        (lambda: nlinalg.qr(v), TypeError, "must be a matrix"),
        (lambda: nlinalg.qr(m, "x"), ValueError, "not 'x'"),
    ],
    "QRIncomplete": [(lambda: nlinalg.qr(v, "r"), TypeError, "must be a matrix")],
    "RavelMultiIndex": [
        (lambda: T.ravel_multi_index((v, v), (2, 2)), TypeError, "whole numbers, not v"),
        (lambda: T.ravel_multi_index((i, i), (2, 2, 2)), ValueError, "2 indexes for a shape of 3 lengths"),
        (lambda: T.RavelMultiIndex(mode="x"), ValueError, "'raise', 'wrap' or 'clip'"),
    ],
    "Rebroadcast": [
        (lambda: T.Rebroadcast((3, True))(m), ValueError, "m has only 2 dimensions"),
        (lambda: T.Rebroadcast((-1, True)), TypeError, r"\(-1, True\)"),
    ],
    "RepeatOp": [(lambda: T.RepeatOp(0)(m, s), TypeError, "whole numbers, not s")],
    "Reshape": [
        (lambda: m.reshape((2, 1.5)), TypeError, "whole numbers"),
        (lambda: m.reshape((-1, -1)), ValueError, "one -1 only"),
    ],
    "RFFTOp": [
        (lambda: T.fft.rfft(v), TypeError, "2 dimensions or more, not 1"),
        (lambda: T.fft.rfft(z), TypeError, "z is of dtype complex128"),
        (lambda: T.fft.rfft(m, norm="x"), ValueError, "x"),
    ],
    "ScalarFromTensor": [(lambda: T.scalar_from_tensor(v), TypeError, "without dimensions, not v")],
    "SearchsortedOp": [
        (lambda: T.searchsorted(v, v, side="up"), ValueError, "'left' or 'right', not 'up'"),
        (lambda: T.searchsorted(v, v, sorter=v), TypeError, "integer vector, not v"),
    ],
    "SetDiag": [
        (lambda: T.SetDiag()(v, v), ValueError, "2 dimensions or more, but v has 1"),
        (lambda: T.SetDiag()(m, m), TypeError, "2 dimensions does not fit in m"),
    ],
    "Shape": [(lambda: T.shape("x"), TypeError, "'x'")],
    "Shape_i": [
        (lambda: T.Shape_i(2)(m), TypeError, "no dimension 2"),
        (lambda: T.Shape_i(-1)(m), TypeError, "no dimension -1"),
    ],
    "Softmax": [(lambda: nnet.Softmax()(i), TypeError, "(?s)floats.*i : int64, 1-d")],
    "SoftmaxGrad": [(lambda: nnet.SoftmaxGrad()(i, m), TypeError, "floats")],
    "SoftmaxWithBias": [(lambda: nnet.softmax_with_bias(m, m), TypeError, "b must be a 1-d")],
    "Solve": [
        (lambda: slinalg.Solve("strange")(m, v), ValueError, "not 'strange'"),
        (lambda: slinalg.solve(m, t3), TypeError, "1 dimensions or 2 dimensions"),
    ],
    "SortOp": [
        (lambda: T.sort(m, axis=-3), ValueError, "axis -3 is out of range"),
        (lambda: T.sort(m, kind="bubble"), ValueError, "not 'bubble'"),
        (lambda: T.sort(m, order="x"), ValueError, "tensors have none: 'x'"),
    ],
    "SpecifyShape": [
        (lambda: T.specify_shape(m, (2, 2, 2)), AssertionError, "m has 2 dimensions, but 3 are given"),
        (lambda: T.specify_shape(m, v), TypeError, "whole number for each dimension, not v"),
    ],
    "Split": [
        (lambda: T.Split(0), ValueError, "1 piece or more, not 0"),
        (lambda: T.split(v, v, 2), TypeError, "vector of whole numbers, not v"),
        (lambda: T.split(m, i, 2, axis=3), IndexError, "axis 3 is out of range"),
    ],
    "SubtensorChain": [(lambda: of_a_slice(m, np.int64(0)), IndexError, "needs 2 whole numbers, got 1")],
    "Subtensor": [
        (lambda: m[0, 0, 0], IndexError, "m has 2 dimensions, but 3 are indexed"),
        (lambda: m[1.5], IndexError, "not 1.5"),
        (lambda: m["x"], IndexError, "not 'x'"),
        (lambda: m[..., ...], IndexError, "single ellipsis"),
    ],
    "Sum": [(lambda: T.sum(m, dtype="nothing"), TypeError, "nothing")],
    "SVD": [(lambda: nlinalg.svd(v), TypeError, "must be a matrix")],
    "TensorFromScalar": [(lambda: T.tensor_from_scalar(v), TypeError, "v")],
    "TensorInv": [(lambda: nlinalg.TensorInv(0)(m), ValueError, "must be positive, not 0")],
    "Tile": [(lambda: T.Tile(2)(m, w), TypeError, "whole numbers, not w")],
    "TopKOp": [
        (lambda: T.topk(s, 1), ValueError, "1 dimension or more, not s"),
        (lambda: T.topk(v, s), TypeError, "whole, not s"),
        (lambda: T.topk(m, 1, axis=2), IndexError, "m has no axis 2"),
        (lambda: T.argtopk(v, 1, idx_dtype="float32"), TypeError, "whole numbers"),
    ],
    "Tri": [(lambda: T.Tri()(s, 2, 0), TypeError, "whole number, not s"), (lambda: T.tril(v), TypeError, "takes a matrix or more, but v")],
    "Unique": [(lambda: T.unique(m, axis=2), RuntimeError, "no axis 2")],
    "UnravelIndex": [
        (lambda: T.unravel_index(v, (2, 2)), TypeError, "whole numbers, not v"),
        (lambda: T.unravel_index(i, (2, 2), order="K"), ValueError, "'C' or 'F', not 'K'"),
    ],
    "lstsq": [(lambda: nlinalg.lstsq()(t3, v, 0.1), TypeError, "must be a matrix")],
    # functions
    "moveaxis": [
        (lambda: T.moveaxis(m, 0, 3), ValueError, "axis 3 is out of range"),
        (lambda: T.moveaxis(m, (0, 0), (0, 1)), ValueError, "each once"),
    ],
    "swapaxes": [
        (lambda: m.swapaxes(0, 2), ValueError, "axis 2 is out of range"),
        (lambda: v.swapaxes(0, 1), IndexError, "axis 1 is out of range for a tensor of 1 dim"),
    ],
    "shape_padleft": [(lambda: T.shape_padleft(m, -1), ValueError, "0 or more, not -1")],
    "clone": [
        (lambda: theano.clone(2), TypeError, "2 is none"), (lambda: theano.clone([v, None]), TypeError, "None is none"),
        (lambda: theano.clone(v, {2: v}), TypeError, "2 is none"),
    ],
    "h_softmax": [(lambda: T.nnet.h_softmax(s, 3, 4, 2, 2, m, v, t3, m), TypeError, "x must be a matrix, .* not s of type")],
    "norm": [(lambda: v.norm([1, 2]), TypeError, r"a number, as 2 or inf, not \[1, 2\]"), (lambda: m.norm("x"), TypeError, "not 'x'")],
    "roll": [(lambda: T.roll(m, s, 0), TypeError, "one whole number, not s")],
    "mgrid": [(lambda: T.mgrid[0:5j], NotImplementedError, "complex"), (lambda: T.mgrid[0:2, 3], IndexError, "made of slices")],
    "ogrid": [(lambda: T.ogrid[3], IndexError, "made of slices"), (lambda: T.ogrid[0:2, 1:], IndexError, "with a stop")],
    "FromDevice": [(lambda: FromDevice()(v), TypeError, "in the memory of a device, not v of type")],
    "ToDevice": [(lambda: ToDevice("some")(theano.generic("x")), TypeError, "takes an array, not")],
}  # fmt: skip

#: For each class of ops: what cannot be computed, with values, and what it says.
FEW_CHANNELS, TOO_LONG = "the image has 4 channels, the filters have 2", "the filters,?.* do not fit into the image"
FEW_IMAGES = f"there are 2 images, and outputs of 4|the output has shape .*, but image and filters make|{TOO_LONG}"
AT_RUN = {
    "ConnectionistTemporalClassification": [
        (lambda: ctc(t3, [[1]], i), {t3: T3, i: [2, 2, 2]}, ValueError, "activations are of 3 sequences, labels of 1, input_lengths of 3"),
        (lambda: ctc(t3, [[1], [1], [1]], i), {t3: T3, i: [2, 3, 2]}, ValueError, "input_lengths has 3; there are activations of 2 steps"),
        (lambda: ctc(t3, [[1], [1], [9]], i), {t3: T3, i: [2, 2, 2]}, ValueError, "a label 9, and there are 4 activations"),
    ],
    "Images2Neibs": [
        (lambda: Images2Neibs()(x4, i), {x4: X4, i: [2, 2]}, TypeError, "an axis of 5 elements, with neib_shape 2 and neib_step 2, is not covered"),
        (lambda: Images2Neibs("wrap_centered")(x4, i), {x4: X4, i: [2, 3]}, TypeError, "neib_shape must be odd, not 2"),
        (lambda: Images2Neibs("half")(x4, i), {x4: X4, i: [9, 3]}, TypeError, "5 elements along an axis, the neighbourhood 9"),
        (lambda: Images2Neibs()(x4, i), {x4: X4, i: [0, 3]}, ValueError, "must be positive; along an axis"),
        (lambda: Images2Neibs()(x4, i), {x4: X4, i: [3]}, ValueError, "must be two numbers each"),
    ],
    "SparseBlockGemv": [
        (lambda: SparseBlockGemv()(t3, x4, t3, [[0]], [[0]]), {t3: T3, x4: X4}, ValueError, "shapes do not belong together"),
        (lambda: SparseBlockGemv()(T.zeros((1, 1, 3)), x4, T.ones((1, 1, 5)), i.dimshuffle("x", 0), [[0]]), {x4: X4, i: [7]}, IndexError, "7"),
    ],
    "SparseBlockOuter": [(lambda: SparseBlockOuter()(x4, t3, t3, [[0]], [[0]]), {t3: T3, x4: X4}, ValueError, "shapes do not belong together")],
    **{
        op.__name__: [(lambda op=op, a=a, b=b: op()(a, b), {a: A, b: B}, ValueError, FEW_CHANNELS)]
        for op, a, A, b, B in (
            (AbstractConv2d, x4, X4, y4, Y4), (CorrMM, x4, X4, y4, Y4),
            (AbstractConv3d, x5, X5, y5, Y5), (Corr3dMM, x5, X5, y5, Y5),
        )
    },
    **{
        op.__name__: [(lambda op=op, a=a, b=b, n=n: op()(a, b, [2] * n), {a: A, b: B}, ValueError, FEW_IMAGES)]
        for op, a, A, b, B, n in (
            (AbstractConv2d_gradWeights, x4, X4, y4, Y4, 2), (CorrMM_gradWeights, x4, X4, y4, Y4, 2),
            (AbstractConv3d_gradWeights, x5, X5, y5, Y5, 3), (Corr3dMM_gradWeights, x5, X5, y5, Y5, 3),
        )
    },
    **{
        op.__name__: [(lambda op=op, a=a, b=b, n=n: op()(a, b, [2] * n), {a: A, b: B}, ValueError, TOO_LONG)]
        for op, a, A, b, B, n in (
            (AbstractConv2d_gradInputs, x4, X4, y4, Y4, 2), (CorrMM_gradInputs, x4, X4, y4, Y4, 2),
            (AbstractConv3d_gradInputs, x5, X5, y5, Y5, 3), (Corr3dMM_gradInputs, x5, X5, y5, Y5, 3),
        )
    },
    "Pool": [
        (lambda: Pool(True)(x4, i), {x4: X4, i: [2]}, ValueError, "must be 2 numbers each"),
        (lambda: Pool(True)(x4, i), {x4: X4, i: [0, 2]}, ValueError, "ws and stride must be positive: .*ws (is 0|.0, 2.)"),
        (lambda: Pool(True)(x4, [2, 2], i), {x4: X4, i: [2, -1]}, ValueError, "ws and stride must be positive: .*stride (-1|.2, -1.)"),
        (lambda: Pool(True)(x4, [2, 2], [1, 1], i), {x4: X4, i: [-1, 0]}, ValueError, "pad must not be negative"),
        (lambda: Pool(True)(x4, [2, 2], [1, 1], i), {x4: X4, i: [2, 0]}, ValueError, "pad must be smaller than ws"),
    ],
    "MaxPoolGrad": [(lambda: MaxPoolGrad(True)(x4, y4, y4, [2, 2]), {x4: X4, y4: Y4}, ValueError, r"maxout has shape \(4, 2, 2, 2\)")],
    "AveragePoolGrad": [(lambda: AveragePoolGrad(True, "sum")(x4, y4, [2, 2]), {x4: X4, y4: Y4}, ValueError, r"gz has shape \(4, 2, 2, 2\)")],
    "DownsampleFactorMaxGradGrad": [
        (lambda: DownsampleFactorMaxGradGrad(True)(x4, y4, y4, [2, 2]), {x4: X4, y4: Y4}, ValueError, r"maxout has shape \(4, 2, 2, 2\)"),
    ],
    "MaxPoolRop": [(lambda: MaxPoolRop(True)(x4, y4, [2, 2]), {x4: X4, y4: Y4}, ValueError, r"eval_point has shape \(4, 2, 2, 2\)")],
    "AdvancedBooleanIncSubtensor": [(lambda: T.set_subtensor(v[flag], w), {v: V, flag: V > 0, w: W}, ValueError, r"\(4,\) does not fit in one of shape \(5,\)")],
    "AdvancedBooleanSubtensor": [(lambda: v[flag], {v: V, flag: np.ones(3, bool)}, IndexError, "axis is 5 but size of corresponding boolean axis is 3")],
    "AdvancedIncSubtensor": [
        (lambda: T.set_subtensor(m[i, i], v), {m: M, i: I, v: V}, ValueError, r"\(5,\) does not fit in one of shape \(2,\)"),
        (lambda: T.inc_subtensor(m[i, i], 1), {m: M, i: I + 5}, IndexError, "index 5 is out of bounds for axis 0 with size 3"),
    ],
    "AdvancedIncSubtensor1": [
        (lambda: T.inc_subtensor(m[i], n), {m: M, n: N, i: I}, ValueError, r"\(4, 3\) does not fit in one of shape \(2, 4\)"),
        (lambda: T.set_subtensor(m[i], 0), {m: M, i: I - 9}, IndexError, "index -9 is out of bounds"),
    ],
    "AdvancedSubtensor": [
        (lambda: m[i, i], {m: M, i: I + 3}, IndexError, "index 3 is out of bounds for axis 0 with size 3"),
        (lambda: m[i, T.constant([0, 1, 2])], {m: M, i: I}, IndexError, "could not be broadcast together"),
        (lambda: t3[:, i, j], {t3: T3, i: I, j: 9}, IndexError, "index 9 is out of bounds for axis 2 with size 4"),
    ],
    "AdvancedSubtensor1": [(lambda: m[i], {m: M, i: I + 9}, IndexError, "index 9 is out of bounds for axis 0 with size 3")],
    "Alloc": [
        (lambda: T.alloc(s, j), {s: 1.0, j: -1}, ValueError, "negative"),
        (lambda: T.alloc(v, 3), {v: V}, ValueError, r"(5,)|(length 5)"),
        (lambda: T.alloc(v, j), {v: V, j: 4}, ValueError, r"(5,)|(length 5)"),
    ],
    "AllocEmpty": [(lambda: T.AllocEmpty("float64")(j), {j: -2}, ValueError, "negative")],
    "ARange": [(lambda: T.arange(j, 10, j), {j: 0}, ZeroDivisionError, "step")],
    "ARangeLength": [(lambda: ARangeLength()(0, 10, j), {j: 0}, ZeroDivisionError, "step")],
    "CheckedLength": [(lambda: CheckedLength("too short")(j, T.ge(j, 0)), {j: -1}, ValueError, "too short")],
    "CheckedShape": [(lambda: CheckedShape("too short")(v, v.shape[0] > 9), {v: V}, ValueError, "too short")],
    "Argmax": [(lambda: T.argmax(m, axis=0), {m: M[:0]}, ValueError, "no element|empty")],
    "Argmin": [(lambda: T.argmin(m, axis=0), {m: M[:0]}, ValueError, "no element|empty")],
    "FillDiagonal": [(lambda: T.fill_diagonal(t3, 0), {t3: np.zeros((2, 2, 3))}, AssertionError, "equal lengths")],
    "Bincount": [(lambda: T.bincount(i), {i: -I - 1}, ValueError, "counts numbers from 0")],
    "BatchedDot": [
        (lambda: T.batched_dot(t3, t3), {t3: T3}, ValueError, "4 (columns )?against 3"),
        (lambda: T.batched_dot(t3, m), {t3: T3, m: M}, ValueError, "2 (and|against) 3"),
    ],
    "Cholesky": [
        (lambda: slinalg.cholesky(m), {m: M}, ValueError, r"square matrix is needed, not one of shape \(3, 4\)"),
        (lambda: slinalg.cholesky(m), {m: INDEFINITE}, LinAlgError, "not positive definite"),
    ],
    "CrossentropyCategorical1Hot": [(lambda: cross(m, i), {m: M[:2], i: I - 1}, ValueError, "class -1 among 4 columns")],
    "CrossentropyCategorical1HotGrad": [
        (lambda: nnet.crossentropy_categorical_1hot_grad(v, m, i), {v: V[:2], m: M[:2], i: I + 5}, ValueError, "out of bounds: class 7"),
    ],
    "CrossentropySoftmax1HotWithBiasDx": [
        (lambda: nnet.crossentropy_softmax_1hot_with_bias_dx(v, m, i), {v: V, m: M[:2], i: I}, ValueError, "5 gradients for 2 rows"),
        (lambda: nnet.crossentropy_softmax_1hot_with_bias_dx(v, m, i), {v: V[:2], m: M[:2], i: I + 5}, ValueError, "y_i value out of bounds"),
    ],
    "CrossentropySoftmaxArgmax1HotWithBias": [
        (lambda: softmax_cross(m, w, i)[0], {m: M[:2], w: W, i: I + 9}, ValueError, "y_i value out of bounds"),
        (lambda: softmax_cross(m, v, i)[0], {m: M[:2], v: V, i: I}, ValueError, "the bias has 5 elements, the rows"),
    ],
    "Adjugate": [(lambda: Adjugate()(m), {m: M}, ValueError, "square matrix")],
    "AdjugateAlong": [(lambda: AdjugateAlong()(m, n), {m: M, n: M}, ValueError, "square matrix")],
    "LinearRecurrence": [(lambda: LinearRecurrence(0)(v, w), {v: V, w: W}, ValueError, "mis-match")],
    "Det": [(lambda: nlinalg.det(m), {m: M}, ValueError, "square matrix")],
    "SLogDet": [(lambda: nlinalg.slogdet(m), {m: M}, ValueError, "square matrix")],
    "Dot": [(lambda: T.dot(m, n), {m: M, n: M}, ValueError, "4 (columns )?against 3"), (lambda: T.dot(v, w), {v: V, w: W}, ValueError, "5 (columns )?against 4")],
    "Dot22": [(lambda: routines.Dot22()(m, n), {m: M, n: M}, ValueError, "4 (columns )?against 3")],
    "Dot22Scalar": [(lambda: routines.Dot22Scalar()(m, n, s), {m: M, n: M, s: 1.0}, ValueError, "4 (columns )?against 3")],
    "Eig": [
        (lambda: nlinalg.eig(m)[0], {m: M}, ValueError, "square matrix"),
        (lambda: nlinalg.eig(m)[0], {m: M[:, :3] * np.nan}, LinAlgError, "infs or NaNs"),
    ],
    "Eigh": [(lambda: nlinalg.eigh(m)[0], {m: M}, ValueError, "square matrix")],
    "Eigvalsh": [(lambda: slinalg.eigvalsh(m, None), {m: M}, ValueError, "square matrix")],
    "Elemwise": [
        (lambda: m + n, {m: M, n: N}, ValueError, "(?s)along axis 0.*3.*4|along axis 0.*4.*3"),
        (lambda: m + n, {m: M, n: M[:1]}, ValueError, "length (of )?1"),
    ],
    "Expm": [(lambda: slinalg.expm(m), {m: M}, ValueError, "square matrix")],
    "Eye": [(lambda: T.eye(j, 3), {j: -1}, ValueError, "negative length")],
    "Gemm": [(lambda: routines.Gemm(False)(m, s, n, n, s), {m: M, n: M, s: 1.0}, ValueError, "4 (columns )?against 3")],
    "Gemv": [(lambda: routines.Gemv(False)(v, s, m, w, s), {v: V, m: M, w: V, s: 1.0}, ValueError, "4 (columns )?against 5")],
    "Ger": [(lambda: routines.Ger(False)(m, s, v, w), {m: M, v: V, w: W, s: 1.0}, ValueError, r"product of shape \(5, 4\)")],
    "IncSubtensor": [
        (lambda: T.set_subtensor(m[1:], v), {m: M, v: V}, ValueError, r"\(5,\) does not fit in one of shape \(2, 4\)"),
        (lambda: T.inc_subtensor(m[j], 1), {m: M, j: 7}, IndexError, "index 7 is out of bounds for axis 0"),
    ],
    "IRFFTOp": [(lambda: T.fft.irfft(t3), {t3: T3}, ValueError, "length is 2, not 4")],
    "Join": [
        (lambda: T.join(j, m, m), {j: 5, m: M}, IndexError, "axis 5 out of bounds"),
        (lambda: T.join(0, m, n), {m: M, n: N}, ValueError, r"4.*3"),
    ],
    "MapRows": [(lambda: map_rows([v], [m], [T.sort(v) + w])[0], {m: M, w: V}, ValueError, "input 1 has length 5 but input 0 has 4")],
    "MatrixInverse": [
        (lambda: nlinalg.matrix_inverse(m), {m: M}, ValueError, "square matrix"),
        (lambda: nlinalg.matrix_inverse(m), {m: SINGULAR}, LinAlgError, "Singular matrix"),
    ],
    "MatrixPinv": [(lambda: nlinalg.pinv(m), {m: M * np.nan}, LinAlgError, "did not converge")],
    "Max": [(lambda: m.max(), {m: M[:0]}, ValueError, "no element|zero-size")],
    "MaxAndArgmax": [(lambda: T.max_and_argmax(m, axis=1)[1], {m: M[:, :0]}, ValueError, "no element|empty")],
    "Min": [(lambda: m.min(axis=0), {m: M[:0]}, ValueError, "no element|zero-size")],
    "PermuteRowElements": [(lambda: T.permute_row_elements(m, i), {m: M, i: I}, ValueError, "differ in length")],
    "RavelMultiIndex": [(lambda: T.ravel_multi_index((i, i), (2, 2)), {i: I}, ValueError, "invalid entry|out of bounds")],
    "Rebroadcast": [(lambda: T.addbroadcast(m, 0) * 2, {m: M}, ValueError, "length 3")],
    "RepeatOp": [
        (lambda: T.repeat(m, i, axis=0), {m: M, i: I}, ValueError, r"\(3,\) \(2,\)|3.*2"),
        (lambda: T.RepeatOp(0)(m, i), {m: M[:2], i: -I}, ValueError, "negative"),
        (lambda: T.repeat(m, j, axis=0), {m: M, j: -1}, ValueError, "negative"),
    ],
    "Reshape": [
        (lambda: m.reshape((5, 2)), {m: M}, ValueError, r"12 elements.*\(3, 4\).*\(5, 2\)"),
        (lambda: m.reshape(i, ndim=2), {m: M, i: [-1, -1]}, ValueError, r"\(-1, -1\)"),
        (lambda: m.reshape(i, ndim=3), {m: M, i: I}, ValueError, "3 lengths are needed.* got 2"),
        (lambda: m.reshape((j, -1)), {m: M, j: -2}, ValueError, r"\(-2, -1\)"),
    ],
    "LUFactor": [(lambda: slinalg.lu(m)[1], {m: M}, ValueError, "square matrix")],
    "SearchsortedOp": [(lambda: T.searchsorted(v, w, sorter=i), {v: V, w: W, i: I}, ValueError, "sorter")],
    "SetDiag": [(lambda: T.SetDiag()(m, v), {m: M, v: V}, ValueError, r"\(5,\) does not fit in one of shape \(3,\)")],
    "SoftmaxGrad": [(lambda: nnet.softmax_grad(m, n), {m: M, n: N}, ValueError, "differ in shape|mis-match")],
    "SoftmaxWithBias": [(lambda: nnet.softmax_with_bias(m, v), {m: M, v: V}, ValueError, "bias has 5 elements")],
    "Solve": [
        (lambda: slinalg.solve(m, v), {m: np.eye(3), v: V}, ValueError, "3 rows of A against 5 of b"),
        (lambda: slinalg.solve(m, v), {m: np.ones((5, 5)), v: V}, LinAlgError, "Singular matrix"),
    ],
    "SpecifyShape": [(lambda: T.specify_shape(m, i) + 1, {m: M, i: I}, AssertionError, r"expected shape \(0, 2\), got \(3, 4\)")],
    "Split": [
        (lambda: T.split(v, i, 2)[0], {v: V, i: I}, ValueError, "add up to"),
        (lambda: T.split(v, i, 3)[0], {v: V, i: I}, ValueError, "3 (pieces|lengths)"),
        (lambda: T.split(v, i, 2)[0], {v: V, i: [-1, 6]}, ValueError, "-1|negative"),
    ],
    "SubtensorChain": [
        (lambda: of_a_slice(m, T.scalar_from_tensor(j), np.int64(-1)), {m: M, j: 9}, IndexError, "index -1 is out of bounds for axis 0"),
    ],
    "Subtensor": [
        (lambda: m[j], {m: M, j: 3}, IndexError, "index 3 is out of bounds for axis 0"),
        (lambda: m[0, j], {m: M, j: -5}, IndexError, "index -5 is out of bounds for axis 1"),
        (lambda: m[::j], {m: M, j: 0}, ValueError, "step cannot be zero"),
    ],
    "SVD": [(lambda: nlinalg.svd(m)[0], {m: M * np.nan}, LinAlgError, "did not converge")],
    "TensorInv": [(lambda: nlinalg.tensorinv(t3, 1), {t3: T3}, ValueError, "square")],
    "TensorSolve": [(lambda: nlinalg.tensorsolve(m, v), {m: M, v: V}, ValueError, "[Cc]annot reshape")],
    "TopKOp": [
        (lambda: T.topk(v, 9), {v: V}, ValueError, "1 to 5, .*got 9"),
        (lambda: T.topk(v, j), {v: V, j: 0}, ValueError, "got 0"),
    ],
    "UnravelIndex": [(lambda: T.unravel_index(i, (2, 1))[0], {i: I + 5}, ValueError, "out of bounds")],
    "lstsq": [(lambda: nlinalg.lstsq()(m, v, 0.1)[0], {m: M, v: V}, LinAlgError, "Incompatible")],
}  # fmt: skip


def cases(table):
    return [pytest.param(*case, id=f"{name}-{k}") for name, several in table.items() for k, case in enumerate(several)]


@pytest.mark.parametrize(("build", "error", "words"), cases(AT_BUILD))
def test_while_building(build, error, words):
    with pytest.raises(error, match=words) as caught:
        build()
    assert len(str(caught.value).splitlines()) <= 10


@pytest.mark.parametrize("compiled", [False, True], ids=["python", "compiled"])
@pytest.mark.parametrize(("build", "values", "error", "words"), cases(AT_RUN))
def test_while_running(build, values, error, words, compiled):
    out = build()
    given = {x: np.asarray(value, x.dtype) for x, value in values.items()}
    with pytest.raises(error, match=words) as caught:
        if compiled:
            theano.function(list(given), out)(*given.values())
        else:
            run(out, given)
    lines = str(caught.value).splitlines()
    assert len(lines) <= 25
    if compiled:
        assert any("while computing" in line for line in lines) and any("test_bad_input.py" in line for line in lines)


#: Ops that take whatever there is; that are made by rules, after all checks; or whose inputs are outputs of others.
TAKES_ANYTHING = {"MapReduce", "ElemwiseOfNumbers", "MapReduceOfNumbers", "ConvElemwise", "MPIRecvWait", "MPISendWait", "Assert"}


def test_every_op_has_a_case():
    def below(cls):
        for sub in cls.__subclasses__():
            yield sub
            yield from below(sub)

    public = {
        c.__name__ for c in below(Op)
        if c.__module__.startswith("theano.tensor") and not c.__name__.startswith("_") and not issubclass(c, scal.ScalarOp)
        and not c.__module__.startswith("theano.tensor.random")  # tests/random has those of random numbers
    }  # fmt: skip
    bases = {c.__name__ for c in below(Op) if c.__subclasses__()} - set(AT_BUILD) - set(AT_RUN)
    assert public - set(AT_BUILD) - set(AT_RUN) - bases - TAKES_ANYTHING == set()
