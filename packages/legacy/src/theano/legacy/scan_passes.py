"""What programs of the old Theano make of loops by hand: its optimizers of loops, which are passes and rules here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from theano.graph.apply import Apply
from theano.rewriting.userdefined.graph_rewriters import PassOptimizer, TopoOptimizer
from theano.scan import at_once, rules

__all__ = ["PushOutDot1", "PushOutNonSeqScan", "PushOutScanOutput", "PushOutSeqScan", "ScanMerge", "ScanSaveMem"]


class ScanMerge(PassOptimizer):
    """Makes one loop of loops of equally many steps that do not depend on each other.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> from theano.scan.op import Scan
    >>> x, first = T.dvector("x"), T.dscalar("first")
    >>> (a, b), _ = zip(*(theano.scan(lambda u, v: f(u + v), x, first) for f in (T.sin, T.cos)))
    >>> fgraph = theano.graph.FunctionGraph([x, first], [a, b])
    >>> ScanMerge().optimize(fgraph)
    >>> sum(isinstance(node.op, Scan) for node in fgraph.apply_nodes)
    1
    """

    def __init__(self) -> None:
        super().__init__(rules.merge_loops, "scanOp_merge")

    def belongs_to_set(self, node: Apply[Any, Any], set_nodes: Iterable[Apply[Any, Any]]) -> bool:
        """Return whether a loop can be one with each of others, if neither needs the other."""
        return all(rules.can_be_one(node, other) and rules.can_be_one(other, node) for other in set_nodes)


class ScanSaveMem(PassOptimizer):
    """Lets loops store no more of their last rows than are read.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> from theano.scan.op import Scan
    >>> x = T.dvector("x")
    >>> sums, _ = theano.scan(lambda x_t, s: s + x_t, x, T.zeros(()))
    >>> fgraph = theano.graph.FunctionGraph([x], [sums.owner.inputs[0][-1]])
    >>> ScanSaveMem().optimize(fgraph)
    >>> [node.op.spec.keep for node in fgraph.apply_nodes if isinstance(node.op, Scan)]
    [(1,)]
    """

    def __init__(self) -> None:
        super().__init__(rules.save_mem, "scanOp_save_mem")


class PushOutNonSeqScan(TopoOptimizer):
    """Lets what is the same in each step be computed once, before the loop.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> from theano.scan.op import Scan
    >>> from theano.scan.spec import LoopSpec
    >>> x, x_t, a, b = T.dvector("x"), *T.dscalars("x_t", "a", "b")
    >>> op = Scan(LoopSpec(sequences=((0,),), mapped=1, fixed=1), [x_t, a], [x_t * T.exp(a)])
    >>> fgraph = theano.graph.FunctionGraph([x, b], [op(x.shape[0], x, b)])
    >>> PushOutNonSeqScan().optimize(fgraph)[1]
    1
    """

    def __init__(self) -> None:
        super().__init__(rules.push_out_invariant, name="scanOp_pushout_nonseqs_ops")


class PushOutSeqScan(TopoOptimizer):
    """Lets products of rows of sequences be computed before the loop, all in one.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, w = T.dmatrices("x", "w")
    >>> h, _ = theano.scan(lambda x_t, h, w: T.tanh(T.dot(x_t, w) + h), x, x[0], w)
    >>> PushOutSeqScan().optimize(theano.graph.FunctionGraph([x, w], [h]))[1]
    1
    """

    def __init__(self) -> None:
        super().__init__(at_once.push_out_sequences, name="scanOp_pushout_seqs_ops")


class PushOutScanOutput(TopoOptimizer):
    """Lets results made of products of states be computed after the loop, all in one.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, w = T.dmatrices("x", "w")
    >>> (h, y), _ = theano.scan(lambda x_t, h, w: (T.tanh(x_t + h), T.dot(h, w)), x, [x[0], None], w)
    >>> PushOutScanOutput().optimize(theano.graph.FunctionGraph([x, w], [h, y]))[1]
    1
    """

    def __init__(self) -> None:
        super().__init__(at_once.push_out_results, name="scanOp_pushout_output")


class PushOutDot1(TopoOptimizer):
    """Lets a sum of products over the steps be one product of all their rows, after the loop.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, w = T.dmatrices("x", "w")
    >>> h, _ = theano.scan(lambda x_t, h, w: T.tanh(T.dot(x_t + h, w)), x, x[0], w)
    >>> slope = T.grad(h.sum(), w)
    >>> PushOutDot1().optimize(theano.graph.FunctionGraph([x, w], [slope]))[1] > 0
    True
    """

    def __init__(self) -> None:
        super().__init__(at_once.push_out_sums_of_products, name="scan_pushout_dot1")
