"""Small functions of older programs: texts of variables, NaN in values, element-wise functions by name."""

from __future__ import annotations

import numpy as np
import pytest

import theano.tensor as T
from theano.graph import Op, generic
from theano.legacy.descriptions import hex_digest, min_informative_str, position_independent_str, var_descriptor
from theano.legacy.not_numbers import contains_inf, contains_nan, flatten


class Add(Op):
    __props__ = ()
    itypes, otypes = [generic, generic], [generic]


class Neg(Op):
    __props__ = ()
    itypes, otypes = [generic], [generic]


add, neg = Add(), Neg()


def test_min_informative_str():
    x, y = generic("x"), generic("y")
    named = add(x, y)
    named.name = "total"
    z = neg(named)
    assert min_informative_str(add(z, z)).splitlines() == [
        "A. Add",
        " B. Neg",
        "  C. total",
        " <B>",
    ]


def test_var_descriptor():
    x = generic("x")
    assert var_descriptor(add(x, neg(x))) == "A=Add(B=x,C=Neg(<B>))"
    assert var_descriptor(generic()) == "A=theano_var{type=Generic}"
    assert position_independent_str(x) == "theano_var{type=Generic}" and position_independent_str(3) == "3"


def test_hex_digest_tells_arrays_apart():
    a = np.arange(6.0)
    assert hex_digest(a) == hex_digest(a.copy()) != hex_digest(a.reshape(2, 3))
    assert hex_digest(a) != hex_digest(a + 1)
    assert "strides=[8]" in var_descriptor(a)


def test_what_is_no_number():
    assert contains_nan(np.array([1, np.nan])) and not contains_nan(np.array([1.0])) and not contains_nan("nan")
    assert contains_inf(np.array([-np.inf])) and not contains_inf(np.arange(3)) and not contains_inf(None)
    v = T.dvector()
    assert contains_nan(np.array([np.nan]), None, v)
    v.tag.nan_guard_mode_check = False
    assert not contains_nan(np.array([np.nan]), None, v)
    assert flatten([1, [2, (3, [4])]]) == [1, 2, 3, 4]


def test_element_wise_functions_declared_by_name():
    @T.scalar_elemwise
    def exp(a):
        """My exponential."""

    @T.scalar_elemwise(symbolname="add_inplace")
    def anything(a, b):
        """Sums."""

    assert exp == T.exp and "My exponential." in exp.__doc__ and anything == T.inplace.add_inplace
    with pytest.raises(ValueError, match="unknown scalar operation 'nonsense'"):

        @T.scalar_elemwise
        def nonsense(a):
            pass
