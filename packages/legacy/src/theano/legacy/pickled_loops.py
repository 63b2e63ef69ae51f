"""Loops in pickles of older versions: they have buffers for all rows, and lengths of outputs without a past."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from theano.scan.op import Scan
from theano.scan.spec import LoopSpec


class OlderLoop:
    """What a ``Scan`` is asked for while it is read: both are methods of it."""

    def __init__(self, op: Scan):
        self.restore: Callable[[Mapping[str, Any]], None] = lambda state: _restore(op, state)
        self.parts_of_buffers: Callable[[Sequence[Any]], list[Any]] = lambda inputs: _parts(op, inputs)


class _Unknown:
    """Takes the place of a loop's description: an access to it is an error that names the missing part."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(
            "this loop is a gradient, pickled by an older version: load the loop itself, and take its gradient again"
        )

    def __hash__(self) -> int:
        return hash(self.until)


def _restore(op: Scan, state: Mapping[str, Any]) -> None:
    """Make an op what an older state says; steps of gradients wrote several rows, which is not known here."""
    if state["n_mit_mot"]:
        unknown = _Unknown()
        op.__dict__.update(spec=unknown, inner=unknown, name=state["name"], mode=None, truncate=-1, including=())
        return
    groups = ("n_mit_sot", "n_sit_sot")
    states = [tuple(map(int, taps)) for taps in state["tap_array"][: sum(state[name] for name in groups)]]
    own, sequences, carried = len(state["inputs"]), state["n_seqs"], state["n_shared_outs"]
    spec = LoopSpec(
        sequences=((0,),) * sequences,
        states=tuple(states),
        mapped=state["n_nit_sot"],
        carried=carried,
        fixed=own - sequences - sum(map(len, states)) - carried,
        until=state["as_while"],
    )
    Scan.__init__(op, spec, state["inputs"], state["outputs"], state["name"], state["mode"], state["truncate_gradient"])
    op.has_buffers = True


def _parts(op: Scan, inputs: Sequence[Any]) -> list[Any]:
    """Return the inputs of a node: of buffers the rows that are there before the first step, and no lengths."""
    if any("type" not in vars(v) for v in inputs):
        return list(inputs)  # of a rewritten graph, which is read in circles, and not used
    spec = op.spec
    first = 1 + len(spec.sequences)
    rest = first + len(spec.states)
    rows = [v[:depth] for v, depth in zip(inputs[first:rest], spec.depths, strict=True)]
    carried = inputs[rest : rest + spec.carried]
    return op.convert(*inputs[:first], *rows, *carried, *inputs[rest + spec.carried + spec.mapped :])
