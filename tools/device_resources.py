"""What the kernels for CUDA need of a processor: registers, spilled bytes, shared memory, wide loads and stores.

    python tools/device_resources.py SOURCES [--write]

``SOURCES`` is a folder of programs, which the tests of the GPU layer fill where GPU_TEST_SOURCES names it (``nox -s
resources`` does both). Each program is compiled by NVRTC for sm_80 and sm_90; no device is needed. Registers, stack and
shared memory stand in the machine code (an ELF file): in the headers of its sections, and in the attributes of
``.nv.info``. Loads and stores of 8 and 16 bytes at once are counted in PTX. There is an entry for each kind of kernel,
with the largest numbers of its programs, one for each capability; ``--write`` writes docs/data/device_resources.json.
"""

from __future__ import annotations

import argparse
import json
import re
import struct
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from theano.gpuarray.dialect import prelude
from theano.gpuarray.drivers import compile_cuda, ptx_cuda

CAPABILITIES = (80, 90)
DATA = Path(__file__).resolve().parents[1] / "docs" / "data" / "device_resources.json"

#: Attributes of ``.nv.info``: bytes of stack that a function has, and needs. Their value is a symbol and a number.
FRAME_SIZE, MIN_STACK_SIZE, REGISTERS = 0x11, 0x12, 0x2F
_PAIR, _HALF, _BYTE, _NONE = 4, 3, 2, 1  # forms of an attribute's value

_WIDE = re.compile(r"\b(?:ld|st)\.\w+(?:\.\w+)*?\.v(?:2|4)\.\w+")
_LOAD = re.compile(r"\b(?:ld|st)\.global(?:\.\w+)*")


class Kernel(NamedTuple):
    """What one function needs.

    Parameters
    ----------
    name : str
    registers : int
        Of each work-item.
    stack : int
        Bytes of local memory: what is spilled, and arrays that are indexed.
    shared : int
        Bytes of a group.
    """

    name: str
    registers: int
    stack: int
    shared: int


class _Section(NamedTuple):
    name: str
    kind: int
    offset: int
    size: int
    link: int
    info: int


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode()


def sections_of(binary: bytes) -> list[_Section]:
    """Return the sections of a 64-bit ELF file.

    Raises
    ------
    ValueError
        It is none.
    """
    if binary[:5] != b"\x7fELF\x02":
        raise ValueError("no ELF file of 64 bits")
    (table,) = struct.unpack_from("<Q", binary, 0x28)
    size, count, names = struct.unpack_from("<HHH", binary, 0x3A)
    raw = [struct.unpack_from("<IIQQQQII", binary, table + k * size) for k in range(count)]
    strings = binary[raw[names][4] : raw[names][4] + raw[names][5]]
    return [_Section(_text(strings, r[0]), r[1], r[4], r[5], r[6], r[7]) for r in raw]


def _attributes(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the attributes of a section ``.nv.info``: number and value."""
    at = 0
    while at + 4 <= len(text):
        form, number, value = struct.unpack_from("<BBH", text, at)
        at += 4
        if form == _PAIR:
            yield number, text[at : at + value]
            at += value
        elif form not in (_HALF, _BYTE, _NONE):
            raise ValueError(f"an attribute of form {form} is not known")


def kernels_of(binary: bytes) -> list[Kernel]:
    """Return what the kernels in machine code for CUDA (cubin) need.

    Examples
    --------
    >>> kernels_of(b"text")
    Traceback (most recent call last):
     ...
    ValueError: no ELF file of 64 bits
    """
    sections = sections_of(binary)
    part = lambda s: binary[s.offset : s.offset + s.size]
    symbols = next(s for s in sections if s.name == ".symtab")
    strings = part(sections[symbols.link])
    names = [_text(strings, struct.unpack_from("<I", part(symbols), k)[0]) for k in range(0, symbols.size, 24)]
    said: dict[int, dict[str, int]] = defaultdict(dict)
    for section in sections:
        if section.name == ".nv.info":
            for number, value in _attributes(part(section)):
                if number in (FRAME_SIZE, MIN_STACK_SIZE, REGISTERS):
                    symbol, amount = struct.unpack("<II", value)
                    said[number][names[symbol]] = amount
    shared = {s.name.removeprefix(".nv.shared."): s.size for s in sections if s.name.startswith(".nv.shared.")}
    found = []
    for section in sections:
        if section.name.startswith(".text."):
            name = section.name.removeprefix(".text.")
            registers = said[REGISTERS].get(name) or section.info >> 24
            found.append(Kernel(name, registers, said[FRAME_SIZE].get(name, 0), shared.get(name, 0)))
    return found


def loads_of(ptx: str) -> dict[str, tuple[int, int]]:
    r"""Return, for each kernel of a program in PTX, how many accesses of memory there are, and how many are wide.

    Examples
    --------
    >>> loads_of(".entry f(\n ld.global.v4.f32 {a,b,c,d}, [x];\n st.global.f32 [x], a;\n}")
    {'f': (2, 1)}
    """
    found = {}
    for part in re.split(r"\.entry\s+", ptx)[1:]:
        name = re.match(r"\w+", part)
        assert name is not None
        found[name[0]] = len(_LOAD.findall(part)), len([w for w in _WIDE.findall(part) if ".global" in w])
    return found


class Row(NamedTuple):
    """A kind of kernels, with the largest numbers of all its programs."""

    kind: str
    count: int
    registers: int
    stack: int
    with_stack: int
    shared: int
    accesses: int
    wide: int


def measured(path: Path, capability: int) -> list[tuple[Kernel, tuple[int, int]]]:
    """Return what each kernel of a program needs, and its accesses to memory: all, and the wide ones."""
    text = prelude("cuda") + path.read_text()
    loads = loads_of(ptx_cuda(text, capability))
    return [(kernel, loads.get(kernel.name, (0, 0))) for kernel in kernels_of(compile_cuda(text, capability))]


def rows(folder: Path, capability: int) -> list[Row]:
    """Return a row for each name of a kernel in the programs of a folder."""
    by_name: dict[str, list[tuple[Kernel, tuple[int, int]]]] = defaultdict(list)
    with ProcessPoolExecutor() as pool:
        for found in pool.map(partial(measured, capability=capability), sorted(folder.glob("*.cl"))):
            for kernel, loads in found:
                by_name[kernel.name].append((kernel, loads))
    made = []
    for name, found in sorted(by_name.items()):
        kernels = [kernel for kernel, _ in found]
        made.append(
            Row(
                name, len(found), max(k.registers for k in kernels), max(k.stack for k in kernels),
                sum(k.stack > 0 for k in kernels), max(k.shared for k in kernels),
                sum(loads[0] for _, loads in found), sum(loads[1] for _, loads in found),
            )
        )  # fmt: skip
    return made


def kernels(folder: Path) -> list[dict[str, Any]]:
    """Return an entry for each name of a kernel: how many programs have it, and its numbers for each capability."""
    by_capability = [{row.kind: row for row in rows(folder, capability)} for capability in CAPABILITIES]
    found = []
    for kind, first in by_capability[0].items():
        both = [numbers[kind] for numbers in by_capability if kind in numbers]
        values = {field: list(dict.fromkeys(getattr(row, field) for row in both)) for field in Row._fields[2:]}
        found.append({"kernel": kind, "programs": first.count, **values})
    return found


def main() -> None:
    """Print what is found, one kernel in a line, or write it as data of the documentation."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if not any(given.sources.glob("*.cl")):
        sys.exit(f"{given.sources} has no programs: GPU_TEST_SOURCES={given.sources} pytest packages/gpu-backend/tests")
    head = f'"date": "{date.today()}", "capabilities": {json.dumps(CAPABILITIES)}'
    text = f'{{{head}, "kernels": [\n' + ",\n".join(map(json.dumps, kernels(given.sources))) + "\n]}\n"
    print(text)
    if given.write:
        DATA.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
