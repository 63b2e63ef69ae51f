"""Connectionist temporal classification: the probability that a network's outputs over time spell labels.

Graves et al., 2006: https://www.cs.toronto.edu/~graves/icml_2006.pdf. Sums over all alignments run forwards and
backwards through time, on logarithms; label 0 is the blank. Nothing else has to be installed for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.layers import lazily
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import cast
from theano.tensor.messages import describe
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Operands, Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor

__all__ = ["ConnectionistTemporalClassification", "ctc", "ctc_available", "ctc_present"]

__getattr__, __dir__ = lazily(globals())
FLOATS, INTEGERS = ("float32", "float64"), scal.integer_dtypes


class ConnectionistTemporalClassification(Op):
    """Minus the logarithm of the probability of labels, and its gradient with respect to activations; see `ctc`.

    Parameters
    ----------
    compute_grad : bool
        Whether the gradient is a second output, computed with the costs.
    openmp : ignored
        Without effect.

    Examples
    --------
    >>> costs = ConnectionistTemporalClassification()(np.zeros((2, 1, 3), "float32"), [[1]], [2])
    >>> costs.eval().round(4), costs.owner.outputs[1].type.ndim
    (array([1.0986], dtype=float32), 3)
    """

    __props__ = ("compute_grad",)
    default_output = 0

    def __init__(self, compute_grad: bool = True, openmp: Any = None):
        self.compute_grad = bool(compute_grad)

    def make_node(self, activations: TensorLike, labels: Any, input_lengths: TensorLike) -> Apply:
        """Return the node; outputs are the costs, and the gradient."""
        given = [as_tensor_variable(v) for v in (activations, labels, input_lengths)]
        wanted = (("activations", 3, FLOATS), ("labels", 2, INTEGERS), ("input_lengths", 1, INTEGERS))
        for v, (name, ndim, dtypes) in zip(given, wanted, strict=True):
            if v.type.ndim != ndim or v.type.dtype not in dtypes:
                kind = "floats" if dtypes is FLOATS else "whole numbers"
                raise TypeError(f"{self}: {name} must be {kind} in {ndim} dimensions:\n{describe(v)}")
        x = given[0].type
        outputs = [TensorType(x.dtype, (x.broadcastable[1],)).make_variable()]
        if self.compute_grad:
            outputs.append(given[0].type.make_variable())
        return Apply(self, given, outputs)

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compute with NumPy, one sequence after the other."""
        x, labels, lengths = inputs
        if not (len(labels) == len(lengths) == x.shape[1]):
            raise ValueError(
                f"{self}: activations are of {x.shape[1]} sequences, labels of {len(labels)}, input_lengths of "
                f"{len(lengths)}"
            )
        costs, gradient = np.zeros(x.shape[1], x.dtype), np.zeros_like(x)
        for b, length in enumerate(lengths):
            if not 0 <= length <= x.shape[0]:
                raise ValueError(f"{self}: input_lengths has {length}; there are activations of {x.shape[0]} steps")
            row = spelled(labels[b])
            if row.size and row.max() >= x.shape[2]:
                raise ValueError(f"{self}: there is a label {row.max()}, and there are {x.shape[2]} activations")
            costs[b], gradient[:length, b] = of_sequence(x[:length, b].astype("float64"), row)
        output_storage[0][0] = costs
        if self.compute_grad:
            output_storage[1][0] = gradient

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return one cost for each sequence, and a gradient of the activations' shape."""
        return [(shapes[0][1],), shapes[0]][: len(node.outputs)]

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that only activations count."""
        return [[i == 0] * len(node.outputs) for i in range(3)]

    def L_op(self, inputs: Operands, outputs: Operands, output_grads: Tensors) -> list[Variable]:
        """Return the gradient of each sequence, times that of its cost; and what the gradient depends on, if wanted."""
        x, labels, lengths = inputs
        terms = []
        if not isinstance(output_grads[0].type, DisconnectedType):
            if not self.compute_grad:
                outputs = type(self)(compute_grad=True).make_node(*inputs).outputs
            terms.append(output_grads[0].dimshuffle("x", 0, "x") * outputs[1])
        for direction in output_grads[1:]:
            if not isinstance(direction.type, DisconnectedType):
                # A loop, which is loaded for those who differentiate twice.
                from theano.tensor.nnet.ctc_expression import along

                terms.append(cast(along(x, labels, lengths, direction), x.type.dtype))
        return [sum(terms[1:], terms[0]), DisconnectedType()(), DisconnectedType()()]


def spelled(row: np.ndarray) -> np.ndarray:
    """Return the labels of a row, up to the first negative one."""
    ends = np.flatnonzero(row < 0)
    return row[: ends[0]] if len(ends) else row


def of_sequence(x: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the cost of labels and its gradient, for activations over time (the rows of ``x``).

    Examples
    --------
    >>> cost, gradient = of_sequence(np.zeros((1, 2)), np.array([1]))
    >>> round(float(np.exp(-cost)), 3), gradient
    (0.5, array([[ 0.5, -0.5]]))
    """
    steps = len(x)
    with np.errstate(all="ignore"):
        log_p = x - np.logaddexp.reduce(x, axis=1, keepdims=True)
        path = np.zeros(2 * len(labels) + 1, int)
        path[1::2] = labels
        skips = np.r_[[False, False], (path[2:] != 0) & (path[2:] != path[:-2])][: len(path)]
        before = np.full((steps + 1, len(path)), -np.inf)  # in the beginning, as if one blank had gone before
        for t in range(steps):
            one = np.r_[-np.inf, before[t][:-1]]
            two = np.where(skips, np.r_[-np.inf, -np.inf, before[t][:-2]][: len(path)], -np.inf)
            most = np.logaddexp(np.logaddexp(before[t], one), two)
            if t == 0:
                most[:2] = 0.0
            before[t + 1] = most + log_p[t, path]
        behind = np.full(len(path), -np.inf)
        behind[-2:] = 0.0
        total = np.logaddexp.reduce(before[steps][-2:]) if steps else (0.0 if len(labels) == 0 else -np.inf)
        if not total > -np.inf:
            return float(-total), np.zeros_like(x)
        gradient = np.exp(log_p)
        for t in reversed(range(steps)):
            share = np.exp(before[t + 1] + behind - total)
            np.subtract.at(gradient[t], path, share)
            now = behind + log_p[t, path]
            one = np.r_[now[1:], -np.inf]
            later = np.r_[skips[2:], False, False][: len(path)]
            two = np.where(later, np.r_[now[2:], -np.inf, -np.inf][: len(path)], -np.inf)
            behind = np.logaddexp(np.logaddexp(now, one), two)
    return float(-total), gradient


def ctc(activations: TensorLike, labels: TensorLike, input_lengths: TensorLike) -> Tensor:
    """Return minus the logarithm of the probability of labels, for each sequence of a batch.

    Parameters
    ----------
    activations : tensor of 3 dimensions, float32 or float64
        (time, batch, labels), before the softmax, which is part of the cost. The first label is the blank.
    labels : matrix of integers
        (batch, length), each row filled up with negative numbers.
    input_lengths : vector of integers
        How many steps each sequence has.

    Returns
    -------
    vector
        Infinite where a sequence is too short for its labels; its gradient is 0 then.

    Raises
    ------
    TypeError
        Dtypes or numbers of dimensions are wrong.
    ValueError
        While running: numbers of sequences, lengths or labels do not fit the activations.

    Examples
    --------
    >>> import theano.tensor as T
    >>> ctc(np.zeros((3, 2, 3), "float32"), [[1, 2], [1, -1]], [3, 2]).eval().round(3)
    array([1.686, 1.099], dtype=float32)
    """
    return ConnectionistTemporalClassification()(activations, labels, input_lengths)


def ctc_available() -> bool:
    """Return True: nothing else has to be installed.

    Examples
    --------
    >>> ctc_available()
    True
    """
    return True


def ctc_present() -> bool:
    """Return True: nothing else has to be installed.

    Examples
    --------
    >>> ctc_present()
    True
    """
    return True
