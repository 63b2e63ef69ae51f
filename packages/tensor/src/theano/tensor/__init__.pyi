"""Symbolic arrays, and what can be computed with them."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from collections.abc import Iterable, Mapping, Sequence
from theano.errors import MethodNotDefined as MethodNotDefined, ShapeError as ShapeError
from theano.gradient.absent import (
    DisconnectedType as DisconnectedType, grad_not_implemented as grad_not_implemented, grad_undefined as grad_undefined,
)
from theano.gradient.barriers import consider_constant as consider_constant
from theano.graph import Variable
from theano.graph.apply import Apply as Apply
from theano.graph.op import Op as Op
from theano.graph.type import Generic as Generic, Type as Type
from theano.graph.variable import Constant as Constant, Variable as Variable
from theano.printing.formula import pprint as pprint
from theano.scalar import int32 as int32, int32 as int32_t
from theano.scalar.dtypes import (
    all_dtypes as all_dtypes, complex_dtypes as complex_dtypes, continuous_dtypes as continuous_dtypes, discrete_dtypes
    as discrete_dtypes, float_dtypes as float_dtypes, int_dtypes as int_dtypes, integer_dtypes as integer_dtypes,
    uint_dtypes as uint_dtypes,
)
from theano.settings import config as config
from theano.tensor import (
    elemwise as elemwise, extra_ops as extra_ops, fft as fft, inplace as inplace, io as io, linalg as linalg, nlinalg as
    nlinalg, nnet as nnet, opt as opt, random as random, raw_random as raw_random, rules as rules, shared_randomstreams
    as shared_randomstreams, signal as signal, slinalg as slinalg, subtensor as subtensor, testing as testing, xlogx as
    xlogx,
)
from theano.tensor.annotations import TensorLike
from theano.tensor.basic import (
    Tensor as Tensor, get_scalar_constant_value_elemwises as get_scalar_constant_value_elemwises,
    numpy_diagonal_return_view as numpy_diagonal_return_view,
)
from theano.tensor.blas.dot import (
    BatchedDot as BatchedDot, Dot as Dot, batched_dot as batched_dot, batched_tensordot as batched_tensordot, dense_dot
    as dense_dot, dot as dot, matmul as matmul, outer as outer, tensordot as tensordot,
)
from theano.tensor.closeness import (
    values_eq_approx_remove_inf as values_eq_approx_remove_inf, values_eq_approx_remove_inf_nan as
    values_eq_approx_remove_inf_nan, values_eq_approx_remove_nan as values_eq_approx_remove_nan,
)
from theano.tensor.composed.elements import (
    copysign as copysign, digamma as digamma, float_power as float_power, heaviside as heaviside, isfinite as isfinite,
    isneginf as isneginf, isposinf as isposinf, logaddexp as logaddexp, logaddexp2 as logaddexp2, logical_and as
    logical_and, logical_not as logical_not, logical_or as logical_or, logical_xor as logical_xor, nan_to_num as
    nan_to_num, sinc as sinc,
)
from theano.tensor.composed.joins import (
    append as append, column_stack as column_stack, dstack as dstack, hstack as hstack, meshgrid as meshgrid, vstack as
    vstack,
)
from theano.tensor.composed.nans import (
    count_nonzero as count_nonzero, nancumprod as nancumprod, nancumsum as nancumsum, nanmean as nanmean, nanprod as
    nanprod, nanstd as nanstd, nansum as nansum, nanvar as nanvar,
)
from theano.tensor.composed.padding import pad as pad
from theano.tensor.composed.places import (
    digitize as digitize, interp as interp, isin as isin, put_along_axis as put_along_axis, take_along_axis as
    take_along_axis,
)
from theano.tensor.composed.products import (
    cross as cross, einsum as einsum, inner as inner, kron as kron, vdot as vdot, vecdot as vecdot,
)
from theano.tensor.composed.quantiles import median as median, percentile as percentile, quantile as quantile
from theano.tensor.composed.ranges import (
    geomspace as geomspace, identity as identity, linspace as linspace, logspace as logspace, vander as vander,
)
from theano.tensor.composed.shapes import (
    atleast_1d as atleast_1d, atleast_2d as atleast_2d, atleast_3d as atleast_3d, broadcast_arrays as broadcast_arrays,
    expand_dims as expand_dims, flip as flip, fliplr as fliplr, flipud as flipud, matrix_transpose as matrix_transpose,
    rot90 as rot90,
)
from theano.tensor.composed.statistics import average as average, corrcoef as corrcoef, trapezoid as trapezoid
from theano.tensor.constructors import (
    complex_matrix_types as complex_matrix_types, complex_scalar_types as complex_scalar_types, complex_types as
    complex_types, complex_vector_types as complex_vector_types, float_matrix_types as float_matrix_types,
    float_scalar_types as float_scalar_types, float_types as float_types, float_vector_types as float_vector_types,
    int_matrix_types as int_matrix_types, int_scalar_types as int_scalar_types, int_types as int_types, int_vector_types
    as int_vector_types, tensor as tensor,
)
from theano.tensor.control import choice as choice
from theano.tensor.control.default import Default as Default
from theano.tensor.convert import (
    AsTensorError as AsTensorError, EmptyConstantError as EmptyConstantError, NotScalarConstantError as
    NotScalarConstantError, as_tensor_variable as as_tensor_variable, constant as constant, constant_cache as
    constant_cache, extract_constant as extract_constant, get_scalar_constant_value as get_scalar_constant_value,
    get_vector_length as get_vector_length, numpy_scalar as numpy_scalar,
)
from theano.tensor.create.alloc import (
    Alloc as Alloc, AllocEmpty as AllocEmpty, alloc_validate_shape as alloc_validate_shape, empty as empty, full as
    full, full_like as full_like, ones as ones, ones_like as ones_like, zeros as zeros, zeros_like as zeros_like,
)
from theano.tensor.create.arange import ARange as ARange, arange as arange, bartlett as bartlett
from theano.tensor.create.diagonals import (
    Eye as Eye, Tri as Tri, eye as eye, identity_like as identity_like, tri as tri, tril as tril, triu as triu,
)
from theano.tensor.device.transfer import register_transfer as register_transfer, transfer as transfer
from theano.tensor.elemwise.dimshuffle import DimShuffle as DimShuffle
from theano.tensor.elemwise.functions import cast as cast
from theano.tensor.elemwise.op import Elemwise as Elemwise
from theano.tensor.elemwise.scalars import MulWithoutZeros as MulWithoutZeros, mul_without_zeros as mul_without_zeros
from theano.tensor.expressions.ops import (
    Bartlett as Bartlett, BroadcastTo as BroadcastTo, Choose as Choose, DiffOp as DiffOp, FillDiagonal as FillDiagonal,
    FillDiagonalOffset as FillDiagonalOffset, Flatten as Flatten, Mean as Mean, Tile as Tile, broadcast_to as
    broadcast_to,
)
from theano.tensor.functions import (
    allclose as allclose, ceil_intdiv as ceil_intdiv, choose as choose, cov as cov, div_proxy as div_proxy, divmod as
    divmod, iround as iround, isclose as isclose, isinf as isinf, isnan as isnan, mgrid as mgrid, mod_check as
    mod_check, ogrid as ogrid, power as power, round as round,
)
from theano.tensor.index.advanced import (
    AdvancedBooleanIncSubtensor as AdvancedBooleanIncSubtensor, AdvancedBooleanIndexingError as
    AdvancedBooleanIndexingError, AdvancedBooleanSubtensor as AdvancedBooleanSubtensor, AdvancedIncSubtensor as
    AdvancedIncSubtensor, AdvancedIncSubtensor1 as AdvancedIncSubtensor1, AdvancedSubtensor as AdvancedSubtensor,
    AdvancedSubtensor1 as AdvancedSubtensor1, BaseAdvancedIncSubtensor as BaseAdvancedIncSubtensor,
    BaseAdvancedSubtensor as BaseAdvancedSubtensor, Nonzero as Nonzero,
)
from theano.tensor.index.basic import (
    AdvancedIndexingError as AdvancedIndexingError, IncSubtensor as IncSubtensor, Subtensor as Subtensor, get_idx_list
    as get_idx_list,
)
from theano.tensor.index.derived import (
    compress as compress, diff as diff, fill_diagonal as fill_diagonal, fill_diagonal_offset as fill_diagonal_offset,
    to_one_hot as to_one_hot,
)
from theano.tensor.index.functions import (
    flatnonzero as flatnonzero, inc_subtensor as inc_subtensor, nonzero as nonzero, nonzero_values as nonzero_values,
    roll as roll, set_subtensor as set_subtensor, take as take,
)
from theano.tensor.index.lengths import adv_index_broadcastable_pattern as adv_index_broadcastable_pattern
from theano.tensor.index.permutation import (
    PermuteRowElements as PermuteRowElements, inverse_permutation as inverse_permutation, permute_row_elements as
    permute_row_elements,
)
from theano.tensor.index.ravel import (
    RavelMultiIndex as RavelMultiIndex, UnravelIndex as UnravelIndex, ravel_multi_index as ravel_multi_index,
    unravel_index as unravel_index,
)
from theano.tensor.io import (
    LoadFromDisk as LoadFromDisk, MPIRecv as MPIRecv, MPIRecvWait as MPIRecvWait, MPISend as MPISend, MPISendWait as
    MPISendWait, irecv as irecv, isend as isend, load as load, mpi_cmps as mpi_cmps, mpi_enabled as mpi_enabled,
    mpi_keys as mpi_keys, mpi_send_wait_cmp as mpi_send_wait_cmp, mpi_send_wait_key as mpi_send_wait_key, mpi_tag_cmp as
    mpi_tag_cmp, mpi_tag_key as mpi_tag_key, recv as recv, send as send,
)
from theano.tensor.join.op import (
    Join as Join, MakeVector as MakeVector, Split as Split, concatenate as concatenate, horizontal_stack as
    horizontal_stack, join as join, join_ as join_, split as split, stack as stack, stacklists as stacklists,
    vertical_stack as vertical_stack,
)
from theano.tensor.printers import SubtensorPrinter as SubtensorPrinter
from theano.tensor.reduce.argmax import Argmax as Argmax, MaxAndArgmax as MaxAndArgmax
from theano.tensor.reduce.axes import check_and_normalize_axes as check_and_normalize_axes, makeKeepDims as makeKeepDims
from theano.tensor.reduce.careduce import (
    All as All, CAReduce as CAReduce, CAReduceDtype as CAReduceDtype, Max as Max, Min as Min, Prod as Prod,
    ProdWithoutZeros as ProdWithoutZeros, Sum as Sum,
)
from theano.tensor.reduce.extremes import (
    argmax as argmax, argmin as argmin, largest as largest, max as max, max_and_argmax as max_and_argmax, min as min,
    nanmax as nanmax, nanmin as nanmin, ptp as ptp, smallest as smallest,
)
from theano.tensor.reduce.functions import (
    all as all, any as any, logsumexp as logsumexp, mean as mean, norm as norm, prod as prod, std as std, sum as sum,
    var as var,
)
from theano.tensor.rows.jacobian import hessian as hessian, jacobian as jacobian
from theano.tensor.shape.basic import (
    Rebroadcast as Rebroadcast, Shape as Shape, Shape_i as Shape_i, SpecifyShape as SpecifyShape, addbroadcast as
    addbroadcast, patternbroadcast as patternbroadcast, register_rebroadcast_c_code as register_rebroadcast_c_code,
    register_shape_c_code as register_shape_c_code, register_shape_i_c_code as register_shape_i_c_code,
    register_specify_shape_c_code as register_specify_shape_c_code, shape as shape, shape_i as shape_i, unbroadcast as
    unbroadcast,
)
from theano.tensor.shape.broadcast import (
    broadcast_shape as broadcast_shape, broadcast_shape_iter as broadcast_shape_iter,
)
from theano.tensor.shape.diagonals import (
    AllocDiag as AllocDiag, ExtractDiag as ExtractDiag, SetDiag as SetDiag, diag as diag, diagonal as diagonal, trace as
    trace,
)
from theano.tensor.shape.repeat import RepeatOp as RepeatOp, repeat as repeat, tile as tile
from theano.tensor.shape.reshape import (
    Reshape as Reshape, flatten as flatten, is_flat as is_flat, moveaxis as moveaxis, reshape as reshape, shape_padaxis
    as shape_padaxis, shape_padleft as shape_padleft, shape_padright as shape_padright, squeeze as squeeze, swapaxes as
    swapaxes, transpose as transpose,
)
from theano.tensor.shape.scalars import (
    ScalarFromTensor as ScalarFromTensor, TensorFromScalar as TensorFromScalar, scalar_from_tensor as scalar_from_tensor,
)
from theano.tensor.sharedvar import (
    ScalarSharedVariable as ScalarSharedVariable, TensorSharedVariable as TensorSharedVariable, scalar_constructor as
    scalar_constructor, tensor_constructor as tensor_constructor,
)
from theano.tensor.sort.cumulative import (
    CumOp as CumOp, CumprodOp as CumprodOp, CumsumOp as CumsumOp, cumprod as cumprod, cumsum as cumsum,
)
from theano.tensor.sort.op import (
    ArgSortOp as ArgSortOp, SortOp as SortOp, TopKOp as TopKOp, argsort as argsort, argtopk as argtopk, sort as sort,
    topk as topk, topk_and_argtopk as topk_and_argtopk,
)
from theano.tensor.sort.search import SearchsortedOp as SearchsortedOp, searchsorted as searchsorted
from theano.tensor.sort.sets import Unique as Unique, bincount as bincount, unique as unique
from theano.tensor.testing import verify as verify
from theano.tensor.testing.verify import numeric_grad as numeric_grad, verify_grad as verify_grad
from theano.tensor.type import (
    TensorConstantSignature as TensorConstantSignature, TensorType as TensorType, float16_atol as float16_atol,
    float16_rtol as float16_rtol, float32_atol as float32_atol, float32_rtol as float32_rtol, float64_atol as
    float64_atol, float64_rtol as float64_rtol, values_eq_approx_always_true as values_eq_approx_always_true,
)
from theano.tensor.type_other import (
    MakeSlice as MakeSlice, NoneConst as NoneConst, NoneTypeT as NoneTypeT, SliceConstant as SliceConstant, SliceType as
    SliceType, as_index_variable as as_index_variable, as_int_none_variable as as_int_none_variable, make_slice as
    make_slice, none_type_t as none_type_t, slicetype as slicetype,
)
from theano.tensor.utils import as_list as as_list, check_equal_numpy as check_equal_numpy, constructor as constructor
from theano.tensor.var import TensorConstant as TensorConstant, TensorVariable as TensorVariable
from typing import Any, overload

@overload
def Lop(
    f: Any, wrt: TensorVariable, eval_points: Any, consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = 'raise',
) -> TensorVariable: ...
@overload
def Lop(
    f: Any, wrt: Sequence[TensorVariable], eval_points: Any, consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = 'raise',
) -> list[TensorVariable]: ...
@overload
def Lop(
    f: Any, wrt: Any, eval_points: Any, consider_constant: Iterable[Variable] | None = None, disconnected_inputs: str =
    'raise',
) -> Any: ...
@overload
def Rop(
    f: TensorVariable, wrt: Any, eval_points: Any, disconnected_outputs: str = 'raise', return_disconnected: str =
    'zero',
) -> TensorVariable: ...
@overload
def Rop(
    f: Sequence[TensorVariable], wrt: Any, eval_points: Any, disconnected_outputs: str = 'raise', return_disconnected:
    str = 'zero',
) -> list[TensorVariable]: ...
@overload
def Rop(
    f: Any, wrt: Any, eval_points: Any, disconnected_outputs: str = 'raise', return_disconnected: str = 'zero',
) -> Any: ...
def abs_(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Absolute value; modulus of a complex number."""
def add(*xs: TensorLike, name: str | None = ...) -> TensorVariable:
    """Sum of any number of terms; of booleans, whether any is true."""
def advanced_boolean_inc_subtensor(
    x: TensorLike, y: Any, *index: Variable | slice | Sequence[int],
) -> TensorVariable: ...
def advanced_boolean_set_subtensor(
    x: TensorLike, y: Any, *index: Variable | slice | Sequence[int],
) -> TensorVariable: ...
def advanced_boolean_subtensor(x: TensorLike, *index: Any) -> TensorVariable: ...
def advanced_inc_subtensor(x: TensorLike, y: Any, *index: Variable | slice | Sequence[int]) -> TensorVariable: ...
def advanced_inc_subtensor1(x: TensorLike, y: Any, ilist: TensorLike) -> TensorVariable: ...
def advanced_set_subtensor(x: TensorLike, y: Any, *index: Variable | slice | Sequence[int]) -> TensorVariable: ...
def advanced_set_subtensor1(x: TensorLike, y: Any, ilist: TensorLike) -> TensorVariable: ...
def advanced_subtensor(x: TensorLike, *index: Any) -> TensorVariable: ...
def advanced_subtensor1(x: TensorLike, ilist: Any) -> TensorVariable: ...
def alloc(value: TensorLike, *shape: Any) -> TensorVariable: ...
def and_(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The bits that are set in both; of booleans, whether both are true."""
def angle(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Angle of a complex number in the plane, between -pi and pi."""
def arccos(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Inverse cosine, between 0 and pi."""
def arccosh(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Inverse hyperbolic cosine."""
def arcsin(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Inverse sine, between -pi/2 and pi/2."""
def arcsinh(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Inverse hyperbolic sine."""
def arctan(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Inverse tangent, between -pi/2 and pi/2."""
def arctan2(y: TensorLike, x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Angle of the point (x, y) seen from the origin, between -pi and pi."""
def arctanh(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Inverse hyperbolic tangent."""
def as_tensor(x: Any, name: str | None = None, ndim: int | None = None) -> TensorVariable: ...
bcol: TensorType
def betainc(a: TensorLike, b: TensorLike, x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Incomplete beta function, regularised."""
def betaincinv(a: TensorLike, b: TensorLike, p: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Inverse of betainc: the x for which betainc(a, b, x) is p."""
def bitwise_and(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The bits that are set in both; of booleans, whether both are true."""
def bitwise_not(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """All bits inverted; of a boolean, whether it is false."""
def bitwise_or(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The bits that are set in one at least; of booleans, whether one at least is true."""
def bitwise_xor(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The bits that are set in one only; of booleans, whether just one is true."""
bmatrix: TensorType
brow: TensorType
bscalar: TensorType
btensor3: TensorType
btensor4: TensorType
btensor5: TensorType
btensor6: TensorType
btensor7: TensorType
bvector: TensorType
ccol: TensorType
def ccols(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def ceil(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The smallest whole number that is not below x."""
def chi2sf(x: TensorLike, k: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Probability that a chi-squared variable of k degrees of freedom exceeds x."""
def clip(x: TensorLike, min: TensorLike, max: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Clip x to [min, max]; NaN is preserved."""
def cmatrices(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
cmatrix: TensorType
def col(name: str | None = None, dtype: str | None = None) -> TensorVariable: ...
def cols(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def complex(re: TensorLike, im: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The complex number of a real and an imaginary part."""
def complex_from_polar(r: TensorLike, theta: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The complex number of a modulus and an angle."""
def conj(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Complex conjugate."""
def cos(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Cosine."""
def cosh(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Hyperbolic cosine."""
crow: TensorType
def crows(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
cscalar: TensorType
def cscalars(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ctensor3: TensorType
def ctensor3s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ctensor4: TensorType
def ctensor4s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ctensor5: TensorType
def ctensor5s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ctensor6: TensorType
def ctensor6s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ctensor7: TensorType
def ctensor7s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
cvector: TensorType
def cvectors(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
dcol: TensorType
def dcols(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def default(x: TensorLike, default: Variable) -> TensorVariable: ...
def deg2rad(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Degrees to radians."""
def dmatrices(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
dmatrix: TensorType
drow: TensorType
def drows(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
dscalar: TensorType
def dscalars(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
dtensor3: TensorType
def dtensor3s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
dtensor4: TensorType
def dtensor4s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
dtensor5: TensorType
def dtensor5s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
dtensor6: TensorType
def dtensor6s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
dtensor7: TensorType
def dtensor7s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
dvector: TensorType
def dvectors(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def eq(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x equals y."""
def erf(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Error function."""
def erfc(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Complement of the error function, 1 - erf(x), exact where it is small."""
def erfcinv(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Inverse of the complement of the error function."""
def erfcx(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Scaled complement of the error function, exp(x**2) * erfc(x)."""
def erfinv(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Inverse of the error function."""
def exp(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Exponential."""
def exp2(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Two to the power of x."""
def expm1(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Exponential minus one, exact near zero."""
fcol: TensorType
def fcols(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def fill(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The second input; the first lends its shape."""
def floor(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The largest whole number that is not above x."""
def floor_div(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Quotient rounded down; an integer divided by zero gives 0."""
def fmatrices(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
fmatrix: TensorType
def fmax(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The larger of two numbers; the other one if one is nan."""
def fmin(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The smaller of two numbers; the other one if one is nan."""
frow: TensorType
def frows(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
fscalar: TensorType
def fscalars(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ftensor3: TensorType
def ftensor3s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ftensor4: TensorType
def ftensor4s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ftensor5: TensorType
def ftensor5s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ftensor6: TensorType
def ftensor6s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ftensor7: TensorType
def ftensor7s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
fvector: TensorType
def fvectors(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def gamma(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Gamma function."""
def gammainc(k: TensorLike, x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Lower incomplete gamma function, regularised."""
def gammaincc(k: TensorLike, x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Upper incomplete gamma function, regularised."""
def gammainccinv(k: TensorLike, p: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Inverse of gammaincc: the x for which gammaincc(k, x) is p."""
def gammaincinv(k: TensorLike, p: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Inverse of gammainc: the x for which gammainc(k, x) is p."""
def gammal(k: TensorLike, x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Lower incomplete gamma function."""
def gammaln(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logarithm of the absolute value of the gamma function."""
def gammau(k: TensorLike, x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Upper incomplete gamma function."""
def ge(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x is greater than or equal to y."""
@overload
def grad(
    cost: Variable | None, wrt: TensorVariable, consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = 'raise', add_names: bool = True, known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: str = 'zero', null_gradients: str = 'raise',
) -> TensorVariable: ...
@overload
def grad(
    cost: Variable | None, wrt: Sequence[TensorVariable], consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = 'raise', add_names: bool = True, known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: str = 'zero', null_gradients: str = 'raise',
) -> list[TensorVariable]: ...
@overload
def grad(
    cost: Variable | None, wrt: Any, consider_constant: Iterable[Variable] | None = None, disconnected_inputs: str =
    'raise', add_names: bool = True, known_grads: Mapping[Variable, Variable] | None = None, return_disconnected: str =
    'zero', null_gradients: str = 'raise',
) -> Any: ...
def gt(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x is greater than y."""
def hypot(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Length of the vector (x, y), without overflow; its derivative at (0, 0), which has none, is taken as 0."""
def i0(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Modified Bessel function of the first kind of order 0."""
def i1(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Modified Bessel function of the first kind of order 1."""
icol: TensorType
def icols(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def imag(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Imaginary part; zero for a real number."""
def imatrices(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
imatrix: TensorType
def int_div(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Quotient rounded down; an integer divided by zero gives 0."""
def inv(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """One divided by x."""
def invert(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """All bits inverted; of a boolean, whether it is false."""
irow: TensorType
def irows(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
iscalar: TensorType
def iscalars(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def isinf_(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x is infinite."""
def isnan_(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x is not a number."""
itensor3: TensorType
def itensor3s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
itensor4: TensorType
def itensor4s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
itensor5: TensorType
def itensor5s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
itensor6: TensorType
def itensor6s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
itensor7: TensorType
def itensor7s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def iv(v: TensorLike, x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Modified Bessel function of the first kind of order v."""
def ive(v: TensorLike, x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Modified Bessel function of the first kind of order v, times exp(-abs(x))."""
ivector: TensorType
def ivectors(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def j0(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Bessel function of the first kind of order 0."""
def j1(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Bessel function of the first kind of order 1."""
def jv(v: TensorLike, x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Bessel function of the first kind of order v."""
def kve(v: TensorLike, x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Modified Bessel function of the second kind of order v, times exp(x)."""
lcol: TensorType
def lcols(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def le(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x is less than or equal to y."""
def lmatrices(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
lmatrix: TensorType
def log(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Natural logarithm."""
def log10(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logarithm to base ten."""
def log1mexp(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logarithm of 1 - exp(x) for x <= 0, exact near zero and far from it."""
def log1p(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Natural logarithm of 1 + x, exact near zero."""
def log2(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logarithm to base two."""
lrow: TensorType
def lrows(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
lscalar: TensorType
def lscalars(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def lt(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x is less than y."""
ltensor3: TensorType
def ltensor3s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ltensor4: TensorType
def ltensor4s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ltensor5: TensorType
def ltensor5s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ltensor6: TensorType
def ltensor6s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ltensor7: TensorType
def ltensor7s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
lvector: TensorType
def lvectors(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def matrices(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def matrix(name: str | None = None, dtype: str | None = None) -> TensorVariable: ...
def maximum(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The larger of two numbers; nan if one is nan."""
def minimum(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The smaller of two numbers; nan if one is nan."""
def mod(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Remainder with the sign of the divisor; an integer modulo zero is 0."""
def mul(*xs: TensorLike, name: str | None = ...) -> TensorVariable:
    """Product of any number of factors; of booleans, whether all are true."""
def ndtri_exp(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The number below which a standard normal variable is with the probability exp(x), for x <= 0."""
def neg(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Opposite."""
def neq(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x differs from y."""
def or_(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The bits that are set in one at least; of booleans, whether one at least is true."""
def owens_t(h: TensorLike, a: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Owen's T function: the probability that X > h and 0 < Y < a X, for independent standard normal variables."""
def polygamma(n: TensorLike, x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The n-th derivative of psi, for whole n >= 0."""
def pow(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Power of x with the exponent y; of integers an integer, truncated if y is negative."""
def psi(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Derivative of gammaln, the digamma function."""
def rad2deg(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Radians to degrees."""
def real(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Real part."""
def round_half_away_from_zero(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The nearest whole number; a half goes away from zero."""
def round_half_to_even(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The nearest whole number; a half goes to the even one."""
def row(name: str | None = None, dtype: str | None = None) -> TensorVariable: ...
def scalar(name: str | None = None, dtype: str | None = None) -> TensorVariable: ...
def scalars(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def second(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The second input; the first lends its shape."""
def setdefault(x: TensorLike, default: Variable) -> TensorVariable: ...
def sgn(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Sign: -1, 0 or 1; nan stays nan."""
def sin(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Sine."""
def sinh(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Hyperbolic sine."""
def specify_shape(x: Any, shape: Any) -> TensorVariable: ...
def sqr(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Square."""
def sqrt(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Square root."""
def square(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Square."""
def sub(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Difference."""
def switch(cond: TensorLike, ift: TensorLike, iff: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Value of ift where cond is true (not zero), of iff elsewhere; both are computed."""
def tan(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Tangent."""
def tanh(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Hyperbolic tangent."""
def tensor3(name: str | None = None, dtype: str | None = None) -> TensorVariable: ...
def tensor3s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def tensor4(name: str | None = None, dtype: str | None = None) -> TensorVariable: ...
def tensor4s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def tensor5(name: str | None = None, dtype: str | None = None) -> TensorVariable: ...
def tensor5s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def tensor6(name: str | None = None, dtype: str | None = None) -> TensorVariable: ...
def tensor6s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def tensor7(name: str | None = None, dtype: str | None = None) -> TensorVariable: ...
def tensor7s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def tensor_copy(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The input itself."""
def tensor_from_scalar(s: Any) -> TensorVariable: ...
def tri_gamma(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Derivative of psi."""
def true_div(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Quotient; of integers, a floatX."""
def trunc(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The whole number next to x on the side of zero."""
def vector(name: str | None = None, dtype: str | None = None) -> TensorVariable: ...
def vectors(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
wcol: TensorType
def where(cond: TensorLike, ift: TensorLike, iff: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Value of ift where cond is true (not zero), of iff elsewhere; both are computed."""
wmatrix: TensorType
wrow: TensorType
wscalar: TensorType
wtensor3: TensorType
wtensor4: TensorType
wtensor5: TensorType
wtensor6: TensorType
wtensor7: TensorType
wvector: TensorType
def xor(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """The bits that are set in one only; of booleans, whether just one is true."""
zcol: TensorType
def zcols(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
def zmatrices(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
zmatrix: TensorType
zrow: TensorType
def zrows(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
zscalar: TensorType
def zscalars(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ztensor3: TensorType
def ztensor3s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ztensor4: TensorType
def ztensor4s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ztensor5: TensorType
def ztensor5s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ztensor6: TensorType
def ztensor6s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
ztensor7: TensorType
def ztensor7s(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
zvector: TensorType
def zvectors(*names: Any, **kwargs: Any) -> list[TensorVariable]: ...
