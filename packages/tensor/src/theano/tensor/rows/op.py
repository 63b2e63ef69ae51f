"""One expression for each row of some tensors: a loop in which no row knows of another.

The expression is written with variables that stand for one row each, and may use anything else of the program as it
is. What does not depend on a row is computed once, outside. The rest is a program of its own, which the machine
runs for one row after the other without coming back to Python in between (``Function.loop`` of the loader). Where the
whole can be said without a loop, rules say it (:mod:`theano.tensor.rows.rules`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile.expression import ExpressionOp, InnerGraph
from theano.compile.inputs import Out
from theano.gradient import DisconnectedType, NullType
from theano.graph import Apply, Constant, Variable
from theano.graph.traverse import toposort
from theano.graph.type import Type
from theano.tensor.convert import as_tensor_variable, is_tensor
from theano.tensor.create.alloc import alloc, zeros_like
from theano.tensor.elemwise import functions as F
from theano.tensor.index.functions import set_subtensor
from theano.tensor.shape.basic import patternbroadcast, shape_i, shape_tuple
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.compile.executable import Function
    from theano.compile.inputs import SymbolicOutput
    from theano.graph.annotations import Node, Storage, Values
    from theano.tensor.annotations import Directions, Shape, Shapes, Tensors
    from theano.tensor.type import Tensor


class MapRows(ExpressionOp):
    """An expression, computed for each row of the first inputs; the results are stacked.

    The node takes as many sequences as there are ``rows``, then what is the same for all rows. There are as many rows
    as the shortest sequence has. :func:`map_rows` is the way to make one.

    Parameters
    ----------
    rows : list of Variable
        Stand for a row of each sequence.
    fixed : list of Variable
        Stand for the other inputs.
    outputs : list of Variable
        An expression of these.
    name : str, optional
    mode : Mode or str, optional
        How the expression is compiled.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, w = T.dvector("x"), T.dmatrix("w")
    >>> op = MapRows([x], [w], [T.dot(w, x)], name="products")
    >>> X, W = T.dmatrices("X", "W")
    >>> y = op(X, W)
    >>> y.owner, theano.function([X, W], y)([[1, 2], [3, 4]], [[1, 1]])
    (MapRows{products}(X, W), array([[3.],
           [7.]]))
    """

    __props__ = ("inner", "sequences", "name", "mode")
    inner: InnerGraph
    repeats = True

    def __init__(
        self,
        rows: Sequence[Variable],
        fixed: Sequence[Variable],
        outputs: Sequence[Variable],
        name: str | None = None,
        mode: Any = None,
    ):
        if not rows:
            raise ValueError("MapRows: at least one sequence is needed")
        for v in (*rows, *outputs):
            if not is_tensor(v):
                raise TypeError(f"MapRows: rows and outputs must be tensors, not {v!r}")
        self.inner = InnerGraph("MapRows", [*rows, *fixed], outputs)
        self.sequences, self.name, self.mode = len(rows), name, mode

    def __str__(self) -> str:
        return f"MapRows{{{self.name or len(self.outputs)}}}"

    @property
    def rows(self) -> list[Any]:
        """The variables that stand for a row of each sequence."""
        return self.inner.inputs[: self.sequences]

    @property
    def fixed(self) -> list[Any]:
        """The variables that stand for the other inputs."""
        return self.inner.inputs[self.sequences :]

    @property
    def outputs(self) -> list[Any]:
        """The results for one row."""
        return self.inner.outputs

    def as_input(self, i: int, own: Variable, value: Variable) -> Variable:
        """Return a sequence as a tensor of rows, any other input as it is in each of them."""
        return _as_sequence(own, value) if i < self.sequences else super().as_input(i, own, value)

    def output_types(self, inputs: Sequence[Any]) -> list[Type]:
        """Return the types of the results of all rows."""
        return [TensorType(v.type.dtype, (False, *v.type.broadcastable)) for v in self.outputs]

    # -- values ---------------------------------------------------------------------------------------

    @property  # type: ignore[misc]  # programs set that of `OpFromGraph`, not this one
    def fn(self) -> Function:
        """The function that computes one row, compiled when it is first asked for."""
        return self._compiled("rows", [Out(v, borrow=True) for v in self.outputs])

    def _compiled(self, what: str, outputs: Sequence[SymbolicOutput]) -> Function:
        return self.inner.compiled(what, outputs, mode=self.mode, name=str(self))

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Compute row after row."""
        k = self.sequences
        n = min(len(sequence) for sequence in inputs[:k])
        sequences = [np.require(sequence, requirements="A") for sequence in inputs[:k]]
        if n == 0:
            results = self._none(sequences, inputs[k:])
        else:
            rows = tuple((sequence, 0) for sequence in sequences)
            _, results, _ = self.fn.loop(n, rows, (), (), tuple(inputs[k:]), (n,) * len(self.outputs), False)
        for cell, value in zip(output_storage, results, strict=True):
            cell[0] = value

    def _none(self, sequences: Sequence[np.ndarray], fixed: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return results without rows; how long one would be follows from the lengths of the inputs."""
        rows = [np.zeros(s.shape[1:], s.dtype) for s in sequences]
        shapes = [self.lengths_of_row(i)(*rows, *fixed) if v.type.ndim else () for i, v in enumerate(self.outputs)]
        return [np.empty((0, *map(int, n)), v.type.dtype) for n, v in zip(shapes, self.outputs, strict=True)]

    def lengths_of_row(self, i: int) -> Function:
        """Return the function of a row of each sequence that says how long one of result ``i`` is."""
        row = self.outputs[i]
        return self._compiled(f"lengths of {i}", [Out(shape_i(row, k), borrow=True) for k in range(row.type.ndim)])

    def infer_shape(self, node: Apply, shapes: Shapes) -> list[Shape]:
        """Return the number of rows, and the lengths of the expression for the first one."""
        k = self.sequences
        n = reduce(F.minimum, [shape[0] for shape in shapes[:k]])
        sequences: Sequence[Any] = node.inputs[:k]
        one = self.expand([*(s[0] for s in sequences), *node.inputs[k:]], node)
        return [(n, *shape_tuple(v)) for v in one]

    # -- derivatives ----------------------------------------------------------------------------------

    def _split(self, inputs: Sequence[Tensor]) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the sequences, new variables for their rows, and the other inputs."""
        k = self.sequences
        return list(inputs[:k]), [v.type() for v in self.rows], list(inputs[k:])

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients: those of rows are rows, those of what is the same for all rows are added up."""
        sequences, rows, fixed = self._split(inputs)
        moving = [not isinstance(g.type, DisconnectedType) for g in output_grads]
        own = [v.type() if m else g for v, g, m in zip(self.outputs, output_grads, moving, strict=True)]
        grads = super().L_op([*rows, *fixed], outputs, own)
        given = [(g, row) for g, row, m in zip(output_grads, own, moving, strict=True) if m]
        wanted = [i for i, g in enumerate(grads) if not isinstance(g.type, (DisconnectedType, NullType))]
        found = map_rows(
            [*rows, *(row for _, row in given)], [*sequences, *(g for g, _ in given)], [grads[i] for i in wanted]
        )
        for i, g in zip(wanted, found, strict=True):
            grads[i] = self._in_place_of_rows(sequences, i, g) if i < len(rows) else g.sum(axis=0, dtype=g.type.dtype)
        return grads

    def _in_place_of_rows(self, sequences: Sequence[Tensor], i: int, g: Tensor) -> Tensor:
        """Return the gradient of a sequence of which perhaps not all rows were used."""
        if len(sequences) == 1:
            return g
        nothing = zeros_like(sequences[i], dtype=g.type.dtype)
        return set_subtensor(nothing[: g.shape[0]], g)

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the directions of all rows."""
        sequences, rows, fixed = self._split(inputs)
        k = len(rows)
        along = [None if d is None else row.type() for row, d in zip(rows, eval_points, strict=False)]
        directions = super().R_op([*rows, *fixed], [*along, *eval_points[k:]])
        wanted = [i for i, d in enumerate(directions) if d is not None]
        moving = [(row, d) for row, d in zip(along, eval_points, strict=False) if row is not None]
        found = map_rows(
            [*rows, *(row for row, _ in moving)], [*sequences, *(d for _, d in moving)],
            [directions[i] for i in wanted],
        )  # fmt: skip
        for i, d in zip(wanted, found, strict=True):
            directions[i] = d
        return directions


def _as_sequence(row: Any, value: Any) -> Variable:
    """Return ``value`` as a tensor of rows like ``row``."""
    value = as_tensor_variable(value)
    if value.type.ndim != row.type.ndim + 1 or value.type.dtype != row.type.dtype:
        raise TypeError(
            f"a sequence of rows of type {row.type} has one dimension more and the same dtype, but {value} is of type "
            f"{value.type}"
        )
    return patternbroadcast(value, (False, *row.type.broadcastable))


def dependents(sources: Sequence[Variable], outputs: Sequence[Variable]) -> tuple[set[Variable], list[Node]]:
    """Return all that depends on ``sources`` on the way to ``outputs``, and the nodes that compute it, in order."""
    moving = set(sources)
    nodes = []
    for node in toposort(outputs, sources):
        if not moving.isdisjoint(node.inputs):
            moving.update(node.outputs)
            nodes.append(node)
    return moving, nodes


def map_rows(
    rows: Sequence[Any], sequences: Sequence[Any], outputs: Sequence[Any], name: str | None = None, mode: Any = None
) -> list[Any]:
    """Return an expression for each row of some tensors, stacked along a new first axis.

    Parameters
    ----------
    rows : list of TensorVariable
        Variables that stand for a row of each sequence.
    sequences : list of TensorVariable
        Where the rows come from. The shortest one says how many there are.
    outputs : list of TensorVariable
        Expressions of the rows and of anything else.
    name : str, optional
    mode : Mode or str, optional

    Returns
    -------
    list of TensorVariable

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> row, X, a = T.dvector("row"), T.dmatrix("X"), T.dscalar("a")
    >>> norms, = map_rows([row], [X], [a * T.sqrt((row**2).sum())])
    >>> theano.function([X, a], norms)([[3, 4], [6, 8]], 2)
    array([10., 20.])
    """
    outputs = [as_tensor_variable(v) for v in outputs]
    moving, nodes = dependents(rows, outputs)
    fixed: dict[Variable, None] = {}
    for node in nodes:
        fixed.update(dict.fromkeys(v for v in node.inputs if v not in moving and not isinstance(v, Constant)))
    inside = [v for v in outputs if v in moving]
    made: list[Variable] = []
    if inside:
        op = MapRows(rows, list(fixed), inside, name, mode)
        made = op(*sequences, *fixed, return_list=True)
    found = iter(made)
    n = reduce(F.minimum, [as_tensor_variable(s).shape[0] for s in sequences])
    return [next(found) if v in moving else alloc(v, n, *shape_tuple(v)) for v in outputs]
