"""The element-wise functions in forms that write into their first input: ``exp_inplace``, ``add_inplace``, ...

They are for programs that say ``accept_inplace=True``; rewriting uses such forms by itself wherever that is safe.
"""

from __future__ import annotations

from theano.layers import lazily
from theano.tensor.elemwise.functions import elementwise_functions
from theano.tensor.elemwise.op import Elemwise

__all__: list[str] = []
for _name, _op in elementwise_functions().items():
    _stem = _name.rstrip("_")
    globals()[f"{_stem}_inplace"] = Elemwise(_op.scalar_op, {0: 0}, name=f"{_stem}_inplace")
    __all__.append(f"{_stem}_inplace")

# Functions that end in an underscore, for Python has their names, kept it here.
and__inplace, or__inplace, abs__inplace = (globals()[f"{_stem}_inplace"] for _stem in ("and", "or", "abs"))
__all__ += ["abs__inplace", "and__inplace", "or__inplace"]


__getattr__, __dir__ = lazily(globals())
