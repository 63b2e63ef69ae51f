"""Random variables: ops from the parameters of a distribution to numbers that are drawn from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from theano import scalar as scal
from theano.compile.shared import shared
from theano.errors import ShapeError
from theano.gradient import DisconnectedType, grad_undefined
from theano.graph import Apply, Op, Variable
from theano.settings import config
from theano.tensor.convert import as_tensor_variable, constant, static_int
from theano.tensor.elemwise.functions import cast
from theano.tensor.join.op import stack
from theano.tensor.random.broadcasting import params_broadcast_shapes
from theano.tensor.random.draw import Draw
from theano.tensor.random.type import RandomStateType, copy_of
from theano.tensor.shape.basic import shape_tuple
from theano.tensor.shape.broadcast import broadcast_shape_iter, lengths_of
from theano.tensor.type import TensorType
from theano.tensor.type_other import NoneConst

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Storage, Values
    from theano.tensor.annotations import Shape, TensorLike, Tensors
    from theano.tensor.type import Tensor

Lengths = Sequence[Any]


def default_shape_from_params(
    ndim_supp: int, dist_params: Sequence[Tensor], rep_param_idx: int = 0, param_shapes: Sequence[Lengths] | None = None
) -> Any:
    """Return the shape of one draw, which are the last dimensions of one of the parameters.

    Parameters
    ----------
    ndim_supp : int
        How many dimensions one draw has: 1 or more.
    dist_params : list of Variable
    rep_param_idx : int
        Which of the parameters tells the shape.
    param_shapes : list of sequences, optional
        The lengths of the parameters, where they are known better than from the parameters themselves.

    Raises
    ------
    ValueError
        Draws are single numbers, or the parameter has fewer dimensions than they.

    Examples
    --------
    >>> default_shape_from_params(1, [], param_shapes=[(5, 3)])
    (3,)
    """
    if ndim_supp <= 0:
        raise ValueError(f"ndim_supp must be greater than 0, not {ndim_supp}: the shape of a single number is ()")
    if param_shapes is not None:
        lengths = tuple(param_shapes[rep_param_idx])
    else:
        lengths = shape_tuple(as_tensor_variable(dist_params[rep_param_idx]))
    if len(lengths) < ndim_supp:
        raise ValueError(
            f"parameter {rep_param_idx} has {len(lengths)} dimensions, and one draw has {ndim_supp}. "
            "Name a parameter with as many by rep_param_idx."
        )
    return lengths[-ndim_supp:]


class RandomVariable(Draw):
    """Numbers drawn from a distribution, and the next state of the generator.

    A distribution is an instance, or a class of its own that has the arguments below as attributes. Numbers are drawn
    by the method `rng_fn`, which is the method ``name`` of ``numpy.random.RandomState`` unless a class says otherwise.

    Each parameter has ``ndims_params`` dimensions for one draw; dimensions before these are a batch, and the batches of
    all parameters are broadcast against each other. Where one draw is a number, ``size`` is the shape of the whole;
    where it has dimensions of its own, the shape is ``size``, that of the batch, and that of one draw, in this order.

    Parameters
    ----------
    name : str
    ndim_supp : int
        How many dimensions one draw has: 0 for a number.
    ndims_params : sequence of int
        How many dimensions each parameter has for one draw.
    dtype : str, optional
        Of the numbers; ``"floatX"`` is the flag's. Without one it is given where the op is applied.
    inplace : bool
        Whether the state itself is advanced, rather than a copy.

    Examples
    --------
    >>> import theano
    >>> gumbel = RandomVariable("gumbel", 0, [0, 0], "float64")
    >>> numbers = gumbel([0.0, 10.0], 1.0, size=(3, 2), rng=theano.shared(np.random.RandomState(1)))
    >>> bool((numbers.eval() == np.random.RandomState(1).gumbel([0.0, 10.0], 1.0, (3, 2))).all())
    True
    """

    __props__ = ("name", "ndim_supp", "ndims_params", "dtype", "inplace")
    default_output = 1
    nondeterministic = True

    name: str
    ndim_supp: int
    ndims_params: Sequence[int]
    dtype: str | None = None

    #: From what a user gives to what is drawn from, where names, defaults or another form are wanted.
    parameters: ClassVar[Callable[..., Sequence[Any]] | None] = None

    def __init__(
        self,
        name: str | None = None,
        ndim_supp: int | None = None,
        ndims_params: Sequence[int] | None = None,
        dtype: str | None = None,
        inplace: bool | None = None,
    ):
        self.name = name or self.name
        self.ndim_supp = self.ndim_supp if ndim_supp is None else ndim_supp
        ndims = self.ndims_params if ndims_params is None else ndims_params
        if not isinstance(ndims, Sequence):
            raise TypeError(f"Parameter ndims_params of {self} must be a sequence, a number for each, not {ndims!r}")
        self.ndims_params = tuple(ndims)
        self.dtype = dtype or self.dtype
        self._works(self.inplace if inplace is None else inplace)

    def __str__(self) -> str:
        return f"{self.name}_rv"

    def __call__(
        self,
        *args: Any,
        size: object = None,
        name: str | None = None,
        rng: Variable | None = None,
        dtype: str | None = None,
        **kwargs: object,
    ) -> Tensor:
        """Return numbers.

        Parameters
        ----------
        *args
            The parameters of the distribution. Where it has names for them, they can be given by these, and the size
            by position behind them.
        size : int, sequence or vector, optional
        name : str, optional
            Of the numbers.
        rng : Variable, optional
            A random state; without one, a new shared variable seeded by the system. Nothing updates it.
        dtype : str, optional
            Of the numbers, rather than that of the op.
        """
        options = {"return_list": kwargs.pop("return_list")} if "return_list" in kwargs else {}
        if self.parameters is not None:
            known = inspect.signature(self.parameters)
            if size is None and len(args) == len(known.parameters) + 1:
                args, size = args[:-1], args[-1]
            try:
                bound = known.bind(*args, **kwargs)
            except TypeError as e:
                raise TypeError(f"{self}: {e}; its parameters are {known}, size, rng, name and dtype") from None
            args, kwargs = tuple(self.parameters(*bound.args, **bound.kwargs)), {}
        return super().__call__(rng, size, dtype, *args, name=name, **options, **kwargs)

    def make_node(self, rng: Any, size: Any, dtype: str, *dist_params: Any) -> Node:
        """Return the node for a state, a size, a dtype (its name, or its place in ``all_dtypes``) and parameters.

        Its inputs are in that order; each of the first three may be None.
        """
        if len(dist_params) != len(self.ndims_params):
            raise TypeError(f"{self} has {len(self.ndims_params)} parameters, and {len(dist_params)} are given")
        rng = shared(np.random.RandomState()) if rng is None else rng
        if not isinstance(getattr(rng, "type", None), RandomStateType):
            raise TypeError(
                f"{self} draws from a random state, and rng is {rng!r}. "
                "Make one with theano.shared(numpy.random.RandomState(seed)), or let RandomStream do it."
            )
        lengths = self._size(size)
        found = self._dtype(dtype)
        given = [p if isinstance(p, Variable) else as_tensor_variable(p) for p in dist_params]
        numbers = TensorType(found, self.compute_bcast(given, lengths)).make_variable()
        place = constant(scal.all_dtypes.index(found), dtype="int64")
        return Apply(self, [rng, lengths, place, *given], [rng.type.make_variable(), numbers])

    def _size(self, size: object) -> Tensor:
        """Return a size as a vector of int64."""
        if size is None or isinstance(size, (tuple, list)) and not size:
            return constant(np.array([], "int64"), ndim=1)
        if isinstance(size, (int, np.integer)):
            size = (size,)
        if isinstance(size, (tuple, list)) and any(isinstance(n, Variable) for n in size):
            return stack([cast(self._whole(as_tensor_variable(n)), "int64") for n in size])
        if not isinstance(size, (np.ndarray, Variable, Sequence)):
            raise TypeError(f"Parameter size of {self} must be None, a whole number or several, not {size!r}")
        return cast(self._whole(as_tensor_variable(size, ndim=1)), "int64")

    def _whole(self, length: Tensor) -> Tensor:
        if length.type.dtype not in scal.integer_dtypes:
            raise TypeError(f"Parameter size of {self} must be of whole numbers, not {length} of type {length.type}")
        return length

    def _dtype(self, dtype: Any) -> str:
        """Return the name of the numbers' dtype."""
        if isinstance(dtype, Variable):
            dtype = static_int(dtype)
        if isinstance(dtype, (int, np.integer)):
            return scal.all_dtypes[dtype]
        name = str(dtype or self.dtype)
        name = config.floatX if name == "floatX" else name
        if name not in scal.all_dtypes:
            raise TypeError(f"dtype of {self} is unspecified: {name} is none; give one of {', '.join(scal.all_dtypes)}")
        return name

    def compute_bcast(self, dist_params: Sequence[Variable], size: Tensor) -> tuple[bool, ...]:
        """Return which lengths of the numbers are 1, as far as the graph tells."""
        return tuple(static_int(n) == 1 for n in self._infer_shape(size, dist_params))

    def infer_shape(self, node: Node, shapes: Sequence[Sequence[Tensor]]) -> list[Shape | None]:
        """Return the shape of the numbers."""
        _, size, _, *dist_params = node.inputs
        return [None, tuple(self._infer_shape(size, dist_params, shapes[3:]))]

    def _infer_shape(
        self, size: Tensor, dist_params: Sequence[Variable], param_shapes: Sequence[Lengths] | None = None
    ) -> Lengths:
        """Return the lengths of all numbers, from a size and parameters; shapes of these may be given."""
        replications = tuple(lengths_of(size))
        if self.ndim_supp == 0 and replications:
            return replications
        if param_shapes is None:
            param_shapes = [shape_tuple(p) for p in dist_params]
        shapes = params_broadcast_shapes(param_shapes, self.ndims_params)
        batches = [shape[: len(shape) - n] for shape, n in zip(shapes, self.ndims_params, strict=True)]
        batch = broadcast_shape_iter(batches, arrays_are_shapes=True)
        one = self._shape_from_params(dist_params, param_shapes=shapes) if self.ndim_supp else ()
        return (*replications, *batch, *one)

    def _shape_from_params(self, dist_params: Sequence[Any], **kwargs: Any) -> tuple[Tensor, ...]:
        """Return the shape of one draw, where that is not a number."""
        return default_shape_from_params(self.ndim_supp, dist_params, **kwargs)

    def rng_fn(self, rng: np.random.RandomState, *args: Any, **kwargs: Any) -> Any:
        """Draw from ``rng``, given arrays, and the size as a tuple, or None where the parameters tell it."""
        return getattr(np.random.RandomState, self.name)(rng, *args, **kwargs)

    def perform(self, node: Node, inputs: Values, output_storage: Storage) -> None:
        """Draw."""
        state, lengths, _, *dist_params = inputs
        size = tuple(int(n) for n in lengths) if len(lengths) else None
        if not self.inplace:
            state = copy_of(state)
        numbers = np.asarray(self.rng_fn(state, *dist_params, size), dtype=node.outputs[1].type.dtype)
        replications = size or ()
        pattern = node.outputs[1].type.broadcastable
        if (
            numbers.ndim != len(pattern)
            or numbers.shape[: len(replications)] != replications
            or any(n != 1 for n, one in zip(numbers.shape, pattern, strict=True) if one)
        ):
            raise ShapeError(
                f"{self} drew numbers of shape {numbers.shape}, but {node.outputs[1].type} was promised for the size "
                f"{size} and parameters of shapes {[np.shape(p) for p in dist_params]}. Size and parameters must agree."
            )
        output_storage[0][0], output_storage[1][0] = state, numbers

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that state and parameters influence the numbers, and both the next state."""
        return [[True, True], [False, False], [False, False], *([True, True] for _ in node.inputs[3:])]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return that a draw has no derivative."""
        reason = "a draw is no smooth function of its parameters"
        undefined = [grad_undefined(self, i, v, reason) for i, v in enumerate(inputs)]
        return [undefined[0], DisconnectedType()(), DisconnectedType()(), *undefined[3:]]


class Observed(Op):
    """A value that a random variable is observed to have: the graph remembers which one.

    Examples
    --------
    >>> import theano
    >>> weight = RandomVariable("normal", 0, [0, 0], "float64")(0.0, 1.0, size=3)
    >>> seen = observed(weight, np.array([0.1, 0.2, 0.3]))
    >>> seen.owner.inputs[0] is weight, seen.eval().tolist()
    (True, [0.1, 0.2, 0.3])
    """

    __props__ = ()
    default_output = 0
    view_map = {0: [1]}
    linear_in = ()
    shapes = ",A->A"

    def make_node(self, rv: TensorLike, val: Any) -> Node:
        """Return the node for a random variable, or None for an unknown one, and a value of its type."""
        val = as_tensor_variable(val)
        if rv is None:
            rv = NoneConst.clone()
        elif not isinstance(rv, Variable) or rv.type.convert_variable(val) is None:
            raise TypeError(
                f"{val} of type {val.type} is no value of {rv} of type {getattr(rv, 'type', type(rv))}. "
                "Convert it with theano.tensor.cast, or give it as many dimensions."
            )
        return Apply(self, [rv, val], [val.type.make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Storage) -> None:
        """Return the value itself."""
        output_storage[0][0] = inputs[1]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return that nothing is known of how the random variable leads to its value."""
        return [grad_undefined(self, i, v, "an observation has no derivative") for i, v in enumerate(inputs)]


observed = Observed()
