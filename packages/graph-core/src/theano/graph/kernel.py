"""What a node becomes: a kernel to compile, or one that was built ahead."""

from __future__ import annotations

from theano.graph.parameters import Parameters, Places, Pointer
from theano.records import record

__all__ = ["TOKEN", "Builtin", "Kernel", "Pointer"]

TOKEN = "KERNEL"
"""The word in a kernel's source that becomes its symbol."""


class _WithParameters:
    """The parameters of kernels of both kinds."""

    __slots__ = ()

    params: Parameters | bytes
    pointers: Places | None

    @property
    def packed(self) -> bytes:
        """The bytes that ``ctx->params`` points to."""
        params = self.params
        return params.packed() if isinstance(params, Parameters) else params

    @property
    def places(self) -> Places | None:
        """The positions of addresses in these bytes, and the name of each; None if unknown."""
        params = self.params
        if isinstance(params, Parameters):
            return params.pointers()
        return self.pointers if params else ()


@record(frozen=True)
class Kernel(_WithParameters):
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
    params : Parameters or bytes
        What ``ctx->params`` points to (aligned to 8 bytes): a struct that was declared, or raw bytes. Not part of the
        compiled code, so two kernels that differ only here share their machine code.
    work : float
        Estimated nanoseconds for one element of the largest buffer.
    plain_loops : bool
        All loops are simple ones that only want to be vectorised: the compiler may leave out the costly passes that
        serve other code, which halves its time.
    pointers : tuple of (int, str), optional
        Of raw bytes: where the address of something stands in them, and its name, since another process finds it
        elsewhere; ``()`` means none. Where it is None, programs with this kernel are not kept for
        other processes. (A declared struct knows its pointers.)
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
    params: Parameters | bytes = b""
    work: float = 1.0
    plain_loops: bool = False
    pointers: Places | None = None
    lazy: bool = False

    def __post_init__(self) -> None:
        if TOKEN not in self.source:
            raise ValueError(f"the source of kernel {self.name!r} must define `int {TOKEN}(th_ctx *ctx)`")

    def with_symbol(self, symbol: str) -> str:
        """Return the source with the symbol in place of the word KERNEL."""
        return self.source.replace(TOKEN, symbol)


@record(frozen=True)
class Builtin(_WithParameters):
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
    params: Parameters | bytes = b""
    work: float = 1.0
    pointers: Places | None = None
    lazy: bool = False
