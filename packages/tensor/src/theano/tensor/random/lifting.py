"""Rules that let parameters be rearranged rather than numbers that are drawn by them.

They keep the distribution of what is drawn, not the numbers: these are drawn in another order, or fewer of them. So no
phase has these rules; who works with distributions asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.graph import Apply, Variable
from theano.graph.test_value import compute_test_value
from theano.rewriting import local_rule
from theano.rewriting.pattern import conform
from theano.tensor.create.alloc import alloc
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.expressions.ops import broadcast_to
from theano.tensor.index.advanced import AdvancedBooleanSubtensor, AdvancedSubtensor, AdvancedSubtensor1
from theano.tensor.index.basic import Subtensor, get_idx_list
from theano.tensor.random.broadcasting import broadcast_params
from theano.tensor.random.op import RandomVariable
from theano.tensor.shape.basic import Shape, Shape_i, shape_tuple
from theano.tensor.shape.broadcast import lengths_of
