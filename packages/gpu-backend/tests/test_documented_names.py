"""What programs import from theano.gpuarray and use: ops by name, cuDNN's functions, rules and their helpers."""

from __future__ import annotations

import importlib
import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano import gpuarray
from theano import scalar as scal
from theano.gpuarray import GpuArrayType, as_gpuarray_variable, host_from_gpu
from theano.gpuarray.calls import seen_from_host
from theano.legacy.gone import Gone
from theano.rewriting.userdefined import in2out
from theano.tensor.blas.routines import Gemm
from theano.tensor.pool import pool_2d

# As programs write it, which no module of ours may.
basic_ops, blas, dnn, elemwise, nnet, opt, opt_util, reduction, type = (
    importlib.import_module(f"theano.gpuarray.{name}")
    for name in "basic_ops blas dnn elemwise nnet opt opt_util reduction type".split()
)


def there(value):
    """Return a variable on the device and its value."""
    value = np.asarray(value)
    return GpuArrayType(value.dtype.name, (False,) * value.ndim)(), value


def computed(on_device, variables, outputs, values):
    """Return what a function of arrays on the device gives, as arrays of the host's."""
    outputs = outputs if isinstance(outputs, list) else [outputs]
    assert all(isinstance(v.type, GpuArrayType) for v in outputs)
    f = on_device(variables, outputs, on_unused_input="ignore")
    return [np.asarray(v) for v in f(*(gpuarray.asarray(v) for v in values))]


def normal(*shape, dtype="float32"):
    return np.random.default_rng(len(shape)).normal(size=shape).astype(dtype)


@pytest.mark.parametrize(("called", "wanted", "class_name"), [
    (lambda x: elemwise.GpuElemwise(scal.exp)(x), np.exp, "GpuElemwise"),
    (lambda x: elemwise.GpuDimShuffle((False, False), (1, "x", 0))(x), lambda v: v.T[:, None], "GpuDimShuffle"),
    (lambda x: elemwise.GpuCAReduceCuda(scal.add, axis=[1])(x), lambda v: v.sum(1), "GpuCAReduceCuda"),
    (lambda x: elemwise.gpu_ca_reduce_cuda(scal.maximum, reduce_mask=(1, 0))(x), lambda v: v.max(0), "GpuCAReduceCuda"),
    (lambda x: elemwise.GpuCAReduceCPY(scal.add, None, "float64")(x), lambda v: v.sum(dtype="float64"), None),
    (lambda x: elemwise.GpuCAReduceCuda(scal.add, [0], pre_scalar_op=scal.sqr)(x), lambda v: (v**2).sum(0), None),
    (lambda x: basic_ops.GpuReshape(1)(x, [-1]), np.ravel, "GpuReshape"),
    (lambda x: basic_ops.GpuContiguous()(x.T), np.transpose, None),
    (lambda x: basic_ops.GpuJoin()(0, x, x), lambda v: np.concatenate([v, v]), "GpuJoin"),
    (lambda x: basic_ops.GpuAlloc(None)(x, 2, 3, 4), lambda v: np.stack([v, v]), "GpuAlloc"),
    (lambda x: reduction.GpuMaxAndArgmax([1])(x), lambda v: (v.max(1), v.argmax(1)), "GpuMaxAndArgmax"),
    (lambda x: blas.GpuDot22()(x, x.T), lambda v: v @ v.T, "GpuDot22"),
    (lambda x: blas.GpuGemm()(x, 2.0, x, T.eye(4, dtype="float32"), 0.5), lambda v: 2.5 * v, None),
    (lambda x: basic_ops.gpu_contiguous(x.T), np.transpose, None),
    (lambda x: basic_ops.gpu_join(1, x, x), lambda v: np.concatenate([v, v], 1), "GpuJoin"),
    (lambda x: blas.gpu_dot22(x, x.T), lambda v: v @ v.T, "GpuDot22"),
    (lambda x: blas.gpugemm_no_inplace(x, 2.0, x, T.eye(4, dtype="float32"), 0.5), lambda v: 2.5 * v, None),
    (lambda x: blas.gpugemv_no_inplace(x[:, 0], 2.0, x, x[0], 0.5), lambda v: 0.5 * v[:, 0] + 2 * v @ v[0], None),
    (lambda x: blas.gpuger_no_inplace(x, 2.0, x[:, 0], x[0]), lambda v: v + 2 * np.outer(v[:, 0], v[0]), None),
    (lambda x: nnet.gpu_softmax(x), lambda v: np.exp(v) / np.exp(v).sum(1, keepdims=True), "GpuSoftmax"),
    (lambda x: nnet.gpu_softmax_with_bias(x, x[0]), lambda v: np.exp(v + v[0]) / np.exp(v + v[0]).sum(1, keepdims=True), None),
])  # fmt: skip
def test_ops_by_their_names(on_device, called, wanted, class_name):
    x, value = there(normal(3, 4))
    outputs = called(x)
    found = computed(on_device, [x], outputs, [value])
    expected = wanted(value)
    for got, want in zip(found, expected if isinstance(expected, tuple) else (expected,), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)
    if class_name:
        f = on_device([x], outputs)
        assert class_name in [type_of(n.op) for n in f.maker.fgraph.toposort()]


def type_of(op):
    return op.__class__.__name__


def test_ops_without_operands_on_a_device(on_device):
    n = T.lscalar("n")
    made = [basic_ops.GpuEye("float32", None)(n, n + 1, 1), basic_ops.GpuTri("int32")(n, n, 0)]
    eye, tri = (np.asarray(v) for v in on_device([n], made)(3))
    np.testing.assert_array_equal(eye, np.eye(3, 4, 1))
    np.testing.assert_array_equal(tri, np.tri(3))
    x, value = there(normal(2, 3))
    assert computed(on_device, [x], basic_ops.empty_like(x), [value])[0].shape == (2, 3)


@pytest.mark.parametrize(("batch", "inplace"), [
    ((0, 2, 3, 4), False), ((3, 70, 5, 65), False), ((2, 1, 300, 1), True), ((3, 70, 5, 65), True),
])  # fmt: skip
def test_batches_of_products_that_are_added(on_device, batch, inplace):
    b, m, k, n = batch
    c, x, y = T.dtensor3("c"), T.dtensor3("x"), T.dtensor3("y")
    values = [normal(*shape, dtype="float64") for shape in ((b, m, n), (b, m, k), (b, k, n))]
    result = blas.GpuGemmBatch(inplace)(*(as_gpuarray_variable(v, None) if v is c else v for v in (c,)), 2.0, x, y, -1.0)
    f = on_device([c, x, y], result, accept_inplace=True)
    assert "GpuGemmBatch" in [type_of(n.op) for n in f.maker.fgraph.toposort()]
    np.testing.assert_allclose(np.asarray(f(*values)), 2 * values[1] @ values[2] - values[0], rtol=1e-9, atol=1e-12)
    if batch[0] == 3 and not inplace:
        outputs = [2 * T.batched_dot(x, y) - c, seen_from_host(result)]
        slopes = [T.grad((v**2).sum(), [c, x, y]) for v in outputs]
        for mine, theirs in zip(*(theano.function([c, x, y], s)(*values) for s in slopes), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


# -- cuDNN's functions ------------------------------------------------------------------------------------------------


def test_whether_they_can_be_used():
    assert dnn.dnn_present() and dnn.dnn_available(None) and dnn.version() >= 7000 and not dnn.dnn_available("moon")


@pytest.mark.parametrize(("conv_mode", "border_mode"), [("conv", (1, 2)), ("cross", "half")])
def test_convolutions(on_device, conv_mode, border_mode):
    (x, image), (w, filters) = there(normal(2, 4, 9, 8)), there(normal(6, 2, 3, 3))
    options = {"border_mode": border_mode, "subsample": (2, 1), "num_groups": 2}
    y = dnn.dnn_conv(x, w, conv_mode=conv_mode, **options)
    here, there_w = T.ftensor4(), T.ftensor4()
    plain = T.nnet.conv2d(here, there_w, filter_flip=conv_mode == "conv", **options)
    wanted = theano.function([here, there_w], [plain, *T.grad((plain**2).sum(), [here, there_w])])(image, filters)
    g = seen_from_host(y) * 2
    slopes = [
        dnn.dnn_gradinput(w, as_gpuarray_variable(g, None), image.shape, conv_mode=conv_mode, **options),
        dnn.dnn_gradweight(x, as_gpuarray_variable(g, None), w.shape, conv_mode=conv_mode, **options),
    ]
    for got, want in zip(computed(on_device, [x, w], [y, *slopes], [image, filters]), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3)
    desc = dnn.GpuDnnConvDesc(border_mode, (2, 1), conv_mode=conv_mode, num_groups=2)(w.shape)
    added = dnn.GpuDnnConv()(x, w, y, desc, 2.0, 3.0)
    np.testing.assert_allclose(
        computed(on_device, [x, w], added, [image, filters])[0], 5 * wanted[0], rtol=1e-3, atol=1e-3
    )


def test_a_network_for_the_backend_before(on_device):
    """Layers of a generator and a discriminator of images as programs wrote them for `theano.sandbox.cuda`."""
    cuda, of_arrays, cudnn, fftconv, rng_curand = (
        importlib.import_module(f"theano.sandbox.cuda{name}") for name in ("", ".basic_ops", ".dnn", ".fftconv", ".rng_curand")
    )
    w = cuda.float32_shared_constructor(normal(3, 2, 5, 5), "w")
    # As it is called it would have all functions of this process computed there, from now on.
    started = cuda.use("gpu0", default_to_move_computation_to_gpu=False, move_shared_to_gpu=False)
    assert isinstance(w, cuda.CudaNdarraySharedVariable) and started is gpuarray.get_context(None)
    with pytest.raises(TypeError, match="float64"):
        cuda.float32_shared_constructor(normal(2, dtype="float64"))
    x = T.ftensor4("x")
    img, kerns = of_arrays.gpu_contiguous(of_arrays.as_cuda_ndarray_variable(x)), of_arrays.gpu_contiguous(w)
    larger = of_arrays.gpu_alloc_empty(img.shape[0], kerns.shape[1], img.shape[2] * 2, img.shape[3] * 2)
    desc = cudnn.GpuDnnConvDesc(border_mode=(2, 2), subsample=(2, 2), conv_mode="conv")(larger.shape, kerns.shape)
    made = cudnn.GpuDnnConvGradI()(kerns, img, larger, desc)
    seen = cudnn.dnn_pool(cudnn.dnn_conv(made, kerns, border_mode=(2, 2), subsample=(2, 2)), (2, 2), (2, 2), "max")
    image, full = normal(4, 3, 6, 6), normal(2, 2, 9, 9)
    got = on_device([x], [made, seen])(image)
    plain = T.nnet.abstract_conv.conv2d_grad_wrt_inputs(x, w, (4, 2, 12, 12), border_mode=(2, 2), subsample=(2, 2))
    again = T.signal.pool.pool_2d(T.nnet.conv2d(plain, w, border_mode=(2, 2), subsample=(2, 2)), (2, 2), ignore_border=True)
    for one, want in zip(got, theano.function([x], [plain, again])(image), strict=True):
        np.testing.assert_allclose(np.asarray(one), want, rtol=1e-3, atol=1e-3)
    filters = T.ftensor4("filters")
    by_fft = fftconv.conv2d_fft(x, filters, border_mode="full")
    f = on_device([x, filters], [of_arrays.gpu_from_host(by_fft), rng_curand.CURAND_RandomStreams(3).uniform((5,))])
    wanted = theano.function([x, filters], T.nnet.conv2d(x, filters, border_mode="full"))(full, w.get_value()[:2])
    np.testing.assert_allclose(np.asarray(f(full, w.get_value()[:2])[0]), wanted, rtol=1e-3, atol=1e-3)


def test_a_convolution_of_no_such_kind():
    with pytest.raises(ValueError, match="'conv' or 'cross'"):
        dnn.dnn_conv(T.ftensor4(), T.ftensor4(), conv_mode="other")


@pytest.mark.parametrize("mode", ["max", "average_inc_pad", "average_exc_pad", "sum"])
def test_pooling(on_device, mode):
    x, value = there(normal(2, 3, 9, 8))
    here = T.ftensor4()
    plain = pool_2d(here, (3, 2), ignore_border=True, stride=(2, 2), pad=(1, 0), mode=mode)
    wanted = theano.function([here], [plain, T.grad((plain**2).sum(), here)])(value)
    y = dnn.dnn_pool(x, (3, 2), (2, 2), mode, (1, 0))
    slope = dnn.GpuDnnPoolGrad(mode)(x, y, as_gpuarray_variable(seen_from_host(y) * 2, None), (3, 2), (2, 2), (1, 0))
    for got, want in zip(computed(on_device, [x], [y, slope], [value]), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("algo", ["accurate", "log"])
@pytest.mark.parametrize(("mode", "axes"), [("channel", (1,)), ("instance", (1, 2, 3))])
def test_softmax(on_device, algo, mode, axes):
    (x, value), (dy, slope) = there(normal(2, 3, 4, 5)), there(normal(2, 3, 4, 5)[::-1])
    powers = np.exp(value.astype("float64"))
    wanted = powers / powers.sum(axes, keepdims=True)
    y = dnn.GpuDnnSoftmax(algo, mode)(x)
    got, dx = computed(on_device, [x, dy], [y, dnn.GpuDnnSoftmaxGrad(algo, mode)(dy, y)], [value, slope])
    np.testing.assert_allclose(got, np.log(wanted) if algo == "log" else wanted, rtol=1e-4, atol=1e-6)
    here, given = T.ftensor4(), T.ftensor4()
    e = T.exp(here)
    plain = e / e.sum(axes, keepdims=True)
    plain = T.log(plain) if algo == "log" else plain
    want = theano.function([here, given], T.grad((plain * given).sum(), here))(value, slope)
    np.testing.assert_allclose(dx, want, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("op", "numpys"), [
    ("add", lambda v: v.sum((0, 2))), ("mul", lambda v: v.prod((0, 2))), ("maximum", lambda v: v.max((0, 2))),
    ("minimum", lambda v: v.min((0, 2))), ("absmax", lambda v: abs(v).max((0, 2))), ("avg", lambda v: v.mean((0, 2))),
    ("norm1", lambda v: abs(v).sum((0, 2))), ("norm2", lambda v: np.sqrt((v**2).sum((0, 2)))),
])  # fmt: skip
def test_reductions(on_device, op, numpys):
    x, value = there(normal(3, 4, 5))
    y = dnn.GpuDnnReduction(op, [0, 2], "float32", "float32", False)(x)
    np.testing.assert_allclose(computed(on_device, [x], y, [value])[0], numpys(value), rtol=1e-4)


def test_reductions_that_there_are_none_of(on_device):
    x, value = there(normal(3, 4))
    got = computed(on_device, [x], list(dnn.GpuDnnReduction(scal.maximum, 1, "float32", "float32", True)(x)), [value])
    np.testing.assert_array_equal(got[1], value.argmax(1))
    with pytest.raises(ValueError, match="return_indices needs the reduction 'maximum', not 'add'"):
        dnn.GpuDnnReduction("add", 1, "float32", "float32", True)
    with pytest.raises(ValueError, match="unknown reduction"):
        dnn.GpuDnnReduction("median", 1, "float32", "float32", False)


@pytest.mark.parametrize("mode", ["per-activation", "spatial"])
def test_batch_normalisation(on_device, mode):
    axes, shape = ((0,), (1, 3, 4, 5)) if mode == "per-activation" else ((0, 2, 3), (1, 3, 1, 1))
    pattern = tuple(n == 1 for n in shape)
    value = normal(6, 3, 4, 5)
    x = GpuArrayType("float32", (False,) * 4)()
    one = [GpuArrayType("float32", pattern)() for _ in range(4)]
    given = [np.random.default_rng(k).uniform(0.5, 1.5, shape).astype("float32") for k in range(4)]
    mean, var = value.mean(axes, keepdims=True), value.var(axes, keepdims=True)
    y, m, inverse = dnn.dnn_batch_normalization_train(x, *one[:2], mode, 1e-3)
    test = dnn.dnn_batch_normalization_test(x, *one, mode, 1e-3)
    dy = as_gpuarray_variable(T.sqr(seen_from_host(x)), None)
    slopes = dnn.GpuDnnBatchNormGrad(mode)(x, dy, one[0], m, inverse)
    got = computed(on_device, [x, *one], [y, m, inverse, test, *slopes], [value, *given])
    normed = (value - mean) / np.sqrt(var + 1e-3)
    for g, w in zip(got[:4], (
        normed * given[0] + given[1], mean, 1 / np.sqrt(var + 1e-3),
        (value - given[2]) / np.sqrt(given[3] + 1e-3) * given[0] + given[1],
    ), strict=True):  # fmt: skip
        np.testing.assert_allclose(g, w, rtol=1e-3, atol=1e-4)
    here, scale, bias = T.ftensor4(), *(T.TensorType("float32", pattern)() for _ in range(2))
    plain = T.nnet.bn.batch_normalization_train(here, scale, bias, mode, 1e-3)[0]
    grads = theano.function([here, scale, bias], T.grad(None, [here, scale, bias], known_grads={plain: T.sqr(here)}))
    for g, w in zip(got[4:], grads(value, *given[:2]), strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-3, atol=1e-3)


def test_dropout(on_device):
    x, value = there(np.ones((100, 100), "float32"))
    y, share, factor, _ = dnn.dropout(x, 0.25, seed=1)
    assert share == 0.25
    got, by = computed(on_device, [x], [y, factor], [value])
    assert set(np.unique(got)) == {np.float32(0), np.float32(1 / 0.75)} and abs((got == 0).mean() - 0.25) < 0.02
    np.testing.assert_array_equal(got, by)


def transformed(images, maps, height, width):
    """Return what a spatial transformer gives, place by place."""
    out = np.zeros((*images.shape[:2], height, width))
    _, _, h, w = images.shape
    for b, i, j in np.ndindex(len(images), height, width):
        place = maps[b] @ [2 * j / max(width - 1, 1) - 1, 2 * i / max(height - 1, 1) - 1, 1]
        x, y = (place[0] + 1) * (w - 1) / 2, (place[1] + 1) * (h - 1) / 2
        for r in (int(np.floor(y)), int(np.floor(y)) + 1):
            for c in (int(np.floor(x)), int(np.floor(x)) + 1):
                if 0 <= r < h and 0 <= c < w:
                    out[b, :, i, j] += images[b, :, r, c] * (1 - abs(y - r)) * (1 - abs(x - c))
    return out


def test_spatial_transformers(on_device):
    images = normal(2, 3, 6, 7, dtype="float64")
    maps = np.array([[[1, 0, 0], [0, 1, 0]], [[0.7, -0.4, 0.3], [0.5, 0.9, -0.2]]]) + 1e-3
    (x, _), (theta, _) = there(images), there(maps)
    y = dnn.dnn_spatialtf(x, theta, scale_width=1.5, scale_height=0.5)
    got = computed(on_device, [x, theta], y, [images, maps])[0]
    np.testing.assert_allclose(got, transformed(images, maps, 3, 10), rtol=1e-9, atol=1e-9)
    here, m = T.dtensor4(), T.dtensor3()
    theano.gradient.verify_grad(
        lambda a, b: host_from_gpu(dnn.dnn_spatialtf(a, b)), [images[:1, :1], maps[1:]], rng=np.random.default_rng(0)
    )
    with pytest.raises(AssertionError, match="as many maps as images"):
        theano.function([here, m], dnn.dnn_spatialtf(here, m))(images, maps[:1])
    with pytest.raises(TypeError, match="4 dimensions"):
        dnn.dnn_spatialtf(m, m)


# -- rules ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "node"), [
    ("local_gpua_elemwise", lambda x: T.exp(x)), ("local_gpua_careduce", lambda x: T.sum(x, axis=0)),
    ("local_gpua_dimshuffle", lambda x: x.T), ("local_gpua_softmax", lambda x: T.nnet.Softmax()(x)),
    ("local_gpua_subtensor", lambda x: x[1:]), ("local_gpua_join", lambda x: T.join(0, x, x)),
    ("local_gpua_dot22", lambda x: T.blas._dot22(x, x)),
])  # fmt: skip
def test_a_rule_by_its_name_moves_a_node(on_device, name, node):
    x = T.fmatrix("x")
    y = node(x)
    (found,) = getattr(opt, name).transform(y.owner)
    assert found.type == y.type and isinstance(found.owner.op, basic_ops.HostFromGpu)
    value = normal(3, 3)
    np.testing.assert_allclose(on_device([x], found)(value), theano.function([x], y)(value), rtol=1e-5)


def test_names_that_are_gone_say_what_takes_their_place():
    for where, name, instead in (
        (opt, "GraphToGPU", "theano.gpuarray.placement"), (dnn, "RNNBlock", "theano.scan"),
        (blas, "local_inplace_gpuagemm", "theano.tensor.rules.inplace"),
    ):  # fmt: skip
        gone = getattr(where, name)
        assert isinstance(gone, Gone)
        with pytest.raises(NotImplementedError, match=instead):
            gone()


def test_factors_and_additions_go_into_an_op():
    @opt_util.alpha_merge(Gemm, alpha_in=1, beta_in=4)
    def merged_factor(node, *inputs):
        return [Gemm()(*inputs)]

    @opt_util.output_merge(Gemm, alpha_in=1, beta_in=4, out_in=0)
    def merged_output(node, *inputs):
        return [Gemm()(*inputs)]

    z, x, y, w = T.dmatrices("zxyw")
    a = T.dscalar("a")
    product = Gemm()(z, 2.0, x, y, 0.0)
    values = {v: normal(3, 3, dtype="float64") + k for k, v in enumerate((z, x, y, w))} | {a: np.asarray(1.5)}
    for rule, before in (
        (merged_factor, product * 3.0), (merged_factor, a.dimshuffle("x", "x") * Gemm()(z, 2.0, x, y, 1.0)),
        (merged_output, product + w), (merged_output, w + product),
    ):  # fmt: skip
        graph = theano.FunctionGraph(list(theano.gof.graph.inputs([before])), [before], clone=False)
        in2out(rule, name="merge").optimize(graph)
        assert [type_of(n.op) for n in graph.toposort()][-1] == "Gemm"
        after = graph.outputs[0]
        f = [theano.function([z, x, y, w, a], v, on_unused_input="ignore", mode="FAST_COMPILE") for v in (after,)]
        p = 2 * values[x] @ values[y]
        wanted = {0: 3 * p, 1: 1.5 * (p + values[z]), 2: p + values[w], 3: p + values[w]}
        index = [k for k, v in wanted.items() if np.allclose(f[0](*values.values()), v)]
        assert index, rule
        graph.disown()


def test_small_functions():
    assert type.gpu_supported(np.zeros(2)) and type.gpu_supported(np.zeros(2, "complex128"))
    assert type.move_to_gpu(np.zeros(2, "float32")) and not type.move_to_gpu(np.zeros(2, "int32"))
    x = gpuarray.asarray(np.array([1.0, np.nan, np.inf]))
    assert type.values_eq_approx_remove_inf_nan(x, gpuarray.asarray(np.array([1.0, 2.0, 3.0])))
    assert not type.values_eq_approx(x, gpuarray.asarray(np.array([1.0, 2.0, 3.0])))
    assert type.GpuArraySignature((1, x)) == type.GpuArraySignature((1, x.copy()))
    rebuild, state = type.GpuArray_pickler(gpuarray.asarray(np.arange(3)))
    np.testing.assert_array_equal(np.asarray(rebuild(*state)), np.arange(3))
    with pytest.raises(TypeError, match="a context is wanted"):
        type.gpu_context_type.filter(3)
    context = gpuarray.get_context(None)
    assert type.gpu_context_type.filter(context) is context and type.gpu_context_type == type.GpuContextType()
    assert hash(pickle.loads(pickle.dumps(type.GpuContextType()))) == hash(type.gpu_context_type)


def test_what_a_program_asks_of_cuda_and_of_tests_without_a_device():
    """Pylearn2's maxout and deep Boltzmann machines ask for all of this when they are imported."""
    nvcc = importlib.import_module("theano.sandbox.cuda").nvcc_compiler
    disturb_mem = importlib.import_module("theano.tests.disturb_mem").disturb_mem
    cmodule, debugmode = (importlib.import_module(f"theano.{name}") for name in ("gof.cmodule", "compile.debugmode"))
    disturb_mem()
    nvcc.add_standard_rpath("here")
    assert nvcc.rpath_defaults.pop() == "here" and not nvcc.is_nvcc_available()
    assert nvcc.NVCC_compiler().compile_args() == []
    with pytest.raises(NotImplementedError, match="GpuKernelBase"):
        nvcc.NVCC_compiler().compile_str("mine", "")
    assert cmodule.get_lib_extension() in ("so", "dll", "pyd")
    assert theano.graph.Op.make_thunk in debugmode.default_make_thunk
