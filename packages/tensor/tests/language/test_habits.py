"""What older programs do with variables and expressions, each as its documentation has it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import theano
import theano.scalar as ts
import theano.tensor as T
from theano.compile import get_default_mode
from theano.tensor.blas.routines import Gemv


def test_a_known_gradient_that_is_a_number_stands_for_an_array_of_it():
    x = T.dmatrix("x")
    y = T.exp(x)
    g = theano.grad(None, x, known_grads={y: T.constant(2.0)})
    value = np.array([[0.0, 1.0]])
    np.testing.assert_allclose(theano.function([x], g)(value), 2 * np.exp(value))
    with pytest.raises(TypeError, match="has 1 dimensions, the variable 2"):
        theano.grad(None, x, known_grads={y: T.dvector()})


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_the_reverse_of_a_variable_with_a_name(ndim):
    x = T.TensorType("float64", (False,) * ndim)("x")
    assert T.transpose(x).name == x.T.name == "x.T" and x.name == "x"
    assert T.transpose(T.TensorType("float64", (False,) * ndim)()).name is None
    value = np.arange(24.0).reshape([24, 1, 1][:ndim])
    np.testing.assert_array_equal(theano.function([x], x.T)(value), value.T)


def test_scalar_constants_become_tensors_that_can_be_derived():
    s = ts.constant(56.0)
    t = T.as_tensor_variable(s)
    assert t.owner.op is T.tensor_from_scalar and theano.grad(t, s).eval() == 1.0
    assert (t + 1).eval() == 57.0


def test_one_op_for_each_dtype_of_arange():
    start, stop = T.iscalars("start", "stop")
    ops = [T.arange(start, stop, 2).owner.op, T.arange(start, 9, dtype="int64").owner.op]
    assert ops[0] is ops[1] and T.arange(start, 9.0).owner.op is not ops[0]


@pytest.mark.parametrize("dtype", ["float64", "complex64", "int32", "uint8", "bool"])
def test_where_nothing_is_nan(dtype):
    x = T.matrix(dtype=dtype)
    value = np.array([[0, 1, 1]]).astype(dtype)
    if np.dtype(dtype).kind in "fc":
        value[0, 1:] = np.nan, np.inf
    for ours, theirs in ((T.isnan, np.isnan), (T.isinf, np.isinf), (np.isnan, np.isnan)):
        y = ours(x)
        assert y.dtype == "bool"
        np.testing.assert_array_equal(theano.function([x], y)(value), theirs(value))
    computed = isinstance(T.isnan(x).owner.op, T.Elemwise)
    assert computed == (dtype not in T.discrete_dtypes)


@pytest.mark.parametrize("reps, ndim", [([2, 3], 1), (2, 1), ([2], 1), (T.iscalar(), 1), (T.ivector(), 1)])
def test_tile_drops_no_dimension(reps, ndim):
    with pytest.raises(ValueError, match="ndim"):
        T.tile(T.dmatrix("m"), reps, ndim)


def test_an_axis_given_twice_to_argmax_counts_once():
    x = T.dmatrix()
    value = np.random.default_rng(0).normal(size=(3, 4))
    largest, place = theano.function([x], T.max_and_argmax(x, axis=[0, 0]))(value)
    np.testing.assert_array_equal(largest, value.max(0))
    np.testing.assert_array_equal(place, value.argmax(0))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("left, right", [("matrix", "vector"), ("vector", "matrix"), ("vector", "vector")])
def test_who_asks_for_blas_by_name_gets_its_ops(dtype, left, right):
    x, y = getattr(T, left)(dtype=dtype), getattr(T, right)(dtype=dtype)
    mode = get_default_mode().including("BlasOpt", "InplaceBlasOpt")
    f, g = theano.function([x, y], T.dot(x, y), mode=mode), theano.function([x, y], T.dot(x, y))
    assert sum(node.op == Gemv(True) for node in f.maker.fgraph.apply_nodes) == 1
    assert not any(isinstance(node.op, Gemv) for node in g.maker.fgraph.apply_nodes)
    rng = np.random.default_rng(1)
    for n in (0, 1, 5):
        a, b = (rng.normal(size=(n,) * v.ndim).astype(dtype) for v in (x, y))
        np.testing.assert_allclose(f(a, b), np.dot(a, b), rtol=1e-5)
        np.testing.assert_allclose(f(a[::-1], b[::-1]), g(a[::-1], b[::-1]), rtol=1e-5, atol=1e-6)


def test_a_linker_makes_functions_of_the_graph_that_it_accepted_last():
    x = T.dvector()
    linker = theano.PerformLinker()
    with pytest.raises(ValueError, match="accept"):
        linker.make_function()
    linker.accept(theano.FunctionGraph([x], [x * 2]))
    np.testing.assert_array_equal(linker.make_function()(np.ones(2)), [2.0, 2.0])
    y = T.exp(x) + 1
    made = theano.function([x], y, mode=theano.Mode(theano.OpWiseCLinker(), None)).maker.linker.make_all()
    assert [str(node.op) for node in made[-1]][-1] == str(y.owner.op) and len(made) == 5
    made[1][0].value = np.zeros(2)
    made[3][0]()
    np.testing.assert_array_equal(made[2][0].value, [2.0, 2.0])


def test_flags_of_a_programs_own_may_be_set_before_it_adds_them(tmp_path):
    program = (
        "from theano.configparser import AddConfigVar, IntParam, ConfigParam, config\n"
        "AddConfigVar('mine.depth', 'How deep.', IntParam(1))\n"
        "AddConfigVar('mine.kind', 'Which.', ConfigParam('bad', filter={'good': 'good'}.__getitem__))\n"
        "print(config.mine.depth, config.mine.kind, config.floatX)\n"
    )
    environment = {**os.environ, "THEANO_FLAGS": "mine.depth=3,floatX=float32,mine.kind=good", "THEANORC": str(tmp_path / "none")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.split("\n")[0] == "3 good float32", done.stderr
    for wrong in ("floatx=float32", "gcc.cxxflag=x", "depth=3"):
        environment["THEANO_FLAGS"] = wrong
        done = subprocess.run([sys.executable, "-c", "import theano"], env=environment, capture_output=True, text=True)
        assert "UnknownFlagError" in done.stderr
