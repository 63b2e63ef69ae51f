"""Numbers are arguments of a kernel: a program that differs in them alone needs no compiler."""

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
