"""``theano.sandbox.rng_mrg``: see :mod:`theano.tensor.random.mrg`."""

from __future__ import annotations

from typing import Any

from theano.graph import Apply, Constant, Op, Variable
from theano.layers import lazily
from theano.tensor.convert import as_tensor_variable, get_vector_length
from theano.tensor.random.dot_modulo import DotModulo, multMatVect
from theano.tensor.random.mrg import MRG_RandomStreams, guess_n_streams, mrg_uniform, mrg_uniform_base
from theano.tensor.random.mrg31k3p import M1, M2, NORM, jump, jumped, mat_vec_mod
from theano.tensor.type import TensorType

__all__ = [
    "M1",
    "M2",
    "NORM",
    "A1p0",
    "A1p72",
    "A1p134",
    "A2p0",
    "A2p72",
    "A2p134",
    "Apply",
    "Constant",
    "DotModulo",
    "MRG_RandomStream",
    "MRG_RandomStreams",
    "Op",
    "TensorType",
    "Variable",
    "as_tensor_variable",
    "ff_2p72",
    "ff_2p134",
    "get_vector_length",
    "guess_n_streams",
    "matVecModM",
    "mrg_next_value",
    "mrg_uniform",
    "mrg_uniform_base",
    "multMatVect",
]  # fmt: skip

MRG_RandomStream = MRG_RandomStreams

(A1p0, A2p0), (A1p72, A2p72), (A1p134, A2p134) = jump(0), jump(72), jump(134)


def matVecModM(A: Any, s: Any, m: int) -> Any:
    """Return ``A @ s % m`` in int32.

    Examples
    --------
    >>> matVecModM(A1p0, np.array([3, 2, 1]), M1)
    array([8388737,       3,       2], dtype=int32)
    """
    return mat_vec_mod(A, s, int(m)).astype("int32")


def ff_2p72(rstate: Any) -> Any:
    """Return a state 2^72 numbers later.

    Examples
    --------
    >>> ff_2p72(np.full(6, 12345, "int32")).shape
    (6,)
    """
    return jumped(rstate, jump(72))


def ff_2p134(rstate: Any) -> Any:
    """Return a state 2^134 numbers later.

    Examples
    --------
    >>> ff_2p134(np.full(6, 12345, "int32")).shape
    (6,)
    """
    return jumped(rstate, jump(134))


def mrg_next_value(rstate: Any, new_rstate: Any, NORM: Any, mask: int, offset: int) -> Any:
    """Write the next state of one stream, and return the number drawn: its bits in ``mask``, and ``offset``, by NORM.

    Examples
    --------
    >>> state = np.full(6, 12345, "int32")
    >>> round(float(mrg_next_value(state, state, NORM, 0xFFFFFFFF, 0)), 4), state[:2].tolist()
    (0.7638, [1640150079, 12345])
    """
    x11, x12, x13, x21, x22, x23 = (int(n) for n in rstate)
    x = (2**22 * x12 + (2**7 + 1) * x13) % M1
    y = (2**15 * x21 + (2**15 + 1) * x23) % M2
    new_rstate[...] = [x, x11, x12, y, x21, x22]
    drawn = x - y + M1 if x <= y else x - y
    return ((drawn & mask) + offset) * NORM


# The rule belongs to rewriting, which is loaded when something is compiled.
__getattr__, __dir__ = lazily(
    globals(), {"mrg_random_make_inplace": "theano.tensor.rules.draws:random_make_inplace"}
)
