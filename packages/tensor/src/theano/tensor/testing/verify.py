"""Gradients against finite differences: ``theano.gradient.verify_grad`` and ``numeric_grad``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from theano.compile import FAST_RUN, Mode, function, get_mode
from theano.errors import GradientError
from theano.gradient import grad
from theano.tensor.constructors import tensor
from theano.tensor.reduce.functions import sum as tensor_sum

# Half the digits of a type go to the step: that balances the error of the difference against that of rounding.
_STEPS = {"float64": 1e-7, "float32": 3e-4, "float16": 1e-1}
_TOLERANCES = {"float64": 1e-4, "float32": 1e-2, "float16": 5e-2}


class numeric_grad:
    """The gradient of a function of arrays by central differences.

    Parameters
    ----------
    f : callable
        Takes arrays and returns one number.
    pt : array or list of array
        Where to differentiate; floating-point.
    eps : float, optional
        The step; by default one that suits the least precise dtype.
    out_type : str, optional
        The dtype in which ``f`` computes, if that is less precise.

    Attributes
    ----------
    gf : array or list of array
        The gradient, in the form of ``pt``.
    type_eps : dict
        The steps by dtype, one table for all: what ``eps`` is by default.

    Examples
    --------
    >>> import numpy as np
    >>> numeric_grad(lambda x: (x**2).sum(), np.array([1.0, 3.0])).gf.round(4)
    array([2., 6.])
    """

    type_eps = _STEPS

    def __init__(self, f: Callable[..., Any], pt: Any, eps: float | None = None, out_type: str | None = None):
        packed = isinstance(pt, (list, tuple))
        points = [np.array(p) for p in (pt if packed else [pt])]
        dtypes = [str(p.dtype) for p in points]
        for i, dtype in enumerate(dtypes):
            if dtype not in _STEPS:
                raise TypeError(f"numeric_grad needs floating-point points; number {i} has dtype {dtype}")
        step = _loosest(_STEPS, [*dtypes, *([out_type] if out_type else [])]) if eps is None else eps
        found = []
        for p in points:
            slope = np.empty_like(p)
            for place in np.ndindex(*p.shape):
                middle = p[place]
                p[place] = middle + step
                above, real_above = float(f(*points)), float(p[place])
                p[place] = middle - step
                below, real_below = float(f(*points)), float(p[place])
                p[place] = middle
                slope[place] = (above - below) / (real_above - real_below)
            found.append(slope)
        self.gf = found if packed else found[0]

    @staticmethod
    def abs_rel_err(a: np.ndarray, b: np.ndarray) -> tuple[Any, Any]:
        """Return the absolute and the relative difference of two arrays, element by element."""
        absolute = abs(a - b)
        # Where both are tiny, relative differences mean nothing.
        return absolute, absolute / np.maximum(abs(a) + abs(b), 1e-8)

    def abs_rel_errors(self, g_pt: Sequence[np.ndarray]) -> list[tuple[Any, Any]]:
        """Return the differences to another gradient, one pair for each point."""
        mine = self.gf if isinstance(self.gf, list) else [self.gf]
        if len(g_pt) != len(mine):
            raise ValueError(f"there are {len(mine)} gradients, but {len(g_pt)} were given")
        for a, b in zip(g_pt, mine, strict=True):
            if np.shape(a) != np.shape(b):
                raise ValueError(f"a gradient of shape {np.shape(a)} was given for a point of shape {np.shape(b)}")
        return [self.abs_rel_err(a, b) for a, b in zip(g_pt, mine, strict=True)]

    def max_err(self, g_pt: Sequence[np.ndarray], abs_tol: float, rel_tol: float) -> tuple[int, int, float, float]:
        """Return the worst difference to another gradient.

        Returns
        -------
        argument, position, absolute, relative
            Which point, which of its elements (flat), and the two differences there. The worst is the one that
            is furthest beyond both tolerances.
        """
        worst = (0, 0, 0.0, 0.0)
        most = -np.inf
        for k, (absolute, relative) in enumerate(self.abs_rel_errors(g_pt)):
            if np.size(absolute) == 0:
                continue
            beyond = np.minimum(absolute / abs_tol, relative / rel_tol)
            beyond = np.where(np.isnan(beyond), np.inf, beyond)
            place = int(np.argmax(beyond))
            if beyond.item(place) > most:
                most = float(beyond.item(place))
                worst = (k, place, float(np.ravel(absolute)[place]), float(np.ravel(relative)[place]))
        return worst


def mode_not_slow(mode: Any) -> Mode:
    """Return a mode, or ``FAST_RUN`` in the place of a debugging one.

    Examples
    --------
    >>> mode_not_slow("DebugMode")
    Mode(linker=cvm, optimizer=fast_run)
    """
    found = get_mode(mode)
    return FAST_RUN if found.inspects_nodes else found


def _loosest(table: dict[str, float], dtypes: Sequence[str]) -> float:
    return max(table[dtype] for dtype in dtypes if dtype in table)


def verify_grad(
    fun: Callable[..., Any],
    pt: Sequence[np.ndarray],
    n_tests: int = 2,
    rng: Any = None,
    eps: float | None = None,
    out_type: str | None = None,
    abs_tol: float | None = None,
    rel_tol: float | None = None,
    mode: Any = None,
    cast_to_output_type: bool = False,
    no_debug_ref: bool = True,
) -> None:
    """Compare the gradient of an expression with finite differences.

    Parameters
    ----------
    fun : callable or Op
        Takes one variable for each of ``pt`` and returns one variable. An op that takes more inputs, which are not
        differentiated, is wrapped in a function first.
    pt : list of array
        Where to compare; floating-point.
    n_tests : int
        How many random projections of the output to differentiate.
    rng : numpy.random.RandomState
        Where the projections come from.
    eps : float, optional
        The step of the differences.
    out_type : str, optional
        The dtype of the output, if less precise than that of the points.
    abs_tol, rel_tol : float, optional
        A gradient is wrong where it differs by more than both.
    mode : str or Mode, optional
        How the functions are compiled.
    cast_to_output_type : bool
        Project in the dtype of the output.
    no_debug_ref : bool
        Where the mode is a debugging one, compute the differences without it: they need many calls.

    Returns
    -------
    None
        A gradient that is wrong raises GradientError.

    Raises
    ------
    theano.gradient.GradientError
        The two differ.
    TypeError
        A point is not floating-point.
    NotImplementedError
        There is more than one output.

    See Also
    --------
    theano.grad

    Examples
    --------
    >>> import numpy as np, theano, theano.tensor as T
    >>> theano.gradient.verify_grad(T.tanh, [np.array([0.5, -1.0])], rng=np.random.RandomState(1))
    """
    points = [np.array(p) for p in pt]
    for i, p in enumerate(points):
        if str(p.dtype) not in _STEPS:
            raise TypeError(
                f"verify_grad differentiates floating-point inputs only; number {i} has dtype {p.dtype}. "
                "Fix the others with a function: verify_grad(lambda x: op(x, 3), [x])."
            )
    if rng is None:
        raise TypeError("verify_grad needs rng=numpy.random.RandomState(seed), so that a failure can be repeated")
    dtypes = [str(p.dtype) for p in points] + ([out_type] if out_type else [])
    abs_tol = _loosest(_TOLERANCES, dtypes) if abs_tol is None else abs_tol
    rel_tol = _loosest(_TOLERANCES, dtypes) if rel_tol is None else rel_tol
    variables = [
        tensor(dtype=str(p.dtype), broadcastable=[n == 1 for n in p.shape], name=f"input {i}")
        for i, p in enumerate(points)
    ]
    output = fun(*variables)
    if isinstance(output, (list, tuple)):
        raise NotImplementedError("verify_grad differentiates one output; choose one: lambda x: op(x)[0]")
    reference = mode_not_slow(mode) if no_debug_ref else mode
    value = function(
        variables, output, mode=reference, on_unused_input="ignore", accept_inplace=True, name="verify_grad"
    )
    shape = np.shape(value(*(p.copy() for p in points)))
    weights = tensor(
        dtype=output.type.dtype if cast_to_output_type else "float64", broadcastable=[n == 1 for n in shape]
    )
    cost = tensor_sum(weights * output)
    slopes = function(
        [*variables, weights],
        grad(cost, variables, disconnected_inputs="ignore"),
        mode=mode, on_unused_input="ignore", accept_inplace=True, name="verify_grad, gradient",
    )  # fmt: skip
    for test in range(n_tests):
        projection = np.asarray(rng.uniform(0.5, 1.5, size=shape), dtype=weights.type.dtype)

        def projected(*at: np.ndarray, projection: np.ndarray = projection) -> float:
            # An op that works in place may overwrite what it is given.
            return float(np.sum(projection * value(*(np.array(p) for p in at)), dtype="float64"))

        numeric = numeric_grad(projected, points, eps, out_type)
        _compare(slopes(*(p.copy() for p in points), projection), numeric, abs_tol, rel_tol, test)


def _compare(symbolic: Sequence[np.ndarray], numeric: numeric_grad, abs_tol: float, rel_tol: float, test: int) -> None:
    argument, place, absolute, relative = numeric.max_err(symbolic, abs_tol, rel_tol)
    # Written so that a nan fails too.
    if not (absolute <= abs_tol or relative <= rel_tol):
        error = GradientError(
            argument, place, np.shape(numeric.gf[argument]), np.ravel(symbolic[argument])[place],
            np.ravel(numeric.gf[argument])[place], absolute, relative, abs_tol, rel_tol,
        )  # fmt: skip
        error.add_note(f"in random projection {test}")
        raise error
