"""Fourier transforms of real tensors."""

from __future__ import annotations

from theano.layers import lazily
from theano.tensor.fft.op import IRFFTOp as IRFFTOp
from theano.tensor.fft.op import RFFTOp as RFFTOp
from theano.tensor.fft.op import irfft as irfft
from theano.tensor.fft.op import irfft_op as irfft_op
from theano.tensor.fft.op import rfft as rfft
from theano.tensor.fft.op import rfft_op as rfft_op

__getattr__, __dir__ = lazily(globals())
