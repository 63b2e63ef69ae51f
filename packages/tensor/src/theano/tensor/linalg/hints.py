"""What a program knows of a matrix and the graph cannot see: said by an op, so that it is part of the expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.gradient import IdentityOp
from theano.graph import Apply
from theano.tensor.convert import as_tensor_variable

if TYPE_CHECKING:
    from theano.graph.annotations import Operands
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


class Hint(IdentityOp):
    """The identity, and something that is known of its result.

    Rules find the properties in the ``tag`` of the variable: ``psd``, ``symmetric``, ``lower_triangular``,
    ``upper_triangular``. That it is true is the program's affair; nothing is checked.

    Parameters
    ----------
    **hints
        Name and value of each property.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A, b = T.dmatrices("A", "b")
    >>> x = T.slinalg.solve(Hint(lower_triangular=True)(A), b)
    >>> theano.function([A, b], x).maker.fgraph.toposort()[0].op.A_structure
    'lower_triangular'
    """

    __props__ = ("hints",)

    def __init__(self, **hints: object):
        self.hints = tuple(sorted(hints.items()))

    def tell(self, v: Tensor) -> None:
        """Write the properties into the tag of ``v``."""
        for name, value in self.hints:
            setattr(v.tag, name, value)

    def batch(self, node: Apply, inputs: Operands, batched: Sequence[bool]) -> Sequence[Any]:
        """Return the input: the properties of one matrix are not those of a batch."""
        return list(inputs)

    def __str__(self) -> str:
        return f"Hint{{{', '.join(f'{name}={value!r}' for name, value in self.hints)}}}"


def psd(v: TensorLike) -> Variable:
    """Return the matrix ``v``, of which is known from here on that it is symmetric and positive definite.

    Examples
    --------
    >>> import theano.tensor as T
    >>> psd(T.dmatrix("A")).owner.op
    Hint{psd=True, symmetric=True}
    """
    return Hint(psd=True, symmetric=True)(as_tensor_variable(v))
