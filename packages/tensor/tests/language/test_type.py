"""TensorType: what it accepts, how it says no, which values it takes for equal."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano import scalar as scal
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
    with pytest.raises(TypeError, match="tensors of dtype 'datetime64.s.' do not exist"):
        T.TensorType("datetime64[s]", ())


@pytest.mark.parametrize("make", [T.TensorType, T.tensor])
def test_lengths_are_no_broadcast_pattern(make):
    for lengths in (s for n in range(4) for s in itertools.product((None, 1, 0, 3, np.int64(3), T.iscalar()), repeat=n)):
        pattern = tuple(type(n) is int and n == 1 for n in lengths)
        ways = [{"shape": lengths}, {"shape": list(lengths)}]
        truth = all(type(n) is int and n < 2 for n in lengths)  # 0 and 1 are truth values
        if truth:
            made = make("float64", lengths)
            assert getattr(made, "type", made) == T.TensorType("float64", tuple(map(bool, lengths)))
        for way in ways if truth else [*ways, {"broadcastable": lengths}]:
            with pytest.raises(TypeError) as caught:
                make(dtype="float64", **way)
            assert next(iter(way)) in str(caught.value) and f"Write broadcastable={pattern}." in str(caught.value)
    with pytest.raises(TypeError, match="shape= is not supported"):
        T.tensor("x", shape=(None, 3))


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
    for one_hot in (np.eye(3), np.eye(3, dtype="int64"), [[0, 1.0], [1, 0]]):  # before their dtypes
        with pytest.raises(TypeError, match=r"expected 1, got 2 .* one-hot, .*value\.argmax\(axis=1\)"):
            T.ivector.filter(one_hot)
    with pytest.raises(TypeError, match=r"got 2 with shape \(2, 2\)\.$"):
        T.ivector.filter(np.array([["a", "b"]] * 2))
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


# -- numbers that are known while the graph is built --------------------------------------------------------------------

_c, _v, _x, _row = T.constant(3.0), T.constant([1, 2, 3]), T.dvector("x"), T.drow("r")
KNOWN = {
    "python": (lambda: 3, 3), "numpy": (lambda: np.float32(2), 2), "array": (lambda: np.array(4), 4), "one element": (lambda: np.array([[4]]), 4),
    "constant": (lambda: _c, 3), "uniform": (lambda: T.constant([2.0, 2.0]), 2), "alloc": (lambda: T.alloc(3, 2, 2), 3), "fill": (lambda: T.fill(_x, 4), 4),
    "zeros": (lambda: T.zeros_like(_x), 0), "ones": (lambda: T.ones((2,)), 1), "cast": (lambda: T.cast(T.constant(3.7), "int32"), 3),
    "dimshuffle": (lambda: _c.dimshuffle("x", "x"), 3), "arithmetic": (lambda: (_c * 2 - 1) / 2, 2.5), "comparison": (lambda: T.eq(_c, 3), True),
    "switch": (lambda: T.switch(T.constant(1), _c, 0), 3), "minimum": (lambda: T.minimum(_c, 2), 2), "whole division": (lambda: T.constant(7) // 2, 3),
    "modulo": (lambda: T.constant(7) % 4, 3), "element": (lambda: _v[1], 2), "last element": (lambda: _v[-1], 3),
    "element of stack": (lambda: T.stack([_x[0], _c])[1], 3), "element of join": (lambda: T.join(0, _v, T.constant([7.5]), _v)[3], 7.5),
    "last element of join": (lambda: T.join(0, _x, _v)[-2], 2), "row": (lambda: _row.shape[0], 1), "length of a constant": (lambda: _v.shape[0], 3),
    "scalar": (lambda: scal.constant(3), 3), "from a scalar": (lambda: T.tensor_from_scalar(scal.constant(2)), 2), "to a scalar": (lambda: T.scalar_from_tensor(_c), 3),
    "rebroadcast": (lambda: T.unbroadcast(T.constant([3.0]), 0), 3), "reshape": (lambda: T.constant([3.0]).reshape(()), 3), "flatten": (lambda: _c.flatten(), 3),
    "specified shape": (lambda: T.specify_shape(T.fill(_x, 4), (2,)), 4),
    "deep copy": (lambda: theano.compile.deep_copy_op(_c), 3), "view": (lambda: theano.compile.view_op(_c), 3),
    "assertion that holds": (lambda: T.opt.Assert()(_c, T.constant(1), _c > 2), 3),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_numbers_that_are_known(name):
    build, wanted = KNOWN[name]
    found = T.get_scalar_constant_value(build())
    assert found.shape == () and found == wanted
    v = build()
    if isinstance(v, T.TensorVariable):
        assert found == np.ravel(v.eval({w: np.ones((1, 2))[0 if w is _x else slice(None)] for w in theano.graph.traverse.inputs([v]) if w in (_x, _row)}))[0]
        assert v.get_scalar_constant_value() == wanted


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: None, T.NotScalarConstantError), (lambda: "a", T.NotScalarConstantError), (lambda: _x, T.NotScalarConstantError),
        (lambda: _v, T.NotScalarConstantError), (lambda: _x.shape[0], T.NotScalarConstantError), (lambda: _v.sum(), T.NotScalarConstantError),
        (lambda: theano.shared(3), T.NotScalarConstantError), (lambda: np.zeros(0), T.EmptyConstantError), (lambda: T.join(0, _x, _v)[1], T.NotScalarConstantError),
        (lambda: T.join(0, _v, _x)[-1], T.NotScalarConstantError), (lambda: T.opt.Assert()(_c, _x[0] > 1), T.NotScalarConstantError),
        (lambda: T.opt.Assert()(_c, T.constant(0)), T.NotScalarConstantError),
    ],
)  # fmt: skip
def test_numbers_that_are_not(build, error):
    with pytest.raises(error):
        T.get_scalar_constant_value(build())


def test_how_far_numbers_are_looked_for():
    deep = ((_c + 1) + 1) + 1
    assert T.get_scalar_constant_value(deep) == 6
    for keywords in ({"elemwise": False}, {"only_process_constants": True}, {"max_recur": 1}):
        with pytest.raises(T.NotScalarConstantError):
            T.get_scalar_constant_value(deep, **keywords)
    assert T.get_scalar_constant_value(_c, elemwise=False, only_process_constants=True, max_recur=0) == 3


# -- every pair of types -------------------------------------------------------------------------------------------------

PATTERNS = [(), (False,), (True,), (False, False), (True, False), (False, True), (True, True)]
DTYPES = sorted(scal.all_dtypes)


@pytest.mark.parametrize("wide", PATTERNS)
@pytest.mark.parametrize("narrow", PATTERNS)
def test_a_type_that_holds_another_takes_its_variables_and_values(wide, narrow):
    one, other = T.TensorType("float64", wide), T.TensorType("float64", narrow)
    holds = len(wide) == len(narrow) and all(n or not w for w, n in zip(wide, narrow))
    assert one.is_super(other) == holds and one.in_same_class(other) == (wide == narrow)
    assert not one.is_super(T.TensorType("float32", narrow)) and not one.in_same_class(T.TensorType("float32", narrow))
    v = other("v")
    converted = one.convert_variable(v)
    assert (converted is not None) == holds
    value = np.ones([1 if b else 3 for b in narrow])
    assert one.is_valid_value(value) == (len(wide) == len(narrow) and all(n == 1 or not w for w, n in zip(wide, value.shape)))
    if not holds:
        with pytest.raises(TypeError):
            one.filter_variable(v)
        return
    assert converted.type == one == one.filter_variable(v).type
    np.testing.assert_array_equal(converted.eval({v: value}), value)


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_every_pair_of_dtypes_is_filtered_as_it_should(to):
    kind = T.TensorType(to, (False,))
    for dtype in DTYPES:
        value = np.array([0, 1], dtype)
        same, safe = dtype == to, scal.upcast(to, dtype) == to
        assert kind.is_valid_value(value, strict=True) == same
        for allowed in (None, False):
            try:
                found = kind.filter(value, allow_downcast=allowed)
            except TypeError as error:
                assert not safe and "precision" in str(error), (dtype, to)
            else:
                assert safe and found.dtype == to and (found is value) == same
        with np.errstate(all="ignore"):
            assert kind.filter(value, allow_downcast=True).dtype == to


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("sloppy", [0, 1, 2])
def test_values_within_the_tolerance_of_a_dtype(dtype, sloppy):
    allowed = tolerance(dtype, sloppy=sloppy)
    kind = T.TensorType(dtype, (False,))
    same = partial(kind.values_eq_approx, sloppy=sloppy)
    for size in (0.0, 1.0, 100.0):
        slack = allowed.atol + allowed.rtol * size
        one, near, far = (np.array([size + d], dtype) for d in (0, 0.7 * slack, 1.6 * slack))
        assert same(one, near) and same(near, one), size
        assert not same(one, far) and same(one, far, rtol=0, atol=2 * slack + 0.1)
    nan, inf, low, number = (np.array([v], dtype) for v in (np.nan, np.inf, -np.inf, 1.0))
    assert same(nan, nan) and same(inf, inf) and not same(inf, low)
    for odd, keyword in ((nan, "allow_remove_nan"), (inf, "allow_remove_inf"), (low, "allow_remove_inf")):
        assert not same(odd, number) and not same(number, odd)
        assert same(odd, number, **{keyword: True}) and not same(number, odd, **{keyword: True})
    assert not same(one, one[:0]) and not same(one, one.astype("int8")) and not same(one, 1.0)
    assert same(one[:0], one[:0])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2, "2"), (2.5, "2.5"), ([1, 2], "[1 2]"), ([1.0, 1.0], "(2,) of 1.0"), (np.ones((2, 3)), "(2, 3) of 1.0"), (np.arange(20), "[ 0  1  2 .. 17 18 19]"),
        (np.zeros(0), "[]"), (1j, "1j"), ([[1, 2], [3, 4]], "[[1 2] [3 4]]"), ([True, False], "[ True False]"), (np.nan, "nan"), ([np.nan, 1.0], "[nan  1.]"), (-0.0, "-0.0"),
    ],
)  # fmt: skip
def test_constants_as_text_and_as_keys(value, text):
    constant, again = T.constant(value), T.constant(value)
    assert str(constant) == f"TensorConstant{{{text}}}"
    assert constant.signature() == again.signature() and hash(constant.signature()) == hash(again.signature()) and constant.equals(again)
    assert T.constant(value, name="k").signature() == constant.signature() and str(T.constant(value, name="k")) == "k"
    wider = T.constant(np.asarray(value, "complex128"))
    assert wider.dtype == constant.dtype or wider.signature() != constant.signature()


def test_what_is_said_of_a_dtype_in_c():
    kinds = {"bool": bool, "int8": int, "uint64": int, "float16": float, "float64": float, "complex64": complex}
    assert {dtype: T.TensorType(dtype, ()).dtype_specs()[0] for dtype in kinds} == kinds
    assert T.TensorType("float32", ()).dtype_specs()[1:] == ("npy_float32", "NPY_FLOAT32")
