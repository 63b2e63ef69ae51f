"""Random numbers: streams, the ops that draw from them, and the states that these keep.

`draw` has what all such ops share. On it stand three sources of numbers, each with its class of streams:

- NumPy's ``RandomState`` (`type`, `function`, `distributions`, `streams`): the same numbers as NumPy, bit for bit;
- MRG31k3p (`mrg31k3p`, `mrg`): the published sequence, in C, as many streams side by side as are wanted;
- Philox 4x32-10 (`philox`): computed from a counter, so that any number is there without those before it; the fastest.

Distributions are ops as well: `op` has what random variables are, `basic` the table of them, `variable_streams` the
streams that they are methods of, `lifting` the rules that rearrange parameters rather than numbers.

Old spellings of the first two are in ``theano.tensor.shared_randomstreams``, ``theano.tensor.raw_random`` and
``theano.sandbox.rng_mrg``.

Examples
--------
>>> import theano
>>> from theano.tensor.random import PhiloxStreams
>>> draw = theano.function([], PhiloxStreams(seed=1).uniform((2,), dtype="float64"))
>>> bool((draw() != draw()).all())
True
"""

from __future__ import annotations

from theano.layers import lazily

__all__ = [
    "MRG_RandomStreams",
    "PhiloxStreams",
    "RandomStateType",
    "RandomStream",
    "RandomStreams",
    "random_state_type",
]

_LATER = {
    "MRG_RandomStreams": "theano.tensor.random.mrg:MRG_RandomStreams",
    "PhiloxStreams": "theano.tensor.random.philox:PhiloxStreams",
    "RandomStateType": "theano.tensor.random.type:RandomStateType",
    "RandomStream": "theano.tensor.random.variable_streams:RandomStream",
    "RandomStreams": "theano.tensor.random.streams:RandomStreams",
    "random_state_type": "theano.tensor.random.type:random_state_type",
}

__getattr__, __dir__ = lazily(globals(), _LATER)
