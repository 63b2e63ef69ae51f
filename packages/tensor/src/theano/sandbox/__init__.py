"""Names of Theano's sandbox: what programs import from here is the same as elsewhere."""

from theano.layers import lazily

__getattr__, __dir__ = lazily(globals())
