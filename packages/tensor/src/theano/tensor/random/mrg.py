"""Streams of MRG31k3p: the op that draws, and the class that users make streams with."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile.shared import shared
from theano.graph import Apply, Variable
from theano.tensor.convert import as_tensor_variable, get_vector_length, static_int
from theano.tensor.random.draw import Draw
from theano.tensor.random.from_uniform import FromUniform, lengths_of, parameters_of, refuse
from theano.tensor.random.mrg31k3p import M1, M2, advance, converted, jump, jumped, substreams
from theano.tensor.random.size import vector_of
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Storage, Values
    from theano.tensor.annotations import Shape, Shapes, TensorLike
    from theano.tensor.type import Tensor


class mrg_uniform_base(Draw):
    """Uniform numbers of MRG31k3p: the base class of ops on any device.

    Parameters
    ----------
    output_type : TensorType
    inplace : bool
    """

    __props__ = ("output_type", "inplace")

    def __init__(self, output_type: TensorType, inplace: bool = False):
        self.output_type = output_type
        self._works(inplace)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.output_type},{'inplace' if self.inplace else 'no_inplace'}}}"


class mrg_uniform(mrg_uniform_base):
    """Uniform numbers of many streams of MRG31k3p: number ``i`` is the next one of stream ``i % n_streams``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> states = T.constant(substreams([12345] * 6, 3))
    >>> next_states, numbers = mrg_uniform.new(states, None, "float64", (4,))
    >>> numbers.eval().round(3)
    array([0.735, 0.259, 0.694, 0.614])
    """

    @classmethod
    def new(cls, rstate: Tensor, ndim: int | None, dtype: str, size: TensorLike) -> list[Tensor]:
        """Return the next states and numbers of a shape."""
        lengths = vector_of(size)
        ndim = get_vector_length(lengths) if ndim is None else ndim
        return cls(TensorType(dtype, (False,) * ndim))(rstate, lengths)

    def make_node(self, rstate: TensorLike, size: Tensor) -> Node:
        """Return the node for states, a row of 6 for each stream, and a vector of lengths."""
        rstate, size = as_tensor_variable(rstate), vector_of(size)
        if rstate.type.dtype != "int32" or rstate.type.ndim != 2:
            raise TypeError(f"{self}: states are a matrix of int32 with 6 columns, not {rstate} of type {rstate.type}")
        pattern = [static_int(size[i]) == 1 for i in range(self.output_type.ndim)]
        out = TensorType(self.output_type.dtype, pattern)
        return Apply(self, [rstate, size], [rstate.type.make_variable(), out.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Draw, a number of each stream at a time."""
        rstate, size = inputs
        if len(size) != self.output_type.ndim:
            raise ValueError(f"{self}: the size {tuple(size)} must have {self.output_type.ndim} lengths, as ndim says")
        count = math.prod(map(int, size))
        if count > M1 or any(n < 0 for n in size):
            raise ValueError(f"{self}: the size {tuple(map(int, size))} must have 0 to 2**31 - 1 elements")
        if count and not len(rstate):
            raise ValueError(f"{self}: rstate has no streams to draw from; give it at least one row")
        states = rstate.astype("int64")
        numbers = np.empty(count, "int64")
        for start in range(0, count, max(len(states), 1)):
            part = numbers[start : start + len(states)]
            part[...] = advance(states[: len(part)])
        if self.inplace:
            rstate[...] = states
        output_storage[0][0] = rstate if self.inplace else states.astype("int32")
        output_storage[1][0] = converted(numbers, self.output_type.dtype).reshape(tuple(map(int, size)))

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the shape of the states, and the lengths asked for."""
        return [shapes[0], tuple(node.inputs[1][i] for i in range(self.output_type.ndim))]


def guess_n_streams(size: Any, warn: bool = False) -> int:
    """Return how many streams are good for a size: fewer than numbers, and at most 60 * 256.

    Parameters
    ----------
    size : sequence of int
        Of Python's whole numbers; for others, such as symbolic ones and NumPy's, there are 60 * 256. So Theano has it,
        and the number of streams is part of what a program draws.
    warn : bool
        Whether to warn then.

    Examples
    --------
    >>> guess_n_streams((10, 60)), guess_n_streams((1000, 1000)), guess_n_streams((np.int64(600),))
    (100, 15360, 15360)
    """
    if isinstance(size, (tuple, list)) and all(isinstance(n, int) for n in size):
        count = math.prod(size)
        return min(count // 6 if count > 6 else count, 60 * 256)
    if warn:
        warnings.warn(f"the number of streams cannot be guessed from the size {size}; 60 * 256 it is", stacklevel=3)
    return 60 * 256


class MRG_RandomStreams(FromUniform):
    """Streams of the generator MRG31k3p.

    Each call of a method takes new streams, ``nstreams`` side by side, whose states are one shared variable; functions
    advance it by themselves. Streams begin 2^72 numbers from each other, and the next call's 2^134 later.

    Parameters
    ----------
    seed : int or sequence of 6 int
        Where the first stream begins; the first three are less than 2147483647, the last three less than 2147462579,
        and in both not all are 0. One number stands for six times itself. Uniform numbers of two such seeds whose ratio
        is ``p / q`` have a correlation of about ``1 / (p * q)``; `PhiloxStreams` has no such seeds.

    Attributes
    ----------
    rstate : numpy.ndarray
        Where the next call's first stream will begin.
    state_updates : list of tuples
        For each call the states' shared variable, their next value, the size, and ``nstreams``.

    Examples
    --------
    >>> import theano
    >>> theano.function([], MRG_RandomStreams(seed=234).uniform((2,), dtype="float64"))().round(4)
    array([0.4499, 0.3062])
    """

    def __init__(self, seed: int | Sequence[int] = 12345):
        self.state_updates: list[tuple[Any, Any, Any, int | None]] = []
        self.default_instance_seed = seed
        self.set_rstate(seed)

    def set_rstate(self, seed: int | Sequence[int]) -> None:
        """Let the next call's first stream begin at a seed."""
        if isinstance(seed, (int, np.integer)):
            if seed == 0:
                raise ValueError("seed must not be 0: from there the generator would not move")
            if not 0 < seed < M2:
                raise ValueError(f"seed must be less than {M2} and positive, not {seed}")
            seed = [int(seed)] * 6
        elif isinstance(seed, str) or not hasattr(seed, "__len__"):
            raise TypeError(f"seed must be one whole number or six, not {seed!r}; left out, it is 12345")
        elif len(seed) != 6:
            raise TypeError(f"seed must be one whole number or six, not {len(seed)}")
        for part, which, modulus in ((seed[:3], "first", M1), (seed[3:], "last", M2)):
            if not any(part):
                raise ValueError(f"the {which} three numbers of seed must not all be 0: {tuple(seed)}")
            if not all(0 <= n < modulus for n in part):
                raise ValueError(f"the {which} three numbers of seed must be less than {modulus}: {tuple(seed)}")
        self.rstate = np.asarray(seed, dtype="int32")

    def updates(self) -> list[tuple[Tensor, Tensor, tuple[int, ...], int | None]]:
        """Return what `state_updates` holds."""
        return list(self.state_updates)

    def seed(self, seed: int | Sequence[int] | None = None) -> None:
        """Let all streams begin again, at the seed given here or else at that of the start."""
        self.set_rstate(self.default_instance_seed if seed is None else seed)
        for states, next_states, size, nstreams in self.state_updates:
            count = self.n_streams(size) if nstreams is None else nstreams
            dtype = next_states.owner.outputs[1].type.dtype
            states.set_value(self.get_substream_rstates(count, dtype), borrow=True)

    def inc_rstate(self) -> None:
        """Move on by 2^134 numbers, to where the next call's streams begin."""
        self.rstate = jumped(self.rstate, jump(134))

    def get_substream_rstates(self, n_streams: int, dtype: str, inc_rstate: bool = True) -> np.ndarray:
        """Return the states of streams that begin 2^72 numbers from each other, and move on.

        Parameters
        ----------
        n_streams : int
        dtype : str
            Of the numbers to be drawn; all have the same states.
        inc_rstate : bool
            Whether to move on.
        """
        if not 0 < n_streams < 2**72:
            raise AssertionError(f"nstreams must be positive and less than 2**72, not {n_streams}")
        states = substreams(self.rstate, int(n_streams))
        if inc_rstate:
            self.inc_rstate()
        return states

    def n_streams(self, size: TensorLike) -> int:
        """Return how many streams to take for a size."""
        return guess_n_streams(size)

    def pretty_return(self, node_rstate: Any, new_rstate: Any, sample: Any, size: Any, nstreams: int | None) -> Any:
        """Return numbers with what users look for in them, and let functions advance their streams."""
        sample.rstate = node_rstate
        sample.update = (node_rstate, new_rstate)
        self.state_updates.append((node_rstate, new_rstate, size, nstreams))
        node_rstate.default_update = new_rstate
        return sample

    def uniform(
        self, size: Any, low: float = 0.0, high: float = 1.0, ndim: int | None = None, dtype: str | None = None,
        nstreams: int | None = None, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """Return numbers between ``low`` and ``high``, both excluded.

        Parameters
        ----------
        size : tuple of int and of symbolic numbers, or symbolic vector
        ndim : int
            Where the size is symbolic and its length is not known.
        dtype : str
            By default that of the bounds, but at least ``floatX``.
        nstreams : int
            How many streams to take; guessed from the size by default.
        """
        low, high, dtype = parameters_of("low and high", low, high, dtype)
        _check_size(size)
        count = self.n_streams(size) if nstreams is None else nstreams
        options = {"target": kwargs.pop("target")} if "target" in kwargs else {}
        refuse("uniform", kwargs)
        states = shared(self.get_substream_rstates(count, dtype), **options)
        states.tag.is_rng = True
        next_states, numbers = mrg_uniform.new(states, ndim, dtype, size)
        drawn = self.pretty_return(states, next_states, numbers, size=size, nstreams=nstreams)
        scaled = drawn * (high - low) + low
        if scaled.type.broadcastable != drawn.type.broadcastable:
            raise NotImplementedError(
                f"uniform: low and high have more dimensions or longer ones than size {size}. Increase the size."
            )
        return scaled


def _check_size(size: Any) -> None:
    """Raise for a size that is no tuple of positive numbers and variables, nor a symbolic vector."""
    if isinstance(size, Variable):
        if size.type.ndim != 1:
            raise TypeError(f"size must be a vector, and {size} has {size.type.ndim} dimensions")
        return
    if not isinstance(size, tuple):
        raise TypeError(
            f"size must be a tuple of whole numbers or a symbolic vector, not {size!r} of type {type(size).__name__}"
        )
    for n in size:
        if not isinstance(n, (int, np.integer, Variable)):
            raise AssertionError(f"size must be a tuple of whole numbers or symbolic ones, and {n!r} is none")
    lengths_of(size)
