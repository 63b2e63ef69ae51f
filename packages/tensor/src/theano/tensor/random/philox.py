"""Streams of the counter-based generator Philox 4x32-10.

Each block of 128 bits is a function of a counter of 128 bits and a key of 64 (J. K. Salmon, M. A. Moraes, R. O. Dror
and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011). The key is the seed. The upper half of the
counter is the number of the stream, so that streams of one seed never meet; the lower half counts the blocks that were
drawn. A state is ``[key, stream, counter]``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.gradient import undefined_grad
from theano.graph import Apply
from theano.settings import config
from theano.tensor.convert import as_tensor_variable, static_int
from theano.tensor.elemwise.functions import cast, clip, erfinv, floor, log, minimum
from theano.tensor.index.permutation import permute_row_elements
from theano.tensor.random.draw import Draw
from theano.tensor.random.from_uniform import FromUniform, refuse
from theano.tensor.random.ranges import not_negative, ordered, probabilities, probability, scale
from theano.tensor.random.size import size_of, vector_of
from theano.tensor.random.states import StreamsWithStates
from theano.tensor.reduce.functions import prod
from theano.tensor.shape.reshape import reshape, shape_padright
from theano.tensor.sort.cumulative import cumsum
from theano.tensor.sort.op import argsort
from theano.tensor.sort.search import searchsorted
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike
    from theano.tensor.type import Tensor

GROUP = 64
"""How many blocks are drawn together: of their bits the first halves come first."""

_DTYPES = {"bits": ("uint32", "uint64"), "uniform": ("float32", "float64"), "normal": ("float32", "float64")}
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def philox_blocks(key: int, counters: np.ndarray, stream: int = 0) -> np.ndarray:
    """Return the blocks of some counters: for each, four words of 32 bits in uint64.

    Examples
    --------
    >>> [hex(word) for word in philox_blocks(0, np.array([0], "uint64"))[0]]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    counters = np.asarray(counters, "uint64")
    a, b = counters & _LOW, counters >> _HALF
    c, d = np.full_like(a, stream & 0xFFFFFFFF), np.full_like(a, stream >> 32)
    low, high = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p, q = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        a, b, c, d = (q >> _HALF) ^ b ^ np.uint64(low), q & _LOW, (p >> _HALF) ^ d ^ np.uint64(high), p & _LOW
        low, high = (low + 0x9E3779B9) & 0xFFFFFFFF, (high + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack([a, b, c, d], axis=-1)


def _bits(state: np.ndarray, groups: int) -> np.ndarray:
    """Return the bits of the next groups of blocks: a row of numbers of 64 bits for each."""
    key, stream, counter = (int(n) for n in state)
    counters = np.arange(groups * GROUP, dtype="uint64") + np.uint64(counter)
    words = philox_blocks(key, counters, stream).reshape(groups, GROUP, 2, 2)
    halves = words[..., 0] | words[..., 1] << _HALF
    return np.ascontiguousarray(halves.transpose(0, 2, 1)).reshape(groups, 2 * GROUP)


def _from_1_to_2(bits: np.ndarray) -> np.ndarray:
    return (bits >> np.uint64(12) | np.uint64(0x3FF0000000000000)).view("float64")


def _uniform(bits: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "float32":
        return (bits.view("uint32") >> np.uint32(8)).astype("float32") * np.float32(2.0**-24)
    return _from_1_to_2(bits) - 1.0


def _normal(bits: np.ndarray, dtype: str) -> np.ndarray:
    """Return pairs by the method of G. E. P. Box and M. E. Muller (1958): radii of the first bits, angles of others."""
    if dtype == "float32":
        radii, angles = np.split(bits.view("uint32"), 2, axis=1)
        u = (radii >> np.uint32(1)).astype("float64") * 2.0**-31 + 2.0**-32
        turn = (angles.view("int32") >> np.int32(8)) * 2.0**-24
    else:
        radii, angles = np.split(bits, 2, axis=1)
        u, turn = 2.0 - _from_1_to_2(radii), _from_1_to_2(angles) - 1.5
    radius = np.sqrt(-2.0 * np.log(u))
    pairs = [radius * np.cos(2 * np.pi * turn), radius * np.sin(2 * np.pi * turn)]
    return np.concatenate(pairs, axis=1).astype(dtype)


class PhiloxDraw(Draw):
    """Bits, uniform or normal numbers of a stream of Philox.

    Parameters
    ----------
    kind : {'bits', 'uniform', 'normal'}
        Uniform numbers are from 0 to 1, 1 excluded; normal ones have mean 0 and standard deviation 1.
    output_type : TensorType
        Of uint32 or uint64 for bits, else of float32 or float64.
    inplace : bool

    Examples
    --------
    >>> import theano.tensor as T
    >>> state = T.constant(np.array([0, 0, 0], "uint64"))
    >>> _, bits = PhiloxDraw("bits", TensorType("uint32", (False,)))(state, (2,))
    >>> [hex(word) for word in bits.eval()]
    ['0x6627e8d5', '0xe169c58d']
    """

    __props__ = ("kind", "output_type", "inplace")

    def __init__(self, kind: str, output_type: Any, inplace: bool = False):
        if kind not in _DTYPES:
            raise ValueError(f"the kind of numbers must be one of {', '.join(_DTYPES)}, not {kind!r}")
        if output_type.dtype not in _DTYPES[kind]:
            raise TypeError(f"{kind} of Philox are of dtype {' or '.join(_DTYPES[kind])}, not {output_type.dtype}")
        self.kind = kind
        self.output_type = output_type
        self._works(inplace)

    def __str__(self) -> str:
        return f"PhiloxDraw{{{self.kind},{self.output_type.dtype}}}{'{inplace}' if self.inplace else ''}"

    def make_node(self, state: TensorLike, size: Any) -> Node:
        """Return the node for a state and a vector of lengths."""
        state, size = as_tensor_variable(state), vector_of(size)
        if state.type.dtype != "uint64" or state.type.ndim != 1:
            raise TypeError(f"{self}: a state is a vector of 3 uint64, not {state} of type {state.type}")
        if size.type.dtype not in scal.integer_dtypes:
            raise TypeError(f"{self}: the size must be whole numbers, not {size} of dtype {size.type.dtype}")
        return Apply(self, [state, size], [state.type.make_variable(), self.output_type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Draw, all numbers at once."""
        state, size = inputs
        shape = tuple(int(n) for n in size)
        if len(shape) != self.output_type.ndim or any(n < 0 for n in shape):
            raise ValueError(f"{self}: the size {shape} must have {self.output_type.ndim} lengths, each 0 or more")
        if state.shape != (3,):
            raise ValueError(f"{self}: a state is key, stream and counter, and has the shape (3,), not {state.shape}")
        dtype, count = self.output_type.dtype, math.prod(shape)
        groups = -(-count * np.dtype(dtype).itemsize // (16 * GROUP))
        bits = _bits(state, groups)
        make: dict[str, Callable[..., Any]] = {"bits": np.ndarray.view, "uniform": _uniform, "normal": _normal}
        after = state if self.inplace else state.copy()
        after[2:] += np.uint64(groups * GROUP)  # an array may run over, silently
        output_storage[0][0] = after
        output_storage[1][0] = make[self.kind](bits, dtype).reshape(-1)[:count].reshape(shape)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the shape of a state, and the lengths asked for."""
        return [shapes[0], tuple(node.inputs[1][i] for i in range(self.output_type.ndim))]


class PhiloxStreams(StreamsWithStates, FromUniform):
    """Streams of Philox 4x32-10, with the methods of `RandomStreams`: the fastest, for new programs.

    Each call of a method makes a stream, whose state is a shared variable of three numbers; functions advance it by
    themselves. The same seed and order of calls give the same numbers, on any number of threads.

    Parameters
    ----------
    seed : int or None
        From 0 to 2**64 - 1. None: another one in each process.

    Attributes
    ----------
    state_updates : list of pairs
        Each stream's shared variable, and the expression of its next state.

    Examples
    --------
    >>> import theano
    >>> streams = PhiloxStreams(seed=1)
    >>> x = streams.normal((1000,), avg=5.0, dtype="float64")
    >>> bool(abs(theano.function([], x)().mean() - 5) < 0.2)
    True
    """

    def __init__(self, seed: int | None = None):
        super().__init__()
        self.default_instance_seed = _seed(seed)

    def _new_state(self) -> np.ndarray:
        return np.array([self.default_instance_seed, len(self.state_updates), 0], "uint64")

    def seed(self, seed: int | None = None) -> None:
        """Let all streams begin again, with the seed given here or else with that of the start."""
        key = self.default_instance_seed if seed is None else _seed(seed)
        for stream, (state, _) in enumerate(self.state_updates):
            state.set_value(np.array([key, stream, 0], "uint64"), borrow=True)

    def _draw(self, kind: str, dtype: str, size: Any, ndim: int | None, *parameters: Any) -> Any:
        found = size_of(ndim, size, *parameters)
        return self.gen(PhiloxDraw(kind, TensorType(dtype, found.pattern)), found.lengths)

    def _scaled(
        self, kind: str, size: Any, ndim: int | None, dtype: str | None, a: Any, b: Any,
        scale: Callable[[Any, Any, Any], Any],
    ) -> Any:  # fmt: skip
        """Return numbers that ``scale`` turns into the requested ones; they keep the attributes that users look for."""
        a, b = as_tensor_variable(a), as_tensor_variable(b)
        dtype = dtype or scal.upcast(config.floatX, a.type.dtype, b.type.dtype)
        drawn = self._draw(kind, "float64" if dtype == "float64" else "float32", size, ndim, a, b)
        wide = drawn.type.dtype
        numbers: Any = cast(scale(drawn, *(undefined_grad(cast(v, wide)) for v in (a, b))), dtype)
        numbers.rng, numbers.update = drawn.rng, drawn.update
        return numbers

    def bits(self, size: TensorLike, ndim: int | None = None, dtype: str = "uint64") -> Tensor:
        """Return random bits: numbers of uint32 or uint64."""
        return self._draw("bits", dtype, size, ndim)

    def uniform(
        self, size: object = None, low: TensorLike = 0.0, high: TensorLike = 1.0, ndim: int | None = None,
        dtype: str | None = None, nstreams: int | None = None, **kwargs: object,
    ) -> Any:  # fmt: skip
        """Return numbers between ``low``, which may occur, and ``high``; ``nstreams`` has no meaning here."""
        refuse("uniform", kwargs)
        return self._scaled("uniform", size, ndim, dtype, low, high, lambda x, low, high: x * (high - low) + low)

    def normal(
        self, size: TensorLike | None = None, avg: TensorLike = 0.0, std: TensorLike = 1.0, ndim: int | None = None,
        dtype: str | None = None, nstreams: int | None = None, truncate: bool = False, **kwargs: object,
    ) -> Tensor:  # fmt: skip
        """Return numbers with a normal distribution; with ``truncate`` cut off at two standard deviations."""
        refuse("normal", kwargs)
        std = scale("normal: std", std)
        if truncate:
            return self._scaled("uniform", size, ndim, dtype, avg, std, _within_2)
        return self._scaled("normal", size, ndim, dtype, avg, std, lambda x, avg, std: x * std + avg)

    def binomial(
        self, size: Any = None, n: Any = 1, p: TensorLike = 0.5, ndim: int | None = None, dtype: str = "int64",
        nstreams: int | None = None, **kwargs: object,
    ) -> Tensor:  # fmt: skip
        """Return how many of ``n`` trials succeed, each with probability ``p``; every trial is a uniform number."""
        p = probability("binomial: p", p)
        found = size_of(ndim, size, p)
        if static_int(n) == 1:
            return super().binomial(found.lengths, 1, p, found.ndim, dtype)
        n = not_negative("binomial: n", n)
        trials = self.uniform([*(found.lengths[i] for i in range(found.ndim)), as_tensor_variable(n, ndim=0)])
        return (trials < shape_padright(undefined_grad(p))).sum(axis=-1, dtype=dtype)

    def random_integers(
        self,
        size: TensorLike | None = None,
        low: TensorLike = 0,
        high: TensorLike = 1,
        ndim: int | None = None,
        dtype: str = "int64",
    ) -> Tensor:
        """Return whole numbers from ``low`` to ``high``, both of which may occur; fewer than 2**52 different ones."""
        low, high = as_tensor_variable(low), ordered("random_integers", high, low)
        x = self._draw("uniform", "float64", size, ndim, low, high)
        # Rounding must not lead beyond the last one.
        return minimum(low + cast(floor(x * (high - low + 1)), "int64"), high).astype(dtype)

    def choice(
        self, size: Any = None, a: Any = None, replace: bool = True, p: TensorLike | None = None,
        ndim: int | None = None, dtype: str = "int64", nstreams: int | None = None, **kwargs: object,
    ) -> Variable:  # fmt: skip
        """Return elements of the vector ``a``, or of the numbers below ``a``, with probabilities ``p``.

        With a matrix ``p`` and ``replace=False``: ``size`` different outcomes of each row.
        """
        if p is not None and as_tensor_variable(p).type.ndim == 2:
            return super().choice(1 if size is None else size, a, replace, p, ndim, dtype)
        a = as_tensor_variable(2 if a is None else a)
        count = a if a.type.ndim == 0 else a.shape[0]
        p = p if p is None else probabilities("choice: p", p, whole=True)
        if not replace:
            places = self._different(size, ndim, count, p)
        elif p is None:
            places = self.random_integers(size, 0, count - 1, ndim=ndim)
        else:
            bounds = cumsum(p)
            unis = self.uniform(size, ndim=ndim, dtype="float64")
            places = clip(searchsorted(bounds, unis, side="right"), 0, count - 1)
        return cast(places if a.type.ndim == 0 else a[places], dtype)

    def _different(self, size: object, ndim: int | None, count: Variable, p: Any) -> Variable:
        """Return different numbers below ``count``: those whose exponential waiting times are the shortest."""
        found = size_of(ndim, () if size is None else size)
        waiting = -log(1 - self.uniform((count,), dtype="float64"))
        order = argsort(waiting if p is None else waiting / p)
        return reshape(order[: prod(found.lengths)], found.lengths, ndim=found.ndim)

    def permutation(self, size: Any = None, n: TensorLike = 1, ndim: int | None = None, dtype: str = "int64") -> Any:
        """Return the numbers below ``n`` in random order, along a last axis that is added to ``size``."""
        found = size_of(ndim, () if size is None else size)
        lengths = [*(found.lengths[i] for i in range(found.ndim)), as_tensor_variable(n)]
        return cast(argsort(self._draw("bits", "uint64", lengths, None)), dtype)

    def shuffle_row_elements(self, input: TensorLike) -> Tensor:
        """Return a tensor with each row, along its last axis, in an order of its own: its attribute ``permutation``."""
        input = as_tensor_variable(input)
        order = self.permutation(size=input.shape[:-1], n=input.shape[-1], ndim=input.type.ndim - 1)
        shuffled: Any = permute_row_elements(input, order)
        shuffled.permutation = order
        return shuffled


def _within_2(x: Tensor, avg: Variable, std: Variable) -> Tensor:
    """Return normal numbers within two standard deviations of the mean, made of uniform ones."""
    side = np.array(2.0**0.5, x.type.dtype)
    return side * erfinv((2 * x - 1) * np.array(math.erf(2.0**0.5), x.type.dtype)) * std + avg


def _seed(seed: int | None) -> int:
    """Return a key for a seed; None asks the system for one."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, "uint64")[0])
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise ValueError(f"seed must be a whole number from 0 to 2**64 - 1, not {seed!r}")
    return int(seed)
