"""Broadcast patterns: programs in which one decides. test_conformance.py has those of Theano 1.0.5, call by call."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest
from oracle import run

import theano
import theano.tensor as T
from tools.portion import portion

# -- an index with None ------------------------------------------------------------------------------------------------

ENTRIES = (None, slice(None), slice(0, 1), slice(None, None, -1), 0, -1, np.int8(0))


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_an_index_with_none_reads_and_writes_what_numpy_does(ndim: int) -> None:
    """Dimensions may be fewer: lengths of 1 at the end that the index does not name."""
    rng = np.random.default_rng(ndim)
    for flags in itertools.product((False, True), repeat=ndim):
        value = rng.normal(size=[1 if one else k + 2 for k, one in enumerate(flags)])
        x = T.TensorType("float64", flags)()
        indices = [i for n in range(1, ndim + 2) for i in itertools.product(ENTRIES, repeat=n) if None in i]
        for index in portion((i for i in indices if len(i) - i.count(None) <= ndim), 3 * ndim):
            part = x[index]
            left = flags[len(index) - index.count(None) :]
            wanted = value[index]
            assert part.ndim == wanted.ndim - (len(left) if all(left) else 0)
            np.testing.assert_array_equal(run(part, {x: value}).ravel(), wanted.ravel())
            if all(e is None or e == slice(None) for e in index):
                continue  # all of a variable is not written to
            changed = value.copy()
            changed[index] += 2 * wanted
            np.testing.assert_array_equal(run(T.inc_subtensor(part, 2 * part), {x: value}), changed)
            changed[index] = 7
            np.testing.assert_array_equal(run(T.set_subtensor(part, 7.0), {x: value}), np.where(changed == 7, 7, value))


# -- results of length 1 where types are compared ------------------------------------------------------------------------

ONES: dict[str, Any] = {
    "stack": lambda y, one: T.stack([y.sum()]),
    "stack of numbers": lambda y, one: T.stack([1.0]) + y.sum(),
    "list": lambda y, one: T.as_tensor_variable([y.sum()]),
    "arange": lambda y, one: T.cast(T.arange(1), "float64") + y[0],
    "eye": lambda y, one: T.eye(1),
    "tri": lambda y, one: T.tri(1) * y[0],
    "identity_like": lambda y, one: T.identity_like(T.ones((1, 1))),
    "tril": lambda y, one: T.tril(y[:1].dimshuffle(0, "x")),
    "split": lambda y, one: T.split(y, [1, 2], 2)[0],
    "shape": lambda y, one: T.cast(y.shape, "float64"),
    "specify_shape": lambda y, one: T.specify_shape(y[:1], (1,)),
    "categorical_crossentropy": lambda y, one: T.nnet.categorical_crossentropy(T.nnet.softmax(y), T.zeros(one.shape, "int32")),
    "array and slice": lambda y, one: T.outer(y, y)[np.array([0]), 0:1],
    "two arrays": lambda y, one: y.dimshuffle("x", 0)[np.array([0]), np.array([1])],
    "list of a number": lambda y, one: y[[T.cast(y[0], "int64")]],
    "from the end": lambda y, one: T.as_tensor_variable(np.ones((1, 3)))[-1:, 0:1] * y[0],
    "unravel_index": lambda y, one: T.cast(T.unravel_index(T.constant([1]), (2, 3))[1], "float64"),
    "nonzero": lambda y, one: T.cast(T.nonzero(y[:1], return_matrix=True), "float64"),
    "diagonal": lambda y, one: T.diagonal(y[:1].dimshuffle("x", "x", 0), 0, 0, 1),
}  # fmt: skip


def test_results_of_length_1_go_wherever_types_are_compared() -> None:
    """Updates, states of loops, both ways of a choice, arguments of graphs and replacements, in one function."""
    y, way, one = T.dvector("y"), T.iscalar("way"), T.dvector("one")
    value, outputs, updates = np.array([1.0, 2.0, 3.0]), [], []
    for make in ONES.values():
        new = make(y, one)
        kind = T.TensorType("float64", (False,) * new.ndim)
        plain = kind()
        kept = theano.shared(np.zeros((1,) * new.ndim))
        updates.append((kept, new))
        outputs += [
            theano.ifelse.ifelse(way, new, kept * 1),
            theano.OpFromGraph([plain], [plain * 2])(new) / 2,
            theano.clone(plain * 4, {plain: new}) / 4,
            theano.scan(lambda state, kept=kept: state + kept, outputs_info=[new], n_steps=2)[0][-1],
        ]
    f = theano.function([y, way, one], outputs, updates=updates, mode="FAST_COMPILE")
    found = f(value, 1, [0.0])
    for i, name in enumerate(ONES):
        for result in found[4 * i : 4 * i + 4]:
            np.testing.assert_allclose(result, updates[i][0].get_value(), err_msg=name)


def test_patterns_of_right_sides_go_through_solve() -> None:
    A = np.array([[2.0, 0, 0], [1, 2, 0], [0, 1, 2]])
    y, M = T.dvector(), T.dmatrix()
    value, W = np.array([1.0, 2, 3]), np.arange(6.0).reshape(3, 2)
    x = np.linalg.solve(A, value)
    b = y.dimshuffle(0, "x")
    for solve in (T.slinalg.solve, T.slinalg.solve_lower_triangular):
        s = solve(A, b)
        given = {y: value, M: W}
        np.testing.assert_allclose(run(s * M, given), x[:, None] * W)
        np.testing.assert_allclose(run(s.dimshuffle(0), {y: value}), x)
        np.testing.assert_allclose(run(T.grad((s * M).sum(), y), given), np.linalg.solve(A.T, W.sum(axis=1)))


# -- whole numbers as NumPy has them -------------------------------------------------------------------------------------

COUNTS = """a[:n] a[n:] a[::n] a[n] a[n:,::n] a[0,:n] a[None,:n] a[...,:n] a[:,1:n] a[[0,1],:n] a[:n,[0,1]] a[n,n] a[[n]]
    a[[n,n]] a[[n,0]] a[[n],[n]] a[[[n,0],[0,n]]] a[n,[0,n]] T.set_subtensor(a[:n],1.) T.inc_subtensor(a[n:,n],2.)
    T.set_subtensor(a[[n,0]],1.) T.zeros((n,2)) T.ones(n) T.alloc(1.,n,3) T.arange(n) T.arange(0,6,n) T.eye(n) T.tri(n)
    a.reshape((n,-1)) a.reshape([n,12]) a.reshape((4,6),ndim=n) T.repeat(a,n) T.repeat(a,n,axis=0) T.tile(a,n) T.tile(a,(n,1))
    T.roll(a,n) T.roll(a,n,axis=0) T.roll(a,n,axis=m) T.split(a,[n,2],2)[0] T.split(a,[n,4],2,axis=m)[0] a.sum(axis=m)
    a.take(n) a.take(n,axis=0) a.take([n,0],axis=m) a.flatten(m) a.flatten(n) T.flatten(a,n) T.stack([a,a],axis=m)
    T.concatenate([a,a],axis=m) T.diagonal(a,m) T.tril(a,m) T.triu(a,n) T.cumsum(a,m) a.argmax(axis=m) T.sort(a,axis=m)
    T.swapaxes(a,m,0) a.dimshuffle(m,0) T.shape_padaxis(a,m) T.shape_padleft(a,m) T.shape_padright(a,n) T.squeeze(a[:1],0*m)
    T.extra_ops.to_one_hot(T.constant([0,1]),n) T.nlinalg.matrix_power(a[:,:4],n) T.tensordot(a,a.T,m) a.norm(n)
    T.specify_shape(a,(2*n,6)) T.signal.pool.pool_2d(a,(n,n),ignore_border=True) T.moveaxis(a,m,0) a.std(axis=m)
    T.moveaxis(a,[0,m],[m,0]) T.batched_tensordot(a,a,m) T.nlinalg.norm(a,n) T.extra_ops.diff(a,m) T.argsort(a,m) T.max(a,m)
    T.nnet.abstract_conv.bilinear_upsampling(a.dimshuffle('x','x',0,1),n) T.cumprod(a,m) T.addbroadcast(a[:1],m-m)
    T.nnet.conv2d(a.dimshuffle('x','x',0,1),np.ones((1,1,2,2)),subsample=(n,n),border_mode=(m,n),filter_dilation=(m,m))"""


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    """Also arrays without dimensions: what compiled functions return."""
    a, value = T.dmatrix(), np.arange(24.0).reshape(4, 6)
    for text in COUNTS.split():
        code = compile(text, text, "eval")
        wanted = eval(code, {"T": T, "np": np, "a": a, "n": 2, "m": 1})
        values = run(wanted, {a: value})
        mixed = re.search(r"\[n,\d\]|\[0,n\]|\(2\*n,6\)", text)  # with numbers of uint64, floats to NumPy
        for kind in portion("int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()[: 7 if mixed else 8], 2):
            for as_number in (np.dtype(kind).type, lambda k, kind=kind: np.array(k, kind)):
                found = eval(code, {"T": T, "np": np, "a": a, "n": as_number(2), "m": as_number(1)})
                assert found.type.broadcastable == wanted.type.broadcastable, (text, kind)
                np.testing.assert_array_equal(run(found, {a: value}), values, err_msg=f"{text} {kind}")


def test_truth_values_bound_slices() -> None:
    a, value = T.dmatrix(), np.arange(12.0).reshape(3, 4)
    for text in "a[:True] a[True:] a[::True] a[False:] a[:False] a[0,:True] a[None,True:] a[:True,True:]".split():
        np.testing.assert_array_equal(run(eval(text, {"a": a}), {a: value}), eval(text, {"a": value}))
