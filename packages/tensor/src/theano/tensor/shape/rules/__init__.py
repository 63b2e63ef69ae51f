"""Rules of dimensions and lengths."""

import theano.tensor.rules  # noqa: F401  (says the order)
