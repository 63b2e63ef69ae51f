"""A graph that a linker has accepted: what older programs get thunks and functions from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.codegen.blocks import write_block
from theano.compile.function import function
from theano.compile.inputs import In, Out
from theano.compile.mode import Mode
from theano.compile.shared import Container
from theano.graph.fgraph import FunctionGraph
from theano.graph.variable import Constant
from theano.runtime.link import Linker, accepter

Cell = list[Any]


@accepter.register
class Accepted:
    """A linker and a graph.

    Attributes
    ----------
    linker : Linker
    fgraph : FunctionGraph
    """

    def __init__(self, linker: Linker, fgraph: FunctionGraph):
        self.linker, self.fgraph = linker, fgraph

    def make_function(self, unpack_single: bool = True, **kwargs: Any) -> Callable[..., Any]:
        """Return a function of the values of the graph's inputs; it returns those of the outputs."""
        inputs = [In(v, borrow=True, mutable=False) for v in self.fgraph.inputs]
        one = unpack_single and len(self.fgraph.outputs) == 1
        outputs = [Out(v, borrow=True) for v in self.fgraph.outputs]
        mode = Mode(self.linker, None)
        made: Callable[..., Any] = function(
            inputs, outputs[0] if one else outputs, mode=mode, accept_inplace=True, on_unused_input="ignore"
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
        computed = self.make_function(unpack_single=False)

        def thunk() -> None:
            for cell, value in zip(outs, computed(*(cell[0] for cell in ins)), strict=True):
                cell[0] = value

        vars(thunk).update(inputs=ins, outputs=outs, lazy=False)
        readers = [Container(v, cell, name=v.name) for v, cell in zip(self.fgraph.inputs, ins, strict=True)]
        makers = [
            Container(v, cell, readonly=True, name=v.name)
            for v, cell in zip(self.fgraph.outputs, outs, strict=True)
        ]
        return thunk, readers, makers

    def code_gen(self) -> str:
        """Return the C++ of the whole graph as one block."""
        nodes = self.fgraph.toposort()
        inputs = [v for v in self.fgraph.inputs if not isinstance(v, Constant)]
        return write_block(nodes, inputs, self.fgraph.outputs).text

    get_src_code = code_gen

