"""Types with a native form and ops with kernels, as far as linking and planning look at them: nothing is run."""

from __future__ import annotations

import random

from theano.compile.mode import predefined_linkers
from theano.errors import InconsistencyError
from theano.graph import Apply, BufferSpec, FunctionGraph, Op, Type
from theano.graph.aliasing import DestroyHandler
from theano.graph.kernel import Builtin, Kernel
from theano.runtime.link import link


class Vector(Type):
    __props__ = ("dtype", "ndim")

    def __init__(self, dtype="float64", ndim=1):
        self.dtype, self.ndim = dtype, ndim

    def filter(self, value, strict=False, allow_downcast=None):
        return value

    def buffer_spec(self):
        return BufferSpec(self.dtype, self.ndim, (False,) * self.ndim)


vector, small, plane = Vector(), Vector("float32"), Vector(ndim=2)


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
        return Kernel(self.name, "int KERNEL(th_ctx *ctx) { return 0; }", params=b"p", work=2.0, pointers=())


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


# -- random graphs ------------------------------------------------------------------------------------------------------


class Declared(Op):
    """An op as its declarations are: pairs of an output (or None) and the inputs in whose memory it may live."""

    __props__ = ("name", "types", "views", "overwrites", "checks", "native")

    def __init__(self, name, types=(vector,), views=(), overwrites=(), checks=None, native=True):
        self.name, self.types, self.views, self.overwrites = name, types, views, overwrites
        self.checks, self.native = checks, native
        self.view_map = {o: list(inputs) for o, inputs in views}
        self.destroy_map = {o: list(inputs) for o, inputs in overwrites}

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [t() for t in self.types])

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError

    def c_kernel(self, node):
        return Kernel(self.name, "int KERNEL(th_ctx *ctx) { return 0; }") if self.native else None

    def checked_inputs(self, node):
        return self.checks

    def overwriting(self, output, index):
        """Return this op with another input overwritten, for an output or as working space."""
        return Declared(self.name + "_into", self.types, self.views, ((output, (index,)),), self.checks, self.native)


FIT = [Declared("sum", checks=()), Declared("rows", checks=(1,)), Declared("part", checks=(0, 1))]
UNFIT = [Declared("f"), Declared("python", native=False), Declared("python_that_checks", checks=(), native=False)]
VIEWS = [
    Declared("view", views=((0, (0,)),)),
    Declared("part_of", views=((0, (0,)),), checks=()),
    Declared("either", views=((0, (1, 0)),)),
    Declared("python_view", views=((0, (0,)),), native=False),
    Declared("view_and_more", (vector, vector), views=((1, (0,)),), checks=()),
]
OTHERS = [
    Declared("narrow", (small,)),
    Declared("planes", (plane, vector)),
    Declared("halves", (vector, vector), checks=()),
]


def random_graph(seed, ops, size=14):
    """Return a graph of random nodes, of which some overwrite what nobody needs any more, and how many outputs it returns.

    Its inputs are two arguments and two shared variables; the outputs behind those that are returned are updates.
    """
    rng = random.Random(seed)
    inputs = [vector(name) for name in ("x", "y", "s", "t")]
    pool = [*inputs, vector.make_constant((1.0,))]
    for _ in range(size):
        node = rng.choice(ops).make_node(*rng.choices(pool, k=2))
        pool += node.outputs
    fgraph = FunctionGraph(inputs, rng.sample(pool[5:], 4), [DestroyHandler()])
    order = fgraph.toposort()
    for node in rng.sample(order, len(order)):
        places = [(o, i) for o, out in enumerate(node.outputs) for i, v in enumerate(node.inputs) if v.type == out.type]
        free = [(o, i) for o, i in places if o not in node.op.view_map]
        for output, i in rng.sample(free, len(free)):
            fresh = node.op.overwriting(rng.choice([output, output, output, None]), i).make_node(*node.inputs)
            try:
                fgraph.replace_all_validate(list(zip(node.outputs, fresh.outputs, strict=True)))
            except InconsistencyError:
                continue
            break
    return fgraph, rng.randint(0, 2)


def linked_without_compiler(fgraph):
    """Return the nodes of a graph with what computes each; nothing is compiled, so that it cannot be run."""
    return link(fgraph.toposort(), predefined_linkers["cvm"], lambda kernels: range(len(kernels)))
