"""Values that come from files and from other processes."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from theano.graph import Apply, Constant, Generic, Op, Variable
from theano.tensor.convert import as_tensor_variable
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.tensor.annotations import Shape, Shapes, TensorLike
    from theano.tensor.type import Tensor

#: How a file is mapped into memory; None: it is read.
MapMode: TypeAlias = Literal["c", "r", "r+", "w+"] | None

# -- files ------------------------------------------------------------------------------------------------------


class LoadFromDisk(Op):
    """An array read from a file that ``numpy.save`` wrote, each time that it is computed.

    Parameters
    ----------
    dtype : str
    broadcastable : sequence of bool
        What the file must hold.
    mmap_mode : None or "c"
        "c": the file is not read but mapped into memory; what is written to the array does not go to the file.

    Examples
    --------
    >>> LoadFromDisk("float64", (False, False))
    Load{dtype: float64, broadcastable: (False, False), mmap_mode: None}
    """

    __props__ = ("dtype", "broadcastable", "mmap_mode")

    def __init__(self, dtype: str, broadcastable: Sequence[bool], mmap_mode: MapMode = None):
        if mmap_mode not in (None, "c"):
            raise ValueError(
                f"load: mmap_mode is {mmap_mode!r}; it must be None or 'c', so that what is done to the value does not "
                "go to the file"
            )
        self.dtype = np.dtype(dtype).name
        self.broadcastable = tuple(bool(b) for b in broadcastable)
        self.mmap_mode = mmap_mode

    def __str__(self) -> str:
        return f"Load{{dtype: {self.dtype}, broadcastable: {self.broadcastable}, mmap_mode: {self.mmap_mode}}}"

    def make_node(self, path: Variable) -> Apply:
        """Return the node for a path, a string or a generic variable worth one."""
        if isinstance(path, str):
            path = Constant(Generic(), path)
        if not isinstance(path, Variable) or not isinstance(path.type, Generic):
            raise TypeError(f"load: the path must be a string or a theano.generic variable, not {path!r}")
        return Apply(self, [path], [TensorType(self.dtype, self.broadcastable).make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Read the file."""
        (path,) = inputs
        if str(path).endswith(".npz"):
            raise ValueError(f"{self}: {path} holds several arrays; load one saved with numpy.save")
        found = np.load(path, mmap_mode=self.mmap_mode)
        fits = found.ndim == len(self.broadcastable) and all(
            n == 1 for n, one in zip(found.shape, self.broadcastable, strict=True) if one
        )
        if found.dtype != self.dtype or not fits:
            raise TypeError(
                f"{self}: the file {path} holds {found.dtype} of shape {found.shape}. Say its dtype and the pattern of "
                "its shape to T.load."
            )
        output_storage[0][0] = found

    def do_constant_folding(self, node: Apply) -> bool:
        """Return False: the file may change."""
        return False


def load(path: Any, dtype: str, broadcastable: Sequence[bool], mmap_mode: MapMode = None) -> Tensor:
    """Return an array that is read from a file when it is needed.

    Parameters
    ----------
    path : str or generic variable
        Of a file that ``numpy.save`` wrote.
    dtype : str
        Of the array.
    broadcastable : sequence of bool
        Which dimensions are 1 long.
    mmap_mode : None or "c"
        See :class:`LoadFromDisk`.

    Returns
    -------
    TensorVariable
        The array, read at each call.

    See Also
    --------
    theano.shared

    Examples
    --------
    >>> import os, tempfile, numpy, theano, theano.tensor as T
    >>> path = theano.generic("path")
    >>> f = theano.function([path], T.load(path, "int64", (False,)) * 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     numpy.save(os.path.join(folder, "x.npy"), numpy.arange(3))
    ...     f(os.path.join(folder, "x.npy"))
    array([0, 2, 4])
    """
    return LoadFromDisk(dtype, broadcastable, mmap_mode)(path)


# -- other processes, through MPI --------------------------------------------------------------------------------

#: Whether mpi4py is there. Without it the ops can be built, but not computed.
mpi_enabled = importlib.util.find_spec("mpi4py") is not None


def communicator() -> Any:
    """Return the communicator of all processes.

    Raises
    ------
    RuntimeError
        mpi4py is not installed.
    """
    try:
        from mpi4py import MPI  # optional, and it starts MPI
    except ImportError:
        raise RuntimeError(
            "arrays of other processes need MPI: install mpi4py (pip install 'theano-tensor[mpi]'), and start "
            "programs by mpiexec."
        ) from None
    return MPI.COMM_WORLD


class _MPIOp(Op):
    """What the four share: each is an event, and the tag is the transfer's, not the op's free space.

    Transfers begin as early as they can and are waited for as late (``priority``), so that what needs none of them is
    computed meanwhile, and so that two processes that send to each other do not wait for each other for ever.
    """

    tag: Any = None
    performs_once = True

    def do_constant_folding(self, node: Apply) -> bool:
        """Return False: each is an event."""
        return False


class MPIRecv(_MPIOp):
    """Begin to receive an array from another process; its outputs are a request and the array, not yet filled.

    Parameters
    ----------
    source : int
        Rank of the process that sends.
    tag : int
    shape : sequence of int
    dtype : str
    """

    __props__ = ("source", "tag", "shape", "dtype")
    priority = -1

    def __init__(self, source: int, tag: int, shape: Sequence[int], dtype: str):
        self.source, self.tag, self.shape = source, tag, tuple(int(n) for n in shape)
        self.dtype = np.dtype(dtype).name
        self.broadcastable = (False,) * len(self.shape)

    def make_node(self) -> Apply:
        array = TensorType(self.dtype, self.broadcastable)
        return Apply(self, [], [Generic().make_variable(), array.make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Ask for the array."""
        data = np.zeros(self.shape, dtype=self.dtype)
        output_storage[0][0] = communicator().Irecv(data, self.source, self.tag)
        output_storage[1][0] = data

    def infer_shape(self, node: Apply, shapes: Shapes) -> list[Shape | None]:
        """Return the shape that is expected."""
        return [None, tuple(as_tensor_variable(np.int64(n)) for n in self.shape)]


class MPIRecvWait(_MPIOp):
    """Wait for an array to arrive.

    Parameters
    ----------
    tag : int
    """

    __props__ = ("tag",)
    view_map = {0: [1]}
    priority = 1

    def __init__(self, tag: int):
        self.tag = tag

    def make_node(self, request: Any, data: Tensor) -> Apply:
        """Return the node for the outputs of :class:`MPIRecv`."""
        return Apply(self, [request, data], [data.type.make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Wait."""
        request, data = inputs
        request.wait()
        output_storage[0][0] = data

    def infer_shape(self, node: Apply, shapes: Shapes) -> list[Shape]:
        """Return the shape of the array."""
        return [shapes[1]]


class MPISend(_MPIOp):
    """Begin to send an array to another process; its outputs are a request and the array.

    Parameters
    ----------
    dest : int
        Rank of the process that receives.
    tag : int
    """

    __props__ = ("dest", "tag")
    view_map = {1: [0]}
    priority = -1

    def __init__(self, dest: int, tag: int):
        self.dest, self.tag = dest, tag

    def make_node(self, data: TensorLike) -> Apply:
        data = as_tensor_variable(data)
        return Apply(self, [data], [Generic().make_variable(), data.type.make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Hand the array over."""
        data = np.ascontiguousarray(inputs[0]).reshape(inputs[0].shape)
        output_storage[0][0] = communicator().Isend(data, self.dest, self.tag)
        output_storage[1][0] = data


class MPISendWait(_MPIOp):
    """Wait for an array to be sent.

    Parameters
    ----------
    tag : int
    """

    __props__ = ("tag",)
    priority = 1

    def __init__(self, tag: int):
        self.tag = tag

    def make_node(self, request: Any, data: Any) -> Apply:
        """Return the node for the outputs of :class:`MPISend`."""
        return Apply(self, [request, data], [Generic().make_variable()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Wait."""
        inputs[0].wait()
        output_storage[0][0] = True


def isend(var: TensorLike, dest: int, tag: int) -> list[Variable]:
    """Return a request, and the array that is on its way to the process ``dest``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> request, data = T.isend(T.dvector("x"), dest=1, tag=7)
    >>> data.type
    TensorType(float64, vector)
    """
    return MPISend(dest, tag)(var)


def send(var: Any, dest: int, tag: int) -> Any:
    """Return True, once an array has been sent to the process ``dest``."""
    return MPISendWait(tag)(*isend(var, dest, tag))


def irecv(shape: Sequence[int], dtype: str, source: int, tag: int) -> list[Variable]:
    """Return a request, and the array that will be filled by the process ``source``."""
    return MPIRecv(source, tag, shape, dtype)()


def recv(shape: Sequence[int], dtype: str, source: int, tag: int) -> Tensor:
    """Return an array that the process ``source`` sends.

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.recv((3,), "float64", source=0, tag=7).type
    TensorType(float64, vector)
    """
    return MPIRecvWait(tag)(*irecv(shape, dtype, source, tag))


# -- in which order: what starts a transfer early, what waits for one late ------------------------------------------


def mpi_send_wait_key(a: Apply) -> int:
    """Return -1 for a node that begins a transfer, 1 for one that waits, 0 for others."""
    if isinstance(a.op, (MPIRecvWait, MPISendWait)):
        return 1
    return -1 if isinstance(a.op, (MPIRecv, MPISend)) else 0


def mpi_tag_key(a: Apply) -> int:
    """Return the tag of a transfer, 0 for other nodes."""
    return a.op.tag if isinstance(a.op, _MPIOp) else 0


def mpi_send_wait_cmp(a: Apply, b: Apply) -> int:
    """Return -1, 0 or 1: how two nodes compare by what they do for a transfer.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dvector("x")
    >>> mpi_send_wait_cmp(T.isend(x, dest=1, tag=7)[0].owner, T.exp(x).owner)
    -1
    """
    return _compared(mpi_send_wait_key(a), mpi_send_wait_key(b))


def mpi_tag_cmp(a: Apply, b: Apply) -> int:
    """Return -1, 0 or 1: how two nodes compare by the tags of their transfers.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dvector("x")
    >>> mpi_tag_cmp(T.isend(x, dest=1, tag=7)[0].owner, T.isend(x, dest=1, tag=4)[0].owner)
    1
    """
    return _compared(mpi_tag_key(a), mpi_tag_key(b))


def _compared(mine: int, others: int) -> int:
    return int(mine > others) - int(mine < others)


#: For schedules of one's own: ``OpWiseCLinker(schedule=sort_schedule_fn(*mpi_cmps))``, by the tag among equals.
mpi_keys = (mpi_send_wait_key, mpi_tag_key)
mpi_cmps = (mpi_send_wait_cmp, mpi_tag_cmp)
