"""``theano.vectorize`` and ``theano.vectorize_graph``: functions and graphs with any number of batch axes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from theano.batching import NoRuleError, batch, has_batch_axis
from theano.graph.clone import clone_replace
from theano.graph.traverse import toposort
from theano.graph.variable import Variable
from theano.tensor.batching.batched_node import repeated
from theano.tensor.control.checks import CheckedShape
from theano.tensor.convert import as_tensor_variable, is_tensor
from theano.tensor.create.alloc import alloc
from theano.tensor.elemwise.functions import eq
from theano.tensor.rows.op import map_rows
from theano.tensor.shape.basic import shape_i
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def vectorize_graph(outputs: Any, replace: Mapping[Tensor, Tensor]) -> Any:
    """Return expressions with some of their variables replaced by tensors that have batch axes in front.

    What ``outputs`` say of the variables is said of all elements along these axes at once, as NumPy's generalised
    functions do, by ops on tensors of more dimensions; what has no such form becomes a loop in the compiled function.
    What does not depend on the replaced variables stays as it is, and is computed once.

    Parameters
    ----------
    outputs : Variable or list of Variable
        The expressions.
    replace : dict from Variable to Variable
        For each variable what takes its place: of its dtype, with as many dimensions, or more of them on the left.
        These broadcast against each other. A length of 1 stretches where the type knows it, as everywhere.

    Returns
    -------
    Variable or list of Variable
        Those that depend on a variable with batch axes have batch axes too, on the left.

    Raises
    ------
    TypeError
        Something is not a variable, or a variable cannot take the place of another.
    ShapeError
        While the function runs: two batch axes are of different lengths.

    See Also
    --------
    theano.vectorize, theano.scan

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x, w = T.dvector("x"), T.dvector("w")
    >>> y = T.dot(x, w) + T.max(x)
    >>> X = T.dmatrix("X")
    >>> many = theano.vectorize_graph(y, {x: X})
    >>> theano.function([X, w], many)([[1, 2], [3, 4], [5, 6]], [1, 10])
    array([23., 47., 71.])
    """
    single = isinstance(outputs, Variable)
    wanted = [outputs] if single else list(outputs)
    for v in wanted:
        if not isinstance(v, Variable):
            raise TypeError(f"vectorize_graph: outputs must be variables, but there is {v!r}")
    if not isinstance(replace, Mapping):
        raise TypeError(f"vectorize_graph: replace must be a dictionary from variables to variables, not {replace!r}")
    new = {old: _replacement(old, v) for old, v in replace.items()}
    found = _batched(wanted, new)
    return found[0] if single else found


def _replacement(old: Tensor, new: TensorLike) -> Tensor:
    """Return ``new`` as a variable that can take the place of ``old``, or complain."""
    if not isinstance(old, Variable):
        raise TypeError(f"vectorize_graph: only variables can be replaced, not {old!r}")
    if not is_tensor(old):
        raise TypeError(f"vectorize_graph: {old} of type {old.type} is not a tensor, so it cannot have batch axes")
    try:
        new = as_tensor_variable(new)
    except TypeError as exc:
        raise TypeError(f"vectorize_graph: {new!r} cannot take the place of {old}: it is no variable") from exc
    problem = None
    if new.type.dtype != old.type.dtype:
        problem = f"the dtypes differ; {old.type.dtype} is needed (theano.tensor.cast)"
    elif new.type.ndim < old.type.ndim:
        problem = f"{old.type.ndim} dimensions or more are needed"
    else:
        core = new.type.broadcastable[new.type.ndim - old.type.ndim :]
        if any(one and not known for one, known in zip(old.type.broadcastable, core, strict=True)):
            problem = f"its last {old.type.ndim} dimensions must be known to be 1 where those of {old} are"
    if problem:
        raise TypeError(
            f"vectorize_graph: {new} of type {new.type} cannot take the place of {old} of type {old.type}: {problem}"
        )
    return new


def _batched(outputs: list[Any], replace: Mapping[Any, Any]) -> list[Any]:
    """Return ``outputs`` for replacements with any number of batch axes: the last axes first, one at a time."""
    extra = {old: new.type.ndim - old.type.ndim for old, new in replace.items()}
    count = max(extra.values(), default=0)
    if not count:
        return list(clone_replace(outputs, replace, strict=False)) if replace else outputs
    outermost = [old for old in replace if extra[old] == count]
    moving = [old for old in outermost if not replace[old].type.broadcastable[0]]
    inner, rows = dict(replace), {}
    for old in outermost:
        new = replace[old]
        kept = range(1, new.type.ndim)
        if old in moving:
            inner[old] = TensorType(new.type.dtype, new.type.broadcastable[1:])()
            rows[inner[old]] = new
        else:
            inner[old] = new.dimshuffle(*kept)
    steps = _batched(outputs, inner)
    met = _depend(outputs, outermost)
    if not moving:
        return [v.dimshuffle("x", *range(v.type.ndim)) if m else v for v, m in zip(steps, met, strict=True)]
    rows = _of_one_length(rows)
    n = next(iter(rows.values())).shape[0]
    found = []
    try:
        made = batch(steps, rows)
    except NoRuleError:
        # Something that is no tensor depends on the row, such as a slice: only one loop over all can compute it.
        made = map_rows(list(rows), list(rows.values()), steps, name="vectorize")
    for new, step, m in zip(made, steps, met, strict=True):
        found.append(repeated(new, n) if m and not has_batch_axis(new, step) else new)
    return found


def _depend(outputs: Sequence[Variable], on: Sequence[Variable]) -> list[bool]:
    reached = set(on)
    for node in toposort(outputs, on):
        if not reached.isdisjoint(node.inputs):
            reached.update(node.outputs)
    return [v in reached for v in outputs]


def _of_one_length(rows: Mapping[Tensor, Tensor]) -> dict[Any, Any]:
    """Return the tensors in ``rows``, checked to have first axes of one length."""
    first, *others = rows.values()
    checked = [first]
    for v in others:
        if v is not first:
            message = f"vectorize: batch axes of different lengths: an axis of {v} is not as long as that of {first}"
            v = CheckedShape(message)(v, eq(shape_i(v, 0), shape_i(first, 0)))
        checked.append(v)
    return dict(zip(rows, checked, strict=True))


def vectorize(func: Callable[..., Any], signature: str | None = None) -> Callable[..., Any]:
    """Return a function of tensors with batch axes, made of a function of variables without.

    Parameters
    ----------
    func : callable
        Takes variables; returns a variable, or a list or tuple of variables. It is called once each time that the
        returned function is, with variables that have the dimensions of ``signature``, and may use others as well.
    signature : str, optional
        The dimensions that ``func`` is for, in NumPy's notation: ``"(m,n),(n)->(m)"``. Without it, ``func`` is for
        numbers.

    Returns
    -------
    callable
        Takes tensors with the dimensions of the signature, and any number of others on their left, which broadcast
        against each other; returns what ``func`` does, with these on the left.

    See Also
    --------
    vectorize_graph : The same for a graph that is there already.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> norm = theano.vectorize(lambda v: T.sqrt(T.dot(v, v)), "(n)->()")
    >>> X = T.dtensor3("X")
    >>> norm(X).type
    TensorType(float64, matrix)
    >>> project = theano.vectorize(lambda A, v: T.dot(A, v), "(m,n),(n)->(m)")
    >>> A, V = T.dmatrix("A"), T.dmatrix("V")
    >>> theano.function([A, V], project(A, V))([[1, 2], [0, 1]], [[1, 1], [3, 0], [0, 1]])
    array([[3., 1.],
           [3., 0.],
           [2., 1.]])

    Without a signature, a function of numbers:

    >>> clipped = theano.vectorize(lambda a, b: T.switch(a < b, a, b))
    >>> x = T.dvector("x")
    >>> theano.function([x], clipped(x, 2.0))([1, 2, 3])
    array([1., 2., 2.])
    """
    if not callable(func):
        raise TypeError(f"vectorize: func must be a function of variables, not {func!r}")
    dims = None if signature is None else parse_signature(signature)

    def vectorized(*args: TensorLike) -> Variable | Sequence[Variable]:
        given = [as_tensor_variable(a) for a in args]
        cores = [()] * len(given) if dims is None else dims[0]
        if len(cores) != len(given):
            raise TypeError(f"vectorize: the signature {signature} is for {len(cores)} arguments, not for {len(given)}")
        rows = [_row(v, core, i, signature) for i, (v, core) in enumerate(zip(given, cores, strict=True))]
        result = func(*rows)
        many = isinstance(result, (list, tuple))
        outputs = [as_tensor_variable(v) for v in result] if many else [as_tensor_variable(result)]
        _check_outputs(outputs, None if dims is None else dims[1], signature)
        given = _cores_of_one_length(given, cores)
        made = _batched(outputs, dict(zip(rows, given, strict=True)))
        whole = [_with_all_axes(v, out.type.ndim, given, cores) for v, out in zip(made, outputs, strict=True)]
        if not many:
            return whole[0]
        return tuple(whole) if isinstance(result, tuple) else whole

    vectorized.__name__ = getattr(func, "__name__", "vectorized")
    vectorized.__doc__ = func.__doc__
    return vectorized


_CORE = r"\(\s*(?:\w+(?:\s*,\s*\w+)*)?\s*\)"
_CORES = rf"\s*{_CORE}(?:\s*,\s*{_CORE})*\s*"


def parse_signature(signature: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Return the names of the dimensions of each input, and of each output.

    Examples
    --------
    >>> parse_signature("(m,n),(n)->(m)")
    ([('m', 'n'), ('n',)], [('m',)])
    """
    if not re.fullmatch(rf"{_CORES}->{_CORES}", signature):
        raise ValueError(f"vectorize: {signature!r} is no signature; one is written as '(m,n),(n)->(m)'")
    left, right = (
        [tuple(re.findall(r"\w+", core)) for core in re.findall(_CORE, side)] for side in signature.split("->")
    )
    return left, right


def _row(v: Tensor, core: tuple[str, ...], i: int, signature: str | None) -> Tensor:
    if v.type.ndim < len(core):
        raise TypeError(
            f"vectorize: argument {i}, {v} of type {v.type}, has {v.type.ndim} dimensions, but the signature "
            f"{signature} asks for {len(core)} or more"
        )
    row = TensorType(v.type.dtype, v.type.broadcastable[v.type.ndim - len(core) :])()
    row.name = v.name
    return row


def _check_outputs(outputs: Sequence[Tensor], cores: list[tuple[str, ...]] | None, signature: str | None) -> None:
    if cores is None:
        return
    if len(outputs) != len(cores):
        raise ValueError(
            f"vectorize: the function returned {len(outputs)} variables, but the signature {signature} has {len(cores)}"
        )
    for k, (v, core) in enumerate(zip(outputs, cores, strict=True)):
        if v.type.ndim != len(core):
            raise ValueError(
                f"vectorize: the function returned {v} of type {v.type} as output {k}, which has {v.type.ndim} "
                f"dimensions, but the signature {signature} says {len(core)}"
            )


def _cores_of_one_length(given: Sequence[Tensor], cores: Sequence[tuple[str, ...]]) -> list[Tensor]:
    """Return the arguments, checked to be equally long where the signature has one name."""
    seen: dict[str, Tensor] = {}
    checked = []
    for v, core in zip(given, cores, strict=True):
        conditions = []
        for k, name in enumerate(core):
            length = shape_i(v, v.type.ndim - len(core) + k)
            if name in seen:
                conditions.append(eq(length, seen[name]))
            else:
                seen[name] = length
        message = f"vectorize: a dimension of {v} is not as long as others of its name in the signature"
        checked.append(CheckedShape(message)(v, *conditions) if conditions else v)
    return checked


def _with_all_axes(v: Tensor, ndim: int, given: Sequence[Tensor], cores: Sequence[tuple[str, ...]]) -> Tensor:
    """Return a result with the batch axes of all arguments together, which it may not depend on."""
    counts = [a.type.ndim - len(core) for a, core in zip(given, cores, strict=True)]
    count = max(counts, default=0)
    lengths = []
    stretched = False
    own = v.type.ndim - ndim
    for k in range(count):
        axes = [(a, k - count + c) for a, c in zip(given, counts, strict=True) if k - count + c >= 0]
        known = next(((a, i) for a, i in axes if not a.type.broadcastable[i]), axes[0])
        lengths.append(shape_i(*known))
        place = k - count + own
        has = place >= 0 and (not v.type.broadcastable[place] or known[0].type.broadcastable[known[1]])
        stretched = stretched or not has
    if not stretched:
        return v
    return alloc(v, *lengths, *(shape_i(v, own + i) for i in range(ndim)))
