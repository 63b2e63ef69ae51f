"""Products as trees of factors with signs: what rewriters of older programs that look for sigmoids are written with.

A tree is ``[negated, factors]``, the factors a list of trees; or ``[negated, variable]``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from theano.tensor.elemwise import functions as F
from theano.tensor.nnet.activation import sigmoid
from theano.tensor.rules.predicates import filled_with, made_by

Tree = list[Any]


def is_mul(var: Any) -> list[Any] | None:
    """Return the factors of a product, or None.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, y = T.dvectors("x", "y")
    >>> is_mul(x * y), is_mul(x)
    ([x, y], None)
    """
    node = made_by(var, F.mul)
    return None if node is None else list(node.inputs)


def is_neg(var: Any) -> Any:
    """Return what is negated, also by a factor -1; or None.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, y = T.dvectors("x", "y")
    >>> is_neg(-x), is_neg(-1 * x), is_neg(x - y)
    (x, x, None)
    """
    negated = made_by(var, F.neg)
    if negated is not None:
        return negated.inputs[0]
    factors = is_mul(var) or []
    for i, factor in enumerate(factors):
        if filled_with(factor, -1):
            rest = factors[:i] + factors[i + 1 :]
            return rest[0] if len(rest) == 1 else F.mul(*rest)
    return None


def is_exp(var: Any) -> tuple[bool, Any] | None:
    """Return whether an exponential is negated, and its argument; or None.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dvector("x")
    >>> is_exp(T.exp(x)), is_exp(-T.exp(x)), is_exp(x)
    ((False, x), (True, x), None)
    """
    inner = is_neg(var)
    power = made_by(var if inner is None else inner, F.exp)
    return None if power is None else (inner is not None, power.inputs[0])


def is_1pexp(t: Any, only_process_constants: bool = True) -> tuple[bool, Any] | None:
    """Return ``(False, x)`` if ``t`` is ``1 + exp(x)``, else None.

    Parameters
    ----------
    t : Variable
    only_process_constants : bool
        Whether the 1 must be a constant; otherwise it may be a fill with ones.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dvector("x")
    >>> is_1pexp(T.exp(x) + 1), is_1pexp(T.exp(x) + 2)
    ((False, x), None)
    """
    total = made_by(t, F.add)
    if total is None or len(total.inputs) != 2:
        return None
    for one, rest in (total.inputs, total.inputs[::-1]):
        if filled_with(one, 1) and not (only_process_constants and made_by(one, F.second) is not None):
            found = is_exp(rest)
            if found is not None and not found[0]:
                return found
    return None


def parse_mul_tree(root: Any) -> Tree:
    """Return a product as a tree of factors with signs.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, y = T.dvectors("x", "y")
    >>> parse_mul_tree(-(x * y)), parse_mul_tree(-x * y)
    ([True, [[False, x], [False, y]]], [False, [[True, x], [False, y]]])
    """
    factors = is_mul(root)
    negated = is_neg(root)
    if negated is not None:
        sign, inner = parse_mul_tree(negated)
        return [not sign, inner]
    return [False, root if factors is None else [parse_mul_tree(v) for v in factors]]


def compute_mul(tree: Tree) -> Any:
    """Return the product that a tree stands for.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, y = T.dvectors("x", "y")
    >>> from theano import pprint
    >>> pprint(compute_mul([True, [[False, x], [True, y]]]))
    '(-(x * (-y)))'
    """
    negated, inner = tree
    if isinstance(inner, list):
        factors = [compute_mul(part) for part in inner]
        inner = factors[0] if len(factors) == 1 else F.mul(*factors)
    return F.neg(inner) if negated else inner


def simplify_mul(tree: Tree) -> Tree:
    """Return a tree without the factors that are None, and without products of a single factor.

    Examples
    --------
    >>> simplify_mul([True, [[False, None], [True, "x"]]])
    [False, 'x']
    """
    negated, inner = tree
    if not isinstance(inner, list):
        return tree
    parts = [part for part in map(simplify_mul, inner) if part[1] is not None]
    if not parts:
        return [negated, None]
    if len(parts) > 1:
        return [negated, parts]
    ((sign, only),) = parts
    return [negated != sign, only]


def perform_sigm_times_exp(tree: Tree) -> bool:
    """Put ``sigmoid(-x)`` in the place of ``sigmoid(x)`` and ``exp(-x)`` in a tree, and return whether there were any.

    The new factor stands where the earlier of the two stood, and None where the later one did (`simplify_mul`). Each
    factor is compared with those before it, once.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dvector("x")
    >>> from theano import pprint
    >>> tree = parse_mul_tree(sigmoid(x) * T.exp(-x))
    >>> perform_sigm_times_exp(tree), pprint(compute_mul(simplify_mul(tree)))
    (True, 'sigmoid((-x))')
    """
    waiting: list[Tree] = []
    found = False
    for leaf in _leaves(tree):
        met = _partner(leaf, waiting)
        if met is None:
            waiting.append(leaf)
            continue
        found = True
        (power,) = [v.owner for v in (leaf[1], met[1]) if v.owner.op == F.exp]
        met[:] = [leaf[0] != met[0], sigmoid(power.inputs[0])]
        leaf[1] = None
    return found


def _leaves(tree: Tree) -> Iterator[Tree]:
    if isinstance(tree[1], list):
        for part in tree[1]:
            yield from _leaves(part)
    elif tree[1] is not None:
        yield tree


def _partner(leaf: Tree, waiting: list[Tree]) -> Tree | None:
    """Return the first of some factors that cancels with another one."""
    for other in waiting:
        for s, e in ((leaf[1], other[1]), (other[1], leaf[1])):
            curve, power = made_by(s, sigmoid), made_by(e, F.exp)
            if curve is not None and power is not None and _are_opposite(curve.inputs[0], power.inputs[0]):
                return other
    return None


def _are_opposite(a: Any, b: Any) -> bool:
    return is_neg(a) is b or is_neg(b) is a
