"""``theano.distributed.function``: a graph of sharded inputs, compiled in stages and run by an engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import theano
from theano.compile.shared import SharedVariable
from theano.distributed import local
from theano.distributed.combining import Combination
from theano.distributed.dask_engine import DaskEngine, is_client
from theano.distributed.data import split
from theano.distributed.engines import Engine, SerialEngine
from theano.distributed.mpi_engine import MPIEngine
from theano.distributed.stages import Stages, leaves
from theano.graph.traverse import ancestors
from theano.graph.variable import Constant, Variable
from theano.tensor.random.substates import next_state, substate

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


class LocalStage:
    """What each shard computes in one stage, as one compiled function; engines send it to where the shards are.

    Parameters
    ----------
    compiled : Function
        Of arrays of the shard, then of values that are the same everywhere.
    takes : list of int
        Which arrays of the shard it takes.
    keeps : int
        How many of its results stay with the shard; the others are sent back.
    states : list of int
        Which of the values are states of streams: each shard draws from a part of its own.
    """

    def __init__(self, compiled: Any, takes: Sequence[int], keeps: int, states: Sequence[int] = ()):
        self.compiled, self.takes, self.keeps, self.states = compiled, takes, keeps, states

    def __call__(self, arrays: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return the shard's arrays with those that stay, and the results that are sent back."""
        number, *own = arrays
        given = [substate(v, int(number)) if i in self.states else v for i, v in enumerate(values)]
        try:
            found = self.compiled(*(own[i] for i in self.takes), *given)
        except Exception as exc:
            shapes = ", ".join(str(np.shape(a)) for a in own[2:])
            exc.add_note(f"  on shard {number}, whose arrays have the shapes {shapes}")
            raise
        return [number, *own, *found[: self.keeps]], list(found[self.keeps :])


@dataclass(frozen=True)
class ShardedArray:
    """A result that is sharded: one array for each shard.

    Attributes
    ----------
    shards : list of ndarray
    axis : int
        The axis along which they are split.
    """

    shards: list[Any]
    axis: int

    def gather(self) -> np.ndarray:
        """Return the whole as one array."""
        return np.concatenate(self.shards, axis=self.axis)


@dataclass(frozen=True)
class ShardedData:
    """Data that an engine has: handles of the shards, their lengths, and the shapes of the whole arrays."""

    shards: list[Any]
    lengths: list[int]
    shapes: list[tuple[int, ...]]


class DistributedFunction:
    """What `function` returns: call it with arrays for its inputs, or with what `scatter` returned.

    Parameters
    ----------
    inputs, outputs, updates, shard, on, shards, mode
        Those of `function`.
    """

    def __init__(
        self, inputs: Sequence[Any], outputs: Any, updates: Any, shard: Mapping[Any, int], on: Any, shards: int,
        mode: Any,
    ):  # fmt: skip
        self.engine: Engine = _engine(on)
        self.inputs, self._shard, self._count = list(inputs), dict(shard), shards
        self._one = isinstance(outputs, Variable)
        wanted = [outputs] if self._one else list(outputs)
        pairs = list(updates.items() if isinstance(updates, Mapping) else updates or ())
        self._updated = [
            (v, v.type.filter_variable(_variable(new), allow_convert=True)) for v, new in pairs
        ]
        _check(self.inputs, self._shard, self._updated)
        self._updated += _default_updates([*wanted, *(new for _, new in self._updated)], dict(self._updated))
        self._data = [x for x in self.inputs if x in self._shard]
        self._stages = Stages([*wanted, *(new for _, new in self._updated)], {x: self._shard[x] for x in self._data})
        self._wanted = len(wanted)
        for (v, _), at in zip(self._updated, self._stages.outputs[self._wanted :], strict=True):
            if at.axis is not None:
                raise TypeError(
                    f"distributed.function: the update of {v} is sharded, along axis {at.axis}, but a shared variable "
                    "is the same everywhere: reduce it along this axis"
                )
        self._compile(mode)

    def _compile(self, mode: Any) -> None:
        st = self._stages
        for at in st.outputs:
            if at.axis is not None and at.expr not in st.shard:
                st.carry(at)
        carried = list(st.carried.items())
        self._needs_rows = any(p.kind in ("max", "min") for p in st.parts)
        #: The variables of a shard: the index of its first row, its number of rows, inputs, what earlier stages kept.
        known: list[Any] = [st.start, st.count, *self._data]
        last = max([at.level for at in st.outputs] + [level + 1 for _, (_, level) in carried], default=0)
        self._steps = []
        for level in range(last + 1):
            kept = [(e, v) for e, (v, n) in carried if n == level]
            parts = [p for p in st.parts if p.level == level]
            local = [e for e, _ in kept] + [p.expr for p in parts]
            found = leaves(local)
            values = [v for v, _ in st.sent.values() if v in found]
            takes = [i for i, v in enumerate(known) if v in found]
            own = [known[i] for i in takes]
            stage = None
            if local:
                compiled = theano.function([*own, *values], local, mode=mode, on_unused_input="ignore")
                states = [i for i, v in enumerate(values) if v in self._stages.substates.values()]
                stage = LocalStage(compiled, takes, len(kept), states)
            known += [v for _, v in kept]
            self._steps.append((self._client(level, mode), stage, values, parts))
        self._known = known

    def _client(self, level: int, mode: Any) -> Any:
        """Return what one place computes in a stage: its inputs, the compiled function, and what it finds."""
        st = self._stages
        wanted = {e: v for e, (v, n) in st.sent.items() if n == level}
        exprs = [*wanted, *(at.expr for at in st.outputs if at.axis is None and at.level == level)]
        exprs = [e for e in dict.fromkeys(exprs) if e.owner is not None or isinstance(e, Constant)]
        roots = [v for v in leaves(exprs) if not isinstance(v, SharedVariable)]
        compiled = theano.function(roots, exprs, mode=mode, no_default_updates=True) if exprs else None
        return roots, compiled, exprs, wanted

    def scatter(self, *data: Any) -> ShardedData:
        """Hand the sharded inputs to the engine, once for many calls.

        Parameters
        ----------
        *data : array, dask array, or list of arrays or of futures
            For each sharded input, in the order of the inputs: an array, which is split evenly, or its shards. Those of
            a dask array are its chunks. What `numpy.memmap` maps stays in its file.

        Returns
        -------
        ShardedData
            To be given to the function in place of these inputs, before the others.

        Raises
        ------
        ValueError
            The inputs have different numbers of shards, or shards of different lengths.
        """
        if len(data) != len(self._data):
            raise TypeError(f"distributed.function: {len(self._data)} inputs are sharded, but {len(data)} were given")
        columns = [split(x, value, self._shard[x], self._count) for x, value in zip(self._data, data, strict=True)]
        lengths = [[c.shape[self._shard[x]] for c in column] for x, column in zip(self._data, columns, strict=True)]
        for x, own in zip(self._data, lengths, strict=True):
            if own != lengths[0]:
                raise ValueError(
                    f"distributed.function: the shards of {x} have the lengths {own}, but those of "
                    f"{self._data[0]} have {lengths[0]}: all inputs must be split at the same places"
                )
        starts = np.concatenate([[0], np.cumsum(lengths[0])]).astype("int64")
        rows = [[i, starts[i], np.int64(n), *(column[i] for column in columns)] for i, n in enumerate(lengths[0])]
        shapes = [_whole(column, self._shard[x]) for x, column in zip(self._data, columns, strict=True)]
        return ShardedData(self.engine.scatter(rows), list(lengths[0]), shapes)

    def __call__(self, *args: Any) -> Any:
        """Return the outputs, after the updates; where something fails, no shared variable has changed."""
        if args and isinstance(args[0], ShardedData):
            data, rest = args[0], list(args[1:])
        else:
            if len(args) != len(self.inputs):
                raise TypeError(f"distributed.function: {len(self.inputs)} inputs are needed, not {len(args)}")
            given = dict(zip(self.inputs, args, strict=True))
            data = self.scatter(*(given[x] for x in self._data))
            rest = [given[x] for x in self.inputs if x not in self._shard]
        others = [x for x in self.inputs if x not in self._shard]
        if len(others) != len(rest):
            raise TypeError(f"distributed.function: beside the scattered data {len(others)} inputs are needed")
        if self._needs_rows and not sum(data.lengths):
            raise ValueError("distributed.function: a maximum or minimum over no rows: all shards are empty")
        st = self._stages
        env: dict[Any, Any] = {x: x.type.filter(v, allow_downcast=None) for x, v in zip(others, rest, strict=True)}
        env[st.length] = np.int64(sum(data.lengths))
        for (x, i), v in st.dims.items():
            env[v] = np.int64(data.shapes[self._data.index(x)][i])
        return self._run(env, list(data.shards))

    def _run(self, env: dict[Any, Any], shards: list[Any]) -> Any:
        for (roots, client, exprs, wanted), stage, values, parts in self._steps:
            if client is not None:
                env.update(zip(exprs, client(*(env[v] for v in roots)), strict=True))
            env.update({v: _value(e, env) for e, v in wanted.items()})
            if stage is None:
                continue
            combination = Combination(tuple(part.kind for part in parts)) if parts else None
            shards, found = self.engine.run(stage, shards, [env[v] for v in values], combination)
            if parts:
                for part, whole in zip(parts, found[0], strict=True):
                    env[part.whole] = np.asarray(whole, dtype=part.whole.type.dtype)  # in the dtype of the parts
        ends = self._stages.outputs
        results = [_value(at.expr, env) if at.axis is None else self._sharded(at, shards) for at in ends]
        for (v, _), new in zip(self._updated, results[self._wanted :], strict=True):
            v.set_value(next_state(v.get_value()) if v in self._stages.substates else new)
        outputs = results[: self._wanted]
        return outputs[0] if self._one else outputs

    def _sharded(self, at: Any, shards: list[Any]) -> ShardedArray:
        v = at.expr if at.expr in self._shard else self._stages.carry(at)
        _, found = self.engine.run(_Take(1 + self._known.index(v)), shards, [])
        return ShardedArray([f[0] for f in found], at.axis)


class _Take:
    """A stage that sends back one array of each shard."""

    keeps = 0

    def __init__(self, i: int):
        self.i = i

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Take) and other.i == self.i

    def __hash__(self) -> int:
        return hash((_Take, self.i))

    def __call__(self, arrays: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        return list(arrays), [arrays[self.i]]


def _variable(value: TensorLike) -> Any:
    return value if isinstance(value, Variable) else theano.tensor.as_tensor_variable(value)


def _value(expr: Any, env: Mapping[Any, Any]) -> Any:
    return expr.get_value() if isinstance(expr, SharedVariable) else env[expr]


def _whole(column: Sequence[np.ndarray], axis: int) -> tuple[int, ...]:
    shape = list(column[0].shape)
    shape[axis] = sum(c.shape[axis] for c in column)
    return tuple(shape)


def _default_updates(exprs: Sequence[Tensor], updated: Mapping[Tensor, Tensor]) -> list[tuple[Any, Any]]:
    """Return what changes by itself whenever it is used, as the states of random streams do, and its next value.

    Stages may compute an expression of it several times, and leave it as it is until all is done.
    """
    found: dict[Any, Any] = {}
    while new := {
        v: after for v in ancestors([*exprs, *found.values()])
        if (after := getattr(v, "default_update", None)) is not None and v not in updated and v not in found
    }:  # fmt: skip
        found |= new
    return list(found.items())


def _check(inputs: Sequence[Tensor], shard: Mapping[Tensor, int], updates: Iterable[tuple[Tensor, Tensor]]) -> None:
    if not shard:
        raise ValueError("distributed.function: nothing is sharded; shard={x: 0} says that x is, along its axis 0")
    for x, axis in shard.items():
        if x not in inputs:
            raise ValueError(f"distributed.function: {x}, which shard names, is not an input")
        ndim = getattr(x.type, "ndim", 0)
        if not 0 <= axis < ndim or x.type.broadcastable[axis]:
            raise ValueError(f"distributed.function: {x} of type {x.type} cannot be sharded along axis {axis}")
    for v, _ in updates:
        if not isinstance(v, SharedVariable):
            raise TypeError(f"distributed.function: only shared variables have updates, not {v!r}")


def _engine(on: str) -> Engine:
    """Return the engine for what a user names."""
    if on is None:
        on = "dask" if local.worthwhile() else "serial"
    if isinstance(on, str) and on == "serial":
        return SerialEngine()
    if isinstance(on, str) and on == "dask":
        on = local.local_client()
    if is_client(on):
        return DaskEngine(on)
    if hasattr(on, "allgather") and hasattr(on, "Get_rank"):
        return MPIEngine(on)
    if hasattr(on, "scatter") and hasattr(on, "run"):
        found: Engine = on
        return found
    raise TypeError(
        'distributed.function: on is to be None, "serial", "dask", a Dask client, a communicator or an Engine, '
        f"not {on!r}"
    )


def function(
    inputs: Sequence[Any], outputs: Any = (), updates: Any = None, *, shard: Mapping[Any, int], on: object = None,
    shards: int = 2, mode: Any = None,
) -> DistributedFunction:  # fmt: skip
    """Return a function of data split into shards.

    The graph is split into stages: what each shard computes by itself, as one compiled function, and reductions over
    the shards. These are done in the order of the shards, so that results depend on how the data are split and not on
    who computes. Shared variables are the same everywhere; they are updated once all has been computed.

    Parameters
    ----------
    inputs : list of Variable
        The arguments of each call, in order.
    outputs : Variable or list of Variable
        One that is sharded is returned as a `ShardedArray`.
    updates : dict or list of pairs, optional
        For shared variables, their new values, which must be the same everywhere.
    shard : dict from Variable to int
        The inputs that are sharded, and along which axis. All must be split at the same places.
    on : "serial", "dask", dask.distributed.Client, mpi4py.MPI.Comm or Engine, optional
        Who computes. "serial" is this process, one shard after the other. "dask" is a worker of Dask for each processor
        of this machine; they are started at the first time and end with this process. The default is "dask" where Dask
        is installed and there are several processors, and "serial" elsewhere, also in a process that is a worker or a
        rank itself.
    shards : int
        Into how many shards an array is split that is given as a whole.
    mode : str or Mode, optional
        What `theano.function` takes.

    Returns
    -------
    DistributedFunction
        Called like the result of `theano.function`.

    Raises
    ------
    NotCarriedError
        An op does not carry a shard on: nothing is gathered implicitly.
    ValueError, TypeError
        ``shard`` or ``updates`` are for something else.

    Examples
    --------
    >>> import numpy as np, theano.distributed, theano.tensor as T
    >>> X, y, w = T.dmatrix("X"), T.dvector("y"), theano.shared(np.zeros(2), "w")
    >>> cost = T.mean((T.dot(X, w) - y) ** 2)
    >>> step = theano.distributed.function(
    ...     [X, y], cost, updates={w: w - 0.1 * T.grad(cost, w)}, shard={X: 0, y: 0}, on="serial", shards=3)
    >>> data = step.scatter([[1, 0], [0, 1], [1, 1], [2, 1]], [1, 2, 3, 4])
    >>> [round(float(step(data)), 3) for _ in range(3)]
    [7.5, 2.972, 1.279]
    """
    return DistributedFunction(inputs, outputs, updates, shard, on, shards, mode)
