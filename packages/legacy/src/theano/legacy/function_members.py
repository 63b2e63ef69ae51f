"""What older programs read of a function: its nodes and cells (``f.fn``), and facts of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from theano.compile.executable import Function
from theano.compile.inputs import SymbolicInput, SymbolicOutput
from theano.compile.shared import Container
from theano.graph.apply import Apply
from theano.graph.variable import Constant, Variable
from theano.runtime.interpreter import NodeFunction, NodeThunk


class Members:
    """What a function shows besides its own members.

    Parameters
    ----------
    function : Function

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> f = theano.function([theano.In(x, value=3)], theano.compile.view_op(x))
    >>> f.defaults, f.n_returned_outputs
    ([(False, True, 3)], 1)
    """

    def __init__(self, function: Function):
        self._function = function

    @property
    def fn(self) -> Internals:
        """The nodes that run, and where values are stored; to call it is to call the function without arguments."""
        made: Internals = vars(self._function).setdefault("fn", Internals(self._function))
        return made

    @property
    def output_storage(self) -> list[Container]:
        """Containers for the outputs, which ``f.fn()`` fills; a plain call returns its results, and keeps none."""
        fresh = [Container(o.variable, [None], readonly=True) for o in self._function.maker.outputs]
        kept: list[Container] = vars(self._function).setdefault("output_storage", fresh)
        return kept

    @property
    def nodes_with_inner_function(self) -> list[Any]:
        """The ops of the function that have a graph or a function inside."""
        ops = [n.op for n in self._function.maker.linked.nodes]
        return [op for op in ops if getattr(op, "inner_graph", None) is not None or hasattr(op, "fn")]

    @property
    def _check_for_aliased_inputs(self) -> bool:
        """Whether an argument may be memory of a stored value that a call changes.

        Programs also set it, so as not to have it looked at, which takes no time here.
        """
        inputs = self._function.maker.inputs
        taken = any(not i.implicit and i.update is None and (i.borrow or i.mutable) for i in inputs)
        return taken and any(i.update is not None for i in inputs)

    @property
    def outputs(self) -> list[SymbolicOutput]:
        """The outputs as they were asked for."""
        return list(self._function.maker.outputs)

    @property
    def n_returned_outputs(self) -> int:
        """How many outputs were asked for: new values of shared variables do not count."""
        return len(self._function.maker.outputs)

    @property
    def defaults(self) -> list[tuple[bool, bool, Any]]:
        """For each input, whether calls must give it, whether its value is put back after a call, and that value."""
        given = zip(self._function.maker.inputs, self._function.input_storage, strict=True)
        return [
            (not spec.implicit and container.value is None, spec.update is None and not spec.implicit, container.value)
            for spec, container in given
        ]

    @property
    def refeed(self) -> list[bool]:
        """For each input, whether its value is put back after a call."""
        return [back for _, back, _ in self.defaults]

    @property
    def inv_finder(self) -> dict[Container, SymbolicInput]:
        """The input of each container."""
        return dict(zip(self._function.input_storage, self._function.maker.inputs, strict=True))

    @property
    def indices(self) -> list[tuple[SymbolicInput, list[int], list[SymbolicInput]]]:
        """For each input, itself, its position, and itself in a list: inputs that stand for several are gone."""
        return [(spec, [i], [spec]) for i, spec in enumerate(self._function.maker.inputs)]

    def sync_shared(self) -> None:
        """Wait until the shared variables hold what the last call left there: here they do at once."""


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
        The values of nodes share memory that the machine uses again within a call: their cells are empty, unless one
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

    def __init__(self, function: Any):
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
        """This: the machine and its description are one."""
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
