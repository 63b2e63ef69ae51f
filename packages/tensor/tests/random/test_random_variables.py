"""Random variables: NumPy's and SciPy's own numbers for the same state, shapes, states, and what rules may do to them."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
import scipy.stats as stats

import theano
import theano.tensor as T
from portion import portion
from theano.compile import In
from theano.errors import NullTypeGradError, ShapeError
from theano.rewriting.userdefined import EquilibriumOptimizer
from theano.tensor.random import RandomStream, basic
from theano.tensor.random.broadcasting import broadcast_params, params_broadcast_shapes
from theano.tensor.random.lifting import lift_rv_shapes, local_dimshuffle_rv_lift, local_subtensor_rv_lift
from theano.tensor.random.op import Observed, RandomVariable, default_shape_from_params, observed
from theano.tensor.random.type import random_state_type
from theano.tensor.random.var import randomstate_constructor

SEED = 97


def state(seed=SEED):
    return np.random.RandomState(seed)


def shared_state(seed=SEED):
    return theano.shared(state(seed))


def scipy(name, **renamed):
    """Return how SciPy draws, given the parameters by position under the names that it has for them."""
    return lambda r, *p, size: getattr(stats, name).rvs(**dict(zip(renamed.get("by", ()), p, strict=True)), size=size, random_state=r)


def rows(draw, ndims):
    """Return how vectors are drawn one after the other, by broadcasting that is written down another way."""

    def drawn(r, *p, size):
        batch = np.broadcast_shapes(*(np.shape(x)[: np.ndim(x) - n] for x, n in zip(p, ndims, strict=True)))
        places = (*(size or ()), *batch)
        flat = [np.broadcast_to(x, (*places, *np.shape(x)[np.ndim(x) - n :])).reshape(-1, *np.shape(x)[np.ndim(x) - n :]) for x, n in zip(p, ndims, strict=True)]
        return np.array([draw(r, *(x[i] for x in flat)) for i in range(int(np.prod(places)))]).reshape(*places, -1)

    return drawn


A, B = np.array([0.5, 1.5, 4.0]), np.array([[2.0], [0.25]])
EVEN = np.array([0.2, 0.3, 0.5])
TWO = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
COV = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.3]])

#: By name: parameters of one draw, parameters of batches, what draws the same, and how many dimensions they have.
#: Single numbers of the first kind have any size; (3,) and (2, 3) fit the batch.
DISTRIBUTIONS = {
    "uniform": ((-1.0, 3.0), (-A, B), lambda r, *p, size: r.uniform(*p, size)),
    "beta": ((2.0, 3.0), (A, B), lambda r, *p, size: r.beta(*p, size)),
    "normal": ((1.0, 2.0), (A, B), lambda r, *p, size: r.normal(*p, size)),
    "halfnormal": ((1.0, 2.0), (A, B), scipy("halfnorm", by=("loc", "scale"))),
    "gamma": ((2.0, 3.0), (A, B), lambda r, a, rate, size: r.standard_gamma(a, size if size is not None else np.broadcast_shapes(np.shape(a), np.shape(rate))) * (1.0 / np.asarray(rate))),
    "exponential": ((2.0,), (A,), lambda r, *p, size: r.exponential(*p, size)),
    "cauchy": ((1.0, 2.0), (A, B), scipy("cauchy", by=("loc", "scale"))),
    "halfcauchy": ((1.0, 2.0), (A, B), scipy("halfcauchy", by=("loc", "scale"))),
    "invgamma": ((2.0, 3.0), (A, B), scipy("invgamma", by=("a", "scale"))),
    "truncexpon": ((2.0, 1.0, 3.0), (A, B, 2.0), scipy("truncexpon", by=("b", "loc", "scale"))),
    "poisson": ((2.0,), (A,), lambda r, *p, size: r.poisson(*p, size)),
    "bernoulli": ((0.3,), (A / 5,), lambda r, p, size: r.binomial(1, p, size)),
    "binomial": ((7, 0.3), (np.array([5, 7, 9]), B / 3), lambda r, *p, size: r.binomial(*p, size)),
    "nbinom": ((7, 0.3), (np.array([5, 7, 9]), B / 3), lambda r, *p, size: r.negative_binomial(*p, size)),
    "betabinom": ((7, 0.3, 2.0), (np.array([5, 7, 9]), B, 2.0), scipy("betabinom", by=("n", "a", "b"))),
    "randint": ((-3, 60), (np.array([0, 5, 10]), np.array([[20], [30]])), lambda r, *p, size: r.randint(*p, size)),
}  # fmt: skip
VECTORS = {
    "multivariate_normal": ((A, COV), (np.array([A, -A]), COV), rows(lambda r, m, c: stats.multivariate_normal(m, c).rvs(random_state=r), (1, 2))),
    "dirichlet": ((A,), (np.array([A, A + 1]),), rows(lambda r, a: r.dirichlet(a), (1,))),
    "multinomial": ((8, EVEN), (np.array([[8], [3], [5]]), TWO), rows(lambda r, n, p: r.multinomial(n, p), (0, 1))),
}  # fmt: skip

MEANS = {
    "uniform": lambda a, b: stats.uniform(a, b - a), "beta": stats.beta, "normal": stats.norm,
    "halfnormal": stats.halfnorm, "gamma": lambda a, rate: stats.gamma(a, scale=1 / rate),
    "exponential": lambda s: stats.expon(scale=s), "cauchy": stats.cauchy, "halfcauchy": stats.halfcauchy,
    "invgamma": lambda a, rate: stats.invgamma(a, scale=rate), "truncexpon": stats.truncexpon,
}  # fmt: skip


def given(parameters, form, dtype=None):
    """Return parameters as values or as variables, and what the variables are worth."""
    if form == "constants":
        return parameters, {}
    variables = [T.TensorType(np.asarray(p).dtype, [n == 1 for n in np.shape(p)])(f"p{i}") for i, p in enumerate(parameters)]
    return variables, dict(zip(variables, (np.asarray(p) for p in parameters), strict=True))


# -- numbers -----------------------------------------------------------------------------------------------------------


FORMS = ["constants", "variables"]


@pytest.mark.parametrize(("form", "size", "name"), portion(product(FORMS, [None, (), (5,), (1, 4), (0, 4), (2, 3, 4)], DISTRIBUTIONS), always=0))
def test_numbers_of_one_distribution(name, size, form):
    parameters, _, draw = DISTRIBUTIONS[name]
    variables, values = given(parameters, form)
    out = getattr(basic, name)(*variables, size=size, rng=shared_state())
    wanted = np.asarray(draw(state(), *parameters, size=size or None))
    assert out.type.broadcastable == tuple(n == 1 for n in wanted.shape)
    assert out.type.dtype == getattr(basic, name).dtype.replace("floatX", theano.config.floatX)
    f = theano.function([*values], [out, out.shape])
    numbers, shape = f(*values.values())
    np.testing.assert_allclose(numbers, wanted, rtol=1e-12)
    assert numbers.shape == wanted.shape == tuple(shape)


@pytest.mark.parametrize(("form", "size", "name"), portion(product(FORMS, [None, "same", "more"], DISTRIBUTIONS), always=0))
def test_numbers_of_a_batch(name, size, form):
    _, parameters, draw = DISTRIBUTIONS[name]
    batch = np.broadcast_shapes(*(np.shape(p) for p in parameters))
    size = {None: None, "same": batch, "more": (4, *batch)}[size]
    variables, values = given(parameters, form)
    if form == "variables" and size is not None:
        n = T.lscalar("n")
        out = getattr(basic, name)(*variables, size=(n, *size[1:]), rng=shared_state())
        values[n] = size[0]
    else:
        out = getattr(basic, name)(*variables, size=size, rng=shared_state())
    f = theano.function([*values], [out, out.shape], mode="FAST_COMPILE")
    numbers, shape = f(*values.values())
    wanted = draw(state(), *parameters, size=size)
    np.testing.assert_allclose(numbers, wanted, rtol=1e-12)
    assert numbers.shape == tuple(shape)


@pytest.mark.parametrize(("form", "size", "batched", "name"), portion(product(FORMS, [None, (4,), (0,), (2, 1)], [False, True], VECTORS), always=0, one_in=5))
def test_vectors(name, batched, size, form):
    draw = VECTORS[name][2]
    parameters = VECTORS[name][batched]
    variables, values = given(parameters, form)
    out = getattr(basic, name)(*variables, size=size, rng=shared_state())
    numbers, shape = theano.function([*values], [out, out.shape])(*values.values())
    batch = {"multinomial": (3, 2), "dirichlet": (2,), "multivariate_normal": (2,)}[name] if batched else ()
    assert numbers.shape == tuple(shape) == (*(size or ()), *batch, 3)
    if numbers.size:
        np.testing.assert_allclose(numbers, draw(state(), *parameters, size=size), rtol=1e-10)


def test_a_draw_has_as_many_dimensions_as_the_op_says():
    for name, (parameters, *_) in (DISTRIBUTIONS | VECTORS).items():
        op = getattr(basic, name)
        assert op.ndim_supp == (name in VECTORS) == op(*parameters).type.ndim, name
        assert [np.ndim(p) for p in parameters] == list(op.ndims_params), name


@pytest.mark.parametrize("name", MEANS)
def test_distributions_are_scipys(name):
    """The names of parameters mean what SciPy's distributions of them say, at 20,000 numbers."""
    parameters = DISTRIBUTIONS[name][0]
    numbers = getattr(basic, name)(*parameters, size=20_000, rng=shared_state()).eval()
    assert stats.kstest(numbers, MEANS[name](*parameters).cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", ["float32", "float16", "float64"])
def test_dtypes(name):
    out = basic.normal(0.0, 1.0, size=(3,), rng=shared_state(), dtype=name)
    assert out.type.dtype == name
    assert (out.eval() == state().normal(size=3).astype(name)).all()


def test_categorical():
    out = basic.categorical(TWO, size=(4000, 2), rng=shared_state()).eval()
    for i, p in enumerate(TWO):
        assert stats.chisquare(np.bincount(out[:, i], minlength=3), p * 4000).pvalue > 1e-3
    assert basic.categorical(EVEN).type.ndim == 0
    assert basic.categorical(EVEN, size=5, rng=shared_state()).eval().shape == (5,)
    u = state().uniform(size=(2,))
    assert (basic.categorical(TWO, rng=shared_state()).eval() == [np.searchsorted(p.cumsum(), x) for p, x in zip(TWO, u)]).all()
    with pytest.raises(ValueError, match=r"p of shape \(2, 3\) does not fit into the size \(5,\)"):
        basic.categorical.rng_fn(state(), TWO, (5,))


def test_choice_and_permutation():
    a = np.array([3, 5, 9], "int32")
    for replace, p in [(True, None), (False, None), (True, EVEN), (False, EVEN)]:
        out = basic.choice(a, (2,), replace, p, rng=shared_state())
        assert out.type == T.ivector
        assert (out.eval() == state().choice(a, 2, replace, p)).all()
    assert basic.choice(7, size=(2, 3), rng=shared_state()).eval().tolist() == state().choice(7, (2, 3)).tolist()
    assert basic.choice(a, rng=shared_state()).eval() == state().choice(a)
    with pytest.raises(ValueError, match="a must be a vector"):
        basic.choice(np.ones((2, 2)))
    x = np.arange(12.0).reshape(4, 3)
    out = basic.permutation(x, rng=shared_state())
    assert (out.eval() == state().permutation(x)).all()
    n = T.iscalar("n")
    order = basic.permutation(n, rng=shared_state())
    f = theano.function([n], [order, order.shape[0]])
    assert f(6)[0].tolist() == state().permutation(6).tolist()
    assert f(6)[1] == 6
    with pytest.raises(ValueError, match="draws one order"):
        basic.permutation(x, size=3)


@pytest.mark.parametrize(("b", "c"), [(1.0, 0.0), (1.0, 2.0), (0.3, -4.0), (7.5, 30.0), (2.0, 1e-4), (200.0, 1.0)])
def test_polya_gamma(b, c):
    """Against the mean, the variance, and the transform that defines the distribution."""
    numbers = basic.polyagamma(b, c, size=40_000, rng=shared_state()).eval()
    x = max(abs(c), 1e-2)
    mean = b * np.tanh(x / 2) / (2 * x)
    variance = b * (np.sinh(x) - x) / (4 * x**3 * np.cosh(x / 2) ** 2)
    assert abs(numbers.mean() - mean) < 5 * np.sqrt(variance / len(numbers))
    assert abs(numbers.var() / variance - 1) < 0.1
    for t in (0.5 / mean, 2.0 / mean):
        wanted = (np.cosh(c / 2) / np.cosh(np.sqrt((c**2 / 2 + t) / 2))) ** b
        drawn = np.exp(-t * numbers)
        assert abs(drawn.mean() - wanted) < 5 * drawn.std() / np.sqrt(len(numbers))


def test_polya_gamma_of_arrays():
    b, c = np.array([1.0, 2.0, 0.0]), np.array([[0.0], [5.0]])
    numbers = basic.polyagamma(b, c, rng=shared_state()).eval()
    assert numbers.shape == (2, 3)
    assert (numbers[:, 2] == 0).all()
    assert (numbers[:, :2] > 0).all()
    with pytest.raises(ValueError, match="b must be 0 or greater"):
        basic.polyagamma(-1.0, 0.0).eval()


def test_names_and_defaults_of_parameters():
    at = lambda **kw: {"rng": shared_state(), **kw}
    assert (basic.normal(scale=2.0, **at(size=3)).eval() == state().normal(0, 2, 3)).all()
    assert (basic.uniform(1.0, 2.0, (3,), **at()).eval() == state().uniform(1, 2, 3)).all()
    assert (basic.randint(9, **at(size=3)).eval() == state().randint(0, 9, 3)).all()
    assert (basic.multivariate_normal(**at()).eval() == stats.multivariate_normal([0.0]).rvs(random_state=state())).all()
    assert basic.normal(name="x").name == "x"
    with pytest.raises(TypeError, match="beta_rv: missing a required argument: 'beta'; its parameters are"):
        basic.beta(1.0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        basic.normal(std=1.0)


# -- the op ------------------------------------------------------------------------------------------------------------


def test_what_is_refused():
    op = RandomVariable("normal", 0, [0, 0], "float64")
    with pytest.raises(TypeError, match="Parameter ndims_params"):
        RandomVariable("normal", 0, 0, "float64")
    with pytest.raises(TypeError, match="Parameter size"):
        op(0, 1, size={1, 2})
    with pytest.raises(TypeError, match="Parameter size"):
        op(0, 1, size=(1.5,))
    with pytest.raises(TypeError, match="dtype"):
        RandomVariable("normal", 0, [0, 0])(0, 1)
    with pytest.raises(TypeError, match="random state"):
        op(0, 1, rng=1)
    with pytest.raises(TypeError, match="2 parameters, and 1"):
        op(0)
    with pytest.raises(ValueError, match="known only at run time"):
        op(0, 1, size=T.lvector())
    with pytest.raises(ShapeError, match="Size and parameters must agree"):
        Constant(size=(3,)).eval()
    with pytest.raises(ValueError, match="ndim_supp must be greater than 0"):
        default_shape_from_params(0, [])
    with pytest.raises(ValueError, match="rep_param_idx"):
        default_shape_from_params(1, [T.scalar()])


class ConstantRV(RandomVariable):
    """A distribution of a user's, whose function forgets the size."""

    name = "constant"
    ndim_supp = 0
    ndims_params = ()
    dtype = "int64"

    @classmethod
    def rng_fn(cls, rng, size):
        return np.array([7])


Constant = ConstantRV()


def test_a_node_is_made_again_from_its_inputs():
    node = basic.gamma(2.0, [1.0, 4.0], size=(3, 2), dtype="float32", rng=shared_state()).owner
    again = node.op.make_node(*node.inputs)
    assert again.outputs[1].type == node.outputs[1].type == T.TensorType("float32", (False, False))
    assert node.inputs[4].eval().tolist() == [1.0, 0.25]
    assert RandomVariable("r", 0, ()).make_node(None, None, 1).outputs[1].type.dtype == T.all_dtypes[1]
    assert str(node.op) == "gamma_rv"


def test_ops_are_equal_and_pickled_by_what_they_are():
    assert basic.NormalRV() == basic.normal != basic.UniformRV()
    assert basic.NormalRV(inplace=True) != basic.normal
    for op in (basic.normal, basic.choice, basic.multivariate_normal):
        assert pickle.loads(pickle.dumps(op)) == op


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "DebugMode"])
def test_a_state_that_may_be_overwritten(mode):
    s = random_state_type("s")
    op = RandomVariable("normal", 0, [0, 0], "float64")
    after, numbers = op.make_node(s, (3,), None, 0.0, 1.0).outputs
    kept, own = state(), state()
    f = theano.function([In(s, mutable=True)], [after, numbers], mode=mode, accept_inplace=True)
    g = theano.function([s], numbers, mode=mode)
    if mode == "FAST_RUN":
        (node,) = [n for n in f.maker.fgraph.toposort() if isinstance(n.op, RandomVariable)]
        assert node.op.inplace
        assert node.op.destroy_map == {0: [0]}
    assert (f(own)[1] == g(kept)).all()
    assert (g(kept) == g(kept)).all()
    assert random_state_type.values_eq(kept, state())
    if mode == "FAST_RUN":
        assert not random_state_type.values_eq(own, state())


def test_derivatives_are_undefined():
    mean = T.dvector("mean")
    out = basic.normal(mean, 1.0, size=mean.shape, rng=shared_state())
    with pytest.raises(NullTypeGradError):
        theano.grad(out.sum(), mean)
    with pytest.raises(NullTypeGradError):
        theano.grad(out.sum(), out.owner.inputs[0])
    x = T.dvector("x")
    noisy = (x * basic.normal(size=x.shape, rng=shared_state())).sum()
    assert (theano.function([x], theano.grad(noisy, x))(np.ones(4)) == state().normal(size=4)).all()
    assert out.owner.op.R_op(out.owner.inputs, [None] * 5) == [None, None]


def test_numbers_are_not_folded():
    f = theano.function([], basic.normal(0.0, 1.0, rng=shared_state()))
    assert any(isinstance(n.op, RandomVariable) for n in f.maker.fgraph.toposort())


def test_observed():
    rv = basic.normal(np.zeros(3), 1.0)
    val = np.array([1.0, 2.0, 3.0])
    out = observed(rv, val)
    assert isinstance(out.owner.op, Observed)
    assert out.eval().tolist() == val.tolist()
    assert observed(None, val).owner.inputs[0].data is None
    with pytest.raises(TypeError, match="is no value of"):
        observed(rv, np.ones((3, 3)))
    x = T.dvector("x")
    with pytest.raises(NullTypeGradError):
        theano.grad(observed(rv, x).sum(), x)
    assert theano.function([x], observed(rv, x).shape[0])(val) == 3


# -- parameters that are broadcast -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shapes", "ndims"),
    [([(3,), ()], [0, 0]), ([(3,), (2, 3, 3)], [1, 2]), ([(4, 1, 3), (2, 3, 3)], [1, 2]), ([(), (5, 2)], [0, 1]), ([(0, 3), (1, 3, 3)], [1, 2])],
)
def test_broadcast_params(shapes, ndims):
    arrays = [np.arange(float(np.prod(s))).reshape(s) for s in shapes]
    batch = np.broadcast_shapes(*(s[: len(s) - n] for s, n in zip(shapes, ndims)))
    wanted = [np.broadcast_to(a, (*batch, *a.shape[a.ndim - n :])) for a, n in zip(arrays, ndims)]
    variables, values = given(arrays, "variables")
    symbolic = theano.function([*values], broadcast_params(variables, ndims))(*values.values())
    lengths = params_broadcast_shapes([v.shape for v in variables], ndims)
    measured = [theano.function([*values], T.stack(list(s)) if s else T.zeros(0), on_unused_input="ignore")(*values.values()) for s in lengths]
    for w, a, b, n in zip(wanted, broadcast_params(arrays, ndims), symbolic, measured, strict=True):
        assert w.shape == a.shape == b.shape == tuple(n)
        assert (w == a).all()
        assert (w == b).all()


def test_parameters_that_do_not_fit():
    with pytest.raises(ValueError, match="broadcast"):
        broadcast_params([np.ones((2, 3)), np.ones((3, 3))], [0, 0])
    with pytest.raises(ValueError, match="but one draw takes"):
        params_broadcast_shapes([(), (2, 2)], [1, 2], use_theano=False)


# -- rules that rearrange parameters -----------------------------------------------------------------------------------

#: So narrow that the parameters can be read off the numbers.
NARROW = 1e-9
M = np.arange(12.0).reshape(3, 4)


def lifted(rule, build, mean, size, std=NARROW, op=basic.normal, forms=("constants", "variables")):
    """Return the graph of numbers rearranged, before and after a rule, and what each is worth."""
    found = []
    for form in forms:
        variables, values = given((mean, np.asarray(std)), form)
        out = build(op(*variables, size=size, rng=shared_state()))
        plain = theano.function([*values], out, mode="FAST_COMPILE")
        rewritten = theano.function([*values], out, mode=theano.compile.Mode("py", EquilibriumOptimizer([rule], max_use_ratio=100)))
        top = rewritten.maker.fgraph.outputs[0].owner
        found.append(isinstance(top.op, RandomVariable))
        a, b = plain(*values.values()), rewritten(*values.values())
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, atol=1e-6)
    assert len(set(found)) == 1
    return found[0]


@pytest.mark.parametrize(
    ("mean", "size", "order", "moves"),
    [
        (M, None, (1, 0), True),
        (M, None, ("x", 1, "x", 0), True),
        (M, (3, 4), (1, 0), True),
        (M, (2, 3, 4), (0, 2, 1), True),
        (M, (5, 2, 3, 4), (1, 0, 2, 3), True),
        (M, (5, 2, 3, 4), (1, "x", 0, 3, "x", 2), True),
        (M, (2, 3, 4), (1, 0, 2), False),
        (M, (2, 3, 4), (2, 1, 0), False),
        (np.arange(4.0), (3, 4), (1, 0), False),
        (np.array(2.0), (3, 4), (1, 0), True),
        (np.array(2.0), None, ("x", "x"), True),
        (np.arange(3.0).reshape(1, 3), None, (1,), True),
        (np.arange(3.0).reshape(1, 3), (1, 3), (1,), True),
    ],
)
def test_dimensions_are_lifted(mean, size, order, moves):
    assert lifted(local_dimshuffle_rv_lift, lambda x: x.dimshuffle(order), mean, size) == moves


@pytest.mark.parametrize("std", [NARROW, np.full(4, NARROW), np.full((3, 1), NARROW)])
def test_parameters_of_fewer_dimensions_are_lifted(std):
    assert lifted(local_dimshuffle_rv_lift, lambda x: x.T, M, None, std)
    assert lifted(local_subtensor_rv_lift, lambda x: x[1:, 2], M, None, std)


@pytest.mark.parametrize("size", [None, (3, 4), (2, 3, 4)])
@pytest.mark.parametrize(
    "index",
    [0, slice(1, None), slice(None, None, -1), (-1, slice(0, 1)), [0, 1, 1], (slice(None), [1, 0]), ([0, 1], [1, 1]), slice(0, 0), np.array([True, False, True]), (1, 2)],
    ids=str,
)
def test_indexes_are_lifted(index, size):
    if size and len(size) == 3 and isinstance(index, np.ndarray):
        index = index[:2]
    assert lifted(local_subtensor_rv_lift, lambda x: x[index], M, size)


def test_a_parameter_that_is_stretched_is_indexed():
    assert lifted(local_subtensor_rv_lift, lambda x: x[2], np.array([5.0]), (4,))
    assert lifted(local_subtensor_rv_lift, lambda x: x[1, 2], np.arange(2.0).reshape(2, 1), (2, 3))
    assert lifted(local_subtensor_rv_lift, lambda x: x[[2, 1]], np.array(5.0), (4,))


def test_symbolic_index_is_lifted():
    i, mean = T.lscalar(), T.dmatrix()
    out = basic.normal(mean, NARROW, rng=shared_state())[i, :2]
    f = theano.function([i, mean], out, mode=theano.compile.Mode("py", EquilibriumOptimizer([local_subtensor_rv_lift], max_use_ratio=100)))
    assert isinstance(f.maker.fgraph.outputs[0].owner.op, RandomVariable)
    np.testing.assert_allclose(f(2, M), M[2, :2], atol=1e-6)


@pytest.mark.parametrize("rule", [local_dimshuffle_rv_lift, local_subtensor_rv_lift])
def test_what_is_not_lifted(rule):
    build = (lambda x: x.T) if rule is local_dimshuffle_rv_lift else (lambda x: x[:1])
    assert lifted(rule, build, M, None)
    vectors = lambda m, s, **kw: basic.multivariate_normal(m, NARROW * np.eye(4), **kw)
    assert not lifted(rule, build, M, None, op=vectors, forms=("constants",))
    categories = lambda m, s, **kw: basic.categorical(np.eye(3)[[[0, 2], [1, 1]]], **kw)
    assert not lifted(rule, build, M, None, op=categories, forms=("constants",))
    # Somebody else reads the numbers.
    numbers = basic.normal(M, 1.0, rng=shared_state())
    outs = [build(numbers), numbers.sum(axis=1)]
    mode = theano.compile.Mode("py", EquilibriumOptimizer([rule], max_use_ratio=100))
    a, b = theano.function([], outs, mode=mode)()
    wanted = state().normal(M, 1.0)
    assert (a == (wanted.T if rule is local_dimshuffle_rv_lift else wanted[:1])).all()
    np.testing.assert_allclose(b, wanted.sum(axis=1))


def test_the_state_after_a_lifted_draw_goes_on():
    streams = RandomStream(5)
    out = streams.normal(M, 1.0).T
    f = theano.function([], out, mode=theano.compile.Mode("py", EquilibriumOptimizer([local_dimshuffle_rv_lift], max_use_ratio=100)))
    (node,) = [n for n in f.maker.fgraph.toposort() if isinstance(n.op, RandomVariable)]
    r = np.random.RandomState(int(np.random.RandomState(5).randint(2**30)))
    assert (f() == r.normal(M.T, 1.0)).all()
    assert (f() == r.normal(M.T, 1.0)).all()


@pytest.mark.parametrize("name", [*DISTRIBUTIONS, *VECTORS])
def test_shapes_are_lifted(name):
    op = getattr(basic, name)
    parameters = DISTRIBUTIONS[name][1] if name in DISTRIBUTIONS else VECTORS[name][1]
    batch = {"multinomial": (3, 2), "dirichlet": (2,), "multivariate_normal": (2,)}.get(name, ())
    for size in (None, (2, *np.broadcast_shapes(*map(np.shape, parameters))) if name in DISTRIBUTIONS else (2,)):
        out = op(*parameters, size=size, rng=shared_state())
        node = lift_rv_shapes(out.owner)
        assert node.inputs[1].data.size == 0
        whole = out.eval().shape
        assert (node.outputs[1].eval() == out.eval()).all()
        for p, n in zip(node.inputs[3:], op.ndims_params, strict=True):
            shape = p.eval().shape
            assert shape[: len(shape) - n] == (whole if not op.ndim_supp else (*(size or ()), *batch))
    assert lift_rv_shapes(T.dvector().sum().owner) is False


# -- streams -----------------------------------------------------------------------------------------------------------


def test_streams_have_states_of_their_own():
    streams = RandomStream(234)
    out = [streams.normal(size=2), streams.uniform(0, [1, 2], size=(3, 2)), streams.choice(5, size=2), streams.permutation(4)]
    f = theano.function([], out)
    seeds = np.random.RandomState(234)
    states = [np.random.RandomState(int(seeds.randint(2**30))) for _ in out]
    draws = [lambda r: r.normal(size=2), lambda r: r.uniform(0, [1, 2], (3, 2)), lambda r: r.choice(5, 2), lambda r: r.permutation(4)]
    for _ in range(3):
        for got, draw, r in zip(f(), draws, states, strict=True):
            assert (got == draw(r)).all()
    assert streams.updates() == streams.state_updates
    assert [v.rng for v in out] == [s for s, _ in streams.state_updates]
    streams.seed(234)
    first = f()
    streams.seed()
    assert all((a == b).all() for a, b in zip(first, f(), strict=True))
    after = streams.normal(size=2)
    assert after.rng.get_value().uniform() != out[0].rng.get_value().uniform()


def test_streams_of_a_namespace():
    class Mine:
        steady = Constant
        number = 3

    streams = RandomStream(1, namespace=Mine)
    assert streams.steady(size=1).eval() == 7
    for name in ("normal", "number", "nothing"):
        with pytest.raises(AttributeError, match=name):
            getattr(streams, name)
    with pytest.raises(AttributeError, match="nothing"):
        RandomStream(1).nothing
    with pytest.raises(TypeError, match="rng"):
        RandomStream(1).normal(rng=randomstate_constructor(state()))
    with pytest.raises(AttributeError, match="as_tensor_variable"):
        RandomStream(1).as_tensor_variable
