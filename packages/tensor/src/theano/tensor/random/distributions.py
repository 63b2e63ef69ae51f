"""Draws from NumPy's ``RandomState``, by distribution.

Each function takes a state, a size and parameters; what it returns is the next state and the numbers. Parameters are
stretched over each other as NumPy does it. The size may be a sequence of numbers and symbolic numbers, where -1 stands
for the length that the parameters have there; a symbolic vector, whose length ``ndim`` says where the graph does not;
or None for the parameters' own shape.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.graph import Constant
from theano.settings import config
from theano.tensor.convert import as_tensor_variable, constant
from theano.tensor.random.function import RandomFunction
from theano.tensor.random.ranges import if_known, not_negative, ordered, probabilities, probability, scale
from theano.tensor.random.size import size_of
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike


def _draw(
    fn: str | Callable[..., Any], state: Variable, size: Any, ndim: int | None, dtype: str, *parameters: Any
) -> list[Variable]:
    """Return a draw of as many numbers as size and parameters say."""
    found = size_of(ndim, size, *parameters)
    return RandomFunction(fn, TensorType(dtype, found.pattern))(state, found.lengths, *parameters)


def uniform(
    random_state: Any, size: Any = None, low: object = 0.0, high: Any = 1.0, ndim: int | None = None,
    dtype: str | None = None,
) -> Any:  # fmt: skip
    """Return numbers between ``low``, which may occur, and ``high``, which does not.

    Their dtype is that of the bounds, but at least ``floatX``, unless ``dtype`` says otherwise.

    Examples
    --------
    >>> import theano
    >>> _, numbers = uniform(theano.shared(np.random.RandomState(1)), (2,), low=5.0, dtype="float64")
    >>> bool((numbers.eval() == np.random.RandomState(1).uniform(5.0, 1.0, (2,))).all())
    True
    """
    low, high = as_tensor_variable(low), as_tensor_variable(high)
    dtype = dtype or scal.upcast(config.floatX, low.type.dtype, high.type.dtype)
    return _draw("uniform", random_state, size, ndim, dtype, low, high)


def normal(
    random_state: Variable, size: Any = None, avg: Any = 0.0, std: Any = 1.0, ndim: int | None = None,
    dtype: str | None = None,
) -> list[Variable]:  # fmt: skip
    """Return numbers with a normal distribution of mean ``avg`` and standard deviation ``std``.

    Examples
    --------
    >>> import theano
    >>> _, numbers = normal(theano.shared(np.random.RandomState(1)), (2,), dtype="float64")
    >>> bool((numbers.eval() == np.random.RandomState(1).normal(size=2)).all())
    True
    """
    avg, std = as_tensor_variable(avg), if_known(scale, "normal: std", std)
    dtype = dtype or scal.upcast(config.floatX, avg.type.dtype, std.type.dtype)
    return _draw("normal", random_state, size, ndim, dtype, avg, std)


def binomial(
    random_state: Variable, size: Any = None, n: object = 1, p: float = 0.5, ndim: int | None = None,
    dtype: str = "int64", prob: Any = None,
) -> list[Variable]:  # fmt: skip
    """Return how many of ``n`` trials succeed, each with probability ``p``.

    Examples
    --------
    >>> import theano
    >>> _, numbers = binomial(theano.shared(np.random.RandomState(1)), (3,), n=10, p=0.3)
    >>> bool((numbers.eval() == np.random.RandomState(1).binomial(10, 0.3, (3,))).all())
    True
    """
    n, p = if_known(not_negative, "binomial: n", n), if_known(probability, "binomial: p", _probability(p, prob))
    found = size_of(ndim, size, n, p)
    op = RandomFunction("binomial", TensorType(dtype, (False,) * len(found.pattern)))
    return op(random_state, found.lengths, n, p)


def _probability(p: object, prob: object) -> Any:
    """Return the probability of a binomial draw, which was called ``prob`` once."""
    if prob is None:
        return p
    warnings.warn("the parameter prob of binomial is called p", DeprecationWarning, stacklevel=3)
    return prob


def random_integers(
    random_state: Variable,
    size: Any = None,
    low: TensorLike = 0,
    high: TensorLike = 1,
    ndim: int | None = None,
    dtype: str = "int64",
) -> list[Variable]:
    """Return whole numbers from ``low`` to ``high``, both of which may occur.

    Examples
    --------
    >>> import theano
    >>> _, numbers = random_integers(theano.shared(np.random.RandomState(1)), (3,), low=1, high=6)
    >>> bool((numbers.eval() == np.random.RandomState(1).randint(1, 7, 3)).all())
    True
    """
    low, high = as_tensor_variable(low), as_tensor_variable(high)
    if isinstance(low, Constant):
        high = if_known(ordered, "random_integers", high, low)
    return _draw(random_integers_helper, random_state, size, ndim, dtype, low, high)


def random_integers_helper(random_state: Any, low: np.ndarray, high: np.ndarray, size: Any) -> np.ndarray:
    """Draw whole numbers, one after the other; bounds may be arrays.

    Examples
    --------
    >>> random_integers_helper(np.random.RandomState(1), np.array([0, 10]), np.array(10), None).shape
    (2,)
    """
    if size is None:
        size = np.broadcast_shapes(low.shape, high.shape)
    if low.ndim == 0 and high.ndim == 0:
        return random_state.randint(low=low, high=high + 1, size=size)
    lows, highs = _stretched(low, size, "low"), _stretched(high, size, "high")
    drawn = (random_state.randint(low=a, high=b + 1) for a, b in zip(lows.flat, highs.flat, strict=True))
    return np.fromiter(drawn, "int64", int(np.prod(size))).reshape(size)


def _stretched(parameter: np.ndarray, size: tuple[int, ...], name: str) -> np.ndarray:
    """Return a parameter in the shape of a draw."""
    try:
        return np.broadcast_to(parameter, size)
    except ValueError:
        raise ValueError(f"{name} of shape {parameter.shape} does not fit into the size {tuple(size)}") from None


def choice(
    random_state: Variable, size: Any = None, a: TensorLike = 2, replace: object = True, p: Any = None,
    ndim: int | None = None, dtype: str = "int64",
) -> list[Variable]:  # fmt: skip
    """Return elements of the vector ``a``, or of the numbers below ``a``, with probabilities ``p``.

    Examples
    --------
    >>> import theano
    >>> _, numbers = choice(theano.shared(np.random.RandomState(1)), (3,), a=10, replace=False)
    >>> bool((numbers.eval() == np.random.RandomState(1).choice(10, (3,), False)).all())
    True
    """
    a = as_tensor_variable(a)
    replace = constant(replace, dtype="int8") if isinstance(replace, bool) else as_tensor_variable(replace)
    # An empty vector stands for missing probabilities; programs also pass 0 for None.
    absent = p is None or (isinstance(p, (bool, int, float, list, tuple)) and not p)
    p = as_tensor_variable(np.array([], config.floatX)) if absent else if_known(probabilities, "choice: p", p, True)
    found = size_of(ndim, size)
    op = RandomFunction(choice_helper, TensorType(dtype, found.pattern))
    return op(random_state, found.lengths, a, replace, p)


def choice_helper(random_state: Any, a: np.ndarray, replace: TensorLike, p: np.ndarray, size: Any) -> np.ndarray:
    """Draw elements of a vector; an empty vector of probabilities says that all have the same.

    Examples
    --------
    >>> choice_helper(np.random.RandomState(1), np.array(5), np.array(True), np.array([]), (2,))
    array([3, 4])
    """
    if a.ndim > 1:
        raise ValueError(f"choice: a must be a number or a vector, but has {a.ndim} dimensions")
    if p.ndim != 1:
        raise ValueError(f"choice: p must be a vector, but has {p.ndim} dimensions")
    return random_state.choice(a, size, bool(replace), p if p.size else None)


def poisson(
    random_state: Variable, size: Any = None, lam: Any = 1.0, ndim: int | None = None, dtype: str = "int64"
) -> list[Variable]:
    """Return how often something happens that is expected to happen ``lam`` times.

    Examples
    --------
    >>> import theano
    >>> _, numbers = poisson(theano.shared(np.random.RandomState(1)), (3,), lam=2.0)
    >>> bool((numbers.eval() == np.random.RandomState(1).poisson(2.0, (3,))).all())
    True
    """
    lam = if_known(not_negative, "poisson: lam", lam)
    # As documented, the size has to be given: a number alone does not tell it.
    found = size_of(ndim, size) if lam.type.ndim == 0 else size_of(ndim, size, lam)
    return RandomFunction("poisson", TensorType(dtype, found.pattern))(random_state, found.lengths, lam)


def permutation(
    random_state: Variable, size: Any = None, n: int = 1, ndim: int | None = None, dtype: str = "int64"
) -> Any:
    """Return the numbers below ``n`` in random order: as many orders as ``size`` says, each along the last axis.

    Examples
    --------
    >>> import theano
    >>> _, order = permutation(theano.shared(np.random.RandomState(1)), n=5)
    >>> bool((order.eval() == np.random.RandomState(1).permutation(5)).all())
    True
    """
    if size is None or (isinstance(size, (tuple, list)) and len(size) == 0):
        if ndim not in (None, 0, 1):
            raise TypeError(f"permutation: ndim is {ndim}, but without a size there is one order of 1 dimension")
        ndim, size = None, ()
    found = size_of(ndim, size)
    op = RandomFunction(permutation_helper, TensorType(dtype, (*found.pattern, False)), ndim_added=1)
    return op(random_state, found.lengths, n)


def permutation_helper(random_state: Any, n: Any, shape: Any) -> Any:
    """Draw orders of the numbers below ``n``, as many as ``shape`` says.

    Examples
    --------
    >>> permutation_helper(np.random.RandomState(1), np.array(4), (3, 2)).shape
    (3, 2, 4)
    """
    if n.shape != ():
        raise ValueError(f"permutation: n must be a number, but has the shape {n.shape}")
    shape, n = tuple(shape or ()), int(n)
    out = np.empty((*shape, n), int)
    for place in np.ndindex(*shape):
        out[place] = random_state.permutation(n)
    return out


def multinomial(
    random_state: Variable, size: Any = None, n: Any = 1, pvals: Any = (0.5, 0.5), ndim: int | None = None,
    dtype: str = "int64",
) -> Any:  # fmt: skip
    """Return how often each outcome comes up in ``n`` trials; the last axis of ``pvals`` has the probabilities.

    ``size`` and ``n`` have one dimension less than ``pvals`` and the result, which end in the axis of outcomes.

    Examples
    --------
    >>> import theano
    >>> _, counts = multinomial(theano.shared(np.random.RandomState(1)), n=10, pvals=[[0.5, 0.5], [0.2, 0.8]])
    >>> counts.eval().sum(axis=1)
    array([10, 10])
    """
    n, pvals = if_known(not_negative, "multinomial: n", n), as_tensor_variable(pvals)
    if pvals.type.ndim == 0:
        raise TypeError(f"multinomial: pvals must have 1 dimension or more, the last one for outcomes, not {pvals}")
    pvals = if_known(probabilities, "multinomial: pvals", pvals)
    found = size_of(ndim, size, n, pvals[..., 0])
    op = RandomFunction(
        multinomial_helper, TensorType(dtype, (*found.pattern, pvals.type.broadcastable[-1])), ndim_added=1
    )
    return op(random_state, found.lengths, n, pvals)


def multinomial_helper(random_state: Any, n: np.ndarray, pvals: np.ndarray, size: Any) -> np.ndarray:
    """Draw counts of outcomes, one row after the other; both parameters may be arrays.

    Rounding may make the sum of float32 probabilities exceed 1: such rows are scaled down a little.

    Examples
    --------
    >>> multinomial_helper(np.random.RandomState(1), np.array(3), np.array([0.5, 0.5]), (2,)).shape
    (2, 2)
    """
    if size is None:
        size = np.broadcast_shapes(n.shape, pvals.shape[:-1])
    if pvals.min(initial=0.0) < 0:
        raise AssertionError("multinomial: pvals has negative probabilities")
    counts = _stretched(n, size, "n")
    try:
        rows = np.broadcast_to(pvals, (*size, pvals.shape[-1]))
    except ValueError:
        raise ValueError(f"pvals of shape {pvals.shape} does not fit into the size {tuple(size)}") from None
    out = np.empty(rows.shape, "int64")
    for place in np.ndindex(*size):
        out[place] = random_state.multinomial(n=counts[place], pvals=_accepted(rows[place]).astype("float64"))
    return out


def _accepted(row: np.ndarray) -> np.ndarray:
    """Return probabilities whose sum NumPy accepts."""
    total = row.sum()
    if 1.0 < total < 1.0 + 1e-5 or row[-1] < 5e-5:
        row = row * (1.0 - 5e-5)
        total = row.sum()
    if total > 1.0:
        raise AssertionError(f"multinomial: probabilities add up to {total}, more than 1")
    return row


def multinomial_wo_replacement(
    random_state: Variable, size: Any = None, n: int = 1, pvals: Any = (0.5, 0.5), ndim: int | None = None,
    dtype: str = "int64",
) -> list[Variable]:  # fmt: skip
    """Return ``n`` different outcomes of each row of ``pvals``, drawn one after the other.

    Examples
    --------
    >>> import theano
    >>> _, drawn = multinomial_wo_replacement(theano.shared(np.random.RandomState(1)), n=2, pvals=[[0.5, 0.3, 0.2]])
    >>> drawn.eval().shape
    (1, 2)
    """
    pvals = as_tensor_variable(pvals)
    if pvals.type.ndim == 0:
        raise TypeError(f"multinomial_wo_replacement: pvals must have a last axis for outcomes, not be {pvals}")
    pvals = if_known(not_negative, "multinomial_wo_replacement: pvals", pvals)
    found = size_of(ndim, size, pvals[..., 0])
    op = RandomFunction(multinomial_wo_replacement_helper, TensorType(dtype, (*found.pattern, False)), ndim_added=1)
    return op(random_state, found.lengths, n, pvals)


def multinomial_wo_replacement_helper(random_state: Any, n: np.ndarray, pvals: np.ndarray, size: Any) -> np.ndarray:
    """Draw different outcomes for each row of probabilities.

    Examples
    --------
    >>> drawn = multinomial_wo_replacement_helper(np.random.RandomState(1), np.array(2), np.array([0.2, 0.8]), None)
    >>> sorted(drawn.tolist())
    [0, 1]
    """
    size = pvals.shape[:-1] if size is None else size
    rows = np.broadcast_to(pvals, (*size, pvals.shape[-1])).astype("float64")
    out = np.empty((*size, int(n)), "int64")
    for place in np.ndindex(*size):
        row = rows[place]
        out[place] = random_state.choice(len(row), int(n), replace=False, p=row / row.sum())
    return out
