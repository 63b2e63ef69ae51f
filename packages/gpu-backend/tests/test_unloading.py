"""Programs leave a device with the last function that needs them."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest
from compare import MODE

import theano
import theano.tensor as T
from theano.gpuarray import GpuArray, GpuKernel, asarray
from theano.gpuarray import context as contexts

VALUE = np.linspace(0.25, 1, 12, dtype="float32").reshape(3, 4)
FUNCTIONS = {"tanh": np.tanh, "sqr": np.square, "cos": np.cos, "exp": np.exp}


@pytest.fixture(autouse=True)
def nothing_is_kept(context, monkeypatch):
    monkeypatch.setattr(contexts, "PROGRAMS_KEPT", 0)
    context.trim()


def loaded(context):
    """Return how many programs are loaded, once those are gone that nobody needs."""
    gc.collect()
    context.trim()
    assert not context._dropped
    return len(context._loaded)


def make(name):
    x = T.fmatrix("x")
    return theano.function([x], getattr(T, name)(x * 3).sum(axis=1), mode=MODE)


def right(f, name):
    return np.allclose(f(VALUE), FUNCTIONS[name](VALUE * 3).sum(axis=1), rtol=1e-4)


def test_programs_go_with_their_functions(context):
    before = loaded(context)
    functions = {name: make(name) for name in FUNCTIONS}
    assert all(right(f, name) for name, f in functions.items())
    most = loaded(context)
    assert most >= before + len(FUNCTIONS)
    del functions["sqr"], functions["exp"]
    assert before < loaded(context) < most
    assert all(right(f, name) for name, f in functions.items())
    again = make("sqr")  # out of the cache of programs
    assert right(again, "sqr") and all(right(f, name) for name, f in functions.items())
    del again
    copies = {name: f.copy() for name, f in functions.items()}
    functions.clear()
    assert loaded(context) > before and all(right(f, name) for name, f in copies.items())
    copies.clear()
    assert loaded(context) == before


@pytest.mark.parametrize("another", [lambda f: pickle.loads(pickle.dumps(f)), lambda f: make("tanh")], ids=["pickle", "cache"])
def test_a_function_that_was_found_has_its_programs(context, another):
    """Its graph was not rewritten: it has the addresses by their names."""
    before = loaded(context)
    f = make("tanh")
    found = another(f)
    del f
    assert loaded(context) > before and right(found, "tanh")
    del found
    assert loaded(context) == before


def test_what_was_asked_for_is_done_first(context):
    x = T.fmatrix("x")
    y = theano.shared(VALUE, target=context.name)
    f = theano.function([x], updates=[(y, T.tanh(x * 5) + y)], mode=MODE)
    for _ in range(20):
        f(VALUE)
    del f
    loaded(context)
    np.testing.assert_allclose(y.get_value(), VALUE + 20 * np.tanh(VALUE * 5), rtol=1e-5)


def test_kernels_of_users_keep_their_program(context):
    text = "KERNEL void seven(GLOBAL_MEM ga_float *x) { x[GID_0] = 7; }"
    before = loaded(context)
    kernel = GpuKernel(text, "seven", [GpuArray])
    assert loaded(context) == before + 1
    there = asarray(np.zeros(4, "float32"))
    kernel(there, gs=4, ls=1)
    np.testing.assert_array_equal(np.asarray(there), 7)
    del kernel
    assert loaded(context) == before


def test_the_last_ones_stay(context, monkeypatch):
    monkeypatch.setattr(contexts, "PROGRAMS_KEPT", 2)
    before = loaded(context)
    for name in FUNCTIONS:
        assert right(make(name), name)
    gc.collect()
    assert before < len(context._loaded) <= before + 2
