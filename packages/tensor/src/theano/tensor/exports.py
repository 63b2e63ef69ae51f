"""What this layer says of its kernels for exported models (`theano.aot.exports`)."""

from __future__ import annotations

import os
from collections.abc import Iterator

from theano.aot.exports import Exports, SourceTree
from theano.graph.parameters import header
from theano.scalar.c import header as header_of_scalar
from theano.scan.exported import loop_of as loop_of_scan
from theano.tensor.blas.library import blas_elsewhere, linked_name
from theano.tensor.kernels import parameters, reduction, tuning
from theano.tensor.kernels.building import FLAGS, FOREIGN_HEADERS, LEVELS
from theano.tensor.kernels.common import DRIVERS
from theano.tensor.rows.exported import loop_of as loop_of_rows

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def sources(library: str) -> SourceTree:
    """Return the sources of the library of kernels at a path."""
    place, file = os.path.split(library)
    archives = {options: os.path.join(place, f"lib{name}.a") for name, options in LEVELS.items()}
    files = {os.path.basename(path): path for path in _own()}
    written = {
        "parameters.h": header(vars(parameters), "parameters.py"),
        "reduction.h": header(vars(reduction), "reduction.py"),
        **{f"c/{name}.h": header_of_scalar(f"{name}.h") for name in FOREIGN_HEADERS},
    }
    level = LEVELS.get(file.partition(".")[0], ())
    return SourceTree("tensor", files, written, (*FLAGS, "-DTH_EXPORT="), level, archives)


def _own() -> Iterator[str]:
    """Yield the paths of the C sources and headers of all families; `module.c` is Python's."""
    for family in sorted(os.listdir(_PACKAGE)):
        folder = os.path.join(_PACKAGE, family, "c")
        if os.path.isdir(folder):
            yield from (
                os.path.join(folder, file)
                for file in sorted(os.listdir(folder))
                if file.endswith((".c", ".h")) and file != "module.c"
            )


EXPORTS = Exports(
    trees={__package__: sources},
    nested=lambda node: loop_of_scan(node) or loop_of_rows(node),
    lowered_apart=blas_elsewhere,
    symbols={
        "blas": linked_name, "lapack": linked_name, "drivers": lambda name: name if name in DRIVERS else None,
    },
    numbers={"tuning": lambda name: list(tuning.current().values())},
)  # fmt: skip
