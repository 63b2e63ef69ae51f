"""The command: what it says and what it leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from portion import portion
from theano.cache.command import main
from theano.cache.contents import survey
from theano.cache.store import Cache, CacheSettings
from theano.codegen.unit import current_toolchain
from theano.errors import NoCompilerError


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(CacheSettings(root=str(tmp_path / "cache")))


@pytest.fixture
def filled(cache: Cache) -> Cache:
    for number in range(3):
        key = f"{number:02x}" * 16
        with cache.stage() as stage:
            staged = Path(stage, "unit.so")
            staged.write_bytes(bytes([number]) * 2048)
            source = f"/* 1 kernel, generated */\n/* x + {number} */\nint f;\n"
            cache.publish_unit(str(staged), key, [f"{number:032x}"], source)
    cache.add_note("f" * 32, "note")
    return cache


def run(cache: Cache, *words: str) -> int:
    return main(words, cache.settings)


def test_list(filled: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(filled, "list") == 0
    out = capsys.readouterr().out
    assert "1 kernel   x + 1" in out and "3 units, 6.0 kB of 1.0 GB" in out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
@pytest.mark.parametrize(
    ("command", "suffix"),
    portion(product(["list", "where", "verify", "clear", "purge"], [".c", ".so", ".ref", ".txt"]), one_in=3),
)
def test_no_command_waits_for_the_writer_of_a_fifo_in_place_of_a_file(filled: Cache, command: str, suffix: str) -> None:
    root = str(filled.writable_root())
    replaced = list(Path(root).rglob(f"*{suffix}"))
    assert replaced
    for path in replaced:
        path.unlink()
        os.mkfifo(path)
    program = f"import sys; from theano.cache.command import main; sys.exit(main(['--root', {root!r}, {command!r}]))"
    subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True, check=False)  # (or TimeoutExpired)


def test_where(filled: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(filled, "where") == 0
    assert capsys.readouterr().out.splitlines()[0] == filled.root
    os.chmod(filled.root, 0o777)
    assert run(filled, "where") == 1
    assert f"NOT USED: {filled.root}" in capsys.readouterr().out


def test_verify(filled: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(filled, "verify") == 0
    assert "4 entries are right, 0 wrong" in capsys.readouterr().out
    path = Path(survey(filled.root).units[1].path)
    path.chmod(0o700)
    path.write_bytes(b"")
    assert run(filled, "verify", "--keep") == 1
    assert path.exists()
    assert run(filled, "verify") == 1
    assert not path.exists() and str(path) in capsys.readouterr().out
    assert run(filled, "verify") == 0
    assert "3 entries are right, 0 wrong" in capsys.readouterr().out


def test_clear_leaves_the_directory_and_living_processes(filled: Cache) -> None:
    with filled.stage() as stage:
        assert run(filled, "clear") == 0
        assert os.path.isdir(stage)
    contents = survey(filled.root)
    assert contents.units == contents.notes == contents.sources == [] and contents.references == []


def test_purge_removes_the_directory(filled: Cache) -> None:
    assert run(filled, "purge") == 0
    assert not os.path.exists(filled.root)
    assert run(filled, "purge") == 0


def test_purge_leaves_what_is_not_ours(filled: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    Path(filled.root, "thesis.txt").write_text("years")
    assert run(filled, "purge") == 1
    assert os.listdir(filled.root) == ["thesis.txt"]
    assert "thesis.txt" in capsys.readouterr().out


def test_another_root(filled: Cache, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(filled, "--root", str(tmp_path / "other"), "list") == 0
    assert capsys.readouterr().out == "no compiled units\n"


SCRIPT = """
import sys
from theano.cache.store import CacheSettings
from theano.graph.kernel import Kernel
from theano.codegen.unit import compile_counts, compile_kernels
from theano.settings import config
compile_kernels([Kernel("x", "int KERNEL(th_ctx *ctx) { return ctx == 0; }")], None, CacheSettings.from_config(config))
print(sys.argv[1], compile_counts().compiled)
"""


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_warm_fills_a_cache_for_others(tmp_path: Path) -> None:
    try:
        current_toolchain()
    except NoCompilerError:
        pytest.skip("no C compiler")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    shared = tmp_path / "shared"

    def process(*words: str, **environment: str) -> str:
        variables = {**os.environ, "THEANO_FLAGS": "", **environment}
        done = subprocess.run(
            [sys.executable, *words], env=variables, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    out = process("-m", "theano.cache", "warm", "--to", str(shared), str(script), "word")
    assert "word 1" in out and "1 units" in out and f"cache.readonly={shared}" in out
    for path in [shared, *shared.rglob("*")]:
        mode = path.stat().st_mode
        assert mode & 0o444 == 0o444 and mode & 0o022 == 0
        assert not path.is_dir() or mode & 0o111 == 0o111
    flags = f"cache.readonly={shared},compiledir={tmp_path / 'own'}"
    assert process(str(script), "again", THEANO_FLAGS=flags) == "again 0\n"
    assert not list((tmp_path / "own").glob("*/*.so"))


def test_warm_reports_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit(3)")
    assert main(["warm", "--to", str(tmp_path / "c"), str(script)], CacheSettings()) == 1
    assert "status 3" in capsys.readouterr().err
    assert main(["warm", "--to", str(tmp_path / "a,b"), str(script)], CacheSettings()) == 2
