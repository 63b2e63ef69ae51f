"""``pydotprint``: a graph as a picture, drawn by Graphviz."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.text import printable
from theano.graph.traverse import toposort
from theano.graph.variable import Constant, Variable

pydot_imported_msg = (
    "pydotprint draws with pydot and Graphviz. Install both: pip install pydot, and your system's package graphviz."
)

default_colorCodes = {
    "GpuFromHost": "red",
    "HostFromGpu": "red",
    "Scan": "yellow",
    "Shape": "brown",
    "IfElse": "magenta",
    "Elemwise": "#FFAABB",
    "Subtensor": "#FFAAFF",
    "Alloc": "#FFAA22",
    "Output": "#00DDDD",
    "Input": "#88EE88",
}


def _import_pydot() -> Any:
    try:
        import pydot  # optional: only pictures need it
    except ImportError as problem:
        raise RuntimeError(f"{pydot_imported_msg} ({problem})") from problem
    return pydot


def pydotprint(
    fct: Any,
    outfile: str | os.PathLike[str] | None = None,
    compact: bool = True,
    format: str = "png",
    with_ids: bool = False,
    high_contrast: bool = True,
    cond_highlight: Any = None,
    colorCodes: dict[str, str] | None = None,
    max_label_size: int = 70,
    scan_graphs: bool = False,
    var_with_name_simple: bool = False,
    print_output_file: bool = True,
    return_image: bool = False,
) -> Any:
    """Draw a graph.

    Inputs are green, outputs blue, nodes ellipses, variables boxes. Where an op has several inputs the edges
    carry their numbers.

    Parameters
    ----------
    fct : compiled function, FunctionGraph, Apply, Variable or list of Variable
        The graph, by its results.
    outfile : str, optional
        Where to write the picture; by default ``theano.pydotprint.<pid>.<format>`` in the working directory.
    compact : bool
        Leave out the boxes of variables without a name.
    format : str
        Any that Graphviz knows: ``'png'``, ``'svg'``, ``'pdf'``, ``'dot'``.
    with_ids : bool
        Begin each label with a number.
    high_contrast : bool
        Fill shapes with their colour instead of drawing their borders in it.
    cond_highlight : str, Apply, Variable or True, optional
        A lazy choice between two branches, by the name of its op, or the first one: borders surround what only one of
        the branches needs, and what both do.
    colorCodes : dict from str to str, optional
        The colour of the ops whose class name contains the key.
    max_label_size : int
        Longer labels are cut.
    scan_graphs : bool
        Draw the inner graphs of the ops that have one as well, each in a file of its own.
    var_with_name_simple : bool
        Label variables that have a name with it alone, without their type.
    print_output_file : bool
        Print where the picture is.
    return_image : bool
        Return the picture (an IPython image for svg and png, else its bytes) and write nothing.

    Returns
    -------
    None, bytes or IPython.display.Image
        The picture with ``return_image``, else None.

    Warns
    -----
    UserWarning
        The graph does not have the choice that ``cond_highlight`` names.

    Raises
    ------
    RuntimeError
        pydot or Graphviz is not installed.

    Examples
    --------
    >>> from theano.graph import generic
    >>> pydotprint(generic("x"), "x.png")  # doctest: +SKIP
    The output file is available at x.png
    """
    labels = _Labels(max_label_size, with_ids, var_with_name_simple)
    colors = default_colorCodes | (colorCodes or {})
    groups = branches_of(fct, cond_highlight) if cond_highlight is not None else {}
    graph = pydot_graph(fct, compact=compact, colors=colors, labels=labels, filled=high_contrast, groups=groups)
    if return_image:
        return _image(graph, format)
    path = os.fspath(outfile) if outfile is not None else f"theano.pydotprint.{os.getpid()}.{format}"
    if not path.endswith(f".{format}"):
        path += f".{format}"
    _run(lambda: graph.write(path, prog="dot", format="raw" if format == "dot" else format))
    if print_output_file:
        print("The output file is available at", path)
    if scan_graphs:
        order = graph_of(fct)[1]
        _draw_inner_graphs(order, path, format, compact=compact, with_ids=with_ids, high_contrast=high_contrast)
    return None


def _draw_inner_graphs(order: Iterable[Apply], path: str, format: str, **options: Any) -> None:
    stem = path.removesuffix(f".{format}")
    inner = [graph for node in order if (graph := getattr(node.op, "inner_graph", None)) is not None]
    for i, graph in enumerate(inner):
        pydotprint(graph, f"{stem}_{i}.{format}", format=format, scan_graphs=True, **options)


def pydot_graph(
    fct: Any,
    compact: bool = True,
    colors: dict[str, str] | None = None,
    labels: _Labels | None = None,
    filled: bool = True,
    graph: Any = None,
    groups: Mapping[str, set[Apply]] = MappingProxyType({}),
) -> Any:
    """Return a pydot graph; ``graph`` itself, filled, if one is given. A border surrounds each group of nodes.

    Raises
    ------
    RuntimeError
        pydot is not installed.
    """
    pydot = _import_pydot()
    graph = pydot.Dot(graph_type="digraph") if graph is None else graph
    labels = labels or _Labels(70, False, False)
    drawing = _Drawing(pydot, graph, labels, filled, colors or default_colorCodes, compact)
    for title, nodes in groups.items():
        drawing.surround(title, nodes)
    drawing.draw(*graph_of(fct))
    return graph


def branches_of(fct: Any, choice: Any) -> dict[str, set[Apply]]:
    """Return the nodes that only the first branch of a lazy choice needs, those of the second, and those of both.

    Parameters
    ----------
    fct
        What is drawn.
    choice : str, Apply, Variable or True
        Which choice, as for `pydotprint`.
    """
    wanted = choice.owner if isinstance(choice, Variable) else choice
    for node in graph_of(fct)[1]:
        if type(node.op).__name__ == "IfElse" and (wanted is True or wanted in (node, getattr(node.op, "name", None))):
            n = len(node.outputs)
            left, right = set(toposort(node.inputs[1 : 1 + n])), set(toposort(node.inputs[1 + n :]))
            return {"Left": left - right, "Right": right - left, "Middle": left & right}
    warnings.warn(f"pydotprint: the graph has no lazy choice {choice!r} (cond_highlight)", stacklevel=3)
    return {}


def _image(graph: Any, format: str) -> Any:
    data = _run(lambda: graph.create(format=format, prog="dot"))
    if format not in ("svg", "png"):
        return data
    try:
        from IPython import display  # optional: notebooks show it
    except ImportError:
        return data
    return display.SVG(data) if format == "svg" else display.Image(data, format="png", embed=True)


def _run(draw: Callable[[], Any]) -> Any:
    try:
        return draw()
    except (OSError, AssertionError) as problem:
        if isinstance(problem, FileNotFoundError) and "dot" in str(problem):
            raise RuntimeError(f"{pydot_imported_msg} ({problem})") from problem
        raise


def graph_of(fct: Any) -> tuple[list[Variable], list[Apply]]:
    """Return the outputs and the nodes of what can be drawn, each node after those that it needs.

    Raises
    ------
    TypeError
        It cannot be drawn.
    """
    fgraph = fct if isinstance(fct, FunctionGraph) else getattr(getattr(fct, "maker", None), "fgraph", None)
    if isinstance(fgraph, FunctionGraph):
        return fgraph.outputs, fgraph.toposort()
    if isinstance(fct, Variable):
        outputs = [fct]
    elif isinstance(fct, Apply):
        outputs = fct.outputs
    elif isinstance(fct, (list, tuple)):
        outputs = [v for thing in fct for v in (thing.outputs if isinstance(thing, Apply) else [thing])]
    else:
        raise TypeError(f"pydotprint draws functions, graphs, nodes and variables, not a {type(fct).__name__}")
    return outputs, toposort(outputs)


class _Labels:
    """Gives each thing of a graph a label, and a number that makes labels that look alike different."""

    def __init__(self, longest: int, with_ids: bool, simple_names: bool):
        self.longest, self.with_ids, self.simple_names = longest, with_ids, simple_names
        self.number: dict[Any, int] = {}

    def key(self, thing: Any) -> str:
        """Return the name under which Graphviz knows ``thing``."""
        return f"n{self.number.setdefault(thing, len(self.number))}"

    def of_variable(self, v: Variable) -> str:
        """Return what to write into the box of a variable."""
        if v.name is not None:
            return self._cut(v.name if self.simple_names else f"name={v.name} {v.type}", v)
        if isinstance(v, Constant):
            value = str(v.data).replace("\n", " ")
            return self._cut(f"val={value} {v.type}", v)
        return self._cut(str(v.type), v)

    def of_node(self, node: Apply) -> str:
        """Return what to write into the ellipse of a node."""
        return self._cut(str(node.op), node)

    def _cut(self, text: str, thing: Any) -> str:
        if self.with_ids:
            self.key(thing)
            text = f"id={self.number[thing]} {text}"
        text = text if len(text) <= self.longest else text[: self.longest - 3] + "..."
        # A bare colon or quote means something to Graphviz.
        return '"' + printable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _kind(v: Variable, is_output: bool) -> str:
    """Return what a variable is to a graph, in the words of the attribute ``node_type``."""
    if is_output:
        return "output"
    if isinstance(v, Constant):
        return "constant_input"
    return "intermediate" if v.owner is not None else "shared_input" if hasattr(v, "get_value") else "input"


class _Drawing:
    """Adds the nodes and edges of a graph to a Graphviz graph."""

    def __init__(self, pydot: Any, graph: Any, labels: _Labels, filled: bool, colors: dict[str, str], compact: bool):
        self.pydot, self.graph, self.labels = pydot, graph, labels
        self.filled, self.colors, self.compact = filled, colors, compact
        self.cluster_of: dict[Apply, Any] = {}

    def surround(self, title: str, nodes: Iterable[Apply]) -> None:
        """Draw a border with a title around nodes."""
        cluster = self.pydot.Cluster(title, label=title)
        self.graph.add_subgraph(cluster)
        self.cluster_of.update(dict.fromkeys(nodes, cluster))

    def draw(self, outputs: Sequence[Variable], order: Sequence[Apply]) -> None:
        """Draw the nodes of ``order`` and what hangs on them."""
        ends = set(outputs)
        drawn: set[Variable] = set()
        for node in order:
            self._shape(node, self.labels.of_node(node), "ellipse", self._color_of(node), "apply")
            for i, v in enumerate(node.inputs):
                source = self._source(v, ends, drawn)
                self._edge(source, node, str(i) if len(node.inputs) > 1 else "")
        for v in outputs:
            self._source(v, ends, drawn)

    def _source(self, v: Variable, ends: set[Variable], drawn: set[Variable]) -> Any:
        """Return what the edges of ``v`` start from, drawn."""
        boxed = v.owner is None or v in ends or not self.compact or v.name is not None
        if not boxed:
            return v.owner
        if v not in drawn:
            drawn.add(v)
            color = self.colors["Output"] if v in ends else self.colors["Input"] if v.owner is None else None
            if isinstance(v, Constant):
                color = None
            self._shape(v, self.labels.of_variable(v), "box", color, _kind(v, v in ends))
            if v.owner is not None:
                self._edge(v.owner, v, str(v.index) if len(v.owner.outputs) > 1 else "")
        return v

    def _color_of(self, node: Apply) -> str | None:
        name = type(node.op).__name__
        return next((color for key, color in self.colors.items() if key in name), None)

    def _shape(self, thing: Any, label: str, shape: str, color: str | None, kind: str) -> None:
        # Graphviz passes over attributes that it does not know; programs look for this one.
        style: dict[str, str] = {"shape": shape, "label": label, "node_type": kind}
        if color is not None:
            style.update({"style": "filled", "fillcolor": f'"{color}"'} if self.filled else {"color": f'"{color}"'})
        self.cluster_of.get(thing, self.graph).add_node(self.pydot.Node(self.labels.key(thing), **style))

    def _edge(self, source: Any, target: Any, label: str) -> None:
        style = {"label": f'"{label}"'} if label else {}
        self.graph.add_edge(self.pydot.Edge(self.labels.key(source), self.labels.key(target), **style))
