"""Small functions that old code of loops was written with: new variables for old ones, replacements, lengths."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from theano.compile.builders import OpFromGraph
from theano.graph.apply import Apply
from theano.graph.clone import clone_get_equiv, copy_expression
from theano.graph.fgraph import FunctionGraph
from theano.graph.traverse import ancestors, equal_computations, toposort
from theano.graph.traverse import inputs as inputs_of
from theano.graph.variable import Constant, Variable
from theano.scan.arguments import sort_returned
from theano.scan.op import Scan
from theano.tensor.convert import NotScalarConstantError, as_tensor_variable, get_scalar_constant_value
from theano.tensor.create.alloc import AllocEmpty
from theano.tensor.index.functions import set_subtensor
from theano.tensor.shape.basic import Shape_i
from theano.tensor.shape.rules.shapes import ShapeFeature

_logger = logging.getLogger("theano.scan")


def warning(*msg: str) -> None:
    """Log what is odd about a loop.

    Examples
    --------
    >>> warning("a loop without steps")
    """
    _logger.warning("%s", " ".join(msg))


def info(*msg: str) -> None:
    """Log what may be of interest about a loop.

    Examples
    --------
    >>> info("a loop of", "3 steps")
    """
    _logger.info("%s", " ".join(msg))


def has_duplicates(l: Sequence[Any]) -> bool:
    """Return whether something is in a list twice.

    Examples
    --------
    >>> has_duplicates([1, 2, 1]), has_duplicates([1, 2])
    (True, False)
    """
    return len(set(l)) < len(l)


def hash_listsDictsTuples(x: Any) -> int:
    """Return a hash of lists, dictionaries and tuples within each other; the order of elements does not matter.

    Examples
    --------
    >>> hash_listsDictsTuples([1, {2: 3}]) == hash_listsDictsTuples([{3: 2}, 1])
    True
    """
    if isinstance(x, dict):
        x = [part for pair in x.items() for part in pair]
    if not isinstance(x, (list, tuple)):
        return hash(x)
    found = 0
    for part in x:
        found ^= hash_listsDictsTuples(part)
    return found


def safe_new(x: Any, tag: str = "", dtype: str | None = None) -> Any:
    """Return a new variable of the type and with the test value of ``x``; of a constant, a copy.

    Parameters
    ----------
    x : Variable or value
    tag : str
        What is added to the name.
    dtype : str, optional
        Of the new variable; by default that of ``x``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> safe_new(T.vector("x", dtype="int64"), "_copy", "float64")
    x_copy
    """
    v: Any = x if isinstance(x, Variable) else as_tensor_variable(x)
    if isinstance(v, Constant):
        return v.clone() if dtype in (None, v.type.dtype) else as_tensor_variable(v.data.astype(dtype), name=v.name)
    new = (v if dtype in (None, getattr(v.type, "dtype", dtype)) else v.astype(dtype)).type()
    new.name = None if v.name is None else v.name + tag
    if hasattr(v.tag, "test_value"):
        new.tag.test_value = new.type.filter(np.copy(v.tag.test_value), allow_downcast=True)
    return new


def reconstruct_graph(
    inputs: Sequence[Variable], outputs: Sequence[Variable], tag: str | None = None
) -> tuple[list[Variable], list[Variable]]:
    """Return new inputs, and expressions of them that are those given.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dscalar("x")
    >>> (y,), (double,) = reconstruct_graph([x], [2 * x], "_new")
    >>> y, theano.function([y], double)(3)
    (x_new, array(6.))
    """
    new = [safe_new(v, tag or "") for v in inputs]
    return new, copy_expression(list(outputs), replace=dict(zip(inputs, new, strict=True)))


def forced_replace(out: Any, x: Variable, y: Variable) -> Any:
    """Return an expression in which what computes the same as ``x`` is ``y``.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> a, b = T.dscalars("a", "b")
    >>> theano.pp(forced_replace(T.exp(a) * (1 - T.exp(a)), T.exp(a), b))
    '(b * (TensorConstant{1} - b))'
    """
    if out is None:
        return None
    same = [v for v in ancestors([out]) if equal_computations([v], [x])]
    return copy_expression(out, replace=dict.fromkeys(same, y)) if same else out


def map_variables(
    replacer: Callable[[Any], Any], graphs: Iterable[Variable], additional_inputs: Iterable[Variable] = ()
) -> list[Variable]:
    """Return expressions in which each variable is what a function says, also inside loops and ops made of graphs.

    Parameters
    ----------
    replacer : callable
        From a variable to what takes its place, or to itself. What it brings is not shown to it.
    graphs : iterable of Variable
    additional_inputs : iterable of Variable, optional
        Taken for older programs: inputs that only ``replacer`` knows need not be named.

    Raises
    ------
    NotImplementedError
        What takes a place inside a loop needs a variable that is not there.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dscalar("x")
    >>> double, = map_variables(lambda v: v * 2 if v is x else v, [T.exp(x)])
    >>> theano.pp(double)
    'exp((x * TensorConstant{2}))'
    """
    wanted = list(graphs)
    memo: dict[Variable, Variable] = {v: replacer(v) for v in inputs_of(wanted)}
    for node in toposort(wanted):
        op = _mapped_inside(replacer, node) if isinstance(node.op, (Scan, OpFromGraph)) else node.op
        given = [memo[v] for v in node.inputs]
        same = op is node.op and all(a is b for a, b in zip(given, node.inputs, strict=True))
        made = node.outputs if same else node.clone_with_new_inputs(given, strict=False).outputs
        if op is not node.op:
            made = op.make_node(*given).outputs
        for old, new in zip(node.outputs, made, strict=True):
            # The function is asked about the variable that it knows, whose tag and name are the program's.
            said = replacer(old)
            memo[old] = new if said is old else said
    return [memo[v] for v in wanted]


def _mapped_inside(replacer: Callable[[Any], Any], node: Apply[Any, Any]) -> Any:
    op = node.op
    inner, outputs = list(op.inner.inputs), list(op.inner.outputs)
    mapped = map_variables(replacer, outputs)
    if all(a is b for a, b in zip(mapped, outputs, strict=True)):
        return op
    foreign = [v for v in inputs_of(mapped) if v not in inner and not isinstance(v, Constant)]
    if foreign:
        raise NotImplementedError(f"what takes a place inside {op} needs {foreign[0]}, which is not one of its inputs")
    if isinstance(op, Scan):
        return Scan(op.spec, inner, mapped, op.name, op.mode, op.truncate, op.profile)
    return type(op)(inner, mapped)


def get_updates_and_outputs(ls: Any) -> tuple[Any, list[Any], OrderedDict[Any, Any]]:
    """Return the condition, the results and the updates of what the function of a step returned.

    Raises
    ------
    ValueError
        It is none of that.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dscalar("x")
    >>> get_updates_and_outputs([x, x])
    (None, [x, x], OrderedDict())
    """
    found = sort_returned(ls)
    return found.condition, list(found.outputs), OrderedDict(found.updates)


def isNaN_or_Inf_or_None(x: Any) -> bool:
    """Return whether something is None, a text, or a number, or the constant of one, that is not finite.

    Examples
    --------
    >>> isNaN_or_Inf_or_None(None), isNaN_or_Inf_or_None(float("nan")), isNaN_or_Inf_or_None(3)
    (True, True, False)
    """
    if x is None or isinstance(getattr(x, "data", x), str):
        return True
    try:
        return not np.all(np.isfinite(get_scalar_constant_value(x)))
    except (NotScalarConstantError, TypeError):
        return False


def expand_empty(tensor_var: Any, size: Any) -> Any:
    """Return a tensor with more rows at its end, whose content is not set.

    Parameters
    ----------
    tensor_var : tensor of shape (d1, d2, ...)
    size : int or scalar
        How many rows more.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> theano.function([x], expand_empty(x, 2).shape)([1, 2, 3])
    array([5])
    """
    if isinstance(size, int) and size == 0:
        return tensor_var
    rows, *lengths = (tensor_var.shape[i] for i in range(tensor_var.ndim))
    longer = AllocEmpty(tensor_var.dtype)(rows + size, *lengths)
    return set_subtensor(longer[:rows], tensor_var)


def infer_shape(outs: Sequence[Any], inputs: Sequence[Any], input_shapes: Sequence[Any]) -> list[Any]:
    """Return the lengths of outputs as expressions of those of the inputs.

    Parameters
    ----------
    outs, inputs : list of Variable
    input_shapes : list of tuples of scalars
        None for what has no shape.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, n = T.dvector("x"), T.lscalar("n")
    >>> infer_shape([T.exp(x)], [x], [(n,)])
    [(n,)]
    """
    equivalent = clone_get_equiv(list(inputs), list(outs))
    fgraph = FunctionGraph(inputs_of([equivalent[v] for v in outs]), [equivalent[v] for v in outs], clone=False)
    feature = ShapeFeature()
    fgraph.attach_feature(feature)
    found = [list(feature.lengths(equivalent[v])) if hasattr(v.type, "ndim") else None for v in outs]
    given = {equivalent[v]: (v, lengths) for v, lengths in zip(inputs, input_shapes, strict=True)}
    replace: dict[Any, Any] = {copy: v for copy, (v, _) in given.items()}
    for n in ancestors([n for lengths in found for n in lengths or ()]):
        if n.owner is not None and isinstance(n.owner.op, Shape_i) and n.owner.inputs[0] in given:
            lengths = given[n.owner.inputs[0]][1]
            replace[n] = n if lengths is None else lengths[n.owner.op.i]
    return [None if lengths is None else tuple(copy_expression(lengths, replace=replace)) for lengths in found]


class Validator:
    """Says which variables can be computed from those that are valid, and gives them in terms of these.

    Parameters
    ----------
    valid, invalid : list of Variable, optional
        Constants are always valid.
    valid_equivalent : dict from Variable to Variable, optional
        For invalid variables, valid ones that have the same value.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, y = T.dscalars("x", "y")
    >>> known = Validator(valid=[x], invalid=[y])
    >>> known.check(T.exp(x))[1], known.check(T.exp(y))
    (True, None)
    """

    def __init__(
        self,
        valid: Iterable[Variable] | None = None,
        invalid: Iterable[Variable] | None = None,
        valid_equivalent: dict[Variable, Variable] | None = None,
    ):
        self.valid, self.invalid = set(valid or ()), set(invalid or ())
        self.valid_equivalent = dict(valid_equivalent or {})
        self.valid.update(self.valid_equivalent.values())
        self.invalid.update(self.valid_equivalent)

    def check(self, out: Variable) -> tuple[Variable, bool] | None:
        """Return a variable in valid terms, and whether it is itself; None if it cannot be computed from them."""
        for v in [*(o for node in toposort([out], self.valid | self.invalid) for o in node.outputs), out]:
            if v not in self.valid and v not in self.invalid:
                self._judge(v)
        if out in self.valid:
            return out, True
        equivalent = self.valid_equivalent.get(out)
        return None if equivalent is None else (equivalent, False)

    def _judge(self, v: Variable) -> None:
        node = v.owner
        if node is None:
            (self.valid if isinstance(v, Constant) else self.invalid).add(v)
            return
        for given in node.inputs:
            if given not in self.valid and given not in self.invalid:
                self._judge(given)  # a leaf: what nodes compute was judged before
        if all(given in self.valid for given in node.inputs):
            self.valid.add(v)
            return
        self.invalid.add(v)
        if all(given in self.valid or given in self.valid_equivalent for given in node.inputs):
            made = node.clone_with_new_inputs([self.valid_equivalent.get(x, x) for x in node.inputs])
            self.valid_equivalent[v] = new = made.outputs[node.outputs.index(v)]
            self.valid.add(new)
