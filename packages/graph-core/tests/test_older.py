"""Where files of an older Theano lie in a folder that is searched, the import says so in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from theano.older import refuse


def installed_beside(folder, name="Theano", version="1.0.5"):
    (folder / "theano").mkdir()
    for file in ("__init__", "configdefaults"):
        (folder / "theano" / f"{file}.py").write_text("raise SystemExit('the older one was run')")
    metadata = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def import_with(folder):
    # Behind the folders of this one, as in an environment that borrows packages of the system.
    program = f"import sys; sys.path.append({os.fspath(folder)!r}); import theano"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def test_a_folder_of_an_older_one(tmp_path):
    installed_beside(tmp_path)
    done = import_with(tmp_path)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: {tmp_path}/theano has files of an older Theano (Theano 1.0.5), which")
    assert "`pip uninstall -y Theano`" in last and "the older one was run" not in done.stderr


def test_an_empty_folder_is_not_one(tmp_path):
    (tmp_path / "theano").mkdir()
    (tmp_path / "theano" / "__init__.py").touch()
    assert import_with(tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [("Theano-PyMC", r"\(Theano-PyMC 1\.0\.5\).*`pip uninstall -y Theano-PyMC`"), ("other", "-y Theano Theano-PyMC`")],
)
def test_the_distribution_is_named_if_it_is_known(tmp_path, name, said):
    installed_beside(tmp_path, name)
    with pytest.raises(ImportError, match=said):
        refuse([str(tmp_path), str(tmp_path / "theano")])
