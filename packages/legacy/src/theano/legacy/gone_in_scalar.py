"""Names of internals of scalars that have no meaning here: see `theano.legacy.gone`.

Examples
--------
>>> import theano.legacy.gone_in_scalar as gone
>>> gone.Compositef32()
Traceback (most recent call last):
NotImplementedError: Compositef32 is not part of this Theano: kernels of float16 compute in float32
"""

from __future__ import annotations

from theano.legacy.gone import names_gone

#: By what to do instead, the names.
INSTEAD = {
    "kernels of float16 compute in float32": "Compositef32 handle_cast handle_composite",
}

__getattr__ = names_gone(globals(), INSTEAD)
