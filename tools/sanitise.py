"""Run compiled code under the sanitisers of addresses and of undefined behaviour: ``nox -s sanitise``.

    python tools/sanitise.py              everything
    python tools/sanitise.py PART ...     only some of: faults sizes kernels networks sparse tutorial user_c
    python tools/sanitise.py --in FOLDER  work there, and leave it, so that the next time less is built

A copy of the sources is made in a temporary directory, and in it the layers' libraries are built with the
sanitisers: those that the wanted parts are about. The tensor layer's takes minutes, and where nothing asks what it
does, as for ``user_c``, its library is taken as it is. Generated kernels get the same options through the documented
flag ``gcc.cxxflags``. Python itself is the usual one, with the sanitisers' library loaded before it and with every
allocation of its own (``PYTHONMALLOC``), so that memory behind an array is watched. Nothing is recovered from: the
first finding ends the process that it is in.

The part called ``faults`` plants some, one at a time, and is content only if each is found.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = {"graph-core": True, "scalar": False, "tensor": True, "sparse": True}  # whether something is built
CHECKS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
# Generated code asks for -O3; most of what can be wrong shows as well without, in a third of the time.
KERNEL_FLAGS = f"{CHECKS} -O1 -g"
FOUND = ("AddressSanitizer", "runtime error:")


def compiler() -> str:
    """Return a compiler that has the sanitisers, or end."""
    found = shutil.which("gcc")
    if found is None:
        raise SystemExit("this needs gcc")
    return found


def runtime(name: str) -> str:
    """Return the path of a sanitiser's library, or end."""
    command = [compiler(), f"-print-file-name={name}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(path):
        raise SystemExit(f"gcc came without {name}")
    return path


def copy_sources(to: Path) -> None:
    """Copy what the layers are made of, without what was built from it."""
    for layer in LAYERS:
        left_out = shutil.ignore_patterns("*.so", "build", "__pycache__", "*.egg-info")
        shutil.copytree(ROOT / "packages" / layer, to / layer, ignore=left_out, dirs_exist_ok=True)
    shutil.copy2(ROOT / "packages" / "layer_build.py", to)


def build(folder: Path, watched: set[str]) -> None:
    """Build the libraries of a copy where they lie: of the layers named with the sanitisers, else as they ship."""
    checks = {"CC": compiler(), "CFLAGS": f"{CHECKS} -g", "CXXFLAGS": f"{CHECKS} -g", "LDFLAGS": CHECKS}
    for layer, compiled in LAYERS.items():
        if not compiled or (layer not in watched and copy_library(folder, layer)):
            continue
        env = {**os.environ, **(checks if layer in watched else {})}
        command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace", "-j", str(os.cpu_count() or 1)]
        # A kept folder may hold what was built the other way: then all of it is to be built again.
        mark, way = folder / layer / "built", "watched" if layer in watched else "as it ships"
        again = ["--force"] if mark.exists() and mark.read_text() != way else []
        subprocess.run([*command, *again], cwd=folder / layer, env=env, check=True)
        mark.write_text(way)


def copy_library(folder: Path, layer: str) -> bool:
    """Take a layer's library from this checkout, as it is; tell whether there is one."""
    sources = ROOT / "packages" / layer / "src"
    found = list(sources.rglob("*.so"))
    for library in found:
        shutil.copy2(library, folder / layer / "src" / library.relative_to(sources))
    if found:  # what a kept folder held with the sanitisers is gone, and must not pass for built
        (folder / layer / "built").write_text("copied")
    return bool(found)


def environment(folder: Path) -> dict[str, str]:
    """Return the environment in which the copy runs watched."""
    sources = [str(folder / layer / "src") for layer in LAYERS]
    flags = [f"base_compiledir={folder / 'cache'}", f'gcc.cxxflags="{KERNEL_FLAGS}"', f"cxx={compiler()}"]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*sources, str(ROOT / "tools")]),
        "PYTHONMALLOC": "malloc",
        "THEANO_FLAGS": ",".join(flags),
        "LD_PRELOAD": " ".join(runtime(name) for name in ("libasan.so", "libubsan.so")),
        # Python leaves much to the end of the process; that is no finding.
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1:strict_string_checks=1:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "SANITISED": str(folder),
    }


def pytest(env: dict[str, str], *arguments: str) -> bool:
    """Run tests watched; show how it ended, and where it was when there was a finding."""
    # Findings come from C, past sys.stderr, so pytest must not keep that file for itself.
    command = [sys.executable, "-m", "pytest", "-v", "-x", "--capture=sys", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=env, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines = done.stdout.splitlines()
    print("\n".join(lines[-(200 if done.returncode else 1) :]), flush=True)
    return done.returncode == 0


def sizes(env: dict[str, str]) -> bool:
    """Run every optimised path over dtypes, layouts and sizes."""
    return pytest(env, "-n", "0", "--cases", "all", "packages/tensor/tests/test_sizes.py")


def kernels(env: dict[str, str]) -> bool:
    """Run the compiled expressions of the table of cases, and memory and machine of the loader."""
    places = ["packages/tensor/tests/test_compiled.py", "packages/graph-core/tests/loader"]
    # Interrupting takes its time, and a watched kernel takes another time than the test thinks.
    return pytest(env, "-n", "0", "-m", "not slow", "-k", "not ctrl_c", *places)


def networks(env: dict[str, str]) -> bool:
    """Run convolution, pooling and what else networks are made of."""
    return pytest(env, "-n", "0", *(f"packages/tensor/tests/{family}" for family in ("pool", "nnet", "conv")))


def sparse(env: dict[str, str]) -> bool:
    """Run the tests of sparse matrices, with ten thousand malformed ones."""
    return pytest({**env, "THEANO_SPARSE_MALFORMED": "10000"}, "-n", "0", "packages/sparse/tests")


def tutorial(env: dict[str, str]) -> bool:
    """Run every block of the tutorial."""
    return pytest(env, "-p", "doc_blocks", "docs/tutorial", "README.md")


def faults(env: dict[str, str]) -> bool:
    """Plant faults, one at a time; tell whether each was found."""
    command = [sys.executable, "tools/sanitise_faults.py"]
    names = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if names.returncode or not names.stdout.split():
        print(names.stdout + names.stderr)
        return False
    missed = [name for name in names.stdout.split() if not _is_found(env, name)]
    print("planted and found:", " ".join(n for n in names.stdout.split() if n not in missed))
    return not missed


def _is_found(env: dict[str, str], name: str) -> bool:
    command = [sys.executable, "tools/sanitise_faults.py", name]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    expected = name == "none"
    found = done.returncode != 0 and any(word in done.stderr for word in FOUND)
    if found == expected:
        print(f"the planted fault {name!r} {'was made up' if expected else 'was missed'}:\n{done.stdout}{done.stderr}")
    return found != expected


def user_c(env: dict[str, str]) -> bool:
    """Run the C that users write: its tests, then ten thousand calls in which each block fails in its turn."""
    places = ["packages/graph-core/tests/codegen/test_codegen_blocks.py", "packages/tensor/tests/c_contract"]
    if not pytest(env, "-n", "0", *places):
        return False
    watched = {**env, "ASAN_OPTIONS": env["ASAN_OPTIONS"].replace("detect_leaks=0", "detect_leaks=1")}
    command = [sys.executable, "tools/sanitise_user_c.py"]
    done = subprocess.run(command, cwd=ROOT, env=watched, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr if done.returncode else done.stdout.strip(), flush=True)
    planted = subprocess.run([*command, "leak"], cwd=ROOT, env=watched, capture_output=True, text=True, check=False)
    if planted.returncode == 0:
        print("a planted leak was missed:", planted.stdout, planted.stderr)
    return done.returncode == 0 and planted.returncode != 0


#: The layers whose libraries a part must watch; by default all that have one.
WATCHED = {"user_c": {"graph-core"}, "sparse": {"graph-core", "sparse"}}

PARTS: dict[str, Callable[[dict[str, str]], bool]] = {
    "faults": faults, "sizes": sizes, "kernels": kernels, "networks": networks, "sparse": sparse, "tutorial": tutorial,
    "user_c": user_c,
}  # fmt: skip


def main(wanted: list[str]) -> int:
    """Build, run, and say what was found."""
    kept = Path(wanted[1]).resolve() if wanted[:1] == ["--in"] else None
    wanted = wanted[2:] if kept else wanted
    unknown = set(wanted) - set(PARTS)
    if unknown:
        raise SystemExit(f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="sanitise-") as name:
        folder = kept or Path(name)
        copy_sources(folder)
        build(folder, set().union(*(WATCHED.get(part, set(LAYERS)) for part in wanted or PARTS)))
        env = environment(folder)
        failed = [part for part in wanted or PARTS if not PARTS[part](env)]
    print(f"findings in {', '.join(failed)}" if failed else "nothing found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
