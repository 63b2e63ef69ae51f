"""Old spelling; what ``theano.tensor.nnet.bn`` shows is in :mod:`theano.tensor.nnet.normalization`, :mod:`theano.tensor.rules.by_name`, :mod:`theano.gof.graph`, :mod:`theano.graph.op`, :mod:`theano.graph.source`, :mod:`theano.rewriting.userdefined.databases`, :mod:`theano.rewriting.userdefined.node_rewriters`, :mod:`theano.scalar.basic`, :mod:`theano.scalar.composite`, :mod:`theano.scalar.convert`, :mod:`theano.tensor.convert`, :mod:`theano.tensor.type`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.tensor.nnet.normalization import (
    AbstractBatchNormInference as AbstractBatchNormInference, AbstractBatchNormTrain as AbstractBatchNormTrain,
    AbstractBatchNormTrainGrad as AbstractBatchNormTrainGrad, BNComposite as BNComposite, batch_normalization as
    batch_normalization, batch_normalization_test as batch_normalization_test, batch_normalization_train as
    batch_normalization_train,
)


