"""Draws from NumPy's ``RandomState``, by one of its methods or by a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.errors import ShapeError
from theano.graph import Apply, Type
from theano.tensor.convert import as_tensor_variable
from theano.tensor.random.draw import Draw
from theano.tensor.random.size import size_of, vector_of
from theano.tensor.random.type import RandomStateType, copy_of
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Storage, Value, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, TensorLike
    from theano.tensor.type import Tensor


class RandomFunction(Draw):
    """The next state and the numbers that a function draws.

    Parameters
    ----------
    fn : str or callable
        A method of ``numpy.random.RandomState`` by its name, or a function ``fn(state, *parameters, size)``. The size
        is None where the parameters tell the shape.
    outtype : TensorType
        Of the numbers.
    inplace : bool
        Whether the state itself is advanced, rather than a copy.
    ndim_added : int
        How many dimensions the function adds behind those of the size.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> state = theano.shared(np.random.RandomState(1))
    >>> next_state, numbers = RandomFunction("uniform", T.dvector)(state, (2,), 0.0, 1.0)
    >>> bool((numbers.eval() == np.random.RandomState(1).uniform(size=2)).all())
    True
    """

    __props__ = ("fn", "outtype", "inplace", "ndim_added")

    def __init__(self, fn: str | Callable[..., Any], outtype: Type, inplace: bool = False, ndim_added: int = 0):
        if isinstance(fn, str) and not callable(getattr(np.random.RandomState, fn, None)):
            raise TypeError(f"numpy.random.RandomState has no method {fn!r}")
        if not (isinstance(fn, str) or callable(fn)):
            raise TypeError(f"fn must be the name of a method of RandomState or a function, not {fn!r}")
        self.fn = fn
        self.outtype: Any = outtype
        self.ndim_added = ndim_added
        self._works(inplace)

    def __setstate__(self, state: Value) -> None:
        # Pickles may have the properties in their order.
        kept = state if isinstance(state, dict) else dict(zip(self.__props__, state, strict=True))
        RandomFunction.__init__(self, *(kept[name] for name in self.__props__))

    @property
    def state(self) -> tuple[Any, ...]:
        """What the op is made of."""
        return (self.fn, self.outtype, self.inplace, self.ndim_added)

    @property
    def exec_fn(self) -> Callable[..., Any]:
        """The function that draws."""
        return getattr(np.random.RandomState, self.fn) if isinstance(self.fn, str) else self.fn

    def __str__(self) -> str:
        name = self.fn if isinstance(self.fn, str) else getattr(self.fn, "__name__", str(self.fn))
        return f"RandomFunction{{{name}}}{'{inplace}' if self.inplace else ''}"

    def make_node(self, r: Variable, shape: Any, *args: Any) -> Node:
        """Return the node for a state, a vector of lengths (empty: as the parameters tell) and parameters."""
        if not isinstance(getattr(r, "type", None), RandomStateType):
            raise TypeError(
                f"{self} draws from a random state, and {r!r} is none. "
                "Make one with theano.shared(numpy.random.RandomState(seed)), or let RandomStreams do it."
            )
        lengths = vector_of(shape)
        if lengths.type.dtype not in ("int32", "int64"):
            raise TypeError(f"{self}: the size must be a vector of int64, not {lengths} of type {lengths.type}")
        parameters = [as_tensor_variable(a) for a in args]
        return Apply(self, [r, lengths, *parameters], [r.type.make_variable(), self.outtype.make_variable()])

    def infer_shape(self, node: Node, shapes: Sequence[Sequence[Tensor]]) -> list[Shape | None]:
        """Return the lengths asked for; where parameters tell them, only the numbers show them."""
        lengths = node.inputs[1]
        if self.ndim_added or len(getattr(lengths, "data", (0,))) == 0:
            return [None, None]
        return [None, tuple(lengths[i] for i in range(self.outtype.ndim))]

    def perform(self, node: Node, inputs: Values, output_storage: Storage) -> None:
        """Draw."""
        state, lengths, *parameters = inputs
        size = tuple(int(n) for n in lengths) if len(lengths) else None
        ndim = self.outtype.ndim
        if size is not None and len(size) + self.ndim_added != ndim:
            raise ShapeError(
                f"{self}: the size {size} has {len(size)} lengths, and {ndim - self.ndim_added} were promised. "
                "Give as many lengths as ndim says."
            )
        if not self.inplace:
            state = copy_of(state)
        # NumPy's methods have parameters with defaults before the size.
        by_name = isinstance(self.fn, str)
        drawn = self.exec_fn(state, *parameters, size=size) if by_name else self.exec_fn(state, *parameters, size)
        numbers = np.asarray(drawn, dtype=self.outtype.dtype)
        if size is None and numbers.ndim == 0:
            numbers = numbers.reshape((1,) * ndim)
        wanted = None if size is None else (*size, *numbers.shape[numbers.ndim - self.ndim_added :])
        if numbers.ndim != ndim or wanted not in (None, numbers.shape):
            raise ShapeError(
                f"{self} drew numbers of shape {numbers.shape}, but {ndim} dimensions"
                + (f" and the shape {wanted}" if wanted is not None else "")
                + " were promised. The size must agree with the parameters' shapes."
            )
        output_storage[0][0], output_storage[1][0] = state, numbers


def random_function(
    fn: str | Callable[..., Any], dtype: str, *rfargs: TensorLike, **rfkwargs: Any
) -> Callable[..., Any]:
    """Return a function that adds a draw by ``fn`` to a graph.

    Parameters
    ----------
    fn : str or callable
        As for `RandomFunction`.
    dtype : str
        Of the numbers.
    *rfargs
        Default values of the parameters.
    **rfkwargs
        ``ndim_added``, as for `RandomFunction`.

    Returns
    -------
    callable
        ``f(random_state, size, *parameters, ndim=None, dtype=None)``, whose values are the next state and the numbers.

    Examples
    --------
    >>> import theano
    >>> exponential = random_function("exponential", "float64", 1.0)
    >>> next_state, numbers = exponential(theano.shared(np.random.RandomState(1)), (3,))
    >>> numbers.type
    TensorType(float64, vector)
    """
    added = rfkwargs.pop("ndim_added", 0)
    if rfkwargs:
        raise TypeError(f"random_function knows no option {sorted(rfkwargs)[0]!r}, only ndim_added")
    default_dtype = dtype

    def draw(
        random_state: Any, size: Any = None, *args: TensorLike, ndim: int | None = None, dtype: str | None = None
    ) -> list[Variable]:
        parameters = [as_tensor_variable(a) for a in (*args, *rfargs[len(args) :])]
        found = size_of(ndim, size, *(() if added else parameters))
        outtype = TensorType(dtype or default_dtype, (*found.pattern, *(False,) * added))
        return RandomFunction(fn, outtype, ndim_added=added)(random_state, found.lengths, *parameters)

    draw.__name__ = fn if isinstance(fn, str) else getattr(fn, "__name__", "draw")
    return draw
