"""From what the user wrote to a closed graph: givens replaced, shared variables found, updates put in.

The user's graph is copied once, here, and never touched again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from theano.compile.inputs import In, SymbolicInput, SymbolicOutput, as_input, as_output
from theano.compile.shared import SharedVariable
from theano.errors import MissingInputError, NullTypeGradError, OutputKeyError, UnusedInputError
from theano.gradient.absent import NullType
from theano.graph.apply import Apply
from theano.graph.source import created_at
from theano.graph.traverse import ancestors, toposort
from theano.graph.variable import Constant, Variable
from theano.printing import one_line
from theano.records import record

if TYPE_CHECKING:
    from theano.graph.annotations import Value
    from theano.graph.type import Type

Returns = Literal["one", "list", "none"]
Replacements = Mapping[Variable, Any] | Iterable[tuple[Variable, Any]]


@record
class ClosedGraph:
    """A function's graph, copied from the user's and closed.

    Attributes
    ----------
    inputs : list of SymbolicInput
        Of the copy: the arguments first, then one implicit input for each shared variable.
    outputs : list of SymbolicOutput
    returns : {'one', 'list', 'none'}
        What a call returns.
    keys : list of str or None
        The keys, for a function that returns a dictionary.
    shared : list of SharedVariable
        The user's shared variables, in the order of their inputs.
    originals : dict
        The user's variable for each input of the copy.
    nodes : list of Apply, optional
        The nodes of the copy, each after those that it needs, as they were made.
    given_updates : list of SharedVariable
        The user's shared variables whose updates are no default ones.
    """

    inputs: list[SymbolicInput]
    outputs: list[SymbolicOutput]
    returns: Returns
    keys: list[str] | None
    shared: list[SharedVariable]
    originals: dict[Variable, Variable]
    nodes: list[Apply] | None = None
    given_updates: Sequence[SharedVariable] = ()


def close_graph(
    inputs: Sequence[Any],
    outputs: Any,
    updates: Any = None,
    givens: Replacements | None = None,
    no_default_updates: bool | Sequence[SharedVariable] = False,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    function: str = "the function",
) -> ClosedGraph:
    """Copy and close the graph of a function.

    Parameters
    ----------
    inputs, outputs, updates, givens, no_default_updates, rebuild_strict, allow_input_downcast
        As for :func:`theano.function`.
    function : str
        What errors call the function.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MissingInputError
        As documented for :func:`theano.function`.
    """
    given_inputs = [as_input(i) for i in _listed(inputs)]
    wanted, returns, keys = _normalise_outputs(outputs)
    _check_distinct(given_inputs)
    new_values = _normalise_updates(updates)
    replaced = _normalise_givens(givens, given_inputs, rebuild_strict)

    copier = _Copier([i.variable for i in given_inputs], rebuild_strict, function)
    copier.replace(replaced)
    copied_outputs = copier.copies([o.variable for o in wanted])
    own_updates = copier.copies([i.update for i in given_inputs if i.update is not None])
    copied_updates = copier.copies(list(new_values.values()))
    updates_of: dict[SharedVariable, Variable] = {}
    for target, value, copy in zip(new_values, new_values.values(), copied_updates, strict=True):
        copier.note_shared(target)
        updates_of[target] = _checked_update(target, value, copy)
    _add_default_updates(copier, updates_of, no_default_updates)

    pending = iter(own_updates)
    packed_inputs = [_with_copy(i, copier.memo, pending, allow_input_downcast) for i in given_inputs]
    for target in copier.shared:
        packed_inputs.append(_shared_input(copier.shared[target], target, updates_of.get(target)))
    return ClosedGraph(
        packed_inputs,
        [SymbolicOutput(v, o.borrow) for v, o in zip(copied_outputs, wanted, strict=True)],
        returns,
        keys,
        list(copier.shared),
        {copier.memo[i.variable]: i.variable for i in given_inputs} | {c: v for v, c in copier.shared.items()},
        copier.nodes,
        list(new_values),
    )


# -- what the user wrote ------------------------------------------------------------------------------


def _listed(inputs: Any) -> list[Any]:
    if isinstance(inputs, (list, tuple)):
        return list(inputs)
    raise TypeError(
        f"the inputs of a function come in a list, also where there is one or none: [x], [] - not {inputs!r}"
    )


def _normalise_outputs(outputs: Any) -> tuple[list[SymbolicOutput], Returns, list[str] | None]:
    if outputs is None:
        return [], "none", None
    if isinstance(outputs, Mapping):
        keys = list(outputs)
        if not all(isinstance(k, str) for k in keys):
            raise OutputKeyError(f"the keys of a dictionary of outputs are strings, not {keys}")
        keys.sort()
        return [as_output(outputs[k]) for k in keys], "list", keys
    if isinstance(outputs, (list, tuple)):
        return [as_output(o) for o in outputs], "list", None
    return [as_output(outputs)], "one", None


def _check_distinct(inputs: Sequence[SymbolicInput]) -> None:
    seen: dict[Variable, int] = {}
    for i, given in enumerate(inputs):
        if given.variable in seen:
            raise UnusedInputError(
                f"the variable {given.variable} is listed twice among the inputs of the function, at "
                f"{seen[given.variable]} and {i}. Leave one out."
            )
        seen[given.variable] = i


def _normalise_updates(updates: Any) -> dict[SharedVariable, Variable]:
    if updates is None:
        return {}
    if isinstance(updates, Mapping):
        pairs = list(updates.items())
    else:
        pairs = list(updates)
        for pair in pairs:
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise TypeError(
                    "updates are a dictionary or a list of pairs (shared variable, new expression), "
                    f"but {pair!r} is not a (shared variable, expression) pair"
                )
    result: dict[SharedVariable, Variable] = {}
    for target, value in pairs:
        if not isinstance(target, SharedVariable):
            raise TypeError(
                f"the update of {target!r}: only shared variables can be updated, this is a {type(target).__name__}. "
                "Make it with theano.shared, or return the new value as an output."
            )
        if target in result:
            raise ValueError(
                f"the shared variable {target} is updated twice: to {result[target]} and to {value}. "
                "Leave one out, or combine the two expressions."
            )
        result[target] = _as_update(target, value)
    return result


def _as_update(target: SharedVariable, value: Value) -> Variable:
    try:
        # Not converted: a row stored where a matrix is expected is rather a mistake than meant.
        return target.type.filter_variable(value, allow_convert=False)
    except (TypeError, ValueError):
        where = created_at(value)
        kind = value.type if isinstance(value, Variable) else type(value).__name__
        raise TypeError(
            f"the update of the shared variable {target} must be of its type.\n"
            f"    {target} : {target.type}\n"
            f"    update {_short(value)} : {kind}" + (f", created at {where}\n" if where else "\n") + "  "
            f"{_advice(target.type, getattr(value, 'type', None))}"
        ) from None


def _advice(wanted: Type, got: object) -> str:
    """Return the next step where an expression is of the wrong type (types may say their dtype, or not)."""
    dtypes = getattr(wanted, "dtype", None), getattr(got, "dtype", None)
    if None not in dtypes and "int" in str(dtypes[0]) and "float" in str(dtypes[1]):
        return (
            f"It holds whole numbers: make it of fractions, theano.shared(3.0) in place of theano.shared(3), or round: "
            f"theano.tensor.cast(expression, {dtypes[0]!r})."
        )
    if None not in dtypes and dtypes[0] != dtypes[1]:
        return (
            f"Cast it: theano.tensor.cast(expression, {dtypes[0]!r}). "
            "A float64 constant or input in a float32 program is the usual reason."
        )
    ranks = getattr(wanted, "ndim", None), getattr(got, "ndim", None)
    if None not in ranks and ranks[0] != ranks[1]:
        return f"It has {ranks[1]} dimensions, {ranks[0]} are needed: reshape it, or sum over what is too much."
    return "Convert the expression, or make the shared variable of the other type."


def _normalise_givens(
    givens: Replacements | None, inputs: Sequence[SymbolicInput], strict: bool
) -> dict[Variable, Variable]:
    if givens is None:
        return {}
    pairs = givens.items() if isinstance(givens, Mapping) else givens
    arguments = {i.variable for i in inputs}
    result: dict[Variable, Variable] = {}
    for old, new in pairs:
        if not isinstance(old, Variable):
            raise TypeError(f"givens replace variables, and {old!r} is a {type(old).__name__}")
        if old in arguments:
            raise RuntimeError(
                f"givens would replace {old}, which is an input of the function: the argument would have no effect. "
                "Take it out of one of the two."
            )
        if strict or not isinstance(new, Variable):
            try:
                new = old.type.filter_variable(new)
            except (TypeError, ValueError) as problem:
                kind = new.type if isinstance(new, Variable) else type(new).__name__
                raise TypeError(
                    f"givens cannot replace {old} by something of another type.\n"
                    f"    {old} : {old.type}\n    {_short(new)} : {kind}\n"
                    f"  {_advice(old.type, getattr(new, 'type', None))}"
                ) from problem
        result[old] = new
    return result


def _short(thing: Variable | str) -> str:
    if isinstance(thing, Variable):
        return one_line(thing, 60)
    text = str(thing)
    return text if len(text) <= 60 else text[:57] + "..."


# -- the copy -------------------------------------------------------------------------------------------


class _Copier:
    """Copies expressions that share their inputs, and notes the shared variables met on the way."""

    def __init__(self, inputs: Sequence[Variable], strict: bool, function: str):
        self.memo: dict[Variable, Variable] = {v: v.clone() for v in inputs}
        #: The shared variables met, each with the input of the copy that stands for its value.
        self.shared: dict[SharedVariable, Variable] = {}
        #: The nodes copied so far.
        self.nodes: list[Apply] = []
        self._strict = strict
        self._function = function

    def replace(self, replaced: Mapping[Variable, Variable]) -> None:
        """Let each key stand for its value from now on. All at once: a value may speak of the keys."""
        copies = self.copies(list(replaced.values()))
        # What was copied for the replacements is the unreplaced graph; only leaves and arguments are kept.
        self.memo = {v: c for v, c in self.memo.items() if c.owner is None}
        self.memo.update(zip(replaced, copies, strict=True))

    def note_shared(self, v: SharedVariable) -> Variable:
        """Return the input that stands for the value of a shared variable."""
        if v not in self.shared:
            self.shared[v] = v.clone()
            # Where givens replace the variable, the graph reads something else than its value.
            self.memo.setdefault(v, self.shared[v])
        return self.shared[v]

    def copies(self, outputs: Sequence[Variable]) -> list[Variable]:
        """Return copies of some expressions."""
        memo = self.memo
        for node in toposort(outputs, memo):
            inputs = [memo[v] if v in memo else self._leaf(v, node) for v in node.inputs]
            # Replacements of equal type need no new type check.
            fresh = node.with_inputs(inputs) if self._strict else node.clone_with_new_inputs(inputs, strict=False)
            self.nodes.append(fresh)
            for old, new in zip(node.outputs, fresh.outputs, strict=True):
                memo.setdefault(old, new)
        return [memo[v] if v in memo else self._leaf(v, None) for v in outputs]

    def _leaf(self, v: Variable, user: Any) -> Variable:
        if isinstance(v, SharedVariable):
            return self.note_shared(v)
        if isinstance(v, Constant):
            copy = self.memo[v] = v.clone()
            return copy
        if isinstance(v.type, NullType):
            raise NullTypeGradError(f"{self._function} needs a gradient that does not exist, because {v.type.why_null}")
        where = created_at(v)
        made = f", created at {where}," if where else ""
        need = f"{user.op} needs it. " if user is not None else ""
        raise MissingInputError(
            f"the variable {v} of type {v.type}{made} is neither an input of {self._function} nor given a value. {need}"
            f"Add it to the inputs, or replace it with givens.",
            variable=v,
        )


def _checked_update(target: SharedVariable, value: Variable, copy: Variable) -> Variable:
    if copy.type != target.type:
        raise TypeError(
            f"with what givens replace, the update {_short(value)} of {target} is of type {copy.type} instead of "
            f"{target.type}. {_advice(target.type, copy.type)}"
        )
    return copy


def _add_default_updates(
    copier: _Copier, updates_of: dict[SharedVariable, Variable], without: bool | Sequence[SharedVariable]
) -> None:
    if without is True:
        return
    if without is not False and not isinstance(without, (list, tuple, set, frozenset)):
        raise TypeError(f"no_default_updates is True, False or a list of shared variables, not {without!r}")
    exempt = set(without) if without is not False else set()
    done: set[SharedVariable] = set()
    # An update may bring in shared variables that have default updates in their turn.
    while fresh := [v for v in copier.shared if v not in done]:
        for v in fresh:
            done.add(v)
            if v not in updates_of and v not in exempt and getattr(v, "default_update", None) is not None:
                value = _as_update(v, v.default_update)
                (copy,) = copier.copies([value])
                updates_of[v] = _checked_update(v, value, copy)


def _with_copy(
    given: SymbolicInput, memo: Mapping[Variable, Variable], updates: Any, allow_downcast: bool | None
) -> SymbolicInput:
    copy = given.__class__.__new__(given.__class__)
    copy.__dict__.update(given.__dict__)
    copy.variable = memo[given.variable]
    if given.update is not None:
        copy.update = next(updates)
    if given.allow_downcast is None:
        copy.allow_downcast = allow_downcast
    return copy


def _shared_input(copy: Variable, original: SharedVariable, update: Variable | None) -> In:
    # Not mutable, although it may be updated: the new value goes to memory of its own, so that a call that
    # fails half-way has changed nothing. The machine uses the old memory again at the next call.
    return In(
        copy,
        name=original.name,
        value=original.container,
        update=update,
        mutable=False,
        borrow=True,
        implicit=True,
        shared=True,
    )


def check_forgotten(
    closed: ClosedGraph, without: bool | Sequence[SharedVariable], function: str, warn: Callable[[str], None]
) -> None:
    """Warn of shared variables that a loop changes, and whose new values the function does not store.

    Parameters
    ----------
    closed : ClosedGraph
    without : bool or list of SharedVariable
        The argument ``no_default_updates`` of the function.
    warn : callable
        Takes the message.
    """
    if without is True:
        return
    meant = {*closed.given_updates, *(without or ())}
    for node in closed.nodes or ():
        for v in node.op.carried_inputs(node):
            shared = closed.originals.get(v)
            if isinstance(shared, SharedVariable) and shared not in meant:
                meant.add(shared)
                where = created_at(node.outputs[0])
                warn(
                    f"{function} does not store the new value of {shared}, which {node.op}"
                    + (f", written at {where}," if where else "")
                    + " changes in each step, so that calls repeat values, or random numbers. Pass the updates that "
                    "scan returned, theano.function(..., updates=updates), or no_default_updates=True if that is meant."
                )


def check_unused(
    closed: ClosedGraph, what_to_do: str, function: str = "the function", warn: Any = None
) -> None:
    """Complain about arguments on which nothing depends, nor anything of which it is a derivative.

    Parameters
    ----------
    closed : ClosedGraph
    what_to_do : {'raise', 'warn', 'ignore'}
    warn : callable
        Takes the message, for ``'warn'``.

    Raises
    ------
    UnusedInputError
    """
    if what_to_do not in ("raise", "warn", "ignore"):
        raise ValueError(f"on_unused_input is 'raise', 'warn', 'ignore' or None, not {what_to_do!r}")
    if what_to_do == "ignore":
        return
    wanted = [o.variable for o in closed.outputs] + [i.update for i in closed.inputs if i.update is not None]
    used = set(ancestors(wanted, {i.variable for i in closed.inputs}))
    derived_from = {a for v in used for a in getattr(v.tag, "derived_from", ())}
    for index, given in enumerate(closed.inputs):
        if given.implicit or given.update is not None or given.variable in used:
            continue
        if closed.originals[given.variable] in derived_from:
            continue
        where = created_at(given.variable)
        message = (
            f"the input {given.name or given.variable} (number {index}, of type {given.variable.type}"
            + (f", created at {where}" if where else "")
            + f") of {function} is not used: no output and no update depends on it.\n"
            "Leave it out, or pass on_unused_input='ignore' (or 'warn') to theano.function."
        )
        if what_to_do == "raise":
            raise UnusedInputError(message)
        warn(message)
