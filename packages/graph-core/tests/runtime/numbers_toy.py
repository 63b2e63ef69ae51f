"""Types with a native form and ops with kernels, as far as linking and planning look at them: nothing is run."""

from __future__ import annotations

from theano.graph import Apply, BufferSpec, Op, Type
from theano.graph.kernel import Builtin, Kernel


class Vector(Type):
    __props__ = ("dtype",)

    def __init__(self, dtype="float64"):
        self.dtype = dtype

    def filter(self, value, strict=False, allow_downcast=None):
        return value

    def buffer_spec(self):
        return BufferSpec(self.dtype, 1, (False,))


vector, small = Vector(), Vector("float32")


class Native(Op):
    """An op with a kernel, and with a Python form unless ``python`` is False."""

    __props__ = ("name", "views", "inplace")

    def __init__(self, name="native", views=(), inplace=(), out=vector):
        self.name, self.views, self.inplace, self.out = name, tuple(views), tuple(inplace), out
        if views:
            self.view_map = {0: list(views)}
        if inplace:
            self.destroy_map = {0: list(inplace)}

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [self.out()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = (self.name, *inputs)

    def c_kernel(self, node):
        return Kernel(self.name, "int KERNEL(th_ctx *ctx) { return 0; }", params=b"p", work=2.0)


class BuiltAhead(Native):
    __props__ = ("name",)

    def c_kernel(self, node):
        return Builtin("/layer/_kernels.so", "copy")


class PythonOnly(Native):
    __props__ = ("name",)

    def c_kernel(self, node):
        return None


class KernelOnly(Op):
    __props__ = ()
    itypes, otypes = [vector], [vector]

    def c_kernel(self, node):
        return Kernel("only", "int KERNEL(th_ctx *ctx) { return 0; }")


class OwnThunk(Op):
    """Takes its execution into its own hands."""

    __props__ = ("is_lazy",)
    itypes, otypes = [vector], [vector]

    def __init__(self, is_lazy=False):
        self.is_lazy = is_lazy

    def make_thunk(self, node, storage_map, compute_map, no_recycling):
        source, target = storage_map[node.inputs[0]], storage_map[node.outputs[0]]

        def thunk():
            target[0] = ("own", source[0])
            compute_map[node.outputs[0]][0] = 1

        thunk.lazy = self.is_lazy
        return thunk
