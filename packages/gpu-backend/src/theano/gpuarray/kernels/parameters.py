"""The parameters of kernels' host code beside their operands: the structs of ``parameters.h``.

This module needs nothing but the vocabulary and the tensor layer's structs: it is also loaded where the layer is built.
"""

from __future__ import annotations

from theano.graph.parameters import Address, Array, Choice, Enumeration, Flag, Int, Mask, Numbers, Parameters, Record
from theano.tensor.kernels.parameters import ConvParams, Labels, Neighbours

OPERANDS = 40
"""As many operands as a loop on a device may have."""

ARGUMENTS = 3968
"""As many bytes as the struct of a launch may have, TH_GPU_ARGS of gpu.h."""

_KERNEL = "const struct th_gpu_kernel *"


class DeviceMap(Parameters):
    """An element-wise loop."""

    rows = Address("where the elements of a row are neighbours in all results", _KERNEL)
    strided = Address("for operands with any strides", _KERNEL)
    width = Int("how many neighbours a work-item of the first one computes")
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

    terms = Address("takes the terms of an element into the results, or parts of them into accumulators", _KERNEL)
    columns = Address("the same of packs of elements that are neighbours in memory, as their terms are; or 0", _KERNEL)
    finish = Address("takes the accumulators of all parts into the results", _KERNEL)
    width = Int("how many neighbours a work-item reads at once")
    inputs = Int("how many there are")
    outputs = Int("how many there are")
    axes = Int("how many the loop has")
    reduced = Mask("the axes along which terms are taken together")
    needed = Mask("the results that are an error if the reduction is empty")
    accumulators = Int("bytes of the accumulators of one element")
    hosts = Mask("the inputs that are single numbers of the host's: they go into the struct")
    ones = Array(Mask(), OPERANDS, "per input: the axes that are 1 long by its type")
    constant_bytes = Int("of what follows")
    constants = Numbers("those of the expression, each in eight bytes")


class DeviceProduct(Parameters):
    """A product of vectors or matrices, or of many pairs of them; operands by the numbers of the inputs."""

    tiled = Address("for many elements", _KERNEL)
    thin = Address("for few elements of long sums", _KERNEL)
    left = Int("of the left operand")
    right = Int("of the right one")
    batch = Flag("whether both have a first axis along which they go together")
    outer = Flag("whether they are vectors, of which each element meets each")
    added = Int("of what the product is added to, or -1")
    factor = Int("of a number that the product is multiplied by, or -1")
    scale = Int("of a number that what is added is multiplied by, or -1")
    in_place = Flag("whether what is added is overwritten")


class SoftmaxOperation(Enumeration):
    """What is computed of the rows of a matrix."""

    SOFTMAX = 0
    SOFTMAX_GRADIENT = 1
    LIKELIHOOD = 2
    LIKELIHOOD_GRADIENT = 3
    LOGARITHM = 4
    LOGARITHM_GRADIENT = 5


class DeviceSoftmax(Parameters):
    """Softmax of rows, and its relatives; the logarithm of the probability at each label."""

    function = Address("the kernel", _KERNEL)
    long_rows = Address("the one for rows longer than 256 work-items keep, if there is one", _KERNEL)
    kept = Int("how many elements of a row a work-item keeps")
    pack = Int("how many of them are 16 bytes")
    operation = Choice(SoftmaxOperation)
    bias = Flag("whether a vector is added to each row first")
    as_log = Flag("whether the logarithm is wanted")
    number = Flag("whether the gradient of all likelihoods is one number of the host's")
    labels = Choice(Labels)


class PoolOperation(Enumeration):
    """What is computed of windows."""

    MAX = 0
    SUM = 1
    MAX_GRADIENT = 2
    MAX_GRADIENT_GRADIENT = 3
    SUM_GRADIENT = 4
    MAX_DIRECTION = 5


class DevicePool(Parameters):
    """Pooling over windows of the last axes, and its derivatives."""

    function = Address("the kernel", _KERNEL)
    operation = Choice(PoolOperation)
    ndim = Int("how many axes the windows have")
    ignore_border = Flag("whether a window that does not fit is left out, not cut")
    mean = Flag("whether sums are divided by how many elements they have")
    with_padding = Flag("whether those of the padding are counted")


class DeviceCumulation(Parameters):
    """Sums or products of the elements up to each place."""

    totals = Address("takes parts of a line together", _KERNEL)
    cumulated = Address("computes all places", _KERNEL)
    axis = Int("of the lines; -1: all elements are one line")


class ConvDirection(Enumeration):
    """What is computed of the three tensors of a convolution: outputs, filters or images."""

    FORWARD = 0
    FILTERS = 1
    IMAGES = 2


class DeviceConvolution(Parameters):
    """A convolution, or one of its gradients."""

    square = Address("computes tiles of as many rows as columns", _KERNEL)
    low = Address("computes tiles of few rows", _KERNEL)
    finish = Address("adds parts of sums", _KERNEL)
    direction = Choice(ConvDirection)
    unshared = Flag("whether each place has filters of its own")
    conv = Record(ConvParams)


class DeviceNeighbours(Parameters):
    """Neighbourhoods of images as rows."""

    function = Address("the kernel", _KERNEL)
    mode = Choice(Neighbours)


class DeviceMatrices(Parameters):
    """Linear algebra: its kernels, of which each operation launches some, and what the ops say."""

    tiled = Address("products (`blas.cl`)", _KERNEL)
    take = Address("copies of triangles", _KERNEL)
    identity = Address("ones on a diagonal", _KERNEL)
    largest = Address("the largest absolute value", _KERNEL)
    add = Address("a matrix added to another one", _KERNEL)
    from_single = Address("copies from single precision", _KERNEL)
    to_single = Address("copies to single precision", _KERNEL)
    absolute_sums = Address("sums of columns of absolute values", _KERNEL)
    cholesky_block = Address("the factor of a block", _KERNEL)
    triangle_block = Address("equations of a triangle of one block", _KERNEL)
    eliminate_panel = Address("elimination in some columns", _KERNEL)
    exchange = Address("rows that elimination exchanges", _KERNEL)
    diagonal_product = Address("the determinant of what was eliminated", _KERNEL)
    reflect_panel = Address("reflections of some columns", _KERNEL)
    reflect = Address("reflections, applied to other columns", _KERNEL)
    rotate_columns = Address("rotations that make columns orthogonal", _KERNEL)
    column_norms = Address("norms of columns", _KERNEL)
    scale_columns = Address("columns times numbers", _KERNEL)
    take_signs = Address("columns with the signs of a diagonal", _KERNEL)
    angles = Address("rotations of a symmetric matrix", _KERNEL)
    rotate_both_sides = Address("what they make of it", _KERNEL)
    lower = Flag("whether the lower triangle is read or returned")
    symmetric = Flag("whether a matrix of equations is symmetric, of which one triangle is read")
    nan_on_error = Flag("whether NaN is returned if a factor or solution does not exist")
    with_q = Flag("whether Q is wanted")
    complete = Flag("whether all columns of Q, or of the singular vectors, are wanted")
    raw = Flag("whether the reflections themselves are wanted")
    vectors = Flag("whether singular vectors are wanted, or eigenvectors")
    second = Flag("whether eigenvalues are with respect to another matrix")


class DeviceTransform(Parameters):
    """Fourier transforms of real batches."""

    roots = Address("the roots of one", _KERNEL)
    stage = Address("a stage of the transform of lines", _KERNEL)
    complete = Address("the other half of spectra", _KERNEL)
    chirps = Address("what makes a transform a convolution", _KERNEL)
    modulate = Address("lines times the numbers of a table", _KERNEL)


class DeviceAlignments(Parameters):
    """Connectionist temporal classification."""

    log_softmax = Address("the logarithms of the softmax of each step", _KERNEL)
    alignments = Address("sums over all alignments, forwards and backwards", _KERNEL)


class DeviceBlocks(Parameters):
    """Products of chosen blocks with pieces of vectors."""

    chosen_products = Address("products of blocks and pieces", _KERNEL)
    outer_products = Address("outer products that are added to blocks", _KERNEL)
    in_place = Flag("whether the first input is overwritten")


class DeviceTriangle(Parameters):
    """A matrix with ones on and below a diagonal."""

    function = Address("the kernel", _KERNEL)


class DrawnKind(Enumeration):
    """The distribution of random numbers."""

    BITS = 0
    UNIFORM = 1
    NORMAL = 2


class DeviceMrg(Parameters):
    """Uniform numbers of MRG31k3p."""

    function = Address("the kernel", _KERNEL)
    in_place = Flag("whether the states are overwritten by the next ones")


class DevicePhilox(Parameters):
    """Numbers of Philox 4x32-10."""

    draw = Address("draws", _KERNEL)
    advance = Address("writes the next state, afterwards", _KERNEL)
    kind = Choice(DrawnKind)
    in_place = Flag("whether the state is overwritten by the next one")


class DeviceCategories(Parameters):
    """Outcomes drawn with uniform numbers."""

    function = Address("the kernel", _KERNEL)
    chooses = Flag("whether the outcomes are wanted, not how often each of them comes up")
    replace = Flag("whether an outcome may come again")


class DeviceSort(Parameters):
    """Lines in order: elements, their places, or both."""

    blocks = Address("orders blocks", _KERNEL)
    merge = Address("merges two runs", _KERNEL)
    put = Address("writes the requested results", _KERNEL)
    axis = Int("of the lines; where `selects` is not set, the second input says it")
    selects = Flag("whether the second input is how many are wanted: the largest, or, if it is negative, the smallest")
    values = Flag("whether the elements are wanted")
    places = Flag("whether their places are")


class DeviceSearch(Parameters):
    """Where values go into a sorted vector."""

    function = Address("the kernel", _KERNEL)
    right = Flag("whether behind those that are equal")


class DeviceBincount(Parameters):
    """How often whole numbers occur, or the sums of their weights."""

    blocks = Address("orders blocks", _KERNEL)
    merge = Address("merges two runs", _KERNEL)
    put = Address("writes sorted numbers and their places", _KERNEL)
    count = Address("counts", _KERNEL)
    weighted = Flag("whether there are weights")


class DeviceSelection(Parameters):
    """Elements that arrays on the device name, taken, set or added to."""

    locate = Address("finds out where they are", _KERNEL)
    tables = Address("makes the table by which they are moved", _KERNEL)
    blocks = Address("orders blocks", _KERNEL)
    merge = Address("merges two runs", _KERNEL)
    put = Address("writes sorted offsets and their points", _KERNEL)
    count = Int("of the axes of x that the index has an entry for")
    entries = Array(Int(), OPERANDS, "per axis, the input that has the places along it; -1: all of it is wanted")
    writes = Flag("whether something is written; else, taken")
    sets = Flag("whether values replace the old ones; else they are added")
    in_place = Flag("whether x itself is written to")
    ones = Mask("axes of the values that are 1 long by their type")
