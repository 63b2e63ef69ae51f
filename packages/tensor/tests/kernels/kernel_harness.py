"""Run kernels without the loader: compile them with the system compiler, call them on NumPy arrays.

The same kernels run through the real loader in ``test_kernels_loader.py``; here every failure is this package's own.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from kernel_toys import Toy, node

import theano.loader
import theano.scalar
from once import alone
from theano.graph.apply import Apply
from theano.graph.kernel import Builtin, Kernel
from theano.graph.variable import Constant
from theano.tensor import exports
from theano.tensor.kernels import common
from theano.tensor.kernels.common import DRIVERS, DTYPE_CODES

HERE = Path(__file__).parent
ABI = Path(next(iter(theano.loader.__path__))) / "abi.h"
COMMON_C = Path(common.__file__).parent / "c"
C_FOLDERS = sorted(COMMON_C.parents[1].glob("*/c"))
C_SOURCES = sorted(path for folder in C_FOLDERS for path in folder.glob("*.[ch]"))
INCLUDES = [f"-I{ABI.parent}", *(f"-I{folder}" for folder in C_FOLDERS)]
COMPILER = os.environ.get("CC", "gcc")
HEADERS = "#include <complex.h>\n#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n"
# At -O1 gcc takes half the time of -O3, which users' kernels have; loops that are marked so become vectors here too.
FLAGS = "-std=gnu11 -fPIC -shared -O1 -march=native -fno-math-errno -fno-trapping-math".split()
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
# Processes of one run of pytest-xdist share what is compiled.
_RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID")
SCRATCH = Path(tempfile.gettempdir(), f"kernels-{_RUN}") if _RUN else Path(tempfile.mkdtemp(prefix="kernels-"))
SCRATCH.mkdir(exist_ok=True)
INCLUDES.append(f"-I{SCRATCH}")
for _name, _text in exports.sources("").written.items():
    (SCRATCH / _name).parent.mkdir(exist_ok=True)
    (SCRATCH / f"{_name}.{os.getpid()}").write_text(_text)
    os.replace(SCRATCH / f"{_name}.{os.getpid()}", SCRATCH / _name)


# A th_buffer of abi.h: data, ndim, dtype, shape, strides, itemsize, priv, device.
_BUFFER = struct.Struct("=qiiqqqqq")
_DTYPES = [np.dtype(name) for name in DTYPE_CODES]
_CODES = {dtype: (DTYPE_CODES[dtype.name], dtype.itemsize) for dtype in _DTYPES}


def compile_text(text: str, extra: tuple[str, ...] = ()) -> ctypes.CDLL:
    """Compile C text to a library in the scratch directory (once per text) and load it."""
    key = hashlib.sha256("\0".join([text, ABI.read_text(), *FLAGS, *extra]).encode()).hexdigest()[:24]
    path = SCRATCH / f"{key}.so"
    with alone(path):
        if not path.exists():
            source, part = path.with_suffix(".c"), path.with_suffix(".part")
            source.write_text(text)
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
    """Return a library of the same sources with the sizes of ``small_blocks.h``, quickly compiled.

    Without any optimisation but where tests compute so much that it pays.
    """
    return build_library(("-O0", f"-I{HERE}", '-DTH_BLOCKS="small_blocks.h"'), dict.fromkeys(("blas", "conv", "linalg"), "-O1"))


def build_library(flags: tuple[str, ...], of_families: Mapping[str, str] = MappingProxyType({})) -> str:
    """Compile the sources of the layer's library, once for all processes of a run."""
    key = hashlib.sha256(repr((FLAGS, flags, of_families, WITHOUT)).encode()).hexdigest()[:24]
    built = SCRATCH / f"builtin-{key}.so"
    with alone(built):
        if not built.exists():
            _compile_library(built, flags, of_families)
    return str(built)


def _compile_library(built: Path, flags: tuple[str, ...], of_families: Mapping[str, str]) -> None:
    """Compile file by file, since compilers' caches know no other way."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        sources = [p for p in C_SOURCES if p.suffix == ".c" and p.name != "module.c" and p.parents[1].name not in WITHOUT]
        objects = [str(Path(folder) / f"{p.stem}.o") for p in sources]
        compiler = [*([found] if (found := shutil.which("ccache")) else []), COMPILER, *FLAGS, *flags, *INCLUDES, "-c"]
        own = [of_families.get(p.parents[1].name, "-c") for p in sources]
        commands = [[*compiler, o, str(p), "-o", made] for o, p, made in zip(own, sources, objects, strict=True)]
        with ThreadPoolExecutor(2) as pool:
            for done in pool.map(lambda command: subprocess.run(command, capture_output=True, text=True), commands):
                assert done.returncode == 0, done.stderr[:3000]
        part = Path(folder) / "builtin.so"
        subprocess.run([COMPILER, *FLAGS, *objects, "-o", str(part), "-lm"], check=True)
        os.replace(part, built)


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
        try:
            library = compile_text(unit_text(fresh))
        except RuntimeError:
            if len(fresh) == 1:
                raise
            return  # each is compiled alone when it is run, so that the failure is that of its case
        for i, kernel in enumerate(fresh):
            _compiled[kernel.source, kernel.support] = getattr(library, f"k{i}")


_compiled: dict = {}


@cache
def _symbol(library: str, symbol: str):
    """Return a function of a library; to open it for each call takes longer than most calls."""
    return getattr(ctypes.CDLL(library), symbol)


def address(kernel: Kernel | Builtin):
    if isinstance(kernel, Builtin):
        return _symbol(_taken[-1], kernel.symbol) if _taken else getattr(builtin_library(kernel.library), kernel.symbol)
    compile_many([kernel])
    return _compiled[kernel.source, kernel.support]


def params_of(kernel: Kernel | Builtin) -> bytes:
    """Return the parameters of a kernel, with the drivers of the library that kernels come from."""
    params = kernel.packed
    for offset, name in kernel.places if _taken else ():
        symbol = name.partition(":")[2]
        if symbol in DRIVERS:
            driver = ctypes.cast(_symbol(_taken[-1], symbol), ctypes.c_void_p).value or 0
            params = params[:offset] + struct.pack("=q", driver) + params[offset + 8 :]
    return params


class Buffers:
    """The buffers of one call: of inputs, which are arrays or constants, and of outputs, which kernels fill in."""

    def __init__(self, inputs: list[np.ndarray | Constant], outputs: list):
        self.types = [(np.dtype(v.type.dtype), getattr(v.type, "ndim", 0)) for v in outputs]
        self.counts = len(inputs), len(outputs)
        given = [(0, 0, 0, 0, (), ()) if isinstance(a, Constant) else _described(a) for a in inputs]  # no array: no data
        given += [(0, n, *_CODES[dtype], (0,) * n, (0,) * n) for dtype, n in self.types]
        # The buffers, then their shapes and strides.
        self.places, lengths, size = [], [], _BUFFER.size * len(given)
        for _, n, _, _, shape, strides in given:
            self.places.append(size)
            lengths += (*shape, *strides)
            size += 16 * n
        self.memory = ctypes.create_string_buffer(size or 1)
        self.address = start = ctypes.addressof(self.memory)
        for i, ((data, n, code, itemsize, _, _), place) in enumerate(zip(given, self.places, strict=True)):
            at = start + place
            _BUFFER.pack_into(self.memory, _BUFFER.size * i, data, n, code, at, at + 8 * n, itemsize, 0, 0)
        struct.pack_into(f"={len(lengths)}q", self.memory, _BUFFER.size * len(given), *lengths)

    def arguments(self, kernel: Kernel | Builtin) -> tuple:
        """Return what the functions of ``harness.c`` take first."""
        inputs, outputs = self.counts
        at = ctypes.c_void_p(self.address), ctypes.c_void_p(self.address + _BUFFER.size * inputs)
        return address(kernel), params_of(kernel), inputs, at[0], outputs, at[1]

    def outputs(self) -> Iterator[tuple[np.ndarray, int]]:
        """Yield windows on the memory of the outputs, with what is to be released: 0 for views."""
        inputs = self.counts[0]
        for i, (dtype, n) in enumerate(self.types, inputs):
            data, _, _, _, _, _, owned, _ = _BUFFER.unpack_from(self.memory, _BUFFER.size * i)
            lengths = struct.unpack_from(f"={2 * n}q", self.memory, self.places[i])
            yield _window(data, lengths[:n], lengths[n:], dtype), owned


def _described(array: np.ndarray) -> tuple:
    code, itemsize = _CODES[array.dtype]
    return array.__array_interface__["data"][0], array.ndim, code, itemsize, array.shape, array.strides


def _window(data: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if 0 in shape:
        return np.empty(shape, dtype)
    ends = [s * (n - 1) for s, n in zip(strides, shape, strict=True)]
    low = sum(min(0, end) for end in ends)
    high = sum(max(0, end) for end in ends) + dtype.itemsize
    raw = (ctypes.c_char * (high - low)).from_address(data + low)
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
    buffers = Buffers(inputs, node.outputs)
    message, kind, pieces = ctypes.create_string_buffer(512), ctypes.c_int(), ctypes.c_int()
    code = runtime().run_kernel(*buffers.arguments(kernel), message, ctypes.byref(kind), ctypes.byref(pieces))
    if code:
        raise KINDS[kind.value](message.value.decode())
    found = list(buffers.outputs())
    result = Result(f.copy() for f, _ in found)
    arrays = [(i, a) for i, a in enumerate(inputs) if isinstance(a, np.ndarray)]
    result.shares = tuple({i for i, a in arrays if f.size and np.may_share_memory(f, a)} for f, _ in found)
    result.pieces = pieces.value
    result.views = tuple(not owned for _, owned in found)
    for _, owned in found:
        if owned:
            runtime().release(ctypes.c_void_p(owned))
    return result


def equal(got: np.ndarray, want: np.ndarray, *what: object) -> None:
    """Hold an array to another one; ``what`` says where they differ."""
    if not np.array_equal(got, want):  # nan is not: then more is looked at
        np.testing.assert_array_equal(got, want, err_msg=" ".join(map(str, what)))


def scalar(value, dtype: str = "int64") -> np.ndarray:
    """Return a number as an array without dimensions."""
    return np.asarray(value, dtype)


def call(kernel_of, op, inputs: list, *outputs: tuple) -> Result:
    """Run the kernel that ``kernel_of`` makes of a node with these inputs and outputs (dtype, ndim)."""
    n = known_node(op, inputs, list(outputs))
    kernel = kernel_of(op, n)
    assert kernel is not None
    return run(kernel, n, inputs)


def known_node(op, inputs: list, outputs: list[tuple]) -> Apply:
    """Return the node that `node` makes: the same one for ops, dtypes and patterns that are the same."""
    if type(op) is not Toy or not all(type(i) is np.ndarray for i in inputs):
        return node(op, inputs, outputs)
    key = repr(vars(op)), *((i.dtype, i.ndim) for i in inputs), *outputs
    if key not in _nodes:
        _nodes[key] = node(op, inputs, outputs)
    return _nodes[key]


_nodes: dict[tuple, Apply] = {}
