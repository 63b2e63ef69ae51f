"""Commands that pretend to be a C compiler: nothing, noise, pieces of libraries, other options, other errors.

With a false compiler a process may refuse, shortly and in words; with what it left in the cache, a process with a good
one computes what NumPy does.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from pathlib import Path

import numpy as np

from hostile.attacks.cache import environment
from hostile.finding import Finding, expect
from hostile.victim import WRONG, command, ended, hold_to_right, left_behind

COUNT = 4  # samples that a victim computes
#: What a process may wait for a compiler that never ends, and how long all of it may take then.
PATIENCE = "compile.unit_timeout=8,compile.question_timeout=4"
HANGS = 60

NOISE = ("", "", "echo warning: something", "printf '\\377\\376\\000\\033[31m' >&2", "head -c 100000 /dev/urandom >&2",
         "yes error: | head -n 500 >&2", "echo '\"; import os; os.abort()' >&2", "echo version 99 >&2")  # fmt: skip
OPTIONS = ("-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-O0", "-ffinite-math-only", "-DNAN=1")


def attack(rng: np.random.Generator) -> Finding | None:
    """Use a false compiler, then a true one, with one cache."""
    with tempfile.TemporaryDirectory(prefix="compiler-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        true = shutil.which("cc") or "cc"
        text, held_to = script(rng, true, folder)
        flags, env, optioned = _wired(rng, folder, text, true)
        seed = int(rng.integers(10**6))
        env = {**environment(folder / "cache"), **env}
        said = f"{text}\n{flags or env.get('CC')}"
        try:
            if "hangs" in text:
                flags = ",".join(filter(None, [flags, PATIENCE]))
            end = ended(command("check", seed, COUNT), {**env, "THEANO_FLAGS": flags}, HANGS)
            lost = left_behind(4)
            expect(not lost, "a false compiler is left running", lost)
            wrong = end.status == WRONG
            # With -ffast-math its answers are what was asked for, and what is spoilt inside may do anything.
            if not (wrong and (optioned or held_to == "refusal") or held_to == "nothing"):
                hold_to_right(end, "with a false compiler", may_refuse=True)
            plain = ended(command("check", seed, COUNT), environment(folder / "cache"))
            hold_to_right(plain, "with a good compiler after a false one")
            expect(not left_behind(4), "something is left running")
        except Finding as found:
            found.details = f"{said}\n{found.details}"
            raise
    return None


def _wired(rng: np.random.Generator, folder: Path, text: str, true: str) -> tuple[str, dict[str, str], bool]:
    """Return flags and environment that name a compiler, and whether it is the true one with other options."""
    if rng.random() < 0.25:
        words = f"{true} {rng.choice(OPTIONS)}"
        return (f'cxx="{words}"', {}, True) if rng.random() < 0.5 else ("", {"CC": words}, True)
    path = folder / str(rng.choice(["cc", "my cc", "gcc-13", "clang"]))
    how = rng.random()
    if how < 0.05:
        path.mkdir()
    elif how < 0.1:
        path.write_bytes(rng.bytes(200))
        path.chmod(0o700)
    else:
        path.write_text(text)
        path.chmod(0o600 if how < 0.15 else 0o700)
    if rng.random() < 0.5:
        return "", {"CC": str(path)}, False
    if rng.random() < 0.5:
        path = path.rename(folder / "cc") if path.name != "cc" else path
        return "", {"PATH": f"{folder}:{os.environ['PATH']}"}, False
    return f'cxx="{path}"', {}, False


def script(rng: np.random.Generator, true: str, folder: Path) -> tuple[str, str]:
    """Return a random script, and what a process is held to with it: its "answers", a "refusal" at most, "nothing"."""
    true = shlex.quote(true)
    # The file after -o, which the script spoils.
    out = 'out=; last=; for w in "$@"; do [ "$last" = -o ] && out=$w; last=$w; done'
    size = int(rng.choice([0, 1, 64, 1000, 5000, 15000]))
    endings = {
        "true": f'exec {true} "$@"',
        "nothing": "exit 0",
        "cut": f'{true} "$@"; s=$?; [ -n "$out" ] && truncate -s {size} "$out"; exit $s',
        "shorter": f'{true} "$@"; s=$?; [ -n "$out" ] && truncate -s -{size} "$out"; exit $s',
        "garbage": f'[ -n "$out" ] && head -c {size} /dev/urandom > "$out"; exit 0',
        "zeros": f'[ -n "$out" ] && head -c {size} /dev/zero > "$out"; exit 0',
        "spoilt": f'{true} "$@"; '
                  f'[ -n "$out" ] && dd if=/dev/urandom of="$out" bs=1 count=32 seek={size} conv=notrunc 2>/dev/null',
        "fails": f"exit {int(rng.integers(1, 128))}",
        "dies": f"kill -{rng.choice(['SEGV', 'KILL', 'TERM', 'ABRT'])} $$",
        "fails late": f'{true} "$@"; exit {int(rng.integers(1, 5))}',
        "sometimes": f'n=$(cat {folder}/n 2>/dev/null || echo 0); echo $((n+1)) > {folder}/n; '
                     f'[ $n -ge {int(rng.integers(0, 5))} ] && exit 1; exec {true} "$@"',
        "first fails": f'[ -e {folder}/n ] && exec {true} "$@"; touch {folder}/n; exit 1',
        "leaves a child": f'sleep 1 & exec {true} "$@"',
        "directory": '[ -n "$out" ] && rm -rf "$out" && mkdir "$out"; exit 0',
        "link": f'{true} "$@"; [ -n "$out" ] && mv "$out" "$out.x" && ln -s "$out.x" "$out"',
        "deletes": 'rm -rf -- *.c; exit 0',
        "options": f'exec {true} "$@" {rng.choice(OPTIONS)}',
        "slow": f'sleep {rng.choice(["0.3", "1", "2"])}; exec {true} "$@"',
        "hangs": "sleep 1000",
        "hangs deaf": 'trap "" TERM INT HUP; while :; do sleep 1; done',
        "empty version": f'case "$*" in *-v*|*--version*|*-dM*) exit 0;; esac; exec {true} "$@"',
    }  # fmt: skip
    ending = str(rng.choice(sorted(endings)))
    held_to = {"options": "refusal", "spoilt": "nothing"}.get(ending, "answers")
    return f"#!/bin/sh\n# {ending}\n{out}\n{rng.choice(NOISE)}\n{endings[ending]}\n", held_to
