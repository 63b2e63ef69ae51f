"""Arguments that are not of the exact type: the machine casts what is safe, and agrees with the type's filter on all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import theano
from theano import scalar, tensor

pytestmark = pytest.mark.filterwarnings("ignore")  # of NumPy, about what allow_downcast loses
DTYPES = scalar.all_dtypes
NUMBERS = [
    *(0, 1, -1, 127, 128, -129, 255, 256, 2**15, 2**16, 2**24, 2**24 + 1, -(2**24) - 1, 2**31, 2**32, 2**53, 2**53 + 1),
    *(2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, True, 0.0, -0.0, 0.5, 0.1, 1e300, float("inf"), float("-inf")),
    *(float("nan"), 1j, 0.1 + 2j, None, "1", [], [1]),
]


def outcome(call: Any, value: Any) -> Any:
    """What comes of a call, to be compared: dtype, shape and bits, or the kind of exception."""
    try:
        result = call(value)
    except Exception as error:
        return type(error)
    result = np.asarray(result)
    return result.dtype, result.shape, result.tobytes()


def function_of(type: Any, **more: Any) -> tuple[Any, Any]:
    """A function that returns its argument and a copy that compiled code made, and the filter to compare with."""
    x = type("x")
    f = theano.function([theano.In(x, **more)], [x, tensor.stack([x, x])[0]])
    filter = {"strict": more.get("strict", False), "allow_downcast": more.get("allow_downcast")}
    return (lambda v: f(v)[0], lambda v: f(v)[1]), lambda v: type.filter(v, **filter)


@pytest.mark.parametrize("more", [{}, {"strict": True}, {"allow_downcast": True}, {"allow_downcast": False}], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_and_arrays_as_the_filter_says(dtype: str, more: dict[str, Any]) -> None:
    outputs, filter = function_of(tensor.TensorType(dtype, ()), **more)
    numpy_numbers = [np.dtype(d).type(v) for d in DTYPES for v in (0, 1, 77)]
    numpy_numbers += [np.int64(2**24 + 1), np.int64(-(2**63)), np.uint64(2**64 - 1), np.float64(0.1), np.longdouble(0.1)]
    arrays = [np.array(v, d) for d in DTYPES for v in (0, 1)] + [np.array(0.1, ">f8"), np.array("1"), np.ones(1, dtype)]
    for value in [*NUMBERS, *numpy_numbers, *arrays]:
        wanted = outcome(filter, value)
        for output in outputs:
            assert outcome(output, value) == wanted, (value, type(value))


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_other_dtypes_and_layouts(dtype: str) -> None:
    outputs, filter = function_of(tensor.TensorType(dtype, (False, True)))
    for other in DTYPES:
        base = np.arange(12).astype(other)
        unaligned = np.frombuffer(b"x" + base.tobytes(), np.uint8)[1:].view(other)
        for flat in [base, base[::-1], base[::3], base[:0], unaligned, base.astype(base.dtype.newbyteorder())]:
            for value in [flat.reshape(-1, 1), flat.reshape(1, -1).T, flat.reshape(-1, 1, 1), flat]:
                wanted = outcome(filter, value)
                for output in outputs:
                    assert outcome(output, value) == wanted, (value.dtype, value.shape, value.strides)
        wide = np.zeros((3, 2), other)
        assert outcome(outputs[0], wide) is outcome(filter, wide) is TypeError


def test_what_is_cast_is_the_functions_own() -> None:
    x = tensor.dvector("x")
    f = theano.function([theano.In(x, mutable=True)], x * 2 + 1)
    for value in [np.ones(3, "float32"), np.ones(3, "int8")]:
        assert f(value).tolist() == [3, 3, 3]
        assert value.tolist() == [1, 1, 1]


def test_keywords_and_defaults_are_cast_too() -> None:
    x, n = tensor.dscalar("x"), tensor.lscalar("n")
    f = theano.function([x, theano.In(n, value=3, name="n")], [x + 1, n])
    assert [v.tolist() for v in f(x=1)] == [2, 3]
    assert [v.tolist() for v in f(1, n=np.int8(7))] == [2, 7]
    assert f(1, n=7)[1].dtype == np.int64
    with pytest.raises(TypeError, match=r"'n' \(index 1\)"):
        f(1, 2.5)


def test_a_filter_of_ones_own_is_always_asked() -> None:
    class Even(tensor.TensorType):
        def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> np.ndarray:
            if np.any(np.asarray(value) % 2):
                raise TypeError("odd")
            return super().filter(value, strict, allow_downcast)

    x = Even("int64", ())("x")
    f = theano.function([x], x)
    assert f(4) == 4
    with pytest.raises(TypeError, match="odd"):
        f(3)


def test_a_type_that_checks_for_finite_values_still_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor.TensorType, "filter_checks_isfinite", True)
    x = tensor.dscalar("x")
    f = theano.function([x], x)
    assert f(1.0) == 1
    with pytest.raises(ValueError, match="finite"):
        f(float("inf"))


def test_trusted_arguments() -> None:
    """`f.trust_input`: an array of one element is the number that it holds; nothing else is taken that was refused."""
    x, y = tensor.dscalar("x"), tensor.dvector("y")
    f = theano.function([x, y], [x + 1, y * x])
    one, two = np.array([10.0]), np.ones(2)
    with pytest.raises(TypeError):
        f(one, two)
    f.trust_input = True
    for value in (one, one.reshape(1, 1)):
        assert [v.tolist() for v in f(value, two)] == [11.0, [10.0, 10.0]]
    for wrong in (two, one.astype("float32"), np.zeros(0)):
        with pytest.raises(TypeError):
            f(wrong, two)
    with pytest.raises(TypeError):
        f(one, np.ones((1, 1)))
    f.trust_input = False
    with pytest.raises(TypeError):
        f(one, two)


def test_an_update_of_whole_numbers_says_how_fractions_are_stored() -> None:
    count = theano.shared(3, "count")
    with pytest.raises(TypeError, match=r"It holds whole numbers: .*theano\.shared\(3\.0\)"):
        theano.function([], [], updates={count: count - 0.1})


def test_an_update_is_not_converted() -> None:
    """A row that is stored where a matrix is expected is refused, as documented, before anything is changed."""
    w = theano.shared(np.ones((3, 3)), "w")
    with pytest.raises(TypeError, match="the update of the shared variable w must be of its type"):
        theano.function([], [], updates={w: w.sum().dimshuffle("x", "x")})
    np.testing.assert_array_equal(w.get_value(), np.ones((3, 3)))
