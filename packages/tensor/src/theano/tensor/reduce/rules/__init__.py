"""Rules of reductions."""

import theano.tensor.rules  # noqa: F401  (says the order)
