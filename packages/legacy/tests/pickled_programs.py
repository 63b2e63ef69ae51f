"""Expressions and functions that Theano 1.0.5 has pickled, for the tests of what it wrote.

Both versions import this module. Run by Theano 1.0.5 (``THEANO_FLAGS=traceback.limit=0,cxx= python3.8
pickled_programs.py``) it writes ``pickled_by_1_0_5.xz``, which holds the pickles by name.
"""

import lzma
import os
import pickle

import numpy as np

import theano
import theano.sparse as S
import theano.tensor as T
from theano.ifelse import ifelse
from theano.printing import Print
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.scan_module import until
from theano.tensor.nnet import conv, corr
from theano.tensor.shared_randomstreams import RandomStreams
from theano.tensor.signal import pool

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pickled_by_1_0_5.xz")
RNG = np.random.RandomState(0)
A, B, V, IMAGES = RNG.uniform(0.5, 1.5, (4, 5)), RNG.rand(5, 3), RNG.rand(5), RNG.rand(2, 3, 6, 6)
PLACES = np.array([2, 0, 1])


def rows(step, *args, **options):
    """Return the rows that a loop makes."""
    return theano.scan(step, *args, **options)[0]


def _taps(x):
    return {"initial": x, "taps": [-2, -1]}


def wrapped(x):
    """Return a node of an op that holds a graph."""
    a = T.dmatrix()
    return theano.OpFromGraph([a], [a * 2 + 1])(x)


PROGRAMS = {
    "map": (lambda x: T.exp(x) * 2 - x.mean(), [A]),
    "cast": (lambda x: T.cast(x * 3, "int32"), [A]),
    "slices": (lambda x: x[1:3, ::-1], [A]),
    "set": (lambda x, y: T.set_subtensor(x[0], y), [A, V]),
    "places": (lambda x, i: T.inc_subtensor(x[i, i], 2.0), [A, PLACES]),
    "mask": (lambda x: x[T.gt(x, 1).nonzero()], [A]),
    "pattern": (lambda x: T.unbroadcast(x.dimshuffle("x", 0, 1), 0), [A]),
    "diagonal": (lambda x: T.nlinalg.alloc_diag(x), [V]),
    "print": (lambda x: Print("")(x).sum(), [A]),
    "pool": (lambda x: pool.pool_2d(x, (2, 2), ignore_border=True), [IMAGES]),
    "correlation": (lambda x: corr.CorrMM("valid")(x, x[:, :, :2, :2]), [IMAGES]),
    "convolution": (lambda x: conv.conv2d(x, x[:, :, :2, :2]), [IMAGES]),
    "graph in an op": (wrapped, [A]),
    "loop": (lambda x: rows(lambda a, b: a + b, x, T.zeros_like(x[0])), [A]),
    "loop with taps": (lambda x: rows(lambda a, b: a + b, outputs_info=_taps(x), n_steps=4), [A[:2]]),
    "loop that ends": (lambda x: rows(lambda a: (a * 2, until(a.sum() > 5)), x), [A]),
    "loop over products": (lambda x, y: rows(lambda a, w: T.tanh(T.dot(a, w)), x, None, y), [A, B]),
    "gradient of a loop": (lambda x: T.grad(rows(lambda a, b: a * b, x, T.ones_like(x[0])).sum(), x), [A]),
    "shared": (lambda x: T.dot(x, theano.shared(B, "w")), [A]),
    "normal": (lambda x: RandomStreams(3).normal((4, 5), avg=x), [A]),
    "uniform by MRG": (lambda x: x + MRG_RandomStreams(3).uniform((4, 5)), [A]),
    "sparse": (lambda x, y: S.dot(S.csr_from_dense(x), y), [A, B]),
    "choice": (lambda x: ifelse(T.gt(x.sum(), 0), x, x * 2), [A]),
    "solution": (lambda x: T.slinalg.solve(T.dot(x, x.T) + 4, x), [A]),
}  # fmt: skip
#: Those of which functions are kept as well: their pickles hold the rewritten graph, too.
FUNCTIONS = ("map", "slices", "mask", "loop", "shared", "normal", "sparse")


def variables(values):
    """Return variables for values."""
    return [T.TensorType(str(v.dtype), (False,) * v.ndim)(f"v{i}") for i, v in enumerate(values)]


if __name__ == "__main__":
    written = {}
    for name, (expression, values) in PROGRAMS.items():
        inputs = variables(values)
        output = expression(*inputs)
        written[name] = pickle.dumps((inputs, output), 2)
        if name in FUNCTIONS:
            written["function: " + name] = pickle.dumps(theano.function(inputs, [output]), 2)
    x, count = T.dmatrix("x"), theano.shared(np.array(0.0), "count")
    written["updates"] = pickle.dumps(theano.function([x], x.sum() + count, updates=[(count, count + 1)]), 2)
    with open(FILE, "wb") as to:
        to.write(lzma.compress(pickle.dumps(written, 2), preset=9 | lzma.PRESET_EXTREME))
