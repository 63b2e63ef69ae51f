"""Functions of NumPy as expressions of other functions: their names, parameters, values and dtypes are NumPy's.

`theano.tensor` loads each of them at its first use, and ``numpy.f(x)`` of a variable ``x`` is ``theano.tensor.f(x)``.
``from theano.tensor import *`` leaves them out: programs that also write ``from numpy import *`` keep NumPy's.

Examples
--------
>>> import numpy as np, theano.tensor as T
>>> T.flip(T.constant([1, 2, 3])).eval()
array([3, 2, 1])
>>> np.median(T.constant([5.0, 1.0, 2.0])).eval()
array(2.)
"""

from __future__ import annotations

_MODULES = {
    "shapes": "atleast_1d atleast_2d atleast_3d broadcast_arrays expand_dims flip fliplr flipud matrix_transpose rot90",
    "joins": "append column_stack dstack hstack meshgrid vstack",
    "ranges": "geomspace identity linspace logspace vander",
    "padding": "pad",
    "elements": "copysign digamma float_power heaviside isfinite isneginf isposinf logaddexp logaddexp2 logical_and "
    "logical_not logical_or logical_xor nan_to_num sinc",
    "nans": "count_nonzero nancumprod nancumsum nanmean nanprod nanstd nansum nanvar",
    "quantiles": "median percentile quantile",
    "places": "digitize interp isin put_along_axis take_along_axis",
    "statistics": "average corrcoef trapezoid",
    "products": "cross einsum inner kron vdot vecdot",
}
_OF_MATRICES = {
    "composed.factors": "cholesky eig eigh eigvals eigvalsh qr svd svdvals",
    "composed.equations": "det inv lstsq pinv slogdet solve tensorinv tensorsolve",
    "composed.norms": "cond matrix_norm matrix_rank norm vector_norm",
    "composed.matrices": "diagonal matrix_power multi_dot outer trace",
    "composed.products": "cross vecdot",
    "composed.shapes": "matrix_transpose",
    "blas.dot": "matmul tensordot",
}
#: For each function of ``theano.tensor`` its place, as `theano.layers.lazily` reads it.
FUNCTIONS = {
    name: f"theano.tensor.composed.{module}:{name}" for module, names in _MODULES.items() for name in names.split()
}
#: The same for ``theano.tensor.linalg``.
OF_MATRICES = {
    name: f"theano.tensor.{module}:{name}" for module, names in _OF_MATRICES.items() for name in names.split()
}
#: NumPy's counterparts by their full names; `numpy.put_along_axis` writes into its argument, which no expression does.
COUNTERPARTS = {f"numpy.{name}": place for name, place in FUNCTIONS.items() if name != "put_along_axis"} | {
    f"numpy.linalg.{name}": place for name, place in OF_MATRICES.items()
}
