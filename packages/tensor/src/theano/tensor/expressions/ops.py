"""Ops that programs know by their class, and whose work is done by an expression of other ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.tensor import functions
from theano.tensor.compound import Compound
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.alloc import alloc
from theano.tensor.create.arange import bartlett
from theano.tensor.index import derived
from theano.tensor.reduce.functions import mean
from theano.tensor.shape.broadcast import lengths_of
from theano.tensor.shape.repeat import tile
from theano.tensor.shape.reshape import flatten

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def _of_whole_numbers(op: Compound, x: TensorLike, what: str, ndim: int | None = None) -> Tensor:
    x = as_tensor_variable(x)
    if x.type.dtype not in scal.integer_dtypes:
        raise TypeError(f"{op}: {what} must be whole numbers, not {x} of dtype {x.type.dtype}")
    if ndim is not None and x.type.ndim != ndim:
        raise TypeError(f"{op}: {what} must have {ndim} dimensions, not the {x.type.ndim} of {x}")
    return x


class Choose(Compound):
    """For each whole number the element, at the same place, of the tensor that it names; see :func:`choose`.

    Parameters
    ----------
    mode : "raise", "wrap" or "clip"
        What to do about numbers that name no choice.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> i, table = T.lvector("i"), T.dmatrix("table")
    >>> theano.function([i, table], Choose("wrap")(i, table))([0, 1, -1], [[1, 2, 3], [4, 5, 6]])
    array([1., 5., 6.])
    """

    __props__ = ("mode",)

    def __init__(self, mode: str):
        if mode not in ("raise", "wrap", "clip"):
            raise ValueError(f"Choose: mode is {mode!r}; it must be 'raise', 'wrap' or 'clip'")
        self.mode = mode

    def convert(self, a: Any, choices: Any) -> list[Variable]:
        """Return the numbers, and the choices as one tensor."""
        a = _of_whole_numbers(self, a, "what chooses")
        return [a, functions.table_of_choices(a, choices)]

    def expression(self, a: Tensor, choices: Tensor) -> Tensor:
        """Return the elements taken out of the table."""
        return functions.choose(a, choices, mode=self.mode)


class DiffOp(Compound):
    """The differences of neighbours; see :func:`diff`.

    Parameters
    ----------
    n : int
        How often.
    axis : int

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> theano.function([x], DiffOp(n=2)(x))([1, 2, 4, 8])
    array([1., 2.])
    """

    __props__ = ("n", "axis")

    def __init__(self, n: int = 1, axis: int = -1):
        self.n, self.axis = int(n), int(axis)

    def expression(self, x: Tensor) -> Tensor:
        """Return the differences."""
        return derived.diff(x, self.n, self.axis)


class Flatten(Compound):
    """A tensor with its last dimensions made one; see :func:`flatten`.

    Parameters
    ----------
    outdim : int
        Number of dimensions of the result.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Flatten(2)(T.dtensor3("x")).ndim
    2
    """

    __props__ = ("outdim",)
    view_map = {0: [0]}

    def __init__(self, outdim: int = 1):
        self.outdim = int(outdim)

    @property
    def ndim(self) -> int:
        """The same as ``outdim``, under its younger name."""
        return self.outdim

    def expression(self, x: Tensor) -> Tensor:
        """Return the reshape."""
        return flatten(x, self.outdim)


class Tile(Compound):
    """A tensor repeated as a whole along each axis; see :func:`tile`.

    Parameters
    ----------
    ndim : int
        Number of dimensions of the result.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, reps = T.dvector("x"), T.lvector("reps")
    >>> theano.function([x, reps], Tile(2)(x, reps))([1, 2], [2, 2])
    array([[1., 2., 1., 2.],
           [1., 2., 1., 2.]])
    """

    __props__ = ("ndim",)

    def __init__(self, ndim: int):
        self.ndim = int(ndim)

    def convert(self, x: Any, reps: Any) -> list[Variable]:
        """Return the tensor and a vector of numbers."""
        return [as_tensor_variable(x), _of_whole_numbers(self, reps, "the repetitions", 1)]

    def expression(self, x: Tensor, reps: Tensor) -> Tensor:
        """Return the copies side by side."""
        return tile(x, [reps[i] for i in range(self.ndim)], ndim=self.ndim)


class Mean(Compound):
    """The mean of the elements along axes; see :func:`mean`.

    Parameters
    ----------
    axis : int, sequence of int or None

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> theano.function([x], Mean(axis=0)(x))([[1, 2], [3, 4]])
    array([2., 3.])
    """

    __props__ = ("axis",)

    def __init__(self, axis: Any = None):
        self.axis = axis if axis is None or isinstance(axis, int) else tuple(axis)

    def expression(self, x: Tensor) -> Tensor:
        """Return the sum over the number of elements."""
        return mean(x, self.axis)


class Bartlett(Compound):
    """A window that rises and falls in straight lines; see :func:`bartlett`.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> M = T.lscalar("M")
    >>> theano.function([M], bartlett_(M))(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """

    def convert(self, M: Any) -> list[Variable]:
        """Return the length."""
        return [_of_whole_numbers(self, M, "the length", 0)]

    def expression(self, M: Tensor) -> Tensor:
        """Return the window."""
        return bartlett(M)


class FillDiagonal(Compound):
    """A tensor with its diagonal set to a number; see :func:`fill_diagonal`.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, v = T.dmatrix("x"), T.dscalar("v")
    >>> theano.function([x, v], fill_diagonal_(x, v))([[1, 2], [3, 4]], 0)
    array([[0., 2.],
           [3., 0.]])
    """

    def expression(self, a: Tensor, val: Tensor) -> Tensor:
        """Return the tensor written into."""
        return derived.fill_diagonal(a, val)


class FillDiagonalOffset(Compound):
    """A matrix with one of its diagonals set to a number; see :func:`fill_diagonal_offset`.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, v, k = T.dmatrix("x"), T.dscalar("v"), T.lscalar("k")
    >>> theano.function([x, v, k], fill_diagonal_offset_(x, v, k))([[1, 2], [3, 4]], 0, 1)
    array([[1., 0.],
           [3., 4.]])
    """

    def convert(self, a: Any, val: Any, offset: Any) -> list[Variable]:
        """Return matrix, number and place."""
        return [as_tensor_variable(a), as_tensor_variable(val), _of_whole_numbers(self, offset, "the offset", 0)]

    def expression(self, a: Tensor, val: Tensor, offset: Tensor) -> Tensor:
        """Return the matrix written into."""
        return derived.fill_diagonal_offset(a, val, offset)


class BroadcastTo(Compound):
    """A tensor stretched to a shape, by NumPy's rules.

    Parameters
    ----------
    a : tensor
        Lengths of 1 stretch, and new dimensions come on the left.
    shape : sequence of int or int scalars, or vector of int
        The lengths of the result.
    **kwargs : object
        As for any op, ``name`` and ``return_list``.

    Returns
    -------
    TensorVariable
        Of the shape.

    See Also
    --------
    broadcast_shape, broadcast_arrays, tile, numpy.broadcast_to

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> theano.function([x], broadcast_to(x, (2, 3)))([1, 2, 3])
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """

    def __call__(self, a: Variable, shape: Any, **kwargs: object) -> Tensor:
        """Return ``a`` stretched to the lengths ``shape``."""
        lengths = lengths_of(shape)
        return super().__call__(a, *lengths, **kwargs)

    def convert(self, a: Any, *shape: Any) -> list[Variable]:
        """Return the tensor and the lengths."""
        return [as_tensor_variable(a), *[_of_whole_numbers(self, n, "the lengths", 0) for n in shape]]

    def expression(self, a: Tensor, *shape: Tensor) -> Tensor:
        """Return the copies."""
        return alloc(a, *shape)


bartlett_ = Bartlett()
fill_diagonal_ = FillDiagonal()
fill_diagonal_offset_ = FillDiagonalOffset()
broadcast_to = BroadcastTo()
