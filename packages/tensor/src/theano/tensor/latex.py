"""How tensor operations look in formulas of LaTeX (``theano.printing.latex``): one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import Constant, Op
from theano.printing.tex import (
    ATOM,
    COMPARISON,
    LOWEST,
    POWER,
    PRODUCT,
    SIGN,
    SUM,
    Latex,
    called,
    called_as,
    formulas,
    number,
)
from theano.tensor.blas.dot import BatchedDot, Dot
from theano.tensor.blas.routines import Dot22
from theano.tensor.create.alloc import Alloc
from theano.tensor.create.arange import ARange
from theano.tensor.elemwise import functions as el
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.index.advanced import AdvancedSubtensor1, BaseAdvancedSubtensor
from theano.tensor.index.basic import IncSubtensor, Subtensor, fill_entries
from theano.tensor.nnet.softmax import Softmax
from theano.tensor.reduce.careduce import CAReduce, Max, Min, Prod, Sum
from theano.tensor.shape.basic import Rebroadcast, Shape, Shape_i
from theano.tensor.shape.scalars import ScalarFromTensor, TensorFromScalar

if TYPE_CHECKING:
    from theano.graph.annotations import Node

Text = Callable[[int, int], str]

#: Functions whose names LaTeX knows, under their names here.
KNOWN = {
    **{name: f"\\{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "log")},
    "arcsin": r"\arcsin", "arccos": r"\arccos", "arctan": r"\arctan", "maximum": r"\max", "minimum": r"\min",
    "sgn": r"\operatorname{sgn}", "gamma": r"\Gamma", "log2": r"\log_2", "log10": r"\log_{10}",
}  # fmt: skip

PATTERNS = {
    "true_div": Latex(r"\frac{@0}{@1}"), "neg": Latex("-@0", SUM, PRODUCT), "inv": Latex(r"\frac{1}{@0}"),
    "pow": Latex("{@0}^{@1}", POWER, ATOM), "sqr": Latex("{@0}^{2}", POWER, ATOM), "sqrt": Latex(r"\sqrt{@0}"),
    "exp": Latex("e^{@0}", POWER), "abs_": Latex(r"\left|@0\right|"), "floor": Latex(r"\left\lfloor@0\right\rfloor"),
    "ceil": Latex(r"\left\lceil@0\right\rceil"), "conj": Latex(r"\overline{@0}"),
    "int_div": Latex(r"\left\lfloor\frac{@0}{@1}\right\rfloor"),
    **{name: Latex(f"@0 {sign} @1", COMPARISON, SUM) for name, sign in {
        "lt": "<", "gt": ">", "le": r"\leq", "ge": r"\geq", "eq": "=", "neq": r"\neq", "mod": r"\bmod",
        "and_": r"\wedge", "or_": r"\vee",
    }.items()},
    "invert": Latex(r"\neg @0", SIGN, SIGN),
    "switch": Latex(r"\begin{cases}@1 & @0 \\ @2 & \text{otherwise}\end{cases}"),
}  # fmt: skip


def total(node: Node, text: Text) -> str:
    """Write a sum of terms, one after the other; a negative one is taken away."""
    written = text(0, SUM)
    for i in range(1, len(node.inputs)):
        term = text(i, SUM)
        written += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return written


def product(node: Node, text: Text) -> str:
    """Write a product of elements, with a dot in a circle between arrays, so that it is none of matrices."""
    written = text(0, PRODUCT)
    for i in range(1, len(node.inputs)):
        factor = text(i, PRODUCT)
        stretched = any(all(v.type.broadcastable) for v in node.inputs[i - 1 : i + 1])
        sign = r"\cdot" if factor[0].isdigit() else r"\," if stretched else r"\odot"
        written += f" {sign} {factor}"
    return written


def turned(node: Node, text: Text) -> str:
    """Write a transpose by its sign, new axes not at all, and other orders as a call."""
    order = [axis for axis in node.op.new_order if axis != "x"]
    if order == sorted(order):
        return text(0, ATOM)
    if order == sorted(order, reverse=True):
        return f"{{{text(0, ATOM)}}}^{{\\top}}"
    return rf"{called_as('transpose')}_{{{', '.join(map(str, order))}}}\left({text(0, LOWEST)}\right)"


def reduced(sign: str) -> Latex:
    """Return the printer of a reduction that has a sign."""

    def write(node: Node, text: Text) -> str:
        axes = "" if node.op.axis is None else rf"_{{\mathrm{{axis}}\,{', '.join(map(str, node.op.axis))}}}"
        return f"{sign}{axes} {text(0, SIGN)}"

    return Latex(write, PRODUCT)


def other_reduction(node: Node, text: Text) -> str:
    """Write a reduction that has no sign, as a call."""
    return rf"{called_as(str(node.op.scalar_op))}\left({text(0, LOWEST)}\right)"


def indexed(node: Node, text: Text, first: int) -> str:
    """Return the index of a part, as Python writes it; its numbers are inputs from ``first`` on."""
    places = iter(range(first, len(node.inputs)))

    def entry(v: Any) -> str:
        i = next(places)
        return number(v.data) if isinstance(v, Constant) else text(i, LOWEST)

    shown = []
    for part in fill_entries(node.op.idx_list, node.inputs[first:], entry):
        if isinstance(part, slice):
            shown.append(f"{part.start or ''}:{part.stop or ''}" + (f":{part.step}" if part.step else ""))
        else:
            shown.append(part)
    return ", ".join(shown)


def picked(node: Node, text: Text) -> str:
    """Write elements that arrays of whole numbers, masks and slices select, with all of these as an index."""
    entries = []
    for i, v in enumerate(node.inputs[1:], 1):
        if isinstance(v, Constant) and isinstance(v.data, slice):
            start, stop = ("" if end is None else str(end) for end in (v.data.start, v.data.stop))
            entries.append(f"{start}:{stop}" + ("" if v.data.step is None else f":{v.data.step}"))
        else:
            entries.append(text(i, LOWEST))
    return f"{{{text(0, ATOM)}}}_{{{', '.join(entries)}}}"


def written_part(node: Node, text: Text) -> str:
    """Write a part that is set or added to as a call that names it."""
    what = "set" if node.op.set_instead_of_inc else "inc"
    return rf"{called_as(what)}\left({text(0, ATOM)}_{{{indexed(node, text, 2)}}}, {text(1, LOWEST)}\right)"


def length(node: Node, text: Text) -> str:
    """Write a length as one of those of a shape."""
    return rf"{called_as('shape')}_{{{node.op.i}}}\left({text(0, LOWEST)}\right)"


def is_cast(node: Node) -> bool:
    """Return whether a node only changes the dtype, of which a formula does not tell."""
    return isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, scal.Cast)


INNER = Latex(lambda node, text: text(0, ATOM))
"""Leaves an op out."""


def register() -> None:
    """Enter the table."""
    for name, function in el.elementwise_functions().items():
        formulas.assign(function, PATTERNS.get(name) or called(KNOWN.get(name, called_as(name))))
    formulas.assign(lambda state, v: v.owner is not None and is_cast(v.owner), INNER)
    formulas.assign(el.add, Latex(total, SUM))
    formulas.assign(el.sub, Latex(lambda node, text: f"{text(0, SUM)} - {text(1, PRODUCT)}", SUM))
    formulas.assign(el.mul, Latex(product, PRODUCT))
    formulas.assign(el.second, Latex(lambda node, text: text(1, LOWEST), LOWEST))
    formulas.assign(Elemwise(scal.sigmoid), called(r"\sigma"))
    formulas.assign(Elemwise(scal.softplus), called(called_as("softplus")))
    kind: type[Op]
    for kind in (Dot, Dot22, BatchedDot):
        formulas.assign(kind, Latex(r"@0 \, @1", PRODUCT, PRODUCT))
    for kind, sign in ((Sum, r"\sum"), (Prod, r"\prod"), (Max, r"\max"), (Min, r"\min")):
        formulas.assign(kind, reduced(sign))
    formulas.assign(CAReduce, Latex(other_reduction))
    formulas.assign(DimShuffle, Latex(turned))
    formulas.assign(Subtensor, Latex(lambda node, text: f"{{{text(0, ATOM)}}}_{{{indexed(node, text, 1)}}}"))
    for kind in (BaseAdvancedSubtensor, AdvancedSubtensor1):
        formulas.assign(kind, Latex(picked))
    formulas.assign(IncSubtensor, Latex(written_part))
    formulas.assign(Alloc, Latex(lambda node, text: text(0, LOWEST), LOWEST))
    for kind in (Rebroadcast, TensorFromScalar, ScalarFromTensor):
        formulas.assign(kind, INNER)
    formulas.assign(Shape_i, Latex(length))
    for kind, name in ((ARange, "arange"), (Shape, "shape"), (Softmax, "softmax")):
        formulas.assign(kind, called(called_as(name)))


register()
