"""The name under which Theano had the special functions; they are in :mod:`theano.scalar.special`."""

from theano.scalar import *  # noqa: F403
