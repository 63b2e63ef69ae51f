"""Which part of a graph is computed on a device, and under which names its ops then go.

`GpuPlacement` moves nodes to the device by the entries of the lowering table. When everything has been decided,
`name_ops` gives the ops on devices the names under which programs and documentation look for them: ``GpuElemwise`` for
an `Elemwise`. Such a class adds nothing but its name, so an op has one statement for all processors.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from typing import Any

from theano.gpuarray.array import context_name_of, device_name
from theano.gpuarray.calls import CONSTRUCTORS, called
from theano.gpuarray.context import is_started, list_contexts
from theano.gpuarray.variables import GpuArrayType, as_gpuarray_variable, host_from_gpu
from theano.graph import Apply, FunctionGraph, Op, Variable
from theano.lowering.targets import Target
from theano.rewriting.context import Context
from theano.tensor.conv.fusion import join_convolutions, split_convolutions
from theano.tensor.device.placement import Placement
from theano.tensor.type import TensorType

_OPS = "theano.gpuarray.ops"

#: For the class of an op, by the module that has it, what it is called on a device.
NAMES = {
    "theano.tensor.elemwise.op:Elemwise": "GpuElemwise",
    "theano.tensor.elemwise.dimshuffle:DimShuffle": "GpuDimShuffle",
    "theano.tensor.index.basic:Subtensor": "GpuSubtensor",
    "theano.tensor.index.basic:IncSubtensor": "GpuIncSubtensor",
    "theano.tensor.index.advanced:AdvancedSubtensor1": "GpuAdvancedSubtensor1",
    "theano.tensor.index.advanced:AdvancedSubtensor": "GpuAdvancedSubtensor",
    "theano.tensor.index.advanced:AdvancedBooleanSubtensor": "GpuAdvancedBooleanSubtensor",
    "theano.tensor.index.advanced:AdvancedIncSubtensor1": "GpuAdvancedIncSubtensor1",
    "theano.tensor.index.advanced:AdvancedIncSubtensor": "GpuAdvancedIncSubtensor",
    "theano.tensor.index.advanced:AdvancedBooleanIncSubtensor": "GpuAdvancedBooleanIncSubtensor",
    "theano.tensor.shape.reshape:Reshape": "GpuReshape",
    "theano.tensor.shape.contiguous:CpuContiguous": "GpuContiguous",
    "theano.tensor.shape.diagonals:ExtractDiag": "GpuExtractDiag",
    "theano.tensor.shape.diagonals:AllocDiag": "GpuAllocDiag",
    "theano.tensor.create.alloc:Alloc": "GpuAlloc",
    "theano.tensor.create.alloc:AllocEmpty": "GpuAllocEmpty",
    "theano.tensor.create.diagonals:Eye": "GpuEye",
    "theano.tensor.create.diagonals:Tri": "GpuTri",
    "theano.tensor.join.op:Join": "GpuJoin",
    "theano.tensor.join.op:Split": "GpuSplit",
    "theano.tensor.reduce.careduce:CAReduce": "GpuCAReduceCuda",
    "theano.tensor.reduce.map_reduce:MapReduce": "GpuMapReduce",
    "theano.tensor.reduce.logsumexp:LogSumExp": "GpuLogSumExp",
    "theano.tensor.reduce.argmax:Argmax": "GpuArgmax",
    "theano.tensor.reduce.argmax:Argmin": "GpuArgmin",
    "theano.tensor.reduce.argmax:MaxAndArgmax": "GpuMaxAndArgmax",
    "theano.tensor.blas.dot:Dot": "GpuDot",
    "theano.tensor.blas.dot:BatchedDot": "GpuBatchedDot",
    "theano.tensor.blas.routines:Dot22": "GpuDot22",
    "theano.tensor.blas.routines:Dot22Scalar": "GpuDot22Scalar",
    "theano.tensor.blas.routines:Gemm": "GpuGemm",
    "theano.tensor.blas.routines:Gemv": "GpuGemv",
    "theano.tensor.blas.routines:Ger": "GpuGer",
    "theano.gpuarray.gemm_batch:GemmBatch": "GpuGemmBatch",
    "theano.tensor.sort.cumulative:CumOp": "GpuCumOp",
    "theano.tensor.sort.op:SortOp": "GpuSortOp",
    "theano.tensor.sort.op:ArgSortOp": "GpuArgSortOp",
    "theano.tensor.sort.op:TopKOp": "GpuTopKOp",
    "theano.tensor.sort.search:SearchsortedOp": "GpuSearchsortedOp",
    "theano.tensor.sort.sets:Bincount": "GpuBincount",
    "theano.tensor.random.mrg:mrg_uniform": "GPUA_mrg_uniform",
    "theano.tensor.random.philox:PhiloxDraw": "GpuPhiloxDraw",
    "theano.tensor.random.categories:MultinomialFromUniform": "GPUAMultinomialFromUniform",
    "theano.tensor.random.categories:ChoiceFromUniform": "GPUAChoiceFromUniform",
    "theano.tensor.pool.op:Pool": "GpuPool",
    "theano.tensor.pool.op:MaxPoolGrad": "GpuMaxPoolGrad",
    "theano.tensor.pool.op:AveragePoolGrad": "GpuAveragePoolGrad",
    "theano.tensor.pool.op:DownsampleFactorMaxGradGrad": "GpuDownsampleFactorMaxGradGrad",
    "theano.tensor.pool.op:MaxPoolRop": "GpuMaxPoolRop",
    "theano.tensor.conv.products:CorrMM": "GpuCorrMM",
    "theano.tensor.conv.products:CorrMM_gradWeights": "GpuCorrMM_gradWeights",
    "theano.tensor.conv.products:CorrMM_gradInputs": "GpuCorrMM_gradInputs",
    "theano.tensor.conv.products:Corr3dMM": "GpuCorr3dMM",
    "theano.tensor.conv.products:Corr3dMM_gradWeights": "GpuCorr3dMM_gradWeights",
    "theano.tensor.conv.products:Corr3dMM_gradInputs": "GpuCorr3dMM_gradInputs",
    "theano.tensor.nnet.neighbours:Images2Neibs": "GpuImages2Neibs",
    "theano.tensor.linalg.factor:Cholesky": "GpuCholesky",
    "theano.tensor.linalg.factor:QRFull": "GpuMagmaQR",
    "theano.tensor.linalg.factor:QRIncomplete": "GpuMagmaQRIncomplete",
    "theano.tensor.linalg.factor:SVD": "GpuMagmaSVD",
    "theano.tensor.linalg.factor:Eigh": "GpuMagmaEigh",
    "theano.tensor.linalg.factor:Eigvalsh": "GpuEigvalsh",
    "theano.tensor.linalg.functions:Expm": "GpuExpm",
    "theano.tensor.linalg.equations:MatrixInverse": "GpuMagmaMatrixInverse",
    "theano.tensor.linalg.equations:MatrixPinv": "GpuMatrixPinv",
    "theano.tensor.linalg.equations:lstsq": "GpuLstsq",
    "theano.tensor.linalg.determinant:Det": "GpuDet",
    "theano.tensor.linalg.equations:Solve": "GpuCusolverSolve",
    "theano.tensor.fft.op:RFFTOp": "CuRFFTOp",
    "theano.tensor.fft.op:IRFFTOp": "CuIRFFTOp",
    "theano.tensor.nnet.ctc:ConnectionistTemporalClassification": "GpuConnectionistTemporalClassification",
    "theano.tensor.nnet.blocksparse:SparseBlockGemv": "GpuSparseBlockGemv",
    "theano.tensor.nnet.blocksparse:SparseBlockOuter": "GpuSparseBlockOuter",
    "theano.tensor.nnet.softmax:Softmax": "GpuSoftmax",
    "theano.tensor.nnet.softmax:SoftmaxWithBias": "GpuSoftmaxWithBias",
    "theano.tensor.nnet.softmax:LogSoftmax": "GpuLogSoftmax",
    "theano.tensor.nnet.softmax:SoftmaxGrad": "GpuSoftmaxGrad",
    "theano.tensor.nnet.likelihood:CrossentropySoftmaxArgmax1HotWithBias": "GpuCrossentropySoftmaxArgmax1HotWithBias",
    "theano.tensor.nnet.likelihood:CrossentropySoftmax1HotWithBiasDx": "GpuCrossentropySoftmax1HotWithBiasDx",
    "theano.tensor.nnet.crossentropy:CrossentropyCategorical1Hot": "GpuCrossentropyCategorical1Hot",
    "theano.tensor.nnet.crossentropy:CrossentropyCategorical1HotGrad": "GpuCrossentropyCategorical1HotGrad",
}


class GpuPlacement(Placement):
    """The pass that has a device compute all that this layer has lowerings for."""

    def __init__(self, target: Target):
        super().__init__(target, "gpuarray")
        self.name = "gpuarray_opt"

    def __call__(self, fgraph: FunctionGraph, context: Context) -> None:
        """Change ``fgraph``.

        A device has one kernel for all convolutions, and another for what is done with results. A kernel of both would
        be compiled for each expression anew, which takes as long as reading the results once more some thousand times.
        """
        split = split_convolutions(fgraph, context)
        super().__call__(fgraph, context)
        join_convolutions(fgraph, context, split)

    def device_for(self, moving: Sequence[Variable]) -> str | None:
        """Return the device that an input's tag names, or the default one; None where there are only others."""
        for v in moving:
            name = getattr(v.tag, "target", Ellipsis)
            if name is not Ellipsis:
                return None if name == "cpu" else device_name(name)
        return self.target.device if is_started(None) or not any(list_contexts()) else None

    def type_there(self, kind: TensorType, device: str) -> GpuArrayType:
        """Return the type of the same arrays on a device."""
        return GpuArrayType(kind.dtype, kind.broadcastable, context_name_of(device))

    def to_device(self, v: Variable, device: str) -> Variable:
        """Return ``v`` moved there."""
        return as_gpuarray_variable(v, context_name_of(device))

    def from_device(self, v: Variable) -> Variable:
        """Return ``v`` brought back."""
        return host_from_gpu(v)


def _spelled(text: str) -> str:
    """Return how an op is printed on a device, from how it is on the CPU.

    Examples
    --------
    >>> _spelled("Elemwise{exp}"), _spelled("InplaceDimShuffle{1,0}"), _spelled("GpuSum{axis=[0]}")
    ('GpuElemwise{exp}', 'InplaceGpuDimShuffle{1,0}', 'GpuSum{axis=[0]}')
    """
    if text.upper().startswith("GPU"):
        return text
    return text.replace("Inplace", "InplaceGpu", 1) if text.startswith("Inplace") else f"Gpu{text}"


def _class_there(name: str, bases: tuple[type[Op], ...], doc: str | None) -> type[Op]:
    base = bases[0]

    def call(op: Any, *inputs: Any, **options: object) -> Any:
        return called(op, base, inputs, options)

    own = {"__doc__": doc, "__module__": _OPS, "__str__": lambda op: _spelled(base.__str__(op)), "__call__": call}
    if name in CONSTRUCTORS:
        own["__init__"] = CONSTRUCTORS[name]
    return type(name, bases, own)


@cache
def named_classes() -> dict[type[Op], type[Op]]:
    """Return the classes of ops on devices, by those whose names they stand for."""
    found = {}
    for place, name in NAMES.items():
        module, _, attribute = place.partition(":")
        base = getattr(importlib.import_module(module), attribute)
        doc = f"A `{base.__name__}` that is computed on a device."
        found[base] = _class_there(name, (base,), doc)
    return found


# Made once for each class, so that equal ops stay equal.
_subclasses: dict[type[Op], type[Op]] = {}


def _name_there(cls: type[Op]) -> type[Op] | None:
    """Return the class for ops of ``cls``: that of its nearest base in the table; a subclass keeps what it adds."""
    if cls in _subclasses:
        return _subclasses[cls]
    for base in cls.__mro__:
        if base in named_classes():
            known = named_classes()[base]
            if base is not cls:
                known = _class_there(f"Gpu{cls.__name__}", (cls, known), known.__doc__)
            return _subclasses.setdefault(cls, known)
    return None


def on_device(op: Any) -> Any:
    """Return an op under the name that it has on a device; one without such a name as it is."""
    cls: Any = _name_there(type(op))
    if cls is None:
        return op
    named: Any = object.__new__(cls)
    named.__dict__.update(op.__dict__)
    return named


def name_ops(fgraph: FunctionGraph, context: Context) -> None:
    """Give the ops that are computed on a device the names that they have there."""
    for node in fgraph.toposort():
        if not isinstance(node.op, tuple(named_classes())) or type(node.op).__module__ == _OPS:
            continue
        if not node.outputs or not isinstance(node.outputs[0].type, GpuArrayType):
            continue
        op = on_device(node.op)
        fresh = Apply(op, list(node.inputs), [v.type.make_variable(v.name) for v in node.outputs])
        context.replace(fgraph, list(zip(node.outputs, fresh.outputs, strict=True)), "gpu_names")
