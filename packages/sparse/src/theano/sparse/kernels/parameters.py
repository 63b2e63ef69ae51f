"""The parameters of this layer's kernels beside their inputs: the structs of ``parameters.h``."""

from __future__ import annotations

from theano.graph.parameters import Flag, Parameters


class CompressedParams(Parameters):
    """A matrix of parts."""

    columns = Flag("whether its lines are columns (csc), not rows (csr)")


class StretchedParams(Parameters):
    """A matrix of parts and a dense one."""

    columns = Flag("whether its lines are columns (csc), not rows (csr)")
    one_row = Flag("whether the dense one has one row by its type")
    one_column = Flag("whether the dense one has one column by its type")


class ProductParams(Parameters):
    """A product of a sparse with a dense operand."""

    columns = Flag("whether the lines of the sparse one are columns (csc), not rows (csr)")
    added = Flag("whether it is multiplied by a number and added to a matrix")
    in_place = Flag("whether that matrix is overwritten")


class SumParams(Parameters):
    """Sums of stored numbers."""

    columns = Flag("whether the lines of the matrix are columns (csc), not rows (csr)")
    along = Flag("whether the numbers of each line are added, not those at each place of the lines")


class UnionParams(Parameters):
    """Two matrices element by element."""

    columns = Flag("whether their lines are columns (csc), not rows (csr)")
    multiplies = Flag("whether numbers are multiplied, not added")
