"""What scalar ops become: C on single numbers. It is seldom wanted: element-wise ops compute most of them."""

from __future__ import annotations

from theano.graph.kernel import Kernel
from theano.lowering.accepts import Accepts
from theano.lowering.table import Lowering, register
from theano.scalar.base import ScalarOp
from theano.scalar.ctypes import c_type, compute_type, load, storage_support, store
from theano.scalar.type import ScalarApply


def scalar_kernel(op: ScalarOp, node: ScalarApply) -> Kernel | None:
    """Return the operation on single numbers, where it has a C form for their dtypes."""
    ins = [v.type.dtype for v in node.inputs]
    outs = [v.type.dtype for v in node.outputs]
    in_names, out_names = [f"i{i}" for i in range(len(ins))], [f"o{i}" for i in range(len(outs))]
    body = op.c_statements(in_names, ins, out_names, outs)
    if body is None:
        return None
    lines = ["int KERNEL(th_ctx *ctx)", "{", "    static const int64_t no_axes[1] = {0};"]
    for i, (name, dtype) in enumerate(zip(in_names, ins, strict=True)):
        value = load(dtype, f"*(const {c_type(dtype)} *)ctx->in[{i}]->data")
        lines.append(f"    const {compute_type(dtype)} {name} = {value};")
    lines += [f"    {compute_type(dtype)} {name};" for name, dtype in zip(out_names, outs, strict=True)]
    # An operation may take an input for its form alone; the compiler would remark on it.
    lines += [f"    (void){name};" for name in in_names] + [f"    {line}" for line in body.lines]
    for i, (name, dtype) in enumerate(zip(out_names, outs, strict=True)):
        lines.append(f"    if (ctx->rt->ensure(ctx, ctx->out[{i}], no_axes))")
        lines.append("        return -1;")
        lines.append("    " + store(dtype, f"*({c_type(dtype)} *)ctx->out[{i}]->data", name))
    source = "\n".join([*lines, "    return 0;", "}", ""])
    needed = dict.fromkeys((*body.support, *storage_support(*ins, *outs)))
    return Kernel(str(op), source, support=tuple(needed), work=op.work(ins, outs))


register(Lowering(ScalarOp, scalar_kernel, Accepts("*inputs -> *outputs")))
