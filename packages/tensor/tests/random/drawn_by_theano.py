"""Draws whose numbers are compared with those of Theano 1.0.5, as expressions that both of them understand.

Theano 1.0.5 (Python 3.8, NumPy 1.19) wrote what ``drawn_by_theano.json`` says::

    THEANO_FLAGS=floatX=float64 python drawn_by_theano.py > drawn_by_theano.json
"""

import itertools
import json

import numpy as np

SEEDS = (1, 2, 7, 234, 12345, 10**9, [1, 2, 3, 4, 5, 6])
DTYPES = ("float32", "float64")

#: Sizes by the ways in which programs give them; those past six numbers have fewer streams than numbers.
TUPLES = [f"({n},)" for n in (1, 2, 5, 6, 7, 8, 12, 13, 41, 400)] + ["(3, 4)", "(2, 1, 5)", "(1, 1)"]
SIZES = [*TUPLES, "(np.int64(8),)", "(np.int32(3), 5)", "(T.constant(3), 4)", "(shared(np.int64(5)), 3)"]
SIZES += ["T.constant([3, 4])", "T.stack([shared(np.int64(3)), T.constant(5)])", "shared(np.zeros((4, 3))).shape"]
#: Forms that uniform refuses, and normal takes.
MORE = ["13", "[3, 5]", "[T.constant(2), 6]", "T.constant(7)", "np.int64(9)"]
#: Where the number of dimensions has to be said.
VECTOR = "shared(np.array([3, 4])), ndim=2"
#: `nstreams` instead of a guess.
CHOSEN = ["(8,), nstreams=3", "(3, 4), nstreams=100"]

MULTINOMIAL = [f"n={n}, pvals={p}" for n in (1, 7) for p in ("P", "shared(P)", "np.tile(P, (5, 1))")]
CHOICES = [f"size={n}, replace=False, p={p}" for n in (1, 3) for p in ("P", "shared(P)")]


def mrg():
    """Return calls of methods of MRG_RandomStreams, without their dtype."""
    sizes = [*SIZES, VECTOR, *CHOSEN]
    for size in sizes:
        yield f"uniform({size}, low=-1.0, high=3.0, dtype='{{0}}')"
    for size in [*sizes, *MORE]:
        yield f"normal({size}, avg=1.0, std=2.0, dtype='{{0}}')"
        yield f"truncated_normal({size}, avg=1.0, std=2.0, dtype='{{0}}')"
    for size in [*SIZES, *CHOSEN]:
        yield f"binomial({size}, p=0.3, dtype='{{0}}')"
    vectors = "(40,), avg=T.arange(40.0), std=shared(np.arange(40.0))"
    for options in ("(41,), truncate=True", vectors, "shared(np.array([8])), ndim=1"):
        yield f"normal({options}, dtype='{{0}}')"
    for options in MULTINOMIAL:
        yield f"multinomial({options})"
    for options in CHOICES:
        yield f"choice({options})"
    yield "multinomial_wo_replacement(n=2, pvals=P)"


def numpys():
    """Return calls of methods of RandomStreams."""
    for size in ["None", "()", *SIZES, VECTOR]:
        yield f"uniform({size}, low=-1.0, high=3.0, dtype='{{0}}')"
        yield f"normal({size}, avg=1.0, std=2.0, dtype='{{0}}')"
        yield f"binomial({size}, n=9, p=0.3)"
        yield f"random_integers({size}, low=-3, high=9)"
    for size in ["()", *SIZES, VECTOR]:
        yield f"poisson({size}, lam=4.0)"
        yield f"choice({size}, a=30)"
        yield f"permutation({size}, n=5)"
        yield f"multinomial({size}, n=6, pvals=P[0])"
    yield "choice((4,), a=np.arange(5) * 2, replace=False)"
    yield "choice((9,), a=4, p=shared(P[0]) * 1)"
    yield "choice((3,), a=4, replace=False, p=T.constant(P[0]) * 1)"
    yield "normal(None, avg=np.arange(3.0), std=np.ones((2, 1)))"
    yield "uniform((2, -1), low=np.arange(3.0), high=4.0)"
    yield "random_integers(None, low=np.arange(3), high=np.array([[5], [2**40]]))"
    yield "random_integers((3, 2), low=0, high=2**40)"
    yield "multinomial(None, n=np.array([3, 8, 20]), pvals=P)"
    yield "multinomial((2, 3), n=5, pvals=P)"
    yield "multinomial(None, n=5, pvals=P.astype('float32'))"
    yield "shuffle_row_elements(np.arange(24).reshape(4, 6))"
    yield "permutation(n=7)"


P = np.array([[0.2, 0.3, 0.1, 0.4], [0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.15, 0.05]])


def cases():
    """Return pairs of a container of streams and an expression; dtypes and seeds take turns."""
    mixed = itertools.cycle(itertools.product(DTYPES, SEEDS))
    for call in mrg():
        dtype, seed = next(mixed)
        yield f"MRG_RandomStreams({seed})", call.format(dtype)
    mixed = itertools.cycle((dtype, seed) for dtype in DTYPES for seed in SEEDS[:6])
    for call in numpys():
        dtype, seed = next(mixed)
        yield f"RandomStreams({seed})", call.format(dtype)


def draws(found, names):
    """Return variables of some cases: the second draw of their streams, whose place depends on the first."""
    drawn = []
    for streams, call in found:
        container = eval(streams, dict(names))
        container.uniform((3,))
        drawn.append(eval("s." + call, dict(names, s=container, P=P, np=np)))
    return drawn


def told(first, second):
    """Return what is kept of the values of two calls: dtype, shape, some numbers, and the sum of all."""
    a, b = np.asarray(first), np.asarray(second)
    few = [*a.ravel()[:2], *a.ravel()[-2:], *b.ravel()[:1], a.astype("float64").sum(), b.astype("float64").sum()]
    return [str(a.dtype), list(a.shape), [round(float(x), 12) for x in few]]


def main():
    """Print what Theano draws, a line for each case."""
    import theano
    import theano.tensor as T
    from theano.sandbox.rng_mrg import MRG_RandomStreams
    from theano.tensor.shared_randomstreams import RandomStreams

    names = {"T": T, "shared": theano.shared, "MRG_RandomStreams": MRG_RandomStreams, "RandomStreams": RandomStreams}
    lines = []
    for case in cases():
        f = theano.function([], draws([case], names)[0])
        lines.append(json.dumps([*case, told(f(), f())]))
    print("[\n" + ",\n".join(lines) + "\n]")


if __name__ == "__main__":
    main()
