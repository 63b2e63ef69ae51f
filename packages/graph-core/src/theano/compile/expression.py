"""Ops that stand for an expression of other ops: the one base of them all.

What such an op computes is said once, as an expression: by a method (`ExpressionOp.expression`), or as a graph that the
op holds (`InnerGraph`). The types of its outputs, values, shapes, derivatives and what may stand in its place follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from theano.batching import of_expression
from theano.compile.function import function
from theano.compile.shared import SharedVariable
from theano.errors import FreeInputError
from theano.extensions import Single
from theano.gradient.absent import DisconnectedType, connection_pattern
from theano.gradient.barriers import IdentityOp
from theano.gradient.forward import Rop
from theano.gradient.reverse import grad
from theano.graph.apply import Apply
from theano.graph.canonical import NoCanonicalForm, register_form
from theano.graph.clone import clone_replace
from theano.graph.fgraph import FunctionGraph
from theano.graph.op import Op, performer
from theano.graph.signals import let_signals_through
from theano.graph.source import created_at, user_trace
from theano.graph.traverse import ancestors, equal_computations, toposort
from theano.graph.traverse import inputs as inputs_of
from theano.graph.type import Type
from theano.graph.variable import Constant, Variable

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Storage, Value, Values

#: From a variable to its lengths, or to None where it has none.
lengths: Single[Callable[[Variable], Any]] = Single("compile.expression.lengths", "how long a variable is")


class InnerGraph:
    """A graph that an op holds: closed, and with variables of its own.

    Two are equal that compute the same from inputs of the same types, by construction.

    Parameters
    ----------
    of : object
        What errors call the op.
    inputs, outputs : list of Variable
        An expression; it is copied.

    Raises
    ------
    FreeInputError
        The outputs depend on a variable that is not among the inputs.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, y = T.dscalars("x", "y")
    >>> inner = InnerGraph("an example", [x, y], [x * y])
    >>> inner.on([y, y])[0].owner, inner.evaluate([2.0, 3.0])
    (Elemwise{mul,no_inplace}(y, y), [array(6.)])
    >>> inner == InnerGraph("another one", [y, x], [y * x]), inner == InnerGraph("a third", [y, x], [x * y])
    (True, False)
    """

    def __init__(self, of: object, inputs: Sequence[Variable], outputs: Sequence[Variable]):
        # What a constant is worth may decide which expression this is: it stays one.
        self.inputs = [v.clone() if isinstance(v, Constant) else _inner(v) for v in inputs]
        self.outputs = clone_replace(outputs, dict(zip(inputs, self.inputs, strict=True)))
        refuse_free(of, self.inputs, self.outputs)
        self._derived: dict[str, Any] = {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InnerGraph):
            return NotImplemented
        if [v.type for v in self.inputs] != [v.type for v in other.inputs]:
            return False
        return equal_computations(self.outputs, other.outputs, self.inputs, other.inputs)

    def __hash__(self) -> int:
        # No more than the last nodes: how often something is computed that could be computed once is no difference.
        last = tuple((v.type, None if v.owner is None else v.owner.op) for v in self.outputs)
        return hash((tuple(v.type for v in self.inputs), last))

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_derived": {}}

    def on(self, inputs: Sequence[Variable]) -> list[Variable]:
        """Return the outputs for other inputs."""
        return clone_replace(self.outputs, dict(zip(self.inputs, inputs, strict=True)), strict=False)

    def derived(self, what: str, make: Callable[[], Any]) -> Any:
        """Return what ``make`` made of this graph when it was first asked for; ``what`` is its name here."""
        if what not in self._derived:
            self._derived[what] = make()
        return self._derived[what]

    def known(self, what: str) -> Any:
        """Return what :meth:`derived` has made under this name, None before the first request."""
        return self._derived.get(what)

    def forget(self, what: str) -> None:
        """Let :meth:`derived` make it again."""
        self._derived.pop(what, None)

    def compiled(self, what: str, outputs: Sequence[Any], inputs: Sequence[Any] | None = None, **options: Any) -> Any:
        """Return a function of the inputs, compiled when it is first asked for; ``what`` is its name here.

        ``inputs`` are the same ones, with what is to be said of them.
        """
        given = self.inputs if inputs is None else inputs
        return self.derived(what, lambda: function(given, outputs, **{"on_unused_input": "ignore", **options}))

    def evaluate(self, values: Sequence[object]) -> list[Any]:
        """Return the values of the outputs, computed node by node with ``perform``."""
        known = dict(zip(self.inputs, values, strict=True))

        def value(v: Variable) -> Any:
            return v.data if v not in known and isinstance(v, Constant) else known[v]

        for node in toposort(self.outputs, self.inputs):
            cells: list[list[Any]] = [[None] for _ in node.outputs]
            performer(node)(node, [value(v) for v in node.inputs], cells)
            known.update(zip(node.outputs, (cell[0] for cell in cells), strict=True))
        return [value(v) for v in self.outputs]

    def connections(self) -> list[list[bool]]:
        """Return for each input and each output whether the one influences the other."""
        reached = {v: {i} for i, v in enumerate(self.inputs)}
        for node in toposort(self.outputs, self.inputs):
            pattern = connection_pattern(node)
            for j, out in enumerate(node.outputs):
                ways = (reached.get(v, set()) for v, row in zip(node.inputs, pattern, strict=True) if row[j])
                reached[out] = set().union(*ways)
        return [[i in reached.get(v, ()) for v in self.outputs] for i in range(len(self.inputs))]


def _inner(v: Variable) -> Variable:
    """Return the variable that stands for ``v`` inside."""
    own = v.type(v.name)
    if hasattr(v.tag, "test_value"):
        own.tag.test_value = v.tag.test_value
    elif isinstance(v, SharedVariable):
        own.tag.test_value = v.get_test_value()
    return own


def refuse_free(of: object, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
    """Raise FreeInputError if an expression depends on anything but its inputs, and what these depend on."""
    given = set(inputs)
    free = [v for v in inputs_of(outputs, given) if v not in given and not isinstance(v, Constant)]
    if free:
        below = set(ancestors(inputs))
        free = [v for v in free if v not in below]
    if free:
        raise FreeInputError(f"{of}: the outputs depend on {free[0]}, which is not among the inputs", variable=free[0])


# -- the form that is the same in each process ---------------------------------------------------------------


def _write_graph(graph: InnerGraph) -> tuple[Any, ...]:
    """Describe inputs, then constants and nodes as they are met, by numbers of variables, and the outputs."""
    number = {v: i for i, v in enumerate(graph.inputs)}
    entries: list[tuple[Any, ...]] = []

    def met(v: Variable) -> int:
        if v not in number:
            if not isinstance(v, Constant):
                raise NoCanonicalForm(f"{v} is used before it is computed")
            number[v] = len(number)
            entries.append((v.type, v.data))
        return number[v]

    for node in toposort(graph.outputs, graph.inputs):
        if type(node) is not Apply:
            raise NoCanonicalForm(f"a node of class {type(node).__qualname__}")
        operands = tuple(met(v) for v in node.inputs)
        entries.append((node.op, operands, tuple((v.type, v.name) for v in node.outputs)))
        for v in node.outputs:
            number[v] = len(number)
    outputs = tuple(met(v) for v in graph.outputs)
    inputs = tuple((v.type, v.name, *((v.data,) if isinstance(v, Constant) else ())) for v in graph.inputs)
    return inputs, tuple(entries), outputs


def _read_graph(parts: tuple[Any, ...]) -> InnerGraph:
    inputs, entries, outputs = parts
    graph = InnerGraph.__new__(InnerGraph)
    graph.inputs = [
        kind.make_constant(*data, name=name) if data else kind.make_variable(name) for kind, name, *data in inputs
    ]
    known = list(graph.inputs)
    for entry in entries:
        if len(entry) == 2:
            kind, data = entry
            known.append(kind.make_constant(data))
        else:
            op, operands, results = entry
            made = [kind.make_variable(name) for kind, name in results]
            known += Apply(op, [known[k] for k in operands], made).outputs
    graph.outputs = [known[k] for k in outputs]
    graph._derived = {}
    return graph


register_form(InnerGraph, "graph", _write_graph, _read_graph)


#: The inner graphs of nodes whose op says a method, each kept as long as its node.
_inner_graphs: WeakKeyDictionary[Apply[Any, Any], InnerGraph] = WeakKeyDictionary()


class ExpressionOp(Op):
    """An op that stands for an expression of other ops.

    A subclass says :meth:`expression`, or sets ``inner``. Whatever else differs it overrides: how inputs become
    variables (:meth:`convert`), types that are known without the expression (:meth:`output_types`), quicker ways to
    values or shapes. What two ops are equal by says ``__props__``, as for any op.

    Attributes
    ----------
    inner : InnerGraph or None
        The graph that the op holds; without ``expression`` it is what the op computes.
    kwargs : dict
        Options of ``theano.function`` for :attr:`fn`.
    is_inline : bool
        Whether rewriting puts the expression in the place of a node.
    repeats : bool
        Whether a node runs its expression more than once, on parts of its inputs: the expression is then that of one
        run, and must not stand in the place of the node.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> class Cube(ExpressionOp):
    ...     __props__ = ()
    ...     def expression(self, x):
    ...         return x * x * x
    >>> x = T.dscalar("x")
    >>> y = Cube()(x)
    >>> y.owner, theano.function([x], [y, T.grad(y, x)])(2)
    (Cube(x), [array(8.), array(12.)])
    """

    inner: InnerGraph | None = None
    kwargs: dict[str, Any] = {}
    is_inline: bool = False
    repeats: bool = False

    # -- the expression --------------------------------------------------------------------------------------

    def expression(self, *inputs: Any) -> Any:
        """Return the variable, or the list of variables, that this op computes from ``inputs``."""
        if self.inner is None:
            raise NotImplementedError(f"{type(self).__name__} does not define expression")
        return self.inner.on(inputs)

    def expand(self, inputs: Sequence[Variable], node: Node | None = None) -> list[Variable]:
        """Return the expression on given variables, checked, and always as a list.

        Parameters
        ----------
        inputs : list of Variable
        node : Apply, optional
            The node that it is wanted for, to say in errors where that was made.
        """
        try:
            made = self.expression(*inputs)
            outputs = list(made) if isinstance(made, (list, tuple)) else [made]
            if not outputs or not all(isinstance(v, Variable) for v in outputs):
                raise TypeError(f"an expression is a variable or a list of variables, not {made!r}")
            if self.inner is None:
                refuse_free(self, inputs, outputs)
        except Exception as error:  # noqa: BLE001  (the boundary to code that anybody may have written)
            let_signals_through(error)
            from theano.runtime.failure import with_text  # it brings in what prints graphs

            raise with_text(error, f"{error}\n{_place(self, inputs, node)}") from error.__cause__
        return outputs

    def inner_of(self, node: Node) -> InnerGraph:
        """Return the graph that the op holds, or the expression on the inputs of a node as such a graph."""
        if self.inner is not None:
            return self.inner
        graph = _inner_graphs.get(node)
        if graph is None:
            # Known properties of an input, beside its type, may determine this expression.
            own = _distinct(node.inputs)
            try:
                graph = InnerGraph(self, own, self.expand(own, node))
            except FreeInputError:  # it looks below an input, at what that is computed from
                own = [v if isinstance(v, Constant) else v.type() for v in own]
                graph = InnerGraph(self, own, self.expand(own, node))
            _inner_graphs[node] = graph
        return graph

    def inlined(self, node: Node) -> list[Any] | None:
        """Return what rewriting puts in the place of a node, or None where that stays."""
        return self.expand(node.inputs, node) if self.is_inline else None

    @property
    def inner_graph(self) -> FunctionGraph | None:
        """A copy of the graph that the op holds, for those who print it."""
        return None if self.inner is None else FunctionGraph(self.inner.inputs, self.inner.outputs)

    @property
    def fn(self) -> Any:
        """The function of the graph that the op holds, compiled when it is first asked for."""
        if self.inner is None:
            raise AttributeError(f"{self} holds no graph: its expression depends on the types of its inputs")
        return self.__dict__.get("_fn") or self.inner.compiled("fn", self.inner.outputs, **self.kwargs)

    @fn.setter
    def fn(self, function: object) -> None:
        self.__dict__["_fn"] = function

    # -- nodes and values --------------------------------------------------------------------------------------

    def convert(self, *inputs: Any) -> list[Any]:
        """Return what the op is called with as the variables that are the inputs of the node."""
        if self.inner is None:
            return list(inputs)
        if len(inputs) != len(self.inner.inputs):
            raise TypeError(f"{self} takes {len(self.inner.inputs)} inputs, got {len(inputs)}")
        variables = []
        for i, (own, value) in enumerate(zip(self.inner.inputs, inputs, strict=True)):
            try:
                variables.append(self.as_input(i, own, value))
            except TypeError as error:
                from theano.runtime.failure import with_text  # it brings in what prints graphs

                raise with_text(error, f"input {i} of {self}: {error}") from error.__cause__
        return variables

    def as_input(self, i: int, own: Variable, value: Value) -> Variable:
        """Return input ``i`` as a variable that fits the input ``own`` of the graph that the op holds."""
        return own.type.filter_variable(value)

    def output_types(self, inputs: Sequence[Variable]) -> list[Type]:
        """Return the types of the outputs: those of the expression."""
        return [v.type for v in (self.expand(inputs) if self.inner is None else self.inner.outputs)]

    def make_node(self, *inputs: Any) -> Apply:
        variables = self.convert(*inputs)
        return Apply(self, variables, [kind.make_variable() for kind in self.output_types(variables)])

    def perform(self, node: Node, inputs: Values, output_storage: Storage) -> None:
        """Compute the expression as it is written, node by node."""
        graph = self.inner_of(node)
        constants = [v.data for v in inputs_of(graph.outputs) if isinstance(v, Constant)]
        told: list[Any] = []
        for j, (out, value) in enumerate(zip(graph.outputs, graph.evaluate(inputs), strict=True)):
            allowed = self.view_map.get(j, ())
            others = [x for i, x in enumerate(inputs) if i not in allowed]
            # Outputs have memory of their own, whatever the expression does.
            if any(out.type.may_share_memory(value, x) for x in (*others, *constants, *told)):
                value = out.type.value_copy(value)
            told.append(value)
            output_storage[j][0] = value

    # -- what follows from the expression ------------------------------------------------------------------------

    def infer_shape(self, node: Node, shapes: Sequence[Any]) -> Sequence[Any]:
        """Return the lengths of the expression, which need not be computed for them."""
        return [lengths.required()(v) for v in self.expand(node.inputs, node)]

    def connection_pattern(self, node: Node) -> Sequence[Sequence[bool]]:
        """Return which inputs the expression connects with which outputs."""
        return self.inner_of(node).connections()

    def batch(self, node: Apply, inputs: Sequence[Variable], batched: Sequence[bool]) -> Sequence[Variable] | None:
        """Return the expression for many rows at once, or None where it is one run of several or has no rule."""
        return None if self.repeats else of_expression(self.expand, node, inputs, batched)

    def L_op(self, inputs: Operands, outputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradients of the expression; of a disconnected type if it does not depend on an input."""
        own = [_view(v) for v in inputs]
        pairs = zip(self.expand(own, outputs[0].owner if outputs else None), output_grads, strict=True)
        # A known gradient is all of it: an output that others are made of, or that is there twice, gets theirs as well.
        seeds = {IdentityOp()(v): g for v, g in pairs if not isinstance(g.type, DisconnectedType)}
        gradients: list[Any] = grad(
            None, own, known_grads=seeds, disconnected_inputs="ignore", return_disconnected="Disconnected",
            null_gradients="return",
        )  # fmt: skip
        return gradients

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the directions of the expression, None if it does not depend on the inputs."""
        own = [_view(v) for v in inputs]
        along = [(v, d) for v, d in zip(own, eval_points, strict=True) if d is not None]
        directions: list[Any] = Rop(
            self.expand(own), [v for v, _ in along], [d for _, d in along],
            disconnected_outputs="ignore", return_disconnected="none",
        )  # fmt: skip
        return directions


def _view(v: Variable) -> Variable:
    """Return a variable worth the same, so that an input that depends on another one is not followed further.

    A constant is copied instead: what it is worth may say how long or how often, and a view would hide that.
    """
    return v.clone() if isinstance(v, Constant) else IdentityOp()(v)


def _distinct(inputs: Sequence[Variable]) -> list[Variable]:
    """Return the inputs of a node with a copy in the place of one that is there twice."""
    found: dict[Variable, None] = {}
    for v in inputs:
        if v in found:
            node: Any = v.owner
            v = v.clone() if node is None else node.clone().outputs[v.index]
        found[v] = None
    return list(found)


def _place(op: Op, inputs: Sequence[Variable], node: Node | None) -> str:
    """Return in words of which op, and applied where, an expression was wanted."""
    lines = user_trace()
    line = created_at(node.outputs[0]) if node is not None else lines[0] if lines else None
    shown = [*map(str, inputs[:6]), *(["..."] if len(inputs) > 6 else [])]
    return f"(in the expression of {op}, applied to {', '.join(shown)}{'' if line is None else f' at {line}'})"
