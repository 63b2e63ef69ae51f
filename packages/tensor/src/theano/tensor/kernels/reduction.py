"""The parameters of a reduction: `ReductionParams` is the struct that ``c/reduce.h`` takes from here."""

from __future__ import annotations

from theano.graph.parameters import Address, Array, Choice, Enumeration, Flag, Int, Mask, Numbers, Parameters, Record


class ReductionLimit(Enumeration):
    """How many operands and results one loop may have, how long its partial results are, and a vector of a row."""

    MAX_TERMS = 32
    MAX_RESULTS = 8
    LANE_BYTES = 256
    ROW_VECTOR = 16

    @classmethod
    def prefix(cls) -> str:
        """Return what the names in C start with."""
        return "TH_"


class ReductionOp(Enumeration):
    """How terms are taken in; OWN stands for what the driver does not know."""

    ADD = 0
    MUL = 1
    MAX = 2
    MIN = 3
    AND = 4
    OR = 5
    XOR = 6
    MUL_NONZERO = 7
    LOG_SUM_EXP = 8
    OWN = 9

    @classmethod
    def prefix(cls) -> str:
        """Return what the names in C start with."""
        return "TH_"


class ReductionResult(Parameters, c_name="th_reduction_result"):
    """One result of a reduction."""

    op = Choice(ReductionOp)
    dtype = Int("of the accumulator")
    needs_terms = Flag("whether no terms at all are an error")


class ReductionParams(Parameters, c_name="th_reduction"):
    """The parameters of a reduction, all numbers known from types."""

    run = Address("the driver; generated code finds it here", c_type="th_reducer")
    tuning = Address("th_tuning, for the kernels that were built with the layer", c_type="const void *")
    nin = Int("operands")
    nout = Int("results")
    ndim = Int("dimensions of the loop")
    gone = Mask("dimensions that are reduced")
    lanes = Int("accumulators of a block; a block of less than `lanes` may leave some alone")
    vector = Int("number of neighbours that a loop over rows takes at a time")
    work = Int("picoseconds per element")
    stretched = Array(
        Mask(), ReductionLimit.MAX_TERMS, "dimensions along which the operand has length 1; all bits: one number"
    )
    still = Mask("operands of length 1 along all dimensions that are reduced: a block reads them once")
    result = Array(Record(ReductionResult), ReductionLimit.MAX_RESULTS)
    constants = Numbers("those of the kernel's own text")
