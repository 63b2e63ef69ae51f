"""MapReduce: reductions of what a scalar op makes of the elements, without a tensor in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import Apply, Op
from theano.tensor.compound import Compound
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.kernels.reduction import ReductionLimit
from theano.tensor.reduce.careduce import CAReduce
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes

MAX_TERMS, MAX_RESULTS = int(ReductionLimit.MAX_TERMS), int(ReductionLimit.MAX_RESULTS)
"""How many operands and results a reduction may have when it is compiled, as reduce.h says."""


class MapReduce(Op):
    """Reductions of element-wise expressions, each element computed and taken in at once.

    Fusion makes it of reductions along the same axes and of what they alone use.

    Parameters
    ----------
    scalar_op : ScalarOp
        With as many outputs as there are reductions: their terms.
    reductions : sequence of CAReduce
        All along the same axes.

    Examples
    --------
    >>> import theano.tensor as T
    >>> from theano.tensor.reduce.careduce import Sum
    >>> MapReduce(scal.sqr, [Sum(axis=(1,))])(T.dmatrix("m")).owner
    MapReduce{Sum{axis=[1], acc_dtype=float64} of sqr}(m)
    """

    __props__ = ("scalar_op", "reductions")

    def __init__(self, scalar_op: Any, reductions: Sequence[CAReduce]):
        self.scalar_op = scalar_op
        self.reductions = tuple(reductions)

    def __str__(self) -> str:
        return f"MapReduce{{{', '.join(map(str, self.reductions))} of {self.scalar_op}}}"

    @property
    def axis(self) -> tuple[int, ...] | None:
        """What is reduced."""
        return self.reductions[0].axis

    def term_dtypes(self, dtypes: Sequence[str]) -> list[str]:
        """Return the dtypes of the terms, for inputs of given dtypes."""
        return [t.dtype for t in self.scalar_op.output_types([scal.get_scalar_type(d) for d in dtypes])]

    def make_node(self, *inputs: Variable) -> Apply:
        """Return the node, its inputs brought to one number of dimensions."""
        terms = Elemwise(self.scalar_op).make_node(*map(as_tensor_variable, inputs))
        nodes: list[Node] = [r.make_node(t) for r, t in zip(self.reductions, terms.outputs, strict=True)]
        op = MapReduce(self.scalar_op, [n.op for n in nodes])
        return Apply(op, terms.inputs, [n.outputs[0].type.make_variable() for n in nodes])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compute the terms with NumPy, then reduce them."""
        pattern = [all(ones) for ones in zip(*(x.type.broadcastable for x in node.inputs), strict=True)]
        dtypes = self.term_dtypes([x.type.dtype for x in node.inputs])
        terms = [TensorType(d, pattern).make_variable() for d in dtypes]
        cells: list[list[Any]] = [[None] for _ in terms]
        elemwise = Elemwise(self.scalar_op)
        elemwise.perform(Apply(elemwise, node.inputs, terms), inputs, cells)
        for reduction, term, (value,), cell, out in zip(
            self.reductions, terms, cells, output_storage, node.outputs, strict=True
        ):
            reduction.perform(Apply(reduction, [term], [out.type.make_variable()]), [value], [cell])

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the lengths that stay: each that of an input which is not broadcast along it."""
        ndim = node.inputs[0].type.ndim
        gone = self.reductions[0].axes_of(ndim)
        kept = []
        for axis in (a for a in range(ndim) if a not in gone):
            sources = [s[axis] for x, s in zip(node.inputs, shapes, strict=True) if not x.type.broadcastable[axis]]
            kept.append(sources[0] if sources else shapes[0][axis])
        return [tuple(kept) for _ in node.outputs]


class MapReduceOfNumbers(Compound, MapReduce):  # type: ignore[misc]
    """Reductions of element-wise expressions some of whose inputs have no dimensions, whatever the others have.

    Examples
    --------
    >>> import theano.tensor as T
    >>> from theano.tensor.reduce.careduce import Sum
    >>> MapReduceOfNumbers(scal.mul, [Sum()])(T.dvector("v"), T.dscalar("s")).owner
    MapReduce{Sum{acc_dtype=None} of mul}(v, s)
    """

    __props__ = ("scalar_op", "reductions")

    def __str__(self) -> str:
        return MapReduce.__str__(self)

    def expression(self, *inputs: Variable) -> list[Variable]:
        """Return the outputs of the op that adds dimensions first."""
        return MapReduce(self.scalar_op, self.reductions).make_node(*inputs).outputs
