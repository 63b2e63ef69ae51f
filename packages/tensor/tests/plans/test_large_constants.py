"""Large arrays that are made of small ones stay unmade, and no array becomes megabytes of text in the cache."""

from __future__ import annotations

import json
import os
import pickle

import numpy as np
import pytest
from forked import TENSORS

import theano
import theano.tensor as T
from theano.graph import Apply, Op
from theano.graph.canonical import MAX_BYTES, NoCanonicalForm, form_of, object_of
from theano.rewriting.merge import evaluate, foreseen_bytes

LIMIT = MAX_BYTES // 8

PROGRAM = """
import json, os, numpy as np, theano, theano.tensor as T
from theano.compile.program_cache import counts
x, v = T.dmatrix("x"), T.dvector("v")
given = T.constant(np.random.RandomState(0).rand(600, 600))

def kept():
    names = [os.path.join(folder, name) for folder, _, names in os.walk(theano.config.compiledir) for name in names]
    return sum(os.path.getsize(name) for name in names if name.endswith(".plan"))

said = {}
for name, inputs, made in [
    ("eye", [x], x + T.eye(1500)),
    ("no end", [v], (v + T.arange(10**9)).shape),
    ("many", [x], x + T.eye(300)),
    ("given", [x], x + given),
    ("of given", [x], T.dot(x, T.exp(given).T)),
    ("of given in a loop", [v], theano.scan(lambda s, c: s + T.dot(given, c), v, v)[0]),
    ("made in a loop", [v], theano.scan(lambda s: (s + T.eye(1500)).sum(), v)[0]),
]:
    before = kept(), counts.found
    theano.function(inputs, made)
    said[name] = kept() - before[0], counts.found - before[1]
print(json.dumps(said))
"""


def test_the_size_of_the_files(tmp_path):
    """The next process finds what was made; what cannot be kept small is not kept."""
    environment = {**os.environ, "THEANO_FLAGS": f"compiledir={tmp_path / 'cache'}"}
    runs = [TENSORS.run(PROGRAM, env=environment) for _ in range(2)]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr + runs[1].stderr
    first, second = (json.loads(run.stdout) for run in runs)
    assert all(size < 20_000 for size, _ in first.values()), first
    assert all(size == 0 for size, _ in second.values()), second
    for name in ("eye", "no end", "many", "given", "made in a loop"):
        assert second[name][1] >= 1, (name, second)


def has(f, op):
    return any(op in str(node.op) for node in f.maker.fgraph.toposort())


def test_both_sides_of_the_limit():
    small, large = T.arange(LIMIT), T.arange(LIMIT + 1)
    x = T.lvector("x")
    folded, unmade = (theano.function([x], x + made) for made in (small, large))
    assert not has(folded, "ARange") and has(unmade, "ARange")
    for f, n in ((folded, LIMIT), (unmade, LIMIT + 1)):
        assert (f(np.ones(n, "int64")) == np.arange(n) + 1).all()
    loaded = pickle.loads(pickle.dumps(unmade))
    assert (loaded(np.ones(LIMIT + 1, "int64")) == np.arange(LIMIT + 1) + 1).all()
    assert len(pickle.dumps(unmade)) < 20_000 and len(pickle.dumps(theano.function([x], x + T.eye(1500)[0, 0]))) < 20_000


def test_of_a_large_array_as_large_ones_are_made():
    """To fold them saves work in each call, and takes no more memory than the user's own array."""
    given = np.random.RandomState(1).rand(LIMIT + 100)
    x = T.dvector("x")
    f = theano.function([x], x + T.exp(T.constant(given))[::-1])
    assert not has(f, "Exp") and not has(f, "exp")
    np.testing.assert_allclose(f(np.zeros(len(given))), np.exp(given)[::-1], rtol=1e-14)
    outer = theano.function([x], x.sum() + T.outer(T.constant(given[:500]), T.constant(given[:500])))
    np.testing.assert_allclose(outer([2.0]), 2 + np.outer(given[:500], given[:500]), rtol=1e-14)
    assert sum(v.data.size for v in outer.maker.fgraph.variables if hasattr(v, "data")) < 2000


def test_values_with_and_without_rewriting():
    """In every mode, with large constants before, in and after a loop, and a chain that is unmade at both ends."""
    v = T.dvector("v")
    n, k = 1200, 400
    grid = T.arange(float(n))[:, None] * T.ones((1, n)) + T.eye(n)
    made = {
        "sum": T.arange(2 * LIMIT).sum(),
        "grid": (grid % 7).sum() + v.sum(),
        "row": T.tile(T.arange(3.0), LIMIT)[-4:] * v,
        "rows": T.constant(np.eye(3))[:, T.zeros((LIMIT,), "int64")].sum(axis=1) + v[:3],
        "loop": theano.scan(lambda s: (s + T.eye(k)).sum() + T.arange(LIMIT + 3).sum(), v)[0],
        "state": theano.scan(lambda s: s * 0.5 + (T.eye(k)[0] + T.arange(k) * T.ones((k, k))).sum(), None, v, n_steps=3)[0],
        "grad": T.grad((T.arange(float(2 * LIMIT)) * T.exp(v.sum())).sum(), v),
    }
    value = np.array([0.5, -1.0, 2.0, 0.25])
    modes = ["FAST_RUN", "FAST_COMPILE", theano.Mode("py", "fast_run"), theano.Mode("py", None)]
    results = [theano.function([v], list(made.values()), mode=mode)(value) for mode in modes]
    for name, *found in zip(made, *results, strict=True):
        for other in found[:-1]:
            np.testing.assert_allclose(other, found[-1], rtol=1e-12, err_msg=name)
    i = np.arange(float(n))
    np.testing.assert_allclose(results[0][1], ((i[:, None] + np.eye(n)) % 7).sum() + value.sum(), rtol=1e-12)
    assert results[0][0] == np.arange(2 * LIMIT).sum()


def test_what_nobody_can_foresee_is_computed_once():
    class Unforeseen(Op):
        __props__ = ()
        calls = 0

        def make_node(self, n):
            return Apply(self, [T.as_tensor_variable(n)], [T.dvector()])

        def perform(self, node, inputs, outputs):
            Unforeseen.calls += 1
            outputs[0][0] = np.ones(int(inputs[0]))

    x = T.dscalar("x")
    for n, stays in ((LIMIT, False), (LIMIT + 1, True)):
        Unforeseen.calls = 0
        f = theano.function([x], T.exp(Unforeseen()(n) * x))
        assert Unforeseen.calls == 1 and has(f, "Unforeseen") is stays
        np.testing.assert_allclose(f(1.0), np.full(n, np.e))


A, I = T.constant(np.arange(12.0).reshape(3, 4)), T.constant(np.array([0, 2, 2, 1, 0]))


@pytest.mark.parametrize("made", [
    T.arange(7), T.arange(0.0, 1.0, 0.3), T.eye(3, 5, 1), A[:, None] + A[:, :, None], T.outer(A[0], I), A[:, I],
    A[I], T.tri(4), T.tile(A, (2, 3)), T.repeat(A, 3, axis=0), T.diag(A[1]), T.extra_ops.to_one_hot(I, 6),
    T.concatenate([A, A]), T.dot(A.T, A), T.slinalg.kron(A, A), T.cumsum(A), T.set_subtensor(A[1:], 0.0), T.nlinalg.svd(A),
    T.fft.rfft(A), T.nnet.conv2d(A[None, None], T.ones((1, 1, 2, 2))), theano.scan(lambda c: c * A, I)[0], T.mean(A),
    T.alloc(A[0], 5, 4), T.nonzero(A)[0], T.extra_ops.bincount(I),
])  # fmt: skip
def test_foreseen_sizes(made):
    """Each node on the way, with the values of its inputs as constants: right, or not known."""
    wanted = made if isinstance(made, (list, tuple)) else [made]
    known = {}
    for node in theano.graph.traverse.toposort(wanted):
        folded = node.clone_with_new_inputs([known.get(v, v) for v in node.inputs])
        values = evaluate(folded, [v.data for v in folded.inputs])
        said = foreseen_bytes.required()(folded)
        assert said is None or said == sum(value.nbytes for value in values), (node, said)
        known.update((v, v.type.make_constant(x)) for v, x in zip(node.outputs, values, strict=True))


def test_bytes_in_a_form():
    data = bytes(MAX_BYTES)
    assert len(json.dumps(form_of(data))) < 20_000 and object_of(form_of(data)) == data
    noise = np.random.RandomState(0).bytes(MAX_BYTES)
    assert len(json.dumps(form_of(noise))) < 1.4 * MAX_BYTES and object_of(form_of(noise)) == noise
    for size in (0, 1, 1023, 1024, 1025):
        assert object_of(form_of(noise[:size])) == noise[:size]
    with pytest.raises(NoCanonicalForm, match="1,048,577 bytes"):
        form_of(data + b"x")
    for spoilt in ("", "eA", "AAAA", "é"):
        with pytest.raises(NoCanonicalForm, match="describes nothing"):
            object_of(["p", spoilt])
