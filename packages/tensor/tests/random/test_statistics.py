"""A small battery, with fixed seeds: are the numbers distributed as they should be, and independent of each other?

``nox -s random`` runs it alone, with ten times as many numbers (``THEANO_RANDOM_SCALE=10``).
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.stats as st

import theano
from theano.tensor.random import MRG_RandomStreams, PhiloxStreams, RandomStreams

N = 200_000 * int(os.environ.get("THEANO_RANDOM_SCALE", "1"))
LEAST = 1e-4
"""What is less likely than this is taken for a fault. The seeds are fixed, so that the answer never changes."""

SOURCES = {"numpy": RandomStreams, "mrg": MRG_RandomStreams, "philox": PhiloxStreams}
each = pytest.mark.parametrize("source", SOURCES)
floats = pytest.mark.parametrize("dtype", ["float32", "float64"])


def numbers(source, kind, dtype, size=(N,), seed=20261, calls=1):
    f = theano.function([], getattr(SOURCES[source](seed), kind)(size, dtype=dtype))
    return np.concatenate([f() for _ in range(calls)]).astype("float64")


def uniform_counts(cells, count):
    assert st.chisquare(np.bincount(cells, minlength=count)).pvalue > LEAST


@each
@floats
def test_uniform(source, dtype):
    u = numbers(source, "uniform", dtype)
    assert st.kstest(u, "uniform").pvalue > LEAST
    uniform_counts((u * 1000).astype(int), 1000)
    # The lower bits as well: the fraction that is left after 16 of them.
    uniform_counts((u * 2**16 % 1 * 64).astype(int), 64)


@each
@floats
def test_normal(source, dtype):
    z = numbers(source, "normal", dtype)
    assert st.kstest(z, "norm").pvalue > LEAST
    uniform_counts(np.minimum((st.norm.cdf(z) * 500).astype(int), 499), 500)
    for order, moment in ((2, 1), (3, 0), (4, 3), (6, 15)):
        spread = (np.var(z**order) / z.size) ** 0.5
        assert abs((z**order).mean() - moment) < 5 * spread


@pytest.mark.parametrize("source", ["mrg", "philox"])
@pytest.mark.parametrize("kind", ["normal", "truncated_normal"])
def test_truncated(source, kind):
    options = {"truncate": True} if kind == "normal" else {}
    x = theano.function([], getattr(SOURCES[source](3), kind)((N,), dtype="float64", **options))()
    scale = 1.0 if kind == "normal" else 1 / 0.87962566103423978
    found = st.kstest(x / scale, st.truncnorm(-2, 2).cdf)
    # Theano's method, which MRG keeps, is not exact.
    assert found.pvalue > LEAST if source == "philox" else found.statistic < 0.01


@each
def test_neighbours(source):
    """Pairs and triples fill the square and the cube; no lag is correlated."""
    u = numbers(source, "uniform", "float64")
    for dimension, cells in ((2, 64), (3, 16)):
        points = (u[: u.size // dimension * dimension].reshape(-1, dimension) * cells).astype(int)
        uniform_counts(np.ravel_multi_index(points.T, (cells,) * dimension), cells**dimension)
    centred = u - 0.5
    for lag in (1, 2, 3, 16, 64, 128, 256, 15360):
        r = (centred[:-lag] * centred[lag:]).mean() * 12 * (u.size - lag) ** 0.5
        assert abs(r) < 4.5, lag


@each
def test_orders_of_five(source):
    u = numbers(source, "uniform", "float64")
    order = np.argsort(u[: u.size // 5 * 5].reshape(-1, 5), axis=1)
    uniform_counts(np.unique(order @ 5 ** np.arange(5), return_inverse=True)[1], 120)


@each
def test_gaps_between_birthdays(source):
    """G. Marsaglia's test: of m birthdays in a year of 2^k days, spacings that occur twice are a Poisson variable."""
    m, days = 1024, 2**30  # one is expected in four years
    years = N // m
    u = numbers(source, "uniform", "float64")[: years * m].reshape(years, m)
    spacings = np.sort(np.diff(np.sort((u * days).astype("int64"), axis=1), axis=1), axis=1)
    twice = (np.diff(spacings, axis=1) == 0).sum()
    expected = years * m**3 / (4 * days)
    assert st.poisson(expected).sf(twice - 1) > LEAST
    assert st.poisson(expected).cdf(twice) > LEAST


@each
def test_ranks_of_bits(source):
    """Ranks of 32 x 32 matrices of bits."""
    count = 2000
    u = numbers(source, "uniform", "float64", (32 * count,))
    rows = (u * 2**31).astype("uint64").reshape(count, 32)
    ranks = [_rank([int(r) for r in matrix]) for matrix in rows]
    # 31 columns of 32 rows: full rank, one less, fewer.
    found = [ranks.count(31), ranks.count(30), sum(r < 30 for r in ranks)]
    full, one_less = (_probability(32, 31, rank) for rank in (31, 30))
    probabilities = np.array([full, one_less, 1 - full - one_less])
    assert st.chisquare(found, probabilities * count).pvalue > LEAST


def _probability(rows, columns, rank):
    """Return how likely a rank over two elements is."""
    terms = [(1 - 2.0 ** (i - rows)) * (1 - 2.0 ** (i - columns)) / (1 - 2.0 ** (i - rank)) for i in range(rank)]
    return 2.0 ** (rank * (rows + columns - rank) - rows * columns) * float(np.prod(terms))


def _rank(rows):
    rank = 0
    while rows:
        pivot = rows.pop()
        if pivot:
            rank += 1
            low = pivot & -pivot
            rows = [r ^ pivot if r & low else r for r in rows]
    return rank


@each
def test_calls_are_independent(source):
    f = theano.function([], SOURCES[source](7).uniform((1000,), dtype="float64"))
    calls = np.stack([f() for _ in range(N // 1000)])
    assert st.kstest(calls[:, 0], "uniform").pvalue > LEAST
    r = np.corrcoef(calls[:-1].ravel(), calls[1:].ravel())[0, 1]
    assert abs(r) * calls.size**0.5 < 4.5


@each
def test_streams_are_independent(source):
    streams = SOURCES[source](11)
    both = theano.function([], [streams.uniform((N // 10,), dtype="float64") for _ in range(10)])()
    correlations = np.corrcoef(both)[np.triu_indices(10, 1)] * (N // 10) ** 0.5
    assert np.abs(correlations).max() < 4.5
    cells = (both[0] * 32).astype(int) * 32 + (both[1] * 32).astype(int)
    uniform_counts(cells, 1024)
    # Neighbouring seeds, too.
    other = numbers(source, "uniform", "float64", (N // 10,), seed=12)
    assert abs(np.corrcoef(both[0], other)[0, 1]) * (N // 10) ** 0.5 < 4.5


def test_substreams_of_mrg_are_independent():
    f = theano.function([], MRG_RandomStreams(13).uniform((N // 20, 20), dtype="float64", nstreams=20))
    u = f()
    correlations = np.corrcoef(u.T)[np.triu_indices(20, 1)] * (N // 20) ** 0.5
    assert np.abs(correlations).max() < 4.5


@each
def test_whole_numbers(source):
    streams = SOURCES[source](17)
    n = N // 10
    success = theano.function([], streams.binomial((n,), p=0.3))()
    assert st.binomtest(int(success.sum()), n, 0.3).pvalue > LEAST
    p = np.array([0.1, 0.2, 0.3, 0.4])
    counts = theano.function([], streams.multinomial(pvals=np.tile(p, (n, 1)), n=1))().sum(axis=0)
    assert st.chisquare(counts, p * n).pvalue > LEAST
    if source != "mrg":
        uniform_counts(theano.function([], streams.random_integers((n,), 0, 9))(), 10)
        orders = theano.function([], streams.permutation((n,), 4))()
        uniform_counts(np.unique(orders @ 4 ** np.arange(4), return_inverse=True)[1], 24)
