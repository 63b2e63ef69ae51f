"""The op of loops: a step that runs a given number of times, or until its condition is true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.compile import Out
from theano.compile.expression import ExpressionOp, InnerGraph
from theano.graph.apply import Apply
from theano.graph.type import Type
from theano.graph.variable import Variable
from theano.layers import lazily, member
from theano.lowering.targets import CPU
from theano.records import replace
from theano.scan.batching import many_rows
from theano.scan.gradient import connections, directions, gradients
from theano.scan.lengths import lengths_of_step
from theano.scan.places import placed
from theano.scan.run import run
from theano.scan.spec import LoopSpec, OuterOutputs
from theano.tensor.convert import as_tensor_variable, is_tensor
from theano.tensor.device.inner import stacked_type
from theano.tensor.elemwise import functions as F
from theano.tensor.shape.basic import Shape_i, patternbroadcast, unbroadcast
from theano.tensor.shape.reshape import shape_padleft

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Storage, Values
    from theano.runtime.profile import ProfileStats
    from theano.tensor.annotations import Directions, Shape, TensorLike, Tensors
    from theano.tensor.type import Tensor


class Scan(ExpressionOp):
    """A loop. People make one with :func:`theano.scan`.

    Parameters
    ----------
    spec : LoopSpec
        What the inputs and outputs are, of the node and of a step.
    inputs, outputs : list of Variable
        One step.
    name : str, optional
        Shown where the graph is printed, and in errors.
    mode : Mode or str, optional
        How a step is compiled, where it needs a program of its own.
    truncate : int
        Through how many of the last steps a gradient goes; -1: all.
    profile : bool or str
        Whether steps are profiled, and under which name.
    allow_gc : bool, optional
        Whether a step gives back memory that it does not need any more; None: as ``config.allow_gc`` says.
    including : tuple of str
        Tags of what takes part in the rewriting of a step beside what its mode says: a device, where it runs on one.

    Raises
    ------
    TypeError
        A result of a step is of another type than what it takes the place of.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, y, a = T.dscalars("x[t]", "y[t-1]", "a")
    >>> op = Scan(LoopSpec(sequences=((0,),), states=((-1,),), fixed=1), [x, y, a], [a * y + x], name="decay")
    >>> X, first = T.dvectors("X", "first")
    >>> rows = op(X.shape[0], X, first, a)
    >>> theano.function([X, first, a], rows)([1, 0, 0], [4], 0.5)
    array([4.  , 3.  , 1.5 , 0.75])
    """

    __props__ = ("spec", "inner", "mode", "truncate", "including")
    inner: InnerGraph
    repeats = True

    def __init__(
        self,
        spec: LoopSpec,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        name: str | None = None,
        mode: Any = None,
        truncate: int = -1,
        profile: bool | str = False,
        allow_gc: bool | None = None,
        including: tuple[str, ...] = (),
    ):
        self.spec, self.name, self.mode, self.truncate = spec, name, mode, truncate
        self.profile, self.allow_gc, self.including = profile, allow_gc, including
        self.inner = InnerGraph(name or "scan", inputs, outputs)
        self._check()

    def __getattr__(self, name: str) -> Any:
        return member(self, f"{__name__}.Scan", name)

    #: Whether the nodes of this op that are read from a pickle have buffers in the place of rows.
    has_buffers = False

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "has_buffers"}

    def __setstate__(self, state: dict[str, object]) -> None:
        if "spec" in state:
            self.__dict__.update(state)
        else:
            self.restore(state)

    def carried_inputs(self, node: Apply) -> list[Variable]:
        """Return the values that each step replaces."""
        return self.spec.outer_inputs(node.inputs).carried

    def restored_inputs(self, inputs: Operands) -> Operands:
        """Return the inputs of a node that is read from a pickle."""
        return self.parts_of_buffers(inputs) if self.has_buffers else inputs

    @property
    def inputs(self) -> list[Variable]:
        """The inputs of the step's graph."""
        return list(self.inner.inputs)

    @property
    def outputs(self) -> list[Variable]:
        """The outputs of the step's graph."""
        return list(self.inner.outputs)

    def seen_inside(self, node: Apply) -> list[Variable]:
        """Return, for each input of the step's graph, the input of ``node`` that it is a part of."""
        spec = self.spec
        outer = spec.outer_inputs(node.inputs)
        parts = [[v] * len(taps) for v, taps in zip(outer.sequences, spec.sequences, strict=True)]
        parts += [[v] * len(taps) for v, taps in zip(outer.states, spec.states, strict=True)]
        return [*(v for part in parts for v in part), *outer.carried, *outer.fixed]

    def _check(self) -> None:
        """Refuse a step whose results cannot take the place of what they replace."""
        own, made = self.spec.inner_inputs(self.inner.inputs), self.spec.inner_outputs(self.inner.outputs)
        replaced = [*((taps[0], v) for taps, v in zip(own.states, made.states, strict=True)),
                    *zip(own.carried, made.carried, strict=True)]  # fmt: skip
        for old, new in replaced:
            if old.type != new.type:
                raise TypeError(f"{self}: a step makes {new} of type {new.type} of {old} of type {old.type}")
        for v in (*made.states, *made.mapped):
            if not is_tensor(v):
                raise TypeError(f"{self}: {v} of type {v.type} has no rows that could be stacked")

    def __str__(self) -> str:
        where = "gpu" if self.including else "cpu"
        return f"{'do_while' if self.spec.until else 'for'}{{{where},{self.name or 'scan_fn'}}}"

    # -- nodes ---------------------------------------------------------------------------------------------

    def convert(self, *inputs: Any) -> list[Any]:
        """Return the inputs of a node as variables of the types that a step sees, or of stacks of these."""
        given, own = self.spec.outer_inputs(inputs), self.spec.inner_inputs(self.inner.inputs)
        given = given._replace(n_steps=_as_count(given.n_steps))
        for stacks, taps in ((given.sequences, own.sequences), (given.states, own.states)):
            stacks[:] = [
                _as_rows(v, rows[0]) if rows else as_tensor_variable(v) for v, rows in zip(stacks, taps, strict=True)
            ]
        for values, variables in ((given.carried, own.carried), (given.fixed, own.fixed)):
            values[:] = [v.type.filter_variable(value) for v, value in zip(variables, values, strict=True)]
        return given.flat()

    def output_types(self, inputs: Sequence[Any]) -> list[Type]:
        """Return the types of stacks, and those of the carried values."""
        made = self.spec.inner_outputs(self.inner.outputs)
        stacks: list[Type] = [stacked_type(v) for v in (*made.states, *made.mapped)]
        return [*stacks, *(v.type for v in made.carried)]

    def like(self, spec: LoopSpec, outputs: Sequence[Variable] | None = None) -> Scan:
        """Return a loop over the same inputs by another description, whose step makes ``outputs``."""
        made = self.inner.outputs if outputs is None else outputs
        return Scan(spec, self.inner.inputs, made, self.name, truncate=self.truncate, **self.options)

    @property
    def options(self) -> dict[str, Any]:
        """How steps run: also those of a loop that takes the place of this one, or computes its derivatives."""
        return {"mode": self.mode, "profile": self.profile, "allow_gc": self.allow_gc, "including": self.including}

    def storing(self, values: Sequence[Tensor]) -> Scan:
        """Return this loop, with ``values`` of the inner graph as further mapped results."""
        made = self.spec.inner_outputs(self.inner.outputs)
        mapped = [*made.mapped, *values]
        spec = replace(self.spec, mapped=len(mapped), keep=(*self.spec.keep, *(None for _ in values)))
        return self.like(spec, made._replace(mapped=mapped).flat())

    def results(self, inputs: Sequence[Variable]) -> OuterOutputs:
        """Return what a loop on ``inputs`` makes: of the states what the steps made, without what they begin with."""
        made = self.spec.outer_outputs(self(*inputs, return_list=True) if self.inner.outputs else [])
        return made._replace(states=[v[m:] for v, m in zip(made.states, self.spec.depths, strict=True)])

    def once(self, inputs: Sequence[Any]) -> OuterOutputs:
        """Return what a single step makes, in the form of :meth:`results`, without a loop."""
        spec = self.spec
        given = spec.outer_inputs(inputs)
        rows = [v[k] for v, taps in zip(given.sequences, spec.sequences, strict=True) for k in taps]
        rows += [v[m + k] for v, m, taps in zip(given.states, spec.depths, spec.states, strict=True) for k in taps]
        made = spec.inner_outputs(self.inner.on([*rows, *given.carried, *given.fixed]))
        states, mapped = ([unbroadcast(shape_padleft(v), 0) for v in part] for part in (made.states, made.mapped))
        return OuterOutputs(states, mapped, made.carried)

    # -- values --------------------------------------------------------------------------------------------

    @property  # type: ignore[misc]  # programs set that of `OpFromGraph`, not this one
    def fn(self) -> Any:
        """The function that computes one step, compiled when it is first asked for."""
        outputs = [Out(v, borrow=True) for v in self.inner.outputs]
        return self.inner.compiled("step", outputs, mode=self.mode, name=str(self))

    @property
    def inner_profiles(self) -> Sequence[ProfileStats]:  # type: ignore[override]
        """The profile of the steps, where there is one."""
        layout = self.inner.known("layout")
        return [] if layout is None or layout.step.profile is None else [layout.step.profile]

    def perform(self, node: Node, inputs: Values, output_storage: Storage) -> None:
        """Run step after step."""
        for cell, value in zip(output_storage, run(self, inputs), strict=True):
            cell[0] = value

    # -- lengths -------------------------------------------------------------------------------------------

    def infer_shape(self, node: Node, shapes: Sequence[Any]) -> list[Shape]:
        """Return as many rows as there are steps, and the lengths of a step; what is unknown is asked of the output."""
        spec = self.spec
        n: Tensor = node.inputs[0]
        outputs, long = spec.outer_outputs(node.outputs), spec.outer_inputs(shapes)
        steps = lengths_of_step(self.inner, spec, node.inputs, shapes)
        before = [*spec.depths, *(0 for _ in outputs.mapped)]
        rows = [*(shape[1:] for shape in long.states), *spec.inner_outputs(steps).mapped]
        found: list[tuple[Variable, ...]] = []
        for v, m, row, keep in zip((*outputs.states, *outputs.mapped), before, rows, spec.keep, strict=True):
            count = Shape_i(0)(v) if spec.until else n + m if keep is None else F.minimum(n + m, keep)
            found.append((count, *(row if row is not None else (Shape_i(k)(v) for k in range(1, v.type.ndim)))))
        return [*found, *spec.inner_outputs(steps).carried]

    def batch(self, node: Apply, inputs: Sequence[Variable], batched: Sequence[bool]) -> Sequence[Variable] | None:
        """Return the loop for many rows at once, each step of which is for all of them."""
        return many_rows(self, node, inputs, batched)

    def place_on_device(self, node: Node, placing: Any) -> Sequence[Variable] | None:
        """Return the results of the loop on a device, where steps read or make something there."""
        return placed(self, node, placing)

    # -- derivatives ---------------------------------------------------------------------------------------

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return which inputs influence which outputs, be it some steps later; how many steps there are does not."""
        return connections(self)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients, from a loop that goes backwards."""
        return gradients(self, inputs, outputs, output_grads)

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the directions, from a loop over values and directions."""
        return directions(self, inputs, eval_points)


def _as_count(n: TensorLike) -> Tensor:
    n = as_tensor_variable(n)
    if n.type.ndim or not n.type.dtype.startswith(("int", "uint")):
        raise TypeError(f"n_steps must be a whole number, and {n} is of type {n.type}")
    return n if n.type.dtype == "int64" else F.cast(n, "int64")


def _as_rows(value: TensorLike, row: Tensor) -> Any:
    """Return ``value`` as a tensor of rows like ``row``."""
    if row.type.device != CPU.device:
        return stacked_type(row).filter_variable(value)
    value = as_tensor_variable(value)
    if value.type.ndim != row.type.ndim + 1 or value.type.dtype != row.type.dtype:
        raise TypeError(
            f"what has rows of type {row.type} has one dimension more and the same dtype, but {value} is of type "
            f"{value.type}"
        )
    return patternbroadcast(value, (value.type.broadcastable[0], *row.type.broadcastable))


__getattr__, __dir__ = lazily(globals())
