"""The backend before `theano.gpuarray`: its arrays were of float32, on the one device there was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.gpuarray.context import GpuContext
from theano.gpuarray.start import use as start_device
from theano.gpuarray.variables import GpuArrayType, as_gpuarray_variable, gpuarray_shared_constructor
from theano.graph.op import Op
from theano.tensor.conv.functions import conv2d


def use(device: str, *args: Any, **options: Any) -> GpuContext | None:
    """Start a device that is called as it was then, such as ``gpu0``, and let functions use it (`theano.gpuarray.use`).

    Examples
    --------
    >>> use("tpu") is None
    True
    """
    number = device.removeprefix("gpu")
    return start_device(device if number == device else f"cuda{number}", *args, **options)


class _OnDevice(type(GpuArrayType)):  # type: ignore[misc]
    """The class of `CudaNdarrayType`, which makes types of `theano.gpuarray`, and knows them."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs) if cls is not CudaNdarrayType else _float32(*args, **kwargs)

    def __instancecheck__(cls, thing: object) -> bool:
        if cls is not CudaNdarrayType:
            return type.__instancecheck__(cls, thing)
        return isinstance(thing, GpuArrayType) and thing.dtype == "float32"


class CudaNdarrayType(GpuArrayType, metaclass=_OnDevice):
    """The type of arrays of float32 on the default device.

    Examples
    --------
    >>> kind = CudaNdarrayType((False, True))
    >>> kind, isinstance(kind, CudaNdarrayType)
    (GpuArrayType<None>(float32, col), True)
    """

    def __init__(self, broadcastable: Sequence[bool], name: str | None = None, dtype: str = "float32"):
        super().__init__(dtype, broadcastable, name=name)


def _float32(broadcastable: Sequence[bool], name: str | None = None, dtype: str = "float32") -> GpuArrayType:
    return GpuArrayType(dtype, broadcastable, name=name)


class GpuOp(Op):
    """The base of ops that computed on the device; theirs say in ``make_node`` what they take.

    Examples
    --------
    >>> issubclass(GpuOp, Op)
    True
    """


def as_cuda_ndarray_variable(x: Any) -> Any:
    """Return a variable on the default device, moved there if need be.

    Examples
    --------
    >>> import theano.tensor as T
    >>> as_cuda_ndarray_variable(T.fvector("x")).type
    GpuArrayType<None>(float32, vector)
    """
    return as_gpuarray_variable(x, None)


def float32_shared_constructor(
    value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None, borrow: bool = False,
    broadcastable: Sequence[bool] | None = None,
) -> Any:  # fmt: skip
    """Return a shared variable of float32 on the default device.

    Raises
    ------
    TypeError
        The value is no array of float32.
    """
    if not isinstance(value, np.ndarray) or value.dtype != np.float32:
        raise TypeError(f"an array of float32, not {getattr(value, 'dtype', type(value).__name__)}")
    return gpuarray_shared_constructor(value, name, strict, allow_downcast, borrow, broadcastable)


def conv2d_fft(
    input: Any, filters: Any, image_shape: Any = None, filter_shape: Any = None, border_mode: Any = "valid",
    pad_last_dim: bool = False,
) -> Any:  # fmt: skip
    """Return the convolution of images with filters, computed as `theano.tensor.nnet.conv2d` is.

    Parameters
    ----------
    input, filters : tensor
    image_shape, filter_shape : sequence of int, optional
    border_mode : str
    pad_last_dim : bool
        What Fourier transforms wanted; ignored.

    Examples
    --------
    >>> import theano.tensor as T
    >>> conv2d_fft(T.ftensor4("img"), T.ftensor4("kerns"), border_mode="full").type.ndim
    4
    """
    return conv2d(input, filters, input_shape=image_shape, filter_shape=filter_shape, border_mode=border_mode)


#: Where libraries of CUDA were looked for: nothing is linked with them.
rpath_defaults: list[str] = []


def add_standard_rpath(rpath: str) -> None:
    """Add a folder to `rpath_defaults`, which is all that becomes of it."""
    rpath_defaults.append(rpath)


def is_nvcc_available() -> bool:
    """Return False: programs for devices are compiled by their drivers, and nvcc is not asked for.

    Examples
    --------
    >>> is_nvcc_available()
    False
    """
    return False


class NVCC_compiler:
    """What compiled modules of Python with CUDA in them: a program does without, or says that it cannot."""

    @staticmethod
    def compile_args() -> list[str]:
        """Return the options for nvcc: none."""
        return []

    @staticmethod
    def compile_str(module_name: str, src_code: str, *args: Any, **options: Any) -> Any:
        """Refuse.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError(
            f"{module_name}: modules with CUDA in them are not compiled by nvcc any more. Write the kernels as an op, "
            "derived from theano.gpuarray.basic_ops.GpuKernelBase"
        )
