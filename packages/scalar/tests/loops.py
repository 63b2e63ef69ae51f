"""Running the C form of operations in small loops over arrays."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from once import alone
from theano.scalar import ctypes as c

# A thousand loops are compiled: not at the level that kernels are, which test_maths and the slow test use.
FLAGS = ["-O1", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
STRICT = ["-Wall", "-Wextra", "-Werror"]
INCLUDES = "".join(f"#include <{name}.h>\n" for name in ("stdint", "stddef", "string", "math", "complex"))


class Case(NamedTuple):
    """An operation, the dtypes it is applied to, and the dtypes that come out."""

    op: Any
    ins: tuple[str, ...]
    outs: tuple[str, ...]


class Loops:
    """Operations compiled as loops over one-dimensional arrays, all in one library.

    What a folder has already, of the same text and flags, is not compiled again, by no other process either.
    """

    def __init__(self, folder: Path, cases: Sequence[Case], flags: Sequence[str] = FLAGS):
        self.symbols: dict[Case, str | None] = {}
        self.source = self._write(cases)
        stem = hashlib.sha256("\0".join([self.source, *flags]).encode()).hexdigest()[:16]
        library = folder / f"{stem}.so"
        with alone(library):
            if not library.exists():
                self._compile(library, flags)
        self.library = ctypes.CDLL(str(library))

    def _compile(self, library: Path, flags: Sequence[str]) -> None:
        source, part = library.with_suffix(".c"), library.with_suffix(".part")
        source.write_text(self.source)
        command = ["gcc", *flags, *STRICT, "-shared", "-fPIC", "-o", str(part), str(source), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:4000]
        part.replace(library)

    def _write(self, cases: Sequence[Case]) -> str:
        support: dict[str, None] = {}
        loops = []
        for number, case in enumerate(cases):
            ins, outs = [f"a{i}" for i in range(len(case.ins))], [f"z{i}" for i in range(len(case.outs))]
            body = case.op.c_statements(ins, case.ins, outs, case.outs)
            self.symbols[case] = None if body is None else f"loop_{number}"
            if body is None:
                continue
            support.update(dict.fromkeys((*body.support, *c.storage_support(*case.ins, *case.outs))))
            lines = [f"/* {case.op} {case.ins} */", f"void loop_{number}(int64_t n, char **args)", "{"]
            for i, dtype in enumerate((*case.ins, *case.outs)):
                lines.append(f"    {c.c_type(dtype)} *p{i} = ({c.c_type(dtype)} *)args[{i}];")
            lines.append("    for (int64_t i = 0; i < n; i++) {")
            for i, (name, dtype) in enumerate(zip(ins, case.ins, strict=True)):
                lines.append(f"        {c.compute_type(dtype)} {name} = {c.load(dtype, f'p{i}[i]')}; (void){name};")
            lines += [f"        {c.compute_type(dtype)} {name};" for name, dtype in zip(outs, case.outs, strict=True)]
            lines += [f"        {line}" for line in body.lines]
            for i, (name, dtype) in enumerate(zip(outs, case.outs, strict=True), len(ins)):
                lines.append("        " + c.store(dtype, f"p{i}[i]", name))
            loops += [*lines, "    }", "}", ""]
        return INCLUDES + "".join(support) + "\n".join(loops)

    def __call__(self, case: Case, *arrays: np.ndarray) -> list[np.ndarray]:
        """Return the outputs of one operation for arrays of one length."""
        size = arrays[0].size
        inputs = [np.ascontiguousarray(a, dtype) for a, dtype in zip(arrays, case.ins, strict=True)]
        outputs = [np.zeros(size, dtype) for dtype in case.outs]
        pointers = (ctypes.c_void_p * (len(inputs) + len(outputs)))(*[a.ctypes.data for a in (*inputs, *outputs)])
        getattr(self.library, self.symbols[case])(ctypes.c_int64(size), pointers)
        return outputs
