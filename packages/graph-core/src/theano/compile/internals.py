"""``f.fn``: what older programs read of a function's inside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from theano.graph.apply import Apply
from theano.graph.variable import Constant, Variable
from theano.runtime.interpreter import NodeFunction, NodeThunk

if TYPE_CHECKING:
    from theano.compile.executable import Function


class Internals:
    """The nodes of a function, and where its values are stored.

    Parameters
    ----------
    function : Function

    Attributes
    ----------
    nodes : list of Apply
        In the order in which they run.
    storage_map : dict from Variable to list of one value
        For inputs the cells with their stored values, shared variables among them, and for constants cells with theirs.
        What nodes compute lies in memory that the machine uses again within a call: its cells are empty, unless one
        of ``thunks`` fills them.
    updated_vars : dict from Variable to Variable
        For each input that a call updates, the output with its new value.
    allow_gc : bool
        Whether memory is freed between calls.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> f = theano.function([theano.In(x, value=3)], theano.compile.view_op(x))
    >>> str(f.fn.nodes[0].op), f.fn.storage_map[f.maker.fgraph.inputs[0]], f.fn()
    ('ViewOp', [3], [3])
    """

    def __init__(self, function: Function):
        self._function = function
        maker = function.maker
        self.nodes: list[Apply] = maker.mode.linker.order(maker.fgraph)
        self.allow_gc = bool(getattr(maker.mode.linker, "allow_gc", True))
        inputs, outputs = maker.fgraph.inputs, maker.fgraph.outputs
        self.storage_map: dict[Variable, list[Any]] = {
            v: container.storage for v, container in zip(inputs, function.input_storage, strict=True)
        }
        for v in (v for node in self.nodes for v in (*node.inputs, *node.outputs)):
            self.storage_map.setdefault(v, [v.data if isinstance(v, Constant) else None])
        updated = [v for v, given in zip(inputs, maker.inputs, strict=True) if given.update is not None]
        self.updated_vars = dict(zip(updated, outputs[len(outputs) - len(updated) :], strict=True))

    @cached_property
    def thunks(self) -> list[NodeThunk]:
        """What computes each node by itself, from cells of ``storage_map`` into cells of it: ``thunk()``.

        ``thunk.inputs[k][0]`` and ``thunk.outputs[k][0]`` are the values. There is one for each of ``nodes``, but with
        the linker ``c``, which makes one of neighbours whose ops say in C what they do. A call of the function does
        not go through them.
        """
        linked = self._function.maker.linked
        return [self._thunk(NodeFunction(node, how)) for node, how in zip(linked.nodes, linked.how, strict=True)]

    def _thunk(self, computes: NodeFunction) -> NodeThunk:
        inputs = [self.storage_map[v] for v in computes.node.inputs]
        outputs = [self.storage_map[v] for v in computes.node.outputs]
        return NodeThunk(computes.node, lambda: computes(inputs, outputs), inputs, outputs)

    @property
    def input_storage(self) -> list[list[Any]]:
        """The cells of the inputs, shared variables among them."""
        return [container.storage for container in self._function.input_storage]

    @property
    def output_storage(self) -> list[list[Any]]:
        """The cells of the outputs, which a call of this fills."""
        return [container.storage for container in self._function.output_storage]

    @property
    def vm(self) -> Internals:
        """This: the machine and what is known of it are one."""
        return self

    def __call__(self, n_calls: int = 1, output_subset: Sequence[int] | None = None) -> list[Any]:
        """Call the function, ``n_calls`` times, with the values that its inputs have; return the last outputs.

        An input that calls must give may have been given one in its container: ``f.input_storage[0].value = 3``. The
        results are in ``f.output_storage`` as well.
        """
        options = {} if output_subset is None else {"output_subset": output_subset}
        function = self._function
        stored = [p for p in zip(function.maker.inputs, function.input_storage, strict=True) if not p[0].implicit]
        # Where each input has a default, the machine knows them, and what may be overwritten of them.
        wanted = any(spec.value is None for spec, _ in stored)
        arguments = [container.storage[0] for _, container in stored] if wanted else []
        if any(value is None for value in arguments):
            arguments = []  # the call says what lacks
        found: Any = None
        for _ in range(n_calls):
            found = function(*arguments, **options)
        if isinstance(found, dict):
            found = list(found.values())
        results = [] if found is None else list(found) if isinstance(found, (list, tuple)) else [found]
        places = range(len(function.output_storage)) if output_subset is None else output_subset
        for place, result in zip(places, results, strict=True):
            function.output_storage[place].storage[0] = result
        return results
