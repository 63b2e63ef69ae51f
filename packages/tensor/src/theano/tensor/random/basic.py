"""Distributions as random variables: the ops, and one instance of each under the name of its distribution.

A class says how many dimensions one draw and its parameters have, of which dtype the numbers are, what the parameters
are called and which defaults they have. NumPy draws where nothing else is said, and SciPy where `by_scipy` names its
distribution: for one state, numbers are those that they draw.

Examples
--------
>>> import theano
>>> import theano.tensor as T
>>> from theano.tensor.random.basic import multivariate_normal, normal
>>> state = theano.shared(np.random.RandomState(1))
>>> mean = T.dvector("mean")
>>> numbers = normal(mean, scale=2.0, size=(4, 3), rng=state)
>>> drawn = numbers.eval({mean: [0.0, 10.0, 20.0]})
>>> bool((drawn == np.random.RandomState(1).normal([0.0, 10.0, 20.0], 2.0, (4, 3))).all())
True
>>> multivariate_normal(np.zeros(3), np.eye(3), size=4, rng=state).eval().shape
(4, 3)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.layers import lazily
from theano.settings import config
from theano.tensor.convert import as_tensor_variable, constant
from theano.tensor.elemwise.functions import cast
from theano.tensor.random.broadcasting import broadcast_params
from theano.tensor.random.op import Lengths, RandomVariable, default_shape_from_params
from theano.tensor.random.polya_gamma import polya_gamma
from theano.tensor.shape.basic import shape_tuple
from theano.tensor.shape.broadcast import lengths_of
from theano.tensor.type_other import NoneConst

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def by_scipy(name: str, *parameters: str) -> Any:
    """Return a method that draws from a distribution of SciPy, whose names for the parameters are given in order."""

    def rng_fn(rng: np.random.RandomState, *args: Any, size: Any = None) -> Any:
        import scipy.stats  # 0.5 s that only its users pay

        if len(args) > len(parameters):
            args, size = args[:-1], args[-1]
        # As NumPy does; SciPy would compute with the digits of the parameters.
        exact = (np.asarray(a, "float64" if np.asarray(a).dtype.kind == "f" else None) for a in args)
        given = dict(zip(parameters, exact, strict=True))
        return getattr(scipy.stats, name).rvs(**given, size=size, random_state=rng)

    return staticmethod(rng_fn)


def row_by_row(
    draw: Callable[..., Any], like: int, params: Sequence[np.ndarray], ndims_params: Sequence[int], size: Any
) -> np.ndarray:
    """Return draws that are vectors, one for each place of a size and a batch.

    Each is as long as the last axis of parameter ``like``.

    Examples
    --------
    >>> row_by_row(lambda n, x: n * x, 1, [np.array([1, 2]), np.ones(3)], [0, 1], None).tolist()
    [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    """
    stretched = broadcast_params(params, ndims_params)
    batch = stretched[0].shape[: stretched[0].ndim - ndims_params[0]]
    places = (*(size or ()), *batch)
    rows = [np.broadcast_to(p, places + p.shape[len(batch) :]) for p in stretched]
    out = np.empty((*places, stretched[like].shape[-1]))
    for place in np.ndindex(*places):
        out[place] = draw(*(p[place] for p in rows))
    return out


# -- numbers of the line -----------------------------------------------------------------------------------------------


class UniformRV(RandomVariable):
    """Numbers between ``low``, which may occur, and ``high``, which does not."""

    name, ndim_supp, ndims_params, dtype = "uniform", 0, (0, 0), "floatX"
    parameters = staticmethod(lambda low=0.0, high=1.0: (low, high))


class BetaRV(RandomVariable):
    """Numbers between 0 and 1 with a density of ``x**(alpha - 1) * (1 - x)**(beta - 1)``."""

    name, ndim_supp, ndims_params, dtype = "beta", 0, (0, 0), "floatX"
    parameters = staticmethod(lambda alpha, beta: (alpha, beta))


class NormalRV(RandomVariable):
    """Normal numbers of mean ``loc`` and standard deviation ``scale``."""

    name, ndim_supp, ndims_params, dtype = "normal", 0, (0, 0), "floatX"
    parameters = staticmethod(lambda loc=0.0, scale=1.0: (loc, scale))


class HalfNormalRV(RandomVariable):
    """``loc`` and the distance of a normal number of standard deviation ``scale`` from 0."""

    name, ndim_supp, ndims_params, dtype = "halfnormal", 0, (0, 0), "floatX"
    parameters = staticmethod(lambda loc=0.0, scale=1.0: (loc, scale))
    rng_fn = by_scipy("halfnorm", "loc", "scale")


class GammaRV(RandomVariable):
    """Positive numbers with a density of ``x**(shape - 1) * exp(-rate * x)``; the node has the scale, ``1 / rate``."""

    name, ndim_supp, ndims_params, dtype = "gamma", 0, (0, 0), "floatX"
    rng_fn = by_scipy("gamma", "a", "scale")

    @staticmethod
    def parameters(shape: TensorLike, rate: TensorLike) -> tuple[Any, Any]:
        """Return the shape and the scale; a rate that is a number keeps all of its digits."""
        return shape, 1.0 / as_tensor_variable(np.float64(rate) if isinstance(rate, (int, float)) else rate)


class ExponentialRV(RandomVariable):
    """Positive numbers with a density of ``exp(-x / scale)``."""

    name, ndim_supp, ndims_params, dtype = "exponential", 0, (0,), "floatX"
    parameters = staticmethod(lambda scale=1.0: (scale,))


class CauchyRV(RandomVariable):
    """Numbers with a density of ``1 / (1 + ((x - loc) / scale)**2)``."""

    name, ndim_supp, ndims_params, dtype = "cauchy", 0, (0, 0), "floatX"
    parameters = staticmethod(lambda loc=0.0, scale=1.0: (loc, scale))
    rng_fn = by_scipy("cauchy", "loc", "scale")


class HalfCauchyRV(RandomVariable):
    """``loc`` and the distance of a Cauchy number of scale ``scale`` from 0."""

    name, ndim_supp, ndims_params, dtype = "halfcauchy", 0, (0, 0), "floatX"
    parameters = staticmethod(lambda loc=0.0, scale=1.0: (loc, scale))
    rng_fn = by_scipy("halfcauchy", "loc", "scale")


class InvGammaRV(RandomVariable):
    """One by gamma numbers: a density of ``x**(-shape - 1) * exp(-rate / x)``."""

    name, ndim_supp, ndims_params, dtype = "invgamma", 0, (0, 0), "floatX"
    parameters = staticmethod(lambda shape, rate: (shape, rate))
    rng_fn = by_scipy("invgamma", "a", "scale")


class TruncExponentialRV(RandomVariable):
    """Exponential numbers of scale ``scale`` that are below ``b * scale``, and ``loc``."""

    name, ndim_supp, ndims_params, dtype = "truncexpon", 0, (0, 0, 0), "floatX"
    parameters = staticmethod(lambda b, loc=0.0, scale=1.0: (b, loc, scale))
    rng_fn = by_scipy("truncexpon", "b", "loc", "scale")


class PolyaGammaRV(RandomVariable):
    """Polya-Gamma numbers, of mean ``b / (2 c) * tanh(c / 2)``."""

    name, ndim_supp, ndims_params, dtype = "polya-gamma", 0, (0, 0), "floatX"
    parameters = staticmethod(lambda b, c: (b, c))
    rng_fn = staticmethod(polya_gamma)


uniform = UniformRV()
beta = BetaRV()
normal = NormalRV()
halfnormal = HalfNormalRV()
gamma = GammaRV()
exponential = ExponentialRV()
cauchy = CauchyRV()
halfcauchy = HalfCauchyRV()
invgamma = InvGammaRV()
truncexpon = TruncExponentialRV()
polyagamma = PolyaGammaRV()


# -- whole numbers -----------------------------------------------------------------------------------------------------


class PoissonRV(RandomVariable):
    """How often something happens that is expected to happen ``lam`` times."""

    name, ndim_supp, ndims_params, dtype = "poisson", 0, (0,), "int64"
    parameters = staticmethod(lambda lam=1.0: (lam,))


class BernoulliRV(RandomVariable):
    """1 with the probability ``p``, else 0."""

    name, ndim_supp, ndims_params, dtype = "bernoulli", 0, (0,), "int64"
    parameters = staticmethod(lambda p: (p,))
    rng_fn = by_scipy("bernoulli", "p")


class BinomialRV(RandomVariable):
    """How many of ``n`` trials succeed, each with the probability ``p``."""

    name, ndim_supp, ndims_params, dtype = "binomial", 0, (0, 0), "int64"
    parameters = staticmethod(lambda n, p: (n, p))


class NegBinomialRV(RandomVariable):
    """How many trials fail before ``n`` have succeeded, each with the probability ``p``."""

    name, ndim_supp, ndims_params, dtype = "nbinom", 0, (0, 0), "int64"
    parameters = staticmethod(lambda n, p: (n, p))
    rng_fn = by_scipy("nbinom", "n", "p")


class BetaBinomialRV(RandomVariable):
    """How many of ``n`` trials succeed, with one probability for all of them that is drawn from a beta distribution."""

    name, ndim_supp, ndims_params, dtype = "beta_binomial", 0, (0, 0, 0), "int64"
    parameters = staticmethod(lambda n, a, b: (n, a, b))
    rng_fn = by_scipy("betabinom", "n", "a", "b")


class RandIntRV(RandomVariable):
    """Whole numbers from ``low`` on and below ``high``; of one bound, those from 0 on and below it."""

    name, ndim_supp, ndims_params, dtype = "randint", 0, (0, 0), "int64"
    parameters = staticmethod(lambda low, high=None: (0, low) if high is None else (low, high))


class CategoricalRV(RandomVariable):
    """The number of an outcome; the last axis of ``p`` has the probabilities."""

    name, ndim_supp, ndims_params, dtype = "categorical", 0, (1,), "int64"
    parameters = staticmethod(lambda p: (p,))

    @staticmethod
    def rng_fn(rng: np.random.RandomState, p: Any, size: Any = None) -> Any:
        """Draw by one uniform number each: the outcome whose part of the sum contains it."""
        size = p.shape[:-1] if size is None else tuple(size)
        try:
            bounds = np.broadcast_to(p.cumsum(axis=-1, dtype="float64"), (*size, p.shape[-1]))
        except ValueError:
            raise ValueError(f"categorical: p of shape {p.shape} does not fit into the size {size}") from None
        passed = bounds[..., :-1] < rng.uniform(size=size)[..., None]
        return passed.sum(axis=-1)


poisson = PoissonRV()
bernoulli = BernoulliRV()
binomial = BinomialRV()
nbinom = NegBinomialRV()
betabinom = BetaBinomialRV()
randint = RandIntRV()
categorical = CategoricalRV()


# -- vectors -----------------------------------------------------------------------------------------------------------


def safe_multivariate_normal(
    mean: TensorLike, cov: Any, size: Any = None, rng: np.random.RandomState | None = None
) -> np.ndarray:
    """Draw normal vectors as arrays of at least one dimension, also where they have one element.

    Parameters
    ----------
    mean : vector
    cov : matrix
        It may be singular.
    size : sequence of int, optional
    rng : RandomState, optional

    Examples
    --------
    >>> safe_multivariate_normal([0.0], [[1.0]], size=(2,), rng=np.random.RandomState(1)).shape
    (2, 1)
    """
    import scipy.stats  # 0.5 s that only its users pay

    drawn = scipy.stats.multivariate_normal(mean, cov, allow_singular=True).rvs(size=size, random_state=rng)
    return np.reshape(drawn, (*(() if size is None else np.atleast_1d(size)), np.shape(cov)[-1] if np.ndim(cov) else 1))


class MvNormalRV(RandomVariable):
    """Normal vectors of mean ``mean`` and covariances ``cov``."""

    name, ndim_supp, ndims_params, dtype = "multivariate_normal", 1, (1, 2), "floatX"

    @staticmethod
    def parameters(mean: np.ndarray | None = None, cov: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return both; without them, vectors have one element of mean 0 and variance 1."""
        return (
            np.zeros(1, config.floatX) if mean is None else mean,
            np.ones((1, 1), config.floatX) if cov is None else cov,
        )

    @staticmethod
    def rng_fn(rng: np.random.RandomState, mean: np.ndarray, cov: np.ndarray, size: object = None) -> Any:
        """Draw all vectors of one distribution at once, else one after the other."""
        if mean.ndim == 1 and cov.ndim == 2:
            return safe_multivariate_normal(mean, cov, size, rng)
        return row_by_row(lambda m, c: safe_multivariate_normal(m, c, rng=rng), 0, [mean, cov], (1, 2), size)


class DirichletRV(RandomVariable):
    """Probabilities of outcomes, with a density of the product of ``p**(alphas - 1)``."""

    name, ndim_supp, ndims_params, dtype = "dirichlet", 1, (1,), "floatX"
    parameters = staticmethod(lambda alphas: (alphas,))

    @staticmethod
    def rng_fn(rng: np.random.RandomState, alphas: Any, size: Any = None) -> Any:
        """Draw one vector after the other."""
        return row_by_row(rng.dirichlet, 0, [alphas], (1,), size)


class MultinomialRV(RandomVariable):
    """How often each outcome comes up in ``n`` trials; the last axis of ``p`` has the probabilities."""

    name, ndim_supp, ndims_params, dtype = "multinomial", 1, (0, 1), "int64"
    parameters = staticmethod(lambda n, p: (n, p))

    @staticmethod
    def rng_fn(rng: np.random.RandomState, n: Any, p: Any, size: Any = None) -> Any:
        """Draw one vector after the other."""
        return row_by_row(rng.multinomial, 1, [n, p.astype("float64")], (0, 1), size)

    def _shape_from_params(self, dist_params: Sequence[Any], **kwargs: Any) -> tuple[Tensor, ...]:
        """Return the number of outcomes."""
        return default_shape_from_params(1, dist_params, **{"rep_param_idx": 1, **kwargs})


multivariate_normal = MvNormalRV()
dirichlet = DirichletRV()
multinomial = MultinomialRV()


# -- elements of given values ------------------------------------------------------------------------------------------


class ChoiceRV(RandomVariable):
    """Elements of the vector ``a``, or whole numbers below the number ``a``, with probabilities ``p``.

    Examples
    --------
    >>> import theano
    >>> numbers = choice([10, 20, 30], size=3, replace=False, rng=theano.shared(np.random.RandomState(1)))
    >>> sorted(numbers.eval().tolist())
    [10, 20, 30]
    """

    name, ndim_supp, ndims_params = "choice", 0, (1, 1, 0)

    # Parameters and their order are NumPy's.
    def __call__(self, a: Any, size: Any = None, replace: object = True, p: Any = None, **kwargs: object) -> Tensor:  # type: ignore[override]
        """Return elements, of the dtype of ``a``."""
        a = as_tensor_variable(a)
        if a.type.ndim > 1:
            raise ValueError(f"{self}: a must be a vector or a whole number, not {a} of type {a.type}")
        p = NoneConst.clone() if p is None else p
        replace = constant(np.array(replace)) if isinstance(replace, (bool, np.bool_)) else replace
        return super().__call__(a, p, replace, size=size, **{"dtype": a.type.dtype, **kwargs})

    @staticmethod
    def rng_fn(rng: np.random.RandomState, a: Any, p: Any, replace: Any, size: Any = None) -> Any:
        """Draw by ``RandomState.choice``."""
        return rng.choice(a if a.ndim else int(a), size, bool(replace), p)

    def _infer_shape(self, size: Tensor, dist_params: Sequence[Variable], param_shapes: object = None) -> Lengths:
        """Return the size: no parameter tells how many elements are drawn."""
        return lengths_of(size)


class PermutationRV(RandomVariable):
    """The rows of ``x``, or the whole numbers below the number ``x``, in random order.

    Examples
    --------
    >>> import theano
    >>> order = permutation(4, rng=theano.shared(np.random.RandomState(1))).eval()
    >>> bool((order == np.random.RandomState(1).permutation(4)).all())
    True
    """

    name, ndim_supp, ndims_params = "permutation", 1, (1,)

    # Parameters and their order are NumPy's.
    def __call__(self, x: Any, size: Any = None, **kwargs: object) -> Tensor:  # type: ignore[override]
        """Return one order, of the dtype of ``x``."""
        if size is not None:
            raise ValueError(f"{self} draws one order, and size is {size}. Leave it out.")
        x = as_tensor_variable(x)
        return super().__call__(x, **{"dtype": x.type.dtype, **kwargs})

    @staticmethod
    def rng_fn(rng: np.random.RandomState, x: np.ndarray, size: Any = None) -> Any:
        """Draw by ``RandomState.permutation``."""
        return rng.permutation(x if x.ndim else int(x))

    def _infer_shape(self, size: Tensor, dist_params: Sequence[Any], param_shapes: Any = None) -> Lengths:
        """Return the shape of ``x``, or ``x`` itself."""
        (x,) = dist_params
        if x.type.ndim == 0:
            return (cast(x, "int64"),)
        return tuple(param_shapes[0]) if param_shapes else shape_tuple(x)


choice = ChoiceRV()
permutation = PermutationRV()

__getattr__, __dir__ = lazily(globals())
