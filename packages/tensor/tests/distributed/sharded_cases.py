"""Cases for the table of `theano.distributed`: expressions of a sharded matrix, for each axis, and where it is split."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import theano
import theano.tensor as T
from theano import distributed

#: Expressions of ``x`` (sharded), ``y`` (sharded alike), and a vector ``v`` that stretches along the sharded axis, for
#: the axis that is sharded and the other one.
UNARY: dict[str, Callable[[Any, Any, Any, int, int], Any]] = {
    "exp": lambda x, y, v, a, b: T.exp(x),
    "add": lambda x, y, v, a, b: x + y,
    "compare": lambda x, y, v, a, b: T.switch(x < y, x, y),
    "broadcast": lambda x, y, v, a, b: x * v.dimshuffle(*(("x", 0) if a == 0 else (0, "x"))),
    "number": lambda x, y, v, a, b: x - v[0],
    "cast": lambda x, y, v, a, b: T.cast(x, "float64"),
    "transpose": lambda x, y, v, a, b: x.T,
    "new axis": lambda x, y, v, a, b: x.dimshuffle(0, "x", 1),
    **{
        f"{name} {which}": lambda x, y, v, a, b, name=name, which=which: getattr(T, name)(
            x, axis={"sharded": a, "other": b, "both": None}[which]
        )
        for name in ("sum", "prod", "max", "min", "mean", "var", "any", "all")
        for which in ("sharded", "other", "both")
    },
    "argmax": lambda x, y, v, a, b: T.argmax(x, axis=b),
    "argmin": lambda x, y, v, a, b: T.argmin(x, axis=b),
    "max and argmax": lambda x, y, v, a, b: T.max_and_argmax(x, axis=b)[1],
    "dot other": lambda x, y, v, a, b: T.dot(x, v) if a == 0 else T.dot(v, x),
    "dot sharded": lambda x, y, v, a, b: T.dot(x.T, y) if a == 0 else T.dot(x, y.T),
    "index other": lambda x, y, v, a, b: x[:, 0] if a == 0 else x[0],
    "slice other": lambda x, y, v, a, b: x[:, 1:] if a == 0 else x[1:],
    "increment": lambda x, y, v, a, b: T.inc_subtensor(x[:, 1], y[:, 0]) if a == 0 else T.inc_subtensor(x[1], y[0]),
    "set": lambda x, y, v, a, b: T.set_subtensor(x[:, 1], 2) if a == 0 else T.set_subtensor(x[1], 2),
    "join": lambda x, y, v, a, b: T.concatenate([x, y], axis=b),
    "cumsum": lambda x, y, v, a, b: T.cumsum(x, axis=b),
    "sort": lambda x, y, v, a, b: T.sort(x, axis=b),
    "argsort": lambda x, y, v, a, b: T.argsort(x, axis=b),
    "shape": lambda x, y, v, a, b: x.shape,
    "length": lambda x, y, v, a, b: (x + y).shape[a] * T.exp(x).T.shape[a],
    "zeros": lambda x, y, v, a, b: T.zeros((x.shape[a], 2)) + x.sum(axis=b).dimshuffle(0, "x"),
    "arange": lambda x, y, v, a, b: T.arange(x.shape[a]),
    "made of a length": lambda x, y, v, a, b: T.arange(2 * x.shape[a]) + T.zeros((x.shape[a] * 2,)) + x.sum(),
    "made of another length": lambda x, y, v, a, b: T.arange(x.shape[b]) + T.zeros((v.shape[0],)) + x.sum(),
    "take rows": lambda x, y, v, a, b: v[T.cast(abs(x).sum(axis=b), "int64") % 3],
    "one each": lambda x, y, v, a, b: (x if a == 0 else x.T)[
        T.arange(x.shape[a]), T.cast(abs(x).sum(axis=b), "int64") % 3
    ],
    "barriers": lambda x, y, v, a, b: x * theano.gradient.disconnected_grad(y) + theano.gradient.grad_clip(x, -1, 1),
    "centred": lambda x, y, v, a, b: x - x.mean(axis=a, keepdims=True),
}

#: What floats alone have.
FLOATING: dict[str, Callable[[Any, Any, Any, int, int], Any]] = {
    "cumprod": lambda x, y, v, a, b: T.cumprod(x, axis=b),
    "softmax": lambda x, y, v, a, b: T.nnet.softmax(x),
    "logsoftmax": lambda x, y, v, a, b: T.nnet.logsoftmax(x),
    **{
        f"logsumexp {which}": lambda x, y, v, a, b, which=which: T.logsumexp(
            x, axis={"sharded": a, "other": b, "both": None}[which]
        )
        for which in ("sharded", "other", "both")
    },
    "batched dot": lambda x, y, v, a, b: T.batched_dot(*((x, y) if a == 0 else (x.T, y.T))),
    "crossentropy": lambda x, y, v, a, b: T.nnet.categorical_crossentropy(
        T.nnet.softmax(x if a == 0 else x.T), T.cast(abs(y).sum(axis=b), "int64") % 3
    ),
}

#: Where seven rows are split: evenly, unevenly, with empty shards first, last and in between, and not at all.
SPLITS = ((3, 5), (1,), (0, 4), (7, 7), (2, 2, 6), (1, 2, 3, 4, 5, 6), ())


class Case(NamedTuple):
    """An expression for a dtype, the axis that is sharded, whether also its gradient is asked for, and splits."""

    name: str
    dtype: str
    axis: int
    gradient: bool
    split: tuple[int, ...]


def cases() -> Iterator[Case]:
    """Return all cases."""
    for dtype in ("float64", "float32", "int64", "int8", "bool"):
        floating = dtype.startswith("float")
        refused = {"prod sharded", "prod both"}
        for name in [*UNARY, *(FLOATING if floating else ())]:
            if dtype == "bool" and name in ("number", "centred", "increment", "cumsum"):
                continue  # NumPy has no such arithmetic of truth values
            for axis in (0, 1):
                for gradient in (False, True) if floating and name not in refused else (False,):
                    for split in SPLITS:
                        yield Case(name, dtype, axis, gradient, split)


def check(case: Case, made: dict[Any, Any]) -> None:
    """Compare the sharded result with that of `theano.function`; functions are made once for all splits."""
    name, dtype, axis, gradient, split = case
    key = case[:4]
    if key not in made:
        x, y = T.matrix("x", dtype), T.matrix("y", dtype)
        v = T.vector("v", dtype)
        out = {**UNARY, **FLOATING}[name](x, y, v, axis, 1 - axis)
        outs = [out]
        if gradient and out.type.dtype.startswith("float"):
            outs += T.grad(T.sum(T.sqr(out)), [x, v], disconnected_inputs="ignore")
        sharded = distributed.function([x, y, v], outs, shard={x: axis, y: axis}, on="serial")
        made[key] = sharded, theano.function([x, y, v], outs, on_unused_input="ignore")
    sharded, plain = made[key]
    rng = np.random.default_rng(len(name))
    shape = (7, 3) if axis == 0 else (3, 7)
    x, y, v = (rng.integers(-4, 5, s).astype(dtype) for s in (shape, shape, 3))
    if dtype.startswith("float"):
        x, y = (a + rng.normal(size=shape).astype(dtype) / 4 for a in (x, y))
    found = sharded(sharded.scatter(*(np.split(a, split, axis=axis) for a in (x, y))), v)
    tolerance = {"rtol": 3e-4, "atol": 1e-3} if dtype == "float32" else {"rtol": 1e-9, "atol": 1e-9}
    for got, want in zip(found, plain(x, y, v), strict=True):
        whole = got.gather() if isinstance(got, distributed.ShardedArray) else got
        assert np.shape(whole) == np.shape(want) and np.asarray(whole).dtype == want.dtype, case
        np.testing.assert_allclose(whole, want, **tolerance, err_msg=str(case))
