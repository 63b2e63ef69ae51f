"""TensorType: what it accepts, how it says no, which values it takes for equal."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.graph import BufferSpec
from theano.tensor.type import tolerance


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ((), "scalar"), ((False,), "vector"), ((False, True), "col"), ((True, False), "row"), ((False, False), "matrix"),
        ((False,) * 4, "4D"), ((True, True), "(True, True)"), ((True, False, False), "(True, False, False)"),
    ],
)  # fmt: skip
def test_text(pattern, text):
    assert (
        str(T.TensorType("float32", pattern))
        == f"TensorType(float32, {text})"
        == repr(T.TensorType("float32", pattern))
    )


def test_identity():
    assert T.TensorType("floatX", (False,)) == T.TensorType("float64", [0]) == T.dvector
    assert hash(T.TensorType("float64", (False,))) == hash(T.dvector)
    assert T.dvector != T.fvector and T.dvector != T.drow
    assert T.dvector.buffer_spec() == BufferSpec("float64", 1, (False,))
    assert T.dmatrix.clone(dtype="int8") == T.bmatrix
    with pytest.raises(TypeError, match="no tensor of dtype"):
        T.TensorType("datetime64[s]", ())


def test_arrays_are_taken_as_they_are():
    value = np.zeros((2, 3))
    assert T.dmatrix.filter(value) is value
    assert T.dmatrix.filter(value.T).strides == value.T.strides
    assert T.dmatrix.filter(value, strict=True) is value


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (T.dmatrix, [[1, 2], [3, 4]]), (T.dvector, (1.5, 2)), (T.dvector, np.float32([1, 2])), (T.dscalar, 3), (T.dscalar, 2.5),
        (T.fvector, [1.0, 0.5]), (T.lvector, [True, False]), (T.lvector, np.int8([1])), (T.zvector, [1.0]), (T.ivector, [3.0]),
        (T.dvector, [float("nan"), float("inf")]), (T.bscalar, 127), (T.fvector, np.float16([1])),
    ],
)  # fmt: skip
def test_what_loses_nothing_is_converted(type_, value):
    out = type_.filter(value)
    assert out.dtype.name == type_.dtype and type(out) is np.ndarray
    np.testing.assert_array_equal(out, value)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (T.fvector, np.float64([1])), (T.ivector, np.int64([1])), (T.fvector, [0.1]), (T.bscalar, 128), (T.lscalar, 0.5),
        (T.lvector, np.float64([1])), (T.dvector, [1j]), (T.bvector, [300]), (T.fscalar, np.float64(0.1)),
        (T.dvector, np.complex128([1])), (T.ivector, np.uint32([1])),
    ],
)  # fmt: skip
def test_what_may_lose_is_refused(type_, value):
    with pytest.raises(TypeError, match="precision"):
        type_.filter(value)
    assert not type_.is_valid_value(value, strict=False)


def test_downcast_on_request():
    np.testing.assert_array_equal(
        T.bvector.filter([300, -1.5], allow_downcast=True), np.array([300, -1.5]).astype("int8")
    )
    assert T.fvector.filter(np.float64([0.1]), allow_downcast=True).dtype == "float32"


def test_python_float_for_a_floatx_scalar():
    with theano.config.change_flags(floatX="float32"):
        assert T.fscalar.filter(0.1) == np.float32(0.1)
        with pytest.raises(TypeError):
            T.fscalar.filter(0.1, allow_downcast=False)
        with pytest.raises(TypeError):
            T.fvector.filter([0.1])


@pytest.mark.parametrize(
    ("value", "words"),
    [([1.0], "numpy array"), (np.float32([1]), "float32"), (np.int64([1]), "int64")],
)
def test_strict(value, words):
    with pytest.raises(TypeError, match=words):
        T.dvector.filter(value, strict=True)


def test_dimensions_are_checked():
    with pytest.raises(TypeError, match=r"Wrong number of dimensions.*expected 2, got 1 with shape \(3,\)"):
        T.dmatrix.filter(np.zeros(3))
    with pytest.raises(TypeError, match=r"dimension 0.*\(2, 3\)"):
        T.drow.filter(np.zeros((2, 3)))
    with pytest.raises(TypeError, match="variable"):
        T.dvector.filter(T.dvector("v"))
    with pytest.raises(TypeError, match="numbers"):
        T.dvector.filter(["a"])
    with pytest.raises(TypeError):
        T.dvector.filter(None)
    with pytest.raises(TypeError):
        T.dmatrix.filter([[1.0], [1.0, 2.0]])


def test_storage_is_normalised():
    swapped = np.arange(3.0).astype(">f8")
    assert T.dvector.filter(swapped).dtype.isnative
    raw = np.zeros(25, "uint8")[1:].view("f8")
    assert not raw.flags.aligned and T.dvector.filter(raw).flags.aligned
    assert type(T.dmatrix.filter(np.matrix([[1.0]]))) is np.ndarray


def test_equality_of_values():
    a = np.array([1.0, np.nan])
    assert T.dvector.values_eq(a, a.copy()) and not T.dvector.values_eq(a, a.astype("f4"))
    assert not T.dvector.values_eq(a, np.array([1.0, 2.0]))
    assert T.dvector.values_eq_approx(a, a + 1e-9) and not T.dvector.values_eq_approx(a, a + 1e-3)
    assert T.dvector.values_eq_approx(a, a + 1e-4, sloppy=1)
    assert not T.dvector.values_eq_approx(a, np.array([1.0, 2.0]))
    assert T.dvector.values_eq_approx(a, np.array([1.0, 2.0]), allow_remove_nan=True)
    assert T.dvector.values_eq_approx(a, a + 5e-4, sloppy=2)
    assert tolerance("float64", "float16").atol == 1e-3 and tolerance("int8").atol == 0


def test_shared_memory():
    a = np.zeros(4)
    assert T.dvector.may_share_memory(a, a[1:]) and not T.dvector.may_share_memory(a[:2], a[2:])


def test_variables_are_rebroadcast():
    row = T.drow("r")
    assert T.dmatrix.filter_variable(row).type == T.dmatrix
    with pytest.raises(TypeError, match="row"):
        T.drow.filter_variable(T.dmatrix("m"))
    assert T.dvector.filter_variable([1.0, 2.0]).type == T.dvector


def test_constants_have_signatures():
    one, same, other = T.constant([1.0, 2.0]), T.constant([1.0, 2.0]), T.constant([1.0, 3.0])
    assert one.signature() == same.signature() != other.signature()
    assert hash(one.signature()) == hash(same.signature())
    assert one.equals(same) and not one.equals(other)
    nan = T.constant(np.array([np.nan]))
    assert nan.equals(T.constant(np.array([np.nan])))
    assert not T.constant(np.zeros(1)).equals(T.constant(-np.zeros(1)))
    big = np.arange(1000.0)
    constant = T.constant(big)
    big[0] = 5
    assert constant.data[0] == 0
    with pytest.raises(AttributeError):
        constant.data = big
