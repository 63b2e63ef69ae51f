"""How a replacement is made to fit, and what parts of a node are computed in."""

from __future__ import annotations

import numpy as np
import pytest

import theano.tensor as T
from theano import scalar as scal
from theano.tensor.elemwise import functions as F
from theano.tensor.rules.predicates import combine, conform
from theano.tensor.type import TensorType

v, m, number = T.dvector("v"), T.dmatrix("m"), scal.float64("number")


@pytest.mark.parametrize("new, old", [(number, v), (v, number), (None, v), (number, number), (T.zvector(), v), (m, v)])
def test_what_cannot_be_made_to_fit(new, old):
    assert conform(new, old) is None


@pytest.mark.parametrize("new", [v, T.fvector(), T.lvector(), T.dscalar(), T.constant(np.float32(2)), m])
def test_what_fits_is_of_the_old_type(new):
    old = F.add(m, v)
    assert conform(new, old).type == old.type


def test_a_complex_number_takes_a_real_one():
    assert conform(v, F.add(T.zvector(), v)).type.dtype == "complex128"


@pytest.mark.parametrize("op, numpy_op", [(F.add, np.add), (F.mul, np.multiply)])
@pytest.mark.parametrize("whole", ["int8", "int64", "float32", "float64"])
def test_parts_are_computed_in_the_dtype_of_the_whole(op, numpy_op, whole):
    a, b = (TensorType("int8", (False,))(name) for name in "ab")
    made = combine(op, [a, b], whole)
    assert made.type.dtype == whole
    values = np.array([100, -100, 7], "int8")
    with np.errstate(over="ignore"):
        assert np.array_equal(made.eval({a: values, b: values}), numpy_op(values.astype(whole), values.astype(whole)))
    assert combine(op, [a], whole) is a
