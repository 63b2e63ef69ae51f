"""``theano.tensor.subtensor``: reading and writing parts of tensors."""

from __future__ import annotations

from theano.tensor.index.advanced import *  # noqa: F403
from theano.tensor.index.basic import *  # noqa: F403
from theano.tensor.index.functions import *  # noqa: F403
from theano.tensor.index.lengths import get_canonical_form_slice as get_canonical_form_slice
from theano.tensor.type_other import as_index_variable as as_index_variable
