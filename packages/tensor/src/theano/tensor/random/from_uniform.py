"""Distributions made of uniform numbers, for streams that draw nothing else: MRG31k3p's and, partly, Philox'."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.gradient import undefined_grad
from theano.graph import Variable
from theano.settings import config
from theano.tensor.convert import as_tensor_variable, constant
from theano.tensor.elemwise.functions import cast, cos, log, sin, sqrt
from theano.tensor.join.op import join, stack
from theano.tensor.random.categories import ChoiceFromUniform, MultinomialFromUniform
from theano.tensor.random.ranges import probabilities, probability, scale
from theano.tensor.random.size import vector_of
from theano.tensor.reduce.functions import prod
from theano.tensor.shape.reshape import reshape

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

_STD_WITHIN_2 = 0.87962566103423978
"""The standard deviation of a standard normal distribution that is cut off at -2 and 2."""


def parameters_of(names: str, a: TensorLike, b: TensorLike, dtype: str | None) -> tuple[Any, Any, str]:
    """Return two parameters and the dtype of what is drawn with them: their own, but at least ``floatX``."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    dtype = dtype or scal.upcast(config.floatX, a.type.dtype, b.type.dtype)
    if dtype not in ("float16", "float32", "float64"):
        raise TypeError(f"numbers with parameters {names} are drawn in a float dtype, not in {dtype}: pass dtype=...")
    return undefined_grad(cast(a, dtype)), undefined_grad(cast(b, dtype)), dtype


def lengths_of(size: Any) -> Any:
    """Return a size (a number, a sequence, a symbolic vector or number) as a vector.

    Raises
    ------
    ValueError
        It is something else, or a length is not positive.
    """
    if isinstance(size, Variable):
        if size.type.ndim == 0:
            return stack([size])
        if size.type.ndim == 1:
            return size
        raise ValueError(f"size must be a vector, and {size} has {size.type.ndim} dimensions")
    if isinstance(size, (int, np.integer)):
        size = (size,)
    if not isinstance(size, (tuple, list)):
        raise ValueError(f"size must be a whole number, a sequence of such or a symbolic vector, not {size!r}")
    for i, n in enumerate(size):
        if isinstance(n, Variable):
            if n.type.ndim != 0:
                raise ValueError(f"length {i} of size must be a number, and {n} has {n.type.ndim} dimensions")
        elif not isinstance(n, (int, np.integer)):
            raise ValueError(f"length {i} of size must be a whole number or symbolic, not {n!r}")
        elif n <= 0:
            raise ValueError(f"length {i} of size is {n}; lengths must be positive")
    return vector_of(size)


def refuse(method: str, options: dict[str, Any]) -> None:
    """Raise for the unused keyword arguments of a method."""
    if options:
        raise TypeError(f"{method} takes no parameter {next(iter(options))!r}")


class FromUniform:
    """Distributions for classes that have ``uniform(size, low, high, ndim, dtype, nstreams)``."""

    def uniform(
        self, size: Any, low: Any = 0.0, high: Any = 1.0, ndim: int | None = None, dtype: str | None = None,
        nstreams: int | None = None, **kwargs: object,
    ) -> Any:  # fmt: skip
        """Return numbers between ``low`` and ``high``."""
        raise NotImplementedError(f"{type(self).__name__} must define uniform")

    def binomial(
        self, size: Any = None, n: int = 1, p: Any = 0.5, ndim: int | None = None, dtype: str = "int64",
        nstreams: int | None = None, **kwargs: Any,
    ) -> Tensor:  # fmt: skip
        """Return 1 with probability ``p``, else 0; only for ``n=1`` trial."""
        if n != 1:
            raise NotImplementedError(
                f"{type(self).__name__}.binomial knows n=1 alone, not n={n}. "
                "Sum draws with n=1 over an axis of length n, or take RandomStreams."
            )
        p = undefined_grad(probability("binomial: p", p))
        return cast(self.uniform(size=size, ndim=ndim, nstreams=nstreams, **kwargs) < p, dtype)

    def multinomial(
        self, size: object = None, n: Any = 1, pvals: Any = None, ndim: int | None = None, dtype: str = "int64",
        nstreams: int | None = None, **kwargs: Any,
    ) -> Variable:  # fmt: skip
        """Return how often each outcome comes up in ``n`` trials, for each row of the matrix ``pvals``.

        Where probabilities add up to less than 1, some trials count for no outcome.
        """
        pvals = self._probabilities("multinomial", "pvals", pvals, size, ndim)
        unis = self.uniform(size=pvals.shape[:1] * n, ndim=1, nstreams=nstreams, **kwargs)
        return MultinomialFromUniform(dtype)(pvals, unis, n)

    def choice(
        self, size: object = 1, a: object = None, replace: bool = True, p: Any = None, ndim: int | None = None,
        dtype: str = "int64", nstreams: int | None = None, **kwargs: Any,
    ) -> Variable:  # fmt: skip
        """Return ``size`` different outcomes of each row of the matrix ``p``; only for ``replace=False``."""
        if replace:
            raise NotImplementedError(f"{type(self).__name__}.choice knows replace=False alone")
        if a is not None:
            raise TypeError(f"{type(self).__name__}.choice chooses columns of p: a must be None, not {a}")
        p = self._probabilities("choice", "p", p, None, ndim)
        unis = self.uniform(size=p.shape[:1] * size, ndim=1, nstreams=nstreams, **kwargs)
        return ChoiceFromUniform(dtype)(p, unis, size)

    def _probabilities(self, what: str, name: str, p: TensorLike, size: object, ndim: int | None) -> Variable:
        where = f"{type(self).__name__}.{what}"
        if p is None:
            raise TypeError(f"{where} needs {name}, a matrix with a row of probabilities for each draw")
        if size is not None or ndim is not None:
            raise ValueError(f"{where} draws as many as {name} has rows: size and ndim must be None")
        p = as_tensor_variable(p)
        if p.type.ndim != 2:
            raise NotImplementedError(f"{where} needs a matrix as {name}, and {p} has {p.type.ndim} dimensions")
        return undefined_grad(probabilities(f"{what}: {name}", p))

    def multinomial_wo_replacement(
        self, size: Any = None, n: Any = 1, pvals: Any = None, ndim: int | None = None, dtype: str = "int64",
        nstreams: int | None = None, **kwargs: object,
    ) -> Any:  # fmt: skip
        """Return ``n`` different outcomes of each row: `choice` under another name."""
        warnings.warn("multinomial_wo_replacement is called choice now", DeprecationWarning, stacklevel=2)
        if size is not None:
            raise AssertionError("multinomial_wo_replacement draws as many as pvals has rows: size must be None")
        return self.choice(size=n, a=None, replace=False, p=pvals, dtype=dtype, nstreams=nstreams, ndim=ndim, **kwargs)

    def normal(
        self, size: Any, avg: Any = 0.0, std: Any = 1.0, ndim: int | None = None, dtype: str | None = None,
        nstreams: int | None = None, truncate: bool = False, **kwargs: object,
    ) -> Any:  # fmt: skip
        """Return numbers with a normal distribution, by the method of G. E. P. Box and M. E. Muller (1958).

        Parameters
        ----------
        truncate : bool
            Cut the distribution off at two standard deviations from the mean; that of the result is smaller, then.
            As in Theano, values beyond are drawn again along the same direction; the result is close to a truncated
            normal distribution (its distribution function is within 0.01), but not equal to it.
        """
        lengths = lengths_of(size)
        avg, std, dtype = parameters_of("avg and std", avg, scale("normal: std", std), dtype)
        # Symbolic even where it is known, for then Theano takes 60 * 256 streams, which decides the numbers.
        count = prod(lengths, dtype="int64")
        more: dict[str, Any] = {"ndim": 1, "dtype": dtype, "nstreams": nstreams, **kwargs}
        numbers = self.uniform((count + count % 2,), **more)
        half = (count + count % 2) // 2
        radius = sqrt(-2.0 * log(numbers[:half]))
        angle = np.array(2 * np.pi, dtype=dtype) * numbers[half:]
        parts = self._within_2(radius, angle, more) if truncate else [radius * cos(angle), radius * sin(angle)]
        return reshape(join(0, *parts)[:count], lengths, ndim=ndim) * std + avg

    def _within_2(self, radius: Variable, angle: Tensor, more: dict[str, Any]) -> Sequence[Tensor]:
        """Return cosines and sines within -2 and 2: those that are, then others along the same directions."""
        parts = []
        sides = [side(angle) for side in (cos, sin)]
        beyond = [abs(radius * side) > 2.0 for side in sides]
        places = [b.nonzero()[0] for b in beyond]
        lower = constant(np.exp(-2.0), dtype=more["dtype"])
        again = sqrt(-2.0 * log(self.uniform((places[0].size + places[1].size,), low=lower, high=1.0, **more)))
        radii = again[: places[0].size], again[places[0].size :]
        for side, b, where, new in zip(sides, beyond, places, radii, strict=True):
            parts += [(radius * side)[(~b).nonzero()], new * side[where]]
        return parts

    def truncated_normal(
        self, size: TensorLike, avg: TensorLike = 0.0, std: TensorLike = 1.0, ndim: int | None = None,
        dtype: str | None = None, nstreams: int | None = None, **kwargs: object,
    ) -> Variable:  # fmt: skip
        """Return numbers of a normal distribution that is cut off symmetrically, with standard deviation ``std``."""
        wider = scale("truncated_normal: std", std) / constant(_STD_WITHIN_2)
        return self.normal(
            size=size, avg=avg, std=wider, truncate=True, ndim=ndim, dtype=dtype, nstreams=nstreams, **kwargs
        )
