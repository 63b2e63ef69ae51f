"""The parameters of the kernels of this layer, except for reductions: the structs of ``parameters.h``.

A field says what a kernel reads beside its inputs. `theano.tensor.kernels.reduction` has those of reductions, whose
struct generated kernels hold as well.
"""

from __future__ import annotations

from theano.graph.parameters import (
    Address,
    Array,
    Choice,
    Enumeration,
    Flag,
    Int,
    List,
    Mask,
    Numbers,
    Parameters,
    Record,
    Text,
)


class Constants(Parameters, c_name=""):
    """The constants of a generated loop, which its own text reads, without a struct."""

    numbers = Numbers()


class SingleParams(Parameters, c_name="th_single"):
    """The table of an element-wise loop that the library has."""

    ndim = Int("axes")
    over = Int("the input whose memory the result takes, or -1")
    work = Int("picoseconds per element")
    ones = Array(Mask(), 2, "axes along which an input is 1 long by its type")


# -- views and copies --------------------------------------------------------------------------------------


class DimshuffleParams(Parameters):
    """Axes reordered, dropped and added."""

    copies = Flag("whether the result is a copy, not a view")
    dropped = Mask("the input's axes that go")
    axes = List(Int(), "for each axis of the result the input's, or -1 for a new one")


class ReshapeParams(Parameters):
    """Elements in another shape."""

    may_view = Flag("whether a view is allowed")


class RebroadcastParams(Parameters):
    """Lengths that a type has promised."""

    ones = Mask("axes that must have length 1")


class MessageParams(Parameters):
    """A check of conditions."""

    error = Int("its kind: a TH_ERR")
    text = Text("of the error")


class IfElseParams(Parameters):
    """One of two lists of inputs."""

    as_view = Flag("whether the outputs are the values themselves, not copies")


class AxisParams(Parameters):
    """One axis."""

    axis = Int("-1 for the flat array, where a kernel has that")


class JoinParams(Parameters):
    """Tensors one behind the other."""

    viewed = Int("the tensor that the result may view if all others are empty, or -1")


class SplitParams(Parameters):
    """A tensor in pieces."""

    copies = List(Flag(), "for each output, whether it is a copy, not a view")


# -- diagonals ---------------------------------------------------------------------------------------------


class Diagonal(Parameters, c_name="th_diagonal"):
    """A diagonal of the matrices that two axes span."""

    offset = Int("above the main one, or below it where negative")
    first = Int("the axis of rows")
    second = Int("the axis of columns")


class ExtractDiagonalParams(Parameters):
    """A diagonal taken out."""

    diagonal = Record(Diagonal)
    as_view = Flag("whether the result is a view")


class SetDiagonalParams(Parameters):
    """A diagonal replaced."""

    diagonal = Record(Diagonal)
    ones = Mask("axes of the new one that are 1 long by its type")


class AllocDiagonalParams(Parameters):
    """Zeros but for a diagonal."""

    diagonal = Record(Diagonal)


class EyeParams(Parameters):
    """Ones on a diagonal."""

    below = Flag("whether there are ones below it too")


# -- new arrays --------------------------------------------------------------------------------------------


class AllocParams(Parameters):
    """A value repeated."""

    ones = Mask("axes of the value that are 1 long by its type")


class ArangeParams(Parameters):
    """Numbers by steps."""

    whole = Flag("whether start, stop and step are all integers")


# -- parts of tensors --------------------------------------------------------------------------------------


class End(Enumeration):
    """How an end of a slice, or an index, is given: `value` is the number itself, or the input that has it."""

    ABSENT = 0
    KNOWN = 1
    INPUT = 2


class IndexKind(Enumeration):
    """What an entry of an index is; NEXT stands before an index of what those before it select."""

    NUMBER = 0
    SLICE = 1
    NEW = 2
    ARRAY = 3
    MASK = 4
    NEXT = 5


class Bound(Parameters, c_name="th_bound"):
    """A number of an index, known now or when the kernel is called."""

    how = Choice(End)
    value = Int()


class IndexEntry(Parameters, c_name="th_index_entry"):
    """One entry of an index; a number, an array or a mask is its `start`."""

    kind = Choice(IndexKind)
    start = Record(Bound)
    stop = Record(Bound)
    step = Record(Bound)


class Write(Parameters, c_name="th_write"):
    """How a part is written."""

    in_place = Flag("whether x itself is written to")
    sets = Flag("whether values replace the part; else they are added")
    ones = Mask("axes of the values that are 1 long by their type")


class SubtensorParams(Parameters):
    """A part of a tensor."""

    index = List(Record(IndexEntry))


class IncSubtensorParams(Parameters):
    """A tensor, a part of which is written."""

    write = Record(Write)
    index = List(Record(IndexEntry))


class OrderParams(Parameters):
    """How places in a flat array are counted."""

    first_fastest = Flag("whether the first axis goes fastest")


class OutOfRange(Enumeration):
    """What becomes of indexes that do not exist."""

    RAISE = 0
    WRAP = 1
    CLIP = 2


class RavelParams(Parameters):
    """Indexes as places in a flat array."""

    mode = Choice(OutOfRange)
    first_fastest = Flag("whether the first axis goes fastest")


class PermuteRowsParams(Parameters):
    """Rows in another order."""

    x_ones = Mask("axes of x that are 1 long by its type")
    order_ones = Mask("the same of the permutations")


# -- search and order --------------------------------------------------------------------------------------


class ArgmaxParams(Parameters):
    """Where the best is."""

    searched = Mask("axes")
    smallest = Flag("whether the best is the smallest")


class CumulateParams(Parameters):
    """Sums or products up to each place."""

    axis = Int("-1 for the flat array")
    multiplies = Flag()


class LinearRecurrenceParams(Parameters):
    """Each place from the one before it."""

    axis = Int()
    transposed = Flag("whether each place comes from the one after it")


class SortParams(Parameters):
    """Elements in order, or their places."""

    function = Address("NumPy's sort, of elements or of places")
    places = Flag("whether the places are wanted")


class TopkParams(Parameters):
    """The largest or smallest elements."""

    axis = Int()
    values = Flag("whether values are wanted")
    places = Flag("whether places are wanted")
    sort = Address("NumPy's sort of elements, or 0")
    sort_places = Address("its stable sort of places, or 0")


class SearchsortedParams(Parameters):
    """Places in a sorted vector."""

    dtype = Int("the type in which to compare")
    itemsize = Int("of that type")
    right = Flag("whether places after equals are wanted")


class UniqueParams(Parameters):
    """Different elements."""

    sort = Address("NumPy's sort of elements")
    sort_places = Address("its sort of places: a stable one, where first places are wanted")
    first = Flag("whether first places are wanted")
    inverse = Flag("whether the inverse is wanted")
    counts = Flag("whether counts are wanted")
    axis = Int("-1 for the flat array")


# -- random numbers ----------------------------------------------------------------------------------------


class MrgUniformParams(Parameters):
    """Uniform numbers of MRG31k3p."""

    in_place = Flag("whether the states themselves are advanced")


class RandomKind(Enumeration):
    """The distribution of random numbers."""

    BITS = 0
    UNIFORM = 1
    NORMAL = 2


class PhiloxParams(Parameters):
    """Numbers of Philox 4x32-10."""

    in_place = Flag("whether the state itself is advanced")
    kind = Choice(RandomKind)


# -- convolution -------------------------------------------------------------------------------------------


class Border(Enumeration):
    """How many zeros are put around an image."""

    VALID = 0
    FULL = 1
    HALF = 2
    GIVEN = 3


class ConvAxisParams(Parameters):
    """An axis that is convolved."""

    border = Choice(Border)
    before = Int("zeros before the image, if given")
    after = Int("and after it")
    step = Int()
    dilation = Int()


MAX_CONV_AXES = 3


class ConvParams(Parameters):
    """A convolution, or one of its gradients."""

    groups = Int()
    flip = Flag("whether filters are reversed")
    threads = Int("how many may work at once, 0 for as many as there are")
    winograd = Flag("whether fewer multiplications may be done, which rounds otherwise")
    axes = Array(Record(ConvAxisParams), MAX_CONV_AXES)


class ConvLimit(Enumeration):
    """How many operands a loop over results may have, these and the output among them."""

    OPERANDS = 32


class ConvElemwiseParams(Parameters):
    """A convolution, and an element-wise loop over its results."""

    run = Address("what computes both; generated code finds it here")
    conv = Record(ConvParams)
    numbers = Numbers("constants of the loop")


class PoolMode(Enumeration):
    """What becomes of a window; the means come last."""

    MAX = 0
    SUM = 1
    MEAN = 2
    MEAN_WITH_PADDING = 3


class PoolParams(Parameters):
    """Windows of the last axes."""

    mode = Choice(PoolMode)
    ndim = Int("how many axes the windows have")
    ignore_border = Flag("whether a window that does not fit is left out, not cut")


class Neighbours(Enumeration):
    """The positions of neighbourhoods in an image."""

    VALID = 0
    HALF = 1
    FULL = 2
    WRAP_CENTERED = 3
    IGNORE_BORDERS = 4


class InPlaceParams(Parameters):
    """What is added to something."""

    in_place = Flag("whether to that itself")


class Images2NeibsParams(Parameters, c_name="th_images2neibs_params"):
    """Neighbourhoods as rows."""

    mode = Choice(Neighbours)


# -- neural networks ---------------------------------------------------------------------------------------


class Labels(Enumeration):
    """How labels choose columns: one for each row; or as an index of the first k rows, or of all rows, does."""

    EACH = 0
    FIRST = 1
    ALL = 2


class SoftmaxParams(Parameters):
    """Rows as probabilities."""

    bias = Flag("whether there is a bias")
    as_log = Flag("whether the logarithm is wanted")
    loss = Flag("whether the loss at the labels is wanted")
    labels = Choice(Labels)


class CrossentropyDxParams(Parameters):
    """The gradient of cross entropies."""

    labels = Choice(Labels)


# -- products and factorisations ---------------------------------------------------------------------------


class Tuning(Parameters, c_name="th_tuning"):
    """What is fastest on this machine: one struct a process, which kernels read at each call."""

    own_float32 = Int("up to how many multiplications a product is our own, not the BLAS library's")
    own_float64 = Int()
    small_above_float32 = Int("more multiplications than this, and at most ...")
    small_above_float64 = Int()
    small_up_to_float32 = Int("... this number: the library also computes products of small, nearly square matrices")
    small_up_to_float64 = Int()
    row_by_row = Flag("whether rows of big arrays are reduced one after the other, not four at a time")
    row_by_row_widened = Flag("the same for float32 whose sums are float64")


class BlasParams(Parameters, c_name="blas_params"):
    """How products of matrices are computed. A routine of 0 was not found."""

    in_place = Flag("whether the result takes the memory of the first input")
    wide = Flag("whether BLAS counts in 64 bits, not 32")
    tuning = Address("th_tuning, which says up to how many multiplications a product of floats is our own; ...")
    own = Int("... or this does, without tuning")
    threads = Int("how many our own may use; 0: as many as there are")
    gemm = Address()
    gemv = Address()
    ger = Address()
    dot = Address()


class LapackParams(Parameters, c_name="lapack_params"):
    """The parameters of all kernels that call LAPACK; routines may be 0 where `own` says that every size is ours."""

    wide = Flag("whether LAPACK's integers have 64 bits")
    own = Int("up to how many multiplications our own factorisations are taken")
    threads = Int("how many those may use; 0: as many as there are")


class CholeskyParams(LapackParams):
    """Cholesky's factor."""

    lower = Flag()
    nan_on_error = Flag("whether a matrix that has none gives nan; else it is an error")
    potrf = Address()


class InverseParams(LapackParams):
    """The inverse."""

    getrf = Address()
    getri = Address()


class EliminationParams(LapackParams):
    """The factors of elimination, and the determinant, which is their product."""

    getrf = Address()


class SolveTriangularParams(LapackParams):
    """Equations of a triangular matrix."""

    lower = Flag()
    nan_on_error = Flag("whether a singular matrix gives nan; else it is an error")
    trtrs = Address()


class Symmetry(Enumeration):
    """Which triangle of the matrix of equations stands for both."""

    NONE = 0
    LOWER = 1
    UPPER = 2


class SolveParams(LapackParams):
    """Equations."""

    symmetric = Choice(Symmetry)
    nan_on_error = Flag("whether a singular matrix gives nan; else it is an error")
    getrf = Address()
    getrs = Address()


class QrMode(Enumeration):
    """What of Q and R is wanted."""

    REDUCED = 0
    COMPLETE = 1
    R = 2
    RAW = 3


class QRParams(LapackParams):
    """Q and R."""

    mode = Choice(QrMode)
    geqrf = Address()
    generate = Address("orgqr, or ungqr for complex numbers")


class EighParams(LapackParams):
    """Eigenvalues and eigenvectors of a symmetric matrix."""

    lower = Flag()
    evd = Address("syevd, or heevd for complex numbers")
    sytrd = Address("0 for complex numbers")
    stedc = Address("0 for complex numbers")


class EigvalshParams(LapackParams):
    """Eigenvalues of a symmetric matrix, perhaps with respect to another."""

    lower = Flag()
    second = Flag("whether there is another one")
    evd = Address("syevd or heevd; with another one sygvd or hegvd")


class EigParams(LapackParams):
    """Eigenvalues and eigenvectors of any matrix."""

    geev = Address()


class SvdParams(LapackParams):
    """Singular values, and vectors."""

    full = Flag("whether bases of the whole spaces are wanted")
    vectors = Flag("whether vectors are wanted")
    gesdd = Address()
    gebrd = Address("0 for complex numbers")
    bdsdc = Address("0 for complex numbers")


class PinvParams(LapackParams):
    """The pseudo-inverse."""

    gesdd = Address()


class LstsqParams(LapackParams):
    """Least squares."""

    gelsd = Address()


class ExpmParams(Parameters):
    """The exponential of a matrix."""

    threads = Int("how many may be used; 0: as many as there are")
