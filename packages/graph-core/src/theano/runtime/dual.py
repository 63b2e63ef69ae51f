"""A linker that computes each node in C and in Python, and compares."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano.graph.apply import Apply
from theano.runtime.interpreter import WrapLinker
from theano.runtime.link import Linker, OpWiseCLinker, PerformLinker, Schedule

if TYPE_CHECKING:
    from theano.runtime.interpreter import NodeThunk

Checker = Callable[[Any, Any], Any]


class DualLinker(WrapLinker):
    """Computes each node in Python and in C, and compares the results.

    Parameters
    ----------
    checker : callable, optional
        ``checker(x, y)`` is given a result of Python and one of C, each in its storage, a list of one element, and
        raises if they differ too much. By default their type says: ``values_eq_approx``.
    schedule : callable, optional
        From a graph to its nodes in the order in which they run.

    Examples
    --------
    >>> import theano
    >>> from theano.graph import Op, generic
    >>> class Same(Op):
    ...     __props__ = ()
    ...     itypes, otypes = [generic], [generic]
    ...     def perform(self, node, inputs, output_storage):
    ...         output_storage[0][0] = inputs[0]
    ...     def c_code(self, node, name, inputs, outputs, sub):
    ...         return f"{outputs[0]} = PyLong_FromLong(3);"
    >>> x = generic("x")
    >>> f = theano.function([x], Same()(x), mode=theano.Mode(DualLinker(), None))
    >>> f(3)
    3
    >>> f(4)
    Traceback (most recent call last):
        ...
    ValueError: Same computes 4 in Python, but 3 in C...
    """

    def __init__(self, checker: Checker | None = None, schedule: Schedule = None):
        self_checker = checker

        def compare(i: int, node: Apply, in_python: NodeThunk, in_c: NodeThunk) -> None:
            in_python()
            in_c()
            for output, x, y in zip(node.outputs, in_python.outputs, in_c.outputs, strict=True):
                if self_checker is not None:
                    self_checker(x, y)
                elif not output.type.values_eq_approx(x[0], y[0]):
                    raise ValueError(f"{node.op} computes {x[0]!r} in Python, but {y[0]!r} in C")

        linkers: list[Linker] = [PerformLinker(schedule=schedule), OpWiseCLinker(schedule=schedule)]
        super().__init__(linkers, compare)
        self.checker, self.schedule = checker, schedule

    def clone(self, allow_gc: bool | None = None) -> Linker:
        """Return a linker like this one."""
        return DualLinker(self.checker, self.schedule)

    checker: Checker | None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, DualLinker) and self.checker == other.checker

    def __hash__(self) -> int:
        return hash((type(self), self.checker))
