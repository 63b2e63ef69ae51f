"""What the host's halves of kernels are told beside their operands: the structs of ``parameters.h``.

This module needs nothing but the vocabulary: it is also loaded where the layer is built.
"""

from __future__ import annotations

from theano.graph.parameters import Address, Array, Flag, Int, Mask, Numbers, Parameters

OPERANDS = 40
"""As many operands as a loop on a device may have."""

_KERNEL = "const struct th_gpu_kernel *"


class DeviceMap(Parameters):
    """An element-wise loop."""

    flat = Address("where all operands lie in one piece, or are one element", _KERNEL)
    strided = Address("where they lie anyhow", _KERNEL)
    inputs = Int("how many there are")
    outputs = Int("how many there are")
    axes = Int("how many the loop has")
    hosts = Mask("the inputs that are single numbers of the host's: they go into the struct")
    ones = Array(Mask(), OPERANDS, "per input: the axes that are 1 long by its type")
    kinds = Array(Int(), OPERANDS, "per input: TH_SOME, TH_INVARIANT or TH_FULL")
    over = Array(Int(), OPERANDS, "per output: the input that it overwrites, or -1")
    constant_bytes = Int("of what follows")
    constants = Numbers("those of the expression, each in eight bytes")


class DeviceReduction(Parameters):
    """A loop whose terms are taken into results along some axes."""

    whole = Address("takes all terms of an element of the results", _KERNEL)
    parts = Address("takes some of them, into accumulators", _KERNEL)
    finish = Address("takes the accumulators of all parts into the results", _KERNEL)
    inputs = Int("how many there are")
    outputs = Int("how many there are")
    axes = Int("how many the loop has")
    reduced = Mask("the axes along which terms are taken together")
    needed = Mask("the results that are an error where there are no terms")
    accumulators = Int("bytes of the accumulators of one element")
    hosts = Mask("the inputs that are single numbers of the host's: they go into the struct")
    ones = Array(Mask(), OPERANDS, "per input: the axes that are 1 long by its type")
    constant_bytes = Int("of what follows")
    constants = Numbers("those of the expression, each in eight bytes")


class DeviceProduct(Parameters):
    """A product of matrices, or of many pairs of them."""

    tiled = Address("the kernel", _KERNEL)
    batch = Flag("whether there is a first axis, along which all operands go")
    added = Flag("whether it is multiplied by a number and added to a multiple of a matrix")
    in_place = Flag("whether that matrix is overwritten")
    left = Int("what the left operand is: 2 a matrix, 1 a vector")
    right = Int("the same of the right one")
    wide = Flag("whether it computes in float64")
