"""A second target, for tests: with ``-p fake_target.plugin`` element-wise loops and reductions can run on it.

All of them do in functions whose rewriting includes ``fake``: with ``THEANO_FLAGS=optimizer_including=fake``, in each.

Its memory is the host's under addresses that lead nowhere: what reads or writes it and is not one of its kernels ends the
process. It changes no op: it brings a device, a writer with two entries in the lowering table, and a pass.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from pathlib import Path

import theano.tensor  # noqa: F401 - its rules come before the pass
from fake_target.writer import map_kernel, reduction_kernel
from theano.loader.module import add_device, include_directory
from theano.lowering.table import Lowering, like_cpu, register
from theano.lowering.targets import Target, targets
from theano.rewriting.phases import phases
from theano.tensor.device.lowering import transfer_kernel
from theano.tensor.device.ops import ToDevice
from theano.tensor.device.placement import Placement
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.reduce.careduce import CAReduce
from theano.tensor.reduce.map_reduce import MapReduce

HERE = Path(__file__).parent
FAKE = Target("fake", "fake")


def build() -> ctypes.CDLL:
    """Return the compiled device."""
    folder = tempfile.mkdtemp(prefix="fake-target-")
    library = Path(folder) / "device.so"
    command = [os.environ.get("CC", "gcc"), "-O1", "-shared", "-fPIC", f"-I{include_directory()}", str(HERE / "device.c"), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


LIBRARY = build()


def counts() -> dict[str, int]:
    """Return how many bytes the device holds, and how many transfers there were in either direction."""
    numbers = (ctypes.c_int64 * 3)()
    LIBRARY.fake_counts(numbers)
    return dict(zip(("bytes", "to", "from"), numbers, strict=True))


def install() -> None:
    """Let each function be placed on the device, as far as that goes."""

    add_device(FAKE.device, ctypes.addressof(ctypes.c_char.in_dll(LIBRARY, "fake_device")))
    targets.register(FAKE.device, FAKE)
    register(
        Lowering(ToDevice, transfer_kernel, target=FAKE),
        like_cpu(Elemwise, map_kernel, target=FAKE),
        like_cpu(CAReduce, reduction_kernel, target=FAKE),
        like_cpu(MapReduce, reduction_kernel, target=FAKE),
    )
    phases.register("place_on_fake", Placement(FAKE), 49.4, "fake", "placement")


install()


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"the fake device: {counts()}")
