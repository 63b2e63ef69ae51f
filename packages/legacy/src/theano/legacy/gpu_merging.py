"""Helpers of old rules on devices: numbers and additions that go into an op with factors; shapes of fixed ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from theano.graph import Apply, FunctionGraph
from theano.rewriting.userdefined import local_optimizer
from theano.scalar import add as scalar_add
from theano.scalar import mul as scalar_mul
from theano.tensor.convert import NotScalarConstantError, as_tensor_variable, get_scalar_constant_value
from theano.tensor.create.alloc import AllocEmpty
from theano.tensor.device.ops import FromDevice, ToDevice
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.functions import cast
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.join.op import join
from theano.tensor.reduce.functions import prod
from theano.tensor.shape.reshape import reshape

Maker = Callable[..., Any]


def grab_cpu_scalar(v: Any, nd: int) -> Any:
    """Return the single number of the host's that ``v`` is in all of its ``nd`` dimensions, or None.

    Parameters
    ----------
    v : Variable
    nd : int
        Of the tensor that it scales.

    Examples
    --------
    >>> import theano.tensor as T
    >>> a = T.fscalar("a")
    >>> grab_cpu_scalar(a.dimshuffle("x", "x"), 2) is a, grab_cpu_scalar(T.fvector(), 1)
    (True, None)
    """
    if v.owner is not None:
        op = v.owner.op
        inside: Any = v.owner.inputs[0] if v.owner.inputs else None
        if isinstance(op, DimShuffle) and op.new_order == ("x",) * nd:
            return grab_cpu_scalar(inside, 0) if inside.owner is not None else inside
        if isinstance(op, (FromDevice, ToDevice)):
            return grab_cpu_scalar(inside, nd)
    if v.type.ndim != nd or not all(v.type.broadcastable):
        return None
    try:
        return as_tensor_variable(get_scalar_constant_value(v)).astype(v.type.dtype)
    except NotScalarConstantError:
        return v if nd == 0 and not isinstance(getattr(v.owner, "op", None), FromDevice) else None


def find_node(*where: Any, ignore_clients: bool = False) -> Apply[Any, Any] | None:
    """Return the node of a class of ops that computes a variable, transfers left out; None if something else uses it.

    Parameters
    ----------
    *where
        The variable and the class, after the graph if there is one.
    ignore_clients : bool
        Whatever else uses it.

    Examples
    --------
    >>> import theano.tensor as T
    >>> y = T.dot(T.dmatrix(), T.dmatrix())
    >>> find_node(y, T.Dot) is y.owner, find_node(y, DimShuffle)
    (True, None)
    """
    v, cls, *more = where[1:] if isinstance(where[0], FunctionGraph) else where
    ignore_clients = bool(more[0]) if more else ignore_clients
    while v.owner is not None and (ignore_clients or len(getattr(v, "clients", ())) <= 1):
        if isinstance(v.owner.op, cls):
            found: Apply[Any, Any] = v.owner
            return found
        if not isinstance(v.owner.op, (FromDevice, ToDevice)):
            return None
        v = v.owner.inputs[0]
    return None


def is_equal(var: Any, val: Any) -> bool:
    """Return whether a variable is known to be one number.

    Examples
    --------
    >>> import theano.tensor as T
    >>> is_equal(T.constant(1.0), 1), is_equal(T.dscalar(), 1)
    (True, False)
    """
    try:
        return bool(get_scalar_constant_value(var) == val)
    except NotScalarConstantError:
        return False


def _of_two(node: Apply[Any, Any], operation: Any, cls: Any) -> tuple[Any, Any] | None:
    """Return, of a node with two operands, the node of a class that one of them is, and the other one."""
    if not isinstance(node.op, Elemwise) or node.op.scalar_op != operation or len(node.inputs) != 2:
        return None
    for one, other in (node.inputs, node.inputs[::-1]):
        found = find_node(one, cls)
        if found is not None:
            return found, other
    return None


def alpha_merge(cls: Any, alpha_in: int, beta_in: int) -> Callable[[Maker], Any]:
    """Return a decorator for a rule that takes a number, by which a result is multiplied, into the op's own factors.

    Parameters
    ----------
    cls : class of ops
    alpha_in, beta_in : int
        The inputs that are its factors: of what it computes, and of what it adds to.

    Returns
    -------
    callable
        From a function of the op's node and of its new inputs, which returns the new outputs, to the rule.

    Examples
    --------
    >>> import theano.tensor as T
    >>> from theano.tensor.blas import Gemm
    >>> rule = alpha_merge(Gemm, 1, 4)(lambda node, *inputs: [node.op(*inputs)])
    >>> x = T.ones((1, 1))
    >>> rule.transform((2.0 * Gemm()(x, 3.0, x, x, 1.0)).owner)[0].eval()
    array([[8.]])
    """

    def decorate(maker: Maker) -> Any:
        @local_optimizer([Elemwise])
        @wraps(maker)
        def merge(node: Apply[Any, Any]) -> Any:
            found = _of_two(node, scalar_mul, cls)
            if found is None:
                return None
            target, factor = found
            number = grab_cpu_scalar(factor, target.outputs[0].type.ndim)
            if number is None:
                return None
            inputs = list(target.inputs)
            for k in (alpha_in, beta_in):
                inputs[k] = _times(number, inputs[k])
            return maker(target, *inputs)

        return merge

    return decorate


def _times(number: Any, factor: Any) -> Any:
    if is_equal(factor, 0):
        return factor
    return cast(number, factor.type.dtype) if is_equal(factor, 1) else cast(number * factor, factor.type.dtype)


def output_merge(cls: Any, alpha_in: int, beta_in: int, out_in: int) -> Callable[[Maker], Any]:
    """Return a decorator for a rule that lets an op add to what its result is added to.

    Parameters
    ----------
    cls : class of ops
    alpha_in, beta_in, out_in : int
        The inputs that are its factors, and the one that it adds to; the rule is used where the factor of that is 0.

    Returns
    -------
    callable
        As of `alpha_merge`.

    Examples
    --------
    >>> import theano.tensor as T
    >>> from theano.tensor.blas import Gemm
    >>> rule = output_merge(Gemm, 1, 4, 0)(lambda node, *inputs: [node.op(*inputs)])
    >>> x = T.ones((1, 1))
    >>> rule.transform((x * 5 + Gemm()(x, 3.0, x, x, 0.0)).owner)[0].eval()
    array([[8.]])
    """

    def decorate(maker: Maker) -> Any:
        @local_optimizer([Elemwise])
        @wraps(maker)
        def merge(node: Apply[Any, Any]) -> Any:
            found = _of_two(node, scalar_add, cls)
            if found is None:
                return None
            target, added = found
            if not is_equal(target.inputs[beta_in], 0) or added.type != target.outputs[0].type:
                return None
            inputs = list(target.inputs)
            inputs[out_in] = added
            inputs[beta_in] = as_tensor_variable(1.0).astype(inputs[beta_in].type.dtype)
            return maker(target, *inputs)

        return merge

    return decorate


def inplace_allocempty(op: Any, idx: int) -> Callable[[Maker], Any]:
    """Return a decorator for a rule that lets an op overwrite an input, in memory of its own.

    Parameters
    ----------
    op : class of ops
    idx : int
        The input.

    Returns
    -------
    callable
        From a function of a node and of its new inputs, which returns the new outputs, to the rule.

    Examples
    --------
    >>> from theano.tensor.blas import Gemm
    >>> inplace_allocempty(Gemm, 0)(lambda node, inputs: [Gemm(inplace=True)(*inputs)]).tracks()[0].__name__
    'Gemm'
    """

    def decorate(maker: Maker) -> Any:
        @local_optimizer([op], inplace=True)
        @wraps(maker)
        def overwrite(node: Apply[Any, Any]) -> Any:
            inputs = list(node.inputs)
            made = inputs[idx].owner
            if made is not None and isinstance(made.op, AllocEmpty) and len(getattr(inputs[idx], "clients", ())) > 1:
                inputs[idx] = made.op.make_node(*made.inputs).outputs[0]
            return maker(node, inputs)

        return overwrite

    return decorate


def pad_dims(input: Any, leftdims: int, rightdims: int) -> Any:
    """Return a tensor with ``leftdims + rightdims`` axes: the last stay, the first are one, ones are put between.

    Parameters
    ----------
    input : tensor
    leftdims, rightdims : int

    Examples
    --------
    >>> import numpy as np, theano.tensor as T
    >>> pad_dims(T.constant(np.zeros((2, 3, 4, 5, 6))), 2, 2).eval().shape
    (24, 1, 5, 6)
    """
    assert input.type.ndim >= rightdims
    if input.type.ndim == leftdims + rightdims:
        return input
    kept = input.shape[input.type.ndim - rightdims :]
    first = prod(input.shape[: input.type.ndim - rightdims]).dimshuffle("x")
    ones = [as_tensor_variable([1])] * (leftdims - 1)
    return reshape(input, join(0, first, *ones, kept), ndim=leftdims + rightdims)


def unpad_dims(output: Any, input: Any, leftdims: int, rightdims: int) -> Any:
    """Return what was computed of a tensor from `pad_dims` with the first axes of what that was made of.

    Parameters
    ----------
    output, input : tensor
    leftdims, rightdims : int

    Examples
    --------
    >>> import numpy as np, theano.tensor as T
    >>> x = T.constant(np.zeros((2, 3, 4, 5, 6)))
    >>> unpad_dims(pad_dims(x, 2, 2)[:, :, ::2], x, 2, 2).eval().shape
    (2, 3, 4, 3, 6)
    """
    if output.type.ndim == input.type.ndim:
        return output
    lengths: Sequence[Any] = (input.shape[: input.type.ndim - rightdims], output.shape[output.type.ndim - rightdims :])
    return reshape(output, join(0, *lengths), ndim=input.type.ndim)
