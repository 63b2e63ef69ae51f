"""Let the compiler generate C of every kind, and keep it, for trials of other compilers (``cross.py``).

    python tools/generated.py FOLDER

The cache keeps the C text of what it has compiled. So this compiles, with an empty cache in FOLDER, what the tests and
the documentation have of each kind: all functions of elements over dtypes, the table of expressions with their
gradients, a kernel of every family, and what the pages type in, such as loops, random numbers, sparse matrices, and ops
with C of users. The tables are those of the tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "packages" / "tensor" / "tests"
DTYPES = ("bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128")
PAGES = (
    *(f"docs/tutorial/{name}.md" for name in ("conditions", "convolution", "gradients", "linear_algebra", "loops")),
    *(f"docs/tutorial/{name}.md" for name in ("networks", "random", "recurrent", "sparse", "training")),
    *("docs/extending/c_ops.md", "docs/cheat_sheet.md", "docs/library/random.md", "docs/library/sparse.md"),
)


def run(code: str, folder: Path) -> None:
    """Run a function of this file, or the pages, in a process that keeps its compiled code in a folder."""
    paths = (TESTS, TESTS / "kernels", ROOT / "packages" / "sparse" / "tests", ROOT / "tools", ROOT / "docs")
    flags = f"base_compiledir={folder},gcc.cxxflags=-O0,compile.progress=never"  # only the text is wanted
    variables = {**os.environ, "THEANO_FLAGS": flags, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=variables, check=True)


def elements() -> None:
    """Compile each function of elements over the dtypes that it takes, for each dtype in one function."""
    import theano
    import theano.tensor as T
    from theano import scalar

    ops = {op for op in vars(scalar).values() if isinstance(op, scalar.ScalarOp) and op.nin > 0}
    for dtype in DTYPES:
        xs = [T.TensorType(dtype, (False,) * 2)(f"x{i}") for i in range(4)]
        outputs = []
        for op in sorted(ops, key=str):
            try:
                outputs.append(T.elemwise.Elemwise(op)(*xs[: op.nin]))
            except TypeError:  # the op is not for this dtype
                continue
        theano.function(xs, outputs, mode=theano.compile.Mode(linker="c|py", optimizer=None), on_unused_input="ignore")


def expressions() -> None:
    """Compile the table of expressions, each with its gradient."""
    from cases import CASES
    from cases_ops import OP_CASES

    import theano

    for case in (*CASES, *OP_CASES):
        variables = case.variables()
        outputs = [case.build(*variables)]
        if case.smooth:
            wrt = [v for v in variables if v.dtype == "float64"]
            outputs += theano.grad(outputs[0].sum(), wrt, disconnected_inputs="ignore")
        theano.function(variables, outputs, on_unused_input="ignore")


def families() -> None:
    """Compile a kernel or a few of each family."""
    from families import everything

    from theano.cache.store import CacheSettings
    from theano.codegen.unit import compile_kernels
    from theano.graph.kernel import Kernel
    from theano.settings import config

    kernels = [k for k, _, _ in everything() if isinstance(k, Kernel)]
    compile_kernels(kernels, cache=CacheSettings.from_config(config))


def texts(folder: Path) -> Iterator[Path]:
    """Yield the generated texts in a folder, named by their language: kernels are C, ops of users C++."""
    for path in sorted(folder.rglob("*.c")):
        cxx = "#include <Python.h>" in path.read_text(encoding="utf-8", errors="surrogateescape")
        yield path.rename(path.with_suffix(".cpp")) if cxx else path


def generate(folder: Path) -> list[Path]:
    """Fill an empty folder, and return what is in it."""
    for name in ("elements", "expressions", "families"):
        run(f"import generated; generated.{name}()", folder)
    pytest = ["-q", "--no-header", "-p", "no:cacheprovider", "-p", "doc_blocks", *PAGES]
    run(f"import pytest, sys; sys.exit(pytest.main({pytest!r}))", folder)
    return list(texts(folder))


if __name__ == "__main__":
    print(f"{len(generate(Path(sys.argv[1])))} units of generated code in {sys.argv[1]}")
