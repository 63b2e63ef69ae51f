"""Kernels that only move elements serve any memory: the same programs on a device and on the host."""

from __future__ import annotations

import numpy as np
import pytest
from moves import CREATIONS, DTYPES, MOVES, program, values_of

import theano
import theano.tensor as T
from fake_target.plugin import counts
from fake_target.test_placement import ON_FAKE, nodes_of
from theano.tensor.device.ops import FromDevice, ToDevice

PLAIN = theano.compile.get_default_mode()


def there(v):
    return FromDevice()(ToDevice("fake")(v))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MOVES)
def test_moves(name, dtype):
    inputs, result = program(name, dtype, there)
    f = theano.function(inputs, result, mode=ON_FAKE, on_unused_input="ignore")
    plain_inputs, plain = program(name, dtype, lambda v: v)
    wanted = theano.function(plain_inputs, plain, mode=PLAIN, on_unused_input="ignore")(*values_of(dtype))
    assert nodes_of(f)["fake"], "nothing happened on the device"
    np.testing.assert_equal(f(*values_of(dtype)), wanted)


@pytest.mark.parametrize("name", CREATIONS)
def test_creations(name):
    n = T.lscalar("n")
    f = theano.function([n], there(CREATIONS[name](n)), mode=ON_FAKE)
    assert nodes_of(f)["fake"]
    np.testing.assert_array_equal(f(3), theano.function([n], CREATIONS[name](n), mode=PLAIN)(3))


def test_indices_are_read_on_the_host_and_nothing_else_is_moved():
    x, i = T.dmatrix("x"), T.lvector("i")
    f = theano.function([x, i], T.sum(T.exp(x)[i + 1]), mode=ON_FAKE)
    before = counts()
    f(np.ones((5, 3)), [0, 1])
    after = counts()
    assert (after["to"] - before["to"], after["from"] - before["from"]) == (1, 1)


def test_lengths_of_what_is_on_a_device_are_known_on_the_host():
    x = T.dmatrix("x")
    f = theano.function([x], there(x)[::2].shape, mode=ON_FAKE.excluding("local_shape_to_shape_i", "ShapeOpt"))
    before = counts()
    assert list(f(np.ones((5, 3)))) == [3, 3]
    assert counts()["from"] == before["from"]


@pytest.mark.parametrize("index", [[0, 3], [-4]])
def test_wrong_indices_are_errors_and_change_nothing(index):
    s, i = theano.shared(np.arange(6.0).reshape(3, 2)), T.lvector("i")
    f = theano.function([i], [], updates=[(s, T.inc_subtensor(there(s)[i], 1.0 + there(s)[:1, :1]))], mode=ON_FAKE)
    before = s.get_value()
    with pytest.raises(IndexError, match="out of bounds"):
        f(index)
    np.testing.assert_array_equal(s.get_value(), before)


def test_what_cannot_be_joined_says_so():
    x, y = T.dmatrices("x", "y")
    f = theano.function([x, y], T.concatenate([there(x), there(y)], axis=1), mode=ON_FAKE)
    with pytest.raises(ValueError, match="cannot join"):
        f(np.ones((2, 2)), np.ones((3, 2)))
