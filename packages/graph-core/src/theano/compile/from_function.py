"""``as_op``: an op of a Python function."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from theano.graph.apply import Apply
from theano.graph.op import Op
from theano.graph.type import Type

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values


class FromFunctionOp(Op):
    """Computes its outputs by calling a Python function.

    Parameters
    ----------
    fn : callable
        Takes the values of the inputs; returns that of the output, or a list of them.
    itypes, otypes : list of Type
    infer_shape : callable, optional
        Takes the node and the shapes of its inputs; returns those of the outputs.
    grad : callable, optional
        Takes the inputs and the gradients of the outputs, lists of variables; returns the gradients of the inputs.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        itypes: Sequence[Type],
        otypes: Sequence[Type],
        infer_shape: Callable[..., Any] | None = None,
        grad: Callable[..., Any] | None = None,
    ):
        self._fn = fn
        self.itypes = tuple(itypes)
        self.otypes = tuple(otypes)
        if infer_shape is not None:
            # Only now: whether there is an answer decides what rewriting does.
            vars(self).update(infer_shape=lambda *args: infer_shape(*args[-2:]))
        if grad is not None:
            vars(self).update(grad=grad)  # as above
        self._shapes, self._gradient = infer_shape, grad

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and (self._fn, self._gradient) == (other._fn, other._gradient)
            and (self.itypes, self.otypes) == (other.itypes, other.otypes)
        )

    def __hash__(self) -> int:
        return hash((type(self), self._fn, self.itypes, self.otypes))

    def __str__(self) -> str:
        return f"FromFunctionOp{{{self._fn.__name__}}}"

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Call the function."""
        made = self._fn(*inputs)
        results = made if isinstance(made, (list, tuple)) else (made,)
        if len(results) != len(output_storage):
            raise ValueError(f"{self._fn.__name__} returned {len(results)} values for {len(output_storage)} outputs")
        for cell, value, kind in zip(output_storage, results, self.otypes, strict=True):
            cell[0] = kind.filter(value)

    def __reduce__(self) -> str | tuple[object, ...]:
        name = self._fn.__name__
        if getattr(importlib.import_module(self._fn.__module__), name, None) is not self:
            return super().__reduce__()
        # The decorator put the op in the place of the function, so that is where to find it again.
        return _load, (self._fn.__module__, name)


def _load(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def as_op(
    itypes: Type | Sequence[Type],
    otypes: Type | Sequence[Type],
    infer_shape: Callable[..., Any] | None = None,
    grad: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], FromFunctionOp]:
    """Turn a Python function into an op.

    The function must return new values, never one of its arguments or a part of one.

    Parameters
    ----------
    itypes, otypes : Type or list of Type
        Of the inputs and the outputs.
    infer_shape : callable, optional
        ``infer_shape(node, input_shapes)`` returns a list of tuples; without it the op is computed where only
        the shape of its result is asked.
    grad : callable, optional
        ``grad(inputs, output_gradients)`` returns a list of expressions, the gradients with respect to the inputs;
        without it none is defined.

    Returns
    -------
    callable
        Takes a Python function; returns an op that can be called with variables.

    See Also
    --------
    theano.OpFromGraph, theano.Op

    Examples
    --------
    >>> import theano
    >>> @as_op(itypes=[theano.generic, theano.generic], otypes=[theano.generic])
    ... def joined(a, b):
    ...     return a + b
    >>> x = theano.generic("x")
    >>> theano.function([x], joined(x, x))("na")
    'nana'
    """
    ins = [itypes] if isinstance(itypes, Type) else list(itypes)
    outs = [otypes] if isinstance(otypes, Type) else list(otypes)
    for what, kinds in (("itypes", ins), ("otypes", outs)):
        for kind in kinds:
            if not isinstance(kind, Type):
                raise TypeError(f"{what} are types, such as theano.tensor.dvector, not {kind!r}")

    def decorate(fn: Callable[..., Any]) -> FromFunctionOp:
        return FromFunctionOp(fn, ins, outs, infer_shape, grad)

    return decorate
