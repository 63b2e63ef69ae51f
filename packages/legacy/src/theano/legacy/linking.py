"""Building blocks of linkers of older programs: cells for values, thunks in a row, the node that failed.

The machine needs none of them. A linker that a program brings may run thunks of its own with them.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, NoReturn, TextIO

from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.variable import Constant, Variable

Cell = list[Any]


def map_storage(
    fgraph: FunctionGraph,
    order: Iterable[Apply[Any, Any]],
    input_storage: Sequence[Cell] | None,
    output_storage: Sequence[Cell] | None,
    storage_map: dict[Variable, Cell] | None = None,
) -> tuple[list[Cell], list[Cell], dict[Variable, Cell]]:
    """Return a cell, a list of one value, for each variable of a closed graph.

    Parameters
    ----------
    fgraph : FunctionGraph
    order : iterable of Apply
        The nodes in the order in which they run.
    input_storage, output_storage : list of cells, optional
        Cells that there are; new ones by default.
    storage_map : dict from Variable to cell, optional
        Filled, and returned.

    Returns
    -------
    tuple
        The cells of the inputs, those of the outputs, and the dictionary.

    Raises
    ------
    ValueError
        There are not as many cells as variables, or a variable has another cell already.

    Examples
    --------
    >>> from theano.graph import FunctionGraph, generic
    >>> x = generic("x")
    >>> map_storage(FunctionGraph([x], [x], clone=False), [], [[3]], None)
    ([[3]], [[3]], {x: [3]})
    """
    cells = {} if storage_map is None else storage_map
    for variables, given in ((fgraph.inputs, input_storage), (fgraph.outputs, output_storage)):
        if given is None:
            continue
        if len(given) != len(variables):
            raise ValueError(f"there are {len(given)} cells for {len(variables)} variables")
        for v, cell in zip(variables, given, strict=True):
            if cells.setdefault(v, cell) is not cell:
                raise ValueError(f"{v} has another cell already, which holds {cells[v]}")
    inside = (v for node in order for v in (*node.inputs, *node.outputs))
    for v in (*fgraph.inputs, *inside, *fgraph.outputs):
        if v not in cells:
            cells[v] = [v.data if isinstance(v, Constant) else None]
    return [cells[v] for v in fgraph.inputs], [cells[v] for v in fgraph.outputs], cells


def streamline(
    fgraph: FunctionGraph,
    thunks: Sequence[Callable[[], Any]],
    order: Sequence[Apply[Any, Any]],
    post_thunk_old_storage: Sequence[Sequence[Cell]] | None = None,
    no_recycling: Sequence[Cell] | None = None,
    nice_errors: bool = True,
) -> Callable[[], None]:
    """Return a function that calls thunks one after the other.

    Parameters
    ----------
    fgraph : FunctionGraph
    thunks : list of callables
    order : list of Apply
        The node of each thunk.
    post_thunk_old_storage : list of lists of cells, optional
        The cells that are emptied after each thunk.
    no_recycling : list of cells, optional
        The cells that are emptied before the first thunk.
    nice_errors : bool
        Say in an error which node failed.

    Raises
    ------
    ValueError
        The lists are not of the same length.

    Examples
    --------
    >>> said = []
    >>> streamline(None, [lambda: said.append("one")], [None])()
    >>> said
    ['one']
    """
    emptied = [()] * len(thunks) if post_thunk_old_storage is None else post_thunk_old_storage
    if not len(thunks) == len(order) == len(emptied):
        raise ValueError(f"{len(thunks)} thunks for {len(order)} nodes, and {len(emptied)} lists of cells to empty")
    steps = list(zip(thunks, order, emptied, strict=True))

    def run() -> None:
        for cell in no_recycling or ():
            cell[0] = None
        for thunk, node, after in steps:
            try:
                thunk()
            except Exception:
                if not nice_errors:
                    raise
                raise_with_op(node, thunk)
            for cell in after:
                cell[0] = None

    return run


def gc_helper(node_list: Iterable[Apply[Any, Any]]) -> tuple[set[Variable], dict[Variable, Apply[Any, Any]]]:
    """Return the variables that nodes compute, and for each of their inputs the last of them that reads it.

    Parameters
    ----------
    node_list : iterable of Apply
        In the order in which they run.

    Examples
    --------
    >>> gc_helper([])
    (set(), {})
    """
    nodes = list(node_list)
    return {v for node in nodes for v in node.outputs}, {v: node for node in nodes for v in node.inputs}


def add_clear_storage(f: Any, computed: Iterable[Variable], storage_map: dict[Variable, Cell]) -> None:
    """Give a function the method ``clear_storage``, which empties the cells of ``computed``.

    Examples
    --------
    >>> def run(): pass
    >>> cells = {"x": [1]}
    >>> add_clear_storage(run, ["x"], cells)
    >>> run.clear_storage(); cells
    {'x': [None]}
    """

    def clear_storage() -> None:
        for v in computed:
            storage_map[v][0] = None

    f.clear_storage = clear_storage


def raise_with_op(
    node: Any,
    thunk: Any = None,
    exc_info: tuple[Any, Any, Any] | None = None,
    storage_map: dict[Variable, Cell] | None = None,
) -> NoReturn:
    """Raise the error that is being handled, with the node that failed in its message.

    Parameters
    ----------
    node : Apply
    thunk : callable, optional
        What computed it.
    exc_info : tuple, optional
        The error, as `sys.exc_info` has it.
    storage_map : dict from Variable to cell, optional
        Taken for older programs.

    Examples
    --------
    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError:
    ...     raise_with_op("the node")
    Traceback (most recent call last):
     ...
    ZeroDivisionError: division by zero
    Apply node that caused the error: the node
    """
    error = (exc_info or sys.exc_info())[1]
    assert error is not None, "no error to raise"
    said = f"Apply node that caused the error: {node}"
    if not any(said in str(part) for part in error.args):
        error.args = (f"{error}\n{said}",)
    raise error


def log_thunk_trace(value: BaseException, f: TextIO = sys.stderr) -> None:
    """Write where the expression of a failed node was created, if the error knows that.

    Examples
    --------
    >>> log_thunk_trace(ValueError())
    """
    for line in getattr(value, "__thunk_trace__", None) or ():
        print(line, file=f)


def thunk_hook(type: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
    """Print an error as Python does, after what `log_thunk_trace` knows: for ``sys.excepthook``.

    Examples
    --------
    >>> thunk_hook.__name__
    'thunk_hook'
    """
    log_thunk_trace(value)
    traceback.print_exception(type, value, trace)
