"""In which order the packages of the upper layers stand: one imports from itself and from those before it.

A package is a folder or a module; one that is named by itself does not count to the folder that it is in. What an op
becomes (``lowering``), its rules and its batching are packages of their own: they see the ops of all families.
`check_layers` proves it of statements that import, inside functions, too. Imports for type checkers and names as texts
do not count.
"""

from __future__ import annotations

from functools import cache

_TENSOR = (
    # The language: types, variables, conversion, and what every op needs.
    "tensor.kernels tensor.foreign tensor.type_in_c tensor.type_documentation tensor.type tensor.closeness",
    "tensor.annotations tensor.messages tensor.convert tensor.constructors tensor.memory tensor.type_other tensor.io",
    "tensor.compound",
    "raise_op tensor.device",
    "tensor.composed",
    "tensor.control.checks tensor.shape.basic",
    # Families of ops.
    "tensor.elemwise tensor.utils tensor.inplace tensor.xlogx tensor.create tensor.shape tensor.control tensor.reduce",
    "tensor.blas tensor.join tensor.index tensor.shape.repeat tensor.sort tensor.pool tensor.rows",
    # What users call, and the methods of variables.
    "tensor.callbacks tensor.calibration tensor.numpy_calls tensor.functions tensor.expressions tensor.numpy_functions",
    "tensor.operators tensor.var tensor.printers tensor.signal",
    # Families that are written with them.
    "tensor.linalg tensor.fft tensor.random tensor.rules tensor.shape.rules.shapes tensor.sharedvar",
    "scan tensor.nnet tensor.conv",
    # The rules of all families.
    "tensor.control.rules tensor.rows.rules tensor.expressions.rules tensor.linalg.rules tensor.random.rules",
    "tensor.shape.rules tensor.index.rules tensor.join.rules tensor.blas.rules tensor.elemwise.rules",
    "tensor.reduce.rules tensor.elemwise.rules.fusion tensor.elemwise.rules.numbers tensor.nnet.rules",
    "tensor.conv.rules tensor.conv.fusion ifelse",
    # What ops become in C.
    "tensor.elemwise.lowering tensor.device.lowering tensor.control.lowering tensor.create.lowering",
    "tensor.pool.lowering tensor.reduce.lowering tensor.reduce.lowering_argmax tensor.blas.lowering",
    "tensor.join.lowering tensor.index.lowering tensor.shape.lowering tensor.sort.lowering tensor.linalg.lowering",
    "tensor.random.lowering tensor.fft.lowering tensor.nnet.lowering_softmax tensor.conv.lowering",
    # How they compute many rows at once.
    "tensor.batching.batched_node tensor.elemwise.batching tensor.pool.batching tensor.index.batching",
    "tensor.shape.batching tensor.blas.batching tensor.conv.batching tensor.batching",
    # NumPy's functions that are expressions of all others.
    "tensor.composed.shapes tensor.composed.joins tensor.composed.ranges tensor.composed.quantiles",
    "tensor.composed.padding tensor.composed.elements tensor.composed.nans tensor.composed.places",
    "tensor.composed.statistics tensor.composed.subscripts tensor.composed.products tensor.composed.stacks",
    "tensor.composed.factors tensor.composed.equations tensor.composed.norms tensor.composed.matrices",
    # Public modules, and what stands on all of it.
    "tensor.device.placement tensor.device.transfer tensor.basic tensor.exports tensor.latex tensor.testing",
    "layers.tensor layers.documented_tensor tensor distributed",
)
_SPARSE = (
    "layers.sparse sparse.kernels sparse.utils sparse.compressed sparse.type sparse.convert sparse.inspection",
    "sparse.parts sparse.random sparse.structure sparse.index sparse.elemwise sparse.product sparse.reduce",
    "sparse.parts.rules sparse.structure.rules sparse.elemwise.rules sparse.product.rules sparse.reduce.rules",
    "sparse.parts.lowering sparse.elemwise.lowering sparse.product.lowering sparse.reduce.lowering",
    "sparse.operations sparse.var sparse.annotations sparse.sharedvar sparse.rules sparse layers.documented_sparse",
)
_GPU = (
    "layers.gpu_backend gpuarray.dialect gpuarray.errors gpuarray.gemm_batch gpuarray.kernels gpuarray.drivers",
    "gpuarray.libraries gpuarray.writer gpuarray.checks gpuarray.exchange gpuarray.array gpuarray.context",
    "gpuarray.programs gpuarray.variables gpuarray.lowering gpuarray.calls gpuarray.device_ops gpuarray.start",
    "gpuarray.placement gpuarray.lifting gpuarray.ops gpuarray.rules gpuarray",
)
_PUBLIC = {"theano.tensor", "theano.sparse", "theano.gpuarray"}  # what is below one of them is in a package of its own
ORDER = {
    layer: {f"theano.{package}": place for place, package in enumerate(" ".join(lines).split())}
    for layer, lines in (("tensor", _TENSOR), ("sparse", _SPARSE), ("gpu-backend", _GPU))
}


@cache
def package_of(layer: str, module: str) -> str | None:
    """Return the package that a module of a layer is in, or None where it has none.

    Examples
    --------
    >>> package_of("tensor", "theano.tensor.shape.basic"), package_of("tensor", "theano.tensor.shape.reshape")
    ('theano.tensor.shape.basic', 'theano.tensor.shape')
    """
    name = module
    while name and (name not in ORDER[layer] or (name in _PUBLIC and name != module)):
        name = name.rpartition(".")[0]
    return name or None


def is_upward(layer: str, here: str, there: str) -> bool:
    """Return whether a module stands in a package before that of another one of the same layer.

    Examples
    --------
    >>> is_upward("tensor", "theano.tensor.elemwise.op", "theano.tensor.basic")
    True
    >>> is_upward("tensor", "theano.tensor.basic", "theano.tensor.elemwise.op")
    False
    """
    mine, theirs = package_of(layer, here), package_of(layer, there)
    return mine is not None and theirs is not None and ORDER[layer][theirs] > ORDER[layer][mine]
