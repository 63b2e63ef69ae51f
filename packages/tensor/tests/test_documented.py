"""Documented names that no other test happens to use: what each is, and what it computes, against NumPy."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from oracle import run

import theano
import theano.tensor as T
from theano import scalar as scal

nlinalg = T.nlinalg

LETTERS = {"b": "int8", "w": "int16", "i": "int32", "l": "int64", "f": "float32", "d": "float64", "c": "complex64", "z": "complex128"}
SHAPES = {"scalar": (), "vector": (False,), "matrix": (False, False), "row": (True, False), "col": (False, True)}
SHAPES |= {f"tensor{n}": (False,) * n for n in range(3, 8)}


@pytest.mark.parametrize("shape", SHAPES)
def test_types_by_letter(shape):
    for letter, dtype in LETTERS.items():
        kind = getattr(T, letter + shape)
        assert kind == T.TensorType(dtype, SHAPES[shape]) and kind("x").name == "x"
        several = getattr(T, letter + shape + "s", None)
        if several is not None:
            assert [v.type for v in several("a", "b")] == [kind, kind]
    plain = getattr(T, shape)
    assert plain("x", dtype="int8").type == T.TensorType("int8", SHAPES[shape]) and plain().dtype == theano.config.floatX


x, y, i, k = T.dmatrix("x"), T.dmatrix("y"), T.lvector("i"), T.lvector("k")
X, Y = np.array([[1.5, -2.5, 3.0], [0.5, 2.5, -4.0]]), np.array([[2.0, 0.5, -1.0], [3.0, -1.5, 2.0]])
I, K = np.array([5, -7, 0, 4]), np.array([2, 3, -2, 4])
GIVEN = {x: X, y: Y, i: I, k: K}
P = np.array([2, 0, 1])

FUNCTIONS = {
    "bincount": (lambda: T.bincount(T.constant([1, 0, 1, 4])), lambda: np.bincount([1, 0, 1, 4])),
    "bincount_weights": (lambda: T.bincount(T.constant([1, 0, 1]), weights=T.constant([0.5, 2.0, 3.0])), lambda: np.bincount([1, 0, 1], [0.5, 2.0, 3.0])),
    "bincount_minlength": (lambda: T.bincount(T.constant([1, 0]), minlength=5), lambda: np.bincount([1, 0], minlength=5)),
    "bitwise_not": (lambda: T.bitwise_not(i), lambda: ~I),
    "ceil_intdiv": (lambda: T.ceil_intdiv(i, k), lambda: -(-I // K)),
    "div_proxy": (lambda: T.div_proxy(x, y), lambda: X / Y),
    "divmod": (lambda: T.stack(T.divmod(i, k)), lambda: np.stack(np.divmod(I, K))),
    "floor_div": (lambda: T.floor_div(x, y), lambda: X // Y),
    "int_div": (lambda: T.int_div(i, k), lambda: I // K),
    "mod_check": (lambda: T.mod_check(x, y), lambda: X % Y),
    "inverse_permutation": (lambda: T.inverse_permutation(T.constant(P)), lambda: np.argsort(P)),
    "inverse_permutations": (lambda: T.inverse_permutation(T.constant([P, P[::-1]])), lambda: np.argsort([P, P[::-1]], axis=1)),
    "iround": (lambda: T.iround(x), lambda: np.rint(X).astype("int64")),
    "iround_away": (lambda: T.iround(x, "half_away_from_zero"), lambda: (np.sign(X) * np.floor(abs(X) + 0.5)).astype("int64")),
    "ogrid": (lambda: T.add(*T.ogrid[0:2, 0:6:2]), lambda: np.add(*np.ogrid[0:2, 0:6:2])),
    "mgrid": (lambda: T.stack(T.mgrid[0:2, 1:3]), lambda: np.stack(np.mgrid[0:2, 1:3])),
    "topk": (lambda: T.topk_and_argtopk(x, 2)[0], lambda: np.sort(X)[:, ::-1][:, :2]),
    "argtopk": (lambda: T.topk_and_argtopk(x, 2)[1], lambda: np.argsort(X)[:, ::-1][:, :2]),
    "makeKeepDims": (lambda: T.makeKeepDims(x, x.sum(axis=1), 1), lambda: X.sum(1, keepdims=True)),
    "advanced_subtensor": (lambda: T.advanced_subtensor(x, T.constant([1, 0]), T.constant([2, 2])), lambda: X[[1, 0], [2, 2]]),
    "advanced_subtensor1": (lambda: T.advanced_subtensor1(x, T.constant([1, 1])), lambda: X[[1, 1]]),
    "advanced_boolean_subtensor": (lambda: T.advanced_boolean_subtensor(x, x > 0), lambda: X[X > 0]),
    "advanced_set_subtensor": (lambda: T.advanced_set_subtensor(x, T.constant([9.0, 8.0]), T.constant([1, 0]), T.constant([2, 2])), lambda: np.array([[1.5, -2.5, 8], [0.5, 2.5, 9]])),
    "advanced_inc_subtensor": (lambda: T.advanced_inc_subtensor(x, T.constant([9.0, 8.0]), T.constant([1, 1]), T.constant([2, 2])), lambda: X + np.array([[0, 0, 0], [0, 0, 17]])),
    "advanced_set_subtensor1": (lambda: T.advanced_set_subtensor1(x, T.constant([[7.0] * 3]), T.constant([1])), lambda: np.array([X[0], [7] * 3])),
    "advanced_inc_subtensor1": (lambda: T.advanced_inc_subtensor1(x, T.constant([[7.0] * 3] * 2), T.constant([1, 1])), lambda: X + np.array([[0], [14]])),
    "advanced_boolean_set_subtensor": (lambda: T.advanced_boolean_set_subtensor(x, T.constant(0.0), x > 0), lambda: np.where(X > 0, 0, X)),
    "advanced_boolean_inc_subtensor": (lambda: T.advanced_boolean_inc_subtensor(x, T.constant(1.0), x > 0), lambda: np.where(X > 0, X + 1, X)),
    "to_one_hot": (lambda: T.extra_ops.to_one_hot(T.constant([2, 0]), 3), lambda: np.eye(3)[[2, 0]]),
    "bartlett_": (lambda: T.extra_ops.bartlett_(T.constant(6)), lambda: np.bartlett(6)),
    "fill_diagonal_": (lambda: T.extra_ops.fill_diagonal_(x, 7.0), lambda: np.where(np.eye(2, 3) > 0, 7, X)),
    "fill_diagonal_offset_": (lambda: T.extra_ops.fill_diagonal_offset_(x, 7.0, T.constant(1)), lambda: np.where(np.eye(2, 3, 1) > 0, 7, X)),
    "CumsumOp": (lambda: T.extra_ops.CumsumOp(1)(x), lambda: X.cumsum(1)),
    "CumprodOp": (lambda: T.extra_ops.CumprodOp(0)(x), lambda: X.cumprod(0)),
    "alloc_diag": (lambda: nlinalg.alloc_diag(x[0]), lambda: np.diag(X[0])),
    "extract_diag": (lambda: nlinalg.extract_diag(x), lambda: np.diag(X)),
    "rfft_op": (lambda: T.fft.rfft_op(x, T.constant([3])), lambda: np.stack([np.fft.rfft(X).real, np.fft.rfft(X).imag], -1)),
    "irfft_op": (lambda: T.fft.irfft_op(T.fft.rfft_op(x, T.constant([3])), T.constant([3])), lambda: X * 3),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    build, reference = FUNCTIONS[name]
    out, wanted = build(), np.asarray(reference())
    for got in (run(out, GIVEN), theano.function([x, y, i, k], out, on_unused_input="ignore")(X, Y, I, K)):
        assert got.shape == wanted.shape and got.dtype.kind == wanted.dtype.kind
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


# -- operators ----------------------------------------------------------------------------------------------------

BINARY = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor,
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_operators_between_variables_and_numbers(name):
    function = BINARY[name]
    if name in ("and", "or", "xor"):
        a, b, values, number = i, k, (I, K), np.int64(6)
    else:
        a, b, values, number = x, y, (abs(X), Y), np.float64(1.5)
    given = dict(zip((a, b), values))
    for expression, wanted in (
        (function(a, b), function(*values)),
        (function(a, number), function(values[0], number)),
        (function(number, a), function(number, values[0])),
        (getattr(a, f"__{name}__")(b), function(*values)),
        (getattr(a, f"__r{name}__")(b) if hasattr(a, f"__r{name}__") else function(b, a), function(*values[::-1])),
    ):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(run(expression, {v: given[v] for v in theano.graph.traverse.inputs([expression]) if v in given}), wanted)


def test_operators_of_one_variable_and_others():
    for expression, wanted in (
        (abs(x), abs(X)), (-x, -X), (~i, ~I), (x.__ceil__(), np.ceil(X)), (x.__floor__(), np.floor(X)),
        (x.__trunc__(), np.trunc(X)), (x.__div__(y), X / Y), (x.__rdiv__(y), Y / X), (x.__dot__(y.T), X @ Y.T),
        (x.T.__rdot__(y), Y @ X.T), (x[1:], X[1:]), (x.__divmod__(y)[1], X % Y), (x.__rdivmod__(y)[0], Y // X),
    ):  # fmt: skip
        np.testing.assert_allclose(run(expression, {v: GIVEN[v] for v in theano.graph.traverse.inputs([expression]) if v in GIVEN}), wanted)
    assert (X + x).owner is not None and x.__array_priority__ > 0  # an array on the left leaves it to the variable
    with pytest.raises(TypeError, match="boolean"):
        (x > 0).__bool__()
    with pytest.raises(TypeError, match="boolean"):
        (x > 0).__nonzero__()
    with pytest.raises(TypeError, match="iteration"):
        x.__iter__().__next__()


# -- smaller things --------------------------------------------------------------------------------------------------


def test_types_of_what_stands_in_an_index():
    assert T.slicetype == T.SliceType() and T.none_type_t == T.NoneTypeT() and T.NoneConst.data is None
    constant = T.as_index_variable(slice(1, None))
    assert isinstance(constant, T.SliceConstant) and constant.data == slice(1, None)
    assert T.as_int_none_variable(None) is T.NoneConst and T.as_int_none_variable(3).data == 3
    part = x[1:, 0]
    first, second = T.get_idx_list(part.owner.inputs, part.owner.op.idx_list)
    assert isinstance(first, slice) and second.data == 0
    assert T.adv_index_broadcastable_pattern(x, [T.as_index_variable(i)]) == (False, False)
    for error in (T.AdvancedIndexingError, T.AsTensorError):
        assert issubclass(error, TypeError)
    assert issubclass(T.AdvancedSubtensor, T.BaseAdvancedSubtensor)
    assert issubclass(T.AdvancedIncSubtensor, T.BaseAdvancedIncSubtensor)


def test_helpers():
    assert T.Tensor is T.TensorType and T.as_tensor is T.as_tensor_variable and T.int32_t is T.int32 is scal.int32
    assert T.check_and_normalize_axes(x, -1) == [1] and T.check_and_normalize_axes(x, None) == [0, 1]
    assert T.numpy_scalar(np.full(3, 2.0)) == 2 and T.is_flat(x.flatten(), 1) and not T.is_flat(x, 1)
    lengths, pattern = T.alloc_validate_shape([1, T.lscalar()])
    assert list(pattern) == [True, False] and len(lengths) == 2
    assert T.values_eq_approx_always_true(1, "anything")
    assert T.TensorConstantSignature.of(X) == T.TensorConstantSignature.of(X.copy()) != T.TensorConstantSignature.of(Y)
    assert theano.pp(x[0]) == "x[0]" and isinstance(T.SubtensorPrinter(), object)


def test_a_dictionary_that_cannot_change():
    kept = T.elemwise.frozendict({0: 1, "a": 2})
    assert kept == {0: 1, "a": 2} and len(kept) == 2 and list(kept) == [0, "a"] and {kept: 3}[T.elemwise.frozendict(kept)] == 3
    with pytest.raises(TypeError):
        kept[0] = 5


def test_transfers_that_are_registered():
    moved = []

    def to_moon(v, target):
        if target == "moon":
            moved.append(v)
            return v + 0
        return None

    T.register_transfer(to_moon)
    out = x.transfer("moon")
    assert moved == [x] and out is not x and x.transfer("cpu") is x
    with pytest.raises(ValueError, match="mars"):
        x.transfer("mars")


def test_conversions_of_scalars():
    v = scal.float64("v")
    for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128"):
        op = getattr(scal, f"convert_to_{name}")
        assert isinstance(op, scal.Cast) and op(v).type.dtype == name
        assert np.asarray(op.impl(3.0)).dtype == name


def test_classes_of_scalar_ops():
    instances = {
        "AND": "and_", "OR": "or_", "XOR": "xor", "Invert": "invert", "LT": "lt", "GT": "gt", "LE": "le", "GE": "ge",
        "EQ": "eq", "NEQ": "neq", "Abs": "abs_", "IsNan": "isnan", "IsInf": "isinf", "Switch": "switch", "Clip": "clip",
        "Second": "second", "Identity": "identity", "Sgn": "sgn", "Add": "add", "Mul": "mul", "Sub": "sub",
        "IntDiv": "int_div", "TrueDiv": "true_div", "Mod": "mod", "Pow": "pow", "Inv": "inv", "Ceil": "ceil",
        "Floor": "floor", "Trunc": "trunc", "Conj": "conj", "Imag": "imag", "Complex": "complex",
        "ComplexFromPolar": "complex_from_polar", "RoundHalfToEven": "round_half_to_even",
        "RoundHalfAwayFromZero": "round_half_away_from_zero", "Psi": "psi", "TriGamma": "tri_gamma", "Chi2SF": "chi2sf",
        **{n.capitalize(): n for n in "cos sin tan cosh sinh tanh exp exp2 expm1 log log2 log10 log1p sqr sqrt erf erfc "
           "erfinv erfcinv erfcx gamma j0 j1 jv i0 i1 iv angle".split()},
        "ArcCos": "arccos", "ArcSin": "arcsin", "ArcTan": "arctan", "ArcTan2": "arctan2", "ArcCosh": "arccosh",
        "ArcSinh": "arcsinh", "ArcTanh": "arctanh", "Deg2Rad": "deg2rad", "Rad2Deg": "rad2deg", "GammaLn": "gammaln",
        "GammaInc": "gammainc", "GammaIncC": "gammaincc", "GammaU": "gammau", "GammaL": "gammal",
        "Maximum": "maximum", "Minimum": "minimum",
    }  # fmt: skip
    for name, instance in instances.items():
        assert isinstance(getattr(scal, instance), getattr(scal, name)), name
    assert scal.InRange(False, False) == scal.inclosedrange != scal.inopenrange == scal.InRange(True, True)
    assert isinstance(scal.lt, scal.LogicalComparison) and isinstance(scal.and_, scal.BinaryBitOp)
    assert isinstance(scal.invert, scal.UnaryBitOp) and isinstance(scal.lt, scal.FixedLogicalComparison)
    v = scal.float64("v")
    assert isinstance(v, scal.ScalarVariable) and isinstance(scal.constant(1.0), scal.ScalarConstant)
    assert scal.int_or_true_div(True, True) is not None and scal.floor_div is scal.int_div
    assert [u.type for u in scal.as_common_dtype(scal.int8("a"), v)] == [scal.float64, scal.float64]
    with pytest.raises(scal.ComplexError):
        scal.mod_check(scal.complex128("c"), v)
