"""Defaults that are found on the machine, each worked out when its flag is first read.

Nothing here starts a process or writes a file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

Lookup = Callable[[str], Any]

FORMAT_KEYS = (
    "device",
    "gxx_version",
    "hostname",
    "numpy_version",
    "platform",
    "processor",
    "python_bitwidth",
    "python_int_bitwidth",
    "python_version",
    "short_platform",
    "theano_version",
)


def compiler(given: Lookup) -> str:
    """Return the first C compiler on the path, or "" if none is found."""
    from shutil import which  # its import costs as much as reading all flags does

    wanted = os.environ.get("CC", "").strip()
    names = ([wanted] if wanted else []) + ["cc", "gcc", "clang", "c++", "g++", "cl"]
    return next((found for found in map(which, names) if found), "")


def base_compiledir(given: Lookup) -> str:
    """Return the user's cache directory for theano; "" where the user has none."""
    import platformdirs  # needed only when something is compiled or this flag is printed

    path = platformdirs.user_cache_dir("theano", appauthor=False)
    return path if os.path.isabs(path) else ""


def compiledir(given: Lookup) -> str:
    """Return the directory of compiled code: the user's own one unless a flag says otherwise."""
    layout = given("compiledir_format")
    base = (given("base_compiledir") or "").partition(os.pathsep)[0]  # those that follow are only read
    if layout is not None:
        return os.path.join(base or base_compiledir(given), layout % _machine(given))
    return os.path.join(base, "compiled") if base else base_compiledir(given)


def gpu_kernels(given: Lookup) -> str:
    """Return the directory of GPU kernels, inside that of compiled code."""
    base = given("compiledir") or compiledir(given)
    return os.path.join(base, "gpuarray_kernels") if base else ""


def cuda_root(given: Lookup) -> str:
    """Return where CUDA says that it is."""
    return os.environ.get("CUDA_ROOT") or os.environ.get("CUDA_HOME") or ""


def cuda_include(given: Lookup) -> str:
    """Return where CUDA's headers should be."""
    root = given("cuda.root") or cuda_root(given)
    return os.path.join(root, "include") if root else ""


def _machine(given: Lookup) -> dict[str, object]:
    import platform  # costs several milliseconds, and few users set the flag that needs it
    from importlib.metadata import PackageNotFoundError, version

    def installed(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "none"

    values: dict[str, object] = dict.fromkeys(FORMAT_KEYS, "")
    bits = 64 if sys.maxsize > 2**32 else 32
    return values | {
        "device": given("device") or "cpu",
        # The compiler's version is part of the name of each compiled file, and asking for it starts a process.
        "gxx_version": "any",
        "hostname": platform.node(),
        "numpy_version": installed("numpy"),
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "python_bitwidth": bits,
        "python_int_bitwidth": bits,
        "python_version": platform.python_version(),
        "short_platform": f"{platform.system()}-{platform.release()}",
        "theano_version": installed("theano-graph-core"),
    }
