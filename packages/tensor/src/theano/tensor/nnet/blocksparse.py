"""Products of chosen blocks of a matrix with pieces of vectors, for layers of which each example uses a few parts.

Their rules come with them: programs without such products know nothing of either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.rewriting import phases
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import cast
from theano.tensor.messages import describe, shape_error
from theano.tensor.rules.inplace import work_in_place
from theano.tensor.shape.basic import patternbroadcast
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike, Tensors
    from theano.tensor.type import Tensor

__all__ = [
    "SparseBlockGemv", "SparseBlockOuter", "local_inplace_sparse_block_gemv", "local_inplace_sparse_block_outer",
    "sparse_block_dot", "sparse_block_gemv", "sparse_block_gemv_inplace", "sparse_block_outer",
    "sparse_block_outer_inplace",
]  # fmt: skip


class _Blocks(Op):
    """What both have in common.

    Parameters
    ----------
    inplace : bool
        Whether the first input is overwritten.
    """

    __props__ = ("inplace",)
    #: Names and numbers of dimensions of the inputs; those with two dimensions are numbers of blocks.
    ndims: dict[str, int] = {}
    shapes = "A->A"

    def __init__(self, inplace: bool = False):
        self.inplace = bool(inplace)
        if self.inplace:
            self.destroy_map = {0: [0]}

    def _node(self, given: Sequence[TensorLike]) -> Apply:
        variables = [as_tensor_variable(v) for v in given]
        for (name, ndim), v in zip(self.ndims.items(), variables, strict=True):
            if v.type.ndim != ndim:
                raise TypeError(f"{self}: {name} must have {ndim} dimensions:\n{describe(v)}")
            if ndim == 2 and v.type.dtype not in scal.integer_dtypes:
                raise TypeError(f"{self}: {name} must be whole numbers:\n{describe(v)}")
        dtype = scal.upcast(*(v.type.dtype for v in variables if v.type.ndim != 2))
        variables = [v if v.type.ndim == 2 else cast(v, dtype) for v in variables]
        return Apply(self, variables, [variables[0].type()])

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that numbers of blocks have no gradient."""
        return [[v.type.ndim != 2] for v in node.inputs]


class SparseBlockGemv(_Blocks):
    """``o`` with products of pieces and blocks added.

    That is ``o[b, j] + sum over i of h[b, i] @ W[inputIdx[b, i], outputIdx[b, j]]``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> W, h = T.arange(8.0).reshape((2, 2, 1, 2)), T.constant([[[10.0]]])
    >>> SparseBlockGemv()(T.zeros((1, 1, 2)), W, h, [[1]], [[0]]).eval()
    array([[[40., 50.]]])
    """

    ndims = {"o": 3, "W": 4, "h": 3, "inputIdx": 2, "outputIdx": 2}

    def make_node(self, o: TensorLike, W: Any, h: TensorLike, inputIdx: TensorLike, outputIdx: TensorLike) -> Apply:
        """Return the node.

        Parameters
        ----------
        o : tensor
            (batch, output pieces, output size)
        W : tensor
            (input blocks, output blocks, input size, output size)
        h : tensor
            (batch, input pieces, input size)
        inputIdx, outputIdx : matrix of integers
            (batch, pieces), the blocks that belong to them.
        """
        return self._node([o, W, h, inputIdx, outputIdx])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Multiply example by example."""
        o, W, h, rows, columns = inputs
        batch, wanted, found = len(h), (rows.shape, columns.shape), (h.shape[:2], o.shape[:2])
        if wanted != found or len(o) != batch or W.shape[2:] != (h.shape[2], o.shape[2]):
            raise shape_error(node, inputs, "shapes do not belong together.", SHAPES)
        out = o if self.inplace else o.copy()
        for b in range(batch):
            blocks = W[rows[b][:, None], columns[b][None, :]]
            out[b] += np.einsum("ik,ijkl->jl", h[b], blocks)
        output_storage[0][0] = out

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients, made of products of chosen blocks as well."""
        _, W, h, rows, columns = inputs
        (g,) = output_grads
        g_W = SparseBlockOuter()(W.zeros_like(), h, g, rows, columns)
        g_h = SparseBlockGemv()(h.zeros_like(), W.dimshuffle(1, 0, 3, 2), g, columns, rows)
        return [g, _like(g_W, W), _like(g_h, h), DisconnectedType()(), DisconnectedType()()]


class SparseBlockOuter(_Blocks):
    """``o`` with outer products added to blocks: ``o[xIdx[b, i], yIdx[b, j]] += alpha * outer(x[b, i], y[b, j])``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, y = T.constant([[[2.0]]]), T.constant([[[3.0, 5.0]]])
    >>> SparseBlockOuter()(T.zeros((1, 2, 1, 2)), x, y, [[0]], [[1]]).eval()
    array([[[[ 0.,  0.]],
    <BLANKLINE>
            [[ 6., 10.]]]])
    """

    ndims = {"o": 4, "x": 3, "y": 3, "xIdx": 2, "yIdx": 2, "alpha": 0}

    def make_node(
        self, o: TensorLike, x: Tensor, y: TensorLike, xIdx: TensorLike, yIdx: TensorLike, alpha: Any = None
    ) -> Apply:
        """Return the node.

        Parameters
        ----------
        o : tensor
            (blocks of x, blocks of y, size of x, size of y)
        x, y : tensor
            (batch, pieces, size)
        xIdx, yIdx : matrix of integers
            (batch, pieces), the blocks that belong to them.
        alpha : scalar, optional
            1 by default.
        """
        return self._node([o, x, y, xIdx, yIdx, np.float32(1) if alpha is None else alpha])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Add example by example; a block may be there several times."""
        o, x, y, rows, columns, alpha = inputs
        found = (rows.shape, columns.shape, len(x), o.shape[2:])
        if found != (x.shape[:2], y.shape[:2], len(y), (x.shape[2], y.shape[2])):
            raise shape_error(node, inputs, "shapes do not belong together.", SHAPES)
        out = o if self.inplace else o.copy()
        for b in range(len(x)):
            each = np.einsum("ik,jl->ijkl", alpha * x[b], y[b]).astype(out.dtype, copy=False)
            np.add.at(out, (rows[b][:, None], columns[b][None, :]), each)
        output_storage[0][0] = out

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients, made of products of chosen blocks."""
        _, x, y, rows, columns, alpha = inputs
        (g,) = output_grads
        g_x = SparseBlockGemv()(x.zeros_like(), g.dimshuffle(1, 0, 3, 2), y, columns, rows)
        g_y = SparseBlockGemv()(y.zeros_like(), g, x, rows, columns)
        scaled = [_like(alpha * part, v) for part, v in ((g_x, x), (g_y, y))]
        return [g, *scaled, DisconnectedType()(), DisconnectedType()(), (g_y * y).sum()]


def _like(g: Tensor, v: Tensor) -> Any:
    """Return a gradient with the type of what it is the gradient of."""
    return patternbroadcast(g, v.type.broadcastable)


SHAPES = "The sizes of blocks are those of the pieces; there are as many numbers of blocks as pieces."

sparse_block_gemv, sparse_block_gemv_inplace = SparseBlockGemv(), SparseBlockGemv(True)
sparse_block_outer, sparse_block_outer_inplace = SparseBlockOuter(), SparseBlockOuter(True)


def sparse_block_dot(
    W: TensorLike, h: TensorLike, inputIdx: TensorLike, b: TensorLike, outputIdx: TensorLike
) -> Tensor:
    """Return products of chosen blocks with pieces of vectors, and a bias that is added once to each.

    Parameters
    ----------
    W : tensor
        (input blocks, output blocks, input size, output size)
    h : tensor
        (batch, input pieces, input size), or without the first.
    inputIdx : matrix of integers
        (batch, input pieces), the blocks that belong to them; a vector if h has no batch.
    b : matrix
        (output blocks, output size)
    outputIdx : matrix of integers
        (batch, output pieces), the blocks that are computed.

    Returns
    -------
    tensor
        (batch, output pieces, output size)

    Raises
    ------
    TypeError
        Numbers of dimensions do not fit.

    Examples
    --------
    >>> import theano.tensor as T
    >>> W, h = T.arange(8.0).reshape((2, 2, 1, 2)), T.constant([[[10.0]]])
    >>> sparse_block_dot(W, h, T.constant([[1]]), T.ones((2, 2)), T.constant([[0]])).eval()
    array([[[41., 51.]]])
    """
    h, rows, columns = (as_tensor_variable(v) for v in (h, inputIdx, outputIdx))
    if rows.type.ndim != h.type.ndim - 1 or columns.type.ndim != rows.type.ndim:
        raise TypeError(f"sparse_block_dot: inputIdx and outputIdx must have one dimension less than h:\n{describe(h)}")
    if h.type.ndim == 2:
        h, rows, columns = h.dimshuffle("x", 0, 1), rows.dimshuffle("x", 0), columns.dimshuffle("x", 0)
    return SparseBlockGemv()(as_tensor_variable(b)[columns], W, h, rows, columns)


# -- in place --------------------------------------------------------------------------------------------------------


def _block_in_place(kind: type[SparseBlockGemv] | type[SparseBlockOuter]) -> Any:
    def propose(node: TensorApply, may_take: Callable[..., object]) -> Any:
        op: Op = node.op
        return kind(True) if isinstance(op, kind) and not op.inplace and may_take(0) else None

    return propose


def local_inplace_sparse_block_gemv(fgraph: Any, context: Any) -> None:
    """Let products of chosen blocks be added to their first input itself."""
    work_in_place(fgraph, context, "local_inplace_sparse_block_gemv", _block_in_place(SparseBlockGemv))


def local_inplace_sparse_block_outer(fgraph: Any, context: Any) -> None:
    """Let outer products be added to the chosen blocks themselves."""
    work_in_place(fgraph, context, "local_inplace_sparse_block_outer", _block_in_place(SparseBlockOuter))


for _pass in (local_inplace_sparse_block_gemv, local_inplace_sparse_block_outer):
    phases.register(_pass.__name__, _pass, 60, "fast_run", "inplace")
