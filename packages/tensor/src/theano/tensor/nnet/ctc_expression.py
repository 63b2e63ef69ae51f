"""The cost of connectionist temporal classification as an expression of other ops, for who differentiates it twice.

It is what `theano.tensor.nnet.ctc` computes, by a loop over time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.gradient import disconnected_grad, grad
from theano.scan.basic import scan
from theano.tensor.create.alloc import alloc
from theano.tensor.create.arange import arange
from theano.tensor.elemwise import functions as F
from theano.tensor.join.op import concatenate
from theano.tensor.nnet.softmax import logsoftmax
from theano.tensor.sort.cumulative import cumprod

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

#: The logarithm of what is impossible: differences of it are numbers, which those of infinities are not.
NEVER = -1e30


def costs(activations: Any, labels: Any, input_lengths: TensorLike) -> Tensor:
    """Return the costs that `ctc` returns, in float64; 0 where a sequence is too short for its labels.

    Examples
    --------
    >>> import numpy as np
    >>> import theano.tensor as T
    >>> costs(*map(T.constant, (np.zeros((3, 2, 3)), [[1, 2], [1, -1]], [3, 2]))).eval().round(3)
    array([1.686, 1.099])
    """
    steps, batch, symbols = (activations.shape[i] for i in range(3))
    x = F.cast(activations, "float64")
    log_p = logsoftmax(x.reshape((steps * batch, symbols))).reshape((steps, batch, symbols))
    places = 2 * labels.shape[1] + 1
    place, row = arange(places), arange(batch).dimshuffle(0, "x")
    # Blanks between the labels, which end with the first negative one.
    within = cumprod(F.cast(F.ge(labels, 0), "int64"), axis=1)
    spelt = concatenate([labels * within, alloc(0, batch, 1).astype(labels.dtype)], axis=1)
    path = F.switch(F.eq(place % 2, 1), spelt[:, place // 2], 0)
    two_before = concatenate([path[:, :1], path[:, :1], path], axis=1)[:, :places]
    skips = F.and_(F.neq(path, 0), F.neq(path, two_before))
    never = alloc(NEVER, batch, 2)

    def step(
        t: Tensor,
        before: Tensor,
        log_p: Tensor,
        path: Tensor,
        skips: Tensor,
        lengths: Tensor,
        never: Tensor,
        row: Tensor,
    ) -> Tensor:
        one = concatenate([never, before], axis=1)[:, 1 : path.shape[1] + 1]
        two = F.switch(skips, concatenate([never, before], axis=1)[:, : path.shape[1]], NEVER)
        now = _joined(before, one, two) + log_p[t][row, path]
        return F.switch(F.lt(t, lengths).dimshuffle(0, "x"), now, before)

    # In the beginning, as if one blank had gone before.
    start = F.switch(F.eq(place, 0), 0.0, NEVER) + alloc(0.0, batch, places)
    sums = scan(step, sequences=arange(steps), outputs_info=start,
                non_sequences=[log_p, path, skips, input_lengths, never, row], strict=True)[0]  # fmt: skip
    last = concatenate([start.dimshuffle("x", 0, 1), sums])[-1]
    end = 2 * within.sum(axis=1)
    before_end = F.switch(F.gt(end, 0), last[arange(batch), F.maximum(end - 1, 0)], NEVER)
    total = _joined(last[arange(batch), end], before_end)
    return F.switch(F.gt(total, NEVER / 2), -total, 0.0)


def _joined(*logarithms: Any) -> Tensor:
    """Return the logarithm of the sum of what they are the logarithms of."""
    most = logarithms[0]
    for x in logarithms[1:]:
        most = F.maximum(most, x)
    most = disconnected_grad(most)  # the result does not depend on it
    return most + F.log(sum(F.exp(x - most) for x in logarithms))


def along(activations: Variable, labels: Tensor, input_lengths: Tensor, direction: Tensor) -> Tensor:
    """Return the second derivatives of the costs' sum with respect to activations, times a direction."""
    first = grad(costs(activations, labels, input_lengths).sum(), activations)
    # The direction may depend on the activations itself: it is what comes from above, and no part of what is derived.
    return grad(None, activations, known_grads={first: direction})
