"""The inputs and outputs of a loop by the names that programs of the old Theano ask a ``Scan`` for.

There, the kinds are: *seqs*; *mitsot* and *sitsot*, outputs computed from several past values of themselves, or from
the last one; *nitsot*, outputs without a past; *shared*, what steps update; *non_seqs*. A *mitmot* also writes several
rows in a step: its gradients were made of these. Here a gradient carries what it adds up, so that none exists.

All is read from :class:`~theano.scan.spec.LoopSpec`. Outer lists are shorter than they were there: a sequence is one
input however many taps it has, and an output without a past needs none.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count
from typing import Any

from theano.graph.apply import Apply
from theano.scan.op import Scan
from theano.scan.spec import InnerInputs, InnerOutputs, LoopSpec, OuterInputs, OuterOutputs

_ONE = (-1,)


def _inputs(given: Apply[Any, Any] | Sequence[Any]) -> Sequence[Any]:
    return given.inputs if isinstance(given, Apply) else given


def _outputs(given: Apply[Any, Any] | Sequence[Any]) -> Sequence[Any]:
    return given.outputs if isinstance(given, Apply) else given


class Kinds:
    """Lists of a loop by kind: ``inner_*`` of the step's variables, ``outer_*`` of the node's.

    The op shows them as attributes of its own. Each ``inner_*`` takes a list as long as ``inputs``, or for
    ``inner_*_outs`` as ``outputs``; each ``outer_*`` takes a node, or its inputs or outputs.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, w, first = T.dvector("x"), T.dscalar("w"), T.dvector("first")
    >>> def step(x_t, y_before, y_last, w):
    ...     return w * y_before + y_last, x_t * y_last
    >>> (y, z), _ = theano.scan(step, x, [{"initial": first, "taps": [-2, -1]}, None], w)
    >>> op = z.owner.op
    >>> op.inner_mitsot(op.inputs), op.outer_seqs(z.owner), op.outer_non_seqs(z.owner)
    ([first[t-2], first[t-1]], [x], [w])
    >>> op.n_mit_sot, op.n_nit_sot, op.tap_array
    (1, 1, [[-2, -1]])
    >>> op.var_mappings["inner_inp_from_outer_out"]
    {0: [1, 2], 1: []}
    """

    def __init__(self, op: Scan) -> None:
        self.spec = op.spec

    # -- lists -------------------------------------------------------------------------------------------------

    def _inner(self, inputs: Sequence[Any]) -> InnerInputs:
        return self.spec.inner_inputs(inputs)

    def _inner_outs(self, outputs: Sequence[Any]) -> InnerOutputs:
        return self.spec.inner_outputs(outputs)

    def _outer(self, given: Apply[Any, Any] | Sequence[Any]) -> OuterInputs:
        return self.spec.outer_inputs(_inputs(given))

    def _outer_outs(self, given: Apply[Any, Any] | Sequence[Any]) -> OuterOutputs:
        return self.spec.outer_outputs(_outputs(given))

    def _several(self, states: Sequence[Any]) -> list[Any]:
        return [v for v, taps in zip(states, self.spec.states, strict=True) if taps != _ONE]

    def _single(self, states: Sequence[Any]) -> list[Any]:
        return [v for v, taps in zip(states, self.spec.states, strict=True) if taps == _ONE]

    def inner_seqs(self, list_inputs: Sequence[Any]) -> list[Any]:
        """Return the rows of sequences that a step sees."""
        return list(chain.from_iterable(self._inner(list_inputs).sequences))

    def outer_seqs(self, list_inputs: Apply[Any, Any] | Sequence[Any]) -> list[Any]:
        """Return the sequences."""
        return self._outer(list_inputs).sequences

    def inner_mitmot(self, list_inputs: Sequence[Any]) -> list[Any]:
        """Return nothing: such outputs do not exist."""
        return []

    outer_mitmot = inner_mitmot_outs = outer_mitmot_outs = inner_mitmot

    def inner_mitsot(self, list_inputs: Sequence[Any]) -> list[Any]:
        """Return the past values of outputs that are computed from several."""
        return list(chain.from_iterable(self._several(self._inner(list_inputs).states)))

    def outer_mitsot(self, list_inputs: Apply[Any, Any] | Sequence[Any]) -> list[Any]:
        """Return the first rows of outputs that are computed from several past values."""
        return self._several(self._outer(list_inputs).states)

    def inner_mitsot_outs(self, list_outputs: Sequence[Any]) -> list[Any]:
        """Return the new values of outputs that are computed from several past values."""
        return self._several(self._inner_outs(list_outputs).states)

    def outer_mitsot_outs(self, list_outputs: Apply[Any, Any] | Sequence[Any]) -> list[Any]:
        """Return the outputs that are computed from several past values."""
        return self._several(self._outer_outs(list_outputs).states)

    def inner_sitsot(self, list_inputs: Sequence[Any]) -> list[Any]:
        """Return the last values of outputs that are computed from these."""
        return list(chain.from_iterable(self._single(self._inner(list_inputs).states)))

    def outer_sitsot(self, list_inputs: Apply[Any, Any] | Sequence[Any]) -> list[Any]:
        """Return the first rows of outputs that are computed from the last value."""
        return self._single(self._outer(list_inputs).states)

    def inner_sitsot_outs(self, list_outputs: Sequence[Any]) -> list[Any]:
        """Return the new values of outputs that are computed from the last one."""
        return self._single(self._inner_outs(list_outputs).states)

    def outer_sitsot_outs(self, list_outputs: Apply[Any, Any] | Sequence[Any]) -> list[Any]:
        """Return the outputs that are computed from the last value."""
        return self._single(self._outer_outs(list_outputs).states)

    def outer_nitsot(self, list_inputs: Apply[Any, Any] | Sequence[Any]) -> list[Any]:
        """Return nothing: outputs without a past have no input."""
        return []

    def inner_nitsot_outs(self, list_outputs: Sequence[Any]) -> list[Any]:
        """Return the values of outputs without a past."""
        return self._inner_outs(list_outputs).mapped

    def outer_nitsot_outs(self, list_outputs: Apply[Any, Any] | Sequence[Any]) -> list[Any]:
        """Return the outputs without a past."""
        return self._outer_outs(list_outputs).mapped

    def inner_shared(self, list_inputs: Sequence[Any]) -> list[Any]:
        """Return what stands for the shared variables that steps update."""
        return self._inner(list_inputs).carried

    def outer_shared(self, list_inputs: Apply[Any, Any] | Sequence[Any]) -> list[Any]:
        """Return the shared variables that steps update, or what they begin with."""
        return self._outer(list_inputs).carried

    def inner_shared_outs(self, list_outputs: Sequence[Any]) -> list[Any]:
        """Return the new values of shared variables."""
        return self._inner_outs(list_outputs).carried

    def outer_shared_outs(self, list_outputs: Apply[Any, Any] | Sequence[Any]) -> list[Any]:
        """Return what steps have made of shared variables."""
        return self._outer_outs(list_outputs).carried

    def inner_non_seqs(self, list_inputs: Sequence[Any]) -> list[Any]:
        """Return what stands for that which is the same in each step."""
        return self._inner(list_inputs).fixed

    def outer_non_seqs(self, list_inputs: Apply[Any, Any] | Sequence[Any]) -> list[Any]:
        """Return what is the same in each step."""
        return self._outer(list_inputs).fixed

    # -- numbers -----------------------------------------------------------------------------------------------

    n_mit_mot = n_mit_mot_outs = 0

    @property
    def n_seqs(self) -> int:
        """How many sequences there are."""
        return len(self.spec.sequences)

    @property
    def n_mit_sot(self) -> int:
        """How many outputs are computed from several past values."""
        return len(self._several(self.spec.states))

    @property
    def n_sit_sot(self) -> int:
        """How many outputs are computed from the last value."""
        return len(self._single(self.spec.states))

    @property
    def n_nit_sot(self) -> int:
        """How many outputs have no past."""
        return self.spec.mapped

    @property
    def n_shared_outs(self) -> int:
        """How many shared variables steps update."""
        return self.spec.carried

    @property
    def as_while(self) -> bool:
        """Whether a step says if it is the last one."""
        return self.spec.until

    @property
    def tap_array(self) -> list[list[int]]:
        """The taps of each output with a past, in the order of the outputs."""
        return [list(taps) for taps in self.spec.states]

    def mitsot_taps(self) -> list[list[int]]:
        """Return the taps of outputs that are computed from several past values."""
        return self._several(self.tap_array)

    # -- which belong together -----------------------------------------------------------------------------------

    @property
    def var_mappings(self) -> dict[str, dict[int, Any]]:
        """The same as :meth:`get_oinp_iinp_iout_oout_mappings`."""
        return self.get_oinp_iinp_iout_oout_mappings()

    def get_oinp_iinp_iout_oout_mappings(self) -> dict[str, dict[int, Any]]:
        """Return which inputs and outputs of the node and of a step belong together.

        Returns
        -------
        dict from str to dict
            ``{"A_from_B": {place in B: places in A}}``, A and B being two of ``outer_inp``, ``inner_inp``,
            ``inner_out`` and ``outer_out``. Of an outer one there is one place, -1 for none; of inner ones a list.
        """
        groups = _groups(self.spec)
        found: dict[str, dict[int, Any]] = {}
        for b, keys in enumerate(_LISTS):
            for a, places in enumerate(_LISTS):
                if a != b:
                    found[f"{places}_from_{keys}"] = {k: group[a] for group in groups for k in _as_places(group[b])}
        return found


_LISTS = ("outer_inp", "inner_inp", "inner_out", "outer_out")


def _as_places(where: Any) -> Sequence[int]:
    return where if isinstance(where, list) else [] if where == -1 else [where]


def _groups(spec: LoopSpec) -> list[tuple[int, list[int], list[int], int]]:
    """Return for each part of a loop its outer input, inner inputs, inner outputs, and outer output."""
    outer, inner, made = count(), count(), count()

    def rows(taps: Sequence[int]) -> list[int]:
        return [next(inner) for _ in taps]

    groups: list[tuple[int, list[int], list[int], int]] = [(next(outer), [], [], -1)]
    groups += [(next(outer), rows(taps), [], -1) for taps in spec.sequences]
    for taps in spec.states:
        out = next(made)
        groups.append((next(outer), rows(taps), [out], out))
    for _ in range(spec.mapped):
        out = next(made)
        groups.append((-1, [], [out], out))
    for _ in range(spec.carried):
        out = next(made)
        groups.append((next(outer), [next(inner)], [out], out))
    groups += [(next(outer), [next(inner)], [], -1) for _ in range(spec.fixed)]
    return groups
