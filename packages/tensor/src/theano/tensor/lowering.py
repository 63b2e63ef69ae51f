"""What this layer's kernels need known before any of them is loaded: where they are, and how their pointers are found.

The modules in `theano.tensor.kernels` bring in the entries of the lowering table when the first op of a family is
lowered. A program that comes out of the cache lowers nothing, but needs the addresses that its kernels were handed.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from theano.codegen.kernel import register_pointers
from theano.graph.canonical import register_fact
from theano.lowering.table import register_modules
from theano.toolchain.checks import Line, register_check

_KERNELS = "theano.tensor.kernels"


def _of(module: str, name: str, *args: Any) -> Any:
    """Call a function of a module of kernels, which is loaded for it."""
    return getattr(importlib.import_module(f"{_KERNELS}.{module}"), name)(*args)


def _blas() -> str:
    return str(_of("blas_library", "find_blas").identity)


def _doctor() -> Iterable[Line]:
    lines: Iterable[Line] = _of("blas", "doctor")
    return lines


#: For modules and packages of ops, the modules of kernels that have their entries.
MODULES = {
    "arange": "layout", "blas": "blas", "checks": "layout", "choice": "layout", "contiguous": "layout",
    "create": "layout", "elemwise.careduce": "reduce", "elemwise.dimshuffle": "layout",
    "elemwise.map_reduce": "reduce", "elemwise.op": "elemwise", "extra_ops": ("layout", "order"), "fft": "fft",
    "index": "index", "join": "layout", "linalg": "lapack", "nnet": "nnet", "reduce.argmax": "argmax",
    "reduce.logsumexp": "reduce", "sets": "order", "shape": "layout", "sort": "order", "transfer": "index",
}  # fmt: skip

for _place, _names in MODULES.items():
    _modules = (_names,) if isinstance(_names, str) else _names
    register_modules({f"theano.tensor.{_place}": tuple(f"{_KERNELS}.{name}" for name in _modules)})

register_pointers("blas", lambda name: _of("blas_library", "find_pointer", name), _blas)
register_pointers("lapack", lambda name: _of("lapack", "find_pointer", name), _blas)
register_pointers("sort", lambda name: _of("order", "find_sort", name), lambda: f"numpy {np.__version__}")
register_pointers("drivers", lambda name: _of("common", "find_driver", name), lambda: "")
register_fact("levels of the kernel library", lambda: " ".join(_of("common", "library_paths")))
register_check("BLAS", _doctor)
