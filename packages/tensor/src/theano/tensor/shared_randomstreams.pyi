"""Old spelling; what ``theano.tensor.shared_randomstreams`` shows is in :mod:`theano.tensor.random.streams`, :mod:`theano.tensor.random.var`, :mod:`theano.compile.shared`, :mod:`theano.tensor.raw_random`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.tensor.random.streams import RandomStreams as RandomStreams
from theano.tensor.random.var import (
    RandomStateSharedVariable as RandomStateSharedVariable, randomstate_constructor as randomstate_constructor,
)


