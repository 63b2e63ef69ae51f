"""Folders with names in any bytes, in locales that have these characters or not: the cache is used there."""

import os
import subprocess
import sys
from itertools import product

import pytest

from portion import portion

NAMES = ("M\u00e1rton".encode(), b"M\xe1rton", "\u65e5\u672c \u00e9".encode())
LOCALES = {
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "utf-8": {"LC_ALL": "C.UTF-8"},
    "utf-8 mode": {"LC_ALL": "C", "PYTHONUTF8": "1"},
}  # fmt: skip
WAYS = ("home", "flag", "rc file", "temporary", "current")
CODE = "import theano, theano.tensor as T; x = T.dscalar(); print(theano.function([x], T.exp(x) * 3)(0.0))"


def environment(way, folder):
    """Return what lets the cache be in a folder."""
    if way == "rc file":
        rc = os.path.join(folder, b".theanorc")
        with open(rc, "wb") as file:
            file.write(b"[global]\nbase_compiledir = " + folder + b"\n")
        return {b"THEANORC": rc}
    inside = b"base_compiledir=" + os.path.join(folder, b"inside")
    return {
        "home": {b"HOME": folder}, "flag": {b"THEANO_FLAGS": b"base_compiledir=" + folder},
        "temporary": {b"TMPDIR": folder, b"THEANO_FLAGS": inside}, "current": {b"THEANO_FLAGS": b"base_compiledir=here"},
    }[way]  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are text")
@pytest.mark.parametrize(("name", "locale", "way"), portion([*product(NAMES, LOCALES, WAYS)], one_in=15))
def test_the_cache_is_in_a_folder_of_any_name(name, locale, way, tmp_path):
    folder = os.path.join(os.fsencode(tmp_path), name)
    os.mkdir(folder)
    outside = ("THEANO_FLAGS", "THEANORC", "LC_ALL", "XDG_CACHE_HOME", "PYTHONUTF8")
    env = {os.fsencode(k): os.fsencode(v) for k, v in {**os.environ, **LOCALES[locale]}.items() if k not in outside or k in LOCALES[locale]}
    env.update(environment(way, folder))
    run = subprocess.run(
        [sys.executable, "-c", CODE], env=env, cwd=folder if way == "current" else None, capture_output=True, check=False
    )
    assert run.returncode == 0 and run.stdout == b"3.0\n" and not run.stderr, run.stderr.decode("utf-8", "replace")
    assert any(files for _, _, files in os.walk(folder) if files not in ([], [b".theanorc"]))
