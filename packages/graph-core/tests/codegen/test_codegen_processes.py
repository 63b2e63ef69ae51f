"""Many processes with one cache, some of them killed: no wrong result, no error in a survivor."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from portion import portion
from theano.cache.command import open_for_reading
from theano.cache.contents import survey
from theano.cache.names import digest_of
from theano.cache.store import CacheSettings
from theano.cache.sweep import sweep
from warm import Child

Process = Child | subprocess.Popen[str]
Worker = Callable[..., Process]
LIMIT = 300.0

COLD = """
numbers = list(range(12))
random.Random(int(sys.argv[2])).shuffle(numbers)
for n in numbers:
    assert call(compile_kernels([number(n)], None, CacheSettings(root=sys.argv[1]))[0]) == n
print(compile_counts().compiled)
"""

FOREVER = """
sweep.YOUNG, sweep.INTERVAL = -1.0, 0.0
choose = random.Random(int(sys.argv[2]))
tools = ToolchainSettings(extra_flags=("-O1",))
print("started", flush=True)
for turn in range(int(sys.argv[3])):
    numbers = [choose.randrange(12) for _ in range(3)]
    cache = CacheSettings(root=sys.argv[1], size_cap=60_000)
    found = [call(address) for address in compile_kernels([number(n) for n in numbers], tools, cache)]
    assert found == numbers, (found, numbers)
    # As a new process would: look at the disk again.
    from theano.codegen import unit
    kept = unit._loaded
    unit._loaded = unit._Loaded()
print("done", flush=True)
"""


def end(process: Process) -> tuple[str, str]:
    try:
        return process.communicate(timeout=LIMIT)
    finally:
        kill(process)


def kill(process: Process) -> None:
    """End a worker and the compilers of its own, as a batch system does."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)


def test_eight_processes_one_cold_cache(cache: CacheSettings, worker: Worker) -> None:
    processes = [worker(COLD, cache.root, str(seed)) for seed in range(8)]
    results = [end(process) for process in processes]
    assert [process.returncode for process in processes] == [0] * 8, results
    assert {path.read_bytes()[:4] for path in Path(cache.root).glob("*/*.so")} == {b"\x7fELF"} or os.name != "posix"
    # Each kernel is there once: the same text makes the same bytes.
    assert len(survey(cache.root).units) == 12
    assert survey(cache.root).stages == []
    (out, _) = end(worker(COLD, cache.root, "0"))
    assert out.strip() == "0"


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_forty_kills(cache: CacheSettings, worker: Worker) -> None:
    """Kill at random moments while others compile, publish, sweep; then all is well."""
    choose = random.Random(20261121)
    kills = survivors = 0
    deadline = time.monotonic() + LIMIT
    while kills < 40:
        assert time.monotonic() < deadline
        running = [worker(FOREVER, cache.root, str(choose.randrange(1 << 30)), "100000") for _ in range(8)]
        running.append(worker(FOREVER, cache.root, str(choose.randrange(1 << 30)), "3"))
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
        for process in running[:8]:
            time.sleep(choose.uniform(0.0, 0.15))
            kills += process.poll() is None
            kill(process)
        for process in running:
            out, err = end(process)
            assert process.returncode in (0, -signal.SIGKILL), err
            assert "Error" not in err, err
            survivors += process.returncode == 0
    assert survivors >= 4
    for item in survey(cache.root).units:
        assert digest_of(Path(item.path).read_bytes()) == item.name.digest
    while survey(cache.root).stages:
        # The compilers of killed processes live on for a moment and may still write.
        assert time.monotonic() < deadline
        sweep(cache.root, 1 << 30)
        time.sleep(0.01)
    out, err = end(worker(FOREVER, cache.root, "1", "10"))
    assert out == "started\ndone\n", err


def test_a_warm_process_starts_no_other(cache: CacheSettings, fresh_worker: Worker) -> None:
    code = """
import json
events = []
def hook(event, arguments):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.system", "os.spawn", "os.forkpty"):
        events.append(event)
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & 3:
        events.append(f"write {arguments[0]}")
    if event in ("os.mkdir", "os.rename", "os.remove", "socket.connect"):
        events.append(event)
sys.addaudithook(hook)
addresses = compile_kernels([number(n) for n in range(5)], None, CacheSettings(root=sys.argv[1]))
assert [call(address) for address in addresses] == [0, 1, 2, 3, 4]
print(json.dumps(events))
"""
    cold, _ = end(fresh_worker(code, cache.root))
    assert "subprocess.Popen" in json.loads(cold)
    warm, err = end(fresh_worker(code, cache.root))
    assert json.loads(warm) == [], err


def test_text_and_keys_do_not_depend_on_the_hash_seed(tmp_path: Path, fresh_worker: Worker) -> None:
    code = """
support = ("static int one(void) { return 1; }", "static int two(void) { return 2; }")
from dataclasses import replace
kernels = [replace(number(n), support=support[:n % 3]) for n in range(10)]
compile_kernels(kernels, ToolchainSettings(jobs=2), CacheSettings(root=sys.argv[1]))
"""
    trees = []
    for seed in portion(("0", "1", "2", "77", "12345"), always=2):
        root = tmp_path / seed
        _, err = end(fresh_worker(code, str(root), PYTHONHASHSEED=seed))
        assert err == ""
        files = (path for path in root.rglob("*.*") if path.is_file() and path.suffix in (".so", ".c", ".ref", ".txt"))
        trees.append({path.relative_to(root): path.read_bytes() for path in files})
    assert len(trees[0]) == 18  # two units with their texts, ten references, four notes on the compiler
    assert all(tree == trees[0] for tree in trees)


def test_readers_and_sweeps_together(cache: CacheSettings, worker: Worker) -> None:
    """Eight readers while another process removes everything again and again."""
    sweeper = worker(
        "import time\nsweep.YOUNG = -1.0\n"
        "print('started', flush=True)\n"
        "while True:\n    sweep.sweep(sys.argv[1], 20_000)\n    time.sleep(0.002)\n",
        cache.root,
    )
    try:
        readers = [worker(FOREVER, cache.root, str(seed), "6") for seed in range(8)]
        for reader in readers:
            out, err = end(reader)
            assert out == "started\ndone\n", err
            assert err == ""
    finally:
        kill(sweeper)
        sweeper.communicate(timeout=LIMIT)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become another user")
def test_another_user_reads_a_pre_filled_cache(worker: Worker) -> None:
    """Root fills and opens a cache; user 54321 without a home takes the code from it and writes nothing."""
    place = Path(tempfile.mkdtemp())
    try:
        place.chmod(0o755)
        shared = str(place / "shared")
        end(worker("compile_kernels([number(4321)], None, CacheSettings(root=sys.argv[1]))", shared))
        open_for_reading(shared)
        before = sorted(map(str, Path(shared).rglob("*")))
        code = """
import os
os.setgroups([]); os.setgid(54321); os.setuid(54321)
os.environ.pop("HOME", None)
cache = CacheSettings(root="/nonexistent/x", readonly=(sys.argv[1],))
assert call(compile_kernels([number(4321)], None, cache)[0]) == 4321
print(compile_counts().from_cache)
"""
        process = worker(code, shared)
        out, err = end(process)
        assert out.strip() == "1", err
        assert err.count("CacheWarning") == 1
        assert sorted(map(str, Path(shared).rglob("*"))) == before
    finally:
        shutil.rmtree(place)


@pytest.mark.skipif(os.name != "posix", reason="file size limits are POSIX")
@pytest.mark.parametrize("limit", ["0", "1", "4096", "12000"])
def test_file_size_limit(cache: CacheSettings, worker: Worker, limit: str) -> None:
    """EFBIG and its signal, in us and in the compiler: the code arrives or NoCompilerError says why."""
    code = """
import resource
from theano.errors import NoCompilerError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    assert call(compile_kernels([number(1)], None, CacheSettings(root=sys.argv[1]))[0]) == 1
except NoCompilerError as error:
    print(error)
"""
    process = worker(code, cache.root, limit)
    _, err = end(process)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    follower = worker(code, cache.root, str(1 << 30))
    out, err = end(follower)
    assert (out, err, follower.returncode) == ("", "", 0)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a small file system of its own kind; skips where that is not allowed."""
    place = tmp_path / "mounted"
    place.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")

    def attach(options: str) -> Path:
        words = [mount or "", "-t", "tmpfs", "-o", options + ",mode=700", "none", str(place)]
        if mount is None or umount is None or subprocess.run(words, capture_output=True, timeout=60).returncode:
            pytest.skip("file systems cannot be mounted here")
        return place

    yield attach
    if umount is not None and os.path.ismount(place):
        subprocess.run([umount, str(place)], check=True, timeout=60)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can mount")
@pytest.mark.parametrize(
    ("options", "remount", "word"),
    [
        ("size=4k", "", "full"),
        ("size=24k", "", "full"),
        ("size=48k", "", "full"),
        ("nr_inodes=5", "", "full"),
        ("nr_inodes=12", "", "full"),
        ("size=1m,noexec", "", "noexec"),
        ("size=1m", "remount,ro", "Read-only"),
    ],
)
def test_real_full_disks(worker: Worker, mounted: Callable[[str], Path], options: str, remount: str, word: str) -> None:
    """Whatever the compiler says on a full disk, and however little: right results and one warning."""
    place = mounted(options)
    if remount:
        subprocess.run(["mount", "-o", remount, str(place)], check=True, timeout=60)
    code = """
for n in range(4):
    assert call(compile_kernels([number(n)], None, CacheSettings(root=sys.argv[1]))[0]) == n
"""
    process = worker(code, str(place / "cache"))
    _, err = end(process)
    assert process.returncode == 0, err
    assert err.count("CacheWarning") == 1 and word in err, err
    assert survey(str(place / "cache")).stages == []
