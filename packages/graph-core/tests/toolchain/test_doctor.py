"""The doctor's page."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from theano.codegen.unit import current_toolchain
from theano.errors import NoCompilerError
from theano.toolchain.checks import Line, checks


def doctor(home: Path, flags: str = "", code: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    words = ["-c", code] if code else ["-m", "theano.doctor"]
    variables = {**os.environ, "HOME": str(home), "THEANO_FLAGS": flags, **environment}
    variables.pop("XDG_CACHE_HOME", None)
    return subprocess.run(
        [sys.executable, *words], env=variables, capture_output=True, text=True, timeout=120, check=False
    )


def has_compiler() -> bool:
    try:
        current_toolchain()
    except NoCompilerError:
        return False
    return True


@pytest.mark.skipif(not has_compiler(), reason="no C compiler")
def test_one_page(tmp_path: Path) -> None:
    home = tmp_path / "spa ce:ünï"
    home.mkdir()
    done = doctor(home)
    page = done.stdout
    assert done.returncode == 0, page + done.stderr
    for word in ("python", "numpy", "compiler", "flags", "cpu", "probe", "cache", "BLAS", "threads", "ABI version"):
        assert word in page
    assert "compiled and loaded a kernel in" in page and str(home) in page and page.endswith("\nall is well\n")
    assert len(page.splitlines()) <= 40


def test_settings_of_2014(tmp_path: Path) -> None:
    rc = "[global]\ndevice = gpu\n[nvcc]\nfastmath = True\n[lib]\ncnmem = 0.8\n[cuda]\nroot = /usr/local/cuda\n"
    (tmp_path / ".theanorc").write_text(rc)
    refused = doctor(tmp_path, code="import theano", THEANORC=str(tmp_path / ".theanorc"))
    assert refused.stderr.count("  File ") <= 3 and "or cpu if you have no GPU" in refused.stderr
    done = doctor(tmp_path, "device=cpu,cxx=", THEANORC=str(tmp_path / ".theanorc"))
    for name in ("nvcc.fastmath", "lib.cnmem", "cuda.root"):
        assert f"settings   {name} ({tmp_path / '.theanorc'}, section [{name[: name.index('.')]}]) has no" in done.stdout
    assert done.stderr.count("Warning") == 1 and "config.py" not in done.stderr


def test_no_compiler(tmp_path: Path) -> None:
    done = doctor(tmp_path, "cxx=")
    assert done.returncode == 1
    assert "! compiler" in done.stdout and "-> " in done.stdout
    assert done.stdout.splitlines()[-1] == "lines marked ! need attention"


def test_compiler_that_is_not_there(tmp_path: Path) -> None:
    done = doctor(tmp_path, "cxx=no-such-compiler")
    assert done.returncode == 1
    assert "'no-such-compiler' is not installed" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_bad_cache_names_the_command(tmp_path: Path) -> None:
    place = tmp_path / "theano"
    place.mkdir()
    place.chmod(0o777)
    done = doctor(tmp_path, f"compiledir={place}")
    assert f"chmod go-w {place}" in done.stdout
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "lines marked ! need attention; the rest works"


def test_layers_add_lines() -> None:
    checks.register("test", lambda: [Line("test", "broken", False, "mend it", True)])
    assert [str(line) for line in checks.pop("test")()] == ["! test       broken\n             -> mend it"]
