"""What a node becomes: a kernel to compile, or one that was built ahead."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from theano.extensions import Table
from theano.records import record

TOKEN = "KERNEL"
"""The word in a kernel's source that becomes its symbol."""


@record(frozen=True)
class Kernel:
    """One C function ``int KERNEL(th_ctx *ctx)`` and what it needs.

    Parameters
    ----------
    name : str
        The expression in the user's words; shown in comments and errors, not part of the key.
    source : str
        C text that defines ``int KERNEL(th_ctx *ctx)``. Static helpers may be defined too if
        their names contain ``KERNEL``. The text must be the same in each process.
        ``abi.h``, ``stdint.h``, ``stddef.h`` and ``string.h`` are included, ``math.h`` and ``complex.h`` where needed.
    support : tuple of str
        C text written once for each unit, before all kernels, in the order first seen.
    params : bytes
        What ``ctx->params`` points to (aligned to 8 bytes). Not part of the compiled code, so
        two kernels that differ only here share their machine code.
    work : float
        Estimated nanoseconds for one element of the largest buffer.
    plain_loops : bool
        All loops are simple ones that only want to be vectorised: the compiler may leave out the costly passes that
        serve other code, which halves its time.
    pointers : tuple of (int, str)
        Where in ``params`` the address of something stands, and its name: another process finds it elsewhere.
    lazy : bool
        It is called before its inputs are computed, and asks for those it needs (``ctx->need``).

    Examples
    --------
    >>> k = Kernel("nothing", "int KERNEL(th_ctx *ctx) { return 0; }")
    >>> k.with_symbol("th_1")
    'int th_1(th_ctx *ctx) { return 0; }'
    """

    name: str
    source: str
    support: tuple[str, ...] = ()
    params: bytes = b""
    work: float = 1.0
    plain_loops: bool = False
    pointers: tuple[tuple[int, str], ...] = ()
    lazy: bool = False

    def __post_init__(self) -> None:
        if TOKEN not in self.source:
            raise ValueError(f"the source of kernel {self.name!r} must define `int {TOKEN}(th_ctx *ctx)`")

    def with_symbol(self, symbol: str) -> str:
        """Return the source with the symbol in place of the word KERNEL."""
        return self.source.replace(TOKEN, symbol)


@record(frozen=True)
class Builtin:
    """A kernel that was compiled when its layer was built.

    Parameters
    ----------
    library : str
        Path of the shared object shipped with the layer.
    symbol : str
        Name of an ``int (th_ctx *)`` function in it.
    params, work, pointers, lazy
        As for `Kernel`.

    Examples
    --------
    >>> Builtin("/opt/theano/_kernels.so", "copy_strided").symbol
    'copy_strided'
    """

    library: str
    symbol: str
    params: bytes = b""
    work: float = 1.0
    pointers: tuple[tuple[int, str], ...] = ()
    lazy: bool = False


class Pointer(int):
    """The address of something that this process has found, and its name.

    Parameters
    ----------
    address : int
    name : str
        ``family:rest``; the family is one of `pointer_families`.

    Examples
    --------
    >>> Pointer(4096, "blas:gemm:float64") + 0, Pointer(4096, "blas:gemm:float64").name
    (4096, 'blas:gemm:float64')
    """

    name: str

    def __new__(cls, address: int, name: str) -> Pointer:
        """Make the number; `int` is immutable, so not in ``__init__``."""
        self = super().__new__(cls, address)
        self.name = name
        return self


class PointerFamily(NamedTuple):
    """How a process finds what pointers of one family name, and what tells whether another found the same.

    Parameters
    ----------
    find : callable
        From a name (without the family) to the address in this process; 0 if there is none.
    identity : callable
        A text; where two processes agree in it, a kernel works the same with the addresses of either.
    """

    find: Callable[[str], int]
    identity: Callable[[], str]


#: The families, by name.
pointer_families: Table[str, PointerFamily] = Table("graph.kernel.pointer_families", "where a pointer leads to")
