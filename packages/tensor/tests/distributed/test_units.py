"""Machine code that goes along to workers which do not share a cache: taken where it fits, compiled where it does not."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano import distributed
from theano.cache.names import digest_of
from theano.cache.store import CacheSettings, open_cache
from theano.codegen.carried import Carried, collect, take
from theano.distributed.function import LocalStage
from theano.distributed.units import Units
from theano.distributed.workers import made, pack, perform
from theano.settings import config
from theano.toolchain.description import ToolchainSettings

RECEIVER = """
import pickle, sys
import numpy as np
from theano.distributed.workers import made
with made(pickle.loads(open(sys.argv[1], "rb").read())) as stage:
    found = stage([0, 0, 3, np.arange(3.0)], [])
from theano.codegen.unit import compile_counts
print(compile_counts().compiled, compile_counts().from_cache, *found[1][0])
"""
#: The machine has a compiler, which this process does not find.
WITHOUT = {"PATH": "/nowhere", "CC": ""}


def tools() -> ToolchainSettings:
    return ToolchainSettings.from_config(config)


@pytest.fixture
def function() -> Any:
    x = T.dvector("x")
    return theano.function([x], [T.exp(x) * 5 - x])


@pytest.fixture
def carried(function: Any) -> Carried:
    found = collect([function.maker.keepalive], tools(), CacheSettings.from_config(config))
    if not found.units:
        pytest.skip("no C compiler")
    return found


def receive(stage: bytes, folder: Path, flags: str = "", **variables: str) -> list[str]:
    (folder / "stage").write_bytes(stage)
    environment = {**os.environ, "THEANO_FLAGS": f"base_compiledir={folder / 'worker'},{flags}", **variables}
    done = subprocess.run(
        [sys.executable, "-c", RECEIVER, str(folder / "stage")], env=environment, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


WANTED = [str(v) for v in np.exp(np.arange(3.0)) * 5 - np.arange(3.0)]


@pytest.mark.parametrize(("flags", "variables", "counts"), [
    ("", {}, ["0", "1"]),
    ("", WITHOUT, ["0", "1"]),  # a worker without a compiler
    ("gcc.cxxflags=-march=x86-64-v2", {}, ["1", "0"]),  # another CPU level
])  # fmt: skip
def test_a_stage_brings_its_units(
    flags: str, variables: dict[str, str], counts: list[str], function: Any, carried: Carried, tmp_path: Path
) -> None:
    got = receive(pickle.dumps(pack(LocalStage(function, [2], 0))), tmp_path, flags, **variables)
    assert got[:2] == counts
    np.testing.assert_allclose(np.array(got[2:], float), np.array(WANTED, float), rtol=1e-15)


def test_a_pickle_of_a_function_has_no_machine_code(function: Any, carried: Carried) -> None:
    data = pickle.dumps(function)
    assert b"\x7fELF" not in data and b"\x7fELF" not in pickle.dumps(LocalStage(function, [2], 0))


@pytest.fixture
def empty(tmp_path: Path) -> CacheSettings:
    return CacheSettings(str(tmp_path / "empty"))


def test_what_is_right_is_taken_once(carried: Carried, empty: CacheSettings) -> None:
    assert (take(carried, tools(), empty), take(carried, tools(), empty)) == (1, 0)
    (unit,) = carried.units
    store = open_cache(empty)
    assert [data for key in [unit.file.split(".")[0]] for *_, data in store.units(key)] == [unit.data]
    assert all(list(store.references(key)) for key in unit.kernels)


def test_what_is_not_right_is_not_taken(carried: Carried, empty: CacheSettings) -> None:
    (unit,) = carried.units
    flipped = bytearray(unit.data)
    flipped[len(flipped) // 2] ^= 1
    key, digest, kind = unit.file.split(".")
    for wrong in (
        carried._replace(identity="gcc 1"),
        carried._replace(abi="0" * 32),
        *(carried._replace(units=(unit._replace(**change),)) for change in (
            {"data": bytes(flipped)}, {"data": b""}, {"file": f"../{unit.file}"}, {"file": f"{key}.{digest}.plan"},
            {"file": f"{'0' * 32}.{digest}.{kind}"}, {"file": f"{key}.{'0' * 32}.{kind}"},
        )),
    ):  # fmt: skip
        assert take(wrong, tools(), empty) == 0
    assert not list(Path(empty.root).glob("*/*.so"))


def test_a_cut_unit_with_a_digest_of_its_own_is_not_taken(carried: Carried, empty: CacheSettings) -> None:
    (unit,) = carried.units
    data = unit.data[: len(unit.data) // 2]
    name = f"{unit.file.split('.')[0]}.{digest_of(data)}.so"
    assert take(carried._replace(units=(unit._replace(file=name, data=data),)), tools(), empty) == 0


def test_on_a_full_disk_nothing_is_taken_and_nothing_raised(
    carried: Carried, empty: CacheSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_cache(empty)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "stage", full)
    assert take(carried, tools(), empty) == 0


def test_another_version_is_an_error_that_says_so(function: Any) -> None:
    packed = pack(function)._replace(versions="Theano 0.1")
    with pytest.raises(RuntimeError, match=r"has Theano .*, and its client Theano 0\.1: install the same versions"), made(packed):
        pass
    outcome = pickle.loads(perform(packed, pickle.dumps(np.zeros(2))))
    assert outcome.kind == "unloadable" and "client Theano 0.1" in str(outcome.value)


def test_map_sends_them_to_workers_of_another_machine(function: Any, carried: Carried) -> None:
    packed = pack(function)
    assert isinstance(packed.units, Units) and packed.units.functions == [function]
    assert b"\x7fELF" not in packed.data and b"\x7fELF" in pickle.dumps(packed)
    assert b"\x7fELF" in pickle.dumps(pickle.loads(pickle.dumps(packed))), "one worker sends them on to the next"
    assert distributed.map(function, [np.zeros(2)], workers=0)[0][0].tolist() == [5.0, 5.0]
