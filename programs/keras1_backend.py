"""Each function of Keras 1.2.2's backend for Theano, compared with NumPy and SciPy: its archive has no tests."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from keras import backend as K
from keras.backend import theano_backend
from scipy import signal, special

import theano

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(3, 4)).astype("float32"), RNG.normal(size=(3, 4)).astype("float32")
W, POSITIVE = RNG.normal(size=(4, 2)).astype("float32"), RNG.uniform(0.1, 0.9, (3, 4)).astype("float32")
CUBE, BITS = RNG.normal(size=(2, 3, 4)).astype("float32"), np.array([[1, 0, 1], [1, 1, 1]], "float32")
IMAGES, VOLUMES = RNG.normal(size=(2, 3, 6, 7)).astype("float32"), RNG.normal(size=(1, 2, 5, 4, 6)).astype("float32")
P = POSITIVE / POSITIVE.sum(axis=1, keepdims=True)
tested: set[str] = set()


def check(name: str, arguments: tuple[Any, ...], wanted: Any, symbols: int = 1, **keywords: Any) -> None:
    """Call a function with variables for its first arguments, and compare the value of what it returns."""
    tested.add(name)
    variables = [K.variable(value, dtype=np.asarray(value).dtype.name) for value in arguments[:symbols]]
    found = getattr(K, name)(*variables, *arguments[symbols:], **keywords)
    np.testing.assert_allclose(K.eval(found), wanted, rtol=2e-4, atol=2e-5, err_msg=name)


def elements() -> None:
    """Functions of each element, and comparisons."""
    both = {"square": np.square, "abs": np.abs, "exp": np.exp, "round": np.round, "sign": np.sign, "sin": np.sin,
            "cos": np.cos, "tanh": np.tanh, "sigmoid": special.expit, "softplus": lambda x: np.log1p(np.exp(x)),
            "softsign": lambda x: x / (1 + np.abs(x)), "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
            "elu": lambda x: np.where(x > 0, x, np.expm1(x)), "relu": lambda x: np.maximum(x, 0),
            "zeros_like": np.zeros_like, "ones_like": np.ones_like, "stop_gradient": lambda x: x,
            "print_tensor": lambda x: x}  # fmt: skip
    for name, f in both.items():
        check(name, (X,), f(X))
    check("relu", (X,), np.clip(np.where(X > 0, X, 0.1 * X), None, 1), alpha=0.1, max_value=1)
    check("sqrt", (POSITIVE,), np.sqrt(POSITIVE))
    check("sqrt", (-POSITIVE,), np.zeros_like(X))
    check("log", (POSITIVE,), np.log(POSITIVE))
    check("pow", (POSITIVE, 3), POSITIVE**3)
    check("clip", (X, -0.5, 0.5), np.clip(X, -0.5, 0.5))
    check("cast", (X, "int32"), X.astype("int32"))
    comparisons = {"equal": np.equal, "not_equal": np.not_equal, "greater": np.greater, "lesser": np.less,
                   "greater_equal": np.greater_equal, "lesser_equal": np.less_equal, "maximum": np.maximum,
                   "minimum": np.minimum}  # fmt: skip
    for name, compare in comparisons.items():
        check(name, (np.round(X), np.round(Y)), compare(np.round(X), np.round(Y)), 2)
    check("switch", (np.int8(1), X, Y), X, 3)


def reductions() -> None:
    """Sums and the like, along one axis or all."""
    for name in ("sum", "prod", "mean", "std", "var", "max", "min"):
        for axis in (None, 0, 1):
            f = getattr(np, name)
            check(name, (X,), f(X, axis=axis), axis=axis)
            check(name, (X,), f(X, axis=axis, keepdims=True), axis=axis, keepdims=True)
    check("any", (BITS,), BITS.any(axis=1), axis=1)
    check("all", (BITS,), BITS.all(axis=1), axis=1)
    check("argmax", (X,), X.argmax(axis=1), axis=1)
    check("argmin", (X,), X.argmin(axis=0), axis=0)
    check("l2_normalize", (X,), X / np.linalg.norm(X, axis=1, keepdims=True), axis=1)
    check("softmax", (X,), special.softmax(X, axis=1))


def shapes() -> None:
    """Functions that move elements."""
    check("transpose", (X,), X.T)
    check("reshape", (X, (2, 6)), X.reshape(2, 6))
    check("permute_dimensions", (CUBE, (2, 0, 1)), CUBE.transpose(2, 0, 1))
    check("flatten", (CUBE,), CUBE.ravel())
    check("batch_flatten", (CUBE,), CUBE.reshape(2, 12))
    check("expand_dims", (X, 1), X[:, None])
    check("squeeze", (CUBE[:, :1], 1), CUBE[:, 0])
    check("pattern_broadcast", (X[:1], (True, False)), X[:1])
    check("repeat", (X, 5), np.repeat(X[:, None], 5, axis=1))
    check("repeat_elements", (CUBE, 2, 1), np.repeat(CUBE, 2, axis=1))
    check("tile", (X, (2, 3)), np.tile(X, (2, 3)))
    check("reverse", (CUBE, 1), CUBE[:, ::-1])
    check("gather", (X, np.array([2, 0])), X[[2, 0]], 2)
    check("one_hot", (np.array([1, 0, 2]), 3), np.eye(3)[[1, 0, 2]])
    for name, wanted in (("concatenate", np.concatenate([X, Y], axis=1)), ("stack", np.stack([X, Y]))):
        tested.add(name)
        options = {"axis": 1} if name == "concatenate" else {}
        np.testing.assert_array_equal(K.eval(getattr(K, name)([K.variable(X), K.variable(Y)], **options)), wanted)
    check("resize_images", (IMAGES, 2, 3, "th"), IMAGES.repeat(2, axis=2).repeat(3, axis=3))
    check("resize_volumes", (VOLUMES, 2, 1, 3, "th"), VOLUMES.repeat(2, axis=2).repeat(3, axis=4))
    check("temporal_padding", (CUBE, 2), np.pad(CUBE, ((0, 0), (2, 2), (0, 0))))
    check("asymmetric_temporal_padding", (CUBE, 1, 2), np.pad(CUBE, ((0, 0), (1, 2), (0, 0))))
    check("spatial_2d_padding", (IMAGES, (1, 2), "th"), np.pad(IMAGES, ((0, 0), (0, 0), (1, 1), (2, 2))))
    check("asymmetric_spatial_2d_padding", (IMAGES, 1, 2, 0, 1, "th"), np.pad(IMAGES, ((0, 0), (0, 0), (1, 2), (0, 1))))
    check("spatial_3d_padding", (VOLUMES, (1, 0, 2), "th"), np.pad(VOLUMES, ((0, 0), (0, 0), (1, 1), (0, 0), (2, 2))))


def products() -> None:
    """Products, losses, normalisation."""
    check("dot", (X, W), X @ W, 2)
    check("dot", (CUBE, W), CUBE @ W, 2)
    check("batch_dot", (CUBE, CUBE), CUBE @ CUBE.transpose(0, 2, 1), 2, axes=(2, 2))
    check("categorical_crossentropy", (P, POSITIVE), -(POSITIVE * np.log(P)).sum(axis=1), 2)
    labels = np.array([1, 3, 0], "int32")
    check("sparse_categorical_crossentropy", (P, labels), -np.log(P[np.arange(3), labels]), 2)
    check("binary_crossentropy", (P, POSITIVE), -POSITIVE * np.log(P) - (1 - POSITIVE) * np.log(1 - P), 2)
    check("in_top_k", (X, labels, 2), [x[n] >= np.sort(x)[-2] for x, n in zip(X, labels)], 2)
    mean, var, ones = X.mean(axis=0), X.var(axis=0), np.ones(4, "float32")
    wanted = (X - mean) / np.sqrt(var + 1e-3)
    check("batch_normalization", (X, mean, var, ones, 2 * ones), 2 * wanted + 1, 5)
    tested.add("normalize_batch_in_training")
    normed, found, _ = K.normalize_batch_in_training(K.variable(X), K.variable(2 * ones), K.variable(ones), [0])
    np.testing.assert_allclose(K.eval(normed), 2 * wanted + 1, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(K.eval(found), mean, rtol=1e-4, atol=1e-5)


def images() -> None:
    """Convolutions against SciPy, pooling against windows."""
    kernel = RNG.normal(size=(4, 3, 3, 2)).astype("float32")

    def convolved(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.array([[sum(signal.convolve(c, k, "valid") for c, k in zip(image, f)) for f in w] for image in x])

    check("conv2d", (IMAGES, kernel), convolved(IMAGES, kernel), 2, dim_ordering="th")
    check("conv2d", (IMAGES, kernel), convolved(IMAGES, kernel)[:, :, ::2, ::2], 2, strides=(2, 2), dim_ordering="th")
    last = (IMAGES.transpose(0, 2, 3, 1), kernel.transpose(2, 3, 1, 0))
    check("conv2d", last, convolved(IMAGES, kernel).transpose(0, 2, 3, 1), 2, dim_ordering="tf")
    cube = RNG.normal(size=(2, 2, 2, 2, 3)).astype("float32")
    check("conv3d", (VOLUMES, cube), convolved(VOLUMES, cube), 2, dim_ordering="th")
    windows = np.lib.stride_tricks.sliding_window_view(IMAGES, (2, 3), axis=(2, 3))[:, :, ::2, ::3]
    check("pool2d", (IMAGES, (2, 3), (2, 3)), windows.max(axis=(4, 5)), dim_ordering="th")
    check("pool2d", (IMAGES, (2, 3), (2, 3)), windows.mean(axis=(4, 5)), dim_ordering="th", pool_mode="avg")
    boxes = np.lib.stride_tricks.sliding_window_view(VOLUMES, (2, 2, 2), axis=(2, 3, 4))[:, :, ::2, ::2, ::2]
    check("pool3d", (VOLUMES, (2, 2, 2), (2, 2, 2)), boxes.max(axis=(5, 6, 7)), dim_ordering="th")
    top = convolved(IMAGES, kernel).astype("float32")
    tested.add("deconv2d")
    swapped = kernel.swapaxes(0, 1)
    back = K.deconv2d(K.variable(top), K.variable(swapped), IMAGES.shape, dim_ordering="th", filter_shape=swapped.shape)
    other = convolved(np.pad(top, ((0, 0), (0, 0), (2, 2), (1, 1))), swapped[:, :, ::-1, ::-1])
    np.testing.assert_allclose(K.eval(back), other, rtol=1e-3, atol=1e-4)


def variables() -> None:
    """Variables, their values and updates, functions and gradients."""
    tested.update(
        "variable placeholder zeros ones eye count_params int_shape ndim dtype eval shape get_value set_value "
        "batch_get_value batch_set_value get_variable_shape update update_add update_sub moving_average_update "
        "function gradients arange is_sparse to_dense is_explicit_shape".split()
    )
    np.testing.assert_array_equal(K.eval(K.zeros((2, 3))), np.zeros((2, 3)))
    np.testing.assert_array_equal(K.eval(K.ones((2, 3))), np.ones((2, 3)))
    np.testing.assert_array_equal(K.eval(K.eye(3)), np.eye(3))
    np.testing.assert_array_equal(K.eval(K.arange(1, 9, 3)), np.arange(1, 9, 3))
    v = K.variable(X)
    assert (K.count_params(v), K.int_shape(v), K.ndim(v), K.dtype(v)) == (12, (3, 4), 2, "float32")
    assert tuple(K.eval(K.shape(v))) == K.get_variable_shape(v) == (3, 4)
    assert K.is_explicit_shape((2, None)) and not K.is_sparse(v) and K.to_dense(v) is v
    w, x = K.variable(Y), K.placeholder((None, 4))
    K.set_value(v, Y)
    np.testing.assert_array_equal(K.get_value(v), Y)
    K.batch_set_value([(v, X), (w, X)])
    np.testing.assert_array_equal(K.batch_get_value([v, w])[1], X)
    for make, wanted in ((K.update, 2 * Y), (K.update_add, X + 2 * Y), (K.update_sub, X - 2 * Y)):
        K.set_value(v, X)
        assert K.function([x], [K.sum(x)], updates=[make(v, 2 * x)])([Y])[0].shape == ()
        np.testing.assert_allclose(K.get_value(v), wanted, rtol=1e-5)
    K.set_value(v, X)
    K.function([x], [], updates=[K.moving_average_update(v, x, 0.9)])([Y])
    np.testing.assert_allclose(K.get_value(v), 0.9 * X + 0.1 * Y, rtol=1e-4, atol=1e-6)
    (slope,) = K.gradients(K.sum(K.square(w) * x), [w])
    np.testing.assert_allclose(K.function([x], [slope])([Y])[0], 2 * X * Y, rtol=1e-5)


def loops() -> None:
    """Recurrences, maps, folds, and the phases of learning."""
    tested.update(
        ("rnn", "map_fn", "foldl", "foldr", "learning_phase", "set_learning_phase", "in_train_phase", "in_test_phase")
    )
    x = K.variable(CUBE)
    for unroll in (False, True):
        for backwards in (False, True):
            step: Callable[..., Any] = lambda now, states: (now + 0.5 * states[0], [now + 0.5 * states[0]])
            last, outputs, _ = K.rnn(step, x, [K.zeros((2, 4))], go_backwards=backwards, unroll=unroll, input_length=3)
            state, wanted = np.zeros((2, 4)), []
            for i in range(3)[:: -1 if backwards else 1]:
                state = CUBE[:, i] + 0.5 * state
                wanted.append(state)
            np.testing.assert_allclose(K.eval(last), state, rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(K.eval(outputs), np.stack(wanted, axis=1), rtol=1e-4, atol=1e-6)
    mask = np.array([[1, 1, 0], [1, 0, 0]], "int8")
    step = lambda now, states: (now + states[0], [now + states[0]])
    last, _, _ = K.rnn(step, x, [K.zeros((2, 4))], mask=K.variable(mask, dtype="int8"))
    np.testing.assert_allclose(K.eval(last), (CUBE * mask[:, :, None]).sum(axis=1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        K.eval(K.map_fn(lambda row: K.sum(row**2), K.variable(X))), (X**2).sum(axis=1), rtol=1e-4
    )
    np.testing.assert_allclose(
        K.eval(K.foldl(lambda a, row: 0.5 * a + row, K.variable(X))), X[0] / 4 + X[1] / 2 + X[2], rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(
        K.eval(K.foldr(lambda a, row: 0.5 * a + row, K.variable(X))), X[2] / 4 + X[1] / 2 + X[0], rtol=1e-4, atol=1e-6
    )
    v, w = K.variable(X), K.variable(Y)
    phase = K.function([K.learning_phase()], [K.in_train_phase(v, w), K.in_test_phase(v, w)])
    for learning, (train, test) in ((1, (X, Y)), (0, (Y, X))):
        np.testing.assert_array_equal(phase([learning])[0], train)
        np.testing.assert_array_equal(phase([learning])[1], test)


def numbers() -> None:
    """Random numbers: their shapes and means; and the cost of connectionist temporal classification."""
    many = (200, 200)
    for name, options, mean, deviation in (
        ("random_normal", {"mean": 1.0, "std": 2.0}, 1.0, 2.0),
        ("random_uniform", {"low": -1.0, "high": 3.0}, 1.0, 4 / 12**0.5),
        ("random_binomial", {"p": 0.3}, 0.3, 0.21**0.5),
    ):  # fmt: skip
        tested.add(name)
        drawn = K.eval(getattr(K, name)(many, seed=3, **options))
        assert drawn.shape == many and abs(drawn.mean() - mean) < 0.05 and abs(drawn.std() - deviation) < 0.05, name
    tested.update(("random_uniform_variable", "random_normal_variable", "dropout", "ctc_cost", "ctc_batch_cost"))
    assert abs(K.eval(K.random_normal_variable(many, 0.0, 2.0)).std() - 2) < 0.05
    assert abs(K.eval(K.random_uniform_variable(many, 0.0, 2.0)).mean() - 1) < 0.05
    kept = K.eval(K.dropout(K.ones(many), 0.25, seed=1))
    assert abs(kept.mean() - 1) < 0.05 and np.allclose(np.unique(kept), [0, 4 / 3])
    # Keras's cost is not that of the paths that spell the labels: this is its number over Theano 1.0.5.
    steps = special.softmax(np.random.RandomState(0).randn(3, 3), axis=1).astype("float32")
    lengths = [K.variable(np.array([[n]]), dtype="int32") for n in (3, 2)]
    cost = K.ctc_batch_cost(K.variable(np.array([[0, 1]]), dtype="int32"), K.variable(steps[None]), *lengths)
    np.testing.assert_allclose(np.ravel(K.eval(cost)), [0.54005348], rtol=1e-5)


if __name__ == "__main__":
    theano.config.floatX = K.floatx()
    for part in (elements, reductions, shapes, products, images, variables, loops, numbers):
        part()
        print(f"backend, {part.__name__}: as NumPy has it")
    public = {name for name, f in inspect.getmembers(theano_backend, inspect.isfunction)
              if f.__module__ == theano_backend.__name__ and not name.startswith("_")}  # fmt: skip
    # Steps of ctc_cost; and what Keras does not have for Theano.
    public -= {"ctc_interleave_blanks", "ctc_create_skip_idxs", "ctc_update_log_p", "ctc_path_probs"}
    public -= {"conv1d", "separable_conv2d", "atrous_conv2d"}
    assert public <= tested, public - tested
    print(f"{len(public)} functions")
