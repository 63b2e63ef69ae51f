"""Ops that compute nothing: they copy a value, or let it through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from theano.compile.registered_code import Code, CodeByType
from theano.extensions import Table
from theano.graph.apply import Apply
from theano.graph.kernel import Builtin, Kernel
from theano.graph.op import Op
from theano.graph.type import Type
from theano.graph.variable import Variable
from theano.lowering.table import Lowering, register

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Value, Values

KernelOf = Callable[[Apply], Kernel | Builtin | None]

#: What copies the values of a class of types, where a layer has something better than `_COPY`.
copy_kernels: Table[type[Type], KernelOf] = Table(
    "compile.copy_ops.copy_kernels", "how values of a type are copied"
)

# Any element size, any strides.
_COPY = """\
int KERNEL(th_ctx *ctx)
{
    const th_buffer *in = ctx->in[0];
    th_buffer *out = ctx->out[0];
    const int32_t last = in->ndim - 1;
    const int64_t size = in->itemsize;
    int64_t index[TH_MAX_NDIM] = {0};
    int64_t total = 1, contiguous = 1, inner, stride, i;
    const char *from;
    char *to;
    int32_t d;

    if (ctx->rt->ensure(ctx, out, in->shape))
        return -1;
    for (d = last; d >= 0; d--) {
        if (in->shape[d] != 1 && in->strides[d] != total * size)
            contiguous = 0;
        total *= in->shape[d];
    }
    if (total == 0)
        return 0;
    if (contiguous) {
        memcpy(out->data, in->data, (size_t)(total * size));
        return 0;
    }
    inner = in->shape[last];
    stride = in->strides[last];
    from = in->data;
    to = out->data;
    for (;;) {
        if (size == 8) {
            for (i = 0; i < inner; i++)
                memcpy(to + 8 * i, from + stride * i, 8);
        } else if (size == 4) {
            for (i = 0; i < inner; i++)
                memcpy(to + 4 * i, from + stride * i, 4);
        } else {
            for (i = 0; i < inner; i++)
                memcpy(to + size * i, from + stride * i, (size_t)size);
        }
        to += size * inner;
        for (d = last - 1; d >= 0; d--) {
            from += in->strides[d];
            if (++index[d] < in->shape[d])
                break;
            from -= in->strides[d] * in->shape[d];
            index[d] = 0;
        }
        if (d < 0)
            return 0;
    }
}
"""

_VIEW = """\
int KERNEL(th_ctx *ctx)
{
    th_buffer *in = ctx->in[0];
    return ctx->rt->view(ctx, ctx->out[0], in, in->data, in->ndim, in->shape, in->strides);
}
"""


def register_deep_copy_kernel(type_class: type[Type], kernel: KernelOf) -> None:
    """Let ``kernel`` copy the values of a class of types.

    Parameters
    ----------
    type_class : class of Type
    kernel : callable
        Takes a node whose input is of such a type; returns a kernel, or None to copy in Python.
    """
    copy_kernels.register(type_class, kernel)


class _SameType(Op):
    """Base of the ops whose output is worth what their input is."""

    __props__ = ()
    shapes = "A->A"

    def make_node(self, x: Variable) -> Apply:
        """Return the node; the output is of the type of the input."""
        return Apply(self, [x], [x.type.make_variable()])

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> Sequence[Variable]:
        """Return the gradient unchanged."""
        return output_grads

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """Return the direction unchanged."""
        return eval_points

    def static_value(self, node: Apply, index: int, ask: Callable[[Variable], Any]) -> Value:
        """Return the value before it is computed, if it is known: the answer of ``ask`` for the input."""
        return ask(node.inputs[0])


class DeepCopyOp(_SameType, CodeByType):
    """Copies a value: stands where a function hands out what is not its own."""

    __props__ = ()
    code_of = {}
    moves_only = True

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Copy as the type does."""
        output_storage[0][0] = node.inputs[0].type.value_copy(inputs[0])


class ViewOp(_SameType, CodeByType):
    """Lets a value through, under another variable."""

    __props__ = ()
    code_of = {}
    moves_only = True
    view_map = {0: [0]}

    def perform(self, node: Apply, inputs: Values, output_storage: Storage) -> None:
        """Hand the value on."""
        output_storage[0][0] = inputs[0]


class OutputGuard(ViewOp):
    """Keeps a value from being overwritten: it stands between an output and those who would work in place on it."""

    __props__ = ()
    destroy_map = {}


def copy_kernel(op: DeepCopyOp, node: Apply) -> Kernel | Builtin | None:
    """Return the copy that was registered for the type, or one of any buffer."""
    kind = node.inputs[0].type
    for cls in type(kind).__mro__:
        if cls in op.code_of:
            return None
        if cls in copy_kernels:
            return copy_kernels[cls](node)
    return None if kind.buffer_spec() is None else Kernel("copy", _COPY, work=0.5)


def view_kernel(op: ViewOp, node: Apply) -> Kernel:
    """Return a window as large as its base."""
    return Kernel("view", _VIEW, work=0.0)


def _is_any_buffer(op: ViewOp, node: Apply) -> bool:
    """Tell whether compiled code sees such values, and no C code is registered for their type."""
    return node.inputs[0].type.buffer_spec() is not None and op.registered(node) is None


register(
    Lowering(DeepCopyOp, copy_kernel),
    Lowering(ViewOp, view_kernel, when=_is_any_buffer),
)


def register_deep_copy_op_c_code(typ: type[Type], code: str, version: tuple[Any, ...] = ()) -> None:
    """Say in C how values of a class of types are copied.

    Parameters
    ----------
    typ : class of Type
    code : str
        ``%(iname)s`` and ``%(oname)s`` stand for the variables, ``%(fail)s`` for what to do when something is wrong.
    version : tuple
        For the cache of compiled code; without one it is compiled in each process anew.
    """
    DeepCopyOp.code_of[typ] = Code(code, version)


def register_view_op_c_code(type: type[Type], code: str, version: tuple[Any, ...] = ()) -> None:
    """Say in C how a value of a class of types is let through, as `register_deep_copy_op_c_code` does for copies."""
    ViewOp.code_of[type] = Code(code, version)


deep_copy_op = DeepCopyOp()
view_op = ViewOp()
output_guard = OutputGuard()
