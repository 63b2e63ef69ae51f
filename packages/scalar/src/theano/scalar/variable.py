"""Scalar variables and constants, with Python's operators."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from theano.graph.variable import Constant, Variable
from theano.scalar.registry import op

if TYPE_CHECKING:
    from theano.scalar.type import Scalar

    _Base = Variable[Scalar]  # whatever has these operators is one
else:
    _Base = object


def _binary(name: str) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Variable | float) -> Any:
        return op(name)(self, other)

    return method


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: int) -> Any:
        return op(name)(other, self)

    return method


class ScalarOperators(_Base):
    """What Python's operators mean between scalars.

    ``==`` and ``!=`` compare the variables themselves, as containers need; the
    operations are :data:`theano.scalar.eq` and :data:`theano.scalar.neq`.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> x, y = ts.floats("x", "y")
    >>> (x + y * 2).owner.op, (x < y).type, (-x).dtype
    (add, bool, 'float64')
    """

    @property
    def dtype(self) -> str:
        """Name of the dtype."""
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions: none."""
        return 0

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """Pattern of broadcastable dimensions: none."""
        return ()

    def __abs__(self) -> Any:
        return op("abs_")(self)

    def __neg__(self) -> Any:
        return op("neg")(self)

    def __invert__(self) -> Any:
        return op("invert")(self)

    def __ceil__(self) -> Any:
        return op("ceil")(self)

    def __floor__(self) -> Any:
        return op("floor")(self)

    def __trunc__(self) -> Any:
        return op("trunc")(self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self} has no truth value: it is a symbol, known only when a function runs. "
            "Choose between two values with theano.scalar.switch, between two computations with theano.ifelse.ifelse."
        )

    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("sub"), _reflected("sub")
    __mul__, __rmul__ = _binary("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _binary("true_div"), _reflected("true_div")
    __floordiv__, __rfloordiv__ = _binary("int_div"), _reflected("int_div")
    __mod__, __rmod__ = _binary("mod"), _reflected("mod")
    __pow__, __rpow__ = _binary("pow"), _reflected("pow")
    __and__, __rand__ = _binary("and_"), _reflected("and_")
    __or__, __ror__ = _binary("or_"), _reflected("or_")
    __xor__, __rxor__ = _binary("xor"), _reflected("xor")
    __lt__, __le__ = _binary("lt"), _binary("le")
    __gt__, __ge__ = _binary("gt"), _binary("ge")

    def zeros_like(self, dtype: str | None = None) -> Any:
        """Return a zero of this scalar's dtype, or of another, that depends on it in form only.

        Parameters
        ----------
        dtype : str, optional
        """
        wanted = self.type if dtype is None else type(self.type)(dtype)
        return op("second")(self, wanted.make_constant(0))

    def ones_like(self, dtype: str | None = None) -> Any:
        """Return a one of this scalar's dtype, or of another.

        Parameters
        ----------
        dtype : str, optional
        """
        wanted = self.type if dtype is None else type(self.type)(dtype)
        return op("second")(self, wanted.make_constant(1))

    def astype(self, dtype: str) -> Any:
        """Return this scalar converted to another dtype.

        Parameters
        ----------
        dtype : str
        """
        return op("cast")(self, dtype)


class ScalarVariable(ScalarOperators, Variable):
    """A symbolic number.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> x = ts.float64("x")
    >>> type(x).__name__, x.type
    ('ScalarVariable', float64)
    """


class ScalarConstant(ScalarOperators, Constant):
    """A number that is known while the graph is built.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> ts.constant(2.5)
    ScalarConstant{2.5}
    """

    def signature(self) -> Hashable:
        """Return what tells constants apart: the type and the bits, so that nan equals itself and 0.0 is not -0.0."""
        return (self.type, self.data.tobytes())
