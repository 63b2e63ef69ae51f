"""``theano.tensor.opt``: the rules by which tensor expressions are rewritten, family by family."""

from __future__ import annotations

from theano.graph.source import copy_stack_trace  # noqa: F401
from theano.rewriting import phases
from theano.rewriting.userdefined import (  # noqa: F401
    in2out,
    local_optimizer,
    out2in,
    register_canonicalize,
    register_specialize,
    register_specialize_device,
    register_stabilize,
    register_uncanonicalize,
    register_useless,
)
from theano.tensor.checks import Assert, assert_, assert_op  # noqa: F401
from theano.tensor.rules.algebra import *  # noqa: F403
from theano.tensor.rules.approximations import *  # noqa: F403
from theano.tensor.rules.asserts import *  # noqa: F403
from theano.tensor.rules.equations import *  # noqa: F403
from theano.tensor.rules.fusion import *  # noqa: F403
from theano.tensor.rules.index import *  # noqa: F403
from theano.tensor.rules.inplace import *  # noqa: F403
from theano.tensor.rules.joins import *  # noqa: F403
from theano.tensor.rules.layout import *  # noqa: F403
from theano.tensor.rules.lengths import *  # noqa: F403
from theano.tensor.rules.power import *  # noqa: F403
from theano.tensor.rules.products import *  # noqa: F403
from theano.tensor.rules.reductions import *  # noqa: F403
from theano.tensor.rules.repeats import *  # noqa: F403
from theano.tensor.rules.shapes import *  # noqa: F403
from theano.tensor.rules.stable import *  # noqa: F403
from theano.tensor.rules.useless import *  # noqa: F403
from theano.tensor.rules.writes import *  # noqa: F403

# Those that are declared as patterns are bound to no name of a module: each is here under its own.
globals().update(phases.all_rules())
