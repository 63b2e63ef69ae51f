"""The body of a generated loop: a scalar operation in C, whose constants come with the call and not in the text.

A kernel that reads its constants from ``ctx->params`` serves every learning rate: changing one compiles nothing, and
expressions that differ in their constants only share their machine code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from theano.records import record, replace
from theano.scalar.cbody import calling, calls_c_library
from theano.scalar.composite import Composite
from theano.scalar.ctypes import compute_type
from theano.scalar.program import Literal, lift_constants

_WORD = re.compile(r"\w+")
_SLOT = 8
"""Every constant starts at a multiple of this many bytes, so that each is aligned."""


@record(frozen=True)
class Body:
    """A scalar operation in C.

    Attributes
    ----------
    op : ScalarOp
        The operation, with the constants as its last inputs.
    lines : tuple of str
        Statements that assign the outputs.
    support : tuple of str
        Blocks of C that they call.
    constants : tuple of Literal
        What `declarations` gives names to.
    """

    op: Any
    lines: tuple[str, ...]
    support: tuple[str, ...]
    constants: tuple[Literal, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        """All names in the statements."""
        return frozenset(word for line in self.lines for word in _WORD.findall(line))

    @cached_property
    def sequential(self) -> bool:
        """Whether it calls a function that no compiler widens: then a branch around a call pays, and vectors do not."""
        return calls_c_library("\n".join(self.lines))

    @property
    def names(self) -> list[str]:
        """The names of the constants in the statements."""
        return constant_names(len(self.constants))

    @property
    def params(self) -> bytes:
        """The constants as `declarations` reads them: for `Kernel.params`, after what the kernel puts there itself."""
        return b"".join(_bytes(c) for c in self.constants)

    def calling(self) -> Body:
        """Return a body for the CPU that calls the functions which it needs many times."""
        called = calling(self.lines, self.support)
        return replace(self, lines=tuple(called.lines), support=called.support)

    def declarations(self, pointer: str) -> list[str]:
        """Return the statements that read the constants; they belong before the loop.

        Parameters
        ----------
        pointer : str
            A ``const char *`` to the bytes of `params`.
        """
        lines, offset = [], 0
        for name, constant in zip(self.names, self.constants, strict=True):
            ctype = compute_type(constant.dtype)
            place = f"{pointer} + {offset}" if offset else pointer
            lines.append(f"const {ctype} {name} = *(const {ctype} *)({place});")
            offset += len(_bytes(constant))
        return lines


def constant_names(count: int) -> list[str]:
    """Return the names that constants have in generated code.

    Examples
    --------
    >>> constant_names(2)
    ['k0', 'k1']
    """
    return [f"k{i}" for i in range(count)]


def _bytes(constant: Literal) -> bytes:
    # float16 is computed with as float.
    value = constant.value.astype("float32") if constant.dtype == "float16" else constant.value
    data: bytes = np.asarray(value).tobytes()
    return data.ljust(-(-len(data) // _SLOT) * _SLOT, b"\0")


def body_of(
    scalar_op: Any,
    in_names: Sequence[str],
    in_dtypes: Sequence[str],
    out_names: Sequence[str],
    out_dtypes: Sequence[str],
) -> Body | None:
    r"""Return a scalar operation in C, or None if it has no C form for these dtypes.

    Parameters
    ----------
    scalar_op : ScalarOp
    in_names, out_names : list of str
        C variables of the compute types.
    in_dtypes, out_dtypes : list of str

    Examples
    --------
    >>> import theano.scalar as ts
    >>> x = ts.float64("x")
    >>> body = body_of(ts.Composite([x], [ts.exp(x) * 0.3]), ["a"], ["float64"], ["b"], ["float64"])
    >>> print("\n".join([*body.declarations("params"), *body.lines]))
    const double k0 = *(const double *)(params);
    const double exp_0 = th_exp_f64(a);
    const double mul_1 = exp_0 * k0;
    b = mul_1;
    >>> np.frombuffer(body.params)
    array([0.3])
    """
    constants: tuple[Literal, ...] = ()
    if isinstance(scalar_op, Composite) and scalar_op.program.inputs == tuple(in_dtypes):
        program, constants = lift_constants(scalar_op.program)
        scalar_op = Composite.from_program(program)
        in_names = [*in_names, *constant_names(len(constants))]
        in_dtypes = program.inputs
    found = scalar_op.c_statements(list(in_names), list(in_dtypes), list(out_names), list(out_dtypes))
    return None if found is None else Body(scalar_op, tuple(found.lines), tuple(found.support), constants)
