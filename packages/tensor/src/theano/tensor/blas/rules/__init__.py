"""Rules of products."""

import theano.tensor.rules  # noqa: F401  (says the order)
