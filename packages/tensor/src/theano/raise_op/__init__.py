"""An op that fails when it is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.graph import Apply, Op, Variable
from theano.tensor.convert import as_tensor_variable

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.tensor.annotations import TensorLike


class Raise(Op):
    """Raises an exception when its output is wanted; a graph that does not want it can be computed.

    Parameters
    ----------
    msg : str
        Of the exception.
    exc : class of exception

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> from theano.ifelse import ifelse
    >>> x = T.dscalar("x")
    >>> root = theano.function([x], ifelse(x >= 0, T.sqrt(x), Raise("no root", ValueError)(x)))
    >>> root(4)
    array(2.)
    >>> root(-4)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ValueError: no root
    """

    __props__ = ("msg", "exc")

    def __init__(self, msg: str = "", exc: type[BaseException] = NotImplementedError):
        if not (isinstance(exc, type) and issubclass(exc, BaseException)):
            raise TypeError(f"Raise needs a class of exceptions, not {exc!r}")
        self.msg, self.exc = str(msg), exc

    def __str__(self) -> str:
        return f"Raise{{{self.exc.__name__}({self.msg!r})}}"

    def make_node(self, x: TensorLike) -> Apply:
        """Return the node, for a value of any type."""
        if not isinstance(x, Variable):
            x = as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Raise the exception."""
        raise self.exc(self.msg)

    def do_constant_folding(self, node: Apply) -> bool:
        """Return False: it fails when a function runs, not when it is made."""
        return False

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Return that nothing goes through."""
        return [[False]]
