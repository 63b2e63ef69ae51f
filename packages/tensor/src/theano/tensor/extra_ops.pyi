"""Old spelling; what ``theano.tensor.extra_ops`` shows is in :mod:`theano.tensor.create.arange`, :mod:`theano.tensor.expressions.ops`, :mod:`theano.tensor.index.derived`, :mod:`theano.tensor.index.ravel`, :mod:`theano.tensor.shape.broadcast`, :mod:`theano.tensor.shape.contiguous`, :mod:`theano.tensor.shape.repeat`, :mod:`theano.tensor.shape.reshape`, :mod:`theano.tensor.sort.cumulative`, :mod:`theano.tensor.sort.search`, :mod:`theano.tensor.sort.sets`, :mod:`theano`, :mod:`theano.gof`, :mod:`theano.graph`, :mod:`theano.graph.enum_type`, :mod:`theano.graph.op`, :mod:`theano.graph.params_type`, :mod:`theano.graph.traverse`, :mod:`theano.legacy.helpers`, :mod:`theano.scalar`, :mod:`theano.gradient`, :mod:`theano.settings`, :mod:`theano.tensor.basic`, :mod:`theano.tensor.control.checks`, :mod:`theano.tensor.convert`, :mod:`theano.tensor.elemwise.functions`, :mod:`theano.tensor.index.functions`, :mod:`theano.tensor.nlinalg`, :mod:`theano.tensor.type`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.tensor.annotations import TensorLike
from theano.tensor.create.arange import bartlett as bartlett
from theano.tensor.expressions.ops import (
    Bartlett as Bartlett, BroadcastTo as BroadcastTo, DiffOp as DiffOp, FillDiagonal as FillDiagonal, FillDiagonalOffset
    as FillDiagonalOffset, broadcast_to as broadcast_to, fill_diagonal_ as fill_diagonal_, fill_diagonal_offset_ as
    fill_diagonal_offset_,
)
from theano.tensor.index.derived import (
    compress as compress, diff as diff, fill_diagonal as fill_diagonal, fill_diagonal_offset as fill_diagonal_offset,
    to_one_hot as to_one_hot,
)
from theano.tensor.index.ravel import (
    RavelMultiIndex as RavelMultiIndex, UnravelIndex as UnravelIndex, ravel_multi_index as ravel_multi_index,
    unravel_index as unravel_index,
)
from theano.tensor.shape.broadcast import (
    broadcast_shape as broadcast_shape, broadcast_shape_iter as broadcast_shape_iter,
)
from theano.tensor.shape.contiguous import CpuContiguous as CpuContiguous
from theano.tensor.shape.repeat import RepeatOp as RepeatOp, repeat as repeat
from theano.tensor.shape.reshape import squeeze as squeeze
from theano.tensor.sort.cumulative import (
    CumOp as CumOp, CumprodOp as CumprodOp, CumsumOp as CumsumOp, cumprod as cumprod, cumsum as cumsum,
)
from theano.tensor.sort.search import SearchsortedOp as SearchsortedOp, searchsorted as searchsorted
from theano.tensor.sort.sets import Unique as Unique, bincount as bincount
from theano.tensor.var import TensorVariable
from typing import Any

def bartlett_(*inputs: Any) -> TensorVariable: ...
def cpu_contiguous(x: TensorLike) -> TensorVariable: ...
