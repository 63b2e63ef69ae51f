"""Lists in expressions: variables whose values are Python lists of arrays, or of anything that has a type.

============ ===============================================================================
``type``     :class:`TypedListType`: which values a list may hold
``basic``    the variables and the ops, and a function for each
``gradient`` the ops that their gradients are made of
``op``       what the ops share
``rules``    the rule that lets them work in place
============ ===============================================================================
"""

from __future__ import annotations

from theano import layers
from theano.extensions import extension
from theano.tensor.type_other import SliceType
from theano.typed_list.basic import (
    Append,
    Count,
    Extend,
    GetItem,
    Index,
    Insert,
    Length,
    MakeList,
    Remove,
    Reverse,
    TypedListConstant,
    TypedListVariable,
    append,
    count,
    extend,
    getitem,
    index_,
    insert,
    length,
    make_list,
    remove,
    reverse,
)
from theano.typed_list.type import TypedListType

# Only programs with lists need the rules, so nothing else of the layer enters them.
extension(layers.RULES, "theano.typed_list.rules", "theano.typed_list.op").enter()

__getattr__, __dir__ = layers.lazily(globals())

__all__ = [
    "Append",
    "Count",
    "Extend",
    "GetItem",
    "Index",
    "Insert",
    "Length",
    "MakeList",
    "Remove",
    "Reverse",
    "SliceType",
    "TypedListConstant",
    "TypedListType",
    "TypedListVariable",
    "append",
    "count",
    "extend",
    "getitem",
    "index_",
    "insert",
    "length",
    "make_list",
    "remove",
    "reverse",
]
