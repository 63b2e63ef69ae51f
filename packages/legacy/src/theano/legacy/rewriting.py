"""What older programs took from inside rewriting: choices by time, chains of ops, constants, changes."""

from __future__ import annotations

import inspect
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from theano.compile.function import function
from theano.compile.shared import SharedVariable, shared
from theano.graph.apply import Apply
from theano.graph.clone import clone_get_equiv
from theano.graph.features import Feature
from theano.graph.fgraph import FunctionGraph
from theano.graph.op import Op
from theano.graph.traverse import ancestors, equal_computations
from theano.graph.variable import Constant, Variable
from theano.rewriting.userdefined import LocalOptimizer, MergeOptimizer
from theano.settings import config


class LocalMetaOptimizerSkipAssertionError(AssertionError):
    """Raised by what a function is compiled of, so that `LocalMetaOptimizer` passes over a choice without a word."""


class LocalMetaOptimizer(LocalOptimizer):
    """Several node rewriters of which the one is taken whose result runs fastest, by measurement.

    What a node is given comes from test values, and from :meth:`provide_inputs`, which subclasses define.

    Examples
    --------
    >>> choice = LocalMetaOptimizer()
    >>> choice.register(LocalOptimizer("one"), ["slow"])
    >>> choice.get_opts(None), choice.tracks()
    ([], [])
    """

    def __init__(self) -> None:
        super().__init__()
        self.verbose = config.metaopt.verbose
        self.track_dict: dict[Any, list[Any]] = defaultdict(list)
        self.tag_dict: dict[str, list[Any]] = defaultdict(list)
        self.optimizers: list[Any] = []
        self._tracks: list[Any] = []

    def register(self, optimizer: Any, tag_list: Iterable[str]) -> None:
        """Add a rewriter under some tags; nodes of the ops that it tracks are shown to it."""
        self.optimizers.append(optimizer)
        for key in optimizer.tracks() or ():
            self.track_dict[key].append(optimizer)
            self._tracks.append(key)
        for tag in tag_list:
            self.tag_dict[tag].append(optimizer)

    def tracks(self) -> list[Any]:
        """Return what any of the rewriters tracks."""
        return self._tracks

    def get_opts(self, node: Any) -> list[Any]:
        """Return the rewriters that are tried at a node."""
        return list(self.track_dict[type(node.op)]) if node is not None else []

    def provide_inputs(self, node: Apply[Any, Any], inputs: Iterable[Variable]) -> Mapping[Variable, Any]:
        """Return values, or shared variables, for inputs that have no test value."""
        return {}

    def time_call(self, fn: Callable[[], Any]) -> float:
        """Return how many seconds a call takes."""
        start = time.perf_counter()
        fn()
        return time.perf_counter() - start

    def transform(self, node: Apply[Any, Any]) -> Any:
        """Return the outputs that were computed fastest; nothing if the node has inputs without values."""
        if self._tracks and not isinstance(node.op, tuple(key for key in self._tracks if isinstance(key, type))):
            return False
        givens = self._values(node)
        if givens is None:
            return False
        timed = [t for opt in self.get_opts(node) if (t := self._timed(opt, node, givens)) is not None]
        if not timed:
            return False
        return min(timed, key=lambda found: found[0])[1]

    def _values(self, node: Apply[Any, Any]) -> dict[Variable, Any] | None:
        missing = {v for v in node.inputs if not isinstance(v, (SharedVariable, Constant))}
        tested = {v: getattr(v.tag, "test_value", None) for v in missing}
        givens: dict[Variable, Any] = {v: shared(value) for v, value in tested.items() if value is not None}
        missing -= givens.keys()
        if missing:
            givens.update(self.provide_inputs(node, missing))
        lack = missing - givens.keys()
        if lack and self.verbose > 0:
            print(f"{self} leaves {node} alone: {len(lack)} inputs have no values")
        return None if lack else givens

    def _timed(self, opt: Any, node: Apply[Any, Any], givens: dict[Variable, Any]) -> tuple[float, Any] | None:
        outputs = opt.transform(node)
        if not outputs:
            return None
        try:
            fn = function([], outputs, givens=givens, on_unused_input="ignore")
            seconds = min(self.time_call(fn) for _ in range(2))
        except LocalMetaOptimizerSkipAssertionError:
            return None
        except Exception as error:  # noqa: BLE001 - a choice that fails is none
            if self.verbose > 0:
                print(f"{opt} fails: {error}")
            return None
        if self.verbose > 1:
            print(f"{opt}: {seconds:.5g} s")
        return seconds, outputs


def is_same_graph_with_merge(var1: Variable, var2: Variable, givens: Any = None) -> bool:
    """Return whether two expressions are the same once equal nodes are merged.

    Parameters
    ----------
    var1, var2 : Variable
    givens : dict or list of pairs of Variable, optional
        What stands for what.

    Examples
    --------
    >>> import theano
    >>> x, y = theano.generic("x"), theano.generic("y")
    >>> same = theano.compile.view_op
    >>> is_same_graph_with_merge(same(x), same(y)), is_same_graph_with_merge(same(x), same(y), {y: x})
    (False, True)
    """
    memo = dict(givens or {})
    first, second = (clone_get_equiv([], [v], copy_inputs=False, memo=dict(memo))[v] for v in (var1, var2))
    free = [v for v in dict.fromkeys(ancestors([first, second])) if v.owner is None and not isinstance(v, Constant)]
    fgraph = FunctionGraph(free, [first, second])
    MergeOptimizer().optimize(fgraph)
    return equal_computations([fgraph.outputs[0]], [fgraph.outputs[1]])


def pre_constant_merge(vars: Sequence[Variable] | Variable) -> list[Variable]:
    """Let equal constants in expressions be one, in place; nodes of closed graphs are left alone.

    Examples
    --------
    >>> import theano
    >>> pre_constant_merge([theano.generic("x")])
    [x]
    """
    wanted = [vars] if isinstance(vars, Variable) else list(vars)
    kept: dict[Any, Constant] = {}
    for v in ancestors(wanted):
        node = v.owner
        if node is None or getattr(node, "fgraph", None) is not None:
            continue
        for i, given in enumerate(node.inputs):
            if isinstance(given, Constant):
                node.inputs[i] = kept.setdefault(given.signature(), given)
    return [kept.setdefault(v.signature(), v) if isinstance(v, Constant) else v for v in wanted]


def check_chain(r: Any, *chain: Any) -> bool:
    """Return whether a variable is computed by a chain of ops, each from the first input of the one before.

    Parameters
    ----------
    r : Variable or Apply
    *chain : Op, class of ops, or callable
        A callable is asked about the variable. None wants a variable that nothing computes.

    Examples
    --------
    >>> import theano
    >>> same = theano.compile.view_op
    >>> x = theano.generic("x")
    >>> check_chain(same(same(x)), same, same, None), check_chain(same(x), same, same)
    (True, False)
    """
    v = r.outputs[0] if isinstance(r, Apply) else r
    for wanted in chain:
        node = v.owner
        if wanted is None or node is None:
            return wanted is None and node is None
        if isinstance(wanted, Op):
            fits = node.op == wanted
        elif inspect.isclass(wanted):
            fits = isinstance(node.op, wanted)
        else:
            fits = bool(wanted(v))
        if not fits:
            return False
        v = node.inputs[0] if node.inputs else v
    return True


def merge_dict(d1: Mapping[Any, Any], d2: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a dictionary with the keys of both, where the values of common keys are added.

    Examples
    --------
    >>> merge_dict({"a": 1}, {"a": 2, "b": 3})
    {'a': 3, 'b': 3}
    """
    return {**d1, **{key: d1[key] + value if key in d1 else value for key, value in d2.items()}}


class ChangeTracker(Feature):
    """Notes whether a closed graph has changed since it was last asked.

    Examples
    --------
    >>> from theano.graph import FunctionGraph, generic
    >>> x, y = generic("x"), generic("y")
    >>> notes = ChangeTracker()
    >>> graph = FunctionGraph([x, y], [x], features=[notes], clone=False)
    >>> notes.reset(); graph.replace(x, y); notes.changed
    True
    """

    def __init__(self) -> None:
        self.changed = False
        self.nb_imported = 0

    def on_import(self, fgraph: FunctionGraph, node: Any, reason: Any) -> None:
        """Note a new node."""
        self.nb_imported += 1
        self.changed = True

    def on_change_input(self, fgraph: FunctionGraph, node: Any, i: int, r: Any, new_r: Any, reason: Any = None) -> None:
        """Note another input of a node."""
        self.changed = True

    def reset(self) -> None:
        """Forget what was noted."""
        self.changed = False

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Become an attribute of the graph."""
        fgraph.change_tracker = self  # type: ignore[attr-defined]

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Be an attribute no longer."""
        del fgraph.change_tracker  # type: ignore[attr-defined]
