"""Scalar ops, alone and over the elements of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.scalar import basic as ps
from pytensor.scalar import math as pm
from pytensor.tensor.elemwise import DimShuffle, Elemwise

import theano.tensor as T
from theano_pytensor.convert import convert, translate
from theano_pytensor.types import cast, now_registered

#: Ops of PyTensor and what they are here, where nothing but the dtype of the result is to be said.
SCALAR_OPS: dict[type, Callable[..., Any]] = {
    ps.Abs: T.abs_, ps.Add: T.add, ps.AND: T.and_, ps.ArcCos: T.arccos, ps.ArcCosh: T.arccosh,
    ps.ArcSin: T.arcsin, ps.ArcSinh: T.arcsinh, ps.ArcTan: T.arctan, ps.ArcTan2: T.arctan2, ps.ArcTanh: T.arctanh,
    ps.Ceil: T.ceil, ps.Clip: T.clip, ps.Complex: T.complex, ps.Conj: T.conj, ps.Cos: T.cos, ps.Cosh: T.cosh,
    ps.EQ: T.eq, ps.Exp: T.exp, ps.Exp2: T.exp2, ps.Expm1: T.expm1, ps.Floor: T.floor,
    ps.GE: T.ge, ps.GT: T.gt, ps.Identity: T.tensor_copy, ps.Imag: T.imag, ps.IntDiv: T.int_div, ps.Invert: T.invert,
    ps.IsInf: T.isinf_, ps.IsNan: T.isnan_, ps.LE: T.le, ps.Log: T.log, ps.Log10: T.log10, ps.Log1p: T.log1p,
    ps.Log2: T.log2, ps.LT: T.lt, ps.Maximum: T.maximum, ps.Minimum: T.minimum, ps.Mod: T.mod, ps.Mul: T.mul,
    ps.Neg: T.neg, ps.NEQ: T.neq, ps.OR: T.or_, ps.Pow: T.pow, ps.Real: T.real,
    ps.Reciprocal: T.inv, ps.RoundHalfAwayFromZero: T.round_half_away_from_zero,
    ps.RoundHalfToEven: T.round_half_to_even, ps.Second: T.second, ps.Sign: T.sgn, ps.Sin: T.sin, ps.Sinh: T.sinh,
    ps.Sqr: T.sqr, ps.Sqrt: T.sqrt, ps.Sub: T.sub, ps.Switch: T.switch, ps.Tan: T.tan, ps.Tanh: T.tanh,
    ps.TrueDiv: T.true_div, ps.Trunc: T.trunc, ps.XOR: T.xor,
    pm.BetaInc: T.betainc, pm.BetaIncInv: T.betaincinv,
    pm.Erf: T.erf, pm.Erfc: T.erfc, pm.Erfcinv: T.erfcinv, pm.Erfcx: T.erfcx, pm.Erfinv: T.erfinv, pm.Gamma: T.gamma,
    pm.GammaInc: T.gammainc, pm.GammaIncC: T.gammaincc, pm.GammaIncInv: T.gammaincinv, pm.GammaIncCInv: T.gammainccinv,
    pm.GammaLn: T.gammaln, pm.I0: T.i0, pm.I1: T.i1, pm.Ive: T.ive, pm.J0: T.j0, pm.J1: T.j1, pm.Jv: T.jv,
    pm.Kve: T.kve, pm.Log1mexp: T.log1mexp, pm.NdtriExp: T.ndtri_exp, pm.Owens_t: T.owens_t,
    pm.PolyGamma: T.polygamma, pm.Psi: T.psi, pm.Sigmoid: T.nnet.sigmoid,
    pm.Softplus: T.nnet.softplus, pm.TriGamma: T.tri_gamma,
}  # fmt: skip

_FLOATS = ("float16", "float32", "float64", "complex64", "complex128")


@convert.register(ps.ScalarOp)
def _(op: Any, node: Any, *inputs: Any) -> Any:
    function = SCALAR_OPS.get(type(op))
    if function is None and now_registered(type(op)):
        function = SCALAR_OPS.get(type(op))
    if function is None:
        raise NotImplementedError(f"no conversion is registered for the scalar op {op}")
    dtype = node.outputs[0].type.dtype
    if dtype in _FLOATS and not any(x.type.dtype in _FLOATS for x in inputs) and type(op) not in _OF_WHOLE_NUMBERS:
        inputs = tuple(cast(x, dtype) for x in inputs)  # whole numbers, of which PyTensor says how wide the result is
    return function(*inputs)


#: Not these: their operands need not be of the dtype of the result.
_OF_WHOLE_NUMBERS = (pm.PolyGamma, ps.TrueDiv, ps.Second, ps.Switch)


@convert.register(ps.Cast)
def _(op: Any, node: Any, x: Any) -> Any:
    return cast(x, op.o_type.dtype)


@convert.register(ps.Composite)
def _(op: Any, node: Any, *inputs: Any) -> Any:
    inner = op.fgraph
    return _covering(translate(inner.outputs, dict(zip(inner.inputs, inputs, strict=True)), scalar_step), inputs)


def scalar_step(node: Any, inputs: Any) -> list[Any]:
    """Return the outputs of a scalar node over elements: of its dtype, whatever their shape is."""
    made = convert(node.op, node, *inputs)
    outputs = list(made) if isinstance(made, (list, tuple)) else [made]
    return [cast(x, v.type.dtype) for x, v in zip(outputs, node.outputs, strict=True)]


def _covering(outputs: list[Any], inputs: Any) -> list[Any]:
    """Return outputs as large as all inputs together, also those that do not depend on all of these."""
    ndim = max((x.type.ndim for x in inputs), default=0)
    flags = [all(x.type.broadcastable[k] for x in inputs if x.type.ndim == ndim) for k in range(ndim)]
    made = []
    for x in outputs:
        if x.type.ndim < ndim or any(one and not known for one, known in zip(x.type.broadcastable, flags, strict=True)):
            for other in inputs:
                x = T.second(other, x)
        made.append(x)
    return made


@convert.register(Elemwise)
def _(op: Any, node: Any, *inputs: Any) -> Any:
    scalars = [v.type.dtype for v in node.outputs]
    made = convert(op.scalar_op, node, *inputs)
    outputs = list(made) if isinstance(made, (list, tuple)) else [made]
    return [cast(x, dtype) for x, dtype in zip(outputs, scalars, strict=True)]


@convert.register(DimShuffle)
def _(op: Any, node: Any, x: Any) -> Any:
    x = T.addbroadcast(x, *op.drop) if op.drop else x
    return x.dimshuffle(*op.new_order)
