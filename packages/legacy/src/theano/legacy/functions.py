"""What older programs took from inside ``theano.function``: aliases in a graph, inputs, outputs and updates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from theano.compile.closed_graph import close_graph
from theano.compile.function import function
from theano.compile.inputs import In, SymbolicInput, SymbolicOutput, as_input
from theano.compile.shared import Container, SharedVariable
from theano.graph.aliasing import DestroyHandler
from theano.graph.clone import clone_get_equiv
from theano.graph.features import PreserveVariableAttributes, Supervisor
from theano.graph.fgraph import FunctionGraph
from theano.graph.traverse import explicit_inputs
from theano.graph.variable import Constant, Variable
from theano.settings import config


def alias_root(v: Variable) -> Variable:
    """Return the variable whose memory ``v`` shares, by the maps of the ops that make it.

    Raises
    ------
    NotImplementedError
        It shares the memory of several.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> alias_root(theano.compile.view_op(x))
    x
    """
    while v.owner is not None:
        place = v.owner.outputs.index(v)
        op = v.owner.op
        sources = [*op.view_map.get(place, ()), *op.destroy_map.get(place, ())]
        if len(sources) > 1:
            raise NotImplementedError(f"{v} may share memory with several inputs of its node")
        if not sources:
            return v
        v = v.owner.inputs[sources[0]]
    return v


def view_tree_set(v: Variable, treeset: set[Variable]) -> None:
    """Add to ``treeset`` the variable ``v``, and all that share its memory.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> graph = theano.FunctionGraph([x], [theano.compile.view_op(x)], clone=False)
    >>> found = set()
    >>> view_tree_set(x, found)
    >>> len(found)
    2
    """
    treeset.add(v)
    for node, i in v.clients:
        if isinstance(node, str):
            continue
        for place, sources in (*node.op.view_map.items(), *node.op.destroy_map.items()):
            if i in sources and node.outputs[place] not in treeset:
                view_tree_set(node.outputs[place], treeset)


def infer_reuse_pattern(fgraph: FunctionGraph, outputs_to_disown: Iterable[Variable]) -> set[Variable]:
    """Return the computed variables that may share memory with one of those given.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> graph = theano.FunctionGraph([x], [theano.compile.view_op(x)], clone=False)
    >>> infer_reuse_pattern(graph, graph.outputs) == set(graph.outputs)
    True
    """
    found: set[Variable] = set()
    for v in outputs_to_disown:
        view_tree_set(alias_root(v), found)
    return {v for v in found if v.owner is not None}


def fgraph_updated_vars(fgraph: FunctionGraph, expanded_inputs: Sequence[Any]) -> dict[Variable, Variable]:
    """Return for each input of a closed graph that is updated the output with its new value.

    Parameters
    ----------
    fgraph : FunctionGraph
        Its last outputs are the updates, in the order of the inputs.
    expanded_inputs : list of In
        One for each input.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> graph = theano.FunctionGraph([x], [theano.compile.view_op(x)], clone=False)
    >>> fgraph_updated_vars(graph, [theano.In(x, update=graph.outputs[0])]) == {x: graph.outputs[0]}
    True
    """
    updated = [v for given, v in zip(expanded_inputs, fgraph.inputs, strict=True) if given.update is not None]
    return dict(zip(updated, fgraph.outputs[len(fgraph.outputs) - len(updated) :], strict=True))


def std_fgraph(
    input_specs: Sequence[Any], output_specs: Sequence[Any], accept_inplace: bool = False
) -> tuple[FunctionGraph, list[SymbolicOutput]]:
    """Return the closed graph of some inputs, outputs and updates, protected as that of a function, and the updates.

    Parameters
    ----------
    input_specs : list of In
    output_specs : list of Out
    accept_inplace : bool
        Whether the expressions may hold ops that overwrite their inputs.

    Raises
    ------
    TypeError
        They hold such ops, and may not.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> graph, updates = std_fgraph([theano.In(x)], [theano.Out(theano.compile.view_op(x))])
    >>> len(graph.apply_nodes), updates
    (1, [])
    """
    updates = [given.update for given in input_specs if given.update is not None]
    updated = [i for i, given in enumerate(input_specs) if given.update is not None]
    mapping = {len(output_specs) + k: i for k, i in enumerate(updated)}
    outputs = [*(given.variable for given in output_specs), *updates]
    fgraph = FunctionGraph([given.variable for given in input_specs], outputs, update_mapping=mapping)
    if any(node.op.destroy_map for node in fgraph.apply_nodes):
        if not accept_inplace:
            raise TypeError(f"the expressions hold ops that overwrite their inputs: {fgraph}")
        fgraph.attach_feature(DestroyHandler())
    kept = [v for given, v in zip(input_specs, fgraph.inputs, strict=True) if not _may_be_overwritten(given)]
    fgraph.attach_feature(Supervisor(kept))
    fgraph.attach_feature(PreserveVariableAttributes())
    return fgraph, [SymbolicOutput(v) for v in fgraph.outputs[len(output_specs) :]]


def _may_be_overwritten(given: Any) -> bool:
    return bool(given.mutable) or given.update is not None


def fast_inplace_check(inputs: Sequence[Variable]) -> list[Variable]:
    """Return those of some variables that an op might overwrite: nothing constant, protected or overwritten already.

    Parameters
    ----------
    inputs : list of Variable
        Of one closed graph.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> graph = theano.FunctionGraph([x], [theano.compile.view_op(x)], clone=False)
    >>> graph.attach_feature(DestroyHandler())
    >>> fast_inplace_check([x]) == [x]
    True
    """
    fgraph = inputs[0].fgraph
    protected = {v for feature in fgraph.features if isinstance(feature, Supervisor) for v in feature.protected}
    free = (v for v in inputs if not isinstance(v, Constant) and v not in protected)
    return [v for v in free if fgraph.destroyers is None or not fgraph.destroyers(v)]


_checkers: list[Callable[[Any, Any], Any]] = []


def register_checker(checker: Callable[[Any, Any], Any]) -> None:
    """Let `check_equal` ask a function first; where it raises an error, the next one is asked.

    Examples
    --------
    >>> register_checker(lambda x, y: x.lower() == y.lower())
    >>> check_equal("A", "a"), check_equal(1, 2)
    (True, False)
    >>> _ = _checkers.pop()
    """
    _checkers.insert(0, checker)


def check_equal(x: Any, y: Any) -> Any:
    """Return whether two values are equal, by the functions that `register_checker` was given, or by ``==``.

    Examples
    --------
    >>> check_equal([1], [1])
    True
    """
    for checker in _checkers:
        try:
            return checker(x, y)
        except Exception:  # noqa: BLE001 - whatever it cannot compare
            continue
    return x == y


def convert_function_input(input: Any) -> SymbolicInput:
    """Return what ``theano.function`` makes of one of its inputs.

    Examples
    --------
    >>> import theano
    >>> convert_function_input(theano.generic("x")).name
    'x'
    """
    return as_input(input)


def get_info_on_inputs(named_inputs: Sequence[str], n_unnamed_inputs: int) -> str:
    """Return in words how many inputs a function has, and which names they have.

    Examples
    --------
    >>> get_info_on_inputs(["x", "y"], 1)
    'The function has 3 inputs: 2 with names (x, y), 1 without.'
    """
    total = len(named_inputs) + n_unnamed_inputs
    names = f"{len(named_inputs)} with names ({', '.join(named_inputs)})" if named_inputs else "none with a name"
    return f"The function has {total} input{'s' * (total != 1)}: {names}, {n_unnamed_inputs} without."


def orig_function(
    inputs: Sequence[Any],
    outputs: Any,
    mode: Any = None,
    accept_inplace: bool = False,
    name: str | None = None,
    profile: Any = None,
    on_unused_input: str | None = None,
    output_keys: Sequence[str] | None = None,
) -> Any:
    """Compile expressions into a function; `theano.function` with the arguments of an older one.

    Parameters
    ----------
    inputs, outputs, mode, accept_inplace, name, profile, on_unused_input
        As for :func:`theano.function`.
    output_keys : list of str, optional
        The keys of the outputs, if a call is to return a dictionary.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> orig_function([x], [theano.compile.view_op(x)], output_keys=["same"])(3)
    {'same': 3}
    """
    wanted = outputs if output_keys is None else dict(zip(output_keys, outputs, strict=True))
    return function(
        inputs,
        wanted,
        mode=mode,
        accept_inplace=accept_inplace,
        name=name,
        profile=profile,
        on_unused_input=on_unused_input,
    )


def _constructor_FunctionMaker(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an older version pickled of how a function was made; its rewritten graph is not this version's."""
    made = {name: kwargs[name] for name in ("inputs", "outputs", "mode", "accept_inplace", "on_unused_input")}
    if kwargs.get("unpack_single"):
        (made["outputs"],) = made["outputs"]
    elif kwargs.get("return_none"):
        made["outputs"] = None
    return {**made, "output_keys": kwargs.get("output_keys")}


def _pickle_Function(f: Any) -> tuple[Any, ...]:
    """Return what a pickle of a function holds: what makes the function again, and with which arguments.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> make, arguments = _pickle_Function(theano.function([x], x))
    >>> make(*arguments)((1, 2))
    (1, 2)
    """
    reduced: tuple[Any, ...] = f.__reduce__()
    return reduced


def _constructor_Function(
    maker: Any, input_storage: Sequence[Container], inputs_data: Sequence[Any], trust_input: bool = False
) -> Any:
    """Return the function that an older version pickled, compiled by this one.

    With ``config.unpickle_function`` False, None is returned: for files in which functions were pickled by mistake.
    """
    if not config.unpickle_function:
        return None
    for container, value in zip(input_storage, inputs_data, strict=True):
        container.storage[0] = value
    made = maker if isinstance(maker, dict) else _constructor_FunctionMaker(vars(maker))
    found = orig_function(**made)
    found.trust_input = trust_input
    return found


def pfunc(
    params: Sequence[Any],
    outputs: Any = None,
    mode: Any = None,
    updates: Any = None,
    givens: Any = None,
    no_default_updates: bool | Sequence[Any] = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: Any = None,
    on_unused_input: str | None = None,
    output_keys: Sequence[str] | None = None,
) -> Any:
    """Compile expressions into a function; `theano.function`, whose ``inputs`` are called ``params``.

    Parameters
    ----------
    params : list of Variable or In
    outputs, mode, updates, givens, no_default_updates, accept_inplace, name, rebuild_strict, allow_input_downcast, \
    profile, on_unused_input
        As for :func:`theano.function`.
    output_keys : list of str, optional
        The keys of the outputs, if a call is to return a dictionary.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> pfunc(params=[x], outputs=theano.compile.view_op(x))(3)
    3
    """
    wanted = outputs if output_keys is None else dict(zip(output_keys, outputs, strict=True))
    return function(
        params,
        wanted,
        mode,
        updates,
        givens,
        no_default_updates,
        accept_inplace,
        name,
        rebuild_strict,
        allow_input_downcast,
        profile,
        on_unused_input,
    )


def iter_over_pairs(pairs: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> Iterable[tuple[Any, Any]]:
    """Return the pairs of a dictionary, or of a list of pairs.

    Examples
    --------
    >>> list(iter_over_pairs({1: 2})), list(iter_over_pairs([(1, 2)]))
    ([(1, 2)], [(1, 2)])
    """
    return pairs.items() if isinstance(pairs, Mapping) else pairs


def rebuild_collect_shared(
    outputs: Any,
    inputs: Sequence[Any] | None = None,
    replace: Any = None,
    updates: Any = None,
    rebuild_strict: bool = True,
    copy_inputs_over: bool = True,
    no_default_updates: bool | Collection[Any] = False,
) -> tuple[list[Any], Any, list[Any]]:
    """Copy expressions, put replacements in, and find their shared variables and what these are updated with.

    Parameters
    ----------
    outputs : Variable, Out, list of these, or None
    inputs : list of Variable or In, optional
    replace, updates : dict or list of pairs, optional
        As ``givens`` and ``updates`` of :func:`theano.function`.
    rebuild_strict : bool
    copy_inputs_over : bool
        Keep the variables of inputs and shared variables: copy only what is computed of them.
    no_default_updates : bool or list of SharedVariable

    Returns
    -------
    tuple
        The inputs of the copies; the outputs, in the form of ``outputs``; and a list: what each variable became, the
        updates in a dictionary, their new values, the shared variables in the order in which they were met.

    Examples
    --------
    >>> import theano
    >>> x, y = theano.generic("x"), theano.generic("y")
    >>> inputs, copy, rest = rebuild_collect_shared(theano.compile.view_op(x), [y], replace={x: y})
    >>> inputs == [y], copy.owner.inputs == [y], rest[1:]
    (True, True, [{}, [], []])
    """
    wanted: list[Any] = [] if outputs is None else list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    given = [as_input(i) for i in inputs or ()]
    replaced, new_values = dict(iter_over_pairs(replace or ())), dict(iter_over_pairs(updates or ()))
    variables = [getattr(v, "variable", v) for v in wanted]
    read = explicit_inputs(v for v in (*variables, *replaced.values(), *new_values.values()) if isinstance(v, Variable))
    taken = {*replaced, *(i.variable for i in given), *(v for v in read if isinstance(v, SharedVariable))}
    closed = close_graph(
        [*given, *(In(v) for v in read if v not in taken)], wanted, new_values, replaced,
        no_default_updates if isinstance(no_default_updates, bool) else list(no_default_updates), rebuild_strict,
    )  # fmt: skip
    updated = [(closed.originals[i.variable], i.update) for i in closed.inputs if i.update is not None]
    made = [*(o.variable for o in closed.outputs), *(value for _, value in updated)]
    memo = dict(closed.originals) if copy_inputs_over else {v: v for v in closed.originals}
    clone_get_equiv([], made, copy_inputs=False, memo=memo)
    copies, values = [memo[v] for v in made[: len(wanted)]], [memo[v] for v in made[len(wanted) :]]
    became = {old: memo[new] for new, old in closed.originals.items()} | dict(zip(variables, copies, strict=True))
    shared_updates = dict(zip((target for target, _ in updated), values, strict=True))
    arranged: Any = None if outputs is None else copies if isinstance(outputs, (list, tuple)) else copies[0]
    return [became[i.variable] for i in given], arranged, [became, shared_updates, values, list(closed.shared)]
