"""Ops on parts of sparse matrices, as older programs call them, against SciPy."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import scipy.sparse as sp

import theano
import theano.tensor as T

# As programs write it, which no module of ours may.
opt = importlib.import_module("theano.sparse.opt")
RNG = np.random.default_rng(0)
MATRIX = sp.random(5, 4, 0.4, "csc", random_state=1)
DENSE, OTHER, ROW = RNG.normal(size=(4, 3)), RNG.normal(size=(5, 4)), RNG.normal(size=4)


def parts(layout):
    """Return a matrix in a layout, and its parts: numbers, places, where each column or row begins."""
    matrix = MATRIX.asformat(layout)
    return matrix, [matrix.data, matrix.indices, matrix.indptr]


def called(op, *values):
    """Return what an op gives for values."""
    inputs = [T.as_tensor_variable(v).type() for v in values]
    return theano.function(inputs, op(*inputs))(*values)


def test_products():
    for layout, op, rows in (("csc", opt.sd_csc, [5]), ("csr", opt.sd_csr, [])):
        matrix, of_parts = parts(layout)
        np.testing.assert_allclose(called(op, *of_parts, *rows, DENSE), matrix @ DENSE)
    _, of_parts = parts("csc")
    z = RNG.normal(size=(5, 3))
    for op in (opt.usmm_csc_dense, opt.usmm_csc_dense_inplace):
        got = called(op, np.array([[2.0]]), *of_parts, 5, DENSE, z.copy())
        np.testing.assert_allclose(got, z + 2 * (MATRIX @ DENSE))


@pytest.mark.parametrize("name", ["mul_s_d_csc", "mul_s_d_csr", "mul_s_v_csr", "structured_add_s_v_csr"])
def test_numbers_of_the_same_places(name):
    matrix, of_parts = parts(name[-3:])
    other = OTHER if "_d_" in name else ROW
    places = np.broadcast_to(other, (5, 4))[matrix.tocoo().row, matrix.tocoo().col]
    wanted = matrix.data + places if "add" in name else matrix.data * places
    np.testing.assert_allclose(called(getattr(opt, name), *of_parts, other), wanted)


def test_a_product_at_given_places():
    matrix, of_parts = parts("csr")
    x, y = RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3))
    data, indices, indptr = called(opt.sampling_dot_csr, x, y, *of_parts, 4)
    np.testing.assert_allclose(data, matrix.data * (x @ y.T)[matrix.tocoo().row, matrix.tocoo().col])
    assert indices.tolist() == matrix.indices.tolist() and indptr.tolist() == matrix.indptr.tolist()


def test_the_derivative_of_a_matrix_with_respect_to_its_numbers():
    _, of_parts = parts("csc")
    places = np.array([5, 4], "int32")
    slopes = RNG.normal(size=MATRIX.nnz)
    got = called(opt.csm_grad_c, *of_parts, places, slopes, *of_parts[1:], places)
    np.testing.assert_allclose(got, slopes)


def test_zeros_are_taken_out():
    older = importlib.import_module("theano.sparse.sandbox.sp2")
    x = theano.sparse.csc_matrix("x", dtype="float64")
    stored = MATRIX.copy()
    stored.data[:2] = 0
    found = theano.function([x], older.eliminate_zeros(x))(stored)
    assert isinstance(older.eliminate_zeros, older.EliminateZeros) and found.nnz == stored.nnz - 2
    np.testing.assert_array_equal(found.toarray(), stored.toarray())
