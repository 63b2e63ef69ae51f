"""The element-wise functions in forms that write into their first input: ``exp_inplace``, ``add_inplace``, ...

They are for programs that say ``accept_inplace=True``; rewriting uses such forms by itself wherever that is safe. The
result is of the dtype of the input that is overwritten, and cast to it if need be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.graph import Apply
from theano.layers import lazily
from theano.scalar import Composite, get_scalar_type
from theano.scalar import cast as scalar_cast
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import elementwise_functions
from theano.tensor.elemwise.op import Elemwise

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.scalar.annotations import Number


class _Overwriting(Elemwise):
    """An op whose result takes the place of its first input; its nodes are of the op that rewriting puts in."""

    def make_node(self, *inputs: Variable) -> Apply:
        """Return the node; where the dtype of the result is another one, a cast is part of the op."""
        variables = [as_tensor_variable(v) for v in inputs]
        arguments: list[Any] = [get_scalar_type(v.type.dtype)() for v in variables]
        result: Number = self.scalar_op(*arguments)
        dtype, scalar_op = arguments[0].type.dtype, self.scalar_op
        if result.type.dtype != dtype:
            scalar_op = Composite(arguments, [scalar_cast(result, dtype)])
        return Elemwise(scalar_op, self.inplace_pattern, name=self.name).make_node(*variables)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Elemwise) and Elemwise(self.scalar_op, self.inplace_pattern) == other

    def __hash__(self) -> int:
        return hash(Elemwise(self.scalar_op, self.inplace_pattern))


__all__: list[str] = []
for _name, _op in elementwise_functions().items():
    _stem = _name.rstrip("_")
    globals()[f"{_stem}_inplace"] = _Overwriting(_op.scalar_op, {0: 0}, name=f"{_stem}_inplace")
    __all__.append(f"{_stem}_inplace")

# Functions that end in an underscore, for Python has their names, kept it here.
and__inplace, or__inplace, abs__inplace = (globals()[f"{_stem}_inplace"] for _stem in ("and", "or", "abs"))
__all__ += ["abs__inplace", "and__inplace", "or__inplace"]


__getattr__, __dir__ = lazily(globals())
