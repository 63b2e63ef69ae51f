"""Rules of parts of tensors, read and written."""

import theano.tensor.rules  # noqa: F401  (says the order)
