"""How tensor operations look in formulas (``theano.printing.pp``): one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import Constant, Op, Variable
from theano.printing import FunctionPrinter, IgnorePrinter, OperatorPrinter, PatternPrinter, PrinterState, pprint
from theano.tensor.blas.dot import Dot
from theano.tensor.blas.routines import Dot22
from theano.tensor.create.alloc import Alloc
from theano.tensor.elemwise import functions as el
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.index.basic import IncSubtensor, Subtensor, fill_entries
from theano.tensor.index.chain import SubtensorChain
from theano.tensor.join.op import Join, MakeVector
from theano.tensor.reduce.careduce import CAReduce, Max, Min, Prod, Sum
from theano.tensor.shape.basic import Rebroadcast, Shape
from theano.tensor.shape.reshape import Reshape
from theano.tensor.shape.scalars import ScalarFromTensor, TensorFromScalar

if TYPE_CHECKING:
    from theano.scalar.annotations import Number
    from theano.scalar.type import Scalar

OPERATORS: list[tuple[Elemwise, str, float, str]] = [  # function, sign, precedence, association
    (el.add, "+", -2, "either"),
    (el.mul, "*", -1, "either"),
    (el.sub, "-", -2, "left"),
    (el.neg, "-", 0, "either"),
    (el.true_div, "/", -1, "left"),
    (el.int_div, "//", -1, "left"),
    (el.mod, "%", -1, "left"),
    (el.pow, "**", 1, "right"),
]


class DimShufflePrinter:
    """Shows a transpose as ``.T``, other orders by their list, and new axes in front not at all."""

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the text."""
        node: Any = output.owner
        (x,) = node.inputs
        order = list(node.op.new_order)
        while order and order[0] == "x":
            order.pop(0)
        axes = list(range(x.type.ndim))
        if order == axes:
            return pstate.pprinter.process(x, pstate)
        if order == axes[::-1]:
            return f"{pstate.pprinter.process(x, pstate)}.T"
        inner = pstate.pprinter.process(x, pstate.clone(precedence=-1000))
        return f"DimShuffle{{{', '.join(map(str, order))}}}({inner})"


class SubtensorPrinter:
    """Shows a part as Python writes it: ``x[1:3, i]``."""

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the text."""
        node: Any = output.owner
        x, *numbers = node.inputs
        text = pstate.pprinter.process(x, pstate.clone(precedence=1000))
        if not isinstance(node.op, SubtensorChain):
            return f"{text}[{index_text(node.op.idx_list, numbers, pstate)}]"
        for part, count in zip(node.op.parts, node.op.counts, strict=True):
            text += f"[{index_text(part.idx_list, numbers[:count], pstate)}]"
            numbers = numbers[count:]
        return text


class IncSubtensorPrinter:
    """Shows a written part as a call that names it."""

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the text."""
        node: Any = output.owner
        x, y, *numbers = node.inputs
        low = pstate.clone(precedence=-1000)
        what = "set" if node.op.set_instead_of_inc else "inc"
        shown = [pstate.pprinter.process(v, low) for v in (x, y)]
        return f"{what}_subtensor({shown[0]}[{index_text(node.op.idx_list, numbers, pstate)}], {shown[1]})"


class ReductionPrinter:
    """Shows a reduction as a call, with the axes if not all go."""

    def __init__(self, name: str | None = None):
        self.name = name

    def process(self, output: Variable, pstate: PrinterState) -> str:
        """Return the text."""
        node: Any = output.owner
        name = self.name or str(node.op.scalar_op)
        shown = pstate.pprinter.process(node.inputs[0], pstate.clone(precedence=-1000))
        if node.op.axis is None:
            return f"{name}({shown})"
        return f"{name}({shown}, axis={node.op.axis if len(node.op.axis) != 1 else f'({node.op.axis[0]},)'})"


def index_text(idx_list: Sequence[slice | Scalar], numbers: Sequence[Number], pstate: PrinterState) -> str:
    """Return an index in Python's notation."""

    def number(v: Number) -> str:
        if isinstance(v, Constant):
            return str(v.data)
        inner = v.owner.inputs[0] if v.owner is not None and isinstance(v.owner.op, ScalarFromTensor) else v
        return pstate.pprinter.process(inner, pstate.clone(precedence=-1000))

    parts = []
    for entry in fill_entries(idx_list, numbers, number):
        if isinstance(entry, slice):
            text = f"{entry.start or ''}:{entry.stop or ''}" + (f":{entry.step}" if entry.step else "")
            parts.append(text)
        else:
            parts.append(entry)
    return ", ".join(parts)


def register() -> None:
    """Enter the table in ``theano.printing.pprint``."""
    for name, function in el.elementwise_functions().items():
        pprint.assign(function, FunctionPrinter({"second": "fill"}.get(name, name)))
    pprint.assign(el.abs_, PatternPrinter(("|%(0)s|", -1000)))
    for function, sign, precedence, association in OPERATORS:
        pprint.assign(function, OperatorPrinter(sign, precedence, association))
    # Equal to those of `nnet`, which is loaded for who uses it.
    pprint.assign(Elemwise(scal.sigmoid), FunctionPrinter("sigmoid"))
    pprint.assign(Elemwise(scal.softplus), FunctionPrinter("softplus"))
    for product in (Dot, Dot22):
        pprint.assign(product, OperatorPrinter("\\dot", -1, "left"))
    pprint.assign(DimShuffle, DimShufflePrinter())
    pprint.assign(Subtensor, SubtensorPrinter())
    pprint.assign(IncSubtensor, IncSubtensorPrinter())
    pprint.assign(CAReduce, ReductionPrinter())
    kind: type[Op]
    for kind, name in ((Sum, "sum"), (Prod, "prod"), (Max, "max"), (Min, "min")):
        pprint.assign(kind, ReductionPrinter(name))
    for kind, name in ((Alloc, "alloc"), (Join, "join"), (MakeVector, "stack"), (Reshape, "reshape"), (Shape, "Shape")):
        pprint.assign(kind, FunctionPrinter(name))
    for kind in (Rebroadcast, TensorFromScalar, ScalarFromTensor):
        pprint.assign(kind, IgnorePrinter())


register()
