"""``theano.tensor.opt_uncanonicalize``: rules that undo a canonical form which is slower to compute."""

from __future__ import annotations

from theano.rewriting import phases
from theano.tensor.rules.reductions import *  # noqa: F403

globals().update({rule.name: rule for rule in phases["uncanonicalize"]})
globals().update({name: phases.all_rules()[name] for name in ("local_useless_reduce", "local_sum_prod_all_to_none")})
