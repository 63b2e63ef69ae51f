"""The op of lazy choice: of two branches only the one is computed that a condition says.

People call it through :mod:`theano.ifelse`; the rules are in :mod:`theano.tensor.control.rules.choices`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gradient import DisconnectedType
from theano.gradient.absent import zeros_like
from theano.graph import Apply, Op, Variable
from theano.tensor.convert import as_tensor_variable, is_tensor
from theano.tensor.device.inner import is_array, may_be_there
from theano.tensor.elemwise.functions import cast
from theano.tensor.shape.basic import patternbroadcast

if TYPE_CHECKING:
    from theano.graph.annotations import Operands, Storage, Values
    from theano.tensor.annotations import Shape, TensorLike, Tensors
    from theano.tensor.type import Tensor


class IfElse(Op):
    """One of two lists of values; the other one is not computed.

    Parameters
    ----------
    n_outs : int
        How many values each branch has.
    as_view : bool
        Return the values themselves, sharing their memory; otherwise copies. Rewriting sets it.
    gpu : bool
        Leave values as they are that are no tensors of this machine.
    name : str, optional
        Shown where the graph is printed.

    Raises
    ------
    ValueError
        The number of values is not twice ``n_outs``.
    TypeError
        The condition has dimensions, or the types of two branches differ.

    Examples
    --------
    >>> import theano.tensor as T
    >>> c, x = T.bscalar("c"), T.dvector("x")
    >>> IfElse(2)(c, x, x + 1, x * 2, x * 3)
    [if{}.0, if{}.1]
    """

    __props__ = ("as_view", "gpu", "n_outs")
    #: The machine asks it which inputs it needs.
    lazy = True

    def __init__(self, n_outs: int, as_view: bool = False, gpu: bool = False, name: str | None = None):
        self.n_outs, self.as_view, self.gpu, self.name = int(n_outs), bool(as_view), bool(gpu), name
        if self.as_view:
            self.view_map = {k: [1 + k, 1 + self.n_outs + k] for k in range(self.n_outs)}

    def __str__(self) -> str:
        words = [self.name or "", "inplace" if self.as_view else "", "gpu" if self.gpu else ""]
        return f"if{{{','.join(filter(None, words))}}}"

    def like(self, n_outs: int, suffix: str = "") -> IfElse:
        """Return the same choice between other numbers of values, as copies."""
        return IfElse(n_outs, gpu=self.gpu, name=self.name and self.name + suffix)

    def branches(self, node: Apply) -> tuple[list[Variable], list[Variable]]:
        """Return the values of the one branch and those of the other."""
        return node.inputs[1 : 1 + self.n_outs], node.inputs[1 + self.n_outs :]

    def make_node(self, condition: Any, *values: Variable) -> Apply:
        """Return the node for a condition, then the values if it is true, then those if it is not."""
        if len(values) != 2 * self.n_outs:
            raise ValueError(
                f"{self} with {self.n_outs} outputs takes a condition and {2 * self.n_outs} values, got {len(values)}"
            )
        if not isinstance(condition, Variable) or not self.gpu:
            condition = as_tensor_variable(condition)
        if condition.type.ndim:
            raise TypeError(
                f"the condition {condition} of {self} is of type {condition.type}, and must be a scalar: 0 stands for "
                "False, anything else for True. To choose element by element use theano.tensor.switch; or say "
                "theano.tensor.all or theano.tensor.any of the condition"
            )
        made = [v if isinstance(v, Variable) and not is_tensor_like(v) else as_tensor_variable(v) for v in values]
        then, other = made[: self.n_outs], made[self.n_outs :]
        for k, (t, f) in enumerate(zip(then, other, strict=True)):
            if t.type != f.type:
                raise TypeError(_unlike(t, f, k, self))
        return Apply(self, [condition, *made], [t.type() for t in then])

    # -- computing ------------------------------------------------------------------------------------------------

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Choose among values that are all there."""
        first = 1 if np.asarray(inputs[0]).astype(bool) else 1 + self.n_outs
        for k, cell in enumerate(output_storage):
            value = inputs[first + k]
            cell[0] = value if self.as_view else node.outputs[k].type.value_copy(value)

    def make_thunk(
        self,
        node: Apply,
        storage_map: Any,
        compute_map: Mapping[Variable, list[int]],
        no_recycling: Sequence[Variable],
        impl: str | None = None,
    ) -> Callable[[], Any]:
        """Return a thunk that asks for the condition, and then for the values of one branch."""
        cells = [storage_map[v] for v in node.inputs]
        there = [compute_map[v] for v in node.inputs]
        outputs = [storage_map[v] for v in node.outputs]
        done = [compute_map[v] for v in node.outputs]

        def thunk() -> list[int]:
            if not there[0][0]:
                return [0]
            first = 1 if np.asarray(cells[0][0]).astype(bool) else 1 + self.n_outs
            missing = [k for k in range(first, first + self.n_outs) if not there[k][0]]
            if missing:
                return missing
            self.perform(node, [cell[0] for cell in cells], outputs)
            for flag in done:
                flag[0] = 1
            return []

        vars(thunk).update(lazy=True)
        return thunk

    def do_constant_folding(self, node: Apply) -> bool:
        """Return False: a rule takes the branch itself."""
        return False

    # -- static properties -------------------------------------------------------------------------------------------

    def infer_shape(self, node: Apply, shapes: Sequence[Sequence[Tensor]]) -> list[Shape]:
        """Return lengths that are chosen as the values are."""
        condition, n = node.inputs[0], self.n_outs
        return [
            None if then is None or other is None else tuple(
                t if t is f else self.like(1, "_shape")(condition, cast(t, "int64"), cast(f, "int64"))
                for t, f in zip(then, other, strict=True)
            )
            for then, other in zip(shapes[1 : 1 + n], shapes[1 + n :], strict=True)
        ]  # fmt: skip

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Return that the condition acts on all outputs, and each value on its own."""
        n = self.n_outs
        return [[True] * n, *([k == i % n for k in range(n)] for i in range(2 * n))]

    def place_on_device(self, node: Apply, placing: Any) -> Sequence[Variable] | None:
        """Return a choice on each device of the values that a branch has or needs there, and one of the rest."""
        n, by_device = self.n_outs, dict[str | None, list[int]]()
        for k, (then, other) in enumerate(zip(*self.branches(node), strict=True)):
            by_device.setdefault(_place_of(node, k, then, other, placing), []).append(k)
        if node in placing.on_host or not any(by_device):
            return None
        found: dict[int, Variable] = {}
        for device, numbers in by_device.items():
            values = [placing.on(node.inputs[first + k], device) for first in (1, 1 + n) for k in numbers]
            op = IfElse(len(numbers), gpu=device is not None, name=self.name)
            kinds = [values[i].type for i in range(len(numbers))]
            made = Apply(op, [node.inputs[0], *values], [kind.make_variable() for kind in kinds]).outputs
            back = made if device is None else [placing.placement.from_device(v) for v in made]
            found.update(zip(numbers, back, strict=True))
        return [found[k] for k in range(n)]

    # -- derivatives -------------------------------------------------------------------------------------------------

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient to the values that are chosen, zeros to the others; as lazy as the choice itself."""
        condition, n = inputs[0], self.n_outs
        still = [k for k in range(n) if not isinstance(output_grads[k].type, DisconnectedType)]
        # At a switch of branches the derivative does not exist; elsewhere it is 0.
        found: list[Variable] = [zeros_like(condition), *(DisconnectedType()() for _ in range(2 * n))]
        if not still:
            return found
        for first, suffix in ((1, "_grad_t"), (1 + n, "_grad_f")):
            given: list[Variable] = []
            zeros: list[Variable] = []
            for k in still:
                g, zero = alike(output_grads[k], zeros_like(inputs[first + k]))
                given.append(g)
                zeros.append(zero)
            chosen = [*given, *zeros] if first == 1 else [*zeros, *given]
            made = self.like(len(still), suffix)(condition, *chosen, return_list=True)
            for k, v in zip(still, made, strict=True):
                found[first + k] = v
        return found

    def R_op(self, inputs: Operands, eval_points: Operands) -> list[Variable | None]:
        """Return the direction of the branch that is chosen."""
        n = self.n_outs
        found: list[Any] = [None] * n
        moved = [k for k in range(n) if eval_points[1 + k] is not None or eval_points[1 + n + k] is not None]
        pairs = [
            alike(*(zeros_like(inputs[i]) if eval_points[i] is None else eval_points[i] for i in (1 + k, 1 + n + k)))
            for k in moved
        ]
        if pairs:
            op = self.like(len(pairs), "_rop")
            values = op(inputs[0], *(t for t, _ in pairs), *(f for _, f in pairs), return_list=True)
            for k, v in zip(moved, values, strict=True):
                found[k] = v
        return found


def _place_of(node: Apply, k: int, then: Variable, other: Variable, placing: Any) -> str | None:
    """Return on which device the values that output ``k`` chooses from should be, None: on the host."""
    if not (may_be_there(then) and may_be_there(other)):
        return None
    known: str | None = placing.device_at(then) or placing.device_at(other)
    if known is None and node.outputs[k] in placing.there and is_array(then):
        known = placing.device_of(node, [then, other])
    return known


def is_tensor_like(v: TensorLike) -> bool:
    """Return whether ``v`` is a tensor, or knows itself as one."""
    return is_tensor(v) or hasattr(v, "_as_TensorVariable")


def _unlike(t: Variable, f: Variable, k: int, op: IfElse) -> str:
    return (
        f"the two branches of {op} must be of the same type, but value {k} is {t} of type {t.type} in the one and {f} "
        f"of type {f.type} in the other. Convert one of them, with theano.tensor.cast or with dimshuffle"
    )


def alike(t: Any, f: Any) -> tuple[Variable, Variable]:
    """Return two values under the broadcast pattern that serves both, where they differ only in that."""
    if not (is_tensor(t) and is_tensor(f)) or t.type == f.type or t.type.ndim != f.type.ndim:
        return t, f
    if t.type.dtype != f.type.dtype:
        return t, f
    pattern = [a and b for a, b in zip(t.type.broadcastable, f.type.broadcastable, strict=True)]
    return patternbroadcast(t, pattern), patternbroadcast(f, pattern)
