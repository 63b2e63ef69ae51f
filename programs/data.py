"""Data that the networks learn from: small, and made here."""

from __future__ import annotations

import numpy as np


def stripes(n: int, size: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Return n noisy images with one channel, and whether the stripes in each are upright.

    Returns
    -------
    images : float array of shape (n, 1, size, size), of Theano's floatX
    labels : int32 array of shape (n,)
    """
    import theano

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n).astype("int32")
    waves = np.sin(np.arange(size) * 2.0 + rng.uniform(0, 6, (n, 1)))
    upright = np.broadcast_to(waves[:, None, :], (n, size, size))
    images = np.where(labels[:, None, None], upright, upright.transpose(0, 2, 1))
    return (images + rng.normal(0, 0.3, images.shape))[:, None].astype(theano.config.floatX), labels


def sums(n: int, length: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return n sequences of two features, and whether the first feature's sum is above zero.

    Returns
    -------
    sequences : float32 array of shape (n, length, 2)
    labels : int32 array of shape (n,)
    """
    sequences = np.random.default_rng(1).normal(size=(n, length, 2)).astype("float32")
    return sequences, (sequences[:, :, 0].sum(axis=1) > 0).astype("int32")
