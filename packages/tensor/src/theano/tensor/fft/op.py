"""``theano.tensor.fft``: the discrete Fourier transform of real batches.

The first axis counts the members of a batch; all others are transformed. Complex numbers are kept as a last axis of
length 2: real part, imaginary part. Only the half of the spectrum that is not the conjugate of the other half is there,
as in :func:`numpy.fft.rfftn`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.errors import ArgumentError
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.layers import lazily
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import cast, sqrt
from theano.tensor.index.functions import set_subtensor
from theano.tensor.join.op import stack
from theano.tensor.linalg.common import linalg_dtype, matrix_type
from theano.tensor.messages import shape_error
from theano.tensor.reduce.functions import prod
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor

__all__ = ["IRFFTOp", "RFFTOp", "irfft", "irfft_op", "rfft", "rfft_op"]


class _Transform(Op):
    """What both directions share: a batch, and the lengths of the signal."""

    __props__ = ()

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the lengths have no influence in the sense of derivatives."""
        return [[True], [False]]

    def _inputs(self, a: TensorLike, s: Any, least: int) -> tuple[Any, Any]:
        a = as_tensor_variable(a)
        if a.type.ndim < least:
            raise ArgumentError(f"{type(self).__name__} needs {least} dimensions or more, not {a.type.ndim}")
        if a.type.dtype.startswith("complex"):
            raise TypeError(
                f"{type(self).__name__}: complex numbers are kept as real ones with a last axis of length 2 (real and "
                f"imaginary part), but {a} is of dtype {a.type.dtype}"
            )
        if s is None:
            return cast(a, linalg_dtype(a)), None
        s = as_tensor_variable(s)
        if s.type.ndim != 1 or not s.type.dtype.startswith(("int", "uint")):
            raise TypeError(f"{type(self).__name__}: the lengths of the signal must be a vector of integers, not {s}")
        return cast(a, linalg_dtype(a)), s


def _lengths(node: TensorApply, inputs: Sequence[np.ndarray]) -> tuple[int, ...]:
    """Return the lengths of a signal; to NumPy -1 would mean that of the input."""
    lengths = tuple(map(int, inputs[1]))
    if any(n < 0 for n in lengths):
        raise shape_error(node, inputs, f"negative length in shape {lengths}.", "Lengths are 1 or more.")
    return lengths


class RFFTOp(_Transform):
    """The spectrum of a real signal, not normalised: (m, ..., n) becomes (m, ..., n // 2 + 1, 2).

    Examples
    --------
    >>> import theano.tensor as T
    >>> RFFTOp()(T.ones((1, 4)), T.constant([4])).eval().shape
    (1, 3, 2)
    """

    linear_in = (0,)

    def make_node(self, a: Tensor, s: Any = None) -> Apply:
        """Return the node for a batch of signals.

        Parameters
        ----------
        a : tensor of floats, shape (m, ..., n)
            One signal for each index of the first axis.
        s : vector of int, optional
            The lengths to which each signal is cut or padded with zeros; its own by default.

        Returns
        -------
        TensorVariable
            Of shape (m, ..., n // 2 + 1, 2): the real and imaginary parts are along the last axis.
        """
        a, s = self._inputs(a, s, 2)
        if s is None:
            s = as_tensor_variable(a.shape[1:])
        return Apply(self, [a, s], [matrix_type(a.type.dtype, a.type.ndim + 1).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Transform with NumPy."""
        a, s = inputs
        found = np.fft.rfftn(a, s=_lengths(node, inputs), axes=tuple(range(1, a.ndim)))
        output_storage[0][0] = np.stack([found.real, found.imag], axis=-1).astype(a.dtype, copy=False)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the lengths of the signal, the last one halved, and 2."""
        s = node.inputs[1]
        count = len(shapes[0]) - 1
        lengths = [s[i] for i in range(count)]
        return [(shapes[0][0], *lengths[:-1], lengths[-1] // 2 + 1, 2)]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the transform back, in which each coefficient that stands for two counts half."""
        (_, s), (g,) = inputs, output_grads
        middle = _paired(g, s)
        return [irfft_op(set_subtensor(middle, middle * 0.5), s), DisconnectedType()()]


class IRFFTOp(_Transform):
    """The real signal of a spectrum, times the number of its elements: what :class:`RFFTOp` needs to be undone.

    Examples
    --------
    >>> import theano.tensor as T
    >>> IRFFTOp()(T.ones((1, 3, 2)), T.constant([4])).eval().shape
    (1, 4)
    """

    linear_in = (0,)

    def make_node(self, a: Tensor, s: Tensor | None = None) -> Apply:
        """Return the node for a batch of spectra.

        Parameters
        ----------
        a : tensor of floats, shape (m, ..., n // 2 + 1, 2)
            One spectrum for each index of the first axis.
        s : vector of int, optional
            The lengths of each signal; the last one is even by default.

        Returns
        -------
        TensorVariable
            Of shape (m, ..., n).
        """
        a, s = self._inputs(a, s, 3)
        if s is None:
            s = a.shape[1:-1]
            s = set_subtensor(s[-1], (s[-1] - 1) * 2)
        return Apply(self, [a, s], [matrix_type(a.type.dtype, a.type.ndim - 1).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Transform with NumPy."""
        a, s = inputs
        lengths = _lengths(node, inputs)
        if a.shape[-1] != 2:
            raise shape_error(
                node, inputs, f"the last axis holds real and imaginary part, so its length is 2, not {a.shape[-1]}.",
                "T.fft.rfft returns spectra in this form.",
            )  # fmt: skip
        spectrum = a[..., 0] + 1j * a[..., 1]
        found = np.fft.irfftn(spectrum, s=lengths, axes=tuple(range(1, a.ndim - 1)), norm="forward")
        output_storage[0][0] = found.astype(a.dtype, copy=False)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the lengths of the signal."""
        s = node.inputs[1]
        return [(shapes[0][0], *[s[i] for i in range(len(shapes[0]) - 2)])]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the spectrum, in which each coefficient that stands for two counts double."""
        (_, s), (g,) = inputs, output_grads
        spectrum = rfft_op(g, s)
        middle = _paired(spectrum, s)
        return [set_subtensor(middle, middle * 2), DisconnectedType()()]


def _paired(spectrum: Tensor, s: Tensor) -> Tensor:
    """Return the coefficients along the last transformed axis whose conjugates are left out."""
    everything = (slice(None),) * (spectrum.type.ndim - 2)
    return spectrum[(*everything, slice(1, s[-1] // 2 + s[-1] % 2))]


rfft_op = RFFTOp()
irfft_op = IRFFTOp()


def rfft(inp: TensorLike, norm: str | None = None) -> Tensor:
    """Return the Fourier transform of a batch of real signals.

    Parameters
    ----------
    inp : tensor of shape (m, ..., n)
        All axes but the first are transformed.
    norm : None, "ortho" or "no_norm"
        "ortho" divides by the root of the number of elements; the others do not divide.

    Returns
    -------
    tensor of shape (m, ..., n // 2 + 1, 2)
        Real and imaginary parts along the last axis.

    See Also
    --------
    fft.irfft

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> theano.function([x], rfft(x))([[1.0, 2.0, 3.0]]).round(3) + 0.0
    array([[[ 6.   ,  0.   ],
            [-1.5  ,  0.866]]])
    """
    inp = as_tensor_variable(inp)
    s = inp.shape[1:]
    return _scaled(rfft_op(inp, s), prod(s), norm, plain_divides=False)


def irfft(inp: TensorLike, norm: str | None = None, is_odd: bool = False) -> Tensor:
    """Return the batch of real signals with these spectra.

    Parameters
    ----------
    inp : tensor of shape (m, ..., n // 2 + 1, 2)
        What :func:`rfft` returns: real and imaginary parts along the last axis.
    norm : None, "ortho" or "no_norm"
        None divides by the number of elements, "ortho" by its root, "no_norm" by nothing.
    is_odd : bool
        Whether n is odd.

    Returns
    -------
    TensorVariable
        Of shape (m, ..., n).

    See Also
    --------
    fft.rfft

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> theano.function([x], irfft(rfft(x), is_odd=True))([[1.0, 2.0, 3.0]]).round(6)
    array([[1., 2., 3.]])
    """
    if is_odd not in (True, False):
        raise ValueError(f"is_odd must be True or False, not {is_odd!r}")
    inp = as_tensor_variable(inp)
    if inp.type.ndim < 3:
        raise ArgumentError(f"irfft: the input must have 3 dimensions or more, not {inp.type.ndim}")
    lengths = [inp.shape[i] for i in range(1, inp.type.ndim - 1)]
    lengths[-1] = (lengths[-1] - 1) * 2 + int(is_odd)
    s = stack(lengths)
    return _scaled(irfft_op(inp, s), prod(s), norm, plain_divides=True)


def _scaled(x: Any, elements: Any, norm: str | None, plain_divides: bool) -> Any:
    if norm not in (None, "ortho", "no_norm"):
        raise ValueError(f"norm must be None, 'ortho' or 'no_norm', not {norm!r}")
    elements = cast(elements, x.type.dtype)
    if norm == "ortho":
        return x / sqrt(elements)
    return x / elements if norm is None and plain_divides else x

#: Old spellings.
__getattr__, __dir__ = lazily(globals())
