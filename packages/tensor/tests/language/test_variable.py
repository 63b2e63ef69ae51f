"""Variables: constructors, constants, operators, methods, and what Python may not do with them."""

from __future__ import annotations

import copy
import math
import pickle
import warnings

import numpy as np
import pytest
from oracle import run

import theano
import theano.tensor as T
from theano.tensor.var import TensorConstant, TensorVariable


@pytest.mark.parametrize("letter", "bwilfdcz")
def test_constructors(letter):
    dtype = {
        "b": "int8",
        "w": "int16",
        "i": "int32",
        "l": "int64",
        "f": "float32",
        "d": "float64",
        "c": "complex64",
        "z": "complex128",
    }
    for kind, pattern in {
        "scalar": (), "vector": (False,), "matrix": (False, False), "row": (True, False), "col": (False, True),
        "tensor3": (False,) * 3, "tensor4": (False,) * 4, "tensor5": (False,) * 5, "tensor6": (False,) * 6, "tensor7": (False,) * 7,
    }.items():  # fmt: skip
        x = getattr(T, letter + kind)("x")
        assert (x.dtype, x.broadcastable, x.name) == (dtype[letter], pattern, "x")
        assert getattr(T, kind)("y", dtype=dtype[letter]).type == x.type


def test_constructors_follow_floatx():
    assert T.matrix().dtype == "float64"
    with theano.config.change_flags(floatX="float32"):
        assert T.matrix().dtype == "float32" and T.matrices("a b")[0].dtype == "float32"


def test_plurals():
    assert [v.name for v in T.dmatrices("a b")] == ["a", "b"]
    assert [v.name for v in T.dmatrices("a", "b")] == ["a", "b"]
    assert [v.name for v in T.scalars("abc")] == ["a", "b", "c"]
    assert T.fscalars(3)[2].type == T.fscalar
    assert T.ivectors("x", "y")[1].type == T.ivector
    assert T.dscalars("x").name == "x"


def test_class_has_its_place():
    assert repr(type(T.dscalar("x") + 1)) == "<class 'theano.tensor.var.TensorVariable'>"
    assert type(T.constant(1)) is TensorConstant and isinstance(T.dvector(), TensorVariable)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "{2.0}"), (1, "{1}"), (np.ones(1), "{(1,) of 1.0}"), (np.zeros((2, 3)), "{(2, 3) of 0.0}"),
        ([1, 2, 3], "{[1 2 3]}"), (np.arange(100), "{[ 0  1  2 .. 97 98 99]}"), (np.zeros((0, 2)), "{[]}"),
        (np.array(True), "{True}"),
    ],
)  # fmt: skip
def test_text_of_constants(value, text):
    assert str(T.constant(value)) == "TensorConstant" + text


def test_constants_take_small_dtypes():
    assert [T.constant(v).dtype for v in (1, 200, 1e10, 0.1, 1.5, True, 1j)] == [
        "int8", "int16", "float32", "float64", "float32", "int8", "complex128",
    ]  # fmt: skip
    assert T.constant([]).dtype == "float64" and T.constant([1, 2]).dtype == "int64"
    assert T.constant(2, dtype="floatX").dtype == "float64"
    assert (T.fvector() + 1.5).dtype == "float32" and (T.fvector() * 0.1).dtype == "float64"
    assert (T.ivector() + 1).dtype == "int32" and (T.fvector() + np.float64(1)).dtype == "float64"


def test_as_tensor_variable():
    x = T.dscalar("x")
    assert T.as_tensor_variable(x) is x
    assert T.as_tensor_variable(x, ndim=2).broadcastable == (True, True)
    assert T.as_tensor_variable(T.drow("r"), ndim=1).ndim == 1
    with pytest.raises(ValueError, match="dimensions"):
        T.as_tensor_variable(T.dmatrix("m"), ndim=1)
    assert T.as_tensor_variable([x, 2]).type == T.dvector
    np.testing.assert_array_equal(run(T.as_tensor_variable([[x, 1], [2, x]]), {x: 5}), [[5, 1], [2, 5]])
    assert T.as_tensor_variable(theano.scalar.float32("s")).type == T.fscalar
    assert T.as_tensor_variable((x + 1).owner).owner.op is (x + 1).owner.op
    with pytest.raises(TypeError, match="T.eq|theano.tensor.eq"):
        T.as_tensor_variable(x == x)
    for bad in ("text", None, object(), {"a": 1}):
        with pytest.raises(TypeError):
            T.as_tensor_variable(bad)


def test_equality_is_identity():
    x, y = T.dvectors("x y")
    assert (x == x) is True and (x == y) is False and x != y
    assert {x: 1}[x] == 1
    assert T.eq(x, y).dtype == "bool"


def test_what_python_may_not_do():
    x = T.dvector("x")
    with pytest.raises(TypeError, match="boolean"):
        bool(x > 0)
    with pytest.raises(TypeError, match="boolean"):
        0 < x < 1  # noqa: B015
    with pytest.raises(TypeError, match="len"):
        len(x)
    with pytest.raises(TypeError, match="iteration"):
        list(x)
    with pytest.raises(TypeError, match="set_subtensor"):
        x[0] = 1
    with pytest.raises(TypeError, match="T.any"):
        1 in x  # noqa: B015


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda x: math.exp(x), "T.exp"), (float, "T.cast"), (int, "T.cast"), (complex, "T.cast"), (range, "T.arange"),
        (lambda x: [1, 2][x], "T.arange"), (lambda x: f"{x:.3f}", "printing.Print"), ("%.3f".__mod__, "T.cast"),
        (round, "T.round"), (lambda x: np.arange(5)[:x], r"T.constant\(a\)\[n\]"), (np.random.rand, "T.zeros"),
        (lambda x: round(x, 2), r"T\.round\(x \* 10\.0\*\*2\) / 10\.0\*\*2"), (bytes, "tobytes"),
        (lambda x: x.__index__(), "theano.scan"), ("%.2f".__mod__, "T.cast"), (range, "theano.scan"),
    ],
)  # fmt: skip
def test_what_needs_a_value_says_what_to_write(use, said):
    with pytest.raises(TypeError, match=rf"a value, and x has one only when a function runs: .*{said}"):
        use(T.dscalar("x"))
    assert f"{T.dscalar('x')}" == "x"


def test_what_was_said_of_rounding_to_digits_is_right():
    x = T.dscalar("x")
    assert (T.round(x * 10.0**2) / 10.0**2).eval({x: 1.2367}) == round(1.2367, 2)


def test_a_power_with_a_modulus_says_what_to_write():
    n, k = T.lscalar("n"), T.lscalar("k")
    for power, written in (
        (lambda: pow(n, 2, 3), "n ** 2 % 3"), (lambda: pow(n, k, 5), "n ** k % 5"),
        (lambda: pow(n, 2, k), "n ** 2 % k"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="n has a value only when a function runs: write") as raised:
            power()
        assert str(raised.value).endswith(f"write {written}")
        expected = eval(written, {"n": 7, "k": 4})
        f = theano.function([n, k], eval(written, {"n": n, "k": k}), on_unused_input="ignore")
        assert f(7, 4) == expected
    with pytest.raises(TypeError, match=r"write \(Elemwise\{add,no_inplace\}\.0\) \*\* 2 % 3$"):
        pow(n + 1, 2, 3)


def _delete(x):
    del x[0]


def _assign(x):
    x[0] = 1


def _increase(x):
    x[0] += 1


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (_delete, r"expression x cannot be changed\. T\.concatenate\(\[x\[:i\], x\[i \+ 1:\]\]\)"),
        (_assign, r"expression x cannot be changed\. T\.set_subtensor"),
        (_increase, r"expression x cannot be changed\. .*T\.inc_subtensor"),
        (list, "length of x is not known .* theano.scan"), (iter, "length of x is not known .* theano.scan"),
        (lambda x: [*zip(x, x, strict=True)], "length of x is not known .* theano.scan"),
        (len, r"length of x .*x\.shape\[0\]"), (reversed, r"length of x .*x\.shape\[0\]"),
        (lambda x: 1 in x, r"values of x, .*T\.any\(T\.eq"),
        (lambda x: x[1.5], r"index of x .*not 1\.5\. Write int\(i\)"),
        (lambda x: x[float("nan")], r"index of x .*not nan\. Write"),
        (lambda x: x["a"], r"index of x .*not 'a'\. .*give a number"),
        (lambda x: x @ 3, r"TensorConstant\{3\} has none\. Multiply by it with \*"),
        (lambda x: max(x, x + 1), r"Elemwise\{gt,no_inplace\}\.0 is a symbol, .*T\.maximum"),
        (lambda x: min([x, x + 1]), r"Elemwise\{lt,no_inplace\}\.0 is a symbol, .*T\.minimum"),
        (lambda x: sorted([x, x + 1]), r"Elemwise\{lt,no_inplace\}\.0 is a symbol, .*T\.sort\(T\.stack"),
        (lambda x: not x > 0, "is a symbol, .*T.invert"), (lambda x: 1 < x < 2, "is a symbol, .*T.and_"),
        (lambda x: x > 0 and x, "is a symbol, .*T.and_"), (lambda x: x if x > 0 else 1, "is a symbol, .*T.switch"),
    ],
)  # fmt: skip
def test_what_is_no_list_and_no_number_says_what_to_write(use, said):
    with pytest.raises((TypeError, ValueError, IndexError), match=said):
        use(T.dvector("x"))


def test_what_python_does_with_variables_is_what_numpy_does():
    x, y = T.dscalars("x y")
    uses = (
        lambda a, b: divmod(a, b)[0], lambda a, b: divmod(a, b)[1], lambda a, b: divmod(7, b)[1],
        lambda a, b: math.floor(a), lambda a, b: math.ceil(b), lambda a, b: math.trunc(b), lambda a, b: sum([a, b]),
        lambda a, b: abs(b), lambda a, b: pow(2, a), lambda a, b: pow(a, 2),
    )  # fmt: skip
    for use in uses:
        f = theano.function([x, y], use(x, y), on_unused_input="ignore")
        assert f(7.5, -2.25) == pytest.approx(use(7.5, -2.25))
    assert x in [y, x] and x not in [y] and hash(x) == hash(x) and len({x, y, x}) == 2
    w = before = theano.shared(np.array([1.0, 2.0]), "w")
    w += 1
    assert w.eval().tolist() == [2.0, 3.0] and before.get_value().tolist() == [1.0, 2.0]


LENGTHS = [
    lambda n: np.zeros(n), lambda n: np.zeros((n, 2)), lambda n: np.ones(n), lambda n: np.empty(shape=n),
    lambda n: np.full(n, 1.0), lambda n: np.eye(n), lambda n: np.identity(n), lambda n: np.linspace(0, 1, n),
    lambda n: np.arange(6).reshape(n), lambda n: np.ndarray(n),
]  # fmt: skip


@pytest.mark.parametrize("use", LENGTHS)
def test_lengths_of_numpy_say_what_to_write(use):
    # NumPy has an error of its own in place of that of __index__.
    for n in (T.iscalar("n"), T.dvector("v").shape[0]):
        said = r"has a value only when a function runs: write T\.zeros"
        with pytest.warns(UserWarning, match=said), pytest.raises(TypeError):
            use(n)


def test_numpy_ranges_say_what_to_write():
    with pytest.warns(UserWarning), pytest.raises(TypeError, match=r"numpy\.arange\(n\).*T\.arange\(n\)"):
        np.arange(T.iscalar("n"))


def test_a_list_times_a_length_is_no_longer_list():
    n = T.iscalar("n")
    for made in (lambda: [2] * n, lambda: (2,) * n):
        with pytest.warns(UserWarning, match=r"write T\.full\(n, 2\)"):
            assert made().eval({n: 3}).tolist() == [6]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ([2, 3] * n).eval({n: 3}).tolist() == [6, 9]
        assert ([0.5] * T.dscalar("s")).ndim == ([2] * T.dvector("v")).ndim == 1


def test_numpy_makes_no_array_of_a_variable_in_silence():
    x = T.dscalar("x")
    for make in (lambda: np.array(x, float), lambda: np.float64(x)):
        with pytest.raises(TypeError, match=r"needs values, and x has one only when a function runs: .*T\.stack"):
            make()
    for value in (x, [x, x]):
        with pytest.warns(UserWarning, match="array of objects of x, .*T.stack"):
            assert np.array(value).flat[0] is x
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.array(value, object).flat[0] is x
    with pytest.raises(TypeError, match="x is symbolic"):
        theano.shared(x)


def test_iteration_where_the_length_is_known():
    a, b, c = T.dtensor3("t").shape
    assert a.ndim == 0
    assert len(list(T.stack([1.0, T.dscalar()]))) == 2


def test_numbers_are_stacked_along_the_one_axis_there_is():
    x, k = T.dscalar("x"), T.iscalar("k")
    for axis in (-1, 0):
        assert T.stack([x, k, 2], axis=axis).eval({x: 1.5, k: 3}).tolist() == [1.5, 3, 2]
    for axis in (-2, 1, 7):
        with pytest.warns(DeprecationWarning, match=f"{axis} is read as 0"):
            stacked = T.stack([x, k], axis=axis)
        assert stacked.eval({x: 1.5, k: 3}).tolist() == [1.5, 3] and T.grad(stacked.sum(), x).eval({x: 1.5, k: 3}) == 1
    v = T.dvector("v")
    for axis in (-3, 2):
        with pytest.raises(IndexError, match=f"axis {axis} is out of bounds"):
            T.stack([v, v], axis=axis)


OPERATORS = {
    "x + y": np.add, "x - y": np.subtract, "x * y": np.multiply, "x / y": np.true_divide, "x // y": np.floor_divide,
    "x % y": np.mod, "x ** y": np.power, "x < y": np.less, "x <= y": np.less_equal, "x > y": np.greater,
    "x >= y": np.greater_equal,
}  # fmt: skip


@pytest.mark.parametrize("expression", OPERATORS)
def test_operators(expression):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.5, 3, (2, 3)), rng.uniform(0.5, 3, 3)
    x, y = T.dmatrix("x"), T.dvector("y")
    expected = OPERATORS[expression](a, b)
    np.testing.assert_allclose(run(eval(expression), {x: a, y: b}), expected)
    np.testing.assert_allclose(run(eval(expression, {"x": a, "y": y}), {y: b}), expected)  # NumPy on the left
    np.testing.assert_allclose(run(eval(expression, {"x": x, "y": b}), {x: a}), expected)
    np.testing.assert_allclose(run(eval(expression, {"x": 2.5, "y": y}), {y: b}), OPERATORS[expression](2.5, b))


def test_bit_operators():
    x, y = T.ivectors("x y")
    a, b = np.int32([1, 6, 12]), np.int32([3, 5, 4])
    for expression in ("x & y", "x | y", "x ^ y", "~x", "5 & y", "divmod(x, y)[1]", "-x", "abs(x)"):
        np.testing.assert_array_equal(run(eval(expression), {x: a, y: b}), eval(expression, {"x": a, "y": b}))


def test_properties_and_methods():
    x = T.dmatrix("x")
    value = np.random.default_rng(0).normal(size=(3, 4))
    assert (x.ndim, x.dtype, x.broadcastable) == (2, "float64", (False, False))
    for method in "exp sin cos tanh floor ceil trunc deg2rad arctan sinh cosh arcsinh expm1 exp2 conj copy ravel flatten round".split():
        reference = getattr(np, method, None) or getattr(np.ndarray, method)
        expected = value.ravel() if method == "flatten" else reference(value)
        np.testing.assert_allclose(run(getattr(x, method)(), {x: value}), expected, err_msg=method)
    np.testing.assert_array_equal(run(x.astype("int8"), {x: value}), value.astype("int8"))
    np.testing.assert_array_equal(run(x.clip(-1, 1), {x: value}), value.clip(-1, 1))
    np.testing.assert_array_equal(run(x.fill(3), {x: value}), np.full((3, 4), 3))
    np.testing.assert_array_equal(run(x.nonzero()[0], {x: value}), value.nonzero()[0])
    np.testing.assert_array_equal(run(x.nonzero(return_matrix=True), {x: value}), np.array(value.nonzero()))
    assert run(x.size, {x: value}) == 12
    assert x.transfer("cpu") is x
    with pytest.raises(ValueError, match="target"):
        x.transfer("gpu0")


def test_constant_values_are_found():
    get = T.get_scalar_constant_value
    x = T.dmatrix("x")
    assert get(3) == 3 and get(T.constant(np.full((2, 2), 4.0))) == 4
    assert get(T.fill(x, 7)) == 7 and get(T.zeros_like(x)) == 0 and get(T.alloc(5, 2, 3)) == 5
    assert get(T.constant(2) + 3) == 5 and get(T.cast(T.constant(2.5), "int8")) == 2
    assert get(T.drow().shape[0]) == 1 and get(T.constant(np.arange(4))[2]) == 2
    assert get(T.stack([x.shape[0], 5])[1]) == 5
    for unknown in (x, x.shape[0], T.constant([1, 2]), None, T.constant(np.zeros(0))):
        with pytest.raises(T.NotScalarConstantError):
            get(unknown)
    with pytest.raises(T.EmptyConstantError):
        get(T.constant(np.zeros(0)))
    with pytest.raises(T.NotScalarConstantError):
        get(T.constant(2) + 3, elemwise=False)
    assert T.extract_constant(x) is x


def test_copies_and_pickles():
    x = T.dmatrix("x")
    out = T.exp(x[1:]).sum(axis=0) + T.constant([1.0, 2.0]) + T.nnet.softmax(x)[0]
    for duplicate in (copy.deepcopy(out), pickle.loads(pickle.dumps(out))):
        assert duplicate.type == out.type and duplicate is not out
        assert str(duplicate.owner.op) == str(out.owner.op) and duplicate.owner.op == out.owner.op


def test_shared():
    w = theano.shared(np.zeros((2, 3)), name="w")
    assert type(w).__name__ == "TensorSharedVariable" and w.type == T.dmatrix
    assert theano.shared(np.zeros((1, 3)), broadcastable=(True, False)).type == T.drow
    assert theano.shared(1.0).type == T.dscalar and theano.shared(np.float32(1)).dtype == "float32"
    assert theano.shared(np.float32(1), broadcastable=()).type == T.fscalar  # as what NumPy computes of 0-d arrays
    assert theano.shared(3).dtype == "int64"
    value = np.zeros(3)
    copied, borrowed = theano.shared(value), theano.shared(value, borrow=True)
    value[0] = 1
    assert copied.get_value()[0] == 0 and borrowed.get_value(borrow=True)[0] == 1
    with pytest.raises(TypeError):
        w.set_value(np.zeros(3))
    assert (w + 1).owner.inputs[0] is w and w[0].ndim == 1
