"""Compiled functions as callbacks of SciPy: C functions for integrators and filters, flat functions for optimisers.

`scipy_callable` makes of a function what SciPy calls without Python (`scipy.LowLevelCallable`). `scipy_objective` makes
of a cost a function of one vector that returns value and gradient, as `scipy.optimize.minimize` and its neighbours want
it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
from scipy import LowLevelCallable

from theano.compile import In, function
from theano.compile.executable import Function
from theano.compile.shared import SharedVariable
from theano.gradient import grad
from theano.graph.variable import Variable
from theano.loader.module import direct_message
from theano.tensor.convert import as_tensor_variable, is_tensor
from theano.tensor.elemwise import functions as F
from theano.tensor.join.op import join
from theano.tensor.reduce.functions import sum as total_of
from theano.tensor.shape.reshape import reshape
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

#: For each purpose, what a function takes (dtype, dimensions; whether several) and gives, and what the loader calls it.
_KINDS: dict[str, list[tuple[str, int, bool, int, str]]] = {
    "integrand": [
        ("float64", 0, False, 0, "number"), ("float64", 0, True, 0, "numbers"), ("float64", 1, False, 0, "vector"),
    ],
    "filter": [("float64", 1, False, 0, "window")],
    "geometric_transform": [("int64", 1, False, 1, "place")],
}  # fmt: skip


_DATA = "theano.direct"
#: The result and the arguments of each kind of function.
_C_TYPES = {
    "double (double, void *)": (ctypes.c_double, ctypes.c_double, ctypes.c_void_p),
    "double (int, double *, void *)": (
        ctypes.c_double, ctypes.c_int, ctypes.POINTER(ctypes.c_double), ctypes.c_void_p,
    ),
    "int (double *, intptr_t, double *, void *)": (
        ctypes.c_int, ctypes.POINTER(ctypes.c_double), ctypes.c_ssize_t, ctypes.POINTER(ctypes.c_double),
        ctypes.c_void_p,
    ),
    "int (intptr_t *, double *, int, int, void *)": (
        ctypes.c_int, ctypes.POINTER(ctypes.c_ssize_t), ctypes.POINTER(ctypes.c_double), ctypes.c_int, ctypes.c_int,
        ctypes.c_void_p,
    ),
}  # fmt: skip


class ScipyCallable(LowLevelCallable):  # type: ignore[misc]
    """A compiled function that SciPy calls as C; `scipy_callable` makes one."""

    __slots__ = ()

    @property
    def failure(self) -> str | None:
        """What the first call said that has failed since this was last asked, or None.

        An integrand cannot raise: its value is then nan.
        """
        said: str | None = direct_message(self.user_data)
        return said

    @property
    def ctypes(self) -> tuple[Any, int]:
        """The C function as ctypes has it, and the address that is its last argument: for Numba and others.

        The addresses are good as long as this object or the function of ctypes lives.

        Examples
        --------
        >>> import theano, theano.tensor as T
        >>> x = T.dscalar("x")
        >>> f = theano.scipy_callable(theano.function([x], x**2))
        >>> call, data = f.ctypes
        >>> call(3.0, data)
        9.0
        """
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        made = ctypes.CFUNCTYPE(*_C_TYPES[self.signature])
        code, data = (
            pointer(capsule, name.encode())
            for capsule, name in ((self.function, self.signature), (self.user_data, _DATA))
        )
        call = made(code)
        call.owner = self  # type: ignore[attr-defined]  # what the second address leads to
        return call, data


def scipy_callable(
    f: Function, purpose: Literal["integrand", "filter", "geometric_transform"] = "integrand"
) -> ScipyCallable:
    """Return a compiled function as a `scipy.LowLevelCallable`, which is called without Python.

    Parameters
    ----------
    f : Function
        What `theano.function` returned. It gives one value, updates nothing, and all of it is compiled. Values of
        shared variables are those at the moment: they are copied.
    purpose : str
        - ``"integrand"``, for `scipy.integrate.quad`, ``dblquad``, ``nquad`` and others: a function of numbers, which
          come in order (of x, then of what ``args`` gives), or of one vector of them; it returns a number.
        - ``"filter"``, for `scipy.ndimage.generic_filter`: a function of a vector, the window, that returns a number.
        - ``"geometric_transform"``, for `scipy.ndimage.geometric_transform`: from a place in the output, an int64
          vector, to the place in the input, a vector.

        Numbers are float64.

    Returns
    -------
    ScipyCallable
        Several threads may call it; their calls run one after the other.

    Raises
    ------
    TypeError
        The function does not take or give what the purpose wants, updates something, or is not compiled as a whole.

    See Also
    --------
    scipy_objective : for optimisers, which call Python.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> from scipy.integrate import quad
    >>> x, a = T.dscalars("x", "a")
    >>> f = theano.scipy_callable(theano.function([x, a], T.exp(-a * x**2)))
    >>> value, error = quad(f, 0, 1, args=(2.0,))
    >>> round(value, 12)
    0.598144006661

    Each pixel of an image becomes the difference of the largest and the smallest around it:

    >>> from scipy.ndimage import generic_filter
    >>> v = T.dvector("v")
    >>> span = theano.scipy_callable(theano.function([v], v.max() - v.min()), "filter")
    >>> generic_filter([[1.0, 2.0], [5.0, 9.0]], span, size=2, mode="nearest")
    array([[0., 1.],
           [4., 8.]])
    """
    if not isinstance(f, Function):
        raise TypeError(f"scipy_callable: what theano.function returns is wanted, not a {type(f).__name__}")
    if purpose not in _KINDS:
        raise ValueError(f"scipy_callable: a purpose is one of {', '.join(_KINDS)}, not {purpose!r}")
    try:
        code, data = f.direct(_kind(f, purpose))
    except TypeError as problem:
        raise TypeError(
            f"scipy_callable: {f.name} cannot be called from C: {problem}. SciPy can call the function itself, with a "
            "call of Python each time"
        ) from None
    return ScipyCallable(code, data)


def _kind(f: Function, purpose: str) -> str:
    given = [spec.variable for spec in f.maker.inputs if not spec.implicit]
    made = [out.variable for out in f.maker.outputs]
    for dtype, ndim, several, out_ndim, kind in _KINDS[purpose]:
        fits = len(given) == 1 if not several else len(given) > 1
        if fits and all(_is(v, dtype, ndim) for v in given) and len(made) == 1 and _is(made[0], "float64", out_ndim):
            return kind
    listed = " or ".join(
        f"{'several ' if several else 'one '}{dtype} {_WORDS[ndim]} to a float64 {_WORDS[out]}"
        for dtype, ndim, several, out, _ in _KINDS[purpose]
    )
    has = ", ".join(f"{v} of type {v.type}" for v in (*given, *made))
    raise TypeError(f"for this purpose a function is from {listed}, and it has {has}")


_WORDS = ("number", "vector")


def _is(v: Variable, dtype: str, ndim: int) -> bool:
    return is_tensor(v) and v.type.dtype == dtype and v.type.ndim == ndim


# -- for optimisers ------------------------------------------------------------------------------------------------


class Objective:
    """A cost as a function of one vector, with its gradient; `scipy_objective` makes one.

    Attributes
    ----------
    x0 : ndarray
        The values of the variables when this was made, one after the other; none where the vector may have any length.
    f : Function
        From the vector, and further inputs, to value and gradient.
    """

    def __init__(
        self,
        cost: Tensor,
        wrt: Sequence[Any],
        values: Sequence[np.ndarray],
        inputs: Sequence[Any],
        options: dict[str, Any],
    ):
        self.wrt, self._cost, self._inputs, self._options = list(wrt), cost, list(inputs), options
        self._shapes = [value.shape for value in values]
        if not values and wrt:  # the vector is the variable
            self._shapes = [(-1,)]
        else:
            self.x0 = np.concatenate([np.zeros(0), *(np.asarray(value, "float64").ravel() for value in values)])
        self._vector = TensorType("float64", (False,))("vector")
        self._givens = dict(zip(wrt, self._parts(self._vector), strict=True))
        slopes = grad(cost, self.wrt)
        results = [F.cast(cost, "float64"), _flat(slopes)]
        self.f = function([In(self._vector, borrow=True), *inputs], results, givens=self._givens, **options)
        self._hessp: Any = None

    def __getattr__(self, name: str) -> NoReturn:
        if name == "x0":
            raise AttributeError(
                f"the length of {self.wrt[0]} is not known: begin with a vector of yours, such as numpy.zeros(n), or "
                "say shapes=[(n,)] to scipy_objective"
            )
        raise AttributeError(f"an objective has no attribute {name!r}")

    def __call__(self, vector: object, *args: Any) -> tuple[float, np.ndarray]:
        """Return the value and the gradient at a vector; ``args`` are the values of the further inputs."""
        value, slope = self.f(vector, *args)
        return float(value), slope

    def hessp(self, vector: Any, direction: Any, *args: Any) -> Any:
        """Return the product of the Hessian at a vector with a direction.

        Newton-CG, trust-krylov and others want one. It is compiled when it is first asked for.
        """
        if self._hessp is None:
            along = TensorType("float64", (False,))("direction")
            products = [
                total_of(slope * F.cast(part, slope.type.dtype))
                for slope, part in zip(grad(self._cost, self.wrt), self._parts(along), strict=True)
            ]
            total: Any = products[0]
            for product in products[1:]:
                total = total + product
            second = _flat(grad(total, self.wrt, disconnected_inputs="ignore"))
            self._hessp = function([self._vector, along, *self._inputs], second, givens=self._givens, **self._options)
        return self._hessp(vector, direction, *args)

    def split(self, vector: TensorLike) -> list[np.ndarray]:
        """Return the parts of a vector in the shapes of the variables."""
        vector, parts, start = np.asarray(vector), [], 0
        for v, shape in zip(self.wrt, self._shapes, strict=True):
            stop = vector.size if shape == (-1,) else start + int(np.prod(shape))
            parts.append(vector[start:stop].reshape(shape).astype(v.type.dtype))
            start = stop
        if start != vector.size:
            raise ValueError(f"the vector has {vector.size} elements, and the variables {start}")
        return parts

    def assign(self, vector: TensorLike) -> None:
        """Store the parts of a vector, the result of an optimiser, in the shared variables."""
        parts = self.split(vector)
        for v, part in zip(self.wrt, parts, strict=True):
            if isinstance(v, SharedVariable):
                v.set_value(part, borrow=True)

    def _parts(self, vector: Any) -> list[Any]:
        parts, start = [], 0
        for v, shape in zip(self.wrt, self._shapes, strict=True):
            stop = start + int(np.prod(shape))
            part = vector if shape == (-1,) else reshape(vector[start:stop], shape, ndim=len(shape))
            parts.append(v.type.filter_variable(F.cast(part, v.type.dtype), allow_convert=True))
            start = stop
        return parts


def _flat(variables: Sequence[Tensor]) -> Tensor:
    rows = [F.cast(reshape(v, (-1,), ndim=1), "float64") for v in variables]
    return rows[0] if len(rows) == 1 else join(0, *rows)


def scipy_objective(
    cost: Variable,
    wrt: Sequence[Tensor],
    inputs: Sequence[Variable] = (),
    *,
    shapes: Sequence[Sequence[int]] | None = None,
    **options: Any,
) -> Objective:
    """Return a cost as a function of one flat vector that gives value and gradient, for `scipy.optimize`.

    Parameters
    ----------
    cost : Variable
        A number.
    wrt : Variable or list of Variable
        What is to be found: shared variables, whose values are where the search starts, or other variables of real
        numbers.
    inputs : list of Variable
        What else the cost depends on; their values follow the vector (``args=`` of SciPy's functions).
    shapes : list of tuple, optional
        The shapes of variables that are not shared, in the order of ``wrt``; shared ones have theirs. A vector that is
        the only variable needs none.
    **options
        As for `theano.function`.

    Returns
    -------
    Objective
        ``objective(vector, *args)`` is ``(value, gradient)``; ``objective.x0`` is where the search starts,
        ``objective.hessp`` the product of the Hessian with a direction, ``objective.split`` and ``objective.assign``
        bring a vector back into the variables. The vector and the gradient are float64, whatever the variables are.

    Raises
    ------
    TypeError
        The cost is no number, or a variable is not of real numbers.
    ValueError
        The shape of a variable is not known.

    See Also
    --------
    theano.scipy_callable, theano.grad

    Examples
    --------
    >>> import numpy as np, theano, theano.tensor as T
    >>> from scipy.optimize import minimize
    >>> w, b = theano.shared(np.zeros(2), "w"), theano.shared(0.0, "b")
    >>> X, y = T.dmatrix("X"), T.dvector("y")
    >>> objective = theano.scipy_objective(((X.dot(w) + b - y) ** 2).mean(), [w, b], [X, y])
    >>> points = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [1.0, 1.0]])
    >>> found = minimize(objective, objective.x0, args=(points, points @ [3, -1] + 2), jac=True)
    >>> objective.assign(found.x)
    >>> w.get_value().round(3), b.get_value().round(3)
    (array([ 3., -1.]), np.float64(2.0))

    A single vector may be of any length:

    >>> u = T.dvector("u")
    >>> distance = theano.scipy_objective(((u - 2) ** 2).sum(), u)
    >>> minimize(distance, np.zeros(3), jac=True).x.round(3)
    array([2., 2., 2.])
    """
    listed = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    cost = as_tensor_variable(cost)
    if cost.type.ndim or cost.type.dtype not in _REAL:
        raise TypeError(f"scipy_objective: a cost is a real number, and {cost} is of type {cost.type}")
    for v in listed:
        if not is_tensor(v) or v.type.dtype not in _REAL:
            kind = getattr(v, "type", type(v))
            raise TypeError(f"scipy_objective: variables are arrays of real numbers, and {v} is of type {kind}")
    return Objective(cost, listed, _start(listed, shapes), inputs, options)


_REAL = ("float16", "float32", "float64")


def _start(wrt: Sequence[Any], shapes: Sequence[Sequence[int]] | None) -> list[np.ndarray]:
    """Return where the search starts, zeros for a variable without a value; nothing for one vector of any length."""
    given = iter(shapes or ())
    values: list[np.ndarray] = []
    if shapes is None and len(wrt) == 1 and wrt[0].type.ndim == 1 and not isinstance(wrt[0], SharedVariable):
        return values
    for v in wrt:
        if isinstance(v, SharedVariable):
            values.append(np.asarray(v.get_value(borrow=True)))
            continue
        shape = () if v.type.ndim == 0 and shapes is None else next(given, None)
        if shape is None or len(shape) != v.type.ndim:
            raise ValueError(
                f"scipy_objective: {v} is not a shared variable; pass its shape of {v.type.ndim} lengths in shapes="
            )
        values.append(np.zeros(tuple(shape)))
    return values


__all__ = ["Objective", "ScipyCallable", "scipy_callable", "scipy_objective"]
