"""Elemwise: a scalar operation, applied to each element of tensors that broadcast against each other."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.graph import Apply, Constant, Op, Variable
from theano.graph.canonical import register_form
from theano.graph.documentation import Documentation
from theano.graph.op import CalledWith
from theano.records import NamedTuple
from theano.settings import config
from theano.tensor.convert import as_tensor_variable, is_tensor, length_if_known, static_element
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.messages import describe, shape_error
from theano.tensor.type import Tensor, TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Value, Values
    from theano.tensor.annotations import Directions, Index, Shape, Shapes, Tensors


class frozendict(Mapping[Any, Any]):
    """A dictionary that cannot change, so that it can be part of an op's identity.

    Examples
    --------
    >>> frozendict({0: 1}) == {0: 1}, hash(frozendict({0: 1})) == hash(frozendict({0: 1}))
    (True, True)
    """

    def __init__(self, *args: Any, **kwargs: object):
        self._items = dict(*args, **kwargs)

    def __setstate__(self, state: dict[str, Value]) -> None:
        self._items = dict(state["_items"] if "_items" in state else state["_dict"])  # as pickles may have it

    def __getitem__(self, key: Index) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)

    def copy(self, **changes: Any) -> frozendict:
        """Return a frozendict with ``changes`` made."""
        return frozendict(self._items, **changes)


register_form(frozendict, "frozendict", dict, frozendict)


class _Known(NamedTuple):
    """The output's type of an operation of ours for inputs of some types, which are kept, so that they stay these."""

    scalar_op: scal.DefinedOp
    inputs: list[TensorType]
    output: TensorType


_KNOWN: dict[tuple[int, ...], _Known] = {}  #: by the identities of operation and types, which are cheaper to look up
_MOST_KNOWN = 4096


def _remember(
    kind: tuple[int, ...], scalar_op: scal.DefinedOp, given: list[Tensor], aligned: list[Tensor], output: TensorType
) -> None:
    """Keep the type of an output, unless a flag may change it (of whole numbers) or inputs got more dimensions."""
    if any(a is not b or a.type.dtype in scal.discrete_dtypes for a, b in zip(aligned, given, strict=True)):
        return
    if len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.clear()
    _KNOWN[kind] = _Known(scalar_op, [x.type for x in given], output)


class Elemwise(Op):  # noqa: D101  (below, as a descriptor: its instances have documentation of their own)
    __doc__ = Documentation("""A scalar op, element by element.

    Parameters
    ----------
    scalar_op : ScalarOp
        What is done with one element of each input.
    inplace_pattern : dict from int to int, optional
        For an output, the input whose memory it takes over.
    name : str, optional
        What to call the op; not part of its identity.
    nfunc_spec : tuple, optional
        Accepted for programs that name the NumPy function; the scalar op knows its own.
    openmp : bool, optional
        Accepted and without effect: how work is spread over threads is the machine's business.

    Notes
    -----
    Inputs of fewer dimensions get new ones of length 1 on the left. A dimension stretches only where its type
    says that it has length 1: two lengths that differ at run time are an error, not a broadcast.

    Examples
    --------
    >>> import theano.tensor as T
    >>> add = Elemwise(scal.add)
    >>> add, add(T.dmatrix("m"), T.dvector("v")).owner
    (Elemwise{add}, Elemwise{add}(m, InplaceDimShuffle{x,0}.0))
    """, "theano.tensor.elemwise.documentation:document")  # fmt: skip

    __props__ = ("scalar_op", "inplace_pattern")
    __signature__ = CalledWith(lambda op: inspect.signature(op.scalar_op))
    #: Where programs find this op, for its documentation, if it is not ``T.`` and its name.
    shown_as = ""

    def __init__(
        self,
        scalar_op: Any,
        inplace_pattern: Mapping[int, int] | None = None,
        name: str | None = None,
        nfunc_spec: Any = None,
        openmp: bool | None = None,
    ):
        self.scalar_op = scalar_op
        self.inplace_pattern = frozendict(inplace_pattern or {})
        self.name = name
        self.nfunc_spec = nfunc_spec
        self.destroy_map = {o: [i] for o, i in self.inplace_pattern.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Pickles may have a dictionary, which has no hash.
        self.inplace_pattern = frozendict(state["inplace_pattern"])

    @property
    def nin(self) -> int:
        """Number of inputs; -1 where it is free."""
        return int(self.__dict__.get("nin", self.scalar_op.nin))

    @nin.setter
    def nin(self, count: int) -> None:
        self.__dict__["nin"] = count

    @property
    def nout(self) -> int:
        """Number of outputs."""
        return int(self.__dict__.get("nout", self.scalar_op.nout))

    @nout.setter
    def nout(self, count: int) -> None:
        self.__dict__["nout"] = count

    def __str__(self) -> str:
        if self.name:
            return self.name
        if self.inplace_pattern:
            # Theano shows the class here: Elemwise{Add}[(0, 0)], beside Elemwise{add,no_inplace}.
            scalar_op = self.scalar_op
            shown = type(scalar_op).__name__ if isinstance(scalar_op, scal.DefinedOp) else scalar_op
            return f"Elemwise{{{shown}}}{sorted(self.inplace_pattern.items())}"
        return f"Elemwise{{{self.scalar_op}}}"

    def checked_inputs(self, node: TensorApply) -> tuple[int, ...]:
        """Return that nothing but shapes can be wrong."""
        return ()

    def get_output_info(
        self, dim_shuffle: Any, *inputs: Tensor
    ) -> tuple[list[str], list[list[bool]], list[Tensor]]:
        """Return the dtypes and broadcast patterns of the outputs, and the inputs brought to one number of dimensions.

        Parameters
        ----------
        dim_shuffle : callable
            Makes the op that adds dimensions, from a broadcast pattern and an order.
        *inputs : Variable
        """
        if not inputs:
            raise TypeError(f"{self} takes one input or more, got none")
        if self.nin >= 0 and len(inputs) != self.nin:
            raise TypeError(f"{self} takes {self.nin} inputs, got {len(inputs)}: {list(inputs)}")
        ndim = max(x.type.ndim for x in inputs)
        aligned = []
        for x in inputs:
            missing = ndim - x.type.ndim
            if missing:
                x = dim_shuffle(x.type.broadcastable, ["x"] * missing + [*range(x.type.ndim)])(x)
            aligned.append(x)
        patterns = [x.type.broadcastable for x in aligned]
        pattern = [all(flags) for flags in zip(*patterns, strict=True)]
        scalar_types = [scal.get_scalar_type(x.type.dtype) for x in aligned]
        dtypes = [t.dtype for t in self.scalar_op.output_types(scalar_types)]
        for o, i in self.inplace_pattern.items():
            if list(patterns[i]) != pattern:
                raise ValueError(
                    f"{self}: output {o} cannot take over the memory of input {i}, which is broadcast:\n"
                    + "\n".join(describe(x) for x in aligned)
                )
            if dtypes[o] != aligned[i].type.dtype:
                raise TypeError(
                    f"{self}: output {o} has dtype {dtypes[o]} and cannot take over the memory of input {i}, "
                    f"of dtype {aligned[i].type.dtype}"
                )
        return dtypes, [list(pattern) for _ in dtypes], aligned

    def make_node(self, *inputs: Any) -> Apply:
        """Return the node, its inputs brought to one number of dimensions."""
        given = [as_tensor_variable(x) for x in inputs]
        plain = type(self) is Elemwise and not self.inplace_pattern
        kind = (id(self.scalar_op), *[id(x.type) for x in given])
        known = _KNOWN.get(kind) if plain else None
        if known is not None:
            return Apply(self, given, [known.output.make_variable()])
        dtypes, patterns, aligned = self.get_output_info(DimShuffle, *given)
        types = [TensorType(d, p) for d, p in zip(dtypes, patterns, strict=True)]
        if plain and len(types) == 1 and isinstance(self.scalar_op, scal.DefinedOp):
            _remember(kind, self.scalar_op, given, aligned, types[0])
        return Apply(self, aligned, [t.make_variable() for t in types])

    # -- computing ---------------------------------------------------------------------------------

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compute with the NumPy form of the scalar op."""
        shape = self._broadcast_shape(node, inputs)
        results = self._compute(inputs, [o.type.dtype for o in node.outputs])
        for i, (cell, value) in enumerate(zip(output_storage, results, strict=True)):
            target = self.inplace_pattern.get(i)
            if target is not None:
                inputs[target][...] = value
                cell[0] = inputs[target]
                continue
            if value.shape != shape:
                value = np.broadcast_to(value, shape)
            # A NumPy form may hand an input back (real of a real, a cast to the same dtype).
            if not value.flags.writeable or any(np.may_share_memory(value, x) for x in inputs):
                value = value.copy()
            cell[0] = value

    def _compute(self, inputs: Sequence[Any], dtypes: Sequence[str]) -> Sequence[np.ndarray]:
        results = self.scalar_op.numpy_form(dtypes)(*inputs)
        return (results,) if self.nout == 1 else results

    def _broadcast_shape(self, node: TensorApply, inputs: Sequence[Any]) -> tuple[int, ...]:
        """Return the shape of the outputs; raise ShapeError where two inputs disagree."""
        shape = [1] * node.outputs[0].type.ndim
        for axis in range(len(shape)):
            known: int | None = None
            for variable, value in zip(node.inputs, inputs, strict=True):
                if variable.type.broadcastable[axis]:
                    continue
                length = value.shape[axis]
                if known is not None and length != known:
                    raise shape_error(
                        node, inputs,
                        f"Input dimension mismatch along axis {axis}: {known} against {length}.",
                        "A length of 1 stretches only where the type knows it: use a row, a col, or T.addbroadcast(x, "
                        f"{axis}).",
                    )
                known = length
            if known is not None:
                shape[axis] = known
        return tuple(shape)

    # -- what the graph knows ------------------------------------------------------------------------

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return for each axis the length of an input that is not broadcast along it."""
        result = []
        for axis in range(node.outputs[0].type.ndim):
            sources = [
                s[axis] for x, s in zip(node.inputs, shapes, strict=True) if not x.type.broadcastable[axis]
            ]
            result.append(sources[0] if sources else shapes[0][axis])
        return [tuple(result) for _ in node.outputs]

    def static_value(self, node: TensorApply, index: int, ask: Callable[..., object]) -> Value:
        """Return the value of the output where each input is one known number."""
        if self.scalar_op == scal.second:
            return ask(node.inputs[1])
        values = [np.asarray(ask(x), dtype=x.type.dtype) for x in node.inputs]
        return self._compute(values, [o.type.dtype for o in node.outputs])[index]

    def static_length(self, node: TensorApply, index: int) -> int | None:
        """Return the length of a vector, if that of an input is known."""
        lengths = [length_if_known(x) for x in node.inputs if not x.type.broadcastable[0]]
        return next((n for n in lengths if n is not None), None)

    def static_element(self, node: TensorApply, k: int, ask: Callable[..., object]) -> Value:
        """Return element ``k`` of a vector, where those of the inputs are known."""
        pairs = [(x, 0 if x.type.broadcastable[0] else k) for x in node.inputs]
        if self.scalar_op == scal.second:
            return static_element(*pairs[1], ask)
        values = [static_element(x, place, ask) for x, place in pairs]
        if len(node.outputs) > 1 or any(value is None for value in values):
            return None
        dtypes = [x.type.dtype for x in node.inputs]
        known = [np.asarray(value, dtype=dtype) for value, dtype in zip(values, dtypes, strict=True)]
        return self._compute(known, [node.outputs[0].type.dtype])[0]

    def connection_pattern(self, node: TensorApply) -> Sequence[Sequence[bool]]:
        """Return which inputs have an influence on which outputs."""
        return self.scalar_op.connection_pattern(node)

    # -- derivatives ---------------------------------------------------------------------------------

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the scalar op's gradient, element by element, summed where an input was broadcast."""
        gradients = self._elementwise_gradients(inputs, outputs, output_grads)
        result = []
        for x, gradient in zip(inputs, gradients, strict=True):
            if gradient is not None and is_tensor(gradient):
                stretched = [
                    axis
                    for axis, one in enumerate(x.type.broadcastable)
                    if one and not outputs[0].type.broadcastable[axis]
                ]
                if stretched:
                    gradient = gradient.sum(axis=stretched, keepdims=True)
            result.append(gradient)
        return result

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the sum over the inputs of partial derivative times direction."""
        outputs = self(*inputs, return_list=True)
        result: list[Any] = []
        for i, output in enumerate(outputs):
            if output.type.dtype in scal.discrete_dtypes:
                result.append(None)  # not 0, which times an infinite derivative is NaN
                continue
            others = [o.zeros_like() for o in outputs]
            ones = output.ones_like()
            total = self._along(inputs, outputs, [*others[:i], ones, *others[i + 1 :]], eval_points)
            if total is not None and output.type.dtype in scal.complex_dtypes:
                # The gradients of the imaginary part, by real and imaginary parts, begin with i.
                unit = ones * np.asarray(1j, output.type.dtype)
                total = total + unit * self._along(inputs, outputs, [*others[:i], unit, *others[i + 1 :]], eval_points)
            result.append(total)
        return result

    def _along(
        self, inputs: Sequence[Variable], outputs: Sequence[Tensor], seeds: Sequence[Tensor], eval_points: Sequence[Any]
    ) -> Any:
        """Return the derivative of a real number along a direction, from its gradients by the outputs; None if 0."""
        total = None
        gradients = self._elementwise_gradients(inputs, outputs, seeds)
        for gradient, point in zip(gradients, eval_points, strict=True):
            if gradient is None or point is None or not is_tensor(gradient):
                continue
            term = gradient * point
            if gradient.type.dtype in scal.complex_dtypes:
                term = Elemwise(scal.real)(Elemwise(scal.conj)(gradient) * point)
            total = term if total is None else total + term
        return total

    def _elementwise_gradients(
        self, inputs: Sequence[Any], outputs: Sequence[Variable], grads: Sequence[Any]
    ) -> list[Any]:
        """Return what the scalar op says of each input, translated from scalars to tensors."""
        stand_ins, answers = _scalar_gradients(self.scalar_op, inputs, grads)
        known = dict(zip(stand_ins, [*inputs, *outputs, *grads], strict=True))
        ndim = max(x.type.ndim for x in inputs)
        return [a if a is None else _lift(a, known, ndim) for a in answers]


_Gradients = tuple[list[Variable], list[Any]]
_known_gradients: dict[Any, _Gradients] = {}


def _scalar_gradients(op: Op, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> _Gradients:
    """Return scalars that stand for the inputs, outputs and output gradients, and the gradients in terms of them.

    What an op that is a statement says depends on dtypes and flags alone, and is asked once.
    """
    key = None
    # Where an exponent is a number, powers say what they say of that number.
    numbers = [_number(x) if op == scal.pow else None for x in inputs]
    if isinstance(op, scal.DefinedOp) and all(map(is_tensor, grads)):
        policies = config.floatX, config.cast_policy, config.int_division
        key = op, *(x.type.dtype for x in inputs), *(g.type.dtype for g in grads), *policies, *numbers
        if key in _known_gradients:
            return _known_gradients[key]
    scalar_inputs = [_stand_in(x.type.dtype, number) for x, number in zip(inputs, numbers, strict=True)]
    scalar_outputs = op.make_node(*scalar_inputs).outputs
    scalar_grads = [_scalar_stand_in(g) for g in grads]
    with config.change_flags(compute_test_value="off"):  # stand-ins have no value
        answers = op.L_op(scalar_inputs, scalar_outputs, scalar_grads)
    found = [*scalar_inputs, *scalar_outputs, *scalar_grads], list(answers)
    # What is not a number speaks of one variable, and is made for each.
    if key is not None and all(a is not None and isinstance(a.type, scal.Scalar) for a in answers):
        _known_gradients[key] = found
    return found


def _number(x: Tensor) -> Any:
    """Return the number that a variable is, stretched or not; None if it is no constant."""
    while x.owner is not None and isinstance(x.owner.op, DimShuffle):
        x = x.owner.inputs[0]
    return x.data.item() if isinstance(x, Constant) and x.data.size == 1 else None


def _stand_in(dtype: str, number: object = None) -> Variable:
    kind = scal.get_scalar_type(dtype)
    return kind.make_variable() if number is None else kind.make_constant(number)


def _scalar_stand_in(gradient: Tensor) -> Variable:
    if is_tensor(gradient):
        return _stand_in(gradient.type.dtype)
    return gradient.type.make_variable()


_lifted_ops: dict[Any, Elemwise] = {}


def _lifted(op: Op) -> Elemwise:
    """Return the Elemwise of a scalar op; the same one each time for those that are a statement."""
    if not isinstance(op, scal.DefinedOp):
        return Elemwise(op)
    found = _lifted_ops.get(op)
    if found is None or str(found.scalar_op) != str(op):
        found = _lifted_ops[op] = Elemwise(op)
    return found


def _lift(scalar: Variable, known: dict[Variable, Variable], ndim: int) -> Any:
    """Return the tensor expression for a scalar one: each scalar op becomes its Elemwise."""
    stack = [scalar]
    while stack:
        v = stack[-1]
        if v in known:
            stack.pop()
        elif not isinstance(v.type, scal.Scalar):
            known[v] = v  # disconnected or undefined: says nothing of shapes
        elif isinstance(v, Constant):
            value = as_tensor_variable(np.asarray(v.data, dtype=v.type.dtype))
            known[v] = DimShuffle((), ["x"] * ndim)(value)
        elif v.owner is not None:
            missing = [i for i in v.owner.inputs if i not in known]
            if missing:
                stack.extend(missing)
                continue
            made = _lifted(v.owner.op)(*[known[i] for i in v.owner.inputs], return_list=True)
            known.update(zip(v.owner.outputs, made, strict=True))
    return known[scalar]
