"""Old spelling; what ``theano.tensor.signal.pool`` shows is in :mod:`theano.tensor.pool`, :mod:`theano.legacy.tensor_values`, :mod:`theano.gof`, :mod:`theano.gof.graph`, :mod:`theano.gradient.absent`, :mod:`theano.graph.enum_type`, :mod:`theano.graph.external_op`, :mod:`theano.graph.params_type`, :mod:`theano.graph.variable`, :mod:`theano.tensor`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.tensor.pool import max_pool_2d_same_size as max_pool_2d_same_size, pool_2d as pool_2d, pool_3d as pool_3d
from theano.tensor.pool.op import (
    AveragePoolGrad as AveragePoolGrad, DownsampleFactorMaxGradGrad as DownsampleFactorMaxGradGrad, MaxPoolGrad as
    MaxPoolGrad, MaxPoolRop as MaxPoolRop, Pool as Pool, PoolGrad as PoolGrad,
)


