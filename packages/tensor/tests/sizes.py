"""Every optimised path of compiled code, with the shapes in which vector loops, blocks and their remainders meet.

Each path is an expression with inputs whose lengths depend on one size. `test_sizes` compares the compiled path
with the plain one (no rewriting beyond the least, each op's ``perform``) over dtypes, layouts and sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from arrays import sample

import theano
import theano.tensor as T

SIZES = (0, 1, 7, 8, 9, 1023, 1024, 1025)
MORE_SIZES = (*SIZES, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 4095, 4096, 4097, 70001)
LAYOUTS = ("C", "transposed", "reversed", "step2", "offset", "unaligned", "stretched", "mixed")
MORE_LAYOUTS = (*LAYOUTS, "F", "swapped")
FLOATS = ("float64", "float32")
NUMBERS = (*FLOATS, "int64")
MORE_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64")
MORE_FLOATS = ("float16",)

N = "n"  # stands for the size in a shape
Shape = tuple[Any, ...]


class Index(NamedTuple):
    """An input of indices below the length of another input's first axis."""

    length: Any
    below: Any
    negative: bool = True


class Path(NamedTuple):
    """An expression and the shapes of its inputs."""

    name: str
    build: Callable[..., Any]
    shapes: tuple[Any, ...]
    dtypes: tuple[str, ...] = FLOATS
    bounds: tuple[float, float] = (-4, 4)
    ties: bool = False  # whether equal numbers and nan belong into the inputs
    smallest: int = 0  # of sizes, where less has no meaning
    without: tuple[str, ...] = ()  # dtypes of a sweep that make another expression, or have no space for it
    terms: Callable[..., Any] | None = None  # how large what is added up is, where the sum may be far smaller

    def variables(self, dtype: str) -> list[Any]:
        """Return a variable for each input; a length written as 1 is part of its type."""
        made = []
        for i, spec in enumerate(self.shapes):
            if isinstance(spec, Index):
                made.append(T.lvector(f"i{i}"))
            else:
                made.append(T.TensorType(dtype, [length == 1 for length in spec])(f"x{i}"))
        return made

    def values(self, dtype: str, size: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Return values for them."""
        return [self._value(spec, dtype, size, rng) for spec in self.shapes]

    def _value(self, spec: Any, dtype: str, size: int, rng: np.random.Generator) -> np.ndarray:
        if isinstance(spec, Index):
            length, below = (size if part == N else part for part in spec[:2])
            return rng.integers(-below if spec.negative else 0, below, length) if below else np.zeros(0, "int64")
        value = sample(dtype, tuple(size if length == N else length for length in spec), rng, *self.bounds)
        if self.ties and value.size:
            value = np.round(value)
            if value.dtype.kind == "f" and value.size > 5 and size % 2:
                value.flat[value.size // 2] = np.nan
        return value


def _set(x: Any, v: Any) -> Any:
    return T.set_subtensor(x, v)


def _inc(x: Any, v: Any) -> Any:
    return T.inc_subtensor(x, v)


def _cross_entropy(x: Any, i: Any) -> Any:
    cost = -T.mean(T.log(T.nnet.softmax(x))[T.arange(i.shape[0]), i])
    return [cost, theano.grad(cost, x)]


def _terms_of_gradient(x: Any, y: Any) -> Any:
    weights = T.nnet.softmax(x)
    return weights * (abs(y) + T.sum(weights * abs(y), axis=1, keepdims=True))


def _terms_of_product(x: Any, y: Any) -> Any:
    return T.dot(abs(x), abs(y))


def _mean_and_var(x: Any) -> Any:
    return [T.mean(x, axis=0), T.var(x, axis=0)]


def _elementwise() -> Iterator[Path]:
    one, two = ((N,), (N,)), ((N, 3), (N, 3))
    yield Path("polynomial", lambda x, y: x * x + y * y + 2 * x * y, one, NUMBERS, without=MORE_FLOATS)
    yield Path("narrow_square", lambda x, y: (x - y) ** 2, one, ("uint8", "int16", "float32"), (0, 100))
    yield Path("transcendental", lambda x, y: T.tanh(x) * T.exp(-y) + T.log1p(T.exp(x)), one)
    yield Path("powers", lambda x, y: x**y + T.sqrt(x) - T.log(y), one, FLOATS, (0.5, 3))
    yield Path("waves", lambda x: T.sin(x) * T.cos(x) + T.erf(x), ((N,),))
    yield Path("sigmoids", lambda x: T.nnet.sigmoid(x) + T.nnet.softplus(x), ((N,),))
    yield Path("several", lambda x, y: [x * y, x - y, T.maximum(x, y)], one, NUMBERS)
    yield Path("choice", lambda x, y: T.switch(x > y, x, -y), one, NUMBERS)
    yield Path("truths", lambda x, y: T.and_(x > y, T.ge(x, 0)), one, NUMBERS)
    yield Path("clip", lambda x: T.clip(x, -1, 2), ((N,),), NUMBERS)
    yield Path("to_int32", lambda x: T.cast(x, "int32"), ((N,),), NUMBERS)
    yield Path("mixed", lambda x, y: T.cast(x, "float64") * T.cast(y, "int8") + x, one, NUMBERS)
    yield Path("integers", lambda x, y: (x & y) ^ (x | y) + x // 3 - y % 5, one, ("int64",), without=("uint64",))
    yield Path("copy", lambda x: T.tensor_copy(x), ((N, 3),), NUMBERS)
    yield Path("matrix", lambda x, y: x * 2 + y, two, NUMBERS)
    yield Path("wide", lambda x, y: x * 2 + y, ((3, N), (3, N)), NUMBERS)
    yield Path("scalar", lambda x, c: x * c + 1, ((N,), ()), NUMBERS)
    yield Path("row", lambda x, r: x + r, ((5, N), (1, N)), NUMBERS)
    yield Path("vector_as_row", lambda x, r: x * r + T.exp(r), ((5, N), (N,)))
    yield Path("column", lambda x, c: x * c - T.exp(c), ((N, 5), (N, 1)))
    yield Path("outer_sum", lambda c, r: c - r, ((N, 1), (1, 5)), NUMBERS)
    yield Path("outer_sum_wide", lambda c, r: c - r, ((5, 1), (1, N)), NUMBERS)
    yield Path("middle", lambda x, m: x + m, ((2, N, 3), (1, N, 1)), NUMBERS)
    yield Path("ends", lambda x, m: x + m, ((3, 4, N), (3, 1, N)), NUMBERS)
    yield Path("shuffled", lambda x, y: x + y.T, ((N, 3), (3, N)), NUMBERS)
    yield Path("strided", lambda x: x[::2] * 2 + 1, ((N,),), NUMBERS)
    yield Path("fill", lambda x: T.fill(x, 3) + T.zeros_like(x), ((N, 2),), NUMBERS)


REDUCED = {"all": ((N,), None), "first": ((N, 3), 0), "last": ((3, N), 1), "rows": ((N, 3), 1), "columns": ((3, N), 0),
           "both": ((N, 3), None), "middle": ((2, N, 3), 1), "outer": ((2, N, 3), (0, 2)), "inner": ((3, 2, N), (1, 2)),
           "wide_first": ((N, 70), 0)}  # fmt: skip


def _reductions() -> Iterator[Path]:
    for place, (shape, axis) in REDUCED.items():
        yield Path(f"sum_{place}", lambda x, axis=axis: T.sum(x, axis=axis), (shape,), NUMBERS)
        yield Path(f"max_{place}", lambda x, axis=axis: T.max(x, axis=axis), (shape,), NUMBERS, ties=True)
    for place in ("all", "first", "last"):
        shape, axis = REDUCED[place]
        yield Path(f"min_{place}", lambda x, axis=axis: T.min(x, axis=axis), (shape,), NUMBERS, ties=True)
        yield Path(f"prod_{place}", lambda x, axis=axis: T.prod(x, axis=axis), (shape,), FLOATS, (0.99, 1.01))
        yield Path(f"mean_{place}", lambda x, axis=axis: T.mean(x, axis=axis), (shape,), NUMBERS, (0.5, 4))
        yield Path(f"any_{place}", lambda x, axis=axis: T.any(x > 3, axis=axis), (shape,), NUMBERS)
        yield Path(f"all_{place}", lambda x, axis=axis: T.all(x > -4, axis=axis), (shape,), NUMBERS)
        yield Path(f"argmax_{place}", lambda x, axis=axis: T.argmax(x, axis=axis), (shape,), NUMBERS, ties=True)
        yield Path(f"argmin_{place}", lambda x, axis=axis: T.argmin(x, axis=axis), (shape,), FLOATS, ties=True)
        yield Path(f"squared_{place}", lambda x, y, axis=axis: T.sum((x - y) ** 2, axis=axis), (shape, shape), NUMBERS)
        yield Path(f"exp_{place}", lambda x, axis=axis: T.sum(T.exp(x), axis=axis), (shape,))
        yield Path(f"logsumexp_{place}", lambda x, axis=axis: T.log(T.sum(T.exp(x), axis=axis)), (shape,), without=MORE_FLOATS)
    for place in ("rows", "columns", "middle"):
        shape, axis = REDUCED[place]
        yield Path(f"argmax_{place}", lambda x, axis=axis: T.argmax(x, axis=axis), (shape,), NUMBERS, ties=True)
        yield Path(f"both_{place}", lambda x, axis=axis: T.max_and_argmax(x, axis=axis), (shape,), FLOATS, ties=True)
    yield Path("var", _mean_and_var, ((N, 3),))
    yield Path("std", lambda x: T.std(x, axis=1), ((3, N),))
    yield Path("sums_together", lambda x: [T.sum(x), T.sum(x * x), T.max(x)], ((N,),), NUMBERS)
    yield Path("count", lambda x: T.sum(x > 0), ((N,),), NUMBERS)
    yield Path("cumsum", lambda x: T.cumsum(x), ((N,),), NUMBERS)


def _rows() -> Iterator[Path]:
    for name, shape in (("wide", (3, N)), ("tall", (N, 4)), ("square", (N, 9))):
        yield Path(f"softmax_{name}", T.nnet.softmax, (shape,))
        yield Path(f"log_softmax_{name}", lambda x: T.log(T.nnet.softmax(x)), (shape,))
    yield Path("softmax_gradient", lambda x, y: theano.grad(T.sum(T.nnet.softmax(x) * y), x), ((3, N), (3, N)), terms=_terms_of_gradient)
    yield Path("cross_entropy", _cross_entropy, ((N, 5), Index(N, 5, negative=False)))
    yield Path("cross_entropy_wide", _cross_entropy, ((4, N), Index(4, N, negative=False)), smallest=1, without=MORE_FLOATS)
    yield Path("bias", lambda x, b: T.nnet.softmax(x + b), ((N, 5), (5,)))
    yield Path("normalised", lambda x: (x - T.mean(x, axis=1, keepdims=True)) / (1 + T.std(x, axis=1, keepdims=True)), ((3, N),))


def _products() -> Iterator[Path]:
    yield Path("dot_rows", T.dot, ((N, 5), (5, 7)), terms=_terms_of_product)
    yield Path("dot_inner", T.dot, ((3, N), (N, 4)), terms=_terms_of_product)
    yield Path("dot_columns", T.dot, ((3, 5), (5, N)), terms=_terms_of_product)
    yield Path("dot_integers", T.dot, ((3, N), (N, 4)), ("int64",))
    yield Path("dot_transposed", lambda x, y: T.dot(x.T, y), ((N, 5), (N, 4)))
    yield Path("dot_both_transposed", lambda x, y: T.dot(x.T, y.T), ((5, 3), (N, 5)))
    yield Path("matrix_vector", T.dot, ((N, 5), (5,)), terms=_terms_of_product)
    yield Path("matrix_vector_inner", T.dot, ((5, N), (N,)), terms=_terms_of_product)
    yield Path("vector_matrix", T.dot, ((N,), (N, 5)), terms=_terms_of_product)
    yield Path("vectors", T.dot, ((N,), (N,)), terms=_terms_of_product)
    yield Path("outer", T.outer, ((N,), (5,)))
    yield Path("batched", T.batched_dot, ((2, 3, N), (2, N, 4)))
    yield Path("batched_many", T.batched_dot, ((N, 3, 2), (N, 2, 4)))
    yield Path("gemm", lambda x, y, z: 0.5 * T.dot(x, y) + 2 * z, ((N, 5), (5, 7), (N, 7)))
    yield Path("gemm_minus", lambda x, y, z: z - T.dot(x, y), ((4, N), (N, 7), (4, 7)))
    yield Path("gemv", lambda x, y, z: 2 * z - 0.1 * T.dot(x, y), ((N, 5), (5,), (N,)))
    yield Path("rank_one", lambda a, x, y: a + 0.1 * T.outer(x, y), ((N, 5), (N,), (5,)))
    yield Path("affine", lambda x, w, b: T.tanh(T.dot(x, w) + b), ((N, 5), (5, 3), (3,)))
    yield Path("three", lambda x, y, z: T.dot(T.dot(x, y), z), ((3, N), (N, 4), (4, 2)))


def _layout() -> Iterator[Path]:
    yield Path("join_vectors", lambda x, y: T.concatenate([x, y]), ((N,), (3,)), NUMBERS)
    yield Path("join_rows", lambda x, y: T.concatenate([x, y], axis=0), ((N, 3), (2, 3)), NUMBERS)
    yield Path("join_columns", lambda x, y: T.concatenate([x, y], axis=1), ((3, N), (3, 4)), NUMBERS)
    yield Path("join_tall", lambda x, y: T.concatenate([x, y], axis=1), ((N, 3), (N, 4)), NUMBERS)
    yield Path("stack", lambda x, y: T.stack([x, y, x]), ((N,), (N,)), NUMBERS)
    yield Path("stack_last", lambda x, y: T.stack([x, y], axis=1), ((N,), (N,)), NUMBERS)
    yield Path("reshape", lambda x: T.reshape(x.T, (-1,)), ((N, 3),), NUMBERS)
    yield Path("flatten", lambda x: x.flatten() * 2, ((3, N),), NUMBERS)
    yield Path("slices", lambda x: [x[1:], x[::-2], x[-5:3:-1] + 1], ((N,),), NUMBERS)
    yield Path("block", lambda x: x[:, 1::2] * 2, ((3, N),), NUMBERS)
    yield Path("set_slice", lambda x: _set(x[1:-1], 0), ((N,),), NUMBERS)
    yield Path("add_block", lambda x, y: _inc(x[1:3], y), ((5, N), (2, N)), NUMBERS)
    yield Path("set_columns", lambda x, y: _set(x[:, ::2], y), ((N, 5), (N, 3)), NUMBERS)
    yield Path("gather", lambda x, i: x[i], ((N,), Index(N, N)), NUMBERS)
    yield Path("gather_few", lambda x, i: x[i], ((5,), Index(N, 5)), NUMBERS)
    yield Path("gather_rows", lambda x, i: x[i], ((N, 3), Index(N, N)), NUMBERS)
    yield Path("gather_wide", lambda x, i: x[i], ((6, N), Index(4, 6)), NUMBERS)
    yield Path("gather_columns", lambda x, i: x[:, i], ((3, N), Index(5, N)), NUMBERS)
    yield Path("gather_fused", lambda x, i: T.sum(x[i] * 2 + 1, axis=1), ((N, 3), Index(N, N)), NUMBERS)
    yield Path("pairs", lambda x, i, j: x[i, j], ((N, 4), Index(N, N), Index(N, 4)), NUMBERS)
    yield Path("scatter_add", lambda x, i, v: _inc(x[i], v), ((N,), Index(N, N), (N,)), NUMBERS)
    yield Path("scatter_rows", lambda x, i, v: _inc(x[i], v), ((6, N), Index(4, 6), (4, N)), NUMBERS)
    yield Path("scatter_scalar", lambda x, i: _inc(x[i], 1), ((N,), Index(N, N)), NUMBERS)
    yield Path("scatter_set", lambda x, i, v: _set(x[i], v[0]), ((6, N), Index(4, 6), (1, N)), NUMBERS)
    yield Path("mask", lambda x: x[(x > 0).nonzero()], ((N,),), NUMBERS)


# Sums of many products that were rounded to float16 depend on their order.
PATHS = [*_elementwise(), *_reductions(), *_rows(), *(p._replace(without=MORE_FLOATS) for p in _products()), *_layout()]
