"""Find an OpenCL device for tests, and bring one that runs on the CPU if there is none.

    python tools/opencl.py

Prints the environment variables that tests of the GPU layer are run with, one ``NAME=value`` a line. A device counts if
it compiles and runs a kernel. It is looked for among what is installed; then the wheel ``pocl-binary-distribution`` is
installed, which knows no CPU younger than itself; then, by who may, Debian's package ``pocl-opencl-icd``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

VENDORS = "/etc/OpenCL/vendors"

PROBE = """
import sys, numpy, pyopencl as cl
for p, platform in enumerate(cl.get_platforms()):
    for d, device in enumerate(platform.get_devices()):
        try:
            context = cl.Context([device])
            queue = cl.CommandQueue(context)
            text = "kernel void twice(global double *x) { x[get_global_id(0)] *= 2; }"
            kernel = cl.Kernel(cl.Program(context, text).build(cache_dir=False), "twice")
            numbers = numpy.arange(4.0)
            there = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=numbers)
            kernel(queue, (4,), None, there)
            cl.enqueue_copy(queue, numbers, there)
            if list(numbers) == [0, 2, 4, 6]:
                print(f"opencl{p}:{d}")
                sys.exit()
        except Exception:
            continue
"""


def probe(env: dict[str, str]) -> str:
    """Return the first device that works, or nothing."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def find() -> dict[str, str]:
    """Return the environment in which a device works; it is empty if none was found or could be brought."""
    places = [{}, {"OCL_ICD_VENDORS": VENDORS}]
    for install in (None, _wheel, _debian):
        if install is not None and not install():
            continue
        for env in places:
            device = probe(env)
            if device:
                return {**env, "GPU_TEST_DEVICE": device}
    return {}


def _wheel() -> bool:
    return _runs(sys.executable, "-m", "pip", "install", "-q", "pocl-binary-distribution")


def _debian() -> bool:
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    _runs("apt-get", "update", "-q")
    return _runs("apt-get", "install", "-q", "-y", "--no-install-recommends", "pocl-opencl-icd")


def _runs(*command: str) -> bool:
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


if __name__ == "__main__":
    for name, value in find().items():
        print(f"{name}={value}")
