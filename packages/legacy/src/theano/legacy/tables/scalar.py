"""Old spellings of the layer of numbers: what `theano.layers.spellings` makes modules and names of."""

from __future__ import annotations

#: What older programs find in the package, and in the module that held nearly all of it.
_PACKAGE = {
    "theano": "theano=.",
    "theano.errors": "MethodNotDefined",
    "theano.gof": "gof=.",
    "theano.gof.utils": "utils=.",
    "theano.graph": "FunctionGraph",
    "theano.graph.clone": "clone",
    "theano.graph.op": "COp",
    "theano.graph.type": "CType",
    "theano.legacy.ordering": "list_of_nodes",
    "theano.legacy.helpers": "apply_across_args difference from_return_values to_return_values",
    "theano.printing": "pprint printing=.",
    "theano.rewriting.userdefined": "MergeOptimizer",
}

OLD_NAMES = {
    "theano.scalar": _PACKAGE,
    "theano.scalar.basic": {
        **_PACKAGE,
        "theano.scalar": "complexs128=complexs",
        "theano.scalar.basic": "basic=.",
        "theano.scalar.basic_scipy": "basic_scipy=.",
        "theano.scalar.sharedvar": "sharedvar=.",
        "theano.legacy.gone_in_scalar": "Compositef32 handle_cast handle_composite",
    },
    "theano.scalar.basic_scipy": {"theano.scalar": "*"},
}
