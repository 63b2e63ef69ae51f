"""Constants: numbers are arguments of a kernel, so another one needs no compiler; small ones are shared."""

import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.codegen.unit import compile_counts

m, v, k = T.dmatrix("m"), T.fvector("v"), T.ivector("k")
M = np.random.default_rng(3).uniform(0.5, 2, (4, 3))
V, K = M[0].astype("float32"), np.arange(5, dtype="int32")

FORMS = {
    "element-wise": (lambda c: T.exp(m * c) + c, lambda c: np.exp(M * c) + c),
    "all summed": (lambda c: ((m - c) ** 2).sum(), lambda c: ((M - c) ** 2).sum()),
    "axis 0": (lambda c: T.sum(m * c + 2 * c, axis=0), lambda c: (M * c + 2 * c).sum(0)),
    "largest": (lambda c: T.max(T.tanh(m) * c, axis=1), lambda c: (np.tanh(M) * c).max(1)),
    "mean": (lambda c: T.mean(m / c), lambda c: (M / c).mean()),
    "variance": (lambda c: T.var(m * c, axis=0), lambda c: (M * c).var(0)),
    "float32": (lambda c: T.exp(v * np.float32(c)).sum(), lambda c: np.exp(V * np.float32(c)).sum()),
    "integers": (lambda c: (k * int(8 * c) + int(4 * c)).sum(), lambda c: (K * int(8 * c) + int(4 * c)).sum()),
    "comparison": (lambda c: T.switch(m > c, m, 2 * c), lambda c: np.where(c < M, M, 2 * c)),
}


@pytest.mark.parametrize("form", FORMS)
def test_another_constant_compiles_nothing(form):
    build, want = FORMS[form]
    with theano.config.change_flags({"cache.plans": False}):
        for c in (0.375, 1.75, 2.625, -3.125):
            f = theano.function([m, v, k], build(c), on_unused_input="ignore")
            np.testing.assert_allclose(f(M, V, K), want(c), rtol=1e-5 if form == "float32" else 1e-12)
            if c == 0.375:
                before = compile_counts().compiled
    assert compile_counts().compiled == before


SMALL = [(0, None), (-3, None), (10, "int64"), (2.5, None), (-0.0, "float32"), (np.float32(1), None), ([4.0], None)]


@pytest.mark.parametrize(("value", "dtype"), SMALL)
def test_a_small_number_is_one_constant(value, dtype):
    c = T.constant(value, dtype=dtype)
    assert c is T.constant(value, dtype=dtype) and c.cached and T.constant_cache[c.signature()] is c
    named, copy = T.constant(value, name="c", dtype=dtype), pickle.loads(pickle.dumps(c))
    for other in (named, copy, c.clone()):
        assert other is not c and not other.cached and other.equals(c)
    f = theano.function([m], m * c)
    np.testing.assert_array_equal(f(M), M * np.asarray(value))
    assert c.fgraph is None


@pytest.mark.parametrize("value", [11, -10.5, np.nan, np.inf, [1, 2], [], 1j, np.True_])
def test_other_constants_are_not_kept(value):
    known = dict(T.constant_cache)
    assert T.constant(value) is not T.constant(value) and not T.constant(value).cached
    assert T.constant_cache == known


@pytest.mark.parametrize("write", [lambda c: setattr(c, "name", "mine"), lambda c: setattr(c.tag, "mine", 1)])
def test_a_number_that_was_written_to_is_no_longer_shared(write):
    c = T.constant(9.75)
    write(c)
    other = T.constant(9.75)
    assert other is not c and other.name is None and not hasattr(other.tag, "mine")
    assert T.constant(9.75) is other, "another one is"


def test_signed_zeros_and_dtypes_are_other_constants():
    kinds = [T.constant(0.0), T.constant(-0.0), T.constant(0), T.constant(0.0, dtype="float64"), T.constant([0.0])]
    assert len({id(c) for c in kinds}) == len(kinds)
