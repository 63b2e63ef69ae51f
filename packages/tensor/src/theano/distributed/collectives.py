"""Ops in which all ranks of MPI take part, with gradients, for programs that distribute their data themselves.

All ranks run the same function. What a rank's cost is worth to the whole is its part of the sum over all ranks, so the
gradient of each op is another one of them: what was sent to everybody comes back from everybody as a sum. `AllReduce`
is its own adjoint, `AllGather` and `ReduceScatter` are each other's, so are `Broadcast` and `ReduceTo`, and
`SendReceive` goes back the way it came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import eq
from theano.tensor.io import communicator
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, TensorLike, Tensors
    from theano.tensor.type import Tensor

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64",
          "complex128")  # fmt: skip
"""What MPI knows how to add."""
KINDS = ("sum", "max", "min")


class _Collective(Op):
    """What all have in common: each is an event, for which all ranks must come together."""

    performs_once = True

    def do_constant_folding(self, node: Apply) -> bool:
        """Return False: while a function is compiled, the other ranks do not take part."""
        return False

    def _array(self, x: TensorLike) -> Tensor:
        x = as_tensor_variable(x)
        if x.type.dtype not in DTYPES:
            raise TypeError(f"{self}: MPI cannot send {x.type.dtype}; cast {x} to one of {', '.join(DTYPES)}")
        return x

    def _agreed(self, x: np.ndarray, shape: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the shapes on all ranks, after making sure that all are at the same op.

        Raises
        ------
        RuntimeError
            They are not, on all ranks: otherwise each would wait for the others for ever, or get their numbers.
        """
        told = communicator().allgather((str(self), x.dtype.str, tuple(shape), x.shape))
        if any(each[:3] != told[0][:3] for each in told):
            first = next(r for r, each in enumerate(told) if each[:3] != told[0][:3])
            met = " and ".join("rank {}: {} of {} {}".format(r, *told[r][:3]) for r in (0, first))
            raise RuntimeError(
                f"the ranks are not at the same operation, or have arrays that do not fit ({met}); all ranks must make "
                "the same function, and call it equally often"
            )
        return [each[3] for each in told]


def _contiguous(x: Any) -> np.ndarray:
    return np.asarray(x, order="C")


class AllReduce(_Collective):
    """The sum (or maximum, or minimum) of the arrays of all ranks, on each of them.

    Parameters
    ----------
    kind : {"sum", "max", "min"}
        What is computed of the elements of all ranks.
    """

    __props__ = ("kind",)
    shapes = "A->A"

    def __init__(self, kind: str = "sum"):
        if kind not in KINDS:
            raise ValueError(f"all_reduce: kind is one of {', '.join(KINDS)}, not {kind!r}")
        self.kind = kind

    def make_node(self, x: TensorLike) -> Apply:
        x = self._array(x)
        if self.kind != "sum" and x.type.dtype.startswith("complex"):
            raise TypeError(f"{self}: complex numbers have no order")
        return Apply(self, [x], [x.type.make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Reduce."""
        from mpi4py import MPI  # optional; the communicator has said so where it is not there

        x = _contiguous(inputs[0])
        self._agreed(x, x.shape)
        found = np.empty_like(x)
        communicator().Allreduce(x, found, op=getattr(MPI, self.kind.upper()))
        output_storage[0][0] = found

    def L_op(self, inputs: Tensors, outputs: Tensors, output_gradients: Tensors) -> list[Variable]:
        """Return the sum of the gradients of all ranks; for an extreme value, shared among those that have it."""
        g = AllReduce()(output_gradients[0])
        if self.kind == "sum":
            return [g]
        has_it = eq(inputs[0], outputs[0]).astype(g.dtype)
        return [g * has_it / AllReduce()(has_it)]


class Broadcast(_Collective):
    """The array of one rank, on each of them; the others say by theirs of which shape it is.

    Parameters
    ----------
    root : int
    """

    __props__ = ("root",)
    shapes = "A->A"

    def __init__(self, root: int = 0):
        self.root = int(root)

    def make_node(self, x: TensorLike) -> Apply:
        x = self._array(x)
        return Apply(self, [x], [x.type.make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Send to all."""
        found = np.array(inputs[0], order="C")
        self._agreed(found, found.shape)
        communicator().Bcast(found, root=self.root)
        output_storage[0][0] = found

    def L_op(self, inputs: Tensors, outputs: Tensors, output_gradients: Tensors) -> list[Variable]:
        """Return the sum of the gradients where the array came from, and zeros elsewhere."""
        return [ReduceTo(self.root)(output_gradients[0])]


class ReduceTo(Broadcast):
    """The sum of the arrays of all ranks on one of them, and zeros on the others."""

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Reduce."""
        x = _contiguous(inputs[0])
        self._agreed(x, x.shape)
        found = np.zeros_like(x)
        communicator().Reduce(x, found, root=self.root)
        output_storage[0][0] = found

    def L_op(self, inputs: Tensors, outputs: Tensors, output_gradients: Tensors) -> list[Variable]:
        """Return the gradient of that rank."""
        return [Broadcast(self.root)(output_gradients[0])]


class AllGather(_Collective):
    """The arrays of all ranks as one, in their order, on each of them; their first axes may have different lengths."""

    __props__ = ()

    def make_node(self, x: TensorLike) -> Apply:
        x = self._array(x)
        if x.type.ndim == 0:
            raise TypeError(f"{self}: {x} is a number; numbers become arrays by x.dimshuffle('x')")
        return Apply(self, [x], [TensorType(x.type.dtype, (False, *x.type.broadcastable[1:])).make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Gather."""
        x = _contiguous(inputs[0])
        shapes = self._agreed(x, x.shape[1:])
        found = np.empty((sum(s[0] for s in shapes), *x.shape[1:]), x.dtype)
        communicator().Allgatherv(x, [found, [int(np.prod(s)) for s in shapes]])
        output_storage[0][0] = found

    def L_op(self, inputs: Tensors, outputs: Tensors, output_gradients: Tensors) -> list[Variable]:
        """Return this rank's part of the sum of the gradients."""
        return [ReduceScatter()(output_gradients[0], inputs[0].shape[0])]


class ReduceScatter(_Collective):
    """Of the sum of the arrays of all ranks, to each its part: the first rows to rank 0, and so on."""

    __props__ = ()

    def make_node(self, x: TensorLike, rows: object) -> Apply:
        """Return the node, for an array and the number of rows that go to this rank."""
        x, rows = self._array(x), as_tensor_variable(rows)
        if x.type.ndim == 0 or rows.type.ndim or rows.type.dtype not in DTYPES[:8]:
            raise TypeError(f"{self}: it is of an array and a whole number of rows, not of {x.type} and {rows.type}")
        return Apply(self, [x, rows], [TensorType(x.type.dtype, (False, *x.type.broadcastable[1:])).make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Reduce, and scatter."""
        x, rows = _contiguous(inputs[0]), int(inputs[1])
        self._agreed(x, x.shape)
        each = communicator().allgather(rows)
        if min(each) < 0 or sum(each) != len(x):
            raise ValueError(f"{self}: the ranks want {each} rows, {sum(each)} together, of an array that has {len(x)}")
        found = np.empty((rows, *x.shape[1:]), x.dtype)
        width = int(np.prod(x.shape[1:]))
        communicator().Reduce_scatter(x, found, [n * width for n in each])
        output_storage[0][0] = found

    def infer_shape(self, node: Apply, shapes: Sequence[Any]) -> list[Shape]:
        """Return the number of rows, with the rest of the shape."""
        return [(node.inputs[1], *shapes[0][1:])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Return that the result has no derivative in the number of rows."""
        return [[True], [False]]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_gradients: Tensors) -> list[Variable]:
        """Return the gradients of all ranks as one array."""
        return [AllGather()(output_gradients[0]), DisconnectedType()()]


class SendReceive(_Collective):
    """Send an array to one rank, and receive one from another, or do only one of the two.

    Parameters
    ----------
    to, source : int or None
        Ranks.
    tag : int
    """

    __props__ = ("to", "source", "channel")

    def __init__(self, to: int | None, source: int | None, tag: int = 0):
        self.to, self.source, self.channel = to, source, int(tag)

    def make_node(self, x: TensorLike, like: Tensor) -> Apply:
        """Return the node, for what is sent, and the shape of the zeros that are the result of receiving nothing."""
        x, like = self._array(x), self._array(like)
        if x.type.dtype != like.type.dtype or x.type.ndim != like.type.ndim:
            raise TypeError(f"{self}: what is sent is of {x.type}, and what is received of {like.type}")
        return Apply(self, [x, like], [TensorType(x.type.dtype, (False,) * x.type.ndim).make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Send, and receive meanwhile."""
        comm, requests = communicator(), []
        if self.to is not None:
            x = _contiguous(inputs[0])
            requests = [comm.isend((x.dtype.str, x.shape), self.to, self.channel)]
            requests.append(comm.Isend(x, self.to, self.channel))
        found = np.zeros_like(inputs[1])
        if self.source is not None:
            dtype, shape = comm.recv(source=self.source, tag=self.channel)
            found = np.empty(shape, dtype)
            comm.Recv(found, self.source, self.channel)
        for request in requests:
            request.wait()
        if found.dtype != inputs[1].dtype or found.ndim != inputs[1].ndim:
            raise TypeError(
                f"{self}: rank {self.source} has sent {found.dtype} with {found.ndim} axes, where {inputs[1].dtype} "
                f"with {inputs[1].ndim} was expected"
            )
        output_storage[0][0] = found

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Return that of the second input only the shape counts."""
        return [[True], [False]]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_gradients: Tensors) -> list[Variable]:
        """Return the gradient that comes back from where the array went."""
        back = SendReceive(self.source, self.to, self.channel)(output_gradients[0], inputs[0])
        return [back, DisconnectedType()()]


def all_reduce(x: Any, kind: str = "sum") -> Any:
    """Return the sum, maximum or minimum of the arrays of all ranks of MPI, the same on each.

    Parameters
    ----------
    x : array
        Of one shape on all ranks.
    kind : {"sum", "max", "min"}
        What is computed of the elements of all ranks.

    Returns
    -------
    TensorVariable
        Of the type of ``x``.

    Examples
    --------
    The gradient of a sum over the ranks is the sum of the gradients of all ranks:

    >>> import theano, theano.distributed, theano.tensor as T
    >>> x = T.dvector("x")
    >>> total = theano.distributed.all_reduce(T.sum(x ** 2))
    >>> total.type, T.grad(total, x).type
    (TensorType(float64, scalar), TensorType(float64, vector))
    """
    return AllReduce(kind)(x)


def broadcast(x: Any, root: int = 0) -> Any:
    """Return the array of one rank, on all; the others give one of its shape.

    Parameters
    ----------
    x : array
        Of one shape on all ranks.
    root : int
        The rank whose array is returned.

    Returns
    -------
    TensorVariable
        Of the type of ``x``.

    Examples
    --------
    >>> import theano.distributed, theano.tensor as T
    >>> theano.distributed.broadcast(T.dvector(), root=1).type
    TensorType(float64, vector)
    """
    return Broadcast(root)(x)


def all_gather(x: Any) -> Any:
    """Return the arrays of all ranks as one, along the first axis and in the order of the ranks.

    Parameters
    ----------
    x : array
        Its first axis may be of another length on each rank, and of length 0.

    Returns
    -------
    TensorVariable
        Of the dtype and dimensions of ``x``.

    Examples
    --------
    >>> import theano.distributed, theano.tensor as T
    >>> theano.distributed.all_gather(T.dmatrix()).type
    TensorType(float64, matrix)
    """
    return AllGather()(x)


def reduce_scatter(x: Any, rows: Any) -> Any:
    """Return this rank's rows of the sum of the arrays of all ranks.

    Parameters
    ----------
    x : array
        Of one shape on all ranks.
    rows : int or scalar
        How many rows are for this rank: rank 0 gets the first ones. On all ranks together, all of them.

    Returns
    -------
    TensorVariable
        Of the dtype and dimensions of ``x``, with ``rows`` rows.

    Examples
    --------
    >>> import theano.distributed, theano.tensor as T
    >>> theano.distributed.reduce_scatter(T.dmatrix(), 2).type
    TensorType(float64, matrix)
    """
    return ReduceScatter()(x, rows)


def send_receive(x: Any, to: int | None, source: int | None, tag: int = 0, like: Any = None) -> Any:
    """Send an array to one rank and return the one that another sends; the gradient goes back the same way.

    Each rank that a message is sent to must receive it, and in each of its gradients, too: who only receives, has to
    ask for the gradient of ``x``, which is zero, but sends on what the sender waits for.

    Parameters
    ----------
    x : array
        What is sent.
    to : int or None
        The rank that receives it; None if none does.
    source : int or None
        The rank whose array is returned; None for zeros.
    tag : int
        Tells messages between the same ranks apart.
    like : array, optional
        Where nothing is received, the shape of the zeros, if it is not that of ``x``.

    Returns
    -------
    TensorVariable
        Of the dtype and dimensions of ``x``.

    Examples
    --------
    Around a ring of three, for rank 0:

    >>> import theano.distributed, theano.tensor as T
    >>> theano.distributed.send_receive(T.dvector(), to=1, source=2).type
    TensorType(float64, vector)
    """
    return SendReceive(to, source, tag)(x, x if like is None else like)
