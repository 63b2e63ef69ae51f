"""Convolution of images and volumes, and its derivatives. The old modules of ``theano.tensor.nnet`` spell it, too."""
