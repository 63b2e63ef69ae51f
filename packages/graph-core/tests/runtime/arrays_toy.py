"""Arrays of float64 with three kernels: enough to run real machine code through this layer."""

from __future__ import annotations

import numpy

from theano.graph import Apply, BufferSpec, Op, Type
from theano.graph.kernel import Kernel

ELEMENTWISE = """
int KERNEL(th_ctx *ctx)
{
    th_buffer *a = ctx->in[0], *b = ctx->in[1], *out = ctx->out[0];
    int64_t i, n = a->shape[0];
    if (b->shape[0] != n)
        return ctx->rt->fail(ctx, TH_ERR_SHAPE, "lengths %d and %d differ", (int)n, (int)b->shape[0]);
    PREPARE
    for (i = 0; i < n; i++)
        *(double *)(out->data + i * out->strides[0]) =
            *(double *)(a->data + i * a->strides[0]) SIGN *(double *)(b->data + i * b->strides[0]);
    return 0;
}
"""
NEW = "if (ctx->rt->ensure(ctx, out, a->shape)) return -1;"
VIEW = "if (ctx->rt->view(ctx, out, a, a->data, a->ndim, a->shape, a->strides)) return -1;"
BACKWARDS = """
int KERNEL(th_ctx *ctx)
{
    th_buffer *a = ctx->in[0];
    int64_t n = a->shape[0], stride = -a->strides[0];
    return ctx->rt->view(ctx, ctx->out[0], a, a->data + (n ? (n - 1) * a->strides[0] : 0), 1, &n, &stride);
}
"""


class Array(Type):
    __props__ = ("ndim",)

    def __init__(self, ndim=1):
        self.ndim = ndim

    def filter(self, value, strict=False, allow_downcast=None):
        if strict and not isinstance(value, numpy.ndarray):
            raise TypeError("not an array")
        array = numpy.asarray(value, "float64")
        if array.ndim != self.ndim:
            raise TypeError(f"{array.ndim} dimensions where {self.ndim} belong")
        return array

    def buffer_spec(self):
        return BufferSpec("float64", self.ndim, (False,) * self.ndim)

    def value_copy(self, value):
        return value.copy()

    def may_share_memory(self, a, b):
        return numpy.may_share_memory(a, b)

    def constant_signature(self, value):
        return value.tobytes()


vector, matrix = Array(), Array(2)


class Elementwise(Op):
    __props__ = ("sign", "inplace")

    def __init__(self, sign, inplace=False):
        self.sign, self.inplace = sign, inplace
        if inplace:
            self.destroy_map = {0: [0]}

    def make_node(self, a, b):
        return Apply(self, [vector.filter_variable(a), vector.filter_variable(b)], [vector()])

    def perform(self, node, inputs, output_storage):
        a, b = inputs
        if a.shape != b.shape:
            raise ValueError(f"lengths {len(a)} and {len(b)} differ")
        out = a if self.inplace else None
        output_storage[0][0] = {"+": numpy.add, "*": numpy.multiply, "-": numpy.subtract}[self.sign](a, b, out=out)

    def c_kernel(self, node):
        source = ELEMENTWISE.replace("SIGN", self.sign).replace("PREPARE", VIEW if self.inplace else NEW)
        return Kernel(f"a {self.sign} b", source)


class Backwards(Op):
    """A view with a negative stride."""

    __props__ = ()
    itypes, otypes = [vector], [vector]
    view_map = {0: [0]}

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0][::-1]

    def c_kernel(self, node):
        return Kernel("backwards", BACKWARDS)


class InPython(Op):
    """Adds one, without a kernel."""

    __props__ = ()
    itypes, otypes = [vector], [vector]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] + 1


add, mul, sub = Elementwise("+"), Elementwise("*"), Elementwise("-")
add_into = Elementwise("+", inplace=True)
backwards, in_python = Backwards(), InPython()
