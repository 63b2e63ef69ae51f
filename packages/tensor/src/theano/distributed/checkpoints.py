"""``theano.distributed.save`` and ``load``: shared variables, random streams and sharded arrays on disk."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile.shared import SharedVariable
from theano.distributed.archive import CheckpointError, read, write
from theano.distributed.function import ShardedArray
from theano.distributed.mpi_engine import agree
from theano.records import NamedTuple
from theano.tensor.random.type import RandomStateType

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike
    from theano.tensor.random.streams import RandomStreams
    from theano.tensor.type import Tensor

#: The file of a directory that says which others belong to the checkpoint; it is written last.
MAIN = "checkpoint.zip"
_SHARD = re.compile(r"shard-[0-9a-f]{16}-\d+\.zip")

#: A ``RandomState`` as one element of an array.
_STATE = np.dtype([("key", "<u4", (624,)), ("pos", "<i8"), ("has_gauss", "?"), ("gauss", "<f8")])


class _Entry(NamedTuple):
    """What the header says of a value: for which kind of thing it is, and how many shards along which axis."""

    kind: str  #: "shared", "state" (of a random stream, as NumPy has it), "array" or "sharded"
    shards: int = 0
    axis: int = 0


def save(
    path: str | os.PathLike[str],
    values: Sequence[Tensor | RandomStreams] | Mapping[str, TensorLike],
    *,
    per_shard: bool = False,
    on: Any = None,
) -> None:
    """Write the values of shared variables, random streams and sharded arrays into a checkpoint.

    A checkpoint is replaced as a whole: whatever happens meanwhile, there is the old one or the new one. It has arrays
    as NumPy writes them, and no pickle. Values must not be updated by other threads while they are written.

    Parameters
    ----------
    path : path
        Of a file, or of a directory with ``per_shard``.
    values : dict from str, or list
        Shared variables, streams (`RandomStreams`, `MRG_RandomStreams` and the like, whose states are saved), sharded
        arrays that a distributed function returned, arrays and numbers. In a list are shared variables with names of
        their own, and at most one object with streams, which is called "streams".
    per_shard : bool
        Make a directory, with a file for each shard of the sharded arrays and one for all else.
    on : mpi4py.MPI.Comm, optional
        All ranks call this function; each writes the files of its shards, and the first one all else. A failure on one
        rank is raised on all.

    Raises
    ------
    TypeError, ValueError
        A value is none of these, has no name or that of another one.
    OSError
        It cannot be written; the old checkpoint is as it was.

    Examples
    --------
    >>> import os, tempfile, numpy as np, theano, theano.distributed
    >>> w = theano.shared(np.ones(2), "w")
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "model.zip")
    >>> theano.distributed.save(path, {"w": w, "epoch": 3})
    >>> w.set_value(np.zeros(2))
    >>> theano.distributed.load(path, [w])
    {'epoch': array(3)}
    >>> w.get_value(), np.load(path)["w"]
    (array([1., 1.]), array([1., 1.]))
    >>> folder.cleanup()
    """
    entries, arrays, sharded = _collected(_named("save", values))
    # A link stays one: what it points at is replaced.
    target = Path(os.path.realpath(path))
    first = on is None or on.Get_rank() == 0
    if per_shard:
        _save_directory(target, entries, arrays, sharded, on)
        return
    for name, array in sharded.items():
        arrays.update({f"{name}/{i}": np.asarray(s) for i, s in enumerate(array.shards)})
    failure = None
    try:
        if first:
            if target.is_dir():
                raise IsADirectoryError(f"distributed.save: {target} is a directory, which per_shard=True would write")
            write(target, _header(entries, []), arrays)
    except Exception as exc:  # noqa: BLE001  (raised on every rank)
        failure = exc
    agree(on, failure)


def _header(entries: Mapping[str, _Entry], files: Iterable[tuple[str, str]]) -> dict[str, Any]:
    return {"values": {name: e._asdict() for name, e in entries.items()}, "files": list(files)}


def _save_directory(
    target: Path, entries: Mapping[str, _Entry], arrays: dict[str, np.ndarray], sharded: Mapping[str, ShardedArray],
    on: Any,
) -> None:  # fmt: skip
    rank, size = (0, 1) if on is None else (on.Get_rank(), on.Get_size())
    token = secrets.token_hex(8) if on is None else on.allgather(secrets.token_hex(8))[0]
    count = max((e.shards for e in entries.values()), default=0)
    own, failure = {}, None
    try:
        target.mkdir(exist_ok=True)
        # New names: the files of the old checkpoint stay until no main file names them.
        for i in range(rank, count, size):
            parts = {name: np.asarray(a.shards[i]) for name, a in sharded.items() if i < len(a.shards)}
            name = f"shard-{token}-{i:05}.zip"
            own[i] = name, write(target / name, {"shard": i}, parts)
    except Exception as exc:  # noqa: BLE001  (raised on every rank)
        failure = exc
    files: dict[int, tuple[str, str]] = own
    try:
        files = {i: f for some in agree(on, failure, own) for i, f in some.items()}
        if rank == 0:
            write(target / MAIN, _header(entries, [files[i] for i in range(count)]), arrays)
    except Exception as exc:
        failure = exc
        for name, _ in own.values():
            with suppress(OSError):
                (target / name).unlink()
        if on is None:
            raise
    agree(on, failure)
    if rank == 0:
        _remove_others(target, {name for name, _ in files.values()})


def _remove_others(target: Path, kept: set[str]) -> None:
    """Remove the files of checkpoints that are replaced, or were never finished."""
    for each in target.iterdir():
        part = each.name.startswith(".") and each.name.endswith(".part")
        if part or (_SHARD.fullmatch(each.name) and each.name not in kept):
            with suppress(OSError):
                each.unlink()


# -- values and their names ---------------------------------------------------------------------------------------


def _named(function: str, values: Any) -> dict[str, Any]:
    """Return values by name, the states of streams one by one."""
    if isinstance(values, Mapping):
        pairs = list(values.items())
    else:
        pairs = [("streams" if _has_streams(v) else getattr(v, "name", None), v) for v in values]
    found: dict[str, Any] = {}
    for name, v in pairs:
        if not isinstance(name, str) or not name or "\0" in name:
            raise ValueError(f"distributed.{function}: {v!r} has no name: name it, or give a dict, names first")
        several = [(f"{name}/{i}", u[0]) for i, u in enumerate(v.state_updates)] if _has_streams(v) else [(name, v)]
        for each, variable in several:
            if each in found:
                raise ValueError(f"distributed.{function}: two values are called {each!r}: give a dict, names first")
            found[each] = variable
    return found


def _has_streams(v: Any) -> bool:
    return isinstance(getattr(v, "state_updates", None), list)


def _collected(
    named: Mapping[str, Variable | int],
) -> tuple[dict[str, _Entry], dict[str, np.ndarray], dict[str, ShardedArray]]:
    """Return what the header says, the arrays that are whole, and those that are sharded."""
    entries: dict[str, _Entry] = {}
    arrays: dict[str, np.ndarray] = {}
    sharded: dict[str, ShardedArray] = {}
    for name, v in named.items():
        if isinstance(v, ShardedArray):
            entries[name], sharded[name] = _Entry("sharded", len(v.shards), v.axis), v
            parts = [np.asarray(s) for s in v.shards]
        elif isinstance(v, SharedVariable):
            kind = "state" if isinstance(v.type, RandomStateType) else "shared"
            entries[name], arrays[name] = _Entry(kind), _array_of(v)
            parts = [arrays[name]]
        else:
            entries[name], arrays[name] = _Entry("array"), np.asarray(v)
            parts = [arrays[name]]
        for part in parts:
            if not _is_plain(part):
                raise TypeError(
                    f"distributed.save: {name} has a value of {type(v).__name__} with dtype {part.dtype}, and "
                    "checkpoints have numbers, texts, and the states of random streams"
                )
    members = [*arrays, *(f"{name}/{i}" for name, a in sharded.items() for i in range(len(a.shards)))]
    if len(set(members)) != len(members):
        raise ValueError("distributed.save: a value has the name of a shard of another one (NAME/0): rename it")
    return entries, arrays, sharded


def _is_plain(array: np.ndarray) -> bool:
    """Return whether NumPy's format keeps a dtype without a pickle, as it is."""
    if array.dtype.hasobject:
        return False
    kept = np.lib.format.descr_to_dtype(np.lib.format.dtype_to_descr(array.dtype))
    return bool(kept == array.dtype)


def _array_of(v: SharedVariable) -> np.ndarray:
    value = v.get_value(borrow=True)
    if not isinstance(v.type, RandomStateType):
        return np.asarray(value)
    content = value.get_state(legacy=False)
    twister = content["state"]
    row = (twister["key"], twister["pos"], bool(content["has_gauss"]), content["gauss"])
    return np.array(row, _STATE)


def _value_of(name: str, v: SharedVariable, array: np.ndarray) -> Any:
    """Return a value for a shared variable from its array; raise a `CheckpointError` where it is for another one."""
    current = _array_of(v)
    if (array.dtype, array.shape) != (current.dtype, current.shape):
        raise CheckpointError(
            f"{name} has the dtype {array.dtype} and the shape {array.shape} in the checkpoint, but the dtype "
            f"{current.dtype} and the shape {current.shape} here"
        )
    if not isinstance(v.type, RandomStateType):
        return v.container.filter(array)
    state = np.random.RandomState(0)
    row = array[()]
    state.set_state(("MT19937", row["key"], int(row["pos"]), int(row["has_gauss"]), float(row["gauss"])))
    return state


# -- loading ------------------------------------------------------------------------------------------------------


def load(
    path: str | os.PathLike[str], into: Any = (), *, partial: bool = False, shards: int | None = None, on: object = None
) -> dict[str, np.ndarray | ShardedArray]:
    """Read a checkpoint into shared variables and random streams, all of them or none.

    Parameters
    ----------
    path : path
        The file or the directory.
    into : dict from str, or list
        Shared variables and streams, as `save` takes them. Each must be in the checkpoint, with its dtype and shape.
    partial : bool
        Whether the checkpoint may have values of shared variables that are not asked for.
    shards : int, optional
        Into how many shards sharded arrays are split; as many as they were saved in, if it is not given. How many
        workers there are does not matter.
    on : mpi4py.MPI.Comm, optional
        All ranks call this function: variables are set only where all ranks can.

    Returns
    -------
    dict from str
        The sharded arrays and the arrays that were saved beside shared variables. ``scatter`` of a distributed function
        takes the list ``shards`` of a sharded array.

    Raises
    ------
    CheckpointError
        The checkpoint is damaged, of a newer format, or of other variables. No variable is changed.
    OSError
        It is not there, or cannot be read.

    Examples
    --------
    >>> import os, tempfile, numpy as np, theano, theano.distributed
    >>> w, streams = theano.shared(np.ones(2), "w"), theano.tensor.shared_randomstreams.RandomStreams(1)
    >>> draw = theano.function([], streams.normal((2,)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.zip")
    ...     theano.distributed.save(path, [w, streams])
    ...     first = draw()
    ...     nothing = theano.distributed.load(path, [w, streams])
    >>> bool((draw() == first).all())
    True
    """
    wanted = _named("load", into)
    for name, v in wanted.items():
        if not isinstance(v, SharedVariable):
            raise TypeError(f"distributed.load: {name} is a {type(v).__name__}, and only shared variables are set")
    failure: Exception | None = None
    found: dict[str, np.ndarray | ShardedArray] = {}
    values: list[tuple[SharedVariable, Any]] = []
    try:
        entries, arrays = _read(Path(path))
        values = _fitting(Path(path), wanted, entries, arrays, partial)
        found = {n: a for n, a in arrays.items() if n not in wanted and entries[n].kind in ("array", "sharded")}
    except Exception as exc:  # noqa: BLE001  (raised on every rank)
        failure = exc
    agree(on, failure)
    _set(values)
    return {n: _split(a, shards) if isinstance(a, ShardedArray) and shards else a for n, a in found.items()}


def _read(path: Path) -> tuple[dict[str, _Entry], dict[str, Any]]:
    """Return what the header says of each value, and its array or sharded array."""
    main = path / MAIN if path.is_dir() else path
    header, arrays = read(main)
    try:
        entries = {name: _Entry(**e) for name, e in header["values"].items()}
        files = [(str(name), str(digest)) for name, digest in header["files"]]
        if not all(_SHARD.fullmatch(name) for name, _ in files):
            raise ValueError("a file of it has a name that no file of a shard has")
        several = [read(path / name, digest)[1] for name, digest in files]
        found: dict[str, np.ndarray | ShardedArray] = {}
        for name, e in entries.items():
            if e.kind == "sharded":
                parts = [several[i][name] if files else arrays[f"{name}/{i}"] for i in range(e.shards)]
                found[name] = ShardedArray(parts, e.axis)
            else:
                found[name] = arrays[name]
    except FileNotFoundError as exc:
        raise CheckpointError(f"{main}: a file that belongs to it is missing: {exc.filename}") from exc
    except CheckpointError:
        raise
    except (KeyError, IndexError, TypeError, ValueError) as exc:
        raise CheckpointError(f"{main} is no checkpoint: {exc!r}") from exc
    return entries, found


def _fitting(
    path: Path, wanted: Mapping[str, SharedVariable], entries: Mapping[str, _Entry], arrays: Mapping[str, np.ndarray],
    partial: bool,
) -> list[tuple[SharedVariable, Any]]:  # fmt: skip
    """Return the variables with their values; raise an error that says all that does not fit."""
    problems, values = [], []
    for name, v in wanted.items():
        kind = "state" if isinstance(v.type, RandomStateType) else "shared"
        if name not in entries:
            problems.append(f"{name} is not in it")
        elif entries[name].kind != kind and {entries[name].kind, kind} & {"state", "sharded"}:
            problems.append(f"{name} is the value of another kind of variable there ({entries[name].kind}, not {kind})")
        else:
            try:
                values.append((v, _value_of(name, v, arrays[name])))
            except (ValueError, TypeError) as exc:
                problems.append(str(exc))
    extra = [name for name, e in entries.items() if e.kind in ("shared", "state") and name not in wanted]
    if extra and not partial:
        problems.append(f"unexpected keys {', '.join(extra[:8])} (partial=True ignores them)")
    if problems:
        raise CheckpointError("\n  ".join([f"{path} is not a checkpoint of these variables:", *problems]))
    return values


def _set(values: Iterable[tuple[SharedVariable, Any]]) -> None:
    """Set variables; where that fails, for lack of memory on a device, those that are set get their old values back."""
    before: list[tuple[SharedVariable, Any]] = []
    try:
        for v, value in values:
            old = v.container.data
            v.set_value(value, borrow=True)
            before.append((v, old))
    except BaseException:
        for v, old in before:
            v.container.data = old
        raise


def _split(array: ShardedArray, shards: int) -> ShardedArray:
    return ShardedArray(np.array_split(array.gather(), shards, axis=array.axis), array.axis)
