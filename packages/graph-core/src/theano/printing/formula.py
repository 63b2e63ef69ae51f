"""``pp``: an expression as a formula, in one line.

How an op looks is data: the layers that define ops assign printers to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from theano.extensions import Chain
from theano.graph.documentation import Documentation
from theano.graph.op import Op
from theano.graph.text import printable
from theano.graph.variable import Variable

#: Modules whose import assigns printers of LaTeX to `theano.printing.tex.formulas`.
latex_tables: Chain[str] = Chain("printing.formula.latex_tables", "how ops look in formulas of LaTeX")

VALID_ASSOC = {"left", "right", "either"}

#: Levels of an expression that are shown; below them stands ``...``. Formulas are for users, and Python's
#: stack has an end.
MAX_DEPTH = 100

#: Characters that a part of a formula may have before ``...`` stands for it: what is used twice is written twice,
#: so that a graph of a few nodes can be a formula without end.
MAX_TEXT = 20_000

special = {"middle_dot": "\\dot", "big_sigma": "\\Sigma"}
greek = {name: name for name in ("alpha", "beta", "gamma", "delta", "epsilon")}


class PrinterState:
    """What a printer tells the printers below it: a few attributes that are inherited.

    Parameters
    ----------
    props : PrinterState or dict, optional
        To begin with.
    **more_props
        To add.
    """

    precedence: float = -1000
    depth: int = 0
    pprinter: PPrinter
    memo: dict[tuple[Variable, int], str]

    def __init__(self, props: PrinterState | dict[str, Any] | None = None, **more_props: object):
        if isinstance(props, PrinterState):
            self.__dict__.update(props.__dict__)
        elif props:
            self.__dict__.update(props)
        self.__dict__.update(more_props)

    def clone(self, props: PrinterState | dict[str, Any] | None = None, **more_props: Any) -> PrinterState:
        """Return a state like this one with some attributes changed."""
        copy = PrinterState(self, depth=self.depth + 1)
        copy.__dict__.update(PrinterState(props, **more_props).__dict__)
        return copy


class Printer(Protocol):
    """What can be assigned to an op."""

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the text of ``output``."""


class OperatorPrinter:
    """Writes an op as an operator between (or, for one input, before) its inputs.

    Parameters
    ----------
    operator : str
    precedence : float
        Larger binds closer.
    assoc : {'left', 'right', 'either'}
    """

    def __init__(self, operator: str, precedence: float, assoc: str = "left"):
        if assoc not in VALID_ASSOC:
            raise ValueError(f"assoc is one of {sorted(VALID_ASSOC)}, not {assoc!r}")
        self.operator, self.precedence, self.assoc = operator, precedence, assoc

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the operator with its operands, in parentheses."""
        node = _owner(self, output)
        operands = [pstate.pprinter.process(v, pstate.clone(precedence=self.precedence)) for v in node.inputs]
        # Parentheses everywhere: a formula that is read while hunting an error must not need a table of precedences.
        if len(operands) == 1:
            return f"({self.operator}{operands[0]})"
        return "(" + f" {self.operator} ".join(operands) + ")"


class PatternPrinter:
    """Writes an op after a pattern.

    Parameters
    ----------
    *patterns : str or tuple
        One for each output: ``'%(0)s is %(1)s'``, the numbers being those of the inputs; or a tuple of that and
        the precedences of the inputs.
    """

    def __init__(self, *patterns: str | tuple[Any, ...]):
        self.patterns = [(p, ()) if isinstance(p, str) else (p[0], tuple(p[1:])) for p in patterns]

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the pattern with the inputs filled in."""
        node = _owner(self, output)
        pattern, precedences = self.patterns[output.index or 0]
        texts = {}
        for i, v in enumerate(node.inputs):
            precedence = precedences[i] if i < len(precedences) else 1000
            texts[str(i)] = pstate.pprinter.process(v, pstate.clone(precedence=precedence))
        return str(pattern) % texts


class FunctionPrinter:
    """Writes an op as a function call.

    Parameters
    ----------
    *names : str
        The function's name, one for each output.
    """

    def __init__(self, *names: str):
        self.names = names

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the call."""
        node = _owner(self, output)
        return f"{self.names[output.index or 0]}({_arguments(node.inputs, pstate)})"


class IgnorePrinter:
    """Leaves an op out: writes its first input."""

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the text of the input."""
        return pstate.pprinter.process(_owner(self, output).inputs[0], pstate)


class LeafPrinter:
    """Writes what nothing computes: a name, or the type or value in its place."""

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the name."""
        return greek.get(str(output), str(output))


class DefaultPrinter:
    """Writes an op without a printer: as a call of its own text."""

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the call."""
        node = output.owner
        if node is None:
            return leaf_printer.process(output, pstate)
        name = str(node.op) if len(node.outputs) == 1 else f"{node.op}.{output.index}"
        return f"{name}({_arguments(node.inputs, pstate)})"


leaf_printer = LeafPrinter()
default_printer = DefaultPrinter()

Condition = Callable[[PrinterState, Variable], bool]


class PPrinter:  # noqa: D101  (below, as a descriptor: `pp` has documentation of its own)
    __doc__ = Documentation("""Writes expressions as formulas.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> class Twice(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> pretty = PPrinter().clone_assign(Twice, FunctionPrinter("twice"))
    >>> pretty(Twice()(generic("x")))
    'twice(x)'
    """, "theano.graph.call_documentation:document")  # fmt: skip

    def __init__(self) -> None:
        self.printers: list[tuple[Condition, Printer]] = []
        self.printers_dict: dict[Any, Printer] = {}

    def assign(self, condition: Op | type | Condition, printer: Printer) -> None:
        """Let ``printer`` write what ``condition`` selects.

        Parameters
        ----------
        condition : Op, class of ops, or callable
            A callable takes the state and the variable; it is asked where neither the op nor its class has a printer.
        printer : object with a method ``process(output, pstate)``
        """
        if isinstance(condition, (Op, type)):
            self.printers_dict[condition] = printer
        elif callable(condition):
            self.printers.insert(0, (condition, printer))
        else:
            raise TypeError(f"a printer is assigned to an op, a class of ops or a condition, not to {condition!r}")

    def process(self, r: Variable, pstate: PrinterState | None = None) -> str:
        """Return the text of ``r``, as part of the formula that ``pstate`` tells about."""
        if pstate is None:
            pstate = PrinterState(pprinter=self)
        if pstate.depth > MAX_DEPTH:
            return "..."
        key = (r, pstate.depth)
        memo: dict[object, str] = pstate.__dict__.setdefault("memo", {})  # programs make states, too
        text = memo.get(key)
        if text is None:
            text = printable(self._printer_of(r, pstate).process(r, pstate))
            memo[key] = text = text if len(text) <= MAX_TEXT else "..."
        return text

    def _printer_of(self, r: Variable, state: PrinterState) -> Printer:
        op = r.owner and r.owner.op
        for exact in (op, type(op)):
            if op is not None and exact in self.printers_dict:
                return self.printers_dict[exact]
        for condition, printer in self.printers:
            if condition(state, r):
                return printer
        if op is None:
            return leaf_printer
        return next((self.printers_dict[cls] for cls in type(op).__mro__ if cls in self.printers_dict), default_printer)

    def process_graph(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        updates: dict[Variable, Variable] | None = None,
        display_inputs: bool = False,
    ) -> str:
        """Return one line for each output (and update) of a function."""
        names = {v: f"out[{i}]" for i, v in enumerate(outputs)}
        lines = ["inputs: " + ", ".join(map(str, [*inputs, *(updates or ())]))] if display_inputs else []
        lines += [f"{names[v] if len(outputs) > 1 or v.name is None else v.name} = {self.process(v)}" for v in outputs]
        lines += [f"{target} <- {self.process(value)}" for target, value in (updates or {}).items()]
        return "\n".join(lines)

    def clone(self) -> PPrinter:
        """Return a printer with the same assignments."""
        copy = PPrinter()
        copy.printers = list(self.printers)
        copy.printers_dict = dict(self.printers_dict)
        return copy

    def clone_assign(self, condition: Op | type | Condition, printer: Printer) -> PPrinter:
        """Return a printer with one more assignment."""
        copy = self.clone()
        copy.assign(condition, printer)
        return copy

    def __call__(self, *args: Any) -> str:
        """Return the formula of a variable, given a state as a part of another; of a graph, for inputs and outputs.

        Parameters
        ----------
        *args : Variable, or lists of Variable
            One result, and perhaps a `PrinterState`. Or the inputs of a graph, its outputs, and perhaps its updates.

        Returns
        -------
        str
            One line, or for a graph one line for each output.

        Raises
        ------
        TypeError
            There are fewer or more arguments.
        """
        if len(args) == 1 or (len(args) == 2 and isinstance(args[1], PrinterState)):
            return self.process(*args)
        if len(args) in (2, 3):
            return self.process_graph(*args)
        raise TypeError("pp takes a variable, or the inputs and the outputs of a graph")


pprint = PPrinter()
pp = pprint


def one_line(v: Variable, width: int = 72) -> str:
    """Return the expression of ``v`` in one line of at most ``width`` characters.

    Parameters
    ----------
    v : Variable
        The result of the expression.
    width : int
        The longest line.

    Returns
    -------
    str
        As many levels as fit; deeper ones are left out.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> class Twice(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> one_line(Twice()(generic("x")))
    'Twice(x)'
    """
    for levels in (6, 4, 3, 2, 1, 0):
        text = pprint.process(v, PrinterState(depth=MAX_DEPTH - levels, pprinter=pprint))
        if len(text) <= width:
            break
    if text.startswith("(") and text.endswith(")") and _outer_pair(text):
        text = text[1:-1]
    return text if len(text) <= width else text[: width - 3] + "..."


def _outer_pair(text: str) -> bool:
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i == len(text) - 1
    return False


def _arguments(inputs: Sequence[Variable], pstate: PrinterState) -> str:
    return ", ".join(pstate.pprinter.process(v, pstate.clone(precedence=-1000)) for v in inputs)


def _owner(printer: object, output: Variable) -> Any:
    if output.owner is None:
        raise TypeError(f"{type(printer).__name__} writes what an op computes, and nothing computes {output}")
    return output.owner
