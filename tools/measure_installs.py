"""Measure what an installation weighs and what an import costs, beside other systems, and write the table of them.

    python tools/measure_installs.py                       (nox -s sizes) print the table; needs the network
    python tools/measure_installs.py --write               also put it into docs/install.md
    python tools/measure_installs.py --only theano,jax     only some

Each system is downloaded and installed into a new environment, with all that it needs and nothing else, and imported in
processes of its own, the systems by turns. Ours come from the wheels in ``dist/`` (nox -s release -- --rehearse). What
cannot be installed has no row.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "install.md"
BEGIN, END = (f"<!-- {part} of what tools/measure_installs.py wrote -->" for part in ("begin", "end"))
MIB = 1 << 20

#: Of each system: what is installed, and the import with which a program that computes with arrays begins.
SYSTEMS = {
    "numpy": (["numpy"], "import numpy"),
    "theano": (["theano-tensor"], "import theano, theano.tensor"),
    "pytensor": (["pytensor"], "import pytensor, pytensor.tensor"),
    "jax": (["jax"], "import jax, jax.numpy"),
    "torch": (["torch"], "import torch"),
}
# VmHWM would be the most that the import ever needed; what stays is what a program has to live with.
PROGRAM = """
import time
start = time.perf_counter()
{statement}
took = time.perf_counter() - start
with open("/proc/self/status") as file:
    (kib,) = [line.split()[1] for line in file if line.startswith("VmRSS")]
print(took, kib)
"""


class Installed(NamedTuple):
    """One system in an environment of its own.

    Parameters
    ----------
    python : Path
        The interpreter of the environment.
    versions : str
        What was asked for, with its version.
    wheels, others, files : int
        Bytes of the wheels of the system itself, of those that it needs, and of all files installed.
    """

    python: Path
    versions: str
    wheels: int
    others: int
    files: int


class Cost(NamedTuple):
    """Seconds that an import took, and the bytes of memory of the process after it."""

    seconds: float
    memory: int


def pip(*arguments: object) -> None:
    """Run pip, and show what it says if it fails."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.stdout + done.stderr)


def own(name: str, wheel: str) -> bool:
    """Tell whether a wheel is a part of a system, and not something that others have made.

    Examples
    --------
    >>> own("theano", "theano_scalar-2.0.0a1-py3-none-any.whl"), own("jax", "jaxlib-0.5.whl"), own("jax", "numpy-2.whl")
    (True, True, False)
    """
    return re.match(rf"{name}(lib|_\w+)?-", wheel) is not None


def install(name: str, requirements: list[str], folder: Path, found: Path) -> Installed:
    """Install a system with all that it needs into a new environment.

    Parameters
    ----------
    name : str
        The system.
    requirements : list of str
        What pip is asked for.
    folder : Path
        An empty folder to do it in.
    found : Path
        A folder with wheels that are in no registry.
    """
    wheels = folder / "wheels"
    ours = ["--pre", "--find-links", found] if name == "theano" else []
    pip("download", "--only-binary", ":all:", *ours, "-d", wheels, *requirements)
    environment = folder / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    pip("--python", python, "install", "--no-index", "--no-deps", "--compile", *sorted(wheels.iterdir()))
    paths = {"base": str(environment), "platbase": str(environment)}
    site = Path(sysconfig.get_path("purelib", vars=paths))
    sizes = {path.name: path.stat().st_size for path in wheels.iterdir()}
    first = next(file for file in sizes if file.startswith(requirements[0].partition("=")[0].replace("-", "_") + "-"))
    mine = sum(size for file, size in sizes.items() if own(name, file))
    files = sum(path.stat().st_size for path in site.rglob("*") if path.is_file() and not path.is_symlink())
    version = f"{name} {first.split('-')[1]}"
    return Installed(python, version, mine, sum(sizes.values()) - mine, files)


def cost(python: Path, statement: str) -> Cost:
    """Import in a new process, and return what it cost."""
    program = PROGRAM.format(statement=statement)
    said = subprocess.run([python, "-I", "-c", program], capture_output=True, text=True, check=True).stdout.split()
    return Cost(float(said[0]), int(said[1]) * 1024)


def measure(installed: dict[str, Installed], rounds: int) -> dict[str, Cost]:
    """Return the medians of the costs, after one import of each that is not counted; the systems take turns."""
    series: dict[str, list[Cost]] = {name: [] for name in installed}
    for number in range(rounds + 1):
        for name, where in installed.items():
            found = cost(where.python, SYSTEMS[name][1])
            if number:
                series[name].append(found)
    return {
        name: Cost(statistics.median(c.seconds for c in costs), int(statistics.median(c.memory for c in costs)))
        for name, costs in series.items()
    }


def machine() -> str:
    """Return what the times depend on, in words."""
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text("ascii", "replace"), re.MULTILINE)
    return (
        f"{os.cpu_count()} cores of {model[1] if model else platform.machine()}, {platform.system()}, at a load "
        f"average of {os.getloadavg()[1]:.1f}, with CPython {platform.python_version()}"
    )


def table(installed: dict[str, Installed], costs: dict[str, Cost], rounds: int) -> str:
    """Return the table, with a line that says where and when."""
    lines = [
        "| | its own wheels | wheels of what it needs | installed, all | import | memory after it |",
        "|---|---|---|---|---|---|",
    ]
    for name, it in installed.items():
        sizes = " | ".join(f"{size / MIB:.1f} MiB" for size in (it.wheels, it.others, it.files))
        seconds, memory = costs[name]
        lines.append(f"| {it.versions} | {sizes} | {seconds * 1000:.0f} ms | {memory / MIB:.0f} MiB |")
    imported = ", ".join(f"`{SYSTEMS[name][1]}`" for name in installed)
    lines += [
        "",
        f"Measured on {datetime.date.today().isoformat()} by `tools/measure_installs.py` on {machine()}; medians of "
        f"{rounds} processes, the systems by turns, each the newest that pip finds here. Installed are all files with "
        f"their `.pyc`, and with those of what the system needs. Imported are, in this order: {imported}.",
    ]
    return "\n".join(lines) + "\n"


def written(page: str, text: str) -> str:
    """Return a page with a text between the marks.

    Examples
    --------
    >>> written(f"a {BEGIN} old {END} b", "new").split()[-9:]
    ['new', '<!--', 'end', 'of', 'what', 'tools/measure_installs.py', 'wrote', '-->', 'b']
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{text}\n{END}{after}"


def main(arguments: list[str] | None = None) -> int:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default=",".join(SYSTEMS), help="names, with commas")
    parser.add_argument("--require", action="append", default=[], metavar="REQUIREMENT",
                        help="what is asked for instead of the newest, as torch==2.13.0+cpu")  # fmt: skip
    parser.add_argument("--wheels", type=Path, default=ROOT / "dist", help="a folder with our wheels")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    instead = {requirement.partition("=")[0]: requirement for requirement in options.require}
    with tempfile.TemporaryDirectory() as temporary:
        installed = {}
        for name in options.only.split(","):
            wanted = [instead.get(requirement, requirement) for requirement in SYSTEMS[name][0]]
            try:
                installed[name] = install(name, wanted, Path(temporary) / name, options.wheels)
            except OSError as problem:
                print(f"{name} cannot be installed here: {problem}", file=sys.stderr)
            else:
                print(f"installed {installed[name].versions}", file=sys.stderr, flush=True)
        text = table(installed, measure(installed, options.rounds), options.rounds)
    print(text, end="")
    if options.write:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
