"""Order: sorting, searching, sets, counts, and running sums."""

from __future__ import annotations

from theano.layers import lazily
from theano.tensor.sort.op import KINDS as KINDS
from theano.tensor.sort.op import ArgSortOp as ArgSortOp
from theano.tensor.sort.op import SortOp as SortOp
from theano.tensor.sort.op import TopKOp as TopKOp
from theano.tensor.sort.op import argsort as argsort
from theano.tensor.sort.op import argsort_op as argsort_op
from theano.tensor.sort.op import argtopk as argtopk
from theano.tensor.sort.op import sort as sort
from theano.tensor.sort.op import topk as topk
from theano.tensor.sort.op import topk_and_argtopk as topk_and_argtopk
from theano.tensor.sort.op import trusted_kind as trusted_kind

__getattr__, __dir__ = lazily(globals())
