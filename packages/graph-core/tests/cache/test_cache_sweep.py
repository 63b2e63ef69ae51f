"""The sweep keeps the size, removes what the dead have left and never takes what a reader needs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from theano.cache import staging
from theano.cache import sweep as sweeping
from theano.cache.contents import survey
from theano.cache.names import StageName
from theano.cache.ownership import MARK, STAMP
from theano.cache.store import Cache, CacheSettings
from theano.cache.sweep import sweep, sweep_if_due


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(CacheSettings(root=str(tmp_path / "cache")))


def fill(cache: Cache, count: int, size: int = 1000) -> list[Path]:
    """Publish units, the first of them unused for longest."""
    paths = []
    for number in range(count):
        with cache.stage() as stage:
            staged = Path(stage, "unit.so")
            staged.write_bytes(bytes([number % 256]) * size)
            key = f"{number * 7 % 256:02x}{number:030x}"
            paths.append(Path(cache.publish_unit(str(staged), key, [f"{number:032x}"], "text")[1]))
        stamp = time.time() - 86400 * (count - number)
        os.utime(paths[-1], (stamp, stamp))
    return paths


def test_oldest_go_first_and_the_cap_holds(cache: Cache) -> None:
    paths = fill(cache, 20)
    result = sweep(cache.root, 10_000)
    assert survey(cache.root).unit_bytes <= 10_000
    assert [path.exists() for path in paths] == [False] * 11 + [True] * 9
    assert (result.units, result.removed_units, result.removed_bytes) == (20, 11, 11_000)


def test_what_belongs_to_a_removed_unit_goes_with_it(cache: Cache) -> None:
    fill(cache, 20)
    sweep(cache.root, 10_000)
    contents = survey(cache.root)
    units = {item.name for item in contents.units}
    assert len(contents.references) == len(contents.sources) == len(units) == 9
    assert {reference.unit for _, reference in contents.references} == units


def test_nothing_is_removed_below_the_cap(cache: Cache) -> None:
    paths = fill(cache, 5)
    assert sweep(cache.root, 5000).removed_units == 0
    assert all(path.exists() for path in paths)


def test_fresh_units_stay(cache: Cache) -> None:
    paths = fill(cache, 5)
    for path in paths:
        os.utime(path)
    assert sweep(cache.root, 0).removed_units == 0


def test_a_time_in_the_future_counts_as_now(cache: Cache) -> None:
    paths = fill(cache, 5)
    os.utime(paths[0], (time.time() + 1e8, time.time() + 1e8))
    sweep(cache.root, 2000)
    assert paths[0].exists() and not paths[1].exists()


def test_at_most_daily(cache: Cache) -> None:
    fill(cache, 1)
    stamp = Path(cache.root, STAMP)
    assert stamp.exists()
    assert not sweep_if_due(cache.root, 1 << 30, 0)
    for shift in (-2 * 86400, 2 * 86400):
        os.utime(stamp, (time.time() + shift, time.time() + shift))
        assert sweep_if_due(cache.root, 1 << 30, 0)
        assert not sweep_if_due(cache.root, 1 << 30, 0)


def test_much_growth_sweeps_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "YOUNG", -1.0)
    cache = Cache(CacheSettings(root=str(tmp_path / "cache"), size_cap=20_000))
    fill(cache, 200)
    assert survey(cache.root).unit_bytes <= 22_000


def dead_process() -> StageName:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait(60)
        return StageName(process.pid, 1, staging.machine_tag(), "abc")


class TestStaging:
    def test_of_the_living_stays(self, cache: Cache) -> None:
        with cache.stage() as stage:
            sweep(cache.root, 0)
            assert os.path.isdir(stage)

    def test_of_the_dead_goes(self, cache: Cache) -> None:
        path = Path(cache.root, dead_process().file)
        path.mkdir()
        (path / "half.so").write_text("x")
        assert sweep(cache.root, 0).removed_stages == 1
        assert not path.exists()

    @pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="start times come from /proc")
    def test_a_reused_process_id_does_not_count_as_living(self, cache: Cache) -> None:
        name = StageName(os.getpid(), (staging.start_time(os.getpid()) or 0) + 1, staging.machine_tag(), "abc")
        Path(cache.root, name.file).mkdir()
        assert sweep(cache.root, 0).removed_stages == 1

    def test_of_another_machine_goes_when_it_is_old(self, cache: Cache) -> None:
        path = Path(cache.root, StageName(1, 1, "00000000", "abc").file)
        path.mkdir()
        assert sweep(cache.root, 0).removed_stages == 0
        stamp = time.time() - 2 * 86400
        os.utime(path, (stamp, stamp))
        assert sweep(cache.root, 0).removed_stages == 1

    def test_strangers_files_stay(self, cache: Cache) -> None:
        for name in ("notes.txt", ".stage-x", "00"):
            Path(cache.root, name).write_text("mine")
        sweep(cache.root, 0)
        assert sorted(os.listdir(cache.root)) == [".stage-x", "00", MARK, "notes.txt"]
