"""The keys of generated code: everything that could change the machine code goes in.

A key is 128 bits of SHA-256, written in hexadecimal. The parts are hashed with their lengths, so
that no two different lists of parts run together into the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from theano.graph.kernel import Kernel

KEY_LENGTH = 32
"""Characters in a key (4 bits each)."""

FEWER_PASSES = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O1,tree-vectorize,vect-cost-model=dynamic,gcse,rerun-cse-after-loop,peel-loops,no-tree-sink")
#pragma GCC optimize("expensive-optimizations")
#endif"""
"""What a loop of straight arithmetic needs of -O3. The rest took two thirds of the time, for loops 2 to 3 % faster.
Complete peeling keeps the accumulators of a reduction in registers, which halves its time. Sinking moves what only one
side of a choice needs into a branch, and loops with branches around calls or stores are not vectorised. Without
`expensive-optimizations` no `vzeroupper` ends a function, and the next instruction of SSE takes 70 ns on Intel's CPUs.
"""


def digest_parts(parts: Iterable[str]) -> str:
    """Hash a list of texts, each with its length.

    Examples
    --------
    >>> digest_parts(["ab", "c"]) == digest_parts(["a", "bc"])
    False
    >>> len(digest_parts([]))
    32
    """
    state = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape")
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()[:KEY_LENGTH]


def kernel_key(kernel: Kernel, abi: str, identity: str) -> str:
    """Return the key of one kernel's machine code.

    Parameters
    ----------
    kernel : Kernel
        Its source and support count; its name, parameters and estimate of work do not.
    abi : str
        The text of ``abi.h``, version number included.
    identity : str
        `Toolchain.identity`: compiler, target, flags, CPU class.

    Examples
    --------
    >>> one = Kernel("a", "int KERNEL(th_ctx *c) { return 0; }")
    >>> two = Kernel("b", one.source, params=b"12345678")
    >>> kernel_key(one, "abi", "gcc") == kernel_key(two, "abi", "gcc")
    True
    >>> kernel_key(one, "abi", "gcc") == kernel_key(one, "abi", "clang")
    False
    """
    passes = FEWER_PASSES if kernel.plain_loops else ""
    return digest_parts(["kernel", abi, identity, passes, kernel.source, *kernel.support])


def unit_key(text: str, identity: str) -> str:
    """Return the key of a whole unit: its C text (which holds ``abi.h``) and the toolchain."""
    return digest_parts(["unit", text, identity])


def symbol_of(key: str) -> str:
    """Return the C symbol of the kernel with this key."""
    return "th_" + key
