"""The name under which Theano had the types and most operations; they are in :mod:`theano.scalar`."""

from theano.scalar import *  # noqa: F403
