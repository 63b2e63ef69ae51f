"""All public names of tensors; :mod:`theano.tensor` is the same list."""

# ruff: noqa: F401  (a facade: it imports names for others)
from __future__ import annotations

import numpy as _numpy

from theano import printing
from theano.errors import MethodNotDefined, ShapeError
from theano.gradient import (
    DisconnectedType,
    Lop,
    Rop,
    consider_constant,
    grad,
    grad_not_implemented,
    grad_undefined,
)
from theano.graph import Apply, Constant, Generic, Op, Type, Variable
from theano.layers import lazily
from theano.scalar import (
    all_dtypes,
    complex_dtypes,
    continuous_dtypes,
    discrete_dtypes,
    float_dtypes,
    int32,
    int_dtypes,
    integer_dtypes,
    uint_dtypes,
)
from theano.scalar import int32 as int32_t
from theano.settings import config
from theano.tensor.create.arange import (
    ARange,
    arange,
)

from theano.tensor.var import TensorConstant, TensorConstantSignature, TensorVariable  # isort: skip  (before var)
from theano import scalar as scal
from theano.printing import pprint
from theano.tensor import blas, elemwise, numpy_calls, numpy_functions, sharedvar, type_other
from theano.tensor import printers as formulas
from theano.tensor.blas.dot import (
    BatchedDot,
    Dot,
    batched_dot,
    batched_tensordot,
    dense_dot,
    dot,
    matmul,
    outer,
    tensordot,
)
from theano.tensor.composed import COUNTERPARTS, FUNCTIONS
from theano.tensor.constructors import (
    SEVERAL,
    TYPES,
    col,
    complex_matrix_types,
    complex_scalar_types,
    complex_types,
    complex_vector_types,
    float_matrix_types,
    float_scalar_types,
    float_types,
    float_vector_types,
    int_matrix_types,
    int_scalar_types,
    int_types,
    int_vector_types,
    matrix,
    row,
    scalar,
    tensor,
    tensor3,
    tensor4,
    tensor5,
    tensor6,
    tensor7,
    vector,
)
from theano.tensor.control.default import Default, default, setdefault
from theano.tensor.convert import (
    AsTensorError,
    EmptyConstantError,
    NotScalarConstantError,
    as_tensor_variable,
    constant,
    constant_cache,
    extract_constant,
    get_scalar_constant_value,
    get_vector_length,
    numpy_scalar,
)
from theano.tensor.create.alloc import (
    Alloc,
    AllocEmpty,
    alloc,
    alloc_validate_shape,
    empty,
    full,
    full_like,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from theano.tensor.create.arange import bartlett
from theano.tensor.create.diagonals import Eye, Tri, eye, identity_like, tri, tril, triu
from theano.tensor.device.transfer import register_transfer, transfer
from theano.tensor.elemwise.dimshuffle import (
    DimShuffle,
)
from theano.tensor.elemwise.functions import *  # noqa: F403  (each scalar op: see there)
from theano.tensor.elemwise.op import (
    Elemwise,
)
from theano.tensor.elemwise.scalars import (
    MulWithoutZeros,
    mul_without_zeros,
)
from theano.tensor.expressions.ops import (
    Bartlett,
    BroadcastTo,
    Choose,
    DiffOp,
    FillDiagonal,
    FillDiagonalOffset,
    Flatten,
    Mean,
    Tile,
    broadcast_to,
)
from theano.tensor.functions import (
    allclose,
    ceil_intdiv,
    choose,
    cov,
    div_proxy,
    divmod,
    iround,
    isclose,
    isinf,
    isnan,
    mgrid,
    mod_check,
    ogrid,
    power,
    round,
)
from theano.tensor.index.advanced import (
    AdvancedBooleanIncSubtensor,
    AdvancedBooleanIndexingError,
    AdvancedBooleanSubtensor,
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    BaseAdvancedIncSubtensor,
    BaseAdvancedSubtensor,
    Nonzero,
    advanced_boolean_inc_subtensor,
    advanced_boolean_set_subtensor,
    advanced_boolean_subtensor,
    advanced_inc_subtensor,
    advanced_inc_subtensor1,
    advanced_set_subtensor,
    advanced_set_subtensor1,
    advanced_subtensor,
    advanced_subtensor1,
)
from theano.tensor.index.basic import (
    AdvancedIndexingError,
    IncSubtensor,
    Subtensor,
    get_idx_list,
)
from theano.tensor.index.derived import compress, diff, fill_diagonal, fill_diagonal_offset, to_one_hot
from theano.tensor.index.functions import (
    flatnonzero,
    inc_subtensor,
    nonzero,
    nonzero_values,
    roll,
    set_subtensor,
    take,
)
from theano.tensor.index.lengths import adv_index_broadcastable_pattern
from theano.tensor.index.permutation import PermuteRowElements, inverse_permutation, permute_row_elements
from theano.tensor.index.ravel import RavelMultiIndex, UnravelIndex, ravel_multi_index, unravel_index
from theano.tensor.join.op import (
    Join,
    MakeVector,
    Split,
    concatenate,
    horizontal_stack,
    join,
    join_,
    split,
    stack,
    stacklists,
    vertical_stack,
)
from theano.tensor.printers import SubtensorPrinter
from theano.tensor.reduce import extremes as _extremes
from theano.tensor.reduce import functions as _reductions
from theano.tensor.reduce.argmax import (
    Argmax,
    MaxAndArgmax,
)
from theano.tensor.reduce.axes import check_and_normalize_axes, makeKeepDims
from theano.tensor.reduce.careduce import (
    All,
    CAReduce,
    CAReduceDtype,
    Max,
    Min,
    Prod,
    ProdWithoutZeros,
    Sum,
)
from theano.tensor.reduce.extremes import *  # noqa: F403  (its own list)
from theano.tensor.reduce.functions import *  # noqa: F403  (its own list)
from theano.tensor.shape.basic import (
    Rebroadcast,
    Shape,
    Shape_i,
    SpecifyShape,
    addbroadcast,
    patternbroadcast,
    register_rebroadcast_c_code,
    register_shape_c_code,
    register_shape_i_c_code,
    register_specify_shape_c_code,
    shape,
    shape_i,
    specify_shape,
    unbroadcast,
)
from theano.tensor.shape.broadcast import broadcast_shape, broadcast_shape_iter
from theano.tensor.shape.diagonals import (
    AllocDiag,
    ExtractDiag,
    SetDiag,
    diag,
    diagonal,
    trace,
)
from theano.tensor.shape.repeat import RepeatOp, repeat, tile
from theano.tensor.shape.reshape import (
    Reshape,
    flatten,
    is_flat,
    moveaxis,
    reshape,
    shape_padaxis,
    shape_padleft,
    shape_padright,
    squeeze,
    swapaxes,
    transpose,
)
from theano.tensor.shape.scalars import (
    ScalarFromTensor,
    TensorFromScalar,
    scalar_from_tensor,
    tensor_from_scalar,
)
from theano.tensor.sharedvar import (
    ScalarSharedVariable,
    TensorSharedVariable,
    scalar_constructor,
    tensor_constructor,
)
from theano.tensor.sharedvar import tensor_constructor as _shared
from theano.tensor.sort.cumulative import CumOp, CumprodOp, CumsumOp, cumprod, cumsum
from theano.tensor.sort.op import (
    ArgSortOp,
    SortOp,
    TopKOp,
    argsort,
    argtopk,
    sort,
    topk,
    topk_and_argtopk,
)
from theano.tensor.sort.search import SearchsortedOp, searchsorted
from theano.tensor.sort.sets import Unique, bincount, unique
from theano.tensor.type import (
    TensorType,
    float16_atol,
    float16_rtol,
    float32_atol,
    float32_rtol,
    float64_atol,
    float64_rtol,
    values_eq_approx_always_true,
)
from theano.tensor.type_other import (
    MakeSlice,
    NoneConst,
    NoneTypeT,
    SliceConstant,
    SliceType,
    as_index_variable,
    as_int_none_variable,
    make_slice,
    none_type_t,
    slicetype,
)
from theano.tensor.utils import as_list, check_equal_numpy, constructor

# The types by letter and kind (dmatrix, lvector, ...) and the constructors of several variables (dmatrices, ...).
globals().update(TYPES)
globals().update(SEVERAL)

Tensor = TensorType
as_tensor = as_tensor_variable

#: A diagonal that NumPy returns is a view.
numpy_diagonal_return_view = True

#: Element-wise operations of known numbers that :func:`get_scalar_constant_value` computes.
get_scalar_constant_value_elemwises = (
    scal.Cast, scal.Switch, scal.NEQ, scal.EQ, scal.LT, scal.GT, scal.LE, scal.GE, scal.Sub, scal.Add, scal.Mod,
    scal.Mul, scal.IntDiv, scal.TrueDiv, scal.ScalarMinimum, scal.ScalarMaximum,
)  # fmt: skip

# What NumPy's functions of these names are of variables: ours, but for those of which NumPy has another notion.
_named = [
    "allclose", "argsort", "bincount", "broadcast_to", "compress", "cumprod", "cumsum", "diagonal", "flatnonzero",
    "full_like", "imag", "isclose", "moveaxis", "nonzero", "ones_like", "ravel_multi_index", "real", "repeat",
    "reshape", "sort", "swapaxes", "take", "tensordot", "tile", "transpose", "unravel_index", "zeros_like",
    *(name for name in (*_extremes.__all__, *_reductions.__all__) if hasattr(_numpy, name)),
]  # fmt: skip
_counterparts = {name: globals()[name] for name in _named} | numpy_functions.FUNCTIONS
_aliases = {"amax": "max", "amin": "min", "around": "round"}
numpy_calls.functions.update(
    {getattr(_numpy, name): _counterparts[_aliases.get(name, name)] for name in (*_counterparts, *_aliases)}
)

numpy_calls.places.update(COUNTERPARTS)

#: Rarely used parts, which are loaded on access.
_LATER = {
    **FUNCTIONS,
    **{name: f"theano.tensor.io:{name}" for name in (
        "LoadFromDisk", "MPIRecv", "MPIRecvWait", "MPISend", "MPISendWait", "irecv", "isend", "load", "mpi_cmps",
        "mpi_enabled", "mpi_keys", "mpi_send_wait_cmp", "mpi_send_wait_key", "mpi_tag_cmp", "mpi_tag_key", "recv",
        "send",
    )},
    **{f"values_eq_approx_remove_{what}": f"theano.tensor.closeness:values_eq_approx_remove_{what}" for what in (
        "inf", "inf_nan", "nan",
    )},
    "bartlett": "theano.tensor.create.arange:bartlett",
    "choice": "theano.tensor.control.choice",
    "fft": "theano.tensor.fft",
    "hessian": "theano.tensor.rows.jacobian:hessian",
    "inplace": "theano.tensor.inplace",
    "io": "theano.tensor.io",
    "jacobian": "theano.tensor.rows.jacobian:jacobian",
    "linalg": "theano.tensor.linalg",
    "nnet": "theano.tensor.nnet",
    "numeric_grad": "theano.tensor.testing.verify:numeric_grad",
    "random": "theano.tensor.random",
    "rules": "theano.tensor.rules",
    "testing": "theano.tensor.testing",
    "verify": "theano.tensor.testing.verify",
    "verify_grad": "theano.tensor.testing.verify:verify_grad",
    "xlogx": "theano.tensor.xlogx",
}  # fmt: skip

#: What `dir` of the public module leaves out: names that few programs use.
_RARE = (
    "BaseAdvancedIncSubtensor BaseAdvancedSubtensor SubtensorPrinter TensorConstantSignature "
    "adv_index_broadcastable_pattern advanced_boolean_inc_subtensor advanced_boolean_set_subtensor choice rules verify "
    "advanced_boolean_subtensor advanced_inc_subtensor advanced_inc_subtensor1 advanced_set_subtensor "
    "advanced_set_subtensor1 advanced_subtensor advanced_subtensor1 alloc_validate_shape as_index_constant "
    "as_index_variable as_int_none_variable as_list basic_shape broadcast_shape_iter "
    "check_advanced_indexing_dimensions check_and_normalize_axes check_and_reject_bool check_equal_numpy "
    "constant_cache constructor dense_dot div_proxy extract_constant float16_atol float16_rtol float32_atol "
    "float32_rtol float64_atol float64_rtol get_canonical_form_slice get_idx_list "
    "get_scalar_constant_value_elemwises group_indices indexed_result_shape int32 int32_t is_basic_idx is_flat "
    "isinf_ isnan_ join_ makeKeepDims make_constant make_slice min_informative_str mod_check mpi_cmps mpi_keys "
    "mpi_send_wait_cmp mpi_send_wait_key mpi_tag_cmp mpi_tag_key mul_without_zeros none_type_t "
    "numpy_diagonal_return_view numpy_scalar range_len register_rebroadcast_c_code register_shape_c_code "
    "register_shape_i_c_code register_specify_shape_c_code register_transfer scalar_constructor scalar_elemwise "
    "slice_len slicetype tensor_constructor values_eq_approx_always_true values_eq_approx_remove_inf "
    "values_eq_approx_remove_inf_nan values_eq_approx_remove_nan"
)

__getattr__, __dir__ = lazily(globals(), _LATER)
