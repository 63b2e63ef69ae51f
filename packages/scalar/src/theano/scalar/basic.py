"""The name under which Theano had the types and most operations; they are in :mod:`theano.scalar`."""

from theano.layers import lazily
from theano.scalar import *  # noqa: F403
from theano.scalar import _ELSEWHERE

__getattr__, __dir__ = lazily(globals(), _ELSEWHERE)
