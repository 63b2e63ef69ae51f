"""The functions of neural networks, under the name of the module that held them all."""

from __future__ import annotations

from theano.tensor.nnet.activation import *  # noqa: F403
from theano.tensor.nnet.crossentropy import *  # noqa: F403
from theano.tensor.nnet.softmax import *  # noqa: F403
