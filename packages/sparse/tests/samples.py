"""Matrices to test with: formats, dtypes, shapes, orders of indices; and what the names of `theano.sparse` are by SciPy."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

FORMATS = ("csr", "csc")
DTYPES = ("float64", "float32", "int32", "complex128")
SHAPES = ((5, 4), (1, 6), (0, 3), (3, 0), (6, 6))


def matrix(format, shape=(5, 4), dtype="float64", seed=0, form="sorted", density=0.4, wide=False):
    """Return a random matrix: its numbers are at least 0.1 away from 0 and from 1, some lines are empty."""
    rng = np.random.default_rng([seed, *shape])
    there = rng.random(shape) < density
    if shape[0] > 2 and shape[1] > 2:
        there[1], there[:, 2] = False, False
    dense = np.where(there, rng.uniform(0.15, 0.85, shape) * (10 if dtype.startswith("int") else 1), 0)
    if dtype.startswith("complex"):
        dense = dense + np.where(there, 1j * rng.uniform(0.2, 0.8, shape), 0)
    made = sp.coo_matrix(dense.astype(dtype)).asformat(format)
    if form == "unsorted":
        for i in range(len(made.indptr) - 1):
            line = slice(made.indptr[i], made.indptr[i + 1])
            made.indices[line], made.data[line] = made.indices[line][::-1].copy(), made.data[line][::-1].copy()
        made.has_sorted_indices = False
    if form == "twice" and made.nnz:
        made.data = made.data / 2 if dtype.startswith("float") else made.data
        made = sp.coo_matrix(
            (np.concatenate([made.data, made.data[:1]]), (np.concatenate([made.tocoo().row, made.tocoo().row[:1]]),
             np.concatenate([made.tocoo().col, made.tocoo().col[:1]]))), shape=shape)  # fmt: skip
        lines, places = (made.row, made.col) if format == "csr" else (made.col, made.row)
        order = np.argsort(lines, kind="stable")
        ends = np.searchsorted(lines[order], np.arange((shape if format == "csr" else shape[::-1])[0] + 1))
        cls = sp.csr_matrix if format == "csr" else sp.csc_matrix
        made = cls((made.data[order], places[order], ends), shape=shape)
        made.has_canonical_format = False
    if wide:
        made.indices, made.indptr = made.indices.astype("int64"), made.indptr.astype("int64")
    return made


def dense(value):
    """Return a value as an array."""
    return np.asarray(value.toarray() if sp.issparse(value) else value)


def plain(value):
    """Return the dense form of a matrix, with SciPy none of whose routines needs indices in order."""
    return np.asarray(value.tocoo().toarray())
