"""Old spelling; what ``theano.tensor.nnet.nnet`` shows is in :mod:`theano.tensor.nnet.classes`, :mod:`theano.tensor.nnet.rules`, :mod:`theano.tensor.rules.by_name`, :mod:`theano.tensor.nnet.activation`, :mod:`theano.tensor.nnet.crossentropy`, :mod:`theano.tensor.nnet.labels`, :mod:`theano.tensor.nnet.likelihood`, :mod:`theano.tensor.nnet.softmax`, :mod:`theano.compile`, :mod:`theano.gof`, :mod:`theano.graph.source`, :mod:`theano.scalar`, :mod:`theano.tensor.basic`, :mod:`theano.tensor.elemwise`, :mod:`theano.tensor.elemwise.functions`, :mod:`theano.tensor.extra_ops`, :mod:`theano.tensor.nnet.blocksparse`, :mod:`theano.tensor.opt`, :mod:`theano.tensor.subtensor`, :mod:`theano.tensor.closeness`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from __future__ import annotations as annotations
from collections.abc import Callable, Sequence as Sequence
from functools import reduce as reduce
from operator import mul as mul
from theano import scalar as scal
from theano.errors import ArgumentError as ArgumentError
from theano.gradient import DisconnectedType as DisconnectedType
from theano.graph import Apply as Apply, Constant as Constant, Op as Op
from theano.graph.op import Op
from theano.graph.variable import Variable
from theano.rewriting import P as P, Rest as Rest, Var as Var
from theano.rewriting.pattern import Pattern, Var
from theano.rewriting.phases import Phases
from theano.rewriting.rule import Answer, FunctionRule, PatternRule
from theano.scalar.numpy_errors import NUMPY_ERRORS as NUMPY_ERRORS
from theano.settings import config as config
from theano.tensor.annotations import TensorLike
from theano.tensor.control.checks import same_length as same_length
from theano.tensor.convert import as_tensor_variable as as_tensor_variable, constant as constant
from theano.tensor.create.alloc import Alloc as Alloc, zeros as zeros
from theano.tensor.create.arange import ARange as ARange, arange as arange
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle as DimShuffle
from theano.tensor.elemwise.functions import cast as cast, floats as floats
from theano.tensor.elemwise.op import Elemwise as Elemwise
from theano.tensor.index.advanced import (
    AdvancedIncSubtensor as AdvancedIncSubtensor, AdvancedSubtensor as AdvancedSubtensor,
)
from theano.tensor.index.functions import getitem as getitem
from theano.tensor.messages import describe as describe, shape_error as shape_error
from theano.tensor.nnet.activation import (
    ScalarSigmoid as ScalarSigmoid, ScalarSoftplus as ScalarSoftplus, ScalarSoftsign as ScalarSoftsign,
    UltraFastScalarSigmoid as UltraFastScalarSigmoid, elu as elu, hard_sigmoid as hard_sigmoid, relu as relu,
    scalar_sigmoid as scalar_sigmoid, scalar_softplus as scalar_softplus, scalar_softsign as scalar_softsign,
    scalar_ultra_fast_sigmoid as scalar_ultra_fast_sigmoid, selu as selu,
)
from theano.tensor.nnet.classes import (
    Prepend_scalar_constant_to_each_row as Prepend_scalar_constant_to_each_row, Prepend_scalar_to_each_row as
    Prepend_scalar_to_each_row, confusion_matrix as confusion_matrix, h_softmax as h_softmax, prepend_scalar_to_each_row
    as prepend_scalar_to_each_row,
)
from theano.tensor.nnet.crossentropy import (
    CrossentropyCategorical1Hot as CrossentropyCategorical1Hot, CrossentropyCategorical1HotGrad as
    CrossentropyCategorical1HotGrad, binary_crossentropy as binary_crossentropy, categorical_crossentropy as
    categorical_crossentropy, sigmoid_binary_crossentropy as sigmoid_binary_crossentropy,
)
from theano.tensor.nnet.ctc import ConnectionistTemporalClassification as ConnectionistTemporalClassification
from theano.tensor.nnet.labels import (
    LABELS as LABELS, Labelled as Labelled, check_labels as check_labels, label_vector as label_vector, labels_of as
    labels_of, one_hot as one_hot,
)
from theano.tensor.nnet.likelihood import (
    CrossentropySoftmax1HotWithBiasDx as CrossentropySoftmax1HotWithBiasDx, CrossentropySoftmaxArgmax1HotWithBias as
    CrossentropySoftmaxArgmax1HotWithBias, crossentropy_softmax_1hot as crossentropy_softmax_1hot,
    crossentropy_softmax_1hot_with_bias as crossentropy_softmax_1hot_with_bias, crossentropy_softmax_max_and_argmax_1hot
    as crossentropy_softmax_max_and_argmax_1hot, crossentropy_softmax_max_and_argmax_1hot_with_bias as
    crossentropy_softmax_max_and_argmax_1hot_with_bias,
)
from theano.tensor.nnet.rules import (
    ALWAYS as ALWAYS, LOGARITHM as LOGARITHM, b as b, classes as classes, dy as dy,
    graph_merge_softmax_with_crossentropy_softmax as graph_merge_softmax_with_crossentropy_softmax, inner as inner,
    local_ctc_no_grad as local_ctc_no_grad, local_softmax_grad_over_softmax as local_softmax_grad_over_softmax, sm as
    sm, softmax_simplifier as softmax_simplifier, value as value, x as x,
)
from theano.tensor.nnet.softmax import (
    LogSoftmax as LogSoftmax, Softmax as Softmax, SoftmaxGrad as SoftmaxGrad, SoftmaxWithBias as SoftmaxWithBias, along
    as along, floating as floating, logsoftmax as logsoftmax, rows_softmax as rows_softmax, softmax as softmax,
    softmax_graph as softmax_graph,
)
from theano.tensor.reduce.argmax import Argmax as Argmax, MaxAndArgmax as MaxAndArgmax
from theano.tensor.reduce.careduce import CAReduce as CAReduce, Max as Max, Sum as Sum
from theano.tensor.reduce.logsumexp import LogSumExp as LogSumExp
from theano.tensor.rules.by_name import (
    crossentropy_to_crossentropy_with_softmax as crossentropy_to_crossentropy_with_softmax,
    crossentropy_to_crossentropy_with_softmax_with_bias as crossentropy_to_crossentropy_with_softmax_with_bias,
    local_advanced_indexing_crossentropy_onehot as local_advanced_indexing_crossentropy_onehot,
    local_advanced_indexing_crossentropy_onehot_grad as local_advanced_indexing_crossentropy_onehot_grad,
    local_argmax_pushdown as local_argmax_pushdown, local_logsoftmax as local_logsoftmax, local_logsoftmax_grad as
    local_logsoftmax_grad, local_softmax_grad_to_crossentropy_with_softmax_grad as
    local_softmax_grad_to_crossentropy_with_softmax_grad, local_softmax_with_bias as local_softmax_with_bias,
    local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc as
    local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc,
)
from theano.tensor.rules.predicates import (
    combine as combine, conform as conform, factors_of as factors_of, filled_with as filled_with, made_by as made_by,
    number_of as number_of, only_used_by as only_used_by, scalar_of as scalar_of, times as times, uniform as uniform,
)
from theano.tensor.shape.basic import Shape_i as Shape_i, shape_i as shape_i
from theano.tensor.shape.reshape import shape_padleft as shape_padleft
from theano.tensor.type import TensorApply as TensorApply, TensorType as TensorType
from theano.tensor.var import TensorVariable
from typing import Any as Any, TYPE_CHECKING as TYPE_CHECKING

def abs_(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Absolute value; modulus of a complex number."""
def alloc(value: TensorLike, *shape: Any) -> TensorVariable: ...
def clip(x: TensorLike, min: TensorLike, max: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Clip x to [min, max]; NaN is preserved."""
def crossentropy_categorical_1hot(coding_dist: TensorLike, true_one_of_n: TensorLike) -> TensorVariable: ...
def crossentropy_categorical_1hot_grad(
    g_y: TensorLike, coding_dist: TensorVariable, true_one_of_n: TensorLike,
) -> TensorVariable: ...
def crossentropy_softmax_1hot_with_bias_dx(
    dy: TensorLike, sm: TensorVariable, y_idx: TensorLike, labels: TensorLike | str = 'each',
) -> TensorVariable: ...
def crossentropy_softmax_argmax_1hot_with_bias(
    x: TensorLike, b: TensorVariable, y_idx: TensorLike, labels: object = 'each',
) -> list[TensorVariable]: ...
def eq(x: TensorLike, y: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Whether x equals y."""
def exp(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Exponential."""
def expm1(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Exponential minus one, exact near zero."""
def grad_not_implemented(op: Op, x_pos: int, x: Variable, comment: str = '') -> Variable: ...
def local_rule(
    tracks: Sequence[Any] | None = None, name: str | None = None, keeps: str = 'exact', phases: Sequence[str] = ...,
    tags: Sequence[str] = ..., into: Phases | None = None, needs: Sequence[type | Op] = ...,
) -> Callable[[Callable[..., Answer]], FunctionRule]: ...
def log(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Natural logarithm."""
def logsoftmax_op(x: TensorLike) -> TensorVariable: ...
def pattern_vars(names: str, condition: Callable[[Any], bool] | None = None) -> tuple[Var, ...]: ...
def prepend_0_to_each_row(*inputs: Any) -> TensorVariable: ...
def prepend_1_to_each_row(*inputs: Any) -> TensorVariable: ...
def rule(
    name: str, pattern: Pattern, result: object, keeps: str = 'exact', when: Callable[..., Any] | None = None, phases:
    Sequence[str] = ..., tags: Sequence[str] = ..., allow_multiple_clients: bool = True, also: Sequence[tuple[Any, ...]]
    = ..., doc: str | None = None, into: Phases | None = None,
) -> PatternRule: ...
def sigmoid(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logistic function, 1 / (1 + exp(-x)), from subnormals to one without overflow."""
def sigmoid_inplace(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logistic function, 1 / (1 + exp(-x)), from subnormals to one without overflow."""
def softmax_grad(dy: TensorLike, sm: TensorVariable) -> TensorVariable: ...
def softmax_op(x: TensorLike) -> TensorVariable: ...
def softmax_with_bias(x: TensorLike, b: TensorVariable) -> TensorVariable: ...
def softplus(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logarithm of 1 + exp(x), without overflow."""
def softsign(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Quotient x / (1 + abs(x)): a sigmoid from -1 to 1 with heavy tails."""
def switch(cond: TensorLike, ift: TensorLike, iff: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Value of ift where cond is true (not zero), of iff elsewhere; both are computed."""
def ultra_fast_sigmoid(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """An approximation of the sigmoid by three pieces, within 0.07 of it."""
