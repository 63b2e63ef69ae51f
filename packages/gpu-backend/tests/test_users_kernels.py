"""Kernels and ops of users: text in libgpuarray's words, launched from Python, and the pieces that it is put together of."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano import gpuarray
from theano.gpuarray import SIZE, GpuArray, GpuKernel, as_gpuarray_variable, infer_context_name
from theano.gpuarray.device_ops import CGpuKernelBase, GpuKernelBase, UserKernel
from theano.gpuarray.errors import DeviceCompileError
from theano.gpuarray.lifting import gpu_optimizer, op_lifter, register_opt
from theano.legacy.gpu_kernel_text import (
    inline_reduce_max,
    inline_reduce_min,
    inline_reduce_prod,
    inline_reduce_sum,
    inline_softmax,
    inline_softmax_fixed_shared,
    nvcc_kernel,
)

WORDS = {"float32": "ga_float", "float64": "ga_double", "int8": "ga_byte", "uint16": "ga_ushort", "int64": "ga_long"}
SCALE = """
#include "cluda.h"
KERNEL void scale(GLOBAL_MEM WORD *x, ga_size x_off, WORD a, ga_size n)
{
    x = (GLOBAL_MEM WORD *)(((GLOBAL_MEM char *)x) + x_off);
    for (ga_size i = GID_0 * LDIM_0 + LID_0; i < n; i += GDIM_0 * LDIM_0)
        x[i] *= a;
}
"""


def scale(dtype="float32"):
    return GpuKernel(SCALE.replace("WORD", WORDS[dtype]), "scale", [GpuArray, SIZE, dtype, SIZE])


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
def test_numbers_and_arrays(dtype, n):
    value = (np.arange(n) % 30).astype(dtype)
    array = gpuarray.asarray(value)
    scale(dtype)(array, array.offset, 3, array.size, n=n)
    np.testing.assert_array_equal(np.asarray(array), value * 3)


def test_a_part_begins_behind_the_beginning_of_its_memory():
    array = gpuarray.asarray(np.ones(10, "float32"))
    part = array[3:7]
    assert (array.offset, part.offset) == (0, 12)
    scale()(part, part.offset, 5, part.size, gs=2, ls=2)
    np.testing.assert_array_equal(np.asarray(array), [1, 1, 1, 5, 5, 5, 5, 1, 1, 1])


def test_three_axes_of_groups():
    text = """
KERNEL void places(GLOBAL_MEM ga_int *x)
{
    const int at[3] = {LID_0 + LDIM_0 * GID_0, LID_1 + LDIM_1 * GID_1, LID_2 + LDIM_2 * GID_2};
    const int across = LDIM_0 * GDIM_0, down = LDIM_1 * GDIM_1;
    x[at[0] + across * (at[1] + down * at[2])] = 10000 * at[2] + 100 * at[1] + at[0];
}
"""
    x = gpuarray.asarray(np.zeros((6, 6, 4), "int32"))
    GpuKernel(text, "places", [GpuArray])(x, gs=(2, 3, 2), ls=(2, 2, 3))
    i = np.indices((6, 6, 4))
    np.testing.assert_array_equal(np.asarray(x), 10000 * i[0] + 100 * i[1] + i[2])


def test_local_memory_of_a_size_that_the_launch_says():
    text = """
KERNEL void turned(GLOBAL_MEM const ga_double *x, GLOBAL_MEM ga_double *y GA_DECL_SHARED_PARAM(ga_double, kept))
{
    GA_DECL_SHARED_BODY(ga_double, kept)
    kept[LID_0] = x[LDIM_0 * GID_0 + LID_0];
    local_barrier();
    y[LDIM_0 * GID_0 + LID_0] = kept[LDIM_0 - 1 - LID_0];
}
"""
    x = gpuarray.asarray(np.arange(32.0))
    y = gpuarray.asarray(np.zeros(32))
    GpuKernel(text, "turned", [GpuArray, GpuArray])(x, y, gs=4, ls=8, shared=64)
    np.testing.assert_array_equal(np.asarray(y), np.arange(32.0).reshape(4, 8)[:, ::-1].ravel())


def test_half_precision_and_additions_of_all_at_once():
    text = """
WITHIN_KERNEL ga_float twice(ga_float x) { return 2 * x; }
KERNEL void sums(GLOBAL_MEM ga_half *x, GLOBAL_MEM ga_float *total, GLOBAL_MEM ga_int *count)
{
    const ga_float mine = twice(load_half(&x[LID_0]));
    store_half(&x[LID_0], mine);
    atom_add_fg(total, mine);
    atom_add_ig(count, 1);
}
"""
    value = np.linspace(-2, 3, 64).astype("float16")
    x, total, count = (gpuarray.asarray(v) for v in (value, np.zeros(1, "float32"), np.zeros(1, "int32")))
    GpuKernel(text, "sums", [GpuArray] * 3)(x, total, count, n=64, ls=64)
    np.testing.assert_array_equal(np.asarray(x), (value * np.float16(2)))
    np.testing.assert_allclose(np.asarray(total)[0], 2 * value.astype("float32").sum(), rtol=1e-5)
    assert np.asarray(count)[0] == 64


def test_text_in_the_language_of_the_device(context):
    if context.driver.language != "opencl":
        pytest.skip("a device of OpenCL")
    # PoCL's C; so not compiled for CUDA, which the session's other programs are.
    text = "__kernel void one(global float *x) { local float y; if (get_local_id(0) == 0) y = 1; x[0] = y; }"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context, "functions", type(context).functions.__get__(context))
        x = gpuarray.asarray(np.zeros(1, "float32"))
        GpuKernel(text, "one", ["*"], context)(x, gs=1, ls=1)
    assert np.asarray(x)[0] == 1


def test_what_cannot_be_launched(context):
    x = gpuarray.asarray(np.ones(4, "float32"))
    kernel = scale()
    with pytest.raises(TypeError, match="the kernel scale takes 4 arguments, not 1"):
        kernel(x, n=4)
    with pytest.raises(TypeError, match="argument 0 of the kernel scale is an array on gpu, not a ndarray"):
        kernel(np.ones(4, "float32"), 0, 1, 4, n=4)
    with pytest.raises(ValueError, match="with n, or with both gs and ls"):
        kernel(x, 0, 1, 4, gs=1)
    with pytest.raises(ValueError, match="ls is one to three numbers"):
        kernel(x, 0, 1, 4, n=4, ls=0)
    with pytest.raises(ValueError, match="refused to launch the kernel scale"):
        kernel(x, 0, 1, 4, gs=1, ls=1 << 20)
    with pytest.raises(ValueError, match="there is room for 47"):
        GpuKernel("", "many", ["int8"] * 48)
    np.testing.assert_array_equal(np.asarray(x), 1)


def test_a_text_that_the_compiler_refuses(context):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context, "functions", type(context).functions.__get__(context))
        with pytest.raises(DeviceCompileError, match="the kernel broken") as problem:
            GpuKernel("KERNEL void broken(GLOBAL_MEM ga_float *x) { no such thing }", "broken", [GpuArray], context)
    assert "no such thing" in problem.value.text


# -- ops ----------------------------------------------------------------------------------------------------------


class Scaled(GpuKernelBase):
    """``a x`` of a vector."""

    __props__ = ("a",)

    def __init__(self, a):
        self.a = a

    def make_node(self, x):
        x = as_gpuarray_variable(x, infer_context_name(x))
        return theano.Apply(self, [x], [x.type()])

    def gpu_kernels(self, node, name):
        dtype = node.inputs[0].type.dtype
        flags = UserKernel.get_flags(dtype)
        params = [GpuArray, SIZE, dtype, SIZE]
        return [UserKernel(code=SCALE.replace("WORD", WORDS[dtype]), name="scale", params=params, flags=flags, objvar="k")]

    def perform(self, node, inputs, outputs, context):
        assert context is node.inputs[0].type.context
        z = inputs[0].copy()
        self.launchers(node)["scale"](z, z.offset, self.a, z.size, n=z.size)
        outputs[0][0] = z

    def c_code(self, node, name, inputs, outputs, sub):
        return "this would call libgpuarray;"

    def infer_shape(self, node, shapes):
        return shapes

    def L_op(self, inputs, outputs, gradients):
        return [Scaled(self.a)(gradients[0])]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_op_with_kernels(on_device, dtype):
    x = T.vector("x", dtype)
    y = Scaled(3)(x * 2)
    f = on_device([x], [T.exp(y).sum(), T.grad((y**2).sum(), x), y.shape[0]])
    value = np.linspace(-1, 1, 7).astype(dtype)
    total, slope, length = f(value)
    np.testing.assert_allclose(total, np.exp(6 * value).sum(), rtol=1e-5)
    np.testing.assert_allclose(slope, 72 * value, rtol=1e-5, atol=1e-6)
    assert length == 7


def test_an_op_that_does_not_say_how_it_is_launched(on_device):
    class Unfinished(Scaled):
        perform = GpuKernelBase.perform

    x = T.fvector("x")
    with pytest.raises(NotImplementedError, match=r"Unfinished.* does not define perform"):
        on_device([x], Unfinished(3)(x))(np.ones(2, "float32"))


FILE = """
#section kernels
#kernel eye : *, size, size, size :
KERNEL void eye(GLOBAL_MEM DTYPE_OUTPUT_0 *a, ga_size a_off, ga_size n, ga_size m)
{
    a = (GLOBAL_MEM DTYPE_OUTPUT_0 *)(((GLOBAL_MEM char *)a) + a_off);
    for (ga_size i = LID_0; i < n * m; i += LDIM_0)
        a[i] = i / m == i % m;
}
#kernel negated : *, size, size : d
KERNEL void negated(GLOBAL_MEM DTYPE_OUTPUT_0 *a, ga_size a_off, ga_size n)
{
    a = (GLOBAL_MEM DTYPE_OUTPUT_0 *)(((GLOBAL_MEM char *)a) + a_off);
    for (ga_size i = LID_0; i < n; i += LDIM_0)
        a[i] = -a[i];
}

#section support_code_struct
int APPLY_SPECIFIC(eye)(PyArrayObject *n, PyArrayObject *m, PyGpuArrayObject **z, PyGpuContextObject *ctx) { return 0; }
"""


def test_an_op_with_kernels_in_a_file(on_device, tmp_path):
    path = tmp_path / "eye.c"
    path.write_text(FILE)

    class Eye(CGpuKernelBase):
        __props__ = ()

        def __init__(self):
            super().__init__([str(path)], "APPLY_SPECIFIC(eye)")

        def make_node(self, n, m):
            return theano.Apply(
                self,
                [T.as_tensor_variable(n), T.as_tensor_variable(m)],
                [gpuarray.GpuArrayType("float64", (False, False))()],
            )

        def perform(self, node, inputs, outputs, context):
            n, m = map(int, inputs)
            z = gpuarray.asarray(np.zeros((n, m)))
            for name, lengths in (("eye", (n, m)), ("negated", (n * m,))):
                self.launchers(node)[name](z, z.offset, *lengths, gs=1, ls=32)
            outputs[0][0] = z

    assert [k.name for k in Eye().gpu_kernels(Eye().make_node(2, 3), "x")] == ["eye", "negated"]
    n = T.lscalar("n")
    np.testing.assert_array_equal(on_device([n], Eye()(n, 5) * 2)(4), -2 * np.eye(4, 5))


def test_a_file_without_kernels(tmp_path):
    path = tmp_path / "none.c"
    path.write_text("#section support_code\nint x;\n")
    with pytest.raises(ValueError, match="has no #section kernels"):
        CGpuKernelBase(str(path))
    path.write_text("#section kernels\n#kernel nothing\n")
    with pytest.raises(ValueError, match="#kernel name : types : flags"):
        CGpuKernelBase(str(path))


class Doubled(theano.Op):
    """An op of the CPU that has another one for a device."""

    __props__ = ()

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * 2


def test_rules_of_programs_move_ops_of_programs(on_device):
    def local_doubled(op, context_name, inputs, outputs):
        return Scaled(2)

    plain = op_lifter([Doubled])(local_doubled)
    assert register_opt("fast_compile")(plain) is plain
    try:
        x = T.fvector("x")
        f = on_device([x], T.exp(Doubled()(x + 1)))
        assert [n for n in f.maker.fgraph.toposort() if isinstance(n.op, Scaled)]
        np.testing.assert_allclose(f(np.zeros(3, "float32")), np.exp([2] * 3), rtol=1e-6)
        f = theano.function([x], Doubled()(x))  # where nothing is moved it stays
        assert not [n for n in f.maker.fgraph.toposort() if isinstance(n.op, Scaled)]
    finally:
        gpu_optimizer.remove("local_doubled")


# -- pieces of text -----------------------------------------------------------------------------------------------

COUNT = 32


def rows_kernel(name, body):
    """Return a kernel of one group that keeps N numbers in local memory, and writes some back."""
    params = ["GLOBAL_MEM ga_float *x", "ga_int N"]
    start = ["LOCAL_MEM ga_float kept[256]", "LOCAL_MEM ga_float more[256]",
             f"for (int k = LID_0; k < N; k += {COUNT}) kept[k] = x[k]", "local_barrier()"]  # fmt: skip
    end = [f"for (int k = LID_0; k < N; k += {COUNT}) x[k] = kept[k]"]
    return GpuKernel(nvcc_kernel(name, params, [start, body, end]), name, [GpuArray, "int32"])


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 100])
def test_reductions_by_a_group(n):
    value = np.random.default_rng(n).uniform(0.5, 1.5, n).astype("float32")
    for name, text, numpys in (
        ("sums", inline_reduce_sum, np.sum), ("largest", inline_reduce_max, np.max),
        ("smallest", inline_reduce_min, np.min), ("products", inline_reduce_prod, np.prod),
    ):  # fmt: skip
        x = gpuarray.asarray(value)
        rows_kernel(name, [text("N", "kept", "LID_0", str(COUNT))])(x, n, gs=1, ls=COUNT)
        np.testing.assert_allclose(np.asarray(x)[0], numpys(value), rtol=1e-5)


@pytest.mark.parametrize("n", [1, 31, 33, 100])
def test_softmax_by_a_group(n):
    value = np.random.default_rng(n).normal(0, 30, n).astype("float32")
    wanted = np.exp(value.astype("float64") - value.max())
    wanted /= wanted.sum()
    x = gpuarray.asarray(value)
    rows_kernel("soft", [inline_softmax("N", "kept", "more", "LID_0", str(COUNT))])(x, n, gs=1, ls=COUNT)
    np.testing.assert_allclose(np.asarray(x), wanted, rtol=1e-5, atol=1e-7)
    body = inline_softmax_fixed_shared(
        "N", "kept", "x", "2", "", "y", "1", "", "LID_0", str(COUNT), "b", "1", "", "float32"
    )
    params = ["GLOBAL_MEM ga_float *x", "GLOBAL_MEM ga_float *b", "GLOBAL_MEM ga_float *y", "ga_int N"]
    text = nvcc_kernel("softer", params, [f"LOCAL_MEM ga_float kept[{COUNT}]", body])
    bias = np.linspace(-3, 3, n).astype("float32")
    x, b, y = (gpuarray.asarray(v) for v in (np.repeat(value - bias, 2), bias, np.zeros_like(value)))
    GpuKernel(text, "softer", [GpuArray, GpuArray, GpuArray, "int32"])(x, b, y, n, gs=1, ls=COUNT)
    np.testing.assert_allclose(np.asarray(y), wanted, rtol=1e-4, atol=1e-6)
