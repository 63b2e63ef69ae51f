"""The compiler's options: what we want, and which of it this compiler takes.

Decisions, with their reasons:

``-ffp-contract=off``
    A compiler may otherwise turn ``a * b + c`` into one rounding where it likes: then ``x*x - y*y`` is not
    0 for x = y, a fused expression differs from its parts, and results differ between CPUs. Code that wants
    a fused multiply-add says ``fma()``, which is one instruction where the CPU has it; users who want them in
    their own expressions set the flag ``fused_multiply_add``, for which we choose the places.
``-fno-math-errno -fno-trapping-math``
    No code reads errno or the exception flags, and both keep loops scalar.
never ``-ffast-math``
    It changes what happens to nan and inf, and some compilers then set the processor to flush
    subnormal numbers for the whole program.
``-fwrapv``, ``-fno-strict-aliasing``
    Integers wrap as NumPy's do, and one buffer may hold values of different types in its life.
``-mprefer-vector-width=512``
    Where the CPU has AVX-512 the compilers still choose 256 bits; for the functions of our maths header
    512 bits are 1.3 to 1.8 times faster.
``-mtune=icelake-server``, ``-mtune=skylake``
    On AMD's CPUs: with its tables for those, gcc loads an operand again for each of its uses, as an operand of an
    instruction. `2*x + 3*y - x*y / (1 + x*x)` of a million numbers takes 420 us so, 320 with one load each.
``--param=vect-epilogues-nomask=0``
    What 512 bits leave over is not done in loops of 256 and 128 bits first: each would be compiled in full.
``-pipe``
    The assembler starts while the compiler works: 27 ms in place of 36 for an empty unit.
``-Wl,-z,noseparate-code -Wl,-z,norelro``
    A loaded library then takes two mappings of memory, not five: a process may have 65,530, and each costs time.
``-nodefaultlibs``, with the compiler's own library
    To look through the thousands of names of the C library takes the linker 14 of its 26 ms. What little kernels use
    of it, such as ``memcpy``, the system's loader finds, since every process has it. Not beside a user's own options,
    which may want libraries (``-fsanitize=address``).
"""

from __future__ import annotations

import os
import platform
import sys
from functools import cache

from theano.records import NamedTuple

OPTIMISATION = ("-O3",)
NUMERIC = ("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing")
ALWAYS = ("-std=gnu11", "-fPIC", "-shared")
KERNELS_ALONE = "-nodefaultlibs"
WISHED = (
    *("-pipe", "-fopenmp-simd", "-w", "-g0", "--param=vect-epilogues-nomask=0"),
    *(("-Wl,-z,noseparate-code", "-Wl,-z,norelro") if sys.platform.startswith("linux") else ()),
)
NATIVE_FORMS = (("-march=native",), ("-mcpu=native",), ())
"""Options that let compilers use all features of this CPU; the first that works is taken."""
CPU_FACTS = frozenset(
    (
        "vendor_id",
        "cpu family",
        "model",
        "model name",
        "flags",
        "Features",
        "isa",
        "uarch",
        "CPU implementer",
        "CPU architecture",
        "CPU variant",
        "CPU part",
        "cpu",
        "machine",
    )
)
"""The lines of ``/proc/cpuinfo`` that decide about instructions, on the usual architectures."""
HEADERS = ("stddef.h", "stdint.h", "string.h")
"""What every unit of kernels includes of the system."""
MATHS_HEADERS = ("math.h", "complex.h")
"""A fifth of the time of a small unit, so only where something of them may be used."""
LIBRARIES = () if os.name == "nt" else ("-lm",)
COMPILERS_OWN = "-lgcc"
"""The library of what the processor has no instruction for, which `KERNELS_ALONE` leaves out as well."""


def for_cxx(flags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the options that the same compiler is given for C++, of which only ours is to be seen from outside.

    What users write calls the C library as it likes.

    Examples
    --------
    >>> for_cxx(("-std=gnu11", "-O3"))
    ('-O3', '-fvisibility=hidden')
    """
    kept = (flag for flag in flags if not flag.startswith("-std=") and flag != KERNELS_ALONE)
    return (*kept, "-fvisibility=hidden")


class Wishes(NamedTuple):
    """The options to try, and the user's own, which are not questioned.

    Parameters
    ----------
    native : bool
        Use all that this CPU has. Not if the user's own options choose a CPU.
    wide : bool
        Prefer 512-bit vectors.
    amd : bool
        The CPU is one of AMD's.
    extra : tuple of str
        The user's options; they come last and so win.
    """

    native: bool
    wide: bool
    amd: bool = False
    extra: tuple[str, ...] = ()

    def optional(self) -> tuple[str, ...]:
        """Return the options that are dropped if the compiler does not know them."""
        alone = sys.platform.startswith("linux") and not self.extra
        return (
            *NUMERIC, *WISHED, *((KERNELS_ALONE,) if alone else ()),
            *(("-mprefer-vector-width=512",) if self.native and self.wide else ()),
            *((f"-mtune={'icelake-server' if self.wide else 'skylake'}",) if self.native and self.amd else ()),
        )  # fmt: skip


def wishes(extra: tuple[str, ...]) -> Wishes:
    """Decide what to ask of the compiler on this machine.

    Examples
    --------
    >>> wishes(("-march=x86-64-v2",)).native
    False
    """
    native = not any(flag.startswith(("-march=", "-mcpu=")) for flag in extra)
    facts = cpu_description().split()
    return Wishes(native, "avx512f" in facts, "AuthenticAMD" in facts, extra)


@cache
def cpu_description() -> str:
    """Describe this CPU without starting a program: the maker, the model and the instructions.

    Examples
    --------
    >>> cpu_description() == cpu_description()
    True
    """
    try:
        with open("/proc/cpuinfo", "rb") as file:
            # One processor is enough, and the file has one part for each.
            text = file.read(1 << 16).decode("ascii", "replace").partition("\n\n")[0]
    except OSError:
        text = ""
    facts = [platform.machine()]
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in CPU_FACTS:
            # The order of the flags is the kernel's affair.
            facts.append(" ".join(sorted(value.split())))
    if len(facts) == 1:
        facts.append(platform.processor() if os.name == "nt" else _sysctl_brand())
    return " ".join(facts)


def _sysctl_brand() -> str:
    """Ask macOS for the name of the CPU through its C library; "" elsewhere."""
    import ctypes  # only on systems without /proc/cpuinfo

    try:
        libc = ctypes.CDLL(None)
        buffer, size = ctypes.create_string_buffer(256), ctypes.c_size_t(256)
        if libc.sysctlbyname(b"machdep.cpu.brand_string", buffer, ctypes.byref(size), None, 0) == 0:
            return buffer.value.decode("ascii", "replace")
    except (OSError, AttributeError):
        pass
    return ""
