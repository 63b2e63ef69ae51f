"""Run kernels without the loader: compile them with the system compiler, call them on NumPy arrays.

The same kernels run through the real loader in ``test_kernels_loader.py``; here every failure is this package's own.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import timeit
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from struct import pack

import numpy as np
from kernel_toys import node

import theano.loader
import theano.scalar
from theano.graph.kernel import Builtin, Kernel
from theano.graph.parameters import header
from theano.graph.variable import Constant
from theano.tensor.kernels import common, parameters, reduction
from theano.tensor.kernels.common import DRIVERS, DTYPE_CODES

HERE = Path(__file__).parent
ABI = Path(next(iter(theano.loader.__path__))) / "abi.h"
COMMON_C = Path(common.__file__).parent / "c"
C_FOLDERS = sorted(COMMON_C.parents[1].glob("*/c"))
C_SOURCES = sorted(path for folder in C_FOLDERS for path in folder.glob("*.[ch]"))
INCLUDES = [f"-I{ABI.parent}", f"-I{Path(next(iter(theano.scalar.__path__)))}", *(f"-I{folder}" for folder in C_FOLDERS)]
COMPILER = os.environ.get("CC", "gcc")
HEADERS = "#include <complex.h>\n#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n"
FLAGS = "-std=gnu11 -fPIC -shared -O3 -march=native -fno-math-errno -fno-trapping-math".split()
if platform.machine() == "x86_64":
    FLAGS.append("-mprefer-vector-width=512")
FLAGS += "-ffp-contract=off -fwrapv -fno-strict-aliasing -fopenmp-simd -g0".split()
# More flags for everything compiled here: the test of sanitizers runs the others with some.
EXTRA = os.environ.get("KERNEL_TEST_FLAGS", "").split()
FLAGS += EXTRA
# Folders of families that are left out of the library, since nothing that runs needs them.
WITHOUT = os.environ.get("KERNEL_TEST_WITHOUT", "").split()
KINDS = {1: ValueError, 2: IndexError, 3: TypeError, 4: MemoryError, 5: ZeroDivisionError, 6: AssertionError}
KINDS[7], KINDS[8] = np.linalg.LinAlgError, ValueError
SCRATCH = Path(os.environ.get("KERNEL_TEST_SCRATCH") or tempfile.mkdtemp(prefix="kernels-"))
INCLUDES.append(f"-I{SCRATCH}")
for _declared in (parameters, reduction):
    _name = _declared.__name__.rpartition(".")[2]
    (SCRATCH / f"{_name}.{os.getpid()}").write_text(header(vars(_declared), f"{_name}.py"))
    os.replace(SCRATCH / f"{_name}.{os.getpid()}", SCRATCH / f"{_name}.h")


class Buffer(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("itemsize", ctypes.c_int64),
        ("priv", ctypes.c_void_p),
        ("device", ctypes.c_void_p),
    ]


def compile_text(text: str, extra: tuple[str, ...] = ()) -> ctypes.CDLL:
    """Compile C text to a library in the scratch directory (once per text) and load it."""
    key = hashlib.sha256("\0".join([text, ABI.read_text(), *FLAGS, *extra]).encode()).hexdigest()[:24]
    path = SCRATCH / f"{key}.so"
    if not path.exists():
        source = path.with_suffix(".c")
        source.write_text(text)
        part = path.with_suffix(f".{os.getpid()}")
        command = [COMPILER, *FLAGS, *extra, f"-I{ABI.parent}", str(source), "-o", str(part), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{done.stderr[:3000]}\n{source}")
        os.replace(part, path)
    return ctypes.CDLL(str(path))


def unit_text(kernels: list[Kernel]) -> str:
    """Return a C unit of some kernels, named k0, k1, ..."""
    blocks = dict.fromkeys(block for k in kernels for block in k.support)
    return "\n".join([HEADERS, '#include "abi.h"', *blocks, *(k.with_symbol(f"k{i}") for i, k in enumerate(kernels))])


@cache
def runtime() -> ctypes.CDLL:
    return compile_text((HERE / "harness.c").read_text())


@cache
def builtin_library(path: str) -> ctypes.CDLL:
    """Load the library shipped with the layer; with extra flags, one built from the same sources with these flags."""
    return ctypes.CDLL(build_library(()) if EXTRA else path)


@cache
def small_library() -> str:
    """Return a library of the same sources with the sizes of ``small_blocks.h``, quickly compiled."""
    return build_library(("-O1", f"-I{HERE}", '-DTH_BLOCKS="small_blocks.h"'))


def build_library(flags: tuple[str, ...]) -> str:
    """Compile the sources of the layer's library, file by file, since compilers' caches know no other way."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        sources = [p for p in C_SOURCES if p.suffix == ".c" and p.name != "module.c" and p.parents[1].name not in WITHOUT]
        objects = [str(Path(folder) / f"{p.stem}.o") for p in sources]
        compiler = [*([found] if (found := shutil.which("ccache")) else []), COMPILER, *FLAGS, *flags, *INCLUDES, "-c"]
        with ThreadPoolExecutor(2) as pool:
            for done in pool.map(
                lambda pair: subprocess.run([*compiler, str(pair[0]), "-o", pair[1]], capture_output=True, text=True),
                zip(sources, objects, strict=True),
            ):
                assert done.returncode == 0, done.stderr[:3000]
        built = SCRATCH / f"builtin-{os.getpid()}-{len(flags)}.so"
        subprocess.run([COMPILER, *FLAGS, *objects, "-o", str(built), "-lm"], check=True)
    return str(built)


@contextmanager
def kernels_of(library: str) -> Iterator[None]:
    """Within this, kernels of the layer come from another library, and so does the driver of generated reductions."""
    _taken.append(library)
    try:
        yield
    finally:
        _taken.pop()


_taken: list[str] = []


def compile_many(kernels: list[Kernel | Builtin]) -> None:
    """Compile kernels as one unit, for later calls of `run`; those built ahead need nothing."""
    fresh = [k for k in dict.fromkeys(kernels) if isinstance(k, Kernel) and (k.source, k.support) not in _compiled]
    if fresh:
        library = compile_text(unit_text(fresh))
        for i, kernel in enumerate(fresh):
            _compiled[kernel.source, kernel.support] = getattr(library, f"k{i}")


_compiled: dict = {}


def address(kernel: Kernel | Builtin):
    if isinstance(kernel, Builtin):
        return getattr(ctypes.CDLL(_taken[-1]) if _taken else builtin_library(kernel.library), kernel.symbol)
    compile_many([kernel])
    return _compiled[kernel.source, kernel.support]


def params_of(kernel: Kernel | Builtin) -> bytes:
    """Return the parameters of a kernel, with the drivers of the library that kernels come from."""
    params = kernel.packed
    for offset, name in kernel.places if _taken else ():
        symbol = name.partition(":")[2]
        if symbol in DRIVERS:
            driver = ctypes.cast(getattr(ctypes.CDLL(_taken[-1]), symbol), ctypes.c_void_p).value or 0
            params = params[:offset] + pack("=q", driver) + params[offset + 8 :]
    return params


def as_buffer(array: np.ndarray | Constant) -> Buffer:
    if isinstance(array, Constant):
        # What is no array comes without data.
        return Buffer(None, 0, 0, None, None, 0, None)
    n = array.ndim
    shape = (ctypes.c_int64 * max(n, 1))(*array.shape)
    strides = (ctypes.c_int64 * max(n, 1))(*array.strides)
    return Buffer(array.ctypes.data, n, DTYPE_CODES[array.dtype.name], shape, strides, array.itemsize, None)


def empty_buffer(variable) -> Buffer:
    n = getattr(variable.type, "ndim", 0)
    buffer = ctypes.c_int64 * max(n, 1)
    dtype = variable.type.dtype
    return Buffer(None, n, DTYPE_CODES[dtype], buffer(), buffer(), np.dtype(dtype).itemsize, None)


def to_array(buffer: Buffer, dtype: str) -> np.ndarray:
    """Return a window on a buffer's memory."""
    shape, strides = buffer.shape[: buffer.ndim], buffer.strides[: buffer.ndim]
    if 0 in shape:
        return np.empty(shape, dtype)
    low = sum(min(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True))
    high = sum(max(0, s * (n - 1)) for s, n in zip(strides, shape, strict=True)) + np.dtype(dtype).itemsize
    raw = (ctypes.c_char * (high - low)).from_address(buffer.data + low)
    return np.ndarray(shape, dtype, raw, -low, strides)


class Result(list):
    """The outputs of one run.

    `pieces` counts the parts of parallel loops, `views` are the outputs in inputs' memory, `shares` says for each
    output in the memory of which inputs it lies.
    """

    pieces = 0
    views: tuple[bool, ...] = ()
    shares: tuple[set[int], ...] = ()


def run(kernel: Kernel | Builtin, node, inputs: list[np.ndarray]) -> Result:
    """Run a kernel on arrays; raise its error as the exception that users would see."""
    ins, outs = [as_buffer(a) for a in inputs], [empty_buffer(v) for v in node.outputs]
    pointers = [(ctypes.POINTER(Buffer) * max(len(b), 1))(*map(ctypes.pointer, b)) for b in (ins, outs)]
    message, kind, pieces = ctypes.create_string_buffer(512), ctypes.c_int(), ctypes.c_int()
    bytes_ = params_of(kernel)
    params = ctypes.create_string_buffer(bytes_, len(bytes_) or 1)
    code = runtime().run_kernel(
        address(kernel), params, len(ins), pointers[0], len(outs), pointers[1],
        message, ctypes.byref(kind), ctypes.byref(pieces),
    )  # fmt: skip
    if code:
        raise KINDS[kind.value](message.value.decode())
    found = [to_array(b, v.type.dtype) for b, v in zip(outs, node.outputs, strict=True)]
    result = Result(f.copy() for f in found)
    arrays = [(i, a) for i, a in enumerate(inputs) if isinstance(a, np.ndarray)]
    result.shares = tuple({i for i, a in arrays if f.size and np.may_share_memory(f, a)} for f in found)
    result.pieces = pieces.value
    result.views = tuple(not b.priv for b in outs)
    for b in outs:
        if b.priv:
            runtime().release(ctypes.c_void_p(b.priv))
    return result


def scalar(value, dtype: str = "int64") -> np.ndarray:
    """Return a number as an array without dimensions."""
    return np.asarray(value, dtype)


def call(kernel_of, op, inputs: list, *outputs: tuple) -> Result:
    """Run the kernel that ``kernel_of`` makes of a node with these inputs and outputs (dtype, ndim)."""
    n = node(op, inputs, list(outputs))
    kernel = kernel_of(op, n)
    assert kernel is not None
    return run(kernel, n, inputs)


def time_kernel(kernel: Kernel | Builtin, node, inputs: list[np.ndarray], seconds: float = 0.2) -> float:
    """Return the nanoseconds of one call, outputs kept between calls: the best of several rounds."""
    ins, outs = [as_buffer(a) for a in inputs], [empty_buffer(v) for v in node.outputs]
    pointers = [(ctypes.POINTER(Buffer) * max(len(b), 1))(*map(ctypes.pointer, b)) for b in (ins, outs)]
    params = ctypes.create_string_buffer(kernel.packed, len(kernel.packed) or 1)
    arguments = (address(kernel), params, len(ins), pointers[0], len(outs), pointers[1])
    call = runtime().repeat_kernel
    times = 1

    def spent(count: int) -> float:
        return timeit.timeit(lambda: call(*arguments, ctypes.c_int64(count)), number=1)

    while spent(times) < seconds / 20:
        times *= 4
    return min(spent(times) for _ in range(12)) / times * 1e9
