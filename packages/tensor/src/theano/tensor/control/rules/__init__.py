"""Rules of choices and checks."""

import theano.tensor.rules  # noqa: F401  (says the order)
