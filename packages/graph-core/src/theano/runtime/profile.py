"""Where the time goes: while compiling, and in the calls."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any, TextIO

from theano.graph.apply import Apply
from theano.printing.formula import one_line
from theano.runtime.link import Compiled, Performed


@dataclass
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
    """Return, as text, where the time to compile a function went and what rewriting did.

    Parameters
    ----------
    function : compiled function

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> print(theano.explain_compile(theano.function([x], x)).splitlines()[1].split(":")[0].strip())
    copying the graph
    """
    maker = function.maker
    times: CompileTimes = maker.times
    kinds: Mapping[str, int] = maker.kinds_of_nodes()
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
    if not maker.is_made:
        return "\n".join(lines)
    linked = maker.linked
    if linked.no_compiler:
        lines.append(f"  nothing was compiled: {linked.no_compiler.splitlines()[0]}")
    if maker.rewriting is not None:
        slowest = sorted(maker.rewriting.phases, key=lambda phase: -phase.seconds)[:8]
        lines += [f"    {phase}" for phase in slowest]
    return "\n".join(lines)


class ProfileStats:
    """Counts and times of one function, or of several that share it.

    Parameters
    ----------
    atexit_print : bool
        Print a summary when the program ends.
    flag_time_thunks, gpu_checks : bool
        Kept for old programs: nodes are always timed, and there is nothing to check on a GPU here.
    message : str
        What the summary begins with.

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
        **kwargs: Any,
    ):
        self.message = message
        self._functions: list[Any] = []
        self.__dict__.update(kwargs)
        if atexit_print:
            _kept.append(self)

    def attach(self, function: Any) -> None:
        """Count the calls of ``function``."""
        self._functions.append(function)

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
    def fct_call_time(self) -> float:
        """Seconds in calls."""
        return float(sum(f.profile_counts()[1] for f in self._functions)) * 1e-9

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

    def per_node(self) -> Iterable[tuple[Any, Apply, int, float]]:
        """Yield, for each node: what computes it, the node, how often it ran, how many seconds it took."""
        for function in self._functions:
            counts = function.profile_counts()[2]
            linked = function.maker.linked
            # Where it cannot be known any more which node is which, there is nothing to say of them.
            nodes = function.maker.nodes_in_order()
            for node, how, (calls, nanoseconds) in zip(nodes, linked.how, counts, strict=False):
                yield how, node, calls, nanoseconds * 1e-9

    @property
    def apply_time(self) -> dict[Apply, float]:
        """Seconds by node."""
        return {node: seconds for _, node, _, seconds in self.per_node()}

    @property
    def apply_callcount(self) -> dict[Apply, int]:
        """Runs by node."""
        return {node: calls for _, node, calls, _ in self.per_node()}

    def op_time(self) -> dict[Any, float]:
        """Return seconds by op."""
        total: dict[Any, float] = {}
        for _, node, _, seconds in self.per_node():
            total[node.op] = total.get(node.op, 0.0) + seconds
        return total

    def op_callcount(self) -> dict[Any, int]:
        """Return runs by op."""
        total: dict[Any, int] = {}
        for _, node, calls, _ in self.per_node():
            total[node.op] = total.get(node.op, 0) + calls
        return total

    # -- text -------------------------------------------------------------------------------------------

    def summary(self, file: TextIO | None = None, n_ops_to_print: int = 20, n_apply_to_print: int = 20) -> None:
        """Print a summary: the function, compiling, the ops and the nodes that took longest.

        Parameters
        ----------
        file : open file, optional
            The standard error by default.
        n_ops_to_print, n_apply_to_print : int
        """
        out = sys.stderr if file is None else file
        calls, seconds = self.fct_callcount, self.fct_call_time
        names = ", ".join(f.name for f in self._functions) or "no function"
        out.write(f"Function profiling\n==================\n  Message: {self.message or names}\n")
        per_call = f", {seconds / calls:.3e}s a call" if calls else ""
        out.write(f"  Time in {calls} calls to Function.__call__: {seconds:.6e}s{per_call}\n")
        nodes = list(self.per_node())
        inside = sum(t for f in self._functions for _, t in f.profile_counts()[2]) * 1e-9
        if calls and seconds > 0:
            out.write(f"  Time in nodes: {inside:.6e}s ({100 * inside / seconds:.1f}%)\n")
        out.write(f"  Total compile time: {self.compile_time:.6e}s\n")
        found = sum(f.maker.plan is not None for f in self._functions)
        out.write(f"    Whole programs found in the cache: {found} of {len(self._functions)}\n")
        out.write(f"    Time spent rewriting: {self.optimizer_time:.6e}s\n")
        out.write(f"    Time spent generating and loading code: {self.linker_time:.6e}s\n")
        if inside > 0 and any(f.profile_counts()[2] and not f.maker.nodes_in_order() for f in self._functions):
            out.write(
                "    The nodes of a program from the cache are not known: rules have changed since it was kept. "
                "With the flag cache.plans=False it is made anew.\n"
            )
        if inside > 0:
            self._write_ops(out, nodes, inside, n_ops_to_print)
            self._write_nodes(out, nodes, inside, n_apply_to_print)

    def summary_text(self) -> str:
        """Return the summary."""
        out = StringIO()
        self.summary(out)
        return out.getvalue()

    def _write_ops(self, out: TextIO, nodes: list[tuple[Any, Apply, int, float]], inside: float, most: int) -> None:
        rows: dict[Any, tuple[float, int, int, str]] = {}
        for how, node, calls, seconds in nodes:
            t, n, apply_count, _ = rows.get(node.op, (0.0, 0, 0, ""))
            rows[node.op] = (t + seconds, n + calls, apply_count + 1, _kind(how))
        out.write("\nOps\n---\n  <% time> <sum %> <time> <time a run> <type> <#runs> <#nodes> <op>\n")
        total = 0.0
        ordered = sorted(rows.items(), key=lambda item: -item[1][0])
        for op, (seconds, runs, count, kind) in ordered[:most]:
            total += seconds
            out.write(
                f"  {100 * seconds / inside:5.1f}%  {100 * total / inside:5.1f}%  {seconds:.3e}s  "
                f"{seconds / max(runs, 1):.2e}s  {kind:>4}  {runs:6d}  {count:4d}  {op}\n"
            )
        if len(ordered) > most:
            out.write(f"  ... and {len(ordered) - most} more ops\n")

    def _write_nodes(self, out: TextIO, nodes: list[tuple[Any, Apply, int, float]], inside: float, most: int) -> None:
        out.write("\nNodes\n-----\n  <% time> <sum %> <time> <time a run> <#runs> <number> <expression>\n")
        total = 0.0
        ordered = sorted(enumerate(nodes), key=lambda item: -item[1][3])
        for number, (_, node, runs, seconds) in ordered[:most]:
            total += seconds
            out.write(
                f"  {100 * seconds / inside:5.1f}%  {100 * total / inside:5.1f}%  {seconds:.3e}s  "
                f"{seconds / max(runs, 1):.2e}s  {runs:6d}  {number:4d}  {one_line(node.outputs[0], 80)}\n"
            )
        if len(ordered) > most:
            out.write(f"  ... and {len(ordered) - most} more nodes\n")

    def __str__(self) -> str:
        return self.summary_text()


#: Profiles that are to be printed at exit stay alive until then, whatever becomes of their functions.
_kept: list[ProfileStats] = []


def _kind(how: Any) -> str:
    return "C" if isinstance(how, Compiled) else "Py" if isinstance(how, Performed) else "own"


@atexit.register
def _print_at_exit() -> None:
    for profile in _kept:
        if profile._functions:
            profile.summary()
