"""``theano.tensor.opt_uncanonicalize``: rules that undo a canonical form which is slower to compute."""

from __future__ import annotations

from theano.tensor.rules.reductions import *  # noqa: F403
