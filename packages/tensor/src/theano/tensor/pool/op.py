"""Pooling: one number for each window of the last axes, and the derivatives of that.

All ops visit the same pairs of elements: for each place in the window, the outputs whose window has an element of the
input there, and these elements. Both are slices, so NumPy computes an op with one statement a place (:func:`places`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import maximum, switch
from theano.tensor.messages import describe
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Directions, Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor

MODES = ("max", "sum", "average_inc_pad", "average_exc_pad")


def pooled_length(n: Any, ws: Any, stride: Any, pad: Any, ignore_border: bool) -> Any:
    """Return how many windows there are along an axis, for numbers or variables."""
    symbolic = any(hasattr(v, "type") for v in (n, ws, stride, pad))
    most = maximum if symbolic else max
    if ignore_border:
        return most((n + 2 * pad - ws) // stride + 1, 0)
    # A window is cut at the border; none begins past it, nor where the one before has reached it.
    apart, overlapping = (n + stride - 1) // stride, most((n - ws + stride - 1) // stride, 0) + 1
    return switch(stride >= ws, apart, overlapping) if symbolic else apart if stride >= ws else overlapping


def places(
    shape: Sequence[int], out_shape: Sequence[int], ws: Sequence[int], stride: Sequence[int], pad: Sequence[int]
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Yield, for each place in the window, a slice of outputs and the slice of inputs that they have there."""
    axes = [
        [_place(k, *lengths) for k in range(lengths[2])]
        for lengths in zip(shape, out_shape, ws, stride, pad, strict=True)
    ]
    for pairs in product(*axes):
        outputs, inputs = zip(*pairs, strict=True)
        yield (..., *outputs), (..., *inputs)


def _place(k: int, n: int, n_out: int, ws: int, stride: int, pad: int) -> tuple[slice, slice]:
    first = max(0, -((k - pad) // stride))  # the first window that has an element there
    end = max(first, min(n_out, (n - 1 + pad - k) // stride + 1))
    start = first * stride - pad + k
    return slice(first, end), slice(start, start + (end - first) * stride, stride) if end > first else slice(0, 0)


def window_sizes(n: int, n_out: int, ws: int, stride: int, pad: int, with_padding: bool) -> np.ndarray:
    """Return how many elements each window along an axis has, those of the padding among them or not."""
    begin = np.arange(n_out) * stride - pad
    end = np.minimum(begin + ws, n + pad)
    return end - begin if with_padding else np.minimum(end, n) - np.maximum(begin, 0)


class _Windows(Op):
    """What all ops here have: the windows along the last ``ndim`` axes, of sizes that are inputs.

    Parameters
    ----------
    ignore_border : bool
        Whether a window that does not fit any more is left out, or cut.
    mode : str
        One of ``MODES``.
    ndim : int
        How many axes the windows have.
    openmp : ignored
        Without effect.
    """

    __props__ = ("ignore_border", "mode", "ndim")
    #: Names of the inputs before ws, stride and pad; the first has the shape that is pooled.
    arrays: tuple[str, ...] = ("x",)
    #: Whether the result has the shape of the windows, not that of the first input.
    pools = True

    def __init__(self, ignore_border: bool = False, mode: str = "max", ndim: int = 2, openmp: object = None):
        mode = "average_inc_pad" if mode == "average" else mode
        if mode not in MODES:
            raise ValueError(f"{type(self).__name__}: mode must be one of {', '.join(MODES)}, not {mode!r}")
        self.ignore_border, self.mode, self.ndim = bool(ignore_border), mode, int(ndim)

    def make_node(self, *inputs: Any, **named: object) -> Apply:
        """Return the node for arrays of one number of dimensions, and ws, stride (as ws) and pad (zeros)."""
        given = self._by_name(inputs, named)
        arrays = [as_tensor_variable(given[name]) for name in self.arrays]
        for name, v in zip(self.arrays, arrays, strict=True):
            if v.type.ndim < self.ndim or v.type.ndim != arrays[0].type.ndim:
                raise TypeError(
                    f"{self}: {name} must have as many dimensions as x, {self.ndim} at least:\n{describe(v)}"
                )
        ws, stride, pad = (given.get(name) for name in ("ws", "stride", "pad"))
        if ws is None:
            raise ValueError(f"{type(self).__name__}: ws, the size of the windows, must be given")
        stride = ws if stride is None else stride
        pad = (0,) * self.ndim if pad is None else pad
        sizes = [self._sizes(name, v) for name, v in (("ws", ws), ("stride", stride), ("pad", pad))]
        if not self.ignore_border and np.any(getattr(sizes[2], "data", 0)):
            raise NotImplementedError(f"{type(self).__name__}: padding needs ignore_border=True; pad is {pad}")
        least, most = (getattr(v, "data", None) for v in (sizes[2], sizes[0]))
        if least is not None and most is not None and self._needs_elements and np.any(least) and np.any(least >= most):
            raise NotImplementedError(f"{type(self).__name__}: pad must be smaller than ws; pad is {pad}, ws {ws}")
        kept = arrays[0].type.broadcastable
        fixed = kept[: len(kept) - self.ndim] + (False,) * self.ndim if self.pools else kept
        return Apply(self, [*arrays, *sizes], [TensorType(arrays[-1].type.dtype, fixed).make_variable()])

    def _by_name(self, inputs: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        """Return what a call gives, some of it by position and some by name."""
        names = (*self.arrays, "ws", "stride", "pad")
        given = {**dict(zip(names, inputs, strict=False)), **named}
        lacking = [name for name in self.arrays if name not in given]
        if lacking or len(given) != len(inputs) + len(named) or not given.keys() <= set(names):
            raise TypeError(
                f"{type(self).__name__} takes {', '.join(names)}; given are {len(inputs)} and {list(named)}"
            )
        return given

    @property
    def _needs_elements(self) -> bool:
        """Whether a window must reach an element: the sum of one in the padding alone is 0."""
        return self.mode in ("max", "average_exc_pad")

    def _sizes(self, name: str, value: TensorLike) -> Tensor:
        v = as_tensor_variable(value)
        if v.type.ndim == 0:
            v = as_tensor_variable([value] * self.ndim)
        if v.type.ndim != 1 or v.type.dtype not in scal.integer_dtypes:
            raise TypeError(f"{type(self).__name__}: {name} must be {self.ndim} whole numbers:\n{describe(v)}")
        given = getattr(v, "data", None)
        if given is not None and len(given) != self.ndim:
            raise ValueError(f"{type(self).__name__}: {name} must be {self.ndim} whole numbers, not {given.tolist()}")
        return v

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "ds" in state:  # pickles may have the sizes here, not among the inputs of nodes
            self.ndim = len(state["ds"])

    def restored_inputs(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return the inputs with the sizes that pickles may have in the op."""
        if len(inputs) > len(self.arrays):
            return inputs
        return [*inputs, *(as_tensor_variable(self.__dict__[name]) for name in ("ds", "st", "padding"))]

    def windows(self, shape: Sequence[int], sizes: Sequence[np.ndarray]) -> tuple[list[int], ...]:
        """Return shape, windows, ws, stride and pad along the pooled axes; ValueError if they are no sizes."""
        ws, stride, pad = ([int(k) for k in v] for v in sizes)
        if any(len(v) != self.ndim for v in (ws, stride, pad)):
            raise ValueError(f"{self}: ws, stride and pad must be {self.ndim} numbers each: {ws}, {stride}, {pad}")
        if min(ws) < 1 or min(stride) < 1:
            raise ValueError(f"{self}: ws and stride must be positive: ws {ws}, stride {stride}")
        if min(pad) < 0 or (any(pad) and not self.ignore_border):
            raise ValueError(f"{self}: pad must not be negative, and needs ignore_border=True: pad {pad}")
        if self._needs_elements and any(p >= w for p, w in zip(pad, ws, strict=True)):
            raise ValueError(f"{self}: pad must be smaller than ws: pad {pad}, ws {ws}")
        last = [int(n) for n in shape[len(shape) - self.ndim :]]
        lengths = [pooled_length(*v, self.ignore_border) for v in zip(last, ws, stride, pad, strict=True)]
        return last, lengths, ws, stride, pad

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compute with NumPy, numbers of float16 in float32."""
        arrays, sizes = inputs[: len(self.arrays)], inputs[len(self.arrays) :]
        x = arrays[0]
        windows = self.windows(x.shape, sizes)
        pooled = (*x.shape[: x.ndim - self.ndim], *windows[1])
        for name, v in zip(self.arrays[1:], arrays[1:], strict=True):
            wanted = x.shape if name == "ggx" else pooled
            if v.shape != wanted and name != "eval_point":
                raise ValueError(f"{self}: {name} has shape {v.shape}; x of shape {x.shape} needs {wanted}")
        dtype = node.outputs[0].type.dtype
        out = np.zeros(pooled if self.pools else x.shape, "float32" if dtype == "float16" else dtype)
        self.fill(out, arrays, windows)
        output_storage[0][0] = out.astype(dtype, copy=False)

    def fill(self, out: np.ndarray, arrays: Sequence[np.ndarray], windows: tuple[Any, ...]) -> None:
        """Compute the result in zeros of its shape."""
        raise NotImplementedError

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the lengths from those of x and the sizes."""
        if not self.pools:
            return [shapes[0]]
        ws, stride, pad = node.inputs[len(self.arrays) :]
        kept = len(shapes[0]) - self.ndim
        lengths = [
            pooled_length(n, ws[i], stride[i], pad[i], self.ignore_border) for i, n in enumerate(shapes[0][kept:])
        ]
        return [(*shapes[0][:kept], *lengths)]

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the sizes have no gradient."""
        return [[i < len(self.arrays)] for i in range(len(node.inputs))]

    def _linear(self, inputs: Sequence[Tensor], adjoint: Op, g: Tensor) -> list[Variable]:
        """Return the gradients of what is linear in its last array, and constant almost everywhere in the others."""
        count = len(self.arrays)
        fixed = [v.zeros_like() for v in inputs[: count - 1]]
        g_last = adjoint(*inputs[: count - 1], g, *inputs[count:])
        return [*fixed, g_last, *(DisconnectedType()() for _ in range(3))]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the derivative along a direction of the array in which the op is linear."""
        count = len(self.arrays)
        direction = eval_points[count - 1]
        return [None if direction is None else self(*inputs[: count - 1], direction, *inputs[count:])]

    def _like(self, cls: Any) -> _Windows:
        return cls(ignore_border=self.ignore_border, mode=self.mode, ndim=self.ndim)


class Pool(_Windows):
    """The largest element, the sum or the mean of each window of the last axes.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Pool(ignore_border=True)(T.constant([[1.0, 2.0], [3.0, 4.0]]), (2, 2)).eval()
    array([[4.]])
    """

    @staticmethod
    def out_shape(
        imgshape: Any, ws: Any = None, ignore_border: bool = False, stride: Any = None, pad: Any = None, ndim: int = 2,
        ds: Any = None, st: Any = None, padding: Any = None,
    ) -> list[Any]:  # fmt: skip
        """Return the shape of the result for an input of a shape, of numbers or variables.

        Examples
        --------
        >>> Pool.out_shape((3, 7, 7), (2, 2), ignore_border=True)
        [3, 3, 3]
        """
        ws, stride, pad = ws or ds, stride or st, pad or padding
        stride, pad = stride or ws, pad or (0,) * ndim
        if len(imgshape) < ndim:
            raise TypeError(f"Pool.out_shape: imgshape must have {ndim} lengths at least, not {len(imgshape)}")
        kept = len(imgshape) - ndim
        lengths = zip(imgshape[kept:], ws, stride, pad, strict=True)
        return [*imgshape[:kept], *(pooled_length(*v, ignore_border) for v in lengths)]

    def fill(self, out: np.ndarray, arrays: Sequence[np.ndarray], windows: tuple[Sequence[int], ...]) -> None:
        """Join the elements at each place of the window."""
        (x,) = arrays
        if self.mode == "max":
            out[...] = lowest(out.dtype)
            for there, here in places(*windows):
                np.maximum(out[there], x[here], out=out[there])
            return
        for there, here in places(*windows):
            out[there] += x[here]
        if self.mode != "sum":
            out[...] = out / counts(windows, self.mode)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient: where the largest elements are, or spread over the windows."""
        x, *sizes = inputs
        (g,) = output_grads
        if self.mode == "max":
            gx = self._like(MaxPoolGrad)(x, outputs[0], g, *sizes)
        else:
            gx = self._like(AveragePoolGrad)(x, g, *sizes)
        return [gx, *(DisconnectedType()() for _ in sizes)]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the pooled direction, or its elements where the largest are."""
        x, *sizes = inputs
        if eval_points[0] is None:
            return [None]
        if self.mode == "max":
            return [self._like(MaxPoolRop)(x, eval_points[0], *sizes)]
        return [self(eval_points[0], *sizes)]


def lowest(dtype: np.dtype) -> float:
    """Return what is not larger than any number."""
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def counts(windows: tuple[Sequence[int], ...], mode: str) -> np.ndarray:
    """Return by how many elements the sum over each window is divided."""
    with_padding = mode == "average_inc_pad"
    sizes = [
        window_sizes(n, n_out, ws, stride, pad, with_padding)
        for n, n_out, ws, stride, pad in zip(*windows, strict=True)
    ]
    total = np.ones((), "int64")
    for size in sizes:
        total = total[..., None] * size
    return total


class PoolGrad(_Windows):
    """The base of the gradients of :class:`Pool` with respect to its input."""

    pools = False


class MaxPoolGrad(PoolGrad):
    """The gradient of the largest elements of windows: it goes to all that are the largest of theirs.

    Examples
    --------
    >>> import theano.tensor as T
    >>> MaxPoolGrad(True)(T.constant([[1.0, 2.0]]), T.constant([[2.0]]), T.constant([[5.0]]), (1, 2)).eval()
    array([[0., 5.]])
    """

    arrays = ("x", "maxout", "gz")

    def __init__(self, ignore_border: bool = False, ndim: int = 2, openmp: object = None, mode: str = "max"):
        super().__init__(ignore_border, "max", ndim)

    def fill(self, out: np.ndarray, arrays: Sequence[np.ndarray], windows: tuple[Sequence[int], ...]) -> None:
        """Add each gradient where the element is the largest of the window."""
        x, maxout, gz = arrays
        for there, here in places(*windows):
            out[here] += np.where(x[here] == maxout[there], gz[there], 0)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient with respect to gz."""
        return self._linear(inputs, self._like(DownsampleFactorMaxGradGrad), output_grads[0])


class DownsampleFactorMaxGradGrad(_Windows):
    """The sum, for each window, of ``ggx`` where ``x`` is the largest: the transposed of :class:`MaxPoolGrad`.

    Examples
    --------
    >>> import theano.tensor as T
    >>> op = DownsampleFactorMaxGradGrad(True)
    >>> op(T.constant([[1.0, 2.0]]), T.constant([[2.0]]), T.constant([[5.0, 7.0]]), (1, 2)).eval()
    array([[7.]])
    """

    arrays = ("x", "maxout", "ggx")

    def fill(self, out: np.ndarray, arrays: Sequence[np.ndarray], windows: tuple[Sequence[int], ...]) -> None:
        """Add the elements where x is the largest of the window."""
        x, maxout, ggx = arrays
        for there, here in places(*windows):
            out[there] += np.where(x[here] == maxout[there], ggx[here], 0)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient with respect to ggx."""
        return self._linear(inputs, self._like(MaxPoolGrad), output_grads[0])


class AveragePoolGrad(PoolGrad):
    """The gradient of sums or means of windows: each window's is spread over its elements.

    Examples
    --------
    >>> import theano.tensor as T
    >>> AveragePoolGrad(True)(T.constant([[1.0, 2.0]]), T.constant([[5.0]]), (1, 2)).eval()
    array([[2.5, 2.5]])
    """

    arrays = ("x", "gz")

    def __init__(self, ignore_border: bool = False, mode: str = "average_inc_pad", ndim: int = 2):
        super().__init__(ignore_border, mode, ndim)

    def fill(self, out: np.ndarray, arrays: Sequence[np.ndarray], windows: tuple[Sequence[int], ...]) -> None:
        """Add each window's share to its elements."""
        share = arrays[1].astype(out.dtype, copy=False)
        if self.mode != "sum":
            share = (share / counts(windows, self.mode)).astype(out.dtype, copy=False)
        for there, here in places(*windows):
            out[here] += share[there]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient with respect to gz, which is pooling."""
        x, _, *sizes = inputs
        pooled = self._like(Pool)(output_grads[0], *sizes)
        return [x.zeros_like(), pooled, *(DisconnectedType()() for _ in sizes)]


class MaxPoolRop(_Windows):
    """The element of ``eval_point`` where the first of the largest elements of each window of ``x`` is.

    Examples
    --------
    >>> import theano.tensor as T
    >>> MaxPoolRop(True)(T.constant([[1.0, 2.0]]), T.constant([[5.0, 7.0]]), (1, 2)).eval()
    array([[7.]])
    """

    arrays = ("x", "eval_point")

    def fill(self, out: np.ndarray, arrays: Sequence[np.ndarray], windows: tuple[Sequence[int], ...]) -> None:
        """Keep the largest element so far, and what belongs to it."""
        x, direction = arrays
        if x.shape != direction.shape:
            raise ValueError(f"{self}: eval_point has shape {direction.shape}, x has {x.shape}; they must be the same")
        largest, unset = np.full(out.shape, lowest(x.dtype), x.dtype), np.ones(out.shape, bool)
        for there, here in places(*windows):
            better = unset[there] | (x[here] > largest[there])
            largest[there] = np.where(better, x[here], largest[there])
            out[there] = np.where(better, direction[here], out[there])
            unset[there] = False

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient with respect to eval_point."""
        x, _, *sizes = inputs
        g = self._like(MaxPoolGrad)(x, self._like(Pool)(x, *sizes), output_grads[0], *sizes)
        return [x.zeros_like(), g, *(DisconnectedType()() for _ in sizes)]
