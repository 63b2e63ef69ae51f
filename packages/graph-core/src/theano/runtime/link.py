"""Linking: for each node of a graph, what computes it.

A node is computed by a kernel that was compiled with its layer, by one that is compiled now, by a thunk
that its op makes itself, or in Python. The kernels of a graph are compiled all together.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import copy
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from theano.codegen.blocks import Block
from theano.errors import MethodNotDefined, NoCompilerError
from theano.extensions import Single
from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.kernel import Builtin, Kernel
from theano.graph.op import has_own_thunk, has_perform, performer
from theano.graph.parameters import Places
from theano.graph.variable import Variable
from theano.lowering.table import Shared, lower
from theano.lowering.targets import CPU, require_devices, target_of
from theano.messages import logger
from theano.records import field, record
from theano.runtime.blocks import BlockFactory, BlockNode, CompileBlocks, block_of, is_classic, together

if TYPE_CHECKING:
    from theano.runtime.failure import Explainer

Cells = Sequence[list[Any]]
CompileKernels = Callable[[Sequence[Kernel]], Sequence[int]]
#: From a graph to its nodes in the order in which they run; None: as they need each other.
Schedule = Callable[[FunctionGraph], Sequence[Apply]] | None
#: Links the nodes of a graph as some linker says.
LinkWith = Callable[["Linker"], "Linked"]


@record
class Linker:
    """How nodes are computed.

    Attributes
    ----------
    name : str
    compiled : {'never', 'where possible', 'always'}
        Whether compiled kernels are used.
    allow_gc : bool or None
        Whether memory of intermediate results is given back during a call. None: as ``config.allow_gc`` says.
    one_block : bool
        Whether neighbours whose ops say in C what they do become one block, so that the values between them never are a
        Python object.
    schedule : callable, optional
        From a graph to its nodes in the order in which they run (`theano.graph.schedule.sort_schedule_fn` makes some).
    """

    name: str = ""
    compiled: Literal["never", "where possible", "always"] = "where possible"
    allow_gc: bool | None = None
    one_block: bool = False
    schedule: Schedule = None

    def __hash__(self) -> int:
        return hash((self.name, self.compiled, self.allow_gc, self.one_block, self.schedule))

    def clone(self, allow_gc: bool | None = None) -> Linker:
        """Return a linker like this one, with another ``allow_gc``."""
        return Linker(self.name, self.compiled, allow_gc, self.one_block, self.schedule)

    def called(self, name: str) -> Linker:
        """Return this linker under another name."""
        linker = copy(self)
        linker.name = name
        return linker

    def order(self, fgraph: FunctionGraph) -> list[Apply]:
        """Return the nodes of a graph in the order in which they run."""
        if self.schedule is not None:
            return list(self.schedule(fgraph))
        nodes: list[Apply] = fgraph.toposort()
        if not any(node.op.priority and isinstance(node.op.priority, (int, float)) for node in nodes):
            return nodes
        # Few graphs have such nodes, and `import theano` does without.
        from theano.graph.schedule import by_priority

        return by_priority(nodes, fgraph.orderings())

    @property
    def inspects_nodes(self) -> bool:
        """Whether nodes are run one by one, for inspection; otherwise the machine runs them all."""
        return False

    def evaluator(self, fgraph: FunctionGraph, link_with: LinkWith, explainer: Explainer) -> Any:
        """Return what runs a graph node by node (`theano.runtime.interpreter`), or None: then the machine runs it.

        Parameters
        ----------
        fgraph : FunctionGraph
        link_with : callable
            Links its nodes as a linker says.
        explainer : Explainer
            Says what has failed.
        """
        return None

    def accept(self, fgraph: FunctionGraph, no_recycling: object = None, profile: object = None) -> Any:
        """Return what makes thunks and functions of a graph: ``accept(fgraph).make_function()``.

        The linker itself makes these, too, of the graph that it accepted last.
        """
        accepted = accepter.required()(self, fgraph)
        self._accepted = accepted
        return accepted

    def make_function(self, unpack_single: bool = True, **kwargs: object) -> Callable[..., Any]:
        """Return a function of the graph that was accepted last."""
        made: Callable[..., Any] = self._last().make_function(unpack_single, **kwargs)
        return made

    def make_thunk(self, *storage: Any, **named: object) -> Any:
        """Return a thunk of the graph that was accepted last, and containers of what it reads and makes."""
        return self._last().make_thunk(*storage, **named)

    def make_all(self, *storage: Any, **named: object) -> Any:
        """Return what :meth:`make_thunk` does, a list of thunks, and the nodes in the order in which they run."""
        return self._last().make_all(*storage, **named)

    def _last(self) -> Any:
        accepted = getattr(self, "_accepted", None)
        if accepted is None:
            raise ValueError(f"the linker {self} has no graph yet: call accept(fgraph) first")
        return accepted

    def __str__(self) -> str:
        return self.name


#: For :meth:`Linker.accept`: from a linker and a graph to what makes functions of them.
accepter: Single[Callable[[Linker, FunctionGraph], Any]] = Single("runtime.link.accepter", "how a linker takes a graph")


class PerformLinker(Linker):
    """Runs every op in Python."""

    def __init__(self, allow_gc: bool | None = None, schedule: Schedule = None):
        super().__init__("py", "never", allow_gc, schedule=schedule)


class CLinker(Linker):
    """Wants compiled code for every op. What users' ops say in C becomes one block, as far as they are neighbours."""

    def __init__(self, schedule: Schedule = None) -> None:
        super().__init__("c", "always", one_block=True, schedule=schedule)


class OpWiseCLinker(Linker):
    """Uses compiled code where there is some; without ``fallback_on_perform`` there must be."""

    def __init__(
        self,
        fallback_on_perform: bool = True,
        allow_gc: bool | None = None,
        nice_errors: bool = True,
        schedule: Schedule = None,
    ):
        super().__init__("c|py", "where possible" if fallback_on_perform else "always", allow_gc, schedule=schedule)


#: The linkers of which :class:`Linker`'s fields say all that they do, so that functions can be found again by them.
plain_linkers: set[type[Linker]] = {Linker, PerformLinker, CLinker, OpWiseCLinker}


@record
class Compiled:
    """A node computed by machine code."""

    address: int
    params: bytes
    work: float
    name: str
    pointers: Places | None = None
    lazy: bool = False
    told: Any = None  # what `params` was packed from: its addresses keep what they lead to


@record
class Performed:
    """A node computed in Python, by ``op.perform``."""

    perform: Callable[..., Any]


@record
class Thunked:
    """A node computed by a thunk, made anew for each frame in flight: by its op, or of what that says in C."""

    factory: Callable[[Cells, Cells, Cells, Cells], Callable[[], Any]]
    lazy: bool


Implementation = Compiled | Performed | Thunked


@record
class Linked:
    """What computes each node, and how long it took to find out.

    Attributes
    ----------
    nodes : list of Apply
        In the order in which they run.
    how : list
        For each node.
    seconds_generating, seconds_compiling : float
        Writing kernels; compiling them (or finding them compiled).
    wanted_lazy : bool
        Run it as if a node were lazy.
    no_compiler : str
        Why nodes that could be compiled are run in Python; empty otherwise.
    refused : dict from str to str
        By their names, why ops run in Python whose C a compiler that works could not make anything of.
    """

    nodes: list[Apply]
    how: list[Implementation] = field(default_factory=list)
    seconds_generating: float = 0.0
    seconds_compiling: float = 0.0
    no_compiler: str = ""
    refused: dict[str, str] = field(default_factory=dict)
    wanted_lazy: bool = False

    def run_lazily(self, wanted: bool | None) -> None:
        """Let only the requested outputs be computed (True), or everything (False), whatever the nodes say."""
        self.wanted_lazy = wanted is True
        if wanted is False:
            for how in self.how:
                if not isinstance(how, Performed):
                    how.lazy = False

    @property
    def lazy(self) -> bool:
        """Whether some node may leave some of its inputs uncomputed, or the caller wants it run as if one did."""
        return self.wanted_lazy or any(not isinstance(how, Performed) and how.lazy for how in self.how)


def link(
    nodes: Sequence[Apply],
    linker: Linker,
    compile_kernels: CompileKernels | None = None,
    outputs: Sequence[Variable] = (),
    quiet: bool = False,
    compile_blocks: CompileBlocks | None = None,
    check_input: bool = True,
) -> Linked:
    """Find out what computes each node.

    Parameters
    ----------
    nodes : list of Apply
        In the order in which they will run.
    linker : Linker
    compile_kernels : callable
        Turns kernels into addresses; not needed where nothing is compiled.
    outputs : list of Variable
        The outputs of the graph: their memory is the user's after a call.
    quiet : bool
        Do not report a missing compiler: the user knows.
    compile_blocks : callable
        Turns what ops say in C into addresses.
    check_input : bool
        For ops that do not say whether types check their inputs in C.

    Raises
    ------
    MethodNotDefined
        An op has no form that ``linker`` may use.
    KernelCompileError
        The compiler refused a kernel.
    DeviceNotStartedError
        Operands are on a device that this process has not started.
    """
    start = perf_counter()
    given_away = set(outputs)
    linked = Linked(together(nodes, _is_mergeable, outputs) if linker.one_block else list(nodes))
    nodes = linked.nodes
    shared: dict[str, Shared] = {}  # for each target
    plans = [_plan(node, linker, given_away, check_input, shared) for node in nodes]
    linked.seconds_generating = perf_counter() - start
    kernels = [plan for plan in plans if isinstance(plan, Kernel)]
    compiled = iter(_addresses(kernels, compile_kernels, linker, linked))
    units = iter(_addresses([plan for plan in plans if isinstance(plan, Block)], compile_blocks, linker, linked))
    if linked.no_compiler and not quiet:
        _say_once("", linked.no_compiler)
    linked.seconds_compiling = perf_counter() - start - linked.seconds_generating
    named: set[int] = set()
    for node, plan in zip(nodes, plans, strict=True):
        if isinstance(plan, Builtin):
            address = builtin_address(plan.library, plan.symbol)
            linked.how.append(_compiled(address, plan, plan.symbol))
        elif isinstance(plan, Kernel):
            found = next(compiled)
            if found is None:
                linked.how.append(_in_python(node, linker, given_away))
            else:
                # A kernel that several nodes share has the name of the first.
                linked.how.append(_compiled(found, plan, "" if id(plan) in named else plan.name))
                named.add(id(plan))
        elif isinstance(plan, Block):
            unit = next(units)
            found_in_c = unit is not None
            factory = BlockFactory(node, plan, unit) if found_in_c else None
            why = linked.refused.get(plan.name, "")
            linked.how.append(Thunked(factory, False) if factory else _in_python(node, linker, given_away, why))
        else:
            linked.how.append(plan)
    for name, reason in linked.refused.items():
        _say_once(name, reason)
    return linked


def _compiled(address: int, plan: Kernel | Builtin, name: str) -> Compiled:
    told = plan.params if plan.places else None
    return Compiled(address, plan.packed, plan.work, name, plan.places, plan.lazy, told)


def _is_mergeable(node: Apply) -> bool:
    """Return whether a node may be one of several in a block."""
    if has_own_thunk(node.op) or not is_classic(node):
        return False
    try:
        block_of(node)
    except NotImplementedError:
        return False
    return True


def _plan(
    node: Apply, linker: Linker, given_away: set[Variable], check_input: bool, shared: dict[str, Shared]
) -> Kernel | Builtin | Block | Implementation:
    op = node.op
    own = has_own_thunk(op)
    require_devices(node)
    target = target_of(node)
    if target.device != CPU.device:
        kernel = lower(node, target, shared.setdefault(target.name, {}))
        if kernel is None and not (own or has_perform(op)):
            raise MethodNotDefined("lowering", type(op), f"{op}, whose operands are on the device {target.device},")
        return _in_python(node, linker, given_away) if kernel is None else kernel
    if linker.compiled != "never" and (not own or op.lazy):
        kernel = lower(node, CPU, shared.setdefault(CPU.name, {}))
        # An op that is lazy makes its thunk for where nothing is compiled; its kernel has to be as lazy as that.
        if kernel is not None and (kernel.lazy or not own):
            return kernel
        if not own and (isinstance(node, BlockNode) or is_classic(node)):
            op.prepare_node(node, None, None, "c")
            try:
                return block_of(node, check_input)
            except NotImplementedError:
                if linker.compiled == "always" and not op.moves_only:
                    raise
    if linker.compiled == "always" and not op.moves_only:
        raise MethodNotDefined("c_kernel", type(op), f"{op}, which the linker {linker} needs in compiled form,")
    return _in_python(node, linker, given_away)


def _in_python(node: Apply, linker: Linker, given_away: set[Variable], why: str = "") -> Implementation:
    op = node.op
    if has_own_thunk(op):
        return _thunked(node, linker, given_away)
    if not has_perform(op):
        what = f"{op}, for which no compiled form can be used here either{f' ({_first_line(why)})' if why else ''},"
        raise MethodNotDefined("perform", type(op), what)
    op.prepare_node(node, None, None, "py")
    return Performed(performer(node))


def _addresses(
    kernels: list[Any], compile_kernels: Callable[[Any], Any] | None, linker: Linker, linked: Linked
) -> Sequence[Any]:
    if not kernels:
        return ()
    assert compile_kernels is not None, "a linker that compiles needs something to compile with"
    try:
        found: Sequence[Any] = compile_kernels(kernels)
        return found
    except NoCompilerError as problem:
        if problem.only_this and len(kernels) > 1:  # one of them spoils what the others need
            return [found for kernel in kernels for found in _addresses([kernel], compile_kernels, linker, linked)]
        name = kernels[0].name if problem.only_this else ""
        if linker.compiled == "always":
            if name:
                raise NoCompilerError(f"the C code of `{name}`: {problem}") from problem
            raise
        if name:
            linked.refused[name] = str(problem)
        else:
            linked.no_compiler = str(problem)
        return [None] * len(kernels)


_said: set[str] = set()
"""Of which ops, by name, it was said that they run in Python; "" stands for all."""


def _say_once(name: str, reason: str) -> None:
    if name not in _said:
        what, remedy = "functions run", "`python -m theano.doctor` says what to do."
        if name:
            what = f"`{name}` runs by its perform"
            remedy = "Install what is missing, or correct c_libraries and c_lib_dirs."
        logger.warning("theano: %s in Python, which is slower: %s. %s", what, _first_line(reason), remedy)
    _said.add(name)


def _first_line(reason: str) -> str:
    return reason.splitlines()[0].rstrip(".")


_libraries: dict[str, Any] = {}


class BuiltinAddress(int):
    """The address of a kernel that was built with its layer, and where it is."""

    library: str
    symbol: str

    def __new__(cls, address: int, library: str, symbol: str) -> BuiltinAddress:
        """Make the number; `int` is immutable, so not in ``__init__``."""
        self = super().__new__(cls, address)
        self.library, self.symbol = library, symbol
        return self


def builtin_address(library: str, symbol: str) -> BuiltinAddress:
    """Return the address of a kernel in the library of a layer."""
    # The loader is a compiled module that brings in NumPy: `import theano` does without.
    from theano.loader.module import Library

    known = _libraries.get(library)
    if known is None:
        known = _libraries[library] = Library(library, "")
    return BuiltinAddress(known.symbol(symbol), library, symbol)


# -- ops that make their own thunks ------------------------------------------------------------------


class ThunkFactory:
    """Binds an op's own thunk to the storage of a frame.

    Parameters
    ----------
    node : Apply
    impl : str or None
        ``'py'`` where nothing may be compiled.
    no_recycling : list of Variable
        Outputs that need new memory at each call.
    """

    def __init__(self, node: Apply, impl: str | None, no_recycling: Sequence[Variable]):
        self.node, self.impl, self.no_recycling = node, impl, list(no_recycling)
        parameters = inspect.signature(node.op.make_thunk).parameters
        # `impl` came late, and many ops leave it out; the earliest form of the interface has cells in place of maps.
        self._takes_impl = any(p.name == "impl" or p.kind is p.VAR_KEYWORD for p in parameters.values())
        self._takes_cells = "input_registers" in parameters

    def __call__(
        self, storage_in: Cells, computed_in: Cells, storage_out: Cells, computed_out: Cells
    ) -> Callable[[], Any]:
        """Return the thunk for some storage; the compiled one, if there is a capsule."""
        thunk = self._made(storage_in, computed_in, storage_out, computed_out)
        capsule = getattr(thunk, "cthunk", None)
        if type(capsule).__name__ != "PyCapsule" or hasattr(thunk, "failed"):
            return thunk
        # The loader is a compiled module that brings in NumPy: `import theano` does without.
        from theano.loader.module import NativeThunk

        native = NativeThunk.of_capsule(capsule, (), thunk)
        native.lazy = bool(getattr(thunk, "lazy", False))
        return native

    def _made(
        self, storage_in: Cells, computed_in: Cells, storage_out: Cells, computed_out: Cells
    ) -> Callable[[], Any]:
        node = self.node
        make_thunk: Callable[..., Callable[[], Any]] = node.op.make_thunk
        if self._takes_cells:
            return make_thunk(
                node,
                input_computed=computed_in,
                output_computed=computed_out,
                input_registers=storage_in,
                output_registers=storage_out,
            )
        storage_map = dict(zip([*node.inputs, *node.outputs], [*storage_in, *storage_out], strict=True))
        compute_map = dict(zip([*node.inputs, *node.outputs], [*computed_in, *computed_out], strict=True))
        node.op.prepare_node(node, storage_map, compute_map, self.impl)
        options = {"impl": self.impl} if self._takes_impl else {}
        return make_thunk(node, storage_map, compute_map, self.no_recycling, **options)


def thunk_of(node: Apply) -> Thunked:
    """Return the thunk that an op makes itself, in the place of its kernel."""
    return _thunked(node, Linker("vm"), set())


def _thunked(node: Apply, linker: Linker, given_away: set[Variable]) -> Thunked:
    impl = "py" if linker.compiled == "never" else None
    factory = ThunkFactory(node, impl, [v for v in node.outputs if v in given_away])
    lazy = node.op.lazy
    if lazy is None:
        # Only a thunk can say whether it is lazy, so one is made to be asked.
        thunk = factory(
            [[None] for _ in node.inputs],
            [[0] for _ in node.inputs],
            [[None] for _ in node.outputs],
            [[0] for _ in node.outputs],
        )
        lazy = getattr(thunk, "lazy", False)
    return Thunked(factory, bool(lazy))
