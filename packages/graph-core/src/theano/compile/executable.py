"""``Function``: what ``theano.function`` returns.

Calling it is the loader's business; everything else is here: its stored values, copies of it, pickles.
"""

from __future__ import annotations

import copy as copy_module
import copyreg
import os
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from theano.compile.arguments import ArgumentFilter, CallExplainer, Separator
from theano.compile.closed_graph import ClosedGraph
from theano.compile.inputs import SymbolicInput, SymbolicOutput
from theano.compile.maker import FunctionMaker
from theano.compile.pickling import FunctionState, state_of, unflatten
from theano.compile.shared import Container, SharedVariable, store_with
from theano.graph.fgraph import FunctionGraph
from theano.graph.notebook import as_svg
from theano.graph.text import printable
from theano.graph.variable import Variable
from theano.layers import member
from theano.loader.module import Function as NativeFunction
from theano.loader.module import (
    enable_vectorcall,
    memory_get_limit,
    memory_set_limit,
    set_threads,
    set_threads_least,
    store,
)
from theano.runtime.profile import CompileTimes, ProfileStats, totals
from theano.runtime.resource_limits import cpu_quota, memory_limit, requested_threads
from theano.settings import config

if TYPE_CHECKING:
    from theano.graph.annotations import Value

# From the first function on, there are calls to wait for.
store_with(store)

#: What a name stands for that several inputs have.
DUPLICATE = ["DUPLICATE"]


class _ByInput:
    """The containers or values of a function's inputs, found by name, variable or position."""

    def __init__(self, function: Function, values: bool):
        self._function, self._values = function, values

    def __getitem__(self, key: Any) -> Any:
        container = self._function._container_of(key)
        return container.value if self._values else container

    def __setitem__(self, key: Any, value: Value) -> None:
        if not self._values:
            raise TypeError("containers are fixed; set f.value[...] or f[...]")
        self._function._container_of(key).value = value

    def __contains__(self, key: object) -> bool:
        return key in self._function.finder

    def __len__(self) -> int:
        return len(self._function.input_storage)

    def __iter__(self) -> Iterator[Container]:
        return iter(self._function.input_storage)

    def __repr__(self) -> str:
        names = [c.name for c in self._function.input_storage]
        return f"<the {'values' if self._values else 'containers'} of {names}>"


#: Of a function, what only the machine and its profile ask for; `dir` leaves it out.
_MACHINERY = frozenset((
    "direct", "finder", "frames_at_rest", "input_storage", "lazy", "loop", "output_keys", "profile_counts",
    "profile_reset", "profile_shapes", "profile_timed", "return_none", "unpack_single",
))  # fmt: skip


@enable_vectorcall
class Function(NativeFunction):
    """A compiled function. Call it with the values of its inputs, by position or by keyword.

    ``output_subset=[...]`` in a call asks for some outputs only, by position (or by key, for a dictionary).

    Attributes
    ----------
    maker : FunctionMaker
        How it came about; ``maker.fgraph`` is the rewritten graph.
    name : str
    input_storage : list of Container
        The stored values: those of shared variables and defaults of arguments.
    profile : ProfileStats or None
    trust_input : bool
        Arguments are what the inputs' types say, or what they accept of a caller who says so: an array of one element
        for a number. All arguments are checked nevertheless; those that need no conversion cost next to nothing.
    """

    maker: FunctionMaker
    name: str
    input_storage: list[Container]
    profile: ProfileStats | None

    def __init__(self, maker: FunctionMaker, program: Mapping[str, Any], containers: Sequence[Container]):
        super().__init__(program)
        self.maker = maker
        self.name = maker.name
        self.input_storage = list(containers)
        self.profile = maker.profile
        self._filters = [i.filter for i in program["inputs"] if isinstance(i.filter, ArgumentFilter)]
        self._trusted = False
        self.unpack_single = maker.returns == "one"
        self.return_none = maker.returns == "none"
        self.output_keys = maker.output_keys
        self._finder: dict[Any, Any] | None = None

    @property
    def trust_input(self) -> bool:
        """Whether the caller vouches for the arguments."""
        return self._trusted

    @trust_input.setter
    def trust_input(self, vouched: bool) -> None:
        self._trusted = bool(vouched)
        for each in self._filters:
            each.trusted = self._trusted

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _MACHINERY and name[:1] != "_" or name[:2] == "__"]

    def __getattr__(self, name: str) -> Any:
        return member(self, f"{__name__}.Function", name)

    # -- stored values ------------------------------------------------------------------------------------

    @property
    def finder(self) -> dict[Any, Any]:
        """Containers by name, by variable and by position."""
        if self._finder is None:
            finder: dict[Any, Any] = {}
            for i, (spec, container) in enumerate(zip(self.maker.inputs, self.input_storage, strict=True)):
                finder[i] = finder[spec.variable] = container
                original = self.maker.originals.get(spec.variable)
                if original is not None:
                    finder[original] = container
                if spec.name is not None:
                    finder[spec.name] = DUPLICATE if spec.name in finder else container
            self._finder = finder
        return self._finder

    def _container_of(self, key: Variable | str) -> Container:
        found = self.finder.get(key)
        if isinstance(found, Container):
            return found
        if found is DUPLICATE:
            raise TypeError(f"several inputs of {self.name} are called {key!r}; use the variable, or its position")
        names = sorted(k for k in self.finder if isinstance(k, str))
        raise TypeError(f"the function {self.name} has no input {key!r}; it has {names}")

    @property
    def container(self) -> _ByInput:
        """The containers of the inputs: ``f.container[x]``."""
        return _ByInput(self, values=False)

    @property
    def value(self) -> _ByInput:
        """The stored values of the inputs: ``f.value[x]``, the same as ``f[x]``."""
        return _ByInput(self, values=True)

    def __getitem__(self, key: Any) -> Any:
        return self._container_of(key).value

    def __setitem__(self, key: Any, value: Value) -> None:
        self._container_of(key).value = value

    def __contains__(self, key: object) -> bool:
        return key in self.finder

    def get_shared(self) -> list[SharedVariable]:
        """Return the shared variables that this function reads or updates."""
        return list(self.maker.shared)

    # -- copies -----------------------------------------------------------------------------------------------

    def copy(
        self,
        share_memory: bool = False,
        swap: Mapping[SharedVariable, SharedVariable] | None = None,
        delete_updates: bool = False,
        name: str | None = None,
        profile: bool | str | ProfileStats | None = None,
    ) -> Function:
        """Return a copy of this function, without rewriting or compiling again.

        The copy uses the same shared variables, returns its results in the same form, and trusts its arguments as
        this function does.

        Parameters
        ----------
        share_memory : bool
            Without effect: each call in flight has memory of its own, which calls one after the other share in any
            case.
        swap : dict from SharedVariable to SharedVariable, optional
            Shared variables to use in the place of others of the same type.
        delete_updates : bool
            Leave the updates out.
        name : str, optional
        profile : bool, str or ProfileStats, optional
            As for ``theano.function``.

        Raises
        ------
        ValueError
            A variable to swap is not used by this function.
        TypeError
            Two swapped variables are of different types.
        """
        maker = self.maker
        swapped = dict(swap or {})
        _check_swap(self, swapped)
        fgraph, memo = _copied_graph(maker.fgraph, len(maker.outputs) if delete_updates else None)
        inputs = [_copied_input(spec, memo, swapped, maker.originals, delete_updates) for spec in maker.inputs]
        _put_updates_back(fgraph, inputs, len(maker.outputs))
        originals = {
            memo[v]: swapped.get(user, user) if isinstance(user, SharedVariable) else user
            for v, user in maker.originals.items()
        }
        closed = ClosedGraph(
            inputs,
            [SymbolicOutput(v, o.borrow) for v, o in zip(fgraph.outputs, maker.outputs, strict=False)],
            maker.returns,
            maker.output_keys,
            [swapped.get(v, v) for v in maker.shared],
            originals,
        )
        stats = profile if isinstance(profile, ProfileStats) else ProfileStats(atexit_print=False) if profile else None
        copied = FunctionMaker(
            closed, maker.mode, maker.accept_inplace, stats, name or self.name, fgraph, CompileTimes()
        )
        made = make_function(copied, _copied_containers(self, inputs))
        made.trust_input = self.trust_input
        return made

    __copy__ = copy

    # -- pickles -----------------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[object, ...]:
        return restore, (state_of(self.maker, self.input_storage), self.trust_input)

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        return rebuild(copy_module.deepcopy(state_of(self.maker, self.input_storage), memo), self.trust_input)

    def __repr__(self) -> str:
        maker = self.maker
        given = []
        for spec in maker.inputs:
            if not spec.implicit:
                kind, name = str(spec.variable.type), spec.name or spec.variable.name
                given.append((f"{name}: {kind}" if name else kind) + ("" if spec.value is None else " = ..."))
        results = [str(o.variable.type) for o in maker.outputs]
        if maker.output_keys:
            results = [f"{key}: {kind}" for key, kind in zip(maker.output_keys, results, strict=True)]
        returned = results[0] if maker.returns == "one" else f"[{', '.join(results)}]"
        returned = "None" if maker.returns == "none" else returned
        return printable(f"<theano.compile.Function {self.name}({', '.join(given)}) -> {returned}>")

    def _repr_svg_(self) -> str | None:
        return as_svg.answer(self) if as_svg.answer is not None else None


def make_function(maker: FunctionMaker, containers: Sequence[Container] | None = None) -> Function:
    """Return a function.

    Parameters
    ----------
    maker : FunctionMaker
    containers : list of Container, optional
        The values of the inputs that have one, if not those that the inputs say.
    """
    start = perf_counter()
    _set_machine_up()
    cells = maker.containers() if containers is None else containers
    program = maker.lay_out(cells).description() | {
        # A mode that inspects each node has explained the failure already.
        "on_error": (lambda index, error, *values: error) if maker.mode.inspects_nodes else maker.explainer,
        "on_bad_call": CallExplainer(maker.name, [spec for spec in maker.inputs if not spec.implicit]),
        "separate": Separator([spec.variable.type for spec in maker.inputs]),
        # The addresses of kernels keep the libraries loaded that hold them.
        "keepalive": maker.keepalive,
        "profile": None if maker.profile is None else maker.profile.wanted(),
        "options": {"output_subset": call_for_subset},
    }
    function = Function(maker, program, cells)
    maker.times.laying_out = perf_counter() - start
    totals.compiled(maker.times)
    if maker.profile is not None:
        maker.profile.attach(function)
        totals.count(function)
    return function


def _set_machine_up() -> None:
    """Hand the flags about threads and memory on to the machine."""
    wanted, quota = requested_threads(config.threads, config.given("openmp"), os.environ), cpu_quota()
    set_threads(min(wanted, quota) if wanted and quota else wanted or quota)
    set_threads_least(config.given("openmp_elemwise_minsize", 0))
    if config.memory.keep >= 0:
        memory_set_limit(config.memory.keep)
    elif memory_limit():
        memory_set_limit(min(memory_get_limit(), memory_limit() // 8))


def call_for_subset(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call ``function``, and return the outputs that ``output_subset`` names among the keywords.

    Raises
    ------
    TypeError, IndexError, KeyError
        It names something that is no output.
    """
    subset = kwargs.pop("output_subset")
    results = function(*args, **kwargs)
    if subset is None:
        return results
    if function.unpack_single or function.return_none:
        raise TypeError(f"output_subset chooses among several outputs, and {function.name} returns no list of them")
    if function.output_keys is not None:
        return {key: results[key] for key in subset}
    return [results[i] for i in subset]


# -- parts of copy --------------------------------------------------------------------------------------------


def _check_swap(function: Function, swapped: Mapping[SharedVariable, SharedVariable]) -> None:
    used = set(function.maker.shared)
    for old, new in swapped.items():
        if old not in used:
            raise ValueError(f"{function.name} does not use the shared variable {old}; it uses {list(used)}")
        if not isinstance(new, SharedVariable):
            raise TypeError(f"a shared variable is swapped for a shared variable, not for {new!r}")
        if old.type != new.type:
            raise TypeError(f"cannot swap {old} of type {old.type} for {new} of type {new.type}")


def _copied_graph(fgraph: FunctionGraph, n_outputs: int | None) -> tuple[FunctionGraph, dict[Any, Any]]:
    """Return a copy of the graph, cut down to its first outputs if need be."""
    if n_outputs is None:
        return fgraph.clone_get_equiv()
    whole, memo = fgraph.clone_get_equiv()
    inputs, outputs = list(whole.inputs), list(whole.outputs[:n_outputs])
    whole.disown()
    return FunctionGraph(inputs, outputs, clone=False), memo


def _copied_input(
    spec: SymbolicInput,
    memo: Mapping[Any, Any],
    swapped: Mapping[SharedVariable, SharedVariable],
    originals: Mapping[Variable, Variable],
    delete_updates: bool,
) -> SymbolicInput:
    copy = spec.__class__.__new__(spec.__class__)
    copy.__dict__.update(spec.__dict__)
    copy.variable = memo[spec.variable]
    if delete_updates:
        copy.update = None
    user = originals.get(spec.variable)
    if isinstance(user, SharedVariable) and user in swapped:
        copy.value, copy.name = swapped[user].container, swapped[user].name
    return copy


def _put_updates_back(fgraph: FunctionGraph, inputs: Sequence[SymbolicInput], n_outputs: int) -> None:
    updated = [i for i, spec in enumerate(inputs) if spec.update is not None]
    fgraph.update_mapping = {n_outputs + k: i for k, i in enumerate(updated)}
    for out, i in fgraph.update_mapping.items():
        inputs[i].update = fgraph.outputs[out]


def _copied_containers(function: Function, inputs: Sequence[SymbolicInput]) -> list[Container]:
    containers = []
    for spec, old in zip(inputs, function.input_storage, strict=True):
        if spec.implicit:
            containers.append(spec.value if isinstance(spec.value, Container) else old)
            continue
        value = copy_module.deepcopy(old.storage[0]) if spec.mutable else old.storage[0]
        fresh = Container(spec.variable, [value], old.readonly, old.strict, old.allow_downcast, old.name)
        containers.append(fresh)
    return containers


# -- the way back from a pickle ----------------------------------------------------------------------------


def restore(state: FunctionState, trust_input: bool = False) -> Function | None:
    """Return the function that was pickled; pickles may lack ``trust_input``.

    With ``config.unpickle_function`` False, None is returned: for files in which functions were pickled by mistake.
    """
    return rebuild(state, trust_input) if config.unpickle_function else None


def rebuild(state: FunctionState, trust_input: bool) -> Function:
    """Return the function that ``state`` describes."""
    inputs, outputs = unflatten(state.graph)
    n_outputs = len(state.borrow)
    updated = {i: outputs[out] for out, i in state.update_mapping.items()}
    specs = [
        _restored(cls, fields, inputs[i], updated.get(i), state.containers[i])
        for i, (cls, fields) in enumerate(state.inputs)
    ]
    users: dict[int, Variable] = dict(state.users)
    closed = ClosedGraph(
        specs,
        [SymbolicOutput(v, borrow) for v, borrow in zip(outputs[:n_outputs], state.borrow, strict=True)],
        state.returns,
        state.keys,
        [user for user in users.values() if isinstance(user, SharedVariable)],
        {v: users.get(i, v) for i, v in enumerate(inputs)},
    )
    fgraph = None
    if not config.reoptimize_unpickled_function:
        fgraph = FunctionGraph(inputs, outputs, clone=False, update_mapping=state.update_mapping)
        fgraph.name = state.name
    # Where it is rewritten again, the in-place ops that are there were put in by rewriting.
    accept_inplace = state.accept_inplace or fgraph is None
    maker = FunctionMaker(closed, state.mode, accept_inplace, None, state.name, fgraph=fgraph, times=CompileTimes())
    made = make_function(maker, state.containers)
    made.trust_input = trust_input
    return made


def _maker_of(state: FunctionState) -> FunctionMaker:
    return rebuild(state, False).maker


# A program is made again where the pickle is read: machine code does not travel.
copyreg.pickle(FunctionMaker, lambda maker: (_maker_of, (state_of(maker, maker.containers()),)))


def _restored(
    cls: type[SymbolicInput], fields: dict[str, Any], variable: Variable, update: Variable | None, container: Container
) -> SymbolicInput:
    spec = cls.__new__(cls)
    spec.__dict__.update(fields)
    spec.variable, spec.update = variable, update
    spec.value = container if fields["value"] else None
    return spec
