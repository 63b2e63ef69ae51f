"""``DebugMode``: a function is computed in every way that there is, and the ways must agree.

How the mode rewrites (several times, recording replacements) is here, and how a graph is computed: each node as
`theano.runtime.checked` does it, then what rewriting replaced, then the graph as the user wrote it, and last the
program that the machine would run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from theano.compile.mode import Mode
from theano.errors import (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugModeError,
    InvalidValueError,
    MethodNotDefined,
    StochasticOrder,
)
from theano.graph.apply import Apply
from theano.graph.features import Supervisor
from theano.graph.fgraph import FunctionGraph
from theano.graph.op import has_own_thunk
from theano.graph.signals import let_signals_through
from theano.graph.source import created_at
from theano.graph.traverse import ancestors, toposort
from theano.graph.variable import Constant, Variable
from theano.layers import lazily
from theano.printing import debugprint, one_line
from theano.records import replace
from theano.rewriting import Query, Report, RewriteSettings, phases, rewrite
from theano.rewriting.replacements import Replacement, ReplacementRecorder, account
from theano.runtime.checked import FORMS, CheckedNode, Checks, check_finite, difference, equal, short
from theano.runtime.failure import Explainer, describe
from theano.runtime.inspection import inspection_of
from theano.runtime.interpreter import NodeFunction, numbers_of
from theano.runtime.link import Linked, Linker, LinkWith, Performed, Thunked, link
from theano.runtime.program import Argument, build
from theano.settings import config

if TYPE_CHECKING:
    from theano.graph.annotations import Value

PYTHON = Linker("py", "never")


class CheckedReport(Report):
    """What rewriting did, with what is needed to check it."""

    replacements: Sequence[Replacement] = ()
    #: The graph before: its inputs and outputs are in the order of those of the graph afterwards.
    original: FunctionGraph | None = None


class DebugMode(Mode):
    """Checks each op and each rewrite while a function runs, and raises a `DebugModeError` for what it finds.

    A function compiled in this mode is slow; what it returns can be trusted. It compares C with Python, a first with a
    second run, what rewriting put in with what it replaced, memory written and shared with ``destroy_map`` and
    ``view_map``, the graphs of several rewritings, and results into memory of every layout.

    Parameters
    ----------
    optimizer : Query or str
        Which rewrites.
    stability_patience : int, optional
        How often to rewrite; by default ``config.DebugMode.patience``.
    check_c_code, check_py_code : bool, optional
        Whether to run compiled code and Python; by default ``config.DebugMode.check_c`` and ``.check_py``. What
        rewriting replaced is computed in Python: without that, it is not compared.
    check_isfinite : bool, optional
        Whether NaN and infinity are errors; by default ``config.DebugMode.check_finite``.
    check_preallocated_output : list of str, optional
        What memory to offer to the outputs of ops: ``'initial'``, ``'previous'``, ``'c_contiguous'``,
        ``'f_contiguous'``, ``'strided'``, ``'wrong_size'``, ``'ALL'``; by default
        ``config.DebugMode.check_preallocated_output``.
    require_matching_strides : int, optional
        What to do where C and Python lay a result out differently: 0 nothing, 1 warn, 2 raise; by default
        ``config.DebugMode.check_strides``.
    linker : Linker or str, optional
        How compiled code is made.

    Examples
    --------
    >>> import numpy as np, theano, theano.tensor as T
    >>> class Twice(theano.Op):
    ...     __props__ = ()
    ...     itypes = otypes = [T.dvector]
    ...     def perform(self, node, inputs, output_storage):
    ...         inputs[0][:] *= 2
    ...         output_storage[0][0] = inputs[0].copy()
    >>> x = T.dvector("x")
    >>> theano.function([x], Twice()(x), mode="DebugMode")([1.0])
    Traceback (most recent call last):
     ...
    theano.errors.BadDestroyMap: perform of Twice wrote into its input 0, which destroy_map {} does not name
    ...
    """

    def __init__(
        self,
        optimizer: Query | str | None = "fast_run",
        stability_patience: int | None = None,
        check_c_code: bool | None = None,
        check_py_code: bool | None = None,
        check_isfinite: bool | None = None,
        check_preallocated_output: Sequence[str] | str | None = None,
        require_matching_strides: int | None = None,
        linker: Linker | str | None = None,
    ):
        super().__init__(Linker("c|py") if linker is None else linker, optimizer)
        if self.linker.one_block:  # each node is looked at by itself
            self.linker = Linker(self.linker.name, self.linker.compiled, self.linker.allow_gc)
        self.stability_patience = _given(stability_patience, config.DebugMode.patience)
        self.check_c_code = bool(_given(check_c_code, config.DebugMode.check_c))
        self.check_py_code = bool(_given(check_py_code, config.DebugMode.check_py))
        self.check_isfinite = bool(_given(check_isfinite, config.DebugMode.check_finite))
        self.require_matching_strides = int(_given(require_matching_strides, config.DebugMode.check_strides))
        memory = _given(check_preallocated_output, config.DebugMode.check_preallocated_output)
        self.check_preallocated_output = _forms(memory)
        self.check_preallocated_output_ndim = int(config.DebugMode.check_preallocated_output_ndim)
        self.warn_input_not_reused = bool(config.DebugMode.warn_input_not_reused)
        if not (self.check_c_code or self.check_py_code):
            raise ValueError("DebugMode needs something to run: check_c_code and check_py_code are both False")

    @property
    def inspects_nodes(self) -> bool:
        """Whether nodes are run one by one: they are."""
        return True

    @property
    def checks(self) -> Checks:
        """What is checked of each node."""
        return Checks(
            self.check_isfinite,
            self.check_preallocated_output,
            self.check_preallocated_output_ndim,
            self.require_matching_strides,
            self.warn_input_not_reused,
        )

    def clone(self, link_kwargs: dict[str, Any] | None = None, optimizer: Query | str = "", **kwargs: Any) -> Mode:
        """Return a mode like this one, with other values for some parameters."""
        names = (
            "stability_patience", "check_c_code", "check_py_code", "check_isfinite", "check_preallocated_output",
            "require_matching_strides",
        )  # fmt: skip
        mine = {name: getattr(self, name) for name in names}
        linker = self.linker.clone(**link_kwargs) if link_kwargs else self.linker
        copy = type(self)(**{"optimizer": optimizer or self.optimizer, "linker": linker, **mine, **kwargs})
        copy.check_preallocated_output_ndim = self.check_preallocated_output_ndim
        copy.warn_input_not_reused = self.warn_input_not_reused
        return copy

    # -- rewriting ----------------------------------------------------------------------------------------

    def rewrite(self, fgraph: FunctionGraph, settings: RewriteSettings) -> Report:
        """Rewrite a graph in place, and copies of it to see whether they come out the same.

        Raises
        ------
        StochasticOrder
            They do not.
        """
        original, _ = fgraph.clone_get_equiv()
        again = [_guarded_copy(fgraph) for _ in range(self.stability_patience - 1)]
        recorder = ReplacementRecorder()
        fgraph.attach_feature(recorder)
        report = rewrite(fgraph, self.query, settings)
        fgraph.remove_feature(recorder)
        checked = CheckedReport(**vars(report))
        checked.replacements, checked.original = recorder.replacements, original
        first = account(fgraph)
        quiet = replace(settings, verbose=False, profile=False)
        for k, copy in enumerate(again):
            rewrite(copy, self.query, quiet)
            other = account(copy)
            if first != other:
                raise StochasticOrder(text=_unstable(fgraph, copy, first, other, k + 2))
        return checked

    def evaluator(
        self, fgraph: FunctionGraph, link_with: LinkWith, explainer: Explainer, report: Report | None
    ) -> CheckedGraph:
        """Return what computes a graph with all checks."""
        return CheckedGraph(fgraph, link_with(self.linker), self, explainer, report)


def _given(value: Any, otherwise: object) -> Any:
    return otherwise if value is None else value


def _forms(wanted: Sequence[str] | str) -> tuple[str, ...]:
    names = wanted.split(":") if isinstance(wanted, str) else list(wanted)
    names = [name for name in names if name]
    unknown = [name for name in names if name not in (*FORMS, "ALL")]
    if unknown:
        raise ValueError(f"check_preallocated_output knows {', '.join(FORMS)} and ALL, not {unknown[0]!r}")
    return FORMS if "ALL" in names else tuple(name for name in FORMS if name in names)


def _guarded_copy(fgraph: FunctionGraph) -> FunctionGraph:
    """Return a copy of a graph in which the same inputs are protected."""
    copy, memo = fgraph.clone_get_equiv()
    for feature in fgraph.features:
        if isinstance(feature, Supervisor):
            protected, replaced = ([memo[v] for v in some] for some in (feature.protected, feature.replaced))
            copy.attach_feature(Supervisor(protected, replaced))
    return copy


def _unstable(
    fgraph: FunctionGraph, copy: FunctionGraph, first: list[tuple[Any, ...]], other: list[tuple[Any, ...]], time: int
) -> str:
    at = next((i for i, (a, b) in enumerate(zip(first, other)) if a != b), min(len(first), len(other)))
    lines = [f"rewriting the same graph gave another result at time {time} than at first"]
    for name, graph in (("at first", fgraph), ("now", copy)):
        nodes = graph.toposort()
        what = one_line(nodes[at].outputs[0], 100) if at < len(nodes) else "the outputs"
        lines.append(f"  {name}, node {at} of {len(nodes)}: {what}")
        line = created_at(nodes[at].outputs[0]) if at < len(nodes) else None
        if line is not None:
            lines.append(f"    written at {line}: {line.text}")
    lines.append("  Some rule, or the __eq__ or __hash__ of some op, depends on chance or on memory addresses.")
    return "\n".join(lines)


# -- running ---------------------------------------------------------------------------------------------------


class _Failure:
    """What stands for a value that could not be computed, and perhaps is never needed."""

    def __init__(self, error: BaseException):
        self.error = error


Values = dict[Variable, Any]


class CheckedGraph:
    """Computes a graph, and checks whatever can be checked.

    Parameters
    ----------
    fgraph : FunctionGraph
    linked : Linked
        Its compiled nodes.
    mode : DebugMode
    explainer : Explainer
    report : Report or None
        What rewriting did, if it did something.
    """

    def __init__(
        self, fgraph: FunctionGraph, linked: Linked, mode: DebugMode, explainer: Explainer, report: Report | None
    ):
        self.fgraph, self.linked, self.mode, self.explainer = fgraph, linked, mode, explainer
        self.lazy = linked.lazy
        self.nodes = [
            CheckedNode(node, self._forms(node, how), mode.checks, self._failed)
            for node, how in zip(linked.nodes, linked.how, strict=True)
        ]
        self._number = {node: i for i, node in enumerate(linked.nodes)}
        # Replaced nodes are computed in Python; with `check_py_code` off they are not compared.
        self.past = None
        if isinstance(report, CheckedReport) and mode.check_py_code:
            self.past = _Past(report, linked.nodes)
        # Where an op has several right answers (the sign of an eigenvector), C may give another than Python.
        unique = not any(hasattr(v.tag, "values_eq_approx") for node in linked.nodes for v in node.outputs)
        self.machine = self._program() if mode.check_c_code and unique else None

    def _forms(self, node: Apply, how: Any) -> list[NodeFunction]:
        found = []
        if self.mode.check_py_code and not has_own_thunk(node.op):
            in_python = _python_form(node)
            found += [in_python] if in_python is not None else []
        if (self.mode.check_c_code or not found) and not (found and isinstance(how, Performed)):
            found.append(NodeFunction(node, how))
        return found

    def _failed(self, node: Apply, error: BaseException, values: Sequence[object]) -> BaseException:
        return self.explainer(self._number[node], error, [numbers_of(value) for value in values])

    def __call__(self, given: Sequence[Any]) -> list[Any]:
        """Return the outputs for some inputs.

        Raises
        ------
        DebugModeError
            Something is wrong.
        """
        values: Values = {}
        for v, value in zip(self.fgraph.inputs, given, strict=True):
            values[v] = inspection_of(v.type).copy_as_laid_out(self._checked_input(v, value))
        for checked in self.nodes:
            self._compute(checked, values)
        results = [_value(v, values) for v in self.fgraph.outputs]
        for result in results:
            if isinstance(result, _Failure):
                raise result.error
        if self.past is not None:
            self.past.compare(self.fgraph, values)
        if self.machine is not None:
            self._compare_with_machine(given, results)
        return [v.type.value_copy(result) for v, result in zip(self.fgraph.outputs, results, strict=True)]

    def _checked_input(self, v: Variable, value: Value) -> Any:
        if not v.type.is_valid_value(value):
            made = f", created at {created_at(v)}" if created_at(v) else ""
            raise InvalidValueError(
                v, value, hint="graph input",
                text=f"the input {v} of the function{made} is of type {v.type}, and got {describe(value)}",
            )  # fmt: skip
        if self.mode.check_isfinite:
            check_finite(v, value, f"the input {v} of the function got", lambda line, more: "\n  ".join([line, *more]))
        return value

    def _compute(self, checked: CheckedNode, values: Values) -> None:
        node = checked.node
        given = [_value(v, values) for v in node.inputs]
        missing = next((value for value in given if isinstance(value, _Failure)), None)
        try:
            if missing is not None:
                found = self._lazily(checked, given, missing)
            else:
                found = checked(given)
        except DebugModeError:
            raise
        except Exception as error:
            let_signals_through(error)
            if not self.lazy:
                raise
            # The branch that is not taken may be one that cannot be computed.
            found = [_Failure(error)] * len(node.outputs)
        values.update(zip(node.outputs, found, strict=True))

    def _lazily(self, checked: CheckedNode, given: Sequence[object], missing: _Failure) -> list[Any]:
        """Compute a lazy node some of whose inputs could not be computed."""
        function = checked.forms[0]
        if not (isinstance(function.how, Thunked) and function.how.lazy):
            raise missing.error
        inputs = [[None if isinstance(value, _Failure) else value] for value in given]
        there = [[int(not isinstance(value, _Failure))] for value in given]
        outputs: list[list[Any]] = [[None] for _ in checked.node.outputs]
        wanted = function.bind(inputs, there, outputs)()
        for k in wanted or ():
            raise given[k].error
        return [cell[0] for cell in outputs]

    # -- the machine ------------------------------------------------------------------------------------------

    def _program(self) -> Callable[..., Any]:
        # The loader is a compiled module that brings in NumPy: `import theano` does without.
        from theano.loader.module import Function

        fgraph = self.fgraph
        destroyers = fgraph.destroyers
        arguments = [
            Argument(v, writable=destroyers is not None and bool(destroyers(v))) for v in fgraph.inputs
        ]
        linked = Linked(list(self.linked.nodes), list(self.linked.how))
        program = build(fgraph, linked, arguments, len(fgraph.outputs), [], "list", name=self.explainer.function)
        # Here the arguments are copies: nothing has to wait until all others have succeeded.
        program.commit_start = len(program.instructions)
        made: Callable[..., Any] = Function(program.description() | {"keepalive": self.linked})
        return made

    def _compare_with_machine(self, given: Sequence[object], results: Sequence[object]) -> None:
        assert self.machine is not None
        pairs = zip(self.fgraph.inputs, given, strict=True)
        copies = [inspection_of(v.type).copy_as_laid_out(value) for v, value in pairs]
        for v, one, two in zip(self.fgraph.outputs, results, self.machine(*copies), strict=True):
            if equal(v, one, two):
                continue
            first = f"the compiled program computes {one_line(v, 60)} differently from its nodes, one by one"
            raise BadThunkOutput(
                v, "each node by itself", one, "the compiled program", two, given,
                text="\n".join([first, f"  each node by itself: {short(one)}", f"  the program: {short(two)}",
                                *difference(one, two), "  The order of in-place work or the plan of memory is wrong."]),
            )  # fmt: skip


def _value(v: Variable, values: Values) -> Any:
    return v.data if isinstance(v, Constant) and v not in values else values[v]


def _python_form(node: Apply) -> NodeFunction | None:
    try:
        return NodeFunction(node, link([node], PYTHON).how[0])
    except MethodNotDefined:
        return None


# -- what rewriting replaced -----------------------------------------------------------------------------------


class _Past:
    """The graph as it was written and everything that rewriting replaced, computed beside the graph that there is."""

    def __init__(self, report: CheckedReport, nodes: Sequence[Apply]):
        assert report.original is not None
        self.report, self.original = report, report.original
        present = set(nodes)
        order = toposort([v for r in report.replacements for v in (r.old, r.new)])
        self._place = {node: i for i, node in enumerate(order)}
        # What took the place of something comes after what took the place of its own inputs: the first difference in
        # this order is the one that made the others.
        chosen = _without_approximate(report.replacements)
        place: dict[Any, int] = self._place
        self.replacements = sorted(chosen, key=lambda r: place.get(r.new.owner, -1))
        self.exactly = len(chosen) == len(report.replacements)
        self.gone = [self._function(node) for node in order if node not in present]
        self.written = [self._function(node) for node in self.original.toposort()]

    @staticmethod
    def _function(node: Apply) -> NodeFunction | None:
        return None if has_own_thunk(node.op) else _python_form(node)

    def compare(self, fgraph: FunctionGraph, values: Values) -> None:
        """Raise BadOptimization where a replacement is not worth what it replaced."""
        known = dict(values)
        _add_values(self.gone, known)
        for replacement in self.replacements:
            self._compare(replacement, known, values)
        if not self.exactly:
            return
        known = {v: values[u] for v, u in zip(self.original.inputs, fgraph.inputs, strict=True)}
        _add_values(self.written, known)
        for old, new in zip(self.original.outputs, fgraph.outputs, strict=True):
            self._compare(Replacement(old, new, ""), known, values)

    def _compare(self, replacement: Replacement, known: Values, values: Values) -> None:
        old, new, rule = replacement
        one = _maybe(old, known)
        two = _maybe(new, values) if _maybe(new, values) is not None else _maybe(new, known)
        if one is None or two is None or _agree(old, one, two):
            return
        lines = [
            f"was:  {one_line(old, 100)}", f"  = {short(one)}", f"is:   {one_line(new, 100)}", f"  = {short(two)}",
            *difference(one, two),
        ]  # fmt: skip
        first = f"the rule {rule} changed a value, when it replaced {one_line(old, 60)} by {one_line(new, 60)}"
        advice = f"Correct the rule, or go without it: mode.excluding({rule!r})."
        if not rule:
            first = "rewriting changed an output, and none of its single steps did"
            advice = f"The rules used were {', '.join(sorted(self.report.uses)) or 'none'}."
        where = created_at(old) or created_at(new)
        written = [f"written at {where}: {where.text}"] if where else []
        text = "\n  ".join([first, *written, *lines, advice])
        raise BadOptimization(
            old, new, one, two, rule, debugprint(old, file="str"), debugprint(new, file="str"), text=text
        )


def _without_approximate(replacements: Sequence[Replacement]) -> list[Replacement]:
    """Return the replacements that must keep values: neither by rules that promise less, nor after one of those."""
    near = {r.new for r in replacements if getattr(phases.find(r.rule), "keeps", "") == "approximate"}
    if not near:
        return list(replacements)
    return [r for r in replacements if near.isdisjoint(ancestors([r.old, r.new]))]


def _maybe(v: Variable, values: Values) -> Any:
    found = _value(v, values) if isinstance(v, Constant) or v in values else None
    return None if isinstance(found, _Failure) else found


def _add_values(functions: Sequence[NodeFunction | None], known: Values) -> None:
    """Compute what can be computed; failing nodes are left out, for their values may be unused."""
    for function in functions:
        if function is None:
            continue
        node = function.node
        given = [_maybe(v, known) for v in node.inputs]
        if any(value is None and not v.type.is_valid_value(None) for v, value in zip(node.inputs, given, strict=True)):
            continue
        copies = {v: inspection_of(v.type).copy_as_laid_out(value) for v, value in zip(node.inputs, given, strict=True)}
        outputs: list[list[Any]] = [[None] for _ in node.outputs]
        try:
            function([[copies[v]] for v in node.inputs], outputs)
        except Exception as error:  # noqa: BLE001  (whatever an op raises: what was replaced may have been to fail)
            let_signals_through(error)
            continue
        for v, cell in zip(node.outputs, outputs, strict=True):
            known.setdefault(v, cell[0])


def _agree(v: Variable, one: object, two: object) -> bool:
    if equal(v, one, two):
        return True
    asked = inspection_of(v.type)
    extremes = asked.extremes(one)
    if extremes is None or not (extremes.nan or extremes.inf):
        return False
    # Rules may make finite what was not: that is what the numerically stable ones are for.
    return asked.same_where_finite(one, two)


__all__ = [
    "BadDestroyMap",
    "BadOptimization",
    "BadThunkOutput",
    "BadViewMap",
    "DebugMode",
    "DebugModeError",
    "InvalidValueError",
    "StochasticOrder",
]


__getattr__, __dir__ = lazily(globals())
