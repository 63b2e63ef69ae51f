"""A graph that a linker has accepted, of which it makes thunks and functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.codegen.blocks import write_block
from theano.compile.function import function
from theano.compile.inputs import In, Out
from theano.compile.mode import Mode
from theano.compile.shared import Container
from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.variable import Constant, Variable
from theano.runtime.link import Linker

Cell = list[Any]


class Accepted:
    """A linker and a graph.

    Attributes
    ----------
    linker : Linker
    fgraph : FunctionGraph
    """

    def __init__(self, linker: Linker, fgraph: FunctionGraph):
        self.linker, self.fgraph = linker, fgraph

    def make_function(self, unpack_single: bool = True, **kwargs: object) -> Callable[..., Any]:
        """Return a function of the values of the graph's inputs; it returns those of the outputs."""
        outputs = self.fgraph.outputs
        return self._function_of(self.fgraph.inputs, outputs[0] if unpack_single and len(outputs) == 1 else outputs)

    def _function_of(self, inputs: Sequence[Variable], outputs: Variable | Sequence[Variable]) -> Callable[..., Any]:
        made: Callable[..., Any] = function(
            [In(v, borrow=True) for v in inputs],
            Out(outputs, borrow=True) if isinstance(outputs, Variable) else [Out(v, borrow=True) for v in outputs],
            mode=Mode(self.linker, None),
            accept_inplace=True,
            on_unused_input="ignore",
        )
        return made

    def make_thunk(
        self,
        input_storage: Sequence[Cell] | None = None,
        output_storage: Sequence[Cell] | None = None,
        storage_map: dict[Any, Cell] | None = None,
    ) -> tuple[Callable[[], None], list[Container], list[Container]]:
        """Return a thunk, and containers of the values that it reads and makes.

        Parameters
        ----------
        input_storage, output_storage : list of lists of one element, optional
            Where the values are to be.
        storage_map : dict from Variable to list of one element, optional
            The same, by variable.
        """
        known = storage_map or {}
        ins = list(input_storage or [known.get(v, [None]) for v in self.fgraph.inputs])
        outs = list(output_storage or [known.get(v, [None]) for v in self.fgraph.outputs])
        # What nothing reads needs no value, and may have none that its type takes.
        read = [i for i, v in enumerate(self.fgraph.inputs) if self.fgraph.clients[v]]
        computed = self._function_of([self.fgraph.inputs[i] for i in read], self.fgraph.outputs)

        def thunk() -> None:
            for cell, value in zip(outs, computed(*(ins[i][0] for i in read)), strict=True):
                cell[0] = value

        vars(thunk).update(inputs=ins, outputs=outs, lazy=False)
        readers = [Container(v, cell, name=v.name) for v, cell in zip(self.fgraph.inputs, ins, strict=True)]
        makers = [
            Container(v, cell, readonly=True, name=v.name)
            for v, cell in zip(self.fgraph.outputs, outs, strict=True)
        ]
        return thunk, readers, makers

    def make_all(
        self,
        input_storage: Sequence[Cell] | None = None,
        output_storage: Sequence[Cell] | None = None,
        storage_map: dict[Any, Cell] | None = None,
    ) -> tuple[Callable[[], None], list[Container], list[Container], list[Callable[[], None]], list[Apply]]:
        """Return what :meth:`make_thunk` does, the thunk again as the only one of a list, and the nodes in order."""
        thunk, readers, makers = self.make_thunk(input_storage, output_storage, storage_map)
        return thunk, readers, makers, [thunk], self.linker.order(self.fgraph)

    def code_gen(self) -> str:
        """Return the C++ of the whole graph as one block."""
        nodes = self.fgraph.toposort()
        inputs = [v for v in self.fgraph.inputs if not isinstance(v, Constant)]
        return write_block(nodes, inputs, self.fgraph.outputs).text

    get_src_code = code_gen

