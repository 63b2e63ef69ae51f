"""``theano.gof.type``: see :mod:`theano.graph.type` and its neighbours."""

from __future__ import annotations

from theano.graph.c_contract import CLinkerObject, CLinkerType
from theano.graph.cdata_type import CDataType
from theano.graph.enum_type import CEnumType, EnumList, EnumType
from theano.graph.type import CType, Generic, Type, generic

PureType = Type

__all__ = [
    "CDataType", "CEnumType", "CLinkerObject", "CLinkerType", "CType", "EnumList", "EnumType", "Generic", "PureType",
    "Type", "generic",
]  # fmt: skip
