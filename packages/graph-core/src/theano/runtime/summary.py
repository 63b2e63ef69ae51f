"""Profiles as text: tables of what took longest, and what took memory."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from theano.printing.formula import one_line
from theano.printing.tree import debugprint

if TYPE_CHECKING:
    from theano.runtime.profile import ProfileSettings, ProfileStats

Row = tuple[float, int, int, str, str]


def write_function(profile: ProfileStats, out: TextIO, settings: ProfileSettings, *_: int) -> None:
    """Write about the calls and compiling."""
    functions = profile.functions
    calls, seconds, inside = profile.fct_callcount, profile.fct_call_time, profile.thunk_time
    names = ", ".join(f.name for f in functions) or "no function"
    out.write(f"Function profiling\n==================\n  Message: {profile.message or names}\n")
    per_call = f", {seconds / calls:.3e}s a call" if calls else ""
    out.write(f"  Time in {calls} calls to Function.__call__: {seconds:.6e}s{per_call}\n")
    timed = profile.timed_calls
    if timed < calls:
        every = calls / max(timed, 1)
        out.write(f"  Sampled 1 call in {every:.3g} ({timed} of {calls}): runs are counted, times are estimated\n")
    if calls and seconds > 0:
        out.write(f"  Time in nodes: {inside:.6e}s ({100 * inside / seconds:.1f}%)\n")
    out.write(f"  Total compile time: {profile.compile_time:.6e}s\n")
    out.write(f"    Number of Apply nodes: {profile.nb_nodes}\n")
    found = sum(f.maker.plan is not None for f in functions)
    out.write(f"    Whole programs found in the cache: {found} of {len(functions)}\n")
    out.write(f"    Time spent rewriting: {profile.optimizer_time:.6e}s\n")
    out.write(f"    Time spent generating and loading code: {profile.linker_time:.6e}s\n")
    if inside > 0 and profile.nodes_are_unknown:
        out.write(
            "    The nodes of a program from the cache are not known: rules have changed since it was kept. "
            "With the flag cache.plans=False it is made anew.\n"
        )


def _table(
    out: TextIO,
    settings: ProfileSettings,
    title: str,
    columns: str,
    rows: Iterable[Row],
    most: int,
    whole: float,
    noun: str,
) -> None:
    """Write rows of (seconds, runs, nodes, kind, name), those that took longest first."""
    ordered = sorted(rows, key=lambda row: -row[0])
    if not ordered or whole <= 0:
        return
    out.write(f"\n{title}\n{'-' * len(title)}\n  <% time> <sum %> <time> <time a run> <type> <#runs> {columns}\n")
    total = 0.0
    for seconds, runs, count, kind, name in ordered[:most]:
        total += seconds
        line = (
            f"  {100 * seconds / whole:5.1f}%  {100 * total / whole:5.1f}%  {seconds:.3e}s  "
            f"{seconds / max(runs, 1):.2e}s  {kind:>5}  {runs:6d}  {count:4d}  {name}"
        )
        out.write(line[: settings.output_line_width] + "\n")
    if len(ordered) > most:
        rest = whole - total
        out.write(f"  ... and {len(ordered) - most} more {noun} ({100 * rest / whole:.1f}% of the time)\n")


def _grouped(sums: Mapping[Any, Any], name: Callable[[Any], str]) -> list[Row]:
    return [(s.seconds, s.calls, s.nodes, s.implementation, name(key)) for key, s in sums.items()]


def write_classes(profile: ProfileStats, out: TextIO, settings: ProfileSettings, most: int, *_: int) -> None:
    """Write the times by class of op."""
    rows = _grouped(profile.by_class(), lambda cls: f"{cls.__module__}.{cls.__name__}")
    _table(out, settings, "Class", "<#nodes> <class of op>", rows, most, profile.thunk_time, "classes")


def write_ops(profile: Any, out: TextIO, settings: Any, most: int, *_: int) -> None:
    """Write the times by op."""
    rows = _grouped(profile.by_op(), str)
    _table(out, settings, "Ops", "<#nodes> <op>", rows, most, profile.thunk_time, "ops")


def write_kernels(profile: Any, out: TextIO, settings: Any, most: int, *_: int) -> None:
    """Write the times by kernel: nodes of different ops may share one."""
    rows = _grouped(profile.by_kernel(), str)
    _table(out, settings, "Kernels", "<#nodes> <kernel>", rows, most, profile.thunk_time, "kernels")


def write_nodes(profile: ProfileStats, out: TextIO, settings: ProfileSettings, _: int, most: int) -> None:
    """Write the times by node."""
    rows = [
        (one.seconds, one.calls, number, one.implementation, one_line(one.node.outputs[0], 80))
        for number, one in enumerate(profile.per_node())
    ]
    _table(out, settings, "Nodes", "<number> <expression>", rows, most, profile.thunk_time, "nodes")


def html_table(profile: Any, most: int) -> str:
    """Return the times by node as a table of HTML, with a bar for each share, those that took longest first."""
    # It takes 3 ms to load, and `import theano` does without.
    from html import escape

    whole = profile.thunk_time
    rows = sorted(profile.per_node(), key=lambda one: -one.seconds)
    title = escape(profile.message or ", ".join(f.name for f in profile.functions) or "no function")
    lines = [
        f"<table><caption>{title}: {profile.fct_callcount} calls, {profile.fct_call_time:.3e} s</caption>",
        "<tr><th>time</th><th>runs</th><th>a run</th><th></th><th style='text-align:left'>expression</th></tr>",
    ]
    for one in rows[:most]:
        share = 100 * one.seconds / whole if whole > 0 else 0.0
        bar = f"<div style='width:{share:.1f}%;min-width:1px;height:0.8em;background:#4c78a8'></div>"
        lines.append(
            f"<tr><td style='min-width:6em' title='{one.seconds:.3e} s'>{bar}{share:.1f} %</td><td>{one.calls}</td>"
            f"<td style='white-space:nowrap'>{one.seconds / max(one.calls, 1):.2e} s</td><td>{one.implementation}</td>"
            f"<td style='text-align:left'><code>{escape(one_line(one.node.outputs[0], 80))}</code></td></tr>"
        )
    if len(rows) > most:
        lines.append(f"<tr><td colspan='5'>and {len(rows) - most} more nodes</td></tr>")
    return "\n".join([*lines, "</table>"])


def rich_table(profile: Any, most: int) -> Any:
    """Return the same as a `rich.table.Table`; rich asks for it, so it is there."""
    table, bar = importlib.import_module("rich.table"), importlib.import_module("rich.bar")
    text = importlib.import_module("rich.text")
    whole = profile.thunk_time
    rows = sorted(profile.per_node(), key=lambda one: -one.seconds)
    title = profile.message or ", ".join(f.name for f in profile.functions) or "no function"
    shown = table.Table(
        "", table.Column("time", justify="right"), table.Column("runs", justify="right"), "a run", "", "expression",
        title=text.Text(f"{title}: {profile.fct_callcount} calls, {profile.fct_call_time:.3e} s"),
        caption=f"and {len(rows) - most} more nodes" if len(rows) > most else None,
    )  # fmt: skip
    for one in rows[:most]:
        share = 100 * one.seconds / whole if whole > 0 else 0.0
        run, expression = one.seconds / max(one.calls, 1), text.Text(one_line(one.node.outputs[0], 80))
        shown.add_row(
            bar.Bar(100, 0, share, width=12), f"{share:.1f} %", str(one.calls), f"{run:.2e} s",
            one.implementation, expression,
        )  # fmt: skip
    return shown


def write_inner(profile: ProfileStats, out: TextIO, settings: ProfileSettings, most_ops: int, most_nodes: int) -> None:
    """Write the same of functions that ops call, such as the steps of loops."""
    for one in profile.per_node():
        for inner in one.op.inner_profiles:
            out.write(f"\nInside {one.op}: {inner.fct_call_time:.3e}s of its {one.seconds:.3e}s\n")
            for part in (write_function, write_classes, write_ops, write_kernels, write_nodes, write_inner):
                part(inner, out, settings, most_ops, most_nodes)


def write_memory(profile: ProfileStats, out: TextIO, settings: ProfileSettings, _: int, most: int) -> None:
    """Write what values took, and at most at one time, for each function."""
    for function in profile.functions:
        if function.profile_shapes() is None:
            continue
        memory = profile.memory(function, search=settings.min_peak_memory)
        out.write(f"\nMemory Profile of {function.name}\n--------------\n")
        out.write("  (values that Python holds, and scratch memory within a node, are not counted)\n")
        out.write(f"  Max peak memory: {_bytes(memory.peak)}\n")
        out.write(f"  Max peak memory if allow_gc=False: {_bytes(memory.without_gc)}\n")
        if memory.least is not None:
            sure = "Minimum peak from all valid apply node order is" if memory.exact else "Lowest peak found so far:"
            out.write(f"  {sure} {_bytes(memory.least)}\n")
        rows = [row for row in memory.nodes if row.total >= settings.min_memory_size]
        rows.sort(key=lambda row: -row.total)
        if rows:
            out.write("\n  <Sum apply outputs> <Apply outputs shape> <created/inplace/view> <Apply node>\n")
        shapes = profile.variable_shape
        for row in rows[:most]:
            shown = [str(shapes.get(v, "?")) for v in row.node.outputs]
            line = f"  {_bytes(row.total):>12}  [{', '.join(shown)}]  {'/'.join(row.kinds)}  {row.node}"
            out.write(line[: settings.output_line_width] + "\n")
        hidden = memory.nodes[len(rows[:most]) :]
        if hidden:
            small = len(memory.nodes) - len(rows)
            out.write(f"  ... {max(len(rows) - most, 0)} more, and {small} below {settings.min_memory_size} bytes\n")


def _bytes(count: int) -> str:
    return f"{count / 1024:.0f}KB" if count >= 10 * 1024 else f"{count}B"


def write_optimizer(profile: ProfileStats, out: TextIO, settings: ProfileSettings, _: int, most: int) -> None:
    """Write how long each phase and each rule took, where that was measured."""
    if not settings.optimizer:
        return
    for function in profile.functions:
        report = function.maker.rewriting if function.maker.is_made else None
        if report is None:
            continue
        out.write(f"\nRewriting of {function.name}\n---------\n")
        for phase in sorted(report.phases, key=lambda phase: -phase.seconds):
            out.write(f"  {phase}\n")
        rows = [
            (seconds, phase.rule_calls[name], phase.uses.get(name, 0), "rule", f"{name} ({phase.name})")
            for phase in report.phases
            for name, seconds in phase.rule_seconds.items()
        ]
        whole = sum(row[0] for row in rows)
        _table(out, settings, "Rules", "<#uses> <rule>", rows, most, whole, "rules")


def write_graphs(profile: ProfileStats, out: TextIO, settings: ProfileSettings, *_: int) -> None:
    """Print the graphs, where that was asked for."""
    if settings.debugprint:
        for function in profile.functions:
            out.write(f"\nDebugprint of {function.name}\n")
            debugprint(function, file=out)


def write_tips(profile: ProfileStats, out: TextIO, settings: ProfileSettings, *_: int) -> None:
    """Write what would help most."""
    python = [one for one in profile.per_node() if one.implementation == "Py" and not one.op.inner_profiles]
    slow = [one for one in python if one.seconds > 0.1 * profile.thunk_time]
    if slow:
        names = ", ".join(dict.fromkeys(str(one.node.op) for one in slow))
        out.write(f"\nWhat to do: these ops take more than a tenth of the time and run in Python: {names}.\n")


#: The parts of a summary, in order; each takes the profile, a file, the settings, and how many ops and nodes to show.
PARTS: Sequence[Callable[..., None]] = (
    write_function, write_classes, write_ops, write_kernels, write_nodes, write_inner, write_memory, write_optimizer,
    write_graphs, write_tips,
)  # fmt: skip


def write_globals(totals: Any, out: TextIO) -> None:
    """Write times of the whole process."""
    times = totals.compiling
    out.write("Global stats:\n")
    for name, seconds in (
        ("Time elapsed since Theano import", time.time() - totals.since),
        ("Time spent in Theano functions", totals.calling),
        (f"Time spent compiling Theano functions ({totals.functions} of them)", times.total),
        ("    rewriting", times.rewriting),
        ("    generating and loading code", times.linking),
        ("    waiting for the compiler", times.compiler),
    ):
        out.write(f"  {name} = {seconds:.3f}s\n")


def write_together(profiles: Sequence[Any], out: TextIO, settings: Any) -> None:
    """Write one table of all functions of several profiles."""
    rows: list[Row] = [
        (counts[1] * 1e-9, counts[0], f.maker.times.nodes, "", f.name)
        for profile in profiles
        for f in profile.functions
        if (counts := f.profile_counts()) is not None
    ]
    whole = sum(row[0] for row in rows)
    _table(out, settings, "All functions", "<#nodes> <function>", rows, settings.n_ops, whole, "functions")
