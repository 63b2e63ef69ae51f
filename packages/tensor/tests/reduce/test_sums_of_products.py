"""Sums of a product of matrices, which is not computed: against the unrewritten graph and against wider numbers."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import run

import theano
import theano.tensor as T

SUMS = {"rows": {"axis": 0}, "columns": {"axis": 1}, "all": {}, "kept": {"axis": -1, "keepdims": True}}


def whole_products(f):
    """The shapes are not known before the call: a product of two matrices is one whose result has two dimensions."""
    found = [node for node in f.maker.fgraph.apply_nodes if "dot" in str(node.op).lower()]
    return [node for node in found if all(v.type.ndim == 2 for v in (*node.inputs[:2], node.outputs[0]))]


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "complex128"])
@pytest.mark.parametrize("name", SUMS)
def test_the_product_is_not_computed(name, dtype):
    a, b = T.TensorType(dtype, (False, False))("a"), T.TensorType(dtype, (False, False))("b")
    out = T.dot(a, b).sum(**SUMS[name])
    functions = [theano.function([a, b], out, mode=mode) for mode in (None, "FAST_COMPILE")]
    assert not whole_products(functions[0]) and len(whole_products(functions[1])) == 1
    assert functions[0].maker.fgraph.outputs[0].type == out.type
    rng = np.random.default_rng(0)
    for n, k, m in [(5, 7, 3), (1, 4, 6), (6, 1, 1), (40, 300, 20), (0, 3, 2), (2, 0, 3), (3, 2, 0)]:
        value, other = ((rng.normal(size=s) + 1j * rng.normal(size=s)) for s in ((n, k), (k, m)))
        if "complex" not in dtype:
            value, other = value.real, other.real
        value, other = np.asfortranarray(value.astype(dtype)), other.astype(dtype)[::-1]
        wide = [v.astype("complex256" if "complex" in dtype else "longdouble") for v in (value, other)]
        exact = (wide[0] @ wide[1]).sum(**{"axis": None, **SUMS[name]})
        # Each number of the result is a sum of n * k * m terms: its error is measured by their absolute values.
        bound = (np.abs(wide[0]) @ np.abs(wide[1])).sum(**{"axis": None, **SUMS[name]})
        for result in (run(out, {a: value, b: other}), *(f(value, other) for f in functions)):
            assert result.shape == exact.shape and result.dtype == dtype
            assert (np.abs(result - exact) <= 4 * np.finfo(dtype).eps * bound).all(), (n, k, m)
    with pytest.raises(ValueError, match=r"[Ss]hape"):
        functions[0](np.ones((2, 3), dtype), np.ones((4, 2), dtype))


def test_where_it_is_computed():
    """The product is wanted anyway, is not of the dtype of its sum, or wraps around."""
    a, b, f = T.dmatrix("a"), T.dmatrix("b"), T.fmatrix("f")
    product = T.dot(a, b)
    kept = {
        "another client": [product.sum(axis=0), T.exp(product)],
        "a wider sum": [T.dot(f, f).sum(axis=0, dtype="float64")],
        "whole numbers": [T.dot(T.cast(a, "int8"), T.cast(b, "int8")).sum(axis=1)],
        "half numbers": [T.dot(T.cast(a, "float16"), T.cast(b, "float16")).sum()],
    }
    for name, outputs in kept.items():
        found = theano.function([a, b, f], outputs, on_unused_input="ignore")
        assert len(whole_products(found)) == 1, name
        value = np.random.default_rng(1).uniform(1, 90, size=(4, 4))
        given = {a: value, b: value.T, f: value.astype("float32")}
        for result, wanted in zip(found(*given.values()), run(outputs, given), strict=True):
            np.testing.assert_allclose(result, wanted, rtol=2e-3 if name == "half numbers" else 1e-6)


def test_derivatives():
    a, b, w = T.dmatrix("a"), T.dmatrix("b"), T.dvector("w")
    cost = (w * T.tanh(T.dot(a, b).sum(axis=0))).sum()
    rng = np.random.default_rng(2)
    given = {a: rng.normal(size=(4, 3)), b: rng.normal(size=(3, 5)), w: rng.normal(size=5)}
    grads = theano.grad(cost, [a, b])
    for result, wanted in zip(theano.function([a, b, w], grads)(*given.values()), run(grads, given), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-12)
