"""What annotations call sparse matrices, as variables and as values.

For type checkers alone: no module loads it when a program runs.
"""

from __future__ import annotations

from typing import TypeAlias

import scipy.sparse as sp

from theano.graph import Apply, Variable
from theano.sparse.var import SparseOperators

#: A variable of a sparse type, with the operators of matrices.
Sparse: TypeAlias = SparseOperators
#: A value of a sparse type: a matrix of SciPy's.
SparseMatrix: TypeAlias = sp.spmatrix
#: What `as_sparse_variable` makes a variable of.
SparseLike: TypeAlias = Variable | Apply | SparseMatrix
