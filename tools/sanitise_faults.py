"""Faults that the sanitisers must find, for `sanitise`: one is planted in each process.

Without an argument, prints their names. ``none`` is the same way without a fault, which must pass.
"""

from __future__ import annotations

import ctypes
import os
import sys

import numpy as np

import theano
import theano.tensor as T
from theano.codegen.unit import compile_kernels
from theano.graph.kernel import Kernel
from theano.toolchain.description import ToolchainSettings


def longer(x: np.ndarray, by: int) -> np.ndarray:
    """Return an array that claims to have more elements than it has memory for."""
    return np.lib.stride_tricks.as_strided(x, (len(x) + by,))


def elementwise(by: int) -> None:
    """Let a generated element-wise kernel read behind an array."""
    x = T.dvector("x")
    theano.function([x], T.exp(x) * 2 + x)(longer(np.ones(1000), by))


def library(by: int) -> None:
    """Let the library that was built with the layer read behind an array."""
    x, i = T.dvector("x"), T.lvector("i")
    theano.function([x, i], x[i])(np.ones(10), longer(np.zeros(1000, "int64"), by))


def write(by: int) -> None:
    """Let a kernel write behind an array."""
    source = "int KERNEL(th_ctx *ctx) { double *p = (double *)(void *)ctx; p[8] = 1; return 0; }"
    call(source, np.ones(8 + (not by)))


def undefined(by: int) -> None:
    """Let a kernel shift by more bits than there are."""
    source = "int KERNEL(th_ctx *ctx) { return 1 << *(int *)(void *)ctx; }"
    call(source, np.array([40 if by else 4], "int32"))


def call(source: str, argument: np.ndarray) -> None:
    """Call a kernel with an array's memory in place of its context."""
    (address,) = compile_kernels([Kernel("planted", source)], ToolchainSettings.from_config(theano.config))
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(int(address))(argument.ctypes.data)


FAULTS = {"elementwise": elementwise, "library": library, "write": write, "undefined": undefined}


def main(names: list[str]) -> None:
    """Plant a fault, or none at all four places."""
    if not names:
        print("none", *FAULTS)
        return
    where = os.path.realpath(T.__file__)
    assert where.startswith(os.path.realpath(os.environ["SANITISED"])), f"{where} is not the copy that is watched"
    for name, plant in FAULTS.items():
        if names == [name]:
            plant(1)
        elif names == ["none"]:
            plant(0)


if __name__ == "__main__":
    main(sys.argv[1:])
