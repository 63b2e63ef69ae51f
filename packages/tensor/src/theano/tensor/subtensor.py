"""``theano.tensor.subtensor``: reading and writing parts of tensors."""

from __future__ import annotations

from theano.layers import lazily
from theano.tensor.index.advanced import *  # noqa: F403
from theano.tensor.index.basic import *  # noqa: F403
from theano.tensor.index.functions import *  # noqa: F403
from theano.tensor.index.lengths import get_canonical_form_slice as get_canonical_form_slice
from theano.tensor.index.results import *  # noqa: F403
from theano.tensor.type_other import as_index_variable as as_index_variable

#: What older programs find here.
__getattr__, __dir__ = lazily(
    globals(),
    {
        "MethodNotDefined": "theano.errors:MethodNotDefined",
        "NoneConst": "theano.tensor.type_other:NoneConst",
        "NotScalarConstantError": "theano.tensor.convert:NotScalarConstantError",
        "SubtensorPrinter": "theano.tensor.formulas:SubtensorPrinter",
        "Type": "theano.graph:Type",
        "alloc": "theano.tensor.create:alloc",
        "broadcast_shape": "theano.tensor.shape.broadcast:broadcast_shape",
        "config": "theano.settings:config",
        "get_scalar_constant_value": "theano.tensor.convert:get_scalar_constant_value",
        "COp": "theano.graph.op:COp",
        "CType": "theano.graph.type:CType",
        "ParamsType": "theano.graph.params_type:ParamsType",
        "gof": "theano.gof",
        "hashtype": "theano.gof.utils:hashtype",
        "integer_types": "theano.compat:integer_types",
        "make_slice": "theano.tensor.type_other:make_slice",
        "pprint": "theano.printing:pprint",
        "theano": "theano",
    },
)
