"""Old spellings: names that older modules held because they imported them, and programs took from there."""

from __future__ import annotations

OLD_NAMES = {
    "theano.scalar": {
        "theano.scalar.basic": "Compositef32 handle_cast handle_composite",
    },
    "theano.scalar.basic_sympy": {
        "theano.gof.graph": "Apply",
        "theano.legacy.sympy_code": "SymPyCCode include_line sympy_dtype theano_dtype",
        "theano.legacy.utilities": "remove",
        "theano.scalar.base": "ScalarOp",
        "theano.scalar.basic": "float32 float64 int64",
        "theano.scalar.convert": "as_scalar",
    },
}
