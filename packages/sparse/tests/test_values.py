"""Each op against NumPy on the dense forms: formats, dtypes, shapes, orders of indices; compiled and interpreted."""

from __future__ import annotations

import cases
import numpy as np
import pytest
import scipy.sparse
from samples import DTYPES, FORMATS, SHAPES, dense, matrix, plain

import theano
from theano import sparse as S
from theano import tensor as T
from theano.loader import module

FORMS = (("sorted", False), ("unsorted", False), ("twice", False), ("sorted", True))


def arguments(format, other, dtype):
    """Return variables by name."""
    real = dtype if dtype.startswith(("float", "complex")) else "float64"
    return {
        "x": S.matrix(format, "x", dtype), "y": S.matrix(other, "y", dtype), "d": T.matrix("d", dtype=real),
        "u": T.vector("u", dtype=real), "v": T.vector("v", dtype=real),
    }  # fmt: skip


def values(given, shape, form="sorted", wide=False):
    rng = np.random.default_rng(9)
    m, n = shape
    x, y = (matrix(given[k].format, shape, given[k].dtype, i, form, wide=wide) for i, k in enumerate("xy"))
    dtype = given["d"].dtype
    return {"x": x, "y": y, **{k: rng.uniform(0.2, 2, s).astype(dtype) for k, s in (("d", (m, n)), ("u", m), ("v", n))}}


def outputs(table, given):
    made = [expression(**given) for _, expression, _ in table]
    return [e if isinstance(e, tuple) else (e,) for e in made]


def compare(table, format, other, dtype, shapes, mode=None):
    given = arguments(format, other, dtype)
    made = outputs(table, given)
    f = theano.function(list(given.values()), [e for each in made for e in each], mode=mode, on_unused_input="ignore")
    for shape in shapes:
        for form, wide in FORMS if shape == (5, 4) else FORMS[:1]:
            inputs = values(given, shape, form, wide)
            found = iter(f(*inputs.values()))
            as_dense = {k: plain(v) if k in "xy" else v for k, v in inputs.items()}
            for (name, _, reference), variables in zip(table, made, strict=True):
                wanted = reference(**as_dense)
                for v, w in zip(variables, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
                    result = next(found)
                    assert v.type.is_valid_value(result), f"{name} of {shape}, {form}"
                    assert dense(result).shape == np.shape(w), f"{name} of {shape}, {form}"
                    tolerance = 1e-4 if v.type.dtype in ("float32", "complex64") else 1e-9
                    np.testing.assert_allclose(
                        dense(result), w, tolerance, tolerance, err_msg=f"{name} of {shape}, {form}"
                    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", FORMATS)
@pytest.mark.parametrize("format", FORMATS)
def test_linear(format, other, dtype):
    compare(cases.LINEAR, format, other, dtype, SHAPES)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", FORMATS)
@pytest.mark.parametrize("format", FORMATS)
def test_products(format, other, dtype):
    compare(cases.PRODUCTS, format, other, dtype, SHAPES)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("format", FORMATS)
def test_maps(format, dtype):
    compare(cases.MAPS, format, format, dtype, SHAPES)


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize("format", FORMATS)
def test_comparisons_and_parts(format, dtype):
    compare(cases.COMPARED + cases.PARTS, format, "csr", dtype, [(5, 4), (6, 6)])


@pytest.mark.parametrize("format", FORMATS)
def test_comparisons_at_what_only_one_stores(format):
    """Numbers that are not, that are infinite, that are stored twice or stored as 0; and matrices of no elements."""
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0])
    a, b = (g.ravel() for g in np.meshgrid(special, special))
    left, right = scipy.sparse.coo_matrix(a.reshape(4, 16)), scipy.sparse.coo_matrix(b.reshape(4, 16))
    twice = scipy.sparse.coo_matrix(([1.0, 1.0, 0.0], ([0, 0, 3], [2, 2, 1])), (4, 16))
    x, y, d = S.matrix(format, "x"), S.matrix("csr", "y"), T.dmatrix("d")
    f = theano.function([x, y, d], [v for _, expression, _ in cases.COMPARED for v in expression(x=x, y=y, d=d)])
    empty = [scipy.sparse.coo_matrix(shape) for shape in ((0, 3), (3, 0), (0, 0))]
    for one, other in ((left, right), (right, left), (twice, left), (left, twice), *zip(empty, empty, strict=True)):
        found = f(one.asformat(format), other.tocsr(), other.toarray())
        wanted = [w for _, _, numeric in cases.COMPARED for w in numeric(one.toarray(), other.toarray(), other.toarray())]
        for r, w in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(dense(r), w)


def test_comparisons_take_the_memory_of_what_is_stored():
    x, y = S.csr_dmatrix("x"), S.csr_dmatrix("y")
    f = theano.function([x, y], [S.lt(x, y), S.gt(x, y), S.neq(x, y)])
    places = ([0, 5, 999_999], [999_999, 1, 999_999])
    a, b = (scipy.sparse.coo_matrix((numbers, places), (10**6, 10**6)).tocsr() for numbers in ([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]))
    assert [r.nonzero()[0].tolist() for r in f(a, b)] == [[5], [999_999], [5, 999_999]]


@pytest.mark.parametrize("format", FORMATS)
def test_without_rules_or_compiled_code(format):
    """What SciPy computes alone, op by op."""
    mode = theano.Mode(linker="py", optimizer=None)
    table = cases.LINEAR + cases.PRODUCTS + cases.MAPS + cases.PARTS + cases.COMPARED
    compare(table, format, "csr", "float64", [(5, 4), (6, 6)], mode)


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 40, 64, 65, 130])
@pytest.mark.parametrize("format", FORMATS)
def test_numbers_of_columns(format, columns):
    """The kernels take bands of columns: each width of what is left over, in both precisions, C and Fortran order."""
    for dtype in ("float64", "float32"):
        x, d, z = S.matrix(format, "x", dtype), T.matrix("d", dtype=dtype), T.matrix("z", dtype=dtype)
        f = theano.function([x, d, z], [S.dot(x, d), S.usmm(2.0, x, d, z) if dtype == "float64" else z - S.dot(x, d)])
        rng = np.random.default_rng(columns)
        a = matrix(format, (23, 19), dtype, density=0.3)
        for order in "CF":
            b = np.asarray(rng.normal(size=(19, columns)).astype(dtype), order=order)
            c = rng.normal(size=(23, columns)).astype(dtype)
            product, added = f(a, b, c)
            np.testing.assert_allclose(product, plain(a) @ b, 1e-4, 1e-4)
            np.testing.assert_allclose(added, c + (2 if dtype == "float64" else -1) * (plain(a) @ b), 1e-4, 1e-4)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_lines_of_each_length_have_nothing_of_their_neighbours(dtype):
    """Eight numbers of a line are read at a time: those of the next line, which may be no numbers, do not count."""
    x, v = S.matrix("csr", "x", dtype), T.vector("v", dtype=dtype)
    f = theano.function([x, v], S.dot(x, v))
    rng = np.random.default_rng(3)
    for lengths in (range(21), range(20, -1, -1), [3], [9, 0, 0, 8], [40, 1, 2]):
        a, some = np.zeros((2 * len(lengths), 41), dtype), rng.integers(1, 9, 41).astype(dtype)
        for i, n in enumerate(lengths):
            a[2 * i, rng.choice(41, n, replace=False)] = rng.integers(1, 9, n)
            a[2 * i + 1, : i % 5] = np.nan if i % 2 else np.inf
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(f(scipy.sparse.csr_matrix(a), some), np.where(a != 0, a * some, 0).sum(1))


@pytest.mark.parametrize("format", FORMATS)
def test_large_enough_for_threads(format):
    x, d, v = S.matrix(format, "x", "float64"), T.dmatrix("d"), T.dvector("v")
    f = theano.function(
        [x, d, v], [S.dot(x, d), S.dot(x, v), S.true_dot(x, x.T), S.csr_from_dense(d).sum(), x + x.T.T * 2]
    )
    a = matrix(format, (700, 900), density=0.1)
    rng = np.random.default_rng(1)
    b, w = rng.normal(size=(900, 70)), rng.normal(size=900)
    p = plain(a)
    for found, wanted in zip(f(a, b, w), [p @ b, p @ w, p @ p.T, b.sum(), 3 * p], strict=True):
        np.testing.assert_allclose(dense(found), wanted, 1e-9, 1e-9)


@pytest.mark.parametrize("form", ["sorted", "unsorted", "twice"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_threads_share_rows_and_change_no_bit(dtype, form):
    """Each thread picks out, some hundreds at a time, the numbers of compressed columns that go to its rows."""
    x, d, z = S.matrix("csc", "x", dtype), T.matrix("d", dtype=dtype), T.matrix("z", dtype=dtype)
    f = theano.function([x, d, z], [S.dot(x, d), S.usmm(2.0, x, d, z)])
    rng = np.random.default_rng(4)
    a = matrix("csc", (301, 500), dtype, form=form, density=0.3)
    for columns in (16, 31, 32, 33, 70, 257):
        b, c = (rng.normal(size=(n, columns)).astype(dtype) for n in (500, 301))
        try:
            module.set_threads(1)
            alone = f(a, b, c)
        finally:
            module.set_threads(0)
        product = plain(a) @ b
        for found, same, wanted in zip(f(a, b, c), alone, (product, c + 2 * product), strict=True):
            np.testing.assert_array_equal(found, same)
            np.testing.assert_allclose(found, wanted, 1e-3, 1e-3)
