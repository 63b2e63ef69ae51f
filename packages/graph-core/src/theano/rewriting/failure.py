"""Rules that failed: what there is to say, and a program that makes them fail again."""

from __future__ import annotations

import base64
import pickle
import traceback
from collections.abc import Sequence

from theano.graph.apply import Apply
from theano.graph.clone import clone
from theano.graph.signals import let_signals_through
from theano.graph.source import created_at
from theano.graph.text import text_of
from theano.graph.traverse import toposort
from theano.graph.variable import Constant, Variable
from theano.rewriting.rule import Rule

#: How many levels below the node a rule has looked at are taken along: rules rarely look further.
LEVELS = 6


class RuleFailure:
    """A rule that raised, the expression it looked at, and the error.

    Parameters
    ----------
    rule : Rule
    node : Apply
    error : exception
    """

    def __init__(self, rule: Rule, node: Apply, error: BaseException):
        self.rule, self.error = rule, error
        self.expression = f"{node.op}({', '.join(map(str, node.inputs[:6]))}{', ...' if len(node.inputs) > 6 else ''})"
        self.line = created_at(node.outputs[0]) if node.outputs else None
        #: Where the rule raised; the traceback itself would keep alive all that its frames hold.
        self.way = "".join(traceback.format_tb(error.__traceback__)).rstrip()
        # The graph goes on changing: what it was like has to be kept now.
        self.inputs, self.outputs = excerpt(node)

    def message(self) -> str:
        """Return one paragraph."""
        where = f", written at {self.line}," if self.line is not None else ""
        return (
            f"the rule {self.rule.name} failed on {self.expression}{where}: "
            f"{type(self.error).__name__}: {text_of(self.error)}. "
            "It is switched off for this function; the result is right without it."
        )

    def reproducer(self) -> str:
        """Return a program that shows the expression to the rule again.

        Expressions that cannot be pickled are left for the reader to write down.
        """
        try:
            data = base64.b85encode(pickle.dumps((self.inputs, self.outputs))).decode()
            graph = f"inputs, outputs = pickle.loads(base64.b85decode(\n    {data!r}\n))"
        except Exception as problem:  # noqa: BLE001  (the boundary to ops that anybody may have written)
            let_signals_through(problem)
            graph = f"inputs, outputs = ...  # this expression cannot be pickled: {text_of(problem)}".replace("\n", " ")
        return (
            f"# {self.message()}\n"
            "import base64\nimport pickle\n\nimport theano\nfrom theano.rewriting import show_again\n\n"
            f"# {self.expression}\n{graph}\n"
            f"show_again({self.rule.name!r}, inputs, outputs)\n"
        )


def excerpt(node: Apply) -> tuple[list[Variable], list[Variable]]:
    """Return a copy of a node and of a few levels below it, as inputs and outputs."""
    near: set[Apply] = {node}
    level = [node]
    for _ in range(LEVELS):
        level = [v.owner for n in level for v in n.inputs if v.owner is not None and v.owner not in near]
        near.update(level)
    blocked = dict.fromkeys(v for n in near for v in n.inputs if v.owner is None or v.owner not in near)
    inputs = [v for v in blocked if not isinstance(v, Constant)]
    return _copy(inputs, node.outputs)


def _copy(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> tuple[list[Variable], list[Variable]]:
    copied_inputs, copied = clone(list(inputs), list(outputs))
    for node in toposort(copied, copied_inputs):
        for v in (*node.inputs, *node.outputs):
            v.tag.__dict__.clear()
    for v in copied_inputs:
        # What computes an input is not part of it.
        v.owner = v.index = None
        v.tag.__dict__.clear()
    return copied_inputs, copied
