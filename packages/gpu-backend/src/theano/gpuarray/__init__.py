"""Arrays on devices, and graphs that are computed there: CUDA and OpenCL, by one flag.

``THEANO_FLAGS=device=cuda`` (``cudaN``, ``openclP:D``) starts a device when ``theano`` is imported: functions then
compute there what they can, and shared variables keep their values there. :func:`use` does the same from a program.

Examples
--------
>>> GpuArrayType("float32", (False,))
GpuArrayType<None>(float32, vector)
"""

from __future__ import annotations

from theano.gpuarray.array import GpuArray as GpuArray
from theano.gpuarray.array import asarray as asarray
from theano.gpuarray.array import from_dlpack as from_dlpack
from theano.gpuarray.context import GpuContext as GpuContext
from theano.gpuarray.context import get_context as get_context
from theano.gpuarray.context import init_dev as init_dev
from theano.gpuarray.context import list_contexts as list_contexts
from theano.gpuarray.context import reg_context as reg_context
from theano.gpuarray.errors import ContextNotDefined as ContextNotDefined
from theano.gpuarray.errors import DeviceCompileError as DeviceCompileError
from theano.gpuarray.errors import DeviceError as DeviceError
from theano.gpuarray.errors import DeviceMemoryError as DeviceMemoryError
from theano.gpuarray.errors import GpuUnavailableError as GpuUnavailableError
from theano.gpuarray.start import use as use
from theano.gpuarray.variables import GpuArrayConstant as GpuArrayConstant
from theano.gpuarray.variables import GpuArraySharedVariable as GpuArraySharedVariable
from theano.gpuarray.variables import GpuArrayType as GpuArrayType
from theano.gpuarray.variables import GpuArrayVariable as GpuArrayVariable
from theano.gpuarray.variables import GpuFromHost as GpuFromHost
from theano.gpuarray.variables import GpuToGpu as GpuToGpu
from theano.gpuarray.variables import HostFromGpu as HostFromGpu
from theano.gpuarray.variables import as_gpuarray_variable as as_gpuarray_variable
from theano.gpuarray.variables import gpuarray_shared_constructor as gpuarray_shared_constructor
from theano.gpuarray.variables import host_from_gpu as host_from_gpu
from theano.gpuarray.variables import infer_context_name as infer_context_name
from theano.layers import enter as _enter
from theano.layers import lazily
from theano.layers.gpu_backend import LAYER as _LAYER

_enter(_LAYER)
__getattr__, __dir__ = lazily(
    globals(),
    {
        "ops": "theano.gpuarray.ops",
        "GpuKernel": "theano.gpuarray.programs:GpuKernel",
        "SIZE": "theano.gpuarray.programs:SIZE",
        "SSIZE": "theano.gpuarray.programs:SSIZE",
    },
)
