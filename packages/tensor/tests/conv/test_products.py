"""Which ops compute convolutions in a rewritten graph, and shapes that are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.compile import get_default_mode, get_mode
from theano.tensor.conv import functions, products
from theano.tensor.conv import op as meant

RNG = np.random.default_rng(5)
#: For each number of dimensions, what is meant, and what a function holds, by what is computed.
KINDS = {
    2: {
        "forward": (meant.AbstractConv2d, products.CorrMM),
        "weights": (meant.AbstractConv2d_gradWeights, products.CorrMM_gradWeights),
        "inputs": (meant.AbstractConv2d_gradInputs, products.CorrMM_gradInputs),
    },
    3: {
        "forward": (meant.AbstractConv3d, products.Corr3dMM),
        "weights": (meant.AbstractConv3d_gradWeights, products.Corr3dMM_gradWeights),
        "inputs": (meant.AbstractConv3d_gradInputs, products.Corr3dMM_gradInputs),
    },
}  # fmt: skip


def _kinds(f: Any) -> set[type]:
    return {type(node.op) for node in f.maker.fgraph.toposort() if isinstance(node.op, meant.BaseAbstractConv)}


@pytest.mark.parametrize("flip", [True, False])
@pytest.mark.parametrize("ndim", [2, 3])
def test_functions_hold_the_documented_ops(ndim: int, flip: bool) -> None:
    x, w = (T.TensorType("float64", (False,) * (ndim + 2))() for _ in range(2))
    forward = (functions.conv2d if ndim == 2 else functions.conv3d)(
        x, w, border_mode="half", subsample=(2,) * ndim, filter_flip=flip, num_groups=2
    )
    outputs = [forward, *theano.grad(forward.sum(), [x, w])]
    told, here = ({kinds[i] for kinds in KINDS[ndim].values()} for i in (0, 1))
    modes = {
        get_default_mode(): here, get_mode("FAST_COMPILE"): here, get_default_mode().excluding("conv_gemm"): told,
        theano.Mode(optimizer=None): told,
    }  # fmt: skip
    values = [RNG.normal(size=(2, 4, *(6,) * ndim)), RNG.normal(size=(6, 2, *(3,) * ndim))]
    found = []
    for mode, kinds in modes.items():
        f = theano.function([x, w], outputs, mode=mode)
        assert _kinds(f) == kinds
        found.append(f(*values))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_allclose(a, b, 1e-10, 1e-10)


@pytest.mark.parametrize("ndim", [2, 3])
def test_gradients_take_no_values_for_lengths_that_are_given(ndim: int) -> None:
    """Programs transpose a convolution by its gradient at images without values, and the same for filters."""
    image, kernel = (4, 2, *(8,) * ndim), (3, 2, *(3,) * ndim)
    x, w, top = (T.TensorType("float64", (False,) * (ndim + 2))() for _ in range(3))
    forward = functions.conv2d if ndim == 2 else functions.conv3d
    up = forward(x, w, input_shape=image, filter_shape=kernel).owner.op.grad((x, w), (top,))
    values = [RNG.normal(size=shape) for shape in (image, kernel, (4, 3, *(6,) * ndim))]
    of_image = theano.function([w, top], up[0])(values[1], values[2])
    of_kernel = theano.function([x, top], up[1])(values[0], values[2])
    product = float((theano.function([x, w], forward(x, w))(*values[:2]) * values[2]).sum())
    np.testing.assert_allclose([(of_image * values[0]).sum(), (of_kernel * values[1]).sum()], product, rtol=1e-10)


def test_what_was_computed_how_it_was_given_stays() -> None:
    x, w = T.tensor4(), T.tensor4()
    f = theano.function([x, w], [products.CorrMM()(x, w), products.CorrMM((1, 1), unshared=False)(x, w)])
    assert _kinds(f) == {products.CorrMM}
    [node] = theano.function([x, w], T.nnet.conv2d(x, w)).maker.fgraph.toposort()
    assert isinstance(node.op, products.CorrMM) and node.op.filter_flip


def test_one_rule_is_excluded_by_its_name() -> None:
    x, w = T.tensor4(), T.tensor4()
    y = T.nnet.conv2d(x, w)
    mode = get_default_mode().excluding("local_abstractconv_gradweight_gemm")
    f = theano.function([x, w], [y, *theano.grad(y.sum(), [x, w])], mode=mode)
    assert _kinds(f) == {products.CorrMM, products.CorrMM_gradInputs, meant.AbstractConv2d_gradWeights}


# -- shapes that are given, where the flag asks for a comparison ---------------------------------------------------------


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("what", ["", "_grad_wrt_inputs", "_grad_wrt_weights"])
def test_shapes_given_are_compared_if_asked(what: str, ndim: int) -> None:
    image, kernel = (2, 4, *(5,) * ndim), (3, 4, *(2,) * ndim)
    top = (2, 3, *(4,) * ndim)
    first, second = {"": (image, kernel), "_grad_wrt_inputs": (top, kernel), "_grad_wrt_weights": (image, top)}[what]
    a, b = (T.TensorType("float64", (False,) * (ndim + 2))() for _ in range(2))
    with theano.change_flags([("conv.assert_shape", True)]):
        y = getattr(functions, f"conv{ndim}d{what}")(a, b, input_shape=image, filter_shape=kernel)
    f = theano.function([a, b], y)
    f(np.ones(first), np.ones(second))
    # As many more channels (or filters, where the output is given) on both sides fit together, but not with what was said.
    shared = {"": (1, 1), "_grad_wrt_inputs": (1, 0), "_grad_wrt_weights": (0, 0)}[what]
    wrong = [[n + (i == axis) for i, n in enumerate(shape)] for shape, axis in zip((first, second), shared, strict=True)]
    with pytest.raises(AssertionError, match=f"conv{ndim}d{what}: the shape is not what"):
        f(*map(np.ones, wrong))


def test_one_expression_is_no_shape() -> None:
    for kind, _ in KINDS[2].values():
        for shape in (T.lvector(), T.constant([3, 5, 7, 11]), T.tensor4().shape):
            with pytest.raises(ValueError, match="not one expression"):
                kind(imshp=shape)
