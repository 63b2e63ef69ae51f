"""What the layer of arrays says of itself before it is imported, and of its kernels before any of them is loaded.

The modules ``lowering`` of the families bring in the entries of the lowering table when the first op of a family is
lowered. A program that comes out of the cache lowers nothing, but needs the addresses that its kernels were handed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from theano.batching import conform, loop, sources
from theano.compile.shared import constructors
from theano.extensions import extension
from theano.graph.canonical import derived_tags, fact_finders
from theano.graph.pointers import PointerFamily, pointer_families
from theano.layers import CHECKS, LOWERINGS, RULES, Layer, describe

if TYPE_CHECKING:
    from theano.toolchain.checks import Line

_TENSOR = "theano.tensor"


def _of(module: str, name: str, *args: str) -> Any:
    """Call a function of a module, which is loaded for it."""
    return getattr(importlib.import_module(f"{_TENSOR}.{module}"), name)(*args)


def _blas() -> str:
    return str(_of("blas.library", "find_blas").identity)


def _numpy() -> str:
    return f"numpy {sys.modules['numpy'].__version__}"  # loaded long before anything is sorted


def _doctor() -> Iterable[Line]:
    lines: Iterable[Line] = _of("blas.lowering", "doctor")
    return lines


def _batching(module: str, name: str) -> Any:
    """Return something of the batching rules, which are loaded for it."""
    return getattr(importlib.import_module(f"theano.tensor.batching{module}"), name)


#: The families of ops that have entries, in a module `lowering` of each.
LOWERED = (
    "blas", "control", "conv", "create", "device", "elemwise", "fft", "index", "join", "linalg", "pool", "random",
    "shape", "sort",
)  # fmt: skip

#: For modules and packages of ops, the modules that have their entries.
MODULES = {
    **{family: (f"{family}.lowering",) for family in LOWERED},
    "reduce": ("reduce.lowering", "reduce.lowering_argmax"),
    **{f"nnet.{name}": (f"nnet.lowering_{name}",) for name in ("blocksparse", "ctc", "neighbours", "softmax")},
    "nnet.crossentropy": ("nnet.lowering_softmax",),
    "nnet.likelihood": ("nnet.lowering_softmax",),
}


#: What values have that say where their elements are.
_PROTOCOLS = ("__dlpack__", "__array_interface__", "__array_struct__", "__array__")


_BUFFERS = (("array", "array"), ("ctypes", "Array"))


def _knows(value: object) -> bool:
    """Return whether a value is an array, of NumPy or what speaks its protocols, a number or a state of NumPy's.

    Before the import of NumPy, it is none of NumPy's. ``theano.tensor.foreign`` recognizes values with protocols.
    """
    kind = type(value)
    # An array of one of these types exists only if its module is loaded.
    buffers = [getattr(sys.modules.get(module), name, memoryview) for module, name in _BUFFERS]
    if isinstance(value, (memoryview, *buffers)) or any(hasattr(kind, name) for name in _PROTOCOLS):
        return True
    numpy: Any = sys.modules.get("numpy")
    of_numpy = () if numpy is None else (numpy.ndarray, numpy.generic)
    return isinstance(value, (bool, int, float, complex, *of_numpy)) or _is_random_state(value)


def _is_random_state(value: object) -> bool:
    module: Any = sys.modules.get("numpy.random.mtrand")
    return module is not None and isinstance(value, module.RandomState)


def _shared_random_state(value: Any, **options: Any) -> Any:
    """Return a shared variable for a state of NumPy's, by a module that is loaded for it."""
    if not _is_random_state(value):
        raise TypeError(f"this is for numpy.random.RandomState, not for a {type(value).__name__}")
    return importlib.import_module("theano.tensor.random.var").randomstate_constructor(value, **options)


_COMPILE = (
    "Rebroadcast", "Shape", "Shape_i", "SpecifyShape", "rebroadcast", "shape", "shape_i", "specify_shape",
    "register_rebroadcast_c_code", "register_shape_c_code", "register_shape_i_c_code", "register_specify_shape_c_code",
)  # fmt: skip

#: The packages beside `theano.tensor`, and what it adds to modules of graph-core.
NAMES = {
    **{f"theano.{name}": f"theano.{name}" for name in (
        "tensor", "distributed", "scan", "ifelse", "raise_op",
    )},
    **{f"theano.compile.{name}": f"theano.tensor:{name}" for name in _COMPILE},
    "theano.dot": "theano.tensor:dot",
    "theano.get_scalar_constant_value": "theano.tensor:get_scalar_constant_value",
    "theano.gradient.hessian": "theano.tensor.rows.jacobian:hessian",
    "theano.gradient.jacobian": "theano.tensor.rows.jacobian:jacobian",
    "theano.gradient.mode_not_slow": "theano.tensor.testing.verify:mode_not_slow",
    "theano.gradient.numeric_grad": "theano.tensor.testing.verify:numeric_grad",
    "theano.gradient.verify_grad": "theano.tensor.testing.verify:verify_grad",
    "theano.foldl": "theano.scan:foldl",
    "theano.foldr": "theano.scan:foldr",
    "theano.map": "theano.scan:map",
    "theano.reduce": "theano.scan:reduce",
    "theano.scipy_callable": "theano.tensor.callbacks:scipy_callable",
    "theano.scipy_objective": "theano.tensor.callbacks:scipy_objective",
    "theano.scan_checkpoints": "theano.scan:scan_checkpoints",
    "theano.vectorize": "theano.tensor.batching:vectorize",
    "theano.vectorize_graph": "theano.tensor.batching:vectorize_graph",
}  # fmt: skip

#: What kernels are handed the addresses of.
POINTERS = {
    "blas": PointerFamily(lambda name: _of("blas.library", "find_pointer", name), _blas),
    "lapack": PointerFamily(lambda name: _of("linalg.lowering", "find_pointer", name), _blas),
    "sort": PointerFamily(lambda name: _of("sort.lowering", "find_sort", name), _numpy),
    "drivers": PointerFamily(lambda name: _of("kernels.common", "find_driver", name), str),
    "tuning": PointerFamily(lambda name: _of("kernels.tuning", "find", name), str),
}

LAYER = describe(
    Layer(
        "theano-tensor",
        "theano.tensor",
        names=NAMES,
        knows=_knows,
        extensions=(
            *(
                extension(LOWERINGS, f"{_TENSOR}.{place}", tuple(f"{_TENSOR}.{name}" for name in names))
                for place, names in MODULES.items()
            ),
            extension(LOWERINGS, "theano.scan.op", ("theano.scan.lowering",)),
            extension(LOWERINGS, "theano.compile.copy_ops", (f"{_TENSOR}.shape.lowering",)),  # copies of tensors
            *(pointer_families.extension(name, family) for name, family in POINTERS.items()),
            extension(RULES, "theano.tensor.rules.every", None),
            extension(RULES, "theano.tensor.conv.rules", "theano.tensor.conv.op"),
            extension(RULES, "theano.tensor.conv.fusion", "theano.tensor.conv.op"),
            extension(RULES, "theano.scan.rules", "theano.scan.op"),
            derived_tags.extension("_uniform"),
            fact_finders.extension(
                "levels of the kernel library", lambda: " ".join(_of("kernels.common", "library_paths"))
            ),
            extension(CHECKS, "BLAS", _doctor),
            extension("toolchain.checks.calibrations", "tensor", lambda: _of("calibration", "calibrate")),
            constructors.extension(_shared_random_state),
            sources.extension(lambda: _batching("", "TABLE")),
            loop.extension(lambda node, inputs, many: _batching(".loops", "row_by_row")(node, inputs, many)),
            conform.extension(lambda new, row: _batching(".batched_node", "fitted")(new, row)),
            extension("printing.formula.latex_tables", "theano.tensor.latex"),
        ),
        spellings="theano.layers.documented_tensor",
        exports="theano.tensor.exports",
    )
)
