"""Numbers of streams are those that Theano 1.0.5 draws: each method, with each form of a size, several seeds."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import drawn_by_theano
import numpy as np

import theano
import theano.tensor as T
from theano.tensor.random.mrg import MRG_RandomStreams
from theano.tensor.random.streams import RandomStreams

NAMES = {"T": T, "shared": theano.shared, "MRG_RandomStreams": MRG_RandomStreams, "RandomStreams": RandomStreams}


def test_the_numbers_are_theanos():
    recorded = json.loads(Path(__file__).with_name("drawn_by_theano.json").read_text())
    cases = list(drawn_by_theano.cases())
    assert [tuple(row[:2]) for row in recorded] == cases
    with theano.config.change_flags(floatX="float64"), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        draw = theano.function([], drawn_by_theano.draws(cases, NAMES))
    wrong = []
    for first, second, (streams, call, (dtype, shape, numbers)) in zip(draw(), draw(), recorded, strict=True):
        found = drawn_by_theano.told(first, second)
        # Logarithm, sine and cosine are rounded in other ways.
        rtol = 3e-5 if dtype == "float32" else 1e-9
        if found[:2] != [dtype, shape] or not np.allclose(found[2], numbers, rtol, 10 * rtol):
            wrong.append((streams, call, found, [dtype, shape, numbers]))
    assert not wrong
