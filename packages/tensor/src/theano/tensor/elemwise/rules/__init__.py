"""Rules of element-wise ops."""

import theano.tensor.rules  # noqa: F401  (says the order)
