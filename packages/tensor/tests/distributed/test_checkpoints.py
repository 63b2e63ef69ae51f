"""`theano.distributed.save` and `load`: values, refusals, and files that are damaged, cut off or cannot be written."""

from __future__ import annotations

import errno
import importlib.util
import os
import pickle
import resource
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import killed_saves
import numpy as np
import pytest
from launcher import MPIEXEC
from local_cluster import ALL

import theano
import theano.tensor as T
from theano import distributed
from theano.distributed import archive
from theano.tensor.random.mrg import MRG_RandomStreams
from theano.tensor.random.philox import PhiloxStreams


def _variables() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    values = {
        "matrix": rng.normal(size=(3, 4)), "turned": np.asfortranarray(rng.normal(size=(3, 4))), "nothing": np.zeros((0, 2)),
        "number": np.float32(3), "flags": np.array([True, False]), "small": np.arange(5, dtype="int8"), "z": np.array([1 + 2j]),
        "Übung/1 \\ 2.npy": np.arange(3),
    }  # fmt: skip
    return {name: theano.shared(value, name, borrow=False) for name, value in values.items()}


def _values(variables: dict[str, Any]) -> dict[str, Any]:
    return {name: np.array(v.get_value()) for name, v in variables.items()}


def test_values_are_those_that_numpy_reads(tmp_path):
    variables, path = _variables(), tmp_path / "c"
    wanted = _values(variables)
    distributed.save(path, list(variables.values()))
    with np.load(path, allow_pickle=False) as read:
        for name, value in wanted.items():
            np.testing.assert_array_equal(read[name + ".npy" if name.endswith(".npy") else name], value)
    for v in variables.values():
        v.set_value(np.zeros_like(v.get_value()))
    assert distributed.load(path, variables) == {}
    for name, value in _values(variables).items():
        assert value.dtype == wanted[name].dtype
        np.testing.assert_array_equal(value, wanted[name])
    first = path.read_bytes()
    distributed.save(path, list(variables.values()))
    assert path.read_bytes() == first and os.listdir(tmp_path) == ["c"]


@pytest.mark.parametrize("kind", [T.shared_randomstreams.RandomStreams, MRG_RandomStreams, PhiloxStreams])
def test_training_goes_on_as_if_it_had_not_stopped(kind, tmp_path):
    def program() -> tuple[Any, Any, Any]:
        streams, w = kind(7), theano.shared(np.ones(4), "w")
        noise, other = streams.normal((4,)), streams.uniform((1,))
        step = theano.function([], other, updates={w: 0.9 * w + noise})
        return step, w, streams

    step, w, streams = program()
    for _ in range(3):
        step()
    distributed.save(tmp_path / "c", [w, streams])
    wanted = [*(step() for _ in range(5)), w.get_value()]
    step, w, streams = program()
    distributed.load(tmp_path / "c", [w, streams])
    found = [*(step() for _ in range(5)), w.get_value()]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_state_of_numpys_generator_with_a_kept_number(tmp_path):
    state = np.random.RandomState(3)
    state.normal()  # of two numbers that are made together, one is kept
    v = theano.shared(np.random.RandomState(1), "state")
    v.set_value(state)
    distributed.save(tmp_path / "c", [v])
    v.set_value(np.random.RandomState(1))
    distributed.load(tmp_path / "c", [v])
    np.testing.assert_array_equal(v.get_value().normal(size=5), state.normal(size=5))


def test_sharded_arrays(tmp_path):
    x, w = T.dmatrix("x"), theano.shared(np.arange(3.0), "w")
    value = np.arange(21.0).reshape(7, 3)
    found = distributed.function([x], [T.exp(-x), x.T], shard={x: 0}, on="serial", shards=3)(value)
    for per_shard in (False, True):
        path = tmp_path / f"c{per_shard}"
        for _ in range(2):  # the second replaces the first
            distributed.save(path, {"w": w, "exp": found[0], "turned": found[1], "step": 5}, per_shard=per_shard)
        assert len(os.listdir(path)) == 4 if per_shard else path.is_file()
        w.set_value(np.zeros(3))
        again = distributed.load(path, [w])
        np.testing.assert_array_equal(w.get_value(), np.arange(3.0))
        assert again["step"] == 5 and [s.shape for s in again["turned"].shards] == [(3, 3), (3, 2), (3, 2)]
        np.testing.assert_array_equal(again["exp"].gather(), found[0].gather())
        for shards in (1, 2, 9):
            other = distributed.load(path, [w], shards=shards)["turned"]
            assert len(other.shards) == shards
            np.testing.assert_array_equal(other.gather(), value.T)
        total = distributed.function([x], T.sum(x), shard={x: 0}, on="serial")
        assert total(total.scatter(again["exp"].shards)) == pytest.approx(np.exp(-value).sum())


def test_nothing_is_changed_where_one_thing_does_not_fit(tmp_path):
    variables, path = _variables(), tmp_path / "c"
    distributed.save(path, variables)
    before = _values(variables)
    for v in variables.values():
        v.set_value(np.zeros_like(v.get_value()))
    zero = _values(variables)
    cases = {
        "matrix": (theano.shared(np.zeros((4, 3)), "matrix"), r"matrix has the dtype float64 and the shape \(3, 4\)"),
        "small": (theano.shared(np.zeros(5, "int16"), "small"), "small has the dtype int8"),
        "flags": (theano.shared(np.random.RandomState(1), "flags"), "flags is the value of another kind"),
    }
    for name, (other, text) in cases.items():
        with pytest.raises(distributed.CheckpointError, match=text):
            distributed.load(path, variables | {name: other})
    with pytest.raises(distributed.CheckpointError, match="new is not in it"):
        distributed.load(path, variables | {"new": theano.shared(1.0)})
    two = {n: v for n, v in variables.items() if n in ("matrix", "z")}
    with pytest.raises(distributed.CheckpointError, match=r"unexpected keys turned, .*partial=True"):
        distributed.load(path, two)
    for name, value in _values(variables).items():
        np.testing.assert_array_equal(value, zero[name])
    distributed.load(path, two, partial=True)
    for name, value in _values(variables).items():
        np.testing.assert_array_equal(value, (before if name in two else zero)[name])


def test_variables_get_their_values_back_where_setting_one_fails(tmp_path, monkeypatch):
    a, b = theano.shared(np.ones(2), "a"), theano.shared(np.ones(2), "b")
    distributed.save(tmp_path / "c", [a, b])
    a.set_value(np.zeros(2))

    def no_memory(value: Any, borrow: bool = False) -> None:
        raise MemoryError("device")

    monkeypatch.setattr(b, "set_value", no_memory)
    with pytest.raises(MemoryError):
        distributed.load(tmp_path / "c", [a, b])
    assert not a.get_value().any()


def test_what_cannot_be_saved_is_said(tmp_path):
    path, w = tmp_path / "c", theano.shared(np.ones(2), "w")
    for wrong in ([theano.shared(1.0)], {"": w}, {3: w}, {"a\0b": w}, [w, theano.shared(2.0, "w")]):
        with pytest.raises(ValueError, match="has no name|are called"):
            distributed.save(path, wrong)
    for wrong in (theano.shared({"a": 1}), object(), np.array([None])):
        with pytest.raises(TypeError, match="bad has a value of"):
            distributed.save(path, {"w": w, "bad": wrong})
    with pytest.raises(ValueError, match="name of a shard"):
        distributed.save(path, {"a/0": w, "a": distributed.ShardedArray([np.ones(2)], 0)})
    with pytest.raises(TypeError, match="only shared variables are set"):
        distributed.load(path, {"w": 3})
    with pytest.raises(FileNotFoundError):
        distributed.load(path, [w])
    assert os.listdir(tmp_path) == []
    path.mkdir()
    with pytest.raises(IsADirectoryError, match="per_shard"):
        distributed.save(path, [w])


def test_each_missing_byte_and_each_other_bit_is_noticed(tmp_path):
    path, w = tmp_path / "c", theano.shared(np.arange(6.0), "w")
    distributed.save(path, [w])
    whole = path.read_bytes()
    w.set_value(np.zeros(6))
    rng = np.random.default_rng(0)
    damaged = [whole[:n] for n in range(len(whole))]
    damaged += [whole[:i] + bytes([whole[i] ^ (1 << int(rng.integers(8)))]) + whole[i + 1 :] for i in range(len(whole))]
    damaged += [whole + b"\0", b"\0" * len(whole), whole[100:]]
    for data in damaged:
        path.write_bytes(data)
        with pytest.raises(distributed.CheckpointError):
            distributed.load(path, [w])
    assert len(damaged) > 1000 and not w.get_value().any()
    path.write_bytes(whole)
    distributed.load(path, [w])
    np.testing.assert_array_equal(w.get_value(), np.arange(6.0))


def test_damaged_directory(tmp_path):
    path, w = tmp_path / "c", theano.shared(np.ones(2), "w")
    sharded = distributed.ShardedArray([np.ones(2), np.ones(3)], 0)
    distributed.save(path, {"w": w, "s": sharded}, per_shard=True)
    first, second = sorted(p for p in path.iterdir() if p.name.startswith("shard"))
    w.set_value(np.zeros(2))
    kept = second.read_bytes()
    for data, text in ((first.read_bytes(), "another one"), (kept[:-9], "is no checkpoint"), (None, "is missing")):
        second.unlink()
        if data is not None:
            second.write_bytes(data)
        with pytest.raises(distributed.CheckpointError, match=text):
            distributed.load(path, [w])
        second.write_bytes(kept)
    assert not w.get_value().any()
    distributed.load(path, [w])
    assert w.get_value().all()


def test_newer_format(tmp_path, monkeypatch):
    path, w = tmp_path / "c", theano.shared(np.ones(2), "w")
    monkeypatch.setattr(archive, "FORMAT", 12)
    distributed.save(path, [w])
    monkeypatch.undo()
    with pytest.raises(distributed.CheckpointError, match=r"has the format 12 .* reads up to 1"):
        distributed.load(path, [w])


class _Attack:
    def __reduce__(self) -> Any:
        return pytest.fail, ("code of a checkpoint was run",)


def test_pickles_are_not_loaded(tmp_path):
    path, w = tmp_path / "c", theano.shared(np.ones(2), "w")
    header = b'{"values": {"w": {"kind": "shared"}}, "files": []}'
    with open(path, "x+b") as file:
        with zipfile.ZipFile(file, "w") as made:
            made.writestr(archive.HEADER, header)
            with made.open("w.npy", "w") as member:
                np.lib.format.write_array(member, np.array([_Attack()], dtype=object), allow_pickle=True)
            made.comment = archive._COMMENT.format(1).encode() + b"0" * 64
        archive._seal(file)
    with pytest.raises(distributed.CheckpointError, match="is no checkpoint"):
        distributed.load(path, [w])
    path.write_bytes(pickle.dumps(_Attack()))
    with pytest.raises(distributed.CheckpointError, match="is no checkpoint"):
        distributed.load(path, [w])


def test_pickles_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="[Oo]bject arrays"):
        archive.write(tmp_path / "c", {}, {"w": np.array([_Attack()], dtype=object)})
    assert os.listdir(tmp_path) == []


def test_shards_lie_in_the_directory(tmp_path):
    path, w = tmp_path / "c", theano.shared(np.ones(2), "w")
    header = {"values": {}, "files": [["../elsewhere.zip", "0" * 64]]}
    path.mkdir()
    archive.write(path / "checkpoint.zip", header, {})
    with pytest.raises(distributed.CheckpointError, match="a name that no file of a shard has"):
        distributed.load(path, [w])


@pytest.mark.parametrize("per_shard", [False, True])
def test_full_disk(per_shard, tmp_path):
    path, w = tmp_path / "c", theano.shared(np.full(500, 1.0), "w")
    values = {"w": w, "s": distributed.ShardedArray([np.ones(100), np.ones(900)], 0)}
    distributed.save(path, values, per_shard=per_shard)
    before = sorted(os.listdir(path)) if per_shard else path.read_bytes()
    w.set_value(np.full(500, 2.0))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in (0, 10, 100, 1000, 2000, 4000, 4500, 5000):
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            with pytest.raises(OSError) as caught:
                distributed.save(path, values, per_shard=per_shard)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert caught.value.errno == errno.EFBIG
        assert before == (sorted(os.listdir(path)) if per_shard else path.read_bytes())
    assert os.listdir(tmp_path) == ["c"]
    w.set_value(np.zeros(500))
    distributed.load(path, [w])
    assert (w.get_value() == 1).all()


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_failure_at_each_step(call, tmp_path, monkeypatch):
    """Each call of the system fails once, in its turn; the old checkpoint stays, and nothing lies beside it."""
    path, w = tmp_path / "c", theano.shared(np.ones(2), "w")
    values = {"w": w, "s": distributed.ShardedArray([np.ones(2)] * 3, 0)}
    distributed.save(path, values, per_shard=True)
    names = sorted(os.listdir(path))
    w.set_value(np.zeros(2))
    real, failures = getattr(os, call), 0
    for turn in range(20):
        left = [turn]

        def fails(*args: Any, left: list[int] = left, **kwargs: Any) -> Any:
            left[0] -= 1
            if left[0] == -1:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(*args, **kwargs)

        monkeypatch.setattr(os, call, fails)
        try:
            distributed.save(path, values, per_shard=True)
            monkeypatch.undo()
            if left[0] >= 0:
                break
        except OSError:
            monkeypatch.undo()
            failures += 1
            assert sorted(os.listdir(path)) == names
            distributed.load(path, [w])
            assert w.get_value().all()
            w.set_value(np.zeros(2))
        names = sorted(os.listdir(path))
        if left[0] < 0 and not w.get_value().any():
            # A folder that cannot be synchronised is no failure: then the new checkpoint is there.
            w.set_value(np.ones(2))
            distributed.save(path, values, per_shard=True)
            names = sorted(os.listdir(path))
            w.set_value(np.zeros(2))
    assert failures >= 4


def test_a_link_stays_one(tmp_path):
    w = theano.shared(np.ones(2), "w")
    (tmp_path / "link").symlink_to(tmp_path / "c")
    distributed.save(tmp_path / "link", [w])
    assert (tmp_path / "link").is_symlink() and (tmp_path / "c").is_file()


@pytest.mark.skipif(not ALL, reason="half a minute: nox -s cluster")
def test_killed_while_saving(tmp_path):
    command = [sys.executable, str(Path(killed_saves.__file__)), str(tmp_path), "100"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False
    )  # fmt: skip
    assert done.stdout.startswith("200 checkpoints are whole"), done.stdout + done.stderr


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None or not ALL, reason="nox -s cluster installs mpi4py")
@pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec is here: nox -s cluster installs one")
def test_ranks(tmp_path):
    command = [str(MPIEXEC), "-n", "2", sys.executable, str(Path(__file__).with_name("ranks_saving.py")), str(tmp_path)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False
    )  # fmt: skip
    assert sorted(done.stdout.split("\n")) == ["", "rank 0 agrees", "rank 1 agrees"], done.stdout + done.stderr
    w = theano.shared(np.zeros(3), "w")
    assert len(distributed.load(tmp_path / "directory", [w], shards=3)["y"].shards) == 3
    np.testing.assert_array_equal(w.get_value(), np.arange(3.0))
