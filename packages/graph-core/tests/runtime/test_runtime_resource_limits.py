"""How many threads, how much memory: flags, environment, control groups."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from portion import portion
from theano.runtime.resource_limits import cpu_quota, memory_limit, requested_threads


@pytest.mark.parametrize(
    ("flag", "openmp", "environment", "expected"),
    [
        (0, None, None, 0),
        (0, None, "3", 3),
        (0, None, " 3 , 2", 3),
        (0, None, "many", 0),
        (0, None, "", 0),
        (0, None, "-2", 0),
        (1, None, "3", 1),
        (2, None, "3", 2),
        (2, False, "3", 2),
        (0, False, "3", 1),
        (0, True, "3", 3),
        (0, True, None, 0),
    ],
)
def test_what_was_asked_for(flag: int, openmp: bool | None, environment: str | None, expected: int) -> None:
    assert requested_threads(flag, openmp, {} if environment is None else {"OMP_NUM_THREADS": environment}) == expected


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize(
    ("membership", "files", "expected"),
    [
        ("", {}, 0),
        ("0::/", {}, 0),
        # version 2
        ("0::/a/b", {"a/b/cpu.max": "max 100000\n"}, 0),
        ("0::/a/b", {"a/b/cpu.max": "200000 100000\n"}, 2),
        ("0::/a/b", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "150000 100000\n"}, 2),
        ("0::/a/b", {"a/b/cpu.max": "400000 100000\n", "a/cpu.max": "140000 100000\n"}, 1),
        ("0::/a/b", {"cpu.max": "300000 100000\n"}, 3),  # in a container: its own group is the tree
        ("0::/", {"cpu.max": "1000 100000\n"}, 1),
        ("0::/", {"cpu.max": "nonsense"}, 0),
        ("0::/", {"cpu.max": ""}, 0),
        ("0::/a/b", {"cpu.max": "200000 100000\n", "a/cpu.max": "300000 100000\n", "a/b/cpu.max": "400000 100000\n"}, 2),
        ("4::/a", {"a/cpu.max": "200000 100000\n"}, 0),
        ("0:name:/a", {"a/cpu.max": "200000 100000\n"}, 0),
        ("0::/", {"cpu.max": "149999 100000\n"}, 1),
        ("1:cpu:/\n0::/a", {"unified/a/cpu.max": "200000 100000\n"}, 2),
        # version 1
        ("4:cpu,cpuacct:/x", {"cpu,cpuacct/x/cpu.cfs_quota_us": "250000", "cpu,cpuacct/x/cpu.cfs_period_us": "100000"}, 3),
        ("4:cpu,cpuacct:/x", {"cpu/x/cpu.cfs_quota_us": "250000", "cpu/x/cpu.cfs_period_us": "50000"}, 5),
        ("4:cpu:/x/y", {"cpu/x/cpu.cfs_quota_us": "100000\n", "cpu/x/cpu.cfs_period_us": "100000\n"}, 1),
        ("4:cpu:/x", {"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"}, 2),
        ("4:cpu:/x", {"cpu/x/cpu.cfs_quota_us": "-1", "cpu/x/cpu.cfs_period_us": "100000"}, 0),
        ("4:cpu:/x", {"cpu/x/cpu.cfs_quota_us": "100000"}, 0),
        ("4:cpu:/x", {"cpu/x/cpu.cfs_period_us": "100000"}, 0),
        ("4:cpuset:/x", {"cpu/x/cpu.cfs_quota_us": "100000", "cpu/x/cpu.cfs_period_us": "100000"}, 0),
        ("4:cpu:/x", {"cpu/x/cpu.cfs_quota_us": "100000", "cpu/x/cpu.cfs_period_us": "0"}, 0),
    ],
)
def test_quotas(tmp_path: Path, membership: str, files: dict[str, str], expected: int) -> None:
    write(tmp_path, {"self": membership})
    write(tmp_path / "groups", files)
    cpu_quota.cache_clear()
    try:
        assert cpu_quota(tmp_path / "groups", tmp_path / "self") == expected
    finally:
        cpu_quota.cache_clear()


@pytest.mark.parametrize(
    ("membership", "files", "expected"),
    [
        ("", {}, 0),
        ("0::/a", {"a/memory.max": "max\n"}, 0),
        ("0::/a/b", {"a/b/memory.max": "3000000\n", "a/memory.max": "2000000\n"}, 2000000),
        ("0::/a/b", {"memory.max": "5\n"}, 5),
        ("5:memory:/x", {"memory/x/memory.limit_in_bytes": "9223372036854771712\n"}, 0),
        ("5:memory:/x", {"memory/x/memory.limit_in_bytes": f"{2**60}\n"}, 0),
        ("5:memory:/x", {"memory/x/memory.limit_in_bytes": f"{2**60 - 1}\n"}, 2**60 - 1),
        ("5:memory:/x", {"memory/x/memory.limit_in_bytes": "1048576\n"}, 1048576),
        ("5:cpu:/x", {"memory/x/memory.limit_in_bytes": "1048576\n"}, 0),
        ("5:memory:/x", {"memory/x/memory.limit_in_bytes": "much"}, 0),
    ],
)
def test_limits_of_memory(tmp_path: Path, membership: str, files: dict[str, str], expected: int) -> None:
    write(tmp_path, {"self": membership})
    write(tmp_path / "groups", files)
    memory_limit.cache_clear()
    try:
        assert memory_limit(tmp_path / "groups", tmp_path / "self") == expected
    finally:
        memory_limit.cache_clear()


@pytest.mark.parametrize(("granted", "file"), [(cpu_quota, "cpu.max"), (memory_limit, "memory.max")])
def test_control_groups_are_read_once(tmp_path: Path, granted: Any, file: str) -> None:
    """A process asks at each compilation; its groups seldom change."""
    write(tmp_path, {"self": "0::/", file: "300000 100000" if file == "cpu.max" else "3"})
    granted.cache_clear()
    try:
        assert granted(tmp_path, tmp_path / "self") == 3
        (tmp_path / file).unlink()
        assert granted(tmp_path, tmp_path / "self") == 3
        granted.cache_clear()
        assert granted(tmp_path, tmp_path / "self") == 0
    finally:
        granted.cache_clear()


def threads_after_compiling(flags: str, omp: str | None) -> tuple[int, int]:
    """Return (threads used, cores) of a process that has compiled a function."""
    code = """
import os, theano
from theano.graph import generic
from theano.loader import module
cores = module.get_threads()
x = generic("x")
theano.function([x], x)
print(module.get_threads(), cores)
"""
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    environment["THEANO_FLAGS"] = ",".join(filter(None, [os.environ.get("THEANO_FLAGS", ""), flags]))
    if omp is not None:
        environment["OMP_NUM_THREADS"] = omp
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    used, cores = map(int, done.stdout.split())
    return used, cores


def test_compiling_a_function_sets_the_pool() -> None:
    pytest.importorskip("theano.loader.module")
    single = [("threads=1", None), ("threads=1", "2"), ("openmp=False", None), ("", "1"), ("openmp=True", "1")]
    for flags, omp in portion(single, one_in=2):
        assert threads_after_compiling(flags, omp)[0] == 1
    used, cores = threads_after_compiling("threads=2", "1")
    assert used == min(2, cores)
    used, cores = threads_after_compiling("", None)
    assert used == min(cores, cpu_quota() or cores)
