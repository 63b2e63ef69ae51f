"""A graph that is being compiled: closed between its inputs and outputs, and able to change.

Variables of a FunctionGraph know their clients, so that one variable can take the place of another everywhere
at once. Features listen to changes and can refuse them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from theano.errors import InconsistencyError, MissingInputError
from theano.graph.apply import Apply
from theano.graph.clients import Client, Clients
from theano.graph.clone import clone, clone_get_equiv
from theano.graph.features import (
    AlreadyThere,
    Feature,
    History,
    NodeFinder,
    ReplacementDidntRemovedError,
    ReplaceValidate,
)
from theano.graph.notebook import NotebookDisplay
from theano.graph.op_contract import check_maps
from theano.graph.source import created_at
from theano.graph.text import printable
from theano.graph.traverse import as_string, toposort
from theano.graph.variable import Constant, Variable

if TYPE_CHECKING:
    from theano.graph.annotations import Node


class FunctionGraph(NotebookDisplay):
    """The graph between some inputs and outputs.

    Parameters
    ----------
    inputs, outputs : list of Variable
    features : list of features, optional
    clone : bool
        Work on a copy (the default): what happens here changes nothing in the user's graph.
    update_mapping : dict from int to int, optional
        Which outputs are the new values of which inputs.

    Raises
    ------
    MissingInputError
        The outputs depend on something that is neither an input nor a constant.

    Examples
    --------
    >>> from theano.graph import Apply, FunctionGraph, Op, generic
    >>> class Not(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> x = generic("x")
    >>> fgraph = FunctionGraph([x], [Not()(Not()(x))])
    >>> fgraph
    [Not(Not(x))]
    >>> fgraph.replace(fgraph.outputs[0], fgraph.inputs[0])
    >>> fgraph, len(fgraph.apply_nodes)
    ([x], 0)
    """

    #: An optional name for the graph, and an optional profile to which times are added.
    name: str | None = None
    profile: Any = None
    shape_feature: Any  # the feature that knows lengths; a layer that has some attaches it

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        features: Iterable[Any] | None = None,
        clone: bool = True,
        update_mapping: Mapping[int, int] | None = None,
    ):
        if clone:
            inputs, outputs = _clone(inputs, outputs)
        self.features: list[Any] = []
        self._listeners: dict[str, list[Callable[..., object]]] = {}
        self.apply_nodes: set[Node] = set()
        self.variables: set[Variable] = set()
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.update_mapping = update_mapping
        #: Set by the aliasing feature: the nodes that overwrite the memory of a variable.
        self.destroyers: Callable[[Variable], Sequence[Apply]] | None = None
        self._order: list[Node] | None = None
        #: Number of changes so far; what is computed from the graph is stale once it has grown.
        self.version = 0

        if len(set(self.inputs)) != len(self.inputs):
            raise ValueError("a variable is listed twice among the inputs of a graph")
        for v in self.inputs:
            if v.owner is not None:
                raise ValueError(
                    f"the input {v} of a graph is computed by {v.owner.op}; an input must have no owner. "
                    "Use a variable of its own and replace the expression by it (givens)."
                )
            self._setup_variable(v)
        for feature in features or ():
            self.attach_feature(feature)
        for i, v in enumerate(self.outputs):
            v = self.outputs[i] = _own(v, self)
            self.import_variable(v, reason="init")
            v.clients.append(("output", i))

    # -- entering and leaving -------------------------------------------------------------------------

    def _setup_variable(self, v: Variable) -> None:
        if v.fgraph is not None and v.fgraph is not self:
            raise ValueError(f"{v} belongs to another FunctionGraph already; make this one with clone=True")
        v.fgraph = self
        v.clients = Clients()
        self.variables.add(v)

    def import_variable(self, variable: Variable, reason: Any = None) -> None:
        """Bring ``variable`` and everything it needs into the graph."""
        if variable.fgraph is self and variable in self.variables:
            return
        for node in toposort([variable], self.variables):
            if node not in self.apply_nodes:
                self._import_node(node, reason)
        if variable.owner is None:
            self._import_orphan(variable, None)

    def _import_orphan(self, v: Variable, user: Apply | None) -> None:
        if isinstance(v, Constant):
            self._setup_variable(v)
            return
        where = created_at(v)
        need = f"{user.op} needs it. " if user is not None else ""
        made = f", created at {where}," if where else ""
        raise MissingInputError(
            f"the variable {v} of type {v.type}{made} is neither an input of the function nor given a value. {need}"
            "Add it to the inputs, or replace it with givens.",
            variable=v,
        )

    def _import_node(self, node: Apply, reason: object) -> None:
        if node.fgraph is not None and node.fgraph is not self:
            raise ValueError(f"{node} belongs to another FunctionGraph already; make this one with clone=True")
        check_maps(node)
        for i, v in enumerate(node.inputs):
            if v not in self.variables and v.owner is None:
                v = node.inputs[i] = _own(v, self)
                if v not in self.variables:
                    self._import_orphan(v, node)
        node.fgraph = self
        self.apply_nodes.add(node)
        for v in node.outputs:
            self._setup_variable(v)
        for i, v in enumerate(node.inputs):
            v.clients.append((node, i))
        self._changed()
        self._tell("on_import", node, reason)

    def _remove_client(self, v: Variable, client: Client, reason: object) -> None:
        v.clients.remove(client)
        abandoned = [v]
        while abandoned:
            v = abandoned.pop()
            if v.clients:
                continue
            node = v.owner
            if node is None:
                if v not in self.inputs:
                    self._forget(v)
                continue
            if node not in self.apply_nodes or any(out.clients for out in node.outputs):
                continue
            self.apply_nodes.discard(node)
            self._tell("on_prune", node, reason)
            for out in node.outputs:
                self._forget(out)
            node.fgraph = None
            for i, used in enumerate(node.inputs):
                used.clients.remove((node, i))
                abandoned.append(used)

    def _forget(self, v: Variable) -> None:
        self.variables.discard(v)
        v.fgraph = None

    # -- changing -----------------------------------------------------------------------------------------

    def change_input(self, node: Apply | str, i: int, new_r: Variable, reason: object = None) -> None:
        """Let input ``i`` of ``node`` (output ``i`` of the graph, for ``"output"``) be ``new_r``."""
        slots = self.outputs if isinstance(node, str) else node.inputs
        r = slots[i]
        if r is new_r:
            return
        new_r = _own(new_r, self)
        if r.type != new_r.type:
            raise TypeError(f"cannot put {new_r} of type {new_r.type} in the place of {r} of type {r.type}")
        self.import_variable(new_r, reason)
        slots[i] = new_r
        new_r.clients.append((node, i))
        self._changed()
        self._tell("on_change_input", node, i, r, new_r, reason)
        # Last, since a variable without clients leaves the graph with its annotations.
        self._remove_client(r, (node, i), reason)

    def replace(self, r: Variable, new_r: Variable, reason: Any = None, verbose: bool = False) -> None:
        """Let all clients of ``r`` use ``new_r``.

        Raises
        ------
        TypeError
            The two are of different types and cannot be converted.
        """
        if r is new_r:
            return
        if verbose:
            print(reason, r, new_r)
        if r not in self.variables:
            return  # already replaced: rules may speak of a variable that an earlier one made superfluous
        new_r = _own(r.type.filter_variable(new_r), self)
        for node, i in list(r.clients):
            self.change_input(node, i, new_r, reason)

    def replace_all(self, pairs: Iterable[tuple[Variable, Variable]], reason: Any = None) -> None:
        """Make several replacements, one after the other, unchecked."""
        for r, new_r in pairs:
            self.replace(r, new_r, reason)

    def replace_all_validate(
        self,
        pairs: Iterable[tuple[Variable, Variable]] | Mapping[Variable, Variable],
        reason: object = None,
        verbose: bool = False,
    ) -> None:
        """Make several replacements, or none if the graph would lose its meaning.

        Raises
        ------
        InconsistencyError
            The graph refused; it is as it was.
        """
        keeper = next((f for f in self.features if isinstance(f, ReplaceValidate)), None)
        if keeper is None:
            keeper = ReplaceValidate()
            self.attach_feature(keeper)
        listed = list(pairs.items()) if isinstance(pairs, Mapping) else list(pairs)
        if verbose:
            print(reason, listed)
        keeper.replace_all(self, listed, reason)

    def replace_all_validate_remove(
        self,
        replacements: Iterable[tuple[Variable, Variable]],
        remove: Iterable[Variable],
        reason: object = None,
        warn: bool = True,
    ) -> None:
        """Make several replacements, or none if the graph would lose its meaning or still hold what has to go.

        Parameters
        ----------
        replacements : list of pairs of Variable
        remove : list of Variable
            What must not be computed any more afterwards.
        reason : object
            In whose name.
        warn : bool
            Without effect: the error is warning enough.

        Raises
        ------
        InconsistencyError
            The graph refused.
        ReplacementDidntRemovedError
            Something that had to go stayed. In both cases the graph is as it was.
        """
        going = list(remove)
        if not going:
            self.replace_all_validate(replacements, reason)
            return
        with self.attempt():
            self.replace_all_validate(replacements, reason)
            left = [v for v in going if v in self.variables]
            if left:
                raise ReplacementDidntRemovedError(f"{reason} should have removed {left[0]}, which is still there")

    def replace_validate(self, r: Variable, new_r: Variable, reason: Any = None) -> None:
        """Make one replacement, or none if the graph would lose its meaning."""
        self.replace_all_validate([(r, new_r)], reason)

    def _history(self) -> History:
        found = next((f for f in self.features if isinstance(f, History)), None)
        if found is None:
            found = History()
            self.attach_feature(found)
        return found

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Take back all changes that were made inside if an error comes out."""
        history = self._history()
        outer = history.journal is not None
        mark = history.checkpoint()
        try:
            yield
        except BaseException:
            history.revert(self, mark)
            raise
        finally:
            if not outer:
                history.commit()

    def checkpoint(self) -> int:
        """Return a mark that :meth:`revert` comes back to; changes are noted from here on."""
        return self._history().checkpoint()

    def revert(self, checkpoint: int) -> None:
        """Take back the changes since ``checkpoint``."""
        self._history().revert(self, checkpoint)

    def _changed(self) -> None:
        self._order = None
        self.version += 1

    # -- features ------------------------------------------------------------------------------------------

    def attach_feature(self, feature: Any) -> None:
        """Let ``feature`` listen; one that finds its like already there is dropped."""
        if feature in self.features:
            return
        attach = getattr(feature, "on_attach", None)
        if attach is not None:
            try:
                attach(self)
            except AlreadyThere:
                return
        self.features.append(feature)
        self._heard_anew(feature)

    def remove_feature(self, feature: Feature) -> None:
        """Let ``feature`` listen no more."""
        if feature not in self.features:
            return
        self.features.remove(feature)
        self._heard_anew(feature)
        detach = getattr(feature, "on_detach", None)
        if detach is not None:
            detach(self)

    def _heard_anew(self, feature: Feature) -> None:
        """Note that ``feature`` has come or gone: who listens, and the order of nodes if it has a say."""
        self._listeners.clear()
        say = getattr(feature, "orderings", None)
        if getattr(say, "__func__", say) not in (None, Feature.orderings):
            self._order = None

    def _hear(self, name: str) -> list[Any]:
        heard = self._listeners.get(name)
        if heard is None:
            heard = [getattr(f, name) for f in self.features if hasattr(f, name)]
            self._listeners[name] = heard
        return heard

    def _tell(self, name: str, *args: Any) -> None:
        for method in self._hear(name):
            method(self, *args)

    def execute_callbacks(self, name: str, *args: Any, **kwargs: object) -> None:
        """Call the method ``name`` of each feature that has it."""
        for method in self._hear(name):
            method(self, *args, **kwargs)

    def collect_callbacks(self, name: str, *args: Any) -> dict[Any, Any]:
        """Call the method ``name`` of each feature that has it; return the answers by feature."""
        return {f: getattr(f, name)(self, *args) for f in self.features if hasattr(f, name)}

    # -- looking ---------------------------------------------------------------------------------------------

    @property
    def clients(self) -> dict[Variable, Clients]:
        """The users of each variable."""
        return {v: v.clients for v in self.variables}

    def orderings(self) -> dict[Apply, list[Apply]]:
        """Return, for some nodes, others that must run before them although they compute nothing for them."""
        merged: dict[Apply, list[Apply]] = {}
        for method in self._hear("orderings"):
            for node, before in method(self).items():
                merged.setdefault(node, []).extend(before)
        return merged

    def toposort(self) -> list[Node]:
        """Return the nodes in an order in which they can be computed.

        Of the inputs of a node the last is computed first, which is how Theano numbers nodes when it prints a graph.

        Raises
        ------
        CycleError
            It does not exist.
        """
        if self._order is None:
            self._order = toposort(self.outputs, self.inputs, self.orderings(), last_input_first=True)
        return list(self._order)

    def validate(self) -> None:
        """Raise InconsistencyError if some feature finds the graph without meaning."""
        for method in self._hear("validate"):
            method(self)

    def consistent(self) -> bool:
        """Return whether the graph has a meaning, as far as its features can tell."""
        try:
            self.validate()
        except InconsistencyError:
            return False
        return True

    def get_nodes(self, op: Any) -> list[Apply]:
        """Return the nodes of ``op``: from the index of a NodeFinder if one is attached."""
        finder = next((f for f in self.features if isinstance(f, NodeFinder)), None)
        return finder.get_nodes(op) if finder is not None else [n for n in self.toposort() if n.op == op]

    def check_integrity(self) -> None:
        """Compare the graph's records with a recount; for tests and for finding wrong rules.

        Raises
        ------
        InconsistencyError
            The two differ.
        """
        nodes = set(toposort(self.outputs, self.inputs))
        if nodes != self.apply_nodes:
            raise InconsistencyError(f"nodes believed and real differ: {nodes ^ self.apply_nodes}")
        real: dict[Variable, dict[Client, None]] = {v: {} for v in self.inputs}
        for node in nodes:
            if node.fgraph is not self:
                raise InconsistencyError(f"{node} does not know its graph")
            for out in node.outputs:
                real.setdefault(out, {})
            for i, v in enumerate(node.inputs):
                real.setdefault(v, {})[node, i] = None
        for i, v in enumerate(self.outputs):
            real.setdefault(v, {})["output", i] = None
        if real.keys() != self.variables:
            raise InconsistencyError(f"variables believed and real differ: {set(real) ^ self.variables}")
        for v, clients in real.items():
            if not v.clients.are(clients):
                raise InconsistencyError(f"the clients of {v} are {list(clients)}, it believes {v.clients}")
            if v.owner is None and v not in self.inputs and not isinstance(v, Constant):
                raise InconsistencyError(f"{v} is neither computed nor an input nor a constant")

    def clone(self, check_integrity: bool = False) -> FunctionGraph:
        """Return a copy, without the features."""
        return self.clone_get_equiv(check_integrity)[0]

    def clone_get_equiv(
        self, check_integrity: bool = False, attach_feature: bool = False
    ) -> tuple[FunctionGraph, dict[Any, Any]]:
        """Return a copy, and what became of each variable and node."""
        memo = clone_get_equiv(self.inputs, self.outputs)
        copy = FunctionGraph(
            [memo[v] for v in self.inputs],
            [memo[v] for v in self.outputs],
            clone=False,
            update_mapping=self.update_mapping,
        )
        copy.name = self.name
        if check_integrity:
            copy.check_integrity()
        if attach_feature:
            for feature in self.features:
                copy.attach_feature(feature)
        return copy, memo

    def disown(self) -> None:
        """Let the variables and nodes go, so that another graph can take them."""
        for feature in list(self.features):
            self.remove_feature(feature)
        for v in self.variables:
            v.fgraph = None
        for node in self.apply_nodes:
            node.fgraph = None
        self.inputs, self.outputs = [], []
        self.apply_nodes, self.variables = set(), set()
        self._order = None

    def __str__(self) -> str:
        small = len(self.apply_nodes) <= _PRINTED_WHOLE
        texts = as_string(self.inputs, self.outputs) if small else [_expression(v) for v in self.outputs]
        return printable(f"[{', '.join(texts)}]")

    def __repr__(self) -> str:
        return str(self)

    def __getstate__(self) -> dict[str, object]:
        state = dict(self.__dict__)
        # Features hold indexes and functions of their own; they are attached again where needed.
        state.update(features=[], _listeners={}, destroyers=None, _order=None)
        return state


def _own(v: Variable, fgraph: FunctionGraph) -> Variable:
    """Return ``v``, or a copy if it is a constant of others: of another graph, or one that expressions share.

    Rules may hold on to constants.
    """
    if not isinstance(v, Constant) or v.fgraph is fgraph:
        return v
    return v.clone() if v.cached or v.fgraph is not None else v


def _clone(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> tuple[list[Variable], list[Variable]]:
    return clone(inputs, outputs)


#: Up to how many nodes a graph is printed whole, with marks where a node is used twice.
_PRINTED_WHOLE = 100


def _expression(v: Variable, depth: int = 12) -> str:
    """Return one line for ``v``; depth bounds it, for errors print graphs of any size."""
    if v.owner is None:
        return str(v)
    if depth == 0:
        return "..."
    return f"{v.owner.op}({', '.join(_expression(i, depth - 1) for i in v.owner.inputs)})"
