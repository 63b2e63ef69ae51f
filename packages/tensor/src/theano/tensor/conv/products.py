"""Convolutions as products of matrices: what a function computes where a graph says what is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.tensor.conv.op import (
    AbstractConv2d,
    AbstractConv2d_gradInputs,
    AbstractConv2d_gradWeights,
    AbstractConv3d,
    AbstractConv3d_gradInputs,
    AbstractConv3d_gradWeights,
    BaseAbstractConv,
)

if TYPE_CHECKING:
    from theano.graph.annotations import Value
    from theano.tensor.annotations import Border


class _Corr:
    """A correlation: filters are not reversed, unless a rule found a convolution.

    ``openmp`` is without effect.
    """

    def __init__(
        self, border_mode: Border = "valid", subsample: Any = None, filter_dilation: object = None, num_groups: int = 1,
        unshared: bool = False, openmp: bool | None = None, filter_flip: bool = False,
    ):  # fmt: skip
        more = {"unshared": unshared} if unshared else {}
        super().__init__(
            None,
            None,
            border_mode,
            subsample,
            filter_flip,
            filter_dilation,
            num_groups,
            **more,  # type: ignore[call-arg]
        )
        self.openmp = openmp

    def __setstate__(self, state: dict[str, Value]) -> None:
        if "convdim" not in state:  # pickles may have the parameters alone
            names = ("border_mode", "subsample", "filter_dilation", "num_groups", "openmp")
            self.__init__(**{name: state[name] for name in names if name in state})  # type: ignore[misc]
        self.__dict__.update(state)

    @classmethod
    def like(cls, op: BaseAbstractConv) -> _Corr:
        """Return the op of this class that computes what ``op`` does; filters that it reverses are read so."""
        names = ("border_mode", "subsample", "filter_dilation", "num_groups", "filter_flip")
        more = {"unshared": True} if op.unshared else {}
        return cls(**{name: getattr(op, name) for name in names}, **more)


class _Corr3d(_Corr):
    """The same of volumes, with the order of its parameters."""

    def __init__(
        self, border_mode: Border = "valid", subsample: Any = None, filter_dilation: object = None,
        openmp: bool | None = None, num_groups: int = 1, filter_flip: bool = False,
    ):  # fmt: skip
        super().__init__(border_mode, subsample, filter_dilation, num_groups, False, openmp, filter_flip)


class CorrMM(_Corr, AbstractConv2d):
    """The correlation of images with filters.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CorrMM()(T.constant([[[[1.0, 2.0]]]]), T.constant([[[[1.0, 0.0]]]])).eval().ravel()
    array([1.])
    """


class CorrMM_gradWeights(_Corr, AbstractConv2d_gradWeights):
    """The gradient of `CorrMM` with respect to its filters."""


class CorrMM_gradInputs(_Corr, AbstractConv2d_gradInputs):
    """The gradient of `CorrMM` with respect to its images."""


class Corr3dMM(_Corr3d, AbstractConv3d):
    """The correlation of volumes with filters."""


class Corr3dMM_gradWeights(_Corr3d, AbstractConv3d_gradWeights):
    """The gradient of `Corr3dMM` with respect to its filters."""


class Corr3dMM_gradInputs(_Corr3d, AbstractConv3d_gradInputs):
    """The gradient of `Corr3dMM` with respect to its volumes."""
