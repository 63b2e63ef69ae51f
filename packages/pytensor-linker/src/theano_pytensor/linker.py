"""The linker: one function of ours for a whole graph of PyTensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy import asarray
from pytensor.link.basic import JITLinker
from pytensor.link.utils import raise_with_op
from pytensor.scalar.basic import ScalarType

import theano
import theano_pytensor.ops  # noqa: F401  (the entries)
from theano.compile import In
from theano_pytensor.convert import standing_for, translate
from theano_pytensor.types import fitted


class TheanoLinker(JITLinker):
    """Compiles graphs of PyTensor with Theano.

    Examples
    --------
    >>> import pytensor, pytensor.tensor as pt
    >>> x = pt.dvector("x")
    >>> pytensor.function([x], pt.exp(x).sum(), mode="THEANO")([0, 0])
    array(2.)
    """

    required_rewrites = ("minimum_compile",)
    incompatible_rewrites = (
        "cxx_only", "BlasOpt", "fusion", "inplace", "random_make_inplace", "scan_save_mem_prealloc",
        "scan_reduce_trace_prealloc", "local_careduce_fusion",
    )  # fmt: skip

    fgraph: Any

    def fgraph_convert(
        self, fgraph: Any, order: Any = None, input_storage: Any = None, output_storage: Any = None,
        storage_map: Any = None, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """Return the function of ours that computes a graph."""
        inputs = [standing_for(v) for v in fgraph.inputs]
        made = translate(fgraph.outputs, dict(zip(fgraph.inputs, inputs, strict=True)))
        outputs = [fitted(x, v.type) for x, v in zip(made, fgraph.outputs, strict=True)]
        supervisor = getattr(fgraph, "_supervisor", None)  # of a whole function: what may not be overwritten
        kept = set(fgraph.inputs if supervisor is None else supervisor.protected)
        arguments = [In(x, borrow=True, mutable=v not in kept) for v, x in zip(fgraph.inputs, inputs, strict=True)]
        # A name of its own: errors would say instead where in this file the function was made.
        function = theano.function(arguments, outputs, on_unused_input="ignore", name="a function of PyTensor")
        function.trust_input = True
        return function

    def create_thunk_inputs(self, storage_map: dict[Any, Any]) -> list[Any]:
        """Return the cells that hold the arguments."""
        return [storage_map[v] for v in self.fgraph.inputs]

    def jit_compile(self, fn: Any) -> Any:
        """Return the function, which is compiled."""
        return fn

    def create_jitable_thunk(
        self, compute_map: Any, order: Any, input_storage: Any, output_storage: Any, storage_map: Any
    ) -> Any:
        """Return a thunk that hands the cells' contents to the function, and its results to cells."""
        fgraph = self.fgraph
        function = self.fgraph_convert(fgraph)
        cells = self.create_thunk_inputs(storage_map)
        results = [storage_map[v] for v in fgraph.outputs]
        scalars = [k for k, v in enumerate(fgraph.outputs) if isinstance(v.type, ScalarType)]
        given = [k for k, v in enumerate(fgraph.inputs) if isinstance(v.type, ScalarType)]
        nodes = [v.owner for v in fgraph.outputs if v.owner is not None][:1]

        def failed() -> None:
            """Say of an error which variable of PyTensor it is about."""
            raise_with_op(fgraph, nodes[0], thunk) if nodes else None

        thunk: Any = _thunk(function, cells, results, given, scalars, failed)
        thunk.inputs, thunk.outputs, thunk.lazy = cells, results, False
        return [thunk], nodes, function


def _thunk(
    function: Any, inputs: Sequence[Any], outputs: Sequence[Any], given: Sequence[int], scalars: Sequence[int],
    failed: Callable[[], None],
) -> Callable[[], Any]:  # fmt: skip
    """Return a function without arguments, written for just these cells: a call costs its items alone."""
    space: dict[str, Any] = {f"i{k}": cell for k, cell in enumerate(inputs)}
    space |= {f"o{k}": cell for k, cell in enumerate(outputs)}
    space |= {"function": function, "asarray": asarray, "failed": failed}
    arguments = ", ".join(f"asarray(i{k}[0])" if k in given else f"i{k}[0]" for k in range(len(inputs)))
    targets = ", ".join(f"o{k}[0]" for k in range(len(outputs)))
    lines = [
        f"def thunk({', '.join(f'{name}={name}' for name in space)}):",
        "    try:",
        f"        made = function({arguments})",
        *(f"        made[{k}] = made[{k}][()]" for k in scalars),
        "    except Exception:",
        "        failed()",
        "        raise",  # where no node is to be named
        f"    [{targets}] = made" if targets else "",
        "    return made",  # a call of PyTensor's takes them from here, and does not look into the cells
    ]
    exec("\n".join(lines), space)
    thunk: Callable[[], Any] = space["thunk"]
    return thunk
