"""Whether nodes remember the lines of the user's program that they come from."""

from __future__ import annotations

from typing import Any

from theano.graph.apply import Apply
from theano.graph.features import Feature
from theano.graph.fgraph import FunctionGraph
from theano.graph.op import Op
from theano.graph.source import SourceLine
from theano.graph.variable import Variable
from theano.messages import logger


class CheckStackTraceFeature(Feature):
    """Watches that each node that comes into a graph remembers a line of the program.

    Parameters
    ----------
    action : 'off', 'log', 'warn' or 'raise'
        What to do about one that does not: nothing; give it an empty place, to identify it; warn; or raise.
    """

    def __init__(self, action: str = "raise"):
        self.action = action

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        """Look at what came, after what it replaces has handed its lines on."""
        owner = new_r.owner
        if owner is None or self.action == "off":
            return
        for v in owner.outputs:
            if getattr(v.tag, "trace", None):
                continue
            message = f"{reason or 'a rewrite'} put in {owner}, which remembers no line of the program"
            if self.action == "raise":
                raise AssertionError(f"{message}. Use copy_stack_trace(old, new) in the rule.")
            if self.action == "warn":
                logger.warning("theano: %s", message)
            if self.action == "log":
                v.tag.trace = (SourceLine(f"<{reason}>", 0, message),)


def check_stack_trace(f_or_fgraph: Any, ops_to_check: Any = "last", bug_print: str = "raise") -> bool:
    """Return whether nodes remember the lines of the program that they come from.

    Parameters
    ----------
    f_or_fgraph : compiled function or FunctionGraph
    ops_to_check : 'last', 'all', Op, class of ops, or a list of these
        Which nodes to look at: those that compute the outputs, all, or those of some ops.
    bug_print : 'raise', 'warn' or 'ignore'
        What to do about a node that does not.

    Raises
    ------
    ValueError
        ``bug_print`` is ``'raise'`` and a node does not, or an argument is none of those above.
    """
    fgraph = f_or_fgraph if isinstance(f_or_fgraph, FunctionGraph) else f_or_fgraph.maker.fgraph
    if bug_print not in ("raise", "warn", "ignore"):
        raise ValueError(f"bug_print is 'raise', 'warn' or 'ignore', not {bug_print!r}")
    nodes: list[Apply] = fgraph.toposort()
    if isinstance(ops_to_check, str):
        if ops_to_check not in ("last", "all"):
            raise ValueError(f"ops_to_check is 'last', 'all', an op, a class of ops or a list, not {ops_to_check!r}")
        last = {v.owner for v in fgraph.outputs}
        nodes = [n for n in nodes if ops_to_check == "all" or n in last]
    else:
        wanted = ops_to_check if isinstance(ops_to_check, (list, tuple)) else [ops_to_check]
        if not all(isinstance(w, (Op, type)) for w in wanted):
            raise ValueError(f"ops_to_check is 'last', 'all', an op, a class of ops or a list, not {ops_to_check!r}")
        nodes = [n for n in nodes if any(isinstance(n.op, w) if isinstance(w, type) else n.op == w for w in wanted)]
    lost = [v for n in nodes for v in n.outputs if not getattr(v.tag, "trace", None)]
    if lost and bug_print == "raise":
        raise ValueError(f"{lost[0]} of {lost[0].owner} has lost the lines of the program that it comes from")
    if lost and bug_print == "warn":
        logger.warning("theano: %s variables have lost the lines of the program that they come from", len(lost))
    return not lost
