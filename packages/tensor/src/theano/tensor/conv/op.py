"""The ops of convolution: forward, its gradient with respect to the filters, and with respect to the image.

Each is linear in both of its tensors, and the derivatives of each are the other two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.gradient import DisconnectedType
from theano.graph import Apply, Constant, Op
from theano.tensor.conv import reference
from theano.tensor.conv.geometry import (
    Geometry,
    get_conv_gradinputs_shape,
    get_conv_gradweights_shape,
    get_conv_output_shape,
    normal_border_mode,
    normal_steps,
)
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import cast
from theano.tensor.messages import describe, shape_error
from theano.tensor.shape.basic import patternbroadcast
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Border, Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor

_FLOATS = ("float16", "float32", "float64")


class BaseAbstractConv(Op):
    """What the three ops share: the geometry, and the shapes that the user gave.

    Parameters
    ----------
    convdim : 2 or 3
        How many axes are convolved.
    imshp, kshp : tuple of int, symbolic integer or None, optional
        The shapes of image and filters, where they are known.
    border_mode : 'valid', 'full', 'half', int, or tuple of int or of pairs of int
    subsample : tuple of int, optional
    filter_flip : bool
    filter_dilation : tuple of int, optional
    num_groups : int
    unshared : bool
        Filters of their own for each place; of 2 dimensions only.

    Raises
    ------
    ValueError
        The geometry is none.
    """

    __props__ = (
        "convdim", "border_mode", "subsample", "filter_flip", "imshp", "kshp", "filter_dilation", "num_groups",
        "unshared",
    )  # fmt: skip
    check_broadcast: ClassVar[bool] = False

    def __init__(
        self, convdim: int, imshp: Any = None, kshp: object = None, border_mode: Border = "valid",
        subsample: object = None, filter_flip: bool = True, filter_dilation: object = None, num_groups: int = 1,
        unshared: bool = False,
    ):  # fmt: skip
        self.convdim = int(convdim)
        if self.convdim not in (2, 3):
            raise ValueError(f"convolution dimension {convdim} is not supported; it is 2 or 3")
        if unshared and self.convdim == 3:
            raise ValueError("unshared convolution is of 2 dimensions only")
        self.border_mode = normal_border_mode(border_mode, self.convdim)
        self.subsample = normal_steps(subsample, self.convdim, "subsample")
        self.filter_dilation = normal_steps(filter_dilation, self.convdim, "filter_dilation")
        self.filter_flip, self.unshared = bool(filter_flip), bool(unshared)
        if not isinstance(num_groups, (int, np.integer)) or num_groups < 1:
            raise ValueError(f"num_groups is {num_groups!r}; it must be 1 or more")
        self.num_groups = int(num_groups)
        self.imshp = _given_shape(imshp, self.convdim + 2, "input_shape")
        self.kshp = _given_shape(kshp, self._kernel_ndim, "filter_shape")

    @property
    def geometry(self) -> Geometry:
        """All but the lengths."""
        return Geometry(
            self.border_mode, self.subsample, self.filter_dilation, self.filter_flip, self.num_groups, self.unshared
        )

    @property
    def _kernel_ndim(self) -> int:
        return 2 + self.convdim * (2 if self.unshared else 1)

    def _options(self) -> dict[str, Any]:
        names = ("border_mode", "subsample", "filter_flip", "filter_dilation", "num_groups", "imshp", "kshp")
        options = {name: getattr(self, name) for name in names}
        return {**options, "unshared": self.unshared} if self.convdim == 2 else options

    def _other(self, kind: str) -> Op:
        """Return the op of another direction, of the same geometry."""
        return _OPS[kind, self.convdim](**self._options())

    def _known(self, v: Tensor, given: Sequence[object]) -> Any:
        """Return the lengths of images or filters: those that are given, which takes no value of them, or their own."""
        lengths = given[-self.convdim :] if given else ()
        return np.array(lengths) if lengths and all(type(n) is int for n in lengths) else v.shape[-self.convdim :]

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__props__)
        return f"{type(self).__name__}{{{shown}}}"

    def do_constant_folding(self, node: Apply) -> bool:
        """Return False: results are large."""
        return False

    def _tensor(self, v: TensorLike, ndim: int, what: str) -> Tensor:
        v = as_tensor_variable(v)
        if v.type.ndim != ndim:
            raise TypeError(
                f"{type(self).__name__}: {what} must be a tensor of {ndim} dimensions, not of {v.type.ndim}:\n"
                f"{describe(v)}"
            )
        if v.type.dtype in scal.complex_dtypes:
            raise ArgumentError(f"{type(self).__name__}: {what} must be real:\n{describe(v)}")
        return v

    def _pair(self, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor, str]:
        dtype = first.type.dtype  # as in Theano, what filters and gradients of other floats are cast to
        if dtype not in _FLOATS:
            dtype = scal.upcast(dtype, second.type.dtype)
        if dtype not in _FLOATS:
            dtype = scal.upcast(
                dtype, "float32" if dtype in ("int8", "uint8", "int16", "uint16", "bool") else "float64"
            )
        return cast(first, dtype), cast(second, dtype), dtype

    def _lengths(self, shape: TensorLike) -> Tensor:
        shape = as_tensor_variable(shape)
        if shape.type.ndim != 1 or shape.type.dtype not in scal.integer_dtypes:
            raise TypeError(
                f"{type(self).__name__}: lengths must be a vector of {self.convdim} integers:\n{describe(shape)}"
            )
        return cast(shape, "int64")

    def _read_lengths(self, node: TensorApply, inputs: Sequence[np.ndarray]) -> tuple[int, ...]:
        lengths = tuple(int(n) for n in inputs[2])
        if len(lengths) != self.convdim or min(lengths) < 0:
            raise shape_error(node, inputs, f"lengths {lengths}.", f"Give {self.convdim}, each 0 or more.")
        return lengths

    def _check(
        self, node: TensorApply, inputs: Sequence[np.ndarray], image: Sequence[int], kernel: Sequence[int],
        top: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        """Raise a `ShapeError` where shapes do not belong together."""
        groups, ndim = self.num_groups, self.convdim
        channels = kernel[-ndim - 1]
        if image[1] != channels * groups:
            times = f" in each of {groups} groups" if groups > 1 else ""
            raise shape_error(
                node, inputs, f"the image has {image[1]} channels, the filters have {channels}{times}.",
                "Both must have as many (input axis 1, filters axis 1 times num_groups).",
            )  # fmt: skip
        if kernel[0] % groups:
            raise shape_error(
                node, inputs, f"{kernel[0]} filters cannot be split into num_groups={groups} groups.",
                "Give a number of filters that it divides.",
            )  # fmt: skip
        places = self.geometry.output(image[2:], kernel[-ndim:])
        if min(places) < 1 or min(kernel[-ndim:]) < 1:
            raise shape_error(
                node, inputs,
                f"the filters, {tuple(kernel[-ndim:])}, do not fit into the image, {tuple(image[2:])}, with "
                f"border_mode={self.border_mode!r} and filter_dilation={self.filter_dilation}.",
                "Pad more, or use smaller filters or a larger image.",
            )  # fmt: skip
        wanted = (image[0], kernel[0], *places)
        if top is not None and tuple(top) != wanted:
            raise shape_error(
                node, inputs, f"the output has shape {tuple(top)}, but image and filters make {wanted}.",
                "Give the shapes that the forward convolution had.",
            )  # fmt: skip
        if self.unshared and tuple(kernel[1 : -ndim - 1]) != places:
            raise shape_error(
                node, inputs,
                f"there are unshared filters for {tuple(kernel[1 : -ndim - 1])} places, but {places} places.",
                "Unshared filters are (filters, places..., channels, ...).",
            )  # fmt: skip


def _given_shape(shape: Any, ndim: int, what: str) -> Any:
    """Return a shape that a user gave: integers, or None where they are symbolic or not known."""
    if shape is None:
        return None
    if hasattr(shape, "type"):
        raise ValueError(f"{what} must be a tuple of integers, integer tensors or None, not one expression: {shape}")
    shape = tuple(shape)
    if len(shape) != ndim:
        raise ValueError(f"{what} must have {ndim} entries, not {len(shape)}: {shape}")
    known: list[int | None] = []
    for n in shape:
        value = n.data if isinstance(n, Constant) else n
        if isinstance(value, (int, np.integer)) or (
            isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu"
        ):
            known.append(int(value))
        elif n is None or hasattr(n, "type"):
            known.append(None)
        else:
            raise ValueError(f"{what} must consist of integers, integer tensors or None, not {n!r}")
    return tuple(known)


class AbstractConv(BaseAbstractConv):
    """The convolution of a batch of images with filters.

    See `BaseAbstractConv` for the parameters.

    Examples
    --------
    >>> import theano.tensor as T
    >>> op = AbstractConv2d(filter_flip=False)
    >>> op(T.ones((1, 1, 3, 3)), T.ones((1, 1, 2, 2))).eval().astype("int8")
    array([[[[4, 4],
             [4, 4]]]], dtype=int8)
    """

    linear_in = (0, 1)

    def make_node(self, img: TensorLike, kern: Tensor) -> Apply:
        """Return the node for images (batch, channels, ...) and filters (filters, channels, ...)."""
        img, kern = self._tensor(img, self.convdim + 2, "img"), self._tensor(kern, self._kernel_ndim, "kern")
        img, kern, dtype = self._pair(img, kern)
        pattern = [img.type.broadcastable[0], kern.type.broadcastable[0]] + [False] * self.convdim
        return Apply(self, [img, kern], [TensorType(dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Convolve with NumPy."""
        img, kern = inputs
        self._check(node, inputs, img.shape, kern.shape)
        output_storage[0][0] = reference.forward(self.geometry, img, kern)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return batch, filters and places."""
        image, kernel = shapes
        return [get_conv_output_shape(image, kernel, self.border_mode, self.subsample, self.filter_dilation)]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients with respect to images and filters."""
        (img, kern), (top,) = inputs, output_grads
        return [
            patternbroadcast(self._other("inputs")(kern, top, self._known(img, self.imshp)), img.type.broadcastable),
            patternbroadcast(self._other("weights")(img, top, self._known(kern, self.kshp)), kern.type.broadcastable),
        ]


class _ConvGrad(BaseAbstractConv):
    """What both gradients share: the lengths, which have no influence, as third input."""

    linear_in = (0, 1)

    def _following(self, shape_of: Any, a: Any, top: Any) -> list[Any]:
        """Return the lengths that follow from the shapes of both tensors."""
        shapes = [tuple(v.shape[i] for i in range(v.type.ndim)) for v in (a, top)]
        found = shape_of(*shapes, self.border_mode, self.subsample, self.filter_dilation)[-self.convdim :]
        if any(n is None for n in found):
            raise ValueError(
                f"{type(self).__name__}: shape must be given if subsample is not 1 everywhere, or border_mode is "
                "'half': several lengths make the same output"
            )
        return list(found)

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that lengths have no influence in the sense of derivatives."""
        return [[True], [True], [False]]


class AbstractConv_gradWeights(_ConvGrad):
    """The gradient of a convolution with respect to its filters.

    See `BaseAbstractConv` for the parameters.

    Examples
    --------
    >>> import theano.tensor as T
    >>> op = AbstractConv2d_gradWeights()
    >>> op(T.ones((1, 1, 3, 3)), T.ones((1, 1, 2, 2)), [2, 2]).eval().astype("int8")
    array([[[[4, 4],
             [4, 4]]]], dtype=int8)
    """

    def make_node(
        self, img: TensorLike, topgrad: Tensor, shape: TensorLike | None = None, add_assert_shape: bool = True
    ) -> Apply:
        """Return the node for images, the gradient with respect to the output, and the lengths of the filters.

        Without lengths, those that follow from the shapes.
        """
        ndim = self.convdim + 2
        img, top, dtype = self._pair(self._tensor(img, ndim, "img"), self._tensor(topgrad, ndim, "topgrad"))
        places = [False] * self.convdim
        channels = img.type.broadcastable[1] if self.num_groups == 1 else False
        pattern = [top.type.broadcastable[1], *(places if self.unshared else []), channels, *places]
        if shape is None:
            shape = self._following(get_conv_gradweights_shape, img, top)
        return Apply(self, [img, top, self._lengths(shape)], [TensorType(dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        img, top, _ = inputs
        lengths = self._read_lengths(node, inputs)
        kernel = self._kernel_shape(img.shape, top.shape, lengths)
        self._check(node, inputs, img.shape, kernel, top.shape)
        output_storage[0][0] = reference.grad_weights(self.geometry, img, top, lengths)

    def _kernel_shape(
        self, image: Sequence[Any], top: Sequence[TensorLike], lengths: Sequence[TensorLike]
    ) -> tuple[Any, ...]:
        channels = image[1] // self.num_groups if self.num_groups > 1 else image[1]
        return (top[1], *(top[2:] if self.unshared else ()), channels, *lengths)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the shape of the filters."""
        lengths = [node.inputs[2][i] for i in range(self.convdim)]
        return [self._kernel_shape(shapes[0], shapes[1], lengths)]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients with respect to images and the output's gradient."""
        (img, top, _), (weights,) = inputs, output_grads
        return [
            patternbroadcast(self._other("inputs")(weights, top, self._known(img, self.imshp)), img.type.broadcastable),
            patternbroadcast(self._other("forward")(img, weights), top.type.broadcastable),
            DisconnectedType()(),
        ]  # fmt: skip


class AbstractConv_gradInputs(_ConvGrad):
    """The gradient of a convolution with respect to its images.

    See `BaseAbstractConv` for the parameters.

    Examples
    --------
    >>> import theano.tensor as T
    >>> op = AbstractConv2d_gradInputs()
    >>> op(T.ones((1, 1, 2, 2)), T.ones((1, 1, 2, 2)), [3, 3]).eval().astype("int8")
    array([[[[1, 2, 1],
             [2, 4, 2],
             [1, 2, 1]]]], dtype=int8)
    """

    def make_node(
        self, kern: TensorLike, topgrad: Tensor, shape: TensorLike | None = None, add_assert_shape: bool = True
    ) -> Apply:
        """Return the node for filters, the gradient with respect to the output, and the lengths of the images.

        Without lengths, those that follow from the shapes.
        """
        kern, top = self._tensor(kern, self._kernel_ndim, "kern"), self._tensor(topgrad, self.convdim + 2, "topgrad")
        kern, top, dtype = self._pair(kern, top)
        channels = kern.type.broadcastable[-self.convdim - 1] if self.num_groups == 1 else False
        pattern = [top.type.broadcastable[0], channels] + [False] * self.convdim
        if shape is None:
            shape = self._following(get_conv_gradinputs_shape, kern, top)
        return Apply(self, [kern, top, self._lengths(shape)], [TensorType(dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        kern, top, _ = inputs
        lengths = self._read_lengths(node, inputs)
        self._check(node, inputs, self._image_shape(kern.shape, top.shape, lengths), kern.shape, top.shape)
        output_storage[0][0] = reference.grad_inputs(self.geometry, kern, top, lengths)

    def _image_shape(self, kernel: Sequence[Any], top: Sequence[Any], lengths: Sequence[Any]) -> tuple[Any, ...]:
        channels = kernel[-self.convdim - 1]
        return (top[0], channels * self.num_groups if self.num_groups > 1 else channels, *lengths)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the shape of the images."""
        lengths = [node.inputs[2][i] for i in range(self.convdim)]
        return [self._image_shape(shapes[0], shapes[1], lengths)]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients with respect to filters and the output's gradient."""
        (kern, top, _), (img,) = inputs, output_grads
        return [
            patternbroadcast(self._other("weights")(img, top, self._known(kern, self.kshp)), kern.type.broadcastable),
            patternbroadcast(self._other("forward")(img, kern), top.type.broadcastable),
            DisconnectedType()(),
        ]  # fmt: skip


# -- of 2 and of 3 dimensions ------------------------------------------------------------------------------------------


class _Of2:
    """The parameters of an op of 2 dimensions."""

    def __init__(
        self, imshp: object = None, kshp: Any = None, border_mode: Border = "valid", subsample: object = (1, 1),
        filter_flip: bool = True, filter_dilation: object = (1, 1), num_groups: int = 1, unshared: bool = False,
    ):  # fmt: skip
        super().__init__(  # type: ignore[call-arg]
            2, imshp, kshp, border_mode, subsample, filter_flip, filter_dilation, num_groups, unshared
        )


class _Of3:
    """The parameters of an op of 3 dimensions."""

    def __init__(
        self, imshp: object = None, kshp: Any = None, border_mode: Border = "valid", subsample: object = (1, 1, 1),
        filter_flip: bool = True, filter_dilation: object = (1, 1, 1), num_groups: int = 1,
    ):  # fmt: skip
        super().__init__(3, imshp, kshp, border_mode, subsample, filter_flip, filter_dilation, num_groups)  # type: ignore[call-arg]


class AbstractConv2d(_Of2, AbstractConv):
    """`AbstractConv` of 2 dimensions."""


class AbstractConv2d_gradWeights(_Of2, AbstractConv_gradWeights):
    """`AbstractConv_gradWeights` of 2 dimensions."""


class AbstractConv2d_gradInputs(_Of2, AbstractConv_gradInputs):
    """`AbstractConv_gradInputs` of 2 dimensions."""


class AbstractConv3d(_Of3, AbstractConv):
    """`AbstractConv` of 3 dimensions."""


class AbstractConv3d_gradWeights(_Of3, AbstractConv_gradWeights):
    """`AbstractConv_gradWeights` of 3 dimensions."""


class AbstractConv3d_gradInputs(_Of3, AbstractConv_gradInputs):
    """`AbstractConv_gradInputs` of 3 dimensions."""


_OPS: dict[tuple[str, int], type[Op]] = {
    ("forward", 2): AbstractConv2d, ("forward", 3): AbstractConv3d,
    ("weights", 2): AbstractConv2d_gradWeights, ("weights", 3): AbstractConv3d_gradWeights,
    ("inputs", 2): AbstractConv2d_gradInputs, ("inputs", 3): AbstractConv3d_gradInputs,
}  # fmt: skip
