"""``MonitorMode``: functions of the user's are called before and after each node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.compile.mode import Mode
from theano.graph.apply import Apply
from theano.printing import debugprint
from theano.rewriting import Query
from theano.runtime.inspection import inspection_of
from theano.runtime.interpreter import NodeThunk, WrapLinker
from theano.runtime.link import Linker

Look = Callable[[int, Apply, NodeThunk], Any]


class MonitorMode(Mode):
    """Calls functions before and after each node is computed.

    Parameters
    ----------
    pre_func, post_func : callable, optional
        ``func(i, node, fn)``: the number of the node, the node, and what computes it. ``fn.inputs[k][0]`` is the value
        of input ``k``, ``fn.outputs[k][0]`` that of output ``k``.
    optimizer : Query or str
        Which rewrites; as for `Mode`. Without ``"inplace"``, inputs are still there afterwards.
    linker : Linker or str, optional
        How nodes are computed; by default ``config.linker``.

    Examples
    --------
    >>> import theano
    >>> from theano.graph import Op, generic
    >>> class Add(Op):
    ...     __props__ = ()
    ...     itypes, otypes = [generic, generic], [generic]
    ...     def perform(self, node, inputs, output_storage):
    ...         output_storage[0][0] = inputs[0] + inputs[1]
    >>> def after(i, node, fn):
    ...     print(i, node.op, [cell[0] for cell in fn.inputs], [cell[0] for cell in fn.outputs])
    >>> x = generic("x")
    >>> theano.function([x], Add()(x, x), mode=MonitorMode(post_func=after))(5)
    0 Add [5, 5] [10]
    10
    """

    def __init__(
        self,
        pre_func: Look | None = None,
        post_func: Look | None = None,
        optimizer: Query | str | None = "default",
        linker: Linker | str | None = None,
    ):
        self.pre_func, self.post_func = pre_func, post_func
        plain = Mode(linker, optimizer)
        super().__init__(WrapLinker([plain.linker], self.eval), plain.optimizer)
        self.provided_linker, self.provided_optimizer = plain.provided_linker, plain.provided_optimizer

    def eval(self, i: int, node: Apply, fn: NodeThunk) -> None:
        """Compute a node, between the two functions."""
        if self.pre_func is not None:
            self.pre_func(i, node, fn)
        fn()
        if self.post_func is not None:
            self.post_func(i, node, fn)

    def clone(self, link_kwargs: dict[str, Any] | None = None, optimizer: Query | str = "", **kwargs: Any) -> Mode:
        """Return a mode like this one."""
        assert isinstance(self.linker, WrapLinker)
        inner = self.linker.linkers[0]
        return type(self)(
            kwargs.get("pre_func", self.pre_func),
            kwargs.get("post_func", self.post_func),
            optimizer or self.optimizer,
            inner.clone(**link_kwargs) if link_kwargs else inner,
        )


def detect_nan(i: int, node: Apply, fn: NodeThunk) -> None:
    """Print a node with its values if it has computed a NaN: to be the ``post_func`` of a `MonitorMode`."""
    for v, cell in zip(node.outputs, fn.outputs, strict=True):
        found = inspection_of(v.type).extremes(cell[0])
        if found is not None and found.nan:
            print("*** NaN detected ***")
            debugprint(node)
            print(f"Inputs : {[cell[0] for cell in fn.inputs]}")
            print(f"Outputs: {[cell[0] for cell in fn.outputs]}")
            break


__all__ = ["MonitorMode", "detect_nan"]
