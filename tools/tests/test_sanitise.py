"""What `sanitise` runs; that it finds what is planted is its own part ``faults``."""

from __future__ import annotations

import sanitise


def test_only_what_was_built_elsewhere_is_left_out(tmp_path):
    sanitise.copy_sources(tmp_path)
    assert (tmp_path / "tensor" / "setup.py").is_file()
    assert (tmp_path / "graph-core" / "src" / "theano" / "loader" / "abi.h").is_file()
    assert not list(tmp_path.rglob("*.so"))


def test_generated_code_gets_the_options_through_the_flag(tmp_path, monkeypatch):
    monkeypatch.setattr(sanitise, "compiler", lambda: "gcc")
    monkeypatch.setattr(sanitise, "runtime", lambda name: f"/lib/{name}")
    env = sanitise.environment(tmp_path)
    assert f'gcc.cxxflags="{sanitise.KERNEL_FLAGS}"' in env["THEANO_FLAGS"]
    assert "-fno-sanitize-recover=all" in sanitise.KERNEL_FLAGS
    assert env["PYTHONPATH"].startswith(str(tmp_path / "graph-core" / "src"))


def test_a_fault_that_is_missed_or_made_up_is_told(tmp_path, monkeypatch, capsys):
    said = {
        "silent": (0, ""),
        "none": (0, ""),
        "loud": (1, "ERROR: AddressSanitizer: heap-buffer-overflow"),
        "other": (1, "KeyError"),
    }

    class Done:
        stdout = ""

        def __init__(self, name):
            self.returncode, self.stderr = said[name]

    monkeypatch.setattr(sanitise.subprocess, "run", lambda command, **how: Done(command[-1]))
    assert sanitise._is_found({}, "loud") and sanitise._is_found({}, "none")
    assert not sanitise._is_found({}, "silent") and not sanitise._is_found({}, "other")
    said["none"] = said["loud"]
    assert not sanitise._is_found({}, "none")
    assert "'silent' was missed" in capsys.readouterr().out


def test_only_the_layers_that_a_part_is_about_are_built_watched(tmp_path, monkeypatch):
    built = []
    monkeypatch.setattr(sanitise, "ROOT", tmp_path)
    monkeypatch.setattr(sanitise, "compiler", lambda: "gcc")
    monkeypatch.setattr(
        sanitise.subprocess,
        "run",
        lambda command, cwd, env, check: built.append(
            (cwd.name, env.get("CFLAGS", "").startswith("-fsanitize"), "--force" in command)
        ),
    )
    there, copied = tmp_path / "packages" / "tensor" / "src", tmp_path / "to" / "tensor" / "src"
    for folder in (there, copied, tmp_path / "to" / "graph-core", tmp_path / "to" / "sparse"):
        folder.mkdir(parents=True)
    monkeypatch.delenv("CFLAGS", raising=False)
    sanitise.build(tmp_path / "to", sanitise.WATCHED["user_c"])  # nothing to copy: built, as it ships
    assert built == [("graph-core", True, False), ("tensor", False, False), ("sparse", False, False)]
    (there / "_kernels.so").write_text("as it ships")
    sanitise.build(tmp_path / "to", sanitise.WATCHED["user_c"])
    assert built[3:] == [("graph-core", True, False), ("sparse", False, False)] and (copied / "_kernels.so").read_text() == "as it ships"
    sanitise.build(tmp_path / "to", set(sanitise.LAYERS))  # what was copied must not pass for watched
    assert built[5:] == [("graph-core", True, False), ("tensor", True, True), ("sparse", True, True)]
