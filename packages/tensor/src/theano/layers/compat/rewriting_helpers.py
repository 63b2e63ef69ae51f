"""Small functions that old rewriting rules of tensors were written with."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from theano.graph.apply import Apply
from theano.tensor.convert import NotScalarConstantError, get_scalar_constant_value

_KINDS = ("bool", "uint", "int", "float", "complex")


def encompasses_broadcastable(b1: Sequence[bool], b2: Sequence[bool]) -> bool:
    """Return whether a tensor of pattern ``b2`` is broadcast to the shape of one of pattern ``b1``, and not vice versa.

    Examples
    --------
    >>> encompasses_broadcastable((False, False), (True,)), encompasses_broadcastable((True,), (False,))
    (True, False)
    """
    return len(b1) >= len(b2) and not any(
        one and not other for one, other in zip(reversed(b1), reversed(b2), strict=False)
    )


def merge_broadcastables(broadcastables: Iterable[Sequence[bool]]) -> list[bool]:
    """Return which dimensions of an element-wise result have length 1: those where all operands do.

    Examples
    --------
    >>> merge_broadcastables([(True, False), (True, True)])
    [True, False]
    """
    return [all(pattern) for pattern in zip(*broadcastables, strict=False)]


def scalarconsts_rest(
    inputs: Iterable[Any], elemwise: bool = True, only_process_constants: bool = False
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the values of those inputs that are one constant number, these inputs, and the others.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.vector("x")
    >>> [len(part) for part in scalarconsts_rest([T.constant(2.0), x])]
    [1, 1, 1]
    """
    values, constants, others = [], [], []
    for v in inputs:
        try:
            value = get_scalar_constant_value(v, elemwise=elemwise, only_process_constants=only_process_constants)
        except NotScalarConstantError:
            others.append(v)
        else:
            values.append(value)
            constants.append(v)
    return values, constants, others


def is_dimshuffle_useless(new_order: Sequence[int | str], input: Any) -> bool:
    """Return whether a dimension pattern leaves ``input`` as it is: only dimensions of length 1 change places.

    Examples
    --------
    >>> import theano.tensor as T
    >>> is_dimshuffle_useless((0, 1), T.matrix()), is_dimshuffle_useless((1, 0), T.matrix())
    (True, False)
    """
    ones: set[int | str] = {"x", *(i for i, one in enumerate(input.type.broadcastable) if one)}
    return len(new_order) == input.type.ndim and all(
        new == i or (i in ones and new in ones) for i, new in enumerate(new_order)
    )


def is_an_upcast(type1: str, type2: str) -> bool:
    """Return whether a conversion from one dtype to another goes to no lower kind and no lower precision.

    Examples
    --------
    >>> is_an_upcast("int8", "float32"), is_an_upcast("float64", "float32"), is_an_upcast("int64", "float32")
    (True, False, False)
    """
    before, after = (_rank(name) for name in (type1, type2))
    return after[0] >= before[0] and after[1] >= before[1]


def _rank(dtype: str) -> tuple[int, float]:
    kind = dtype.rstrip("0123456789")
    bits = int(dtype.removeprefix(kind) or 0)
    # A complex number is as precise as its parts.
    return _KINDS.index(kind), bits / 2 if kind == "complex" else bits


def is_inverse_pair(node_op: Any, prev_op: Any, inv_pair: tuple[type, type]) -> bool:
    """Return whether two ops that follow each other are of two classes, in either order.

    Examples
    --------
    >>> is_inverse_pair(1, "a", (str, int)), is_inverse_pair(1, 2, (str, int))
    (True, False)
    """
    first, second = inv_pair
    pairs = ((node_op, prev_op), (prev_op, node_op))
    return any(isinstance(a, first) and isinstance(b, second) for a, b in pairs)


def get_clients(node: Apply[Any, Any]) -> list[Apply[Any, Any]]:
    """Return the nodes of a closed graph that use the first output of ``node``.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.vector("x")
    >>> graph = theano.FunctionGraph([x], [T.exp(T.neg(x))], clone=False)
    >>> [client.op is T.exp for client in get_clients(graph.toposort()[0])]
    [True]
    """
    return [client for client, _ in node.outputs[0].clients if client != "output"]


def get_clients2(node: Apply[Any, Any]) -> list[Apply[Any, Any]]:
    """Return the nodes that use an output of those that use the first output of ``node``.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.vector("x")
    >>> graph = theano.FunctionGraph([x], [T.exp(T.neg(x))], clone=False)
    >>> get_clients2(graph.toposort()[0])
    []
    """
    outputs = itertools.chain.from_iterable(client.outputs for client in get_clients(node))
    return [client for v in outputs for client, _ in v.clients if client != "output"]
