"""Arrays of other libraries go in and out without copies: shown by addresses."""

from __future__ import annotations

import array

import numpy as np
import pytest

import theano
import theano.tensor as T


class SpeaksDLPack:
    """Has nothing but DLPack."""

    def __init__(self, held):
        self.held = held

    def __dlpack__(self, **how):
        return self.held.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.held.__dlpack_device__()


class HasInterface:
    """Has nothing but the array interface."""

    def __init__(self, held):
        self.held, self.__array_interface__ = held, held.__array_interface__


class HasStruct:
    """Has nothing but the array interface of C."""

    def __init__(self, held):
        self.held, self.__array_struct__ = held, held.__array_struct__


def of_pandas(library, values):
    return library.Series(values, copy=False)


MAKERS = {
    "memoryview": (None, lambda _, values: memoryview(values)),
    "dlpack": (None, lambda _, values: SpeaksDLPack(values)),
    "interface": (None, lambda _, values: HasInterface(values)),
    "struct": (None, lambda _, values: HasStruct(values)),
    "array": (None, lambda _, values: array.array(values.dtype.char, values)),
    "ctypes": (None, lambda _, values: np.ctypeslib.as_ctypes(values.copy())),
    "torch": ("torch", lambda torch, values: torch.from_numpy(values)),
    "pyarrow": ("pyarrow", lambda arrow, values: arrow.array(values)),
    "pyarrow tensor": ("pyarrow", lambda arrow, values: arrow.Tensor.from_numpy(values)),
    "polars": ("polars", lambda polars, values: polars.Series(values)),
    "pandas": ("pandas", of_pandas),
    "xarray": ("xarray", lambda xarray, values: xarray.DataArray(values)),
}


@pytest.fixture(params=list(MAKERS))
def make(request):
    """Makes a vector of a library of some values; it lies in memory that NumPy finds, too."""
    name, maker = MAKERS[request.param]
    return lambda values: maker(pytest.importorskip(name) if name else None, values)


def address(v):
    """Return where the elements of something are, as NumPy finds it."""
    return np.asarray(v.held if isinstance(v, SpeaksDLPack) else v).ctypes.data


DTYPES = ("float64", "int16")


@pytest.mark.parametrize("dtype", DTYPES)
class TestInputs:
    """What a call is given."""

    def test_it_is_computed_with_where_it_lies(self, make, dtype):
        x = T.vector("x", dtype)
        backwards = theano.function([theano.In(x, borrow=True)], theano.Out(x[::-1], borrow=True))
        value = make(np.arange(6).astype(dtype))
        result = backwards(value)
        assert result.ctypes.data == address(value) + 5 * result.itemsize
        assert result.tolist() == [5, 4, 3, 2, 1, 0] and result.dtype == dtype

    def test_a_result_is_not_the_callers_memory(self, make, dtype):
        x = T.vector("x", dtype)
        value = make(np.arange(6).astype(dtype))
        same, doubled = theano.function([x], [x, x + x])(value)
        assert same.tolist() == [0, 1, 2, 3, 4, 5] and doubled.tolist() == [0, 2, 4, 6, 8, 10]
        assert same.ctypes.data != address(value)

    def test_shared_values(self, make, dtype):
        value = make(np.arange(6).astype(dtype))
        kept, own = theano.shared(value, borrow=True), theano.shared(value)
        assert kept.type == own.type == T.TensorType(dtype, (False,))
        assert kept.get_value(borrow=True).ctypes.data == address(value) != own.get_value(borrow=True).ctypes.data
        own.set_value(value)
        assert own.get_value(borrow=True).ctypes.data != address(value)
        own.set_value(value, borrow=True)
        assert own.get_value(borrow=True).ctypes.data == address(value)

    def test_constants_are_copies(self, make, dtype):
        value = make(np.arange(6).astype(dtype))
        made = T.as_tensor_variable(value)
        assert made.type.dtype == dtype and made.data.tolist() == [0, 1, 2, 3, 4, 5]
        assert made.data.ctypes.data != address(value)
        assert T.constant(value).data.tolist() == [0, 1, 2, 3, 4, 5]


class TestHow:
    """What else there is to it."""

    def test_in_expressions(self):
        values = np.arange(3.0)
        x = T.dvector("x")
        for value in (memoryview(values), SpeaksDLPack(values), array.array("d", values)):
            assert (x + value).eval({x: values}).tolist() == [0, 2, 4]

    def test_steps_and_more_dimensions(self):
        x = T.dmatrix("x")
        turned = np.arange(12.0).reshape(3, 4).T[::-1]
        backwards = theano.function([theano.In(x, borrow=True)], theano.Out(x.T, borrow=True))
        for value in (SpeaksDLPack(turned), HasInterface(turned), memoryview(turned)):
            result = backwards(value)
            assert result.ctypes.data == turned.ctypes.data and result.strides == turned.strides[::-1]

    def test_another_dtype_is_converted_where_nothing_is_lost(self):
        x = T.dvector("x")
        f = theano.function([x], x / 2)
        assert f(array.array("h", [1, 2])).tolist() == f(SpeaksDLPack(np.array([1, 2], "int8"))).tolist() == [0.5, 1]
        v = T.fvector("v")
        with pytest.raises(TypeError, match="without a risk of losing precision"):
            theano.function([v], v)(memoryview(np.array([0.1])))

    def test_memory_that_is_read_only_is_copied_before_it_is_overwritten(self):
        x = T.dvector("x")
        f = theano.function([theano.In(x, mutable=True)], x + 1, accept_inplace=True)
        fixed = np.arange(3.0)
        fixed.setflags(write=False)
        assert f(memoryview(fixed)).tolist() == [1, 2, 3] and fixed.tolist() == [0, 1, 2]

    def test_what_is_no_number_stays_an_object(self):
        assert theano.shared(b"text").type == theano.generic
        assert theano.shared(memoryview(b"abc")).type.dtype == "uint8"
        pandas = pytest.importorskip("pandas")
        assert theano.shared(pandas.Series(["a", "b"])).type == theano.generic

    def test_what_its_library_will_not_hand_out(self):
        class Far(SpeaksDLPack):
            def __dlpack_device__(self):
                return 2, 0

            def __dlpack__(self, **how):
                raise BufferError("it is on a device")

        x = T.dvector("x")
        with pytest.raises(ValueError, match="Far cannot be had: .*"):
            theano.function([x], x)(Far(np.zeros(3)))
        with pytest.raises(ValueError, match="Far cannot be had"):
            theano.shared(Far(np.zeros(3)))

    def test_tensors_of_torch_that_record_gradients(self):
        torch = pytest.importorskip("torch")
        x = T.dvector("x")
        with pytest.raises(ValueError, match="requires grad"):
            theano.function([x], x)(torch.zeros(3, dtype=torch.float64, requires_grad=True))


class TestResults:
    """What a call returns."""

    def test_results_as_tensors_of_torch_on_the_same_memory(self):
        torch = pytest.importorskip("torch")
        x = T.fmatrix("x")
        f = theano.function([x], [x * 2, x.T + 1])
        given = torch.arange(6, dtype=torch.float32).reshape(2, 3)
        for result in f(given):
            tensor = torch.from_dlpack(result)
            assert tensor.data_ptr() == result.ctypes.data and tuple(tensor.shape) == result.shape
        assert torch.equal(torch.from_dlpack(f(given)[0]), given * 2)

    def test_a_result_that_somebody_holds_by_dlpack_is_not_written_again(self):
        x = T.dvector("x")
        f = theano.function([x], x + 1)
        held = np.from_dlpack(f([1.0, 2.0]))
        for k in range(4):
            f([k, k])
        assert held.tolist() == [2, 3]
