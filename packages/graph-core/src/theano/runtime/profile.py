"""Where the time goes: while compiling, and in the calls. What is written about it is in ``summary``."""

from __future__ import annotations

import atexit
import contextlib
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any, TextIO

from theano.graph.apply import Apply
from theano.graph.source import created_at
from theano.graph.text import printable
from theano.layers import member
from theano.lowering.table import why_not
from theano.printing.formula import one_line
from theano.records import NamedTuple, record
from theano.runtime import summary as text
from theano.runtime.blocks import BlockFactory
from theano.runtime.link import Compiled, Linked, Linker, Performed, Thunked
from theano.runtime.peak import memory_of

if TYPE_CHECKING:
    from theano.graph.op import Op


@record
class CompileTimes:
    """Seconds that the steps of compiling a function took.

    Attributes
    ----------
    packing : float
        Copying the user's graph, with givens and updates.
    keying : float
        Describing it for the cache of whole functions.
    finding : float
        Looking it up there, and loading what its program needs.
    rewriting : float
    generating : float
        Writing the C of the kernels.
    compiling : float
        Compiling them, or finding them in the cache.
    compiler : float
        Of these, waiting for the compiler.
    linking : float
        Deciding what computes each node, the two before included.
    laying_out : float
        Planning memory and making the function.
    """

    packing: float = 0.0
    keying: float = 0.0
    finding: float = 0.0
    rewriting: float = 0.0
    generating: float = 0.0
    compiling: float = 0.0
    compiler: float = 0.0
    linking: float = 0.0
    laying_out: float = 0.0
    nodes: int = 0

    @property
    def total(self) -> float:
        """The sum."""
        return self.packing + self.keying + self.finding + self.rewriting + self.linking + self.laying_out


def explain_compile(function: Any) -> str:
    """Return, as text, where the time to compile a function went, what runs in Python, and what rewriting did.

    Parameters
    ----------
    function : compiled function
        What ``theano.function`` returned.

    Returns
    -------
    str
        Lines to print.

    See Also
    --------
    theano.ProfileStats

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> print(theano.explain_compile(theano.function([x], x)).splitlines()[1].split(":")[0].strip())
    copying the graph
    """
    maker = function.maker
    times: CompileTimes = maker.times
    kinds: Mapping[str, int] = maker.source.kinds_of_nodes()
    compiled, python = kinds.get("Compiled", 0), kinds.get("Performed", 0)
    nodes = f"{sum(kinds.values())} nodes ({compiled} compiled, {python} in Python)"
    why_not = f"not kept: {maker.lookup.reason}" if maker.lookup.reason else "kept"
    second = "found in the cache" if maker.plan is not None else why_not
    lines = [
        f"{function.name}: {times.total * 1e3:.1f} ms for {nodes}",
        f"  copying the graph : {times.packing * 1e3:8.1f} ms",
        f"  describing it     : {times.keying * 1e3:8.1f} ms",
        f"  looking it up     : {times.finding * 1e3:8.1f} ms  (the whole program: {second})",
        f"  rewriting         : {times.rewriting * 1e3:8.1f} ms",
        f"  writing C         : {times.generating * 1e3:8.1f} ms",
        f"  compiler          : {times.compiler * 1e3:8.1f} ms",
        f"  loading code      : {max(times.compiling - times.compiler, 0.0) * 1e3:8.1f} ms",
        f"  planning memory   : {times.laying_out * 1e3:8.1f} ms",
    ]
    if not maker.is_made and not (python and maker.nodes_in_order()):
        return printable("\n".join(lines))
    linked = maker.linked
    if linked.no_compiler:
        lines.append(f"  nothing was compiled: {linked.no_compiler.splitlines()[0]}")
    lines += _in_python(linked, maker.linker)
    if maker.rewriting is not None:
        slowest = sorted(maker.rewriting.phases, key=lambda phase: -phase.seconds)[:8]
        lines += [f"    {phase}" for phase in slowest]
    return printable("\n".join(lines))


def _in_python(linked: Linked, linker: Linker) -> Iterator[str]:
    """Yield a line about each node that runs in Python, and why."""
    for node, how in zip(linked.nodes, linked.how, strict=True):
        if isinstance(how, Compiled) or (isinstance(how, Thunked) and isinstance(how.factory, BlockFactory)):
            continue
        refused = [why for name, why in linked.refused.items() if name == str(node.op)]
        if isinstance(how, Thunked):
            why = "its op makes its own thunk"
        elif linker.compiled == "never":
            why = f"the linker {linker} compiles nothing"
        else:
            why = refused[0] if refused else "no compiler was found" if linked.no_compiler else why_not(node)
        written = created_at(node.outputs[0])
        place = f", written at {written}" if written else ""
        yield f"  in Python: {one_line(node.outputs[0], 60)}{place}: {why}"


@record
class ProfileSettings:
    """What the flags ``profiling.*`` and their kin say; the lower bound of settings keeps this up to date."""

    time_thunks: bool = True
    n_apply: int = 20
    n_ops: int = 20
    output_line_width: int = 512
    min_memory_size: int = 1024
    min_peak_memory: bool = False
    destination: str = "stderr"
    debugprint: bool = False
    ignore_first_call: bool = False
    memory: bool = False
    optimizer: bool = False
    global_stats: bool = False


settings = ProfileSettings()


class NodeTimes(NamedTuple):
    """How one node of one function was computed, by which object, how often, and in how many seconds."""

    how: Any
    node: Apply
    op: Any
    calls: int
    seconds: float

    @property
    def implementation(self) -> str:
        """``C`` or ``Py``; ``own`` for a thunk that the op makes itself."""
        return "C" if isinstance(self.how, Compiled) else "Py" if isinstance(self.how, Performed) else "own"

    @property
    def kernel(self) -> str:
        """What computes it: the name of a kernel, or the op that is run in Python."""
        if not isinstance(self.how, Compiled):
            return f"{self.node.op} in Python"
        return self.how.name or str(self.node)


class Sums(NamedTuple):
    """Times of several nodes together."""

    seconds: float
    calls: int
    nodes: int
    implementation: str


class ProfileStats:
    """Counts and times of one function, or of several that share it.

    Parameters
    ----------
    atexit_print : bool
        Print a summary when the program ends.
    flag_time_thunks : bool, optional
        Time each node; by default as the flag ``profiling.time_thunks`` says.
    gpu_checks : bool
        Without effect.
    message : str
        What the summary begins with.
    **kwargs
        Attributes to set.

    Attributes
    ----------
    fct_callcount : int
    fct_call_time : float
        Seconds in calls.
    apply_time, apply_callcount : dict from Apply
    """

    def __init__(
        self,
        atexit_print: bool = True,
        flag_time_thunks: bool | None = None,
        gpu_checks: bool = True,
        message: str = "",
        **kwargs: object,
    ):
        self.message = message
        self.flag_time_thunks = flag_time_thunks
        self._functions: list[Any] = []
        self.__dict__.update(kwargs)
        if atexit_print:
            _kept.append(self)

    def wanted(self) -> Sequence[str]:
        """Return what the machine is to note of a function that is made now, beside its calls."""
        time_nodes = settings.time_thunks if self.flag_time_thunks is None else self.flag_time_thunks
        choices = {"nodes": time_nodes, "shapes": settings.memory, "skip_first": settings.ignore_first_call}
        return [name for name, chosen in choices.items() if chosen]

    def attach(self, function: object) -> None:
        """Count the calls of ``function``."""
        self._functions.append(function)

    @property
    def functions(self) -> Sequence[Any]:
        """The functions whose calls are counted."""
        return tuple(self._functions)

    def reset(self) -> None:
        """Forget what was counted so far."""
        for function in self._functions:
            function.profile_reset()

    # -- answers --------------------------------------------------------------------------------------

    @property
    def fct_callcount(self) -> int:
        """Number of calls."""
        return sum(f.profile_counts()[0] for f in self._functions)

    @property
    def timed_calls(self) -> int:
        """Number of calls that were timed; where they are fewer than all, times are estimated from them."""
        return sum(f.profile_timed() for f in self._functions)

    @property
    def fct_call_time(self) -> float:
        """Seconds in calls."""
        return float(sum(f.profile_counts()[1] for f in self._functions)) * 1e-9

    @property
    def thunk_time(self) -> float:
        """Seconds in nodes."""
        return float(sum(t for f in self._functions for _, t in f.profile_counts()[2])) * 1e-9

    @property
    def compile_time(self) -> float:
        """Seconds spent compiling."""
        return float(sum(f.maker.times.total for f in self._functions))

    @property
    def optimizer_time(self) -> float:
        """Seconds spent rewriting."""
        return float(sum(f.maker.times.rewriting for f in self._functions))

    @property
    def linker_time(self) -> float:
        """Seconds spent generating, compiling and loading code."""
        return float(sum(f.maker.times.linking for f in self._functions))

    @property
    def nb_nodes(self) -> int:
        """Number of nodes."""
        return sum(sum(f.maker.source.kinds_of_nodes().values()) for f in self._functions)

    def per_node(self) -> Iterable[NodeTimes]:
        """Yield how each node was computed, how often it ran, how many seconds it took."""
        for function in self._functions:
            counts = function.profile_counts()[2]
            linked = function.maker.linked
            # If the order of the nodes is lost, their counts are omitted.
            nodes, ops = function.maker.nodes_in_order(), function.maker.source.ops_in_order()
            for node, op, how, (calls, nanoseconds) in zip(nodes, ops, linked.how, counts, strict=False):
                yield NodeTimes(how, node, op, calls, nanoseconds * 1e-9)

    @property
    def nodes_are_unknown(self) -> bool:
        """Whether a program from the cache ran whose nodes cannot be named any more."""
        return any(f.profile_counts()[2] and not f.maker.nodes_in_order() for f in self._functions)

    def sums(self, key: Callable[[NodeTimes], Any]) -> dict[Any, Sums]:
        """Return times, runs and numbers of nodes by what ``key`` says of a node."""
        total: dict[str | type | Op, Sums] = {}
        for one in self.per_node():
            group = key(one)
            known = total.get(group, Sums(0.0, 0, 0, one.implementation))
            both = one.implementation if one.implementation == known.implementation else "mixed"
            total[group] = Sums(known.seconds + one.seconds, known.calls + one.calls, known.nodes + 1, both)
        return total

    @property
    def apply_time(self) -> dict[Apply, float]:
        """Seconds by node."""
        return {one.node: one.seconds for one in self.per_node()}

    @property
    def apply_callcount(self) -> dict[Apply, int]:
        """Runs by node."""
        return {one.node: one.calls for one in self.per_node()}

    @property
    def apply_cimpl(self) -> dict[Apply, bool]:
        """Whether a node ran compiled."""
        return {one.node: one.implementation == "C" for one in self.per_node()}

    def by_class(self) -> dict[type, Sums]:
        """Return times by class of op."""
        return self.sums(lambda one: type(one.node.op))

    def by_op(self) -> dict[Op, Sums]:
        """Return times by op."""
        return self.sums(lambda one: one.node.op)

    def by_kernel(self) -> dict[str, Sums]:
        """Return times by what computes the nodes."""
        return self.sums(lambda one: one.kernel)

    def op_callcount(self) -> dict[Any, int]:
        """Return runs by op."""
        return {op: sums.calls for op, sums in self.by_op().items()}

    @property
    def variable_shape(self) -> dict[Any, tuple[int, ...]]:
        """The largest shape of each value, where memory was profiled."""
        return {v: shape for f in self._functions for v, (_, shape, _) in _noted(f).items()}

    @property
    def variable_strides(self) -> dict[Any, tuple[int, ...]]:
        """The strides of the same values."""
        return {v: strides for f in self._functions for v, (_, _, strides) in _noted(f).items()}

    def memory(self, function: Any, search: bool = False) -> Any:
        """Return what the values of one function take, and at most at one time; see ``theano.runtime.peak``."""
        return memory_of(function.maker.nodes_in_order(), function.maker.fgraph.outputs, {
            v: size for v, (size, _, _) in _noted(function).items()}, search)  # fmt: skip

    # -- text -------------------------------------------------------------------------------------------

    def summary(
        self, file: TextIO | None = None, n_ops_to_print: int | None = None, n_apply_to_print: int | None = None
    ) -> None:
        """Print a summary: the function, compiling, the classes, ops, kernels and nodes that took longest, memory.

        Parameters
        ----------
        file : open file, optional
            By default the standard output, or the file that the flag ``profiling.destination`` names.
        n_ops_to_print, n_apply_to_print : int, optional
            By default as the flags ``profiling.n_ops`` and ``profiling.n_apply`` say.
        """
        to_stream = settings.destination in ("stderr", "stdout")  # which is about what is printed at the end
        file = file or (sys.stdout if to_stream else None)
        with contextlib.nullcontext(file) if file is not None else destination() as out:
            written = StringIO()
            for part in text.PARTS:
                part(self, written, settings, n_ops_to_print or settings.n_ops, n_apply_to_print or settings.n_apply)
            out.write(printable(written.getvalue()))

    def summary_text(self) -> str:
        """Return the summary."""
        out = StringIO()
        self.summary(out)
        return out.getvalue()

    def __getattr__(self, name: str) -> Any:
        return member(self, f"{__name__}.ProfileStats", name)

    def __str__(self) -> str:
        return self.summary_text()

    def _repr_html_(self) -> str:
        return printable(text.html_table(self, settings.n_apply))

    def __rich__(self) -> Any:
        return text.rich_table(self, settings.n_apply)


def _noted(function: Any) -> dict[Any, tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """Return (bytes, shape, strides) of the largest value of each variable."""
    noted = function.profile_shapes() or ()
    return {
        v: found
        for node, row in zip(function.maker.nodes_in_order(), noted, strict=False)
        for v, found in zip(node.outputs, row, strict=True)
        if found is not None
    }


@contextlib.contextmanager
def destination() -> Iterator[TextIO]:
    """Open what the flag ``profiling.destination`` names; a file is written on at its end."""
    if settings.destination in ("stderr", "stdout"):
        yield sys.stderr if settings.destination == "stderr" else sys.stdout
        return
    with open(settings.destination, "a", encoding="utf-8") as file:
        yield file


# -- the whole process ---------------------------------------------------------------------------------------


class Totals:
    """What compiling took in all, and the functions that are counted for the end of the program."""

    def __init__(self) -> None:
        self.since = time.time()
        self.functions = 0
        self.compiling = CompileTimes()
        self.counted: weakref.WeakSet[Any] = weakref.WeakSet()
        self.gone = 0.0

    def compiled(self, times: CompileTimes) -> None:
        """Count one function that was compiled."""
        self.functions += 1
        for name in CompileTimes.__match_args__:
            setattr(self.compiling, name, getattr(self.compiling, name) + getattr(times, name))

    def count(self, function: object) -> None:
        """Ask ``function`` at the end how long its calls took."""
        self.counted.add(function)

    @property
    def calling(self) -> float:
        """Seconds in calls of all functions that are counted."""
        return self.gone + sum((f.profile_counts() or (0, 0))[1] for f in self.counted) * 1e-9


totals = Totals()

#: Profiles that are to be printed at exit stay alive until then, whatever becomes of their functions.
_kept: list[ProfileStats] = []


def print_global_stats() -> None:
    """Print how long compiling and running took in all, where the flag ``profiling.destination`` says."""
    with destination() as out:
        text.write_globals(totals, out)


@atexit.register
def _print_at_exit() -> None:
    for profile in _kept:
        if profile.functions:
            with destination() as out:
                profile.summary(out)
    if len([p for p in _kept if p.functions]) > 1:
        with destination() as out:
            text.write_together(_kept, out, settings)
    if settings.global_stats:
        print_global_stats()
