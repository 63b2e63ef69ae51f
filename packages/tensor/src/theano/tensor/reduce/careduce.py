"""CAReduce: the elements along some axes, combined by a scalar operation that is commutative and associative."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError, MethodNotDefined
from theano.gradient import DisconnectedType, Rop, grad
from theano.graph import Apply, Constant, Op
from theano.scalar.numpy_errors import NUMPY_ERRORS
from theano.scalar.ufuncs import neutral, ufunc_of
from theano.tensor.compound import Compound
from theano.tensor.convert import as_tensor_variable, constant, gradient_dtype
from theano.tensor.elemwise.functions import cast, conjugate, eq, neq, second, sqr, switch
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.elemwise.scalars import mul_without_zeros
from theano.tensor.messages import shape_error
from theano.tensor.reduce.axes import kept, normalize_axes, plain_axes, restore_axes
from theano.tensor.type import TensorApply, TensorType, dtype_name

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Storage, Value, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Axis, Directions, Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


class CAReduce(Op):
    """A tensor reduced along axes by a scalar op of two inputs.

    Parameters
    ----------
    scalar_op : ScalarOp
        Commutative and associative: ``add``, ``mul``, ``maximum``, ``minimum``, ``and_``, ``or_``, ``xor``; or
        a class written by hand, for which its author answers.
    axis : int, sequence of int or None
        What to reduce; None for everything.
    may_be_empty : bool
        What nothing gives where it is undefined otherwise, as of ``maximum``: the number that no element changes
        (for ``maximum`` minus infinity, or the least integer), or an error.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CAReduce(scal.maximum, axis=(0,))(T.dmatrix("m")).owner
    Reduce{maximum}{0}(m)
    >>> CAReduce(scal.maximum, may_be_empty=True)(T.zeros(0)).eval()
    array(-inf)
    """

    __props__: tuple[str, ...] = ("scalar_op", "axis", "may_be_empty")
    may_be_empty = False
    #: The dtype in which the kernel accumulates, and the dtype of the result; None for those of the input.
    acc_dtype: str | None = None
    dtype: str | None = None

    def __init__(self, scalar_op: Any, axis: Any = None, may_be_empty: bool = False):
        if scalar_op.nout != 1 or scalar_op.nin not in (-1, 2):
            raise NotImplementedError(f"a reduction needs a scalar op of two inputs and one output, not {scalar_op}")
        if isinstance(scalar_op, scal.DefinedOp) and not (scalar_op.commutative and scalar_op.associative):
            raise NotImplementedError(
                f"a reduction combines elements in any order and any groups, but {scalar_op} depends on them: "
                "it is not commutative and associative. Scan steps through elements in order."
            )
        self.scalar_op = scalar_op
        self.axis = plain_axes(axis)
        if may_be_empty:
            self.may_be_empty = True

    @property
    def ufunc(self) -> Any:
        """What NumPy calls the scalar op."""
        return ufunc_of(self.scalar_op)

    def __str__(self) -> str:
        empty = "{may_be_empty}" if self.may_be_empty else ""
        if self.axis is None:
            return f"Reduce{{{self.scalar_op}}}{empty}"
        return f"Reduce{{{self.scalar_op}}}{{{', '.join(map(str, self.axis))}}}{empty}"

    # -- building ------------------------------------------------------------------------------------

    def _with(self, axis: tuple[int, ...] | None, x: Variable) -> CAReduce:
        """Return this op with its axes counted from 0."""
        return self if axis == self.axis else type(self)(*self._arguments(axis))

    def _arguments(self, axis: tuple[int, ...] | None) -> tuple[Any, ...]:
        return (self.scalar_op, axis, self.may_be_empty)

    def _output_dtype(self, idtype: str) -> str:
        return idtype

    def make_node(self, x: TensorLike) -> Apply:
        """Return the node; axes and dtypes that were left open are settled in its op."""
        x = as_tensor_variable(x)
        if self.may_be_empty and neutral(self.scalar_op, x.type.dtype) is None:
            raise TypeError(f"{self}: no number is neutral for {self.scalar_op}, so there must be elements to reduce")
        axis = normalize_axes(self.axis, x.type.ndim)
        op = self._with(axis, x)
        gone = range(x.type.ndim) if axis is None else axis
        pattern = [b for i, b in enumerate(x.type.broadcastable) if i not in gone]
        return Apply(op, [x], [TensorType(op._output_dtype(x.type.dtype), pattern).make_variable()])

    def axes_of(self, ndim: int) -> tuple[int, ...]:
        """Return the axes that go, for an input of ``ndim`` dimensions."""
        return tuple(range(ndim)) if self.axis is None else self.axis

    # -- computing -----------------------------------------------------------------------------------

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Reduce with NumPy."""
        (x,) = inputs
        axes = self.axes_of(x.ndim)
        out_dtype = np.dtype(node.outputs[0].type.dtype)
        ufunc = self.ufunc
        if getattr(ufunc, "identity", None) is None and any(x.shape[a] == 0 for a in axes):
            if not self.may_be_empty:
                raise shape_error(
                    node, inputs, f"no element to reduce along axis {[a for a in axes if x.shape[a] == 0]}.",
                    f"The {self.scalar_op} of nothing is undefined: give `initial`, which counts as an element.",
                )
            out = np.full([n for i, n in enumerate(x.shape) if i not in axes], neutral(self.scalar_op, x.dtype.name))
        elif not axes:
            out = x.astype(out_dtype)
        elif len(getattr(ufunc, "types", ())) > 1:  # NumPy's own, which are of several dtypes
            acc = np.dtype(self.acc_dtype or out_dtype)
            with np.errstate(**NUMPY_ERRORS):
                out = self._reduce(ufunc, x, axes, acc)
        else:
            out = x
            for axis in sorted(axes, reverse=True):
                out = ufunc.reduce(out, axis=axis)
        with np.errstate(**NUMPY_ERRORS):
            output_storage[0][0] = np.asarray(out, dtype=out_dtype)

    def _reduce(self, ufunc: Any, x: np.ndarray, axes: tuple[int, ...], acc: np.dtype[Any]) -> Any:
        return ufunc.reduce(x, axis=axes, dtype=acc)

    # -- what the graph knows ------------------------------------------------------------------------

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the lengths that stay."""
        gone = self.axes_of(node.inputs[0].type.ndim)
        return [tuple(n for i, n in enumerate(shapes[0]) if i not in gone)]

    def static_value(self, node: TensorApply, index: int, ask: Callable[..., object]) -> Value:
        """Return the input's value where only dimensions of length 1 go."""
        x = node.inputs[0]
        if all(x.type.broadcastable[a] for a in self.axes_of(x.type.ndim)):
            return np.asarray(ask(x), dtype=node.outputs[0].type.dtype)
        return None

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient of sums, products, maxima and minima; each winner gets all of it."""
        (x,) = inputs
        if outputs[0].type.dtype in scal.discrete_dtypes:
            return [x.zeros_like(dtype=gradient_dtype(outputs[0].type.dtype))]
        named = self._named(outputs[0].type.dtype)
        if named is not None:
            return named.L_op(inputs, outputs, output_grads)
        out, g = restore_axes(outputs[0], x, self.axes_of(x.type.ndim)), restore_axes(
            output_grads[0], x, self.axes_of(x.type.ndim)
        )
        return [eq(x, out) * g]

    def _named(self, dtype: str) -> CAReduce | None:
        """Return the op that knows the derivative of this one: None if this one does."""
        if getattr(self.scalar_op, "selects", False):
            return None
        if self.scalar_op not in (scal.add, scal.mul):
            raise MethodNotDefined("grad", type(self), str(self))
        return (Sum if self.scalar_op == scal.add else Prod)(self.axis, dtype, self.acc_dtype or dtype)

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the direction of a sum or product, or of the winners."""
        (x,) = inputs
        if eval_points[0] is None or x.type.dtype in scal.discrete_dtypes:
            return [None]
        named = self._named(self._output_dtype(x.type.dtype))
        if named is not None:
            return named.R_op(inputs, eval_points)
        axes = self.axes_of(x.type.ndim)
        out = restore_axes(self(x), x, axes)
        return [(eq(x, out) * eval_points[0]).sum(axis=axes)]


class All(CAReduce):
    """Whether all elements along the axes are true.

    Examples
    --------
    >>> import theano.tensor as T
    >>> All(axis=0)(T.constant([[True, False], [True, True]])).eval()
    array([ True, False])
    """

    __props__ = ("axis",)

    def __init__(self, axis: Any = None):
        super().__init__(scal.and_, axis)

    def __str__(self) -> str:
        return type(self).__name__ + ("" if self.axis is None else f"{{{', '.join(map(str, self.axis))}}}")

    def _arguments(self, axis: tuple[int, ...] | None) -> tuple[Any, ...]:
        return (axis,)

    def _output_dtype(self, idtype: str) -> str:
        return "bool"

    def make_node(self, x: TensorLike) -> Apply:
        """Return the node; what is not bool is compared with 0 first."""
        x = as_tensor_variable(x)
        if x.type.dtype != "bool":
            x = neq(x, 0)
        return super().make_node(x)


class Any_(All):
    """Whether any element along the axes is true.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Any_(axis=0)(T.constant([[False, False], [True, False]])).eval()
    array([ True, False])
    """

    __props__ = ("axis",)
    canonical_name = "Any_"  # where to find it: it is shown as Any, which is another thing here

    def __init__(self, axis: Axis = None):
        CAReduce.__init__(self, scal.or_, axis)


Any_.__name__ = Any_.__qualname__ = "Any"


class Max(CAReduce):
    """The largest element along the axes; NaN if there is one.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Max(1)(T.constant([[1, 9], [7, 5]])).eval()
    array([9, 7])
    """

    __props__ = ("axis", "may_be_empty")

    def __init__(self, axis: Any = None, may_be_empty: bool = False):
        super().__init__(scal.maximum, axis, may_be_empty)

    def _arguments(self, axis: tuple[int, ...] | None) -> tuple[Any, ...]:
        return (axis, self.may_be_empty)


class Min(Max):
    """The smallest element along the axes; NaN if there is one.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Min(1)(T.constant([[1, 9], [7, 5]])).eval()
    array([1, 5])
    """

    __props__ = ("axis", "may_be_empty")

    def __init__(self, axis: Axis = None, may_be_empty: bool = False):
        CAReduce.__init__(self, scal.minimum, axis, may_be_empty)


_WIDE = {
    "float16": "float32",
    "float32": "float64",
    "complex64": "complex128",
    **dict.fromkeys(("bool", "int8", "int16", "int32"), "int64"),
    **dict.fromkeys(("uint8", "uint16", "uint32"), "uint64"),
}


def sum_dtype(dtype: str) -> str:
    """Return the dtype of sums of a dtype: bool and integers become those of 64 bits, with or without a sign.

    Examples
    --------
    >>> sum_dtype("int8"), sum_dtype("float32")
    ('int64', 'float32')
    """
    return _WIDE.get(dtype, dtype) if dtype[0] in "biu" else dtype


#: Reductions with everything settled: a graph asks for few different ones, and for those often.
_settled: dict[Any, Any] = {}


class CAReduceDtype(CAReduce):
    """A reduction that may accumulate and answer in other dtypes than that of its input.

    Parameters
    ----------
    scalar_op : ScalarOp
    axis : int, sequence of int or None
    dtype : str, optional
        Of the result. Small integers and bool become int64 (uint64 from unsigned) where it is not given,
        the rest stays as it is.
    acc_dtype : str, optional
        In which partial results are held. Where it is not given, the wider of ``dtype`` and: float32 for
        float16, float64 for float32, complex128 for complex64, int64 or uint64 for integers.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CAReduceDtype(T.scal.add, axis=0, dtype="int64")(T.constant([[1, 2], [3, 4]])).eval()
    array([4, 6])
    """

    __props__: tuple[str, ...] = ("scalar_op", "axis", "dtype", "acc_dtype")

    def __init__(self, scalar_op: Op, axis: Any = None, dtype: str | None = None, acc_dtype: str | None = None):
        super().__init__(scalar_op, axis)
        self.dtype = dtype
        self.acc_dtype = acc_dtype

    def __str__(self) -> str:
        name = type(self).__name__
        if type(self) is CAReduceDtype:
            name = f"CAReduceDtype{{{self.scalar_op}}}"
        axis = "" if self.axis is None else f"axis=[{', '.join(map(str, self.axis))}], "
        return f"{name}{{{axis}acc_dtype={self.acc_dtype}}}"

    def _arguments(self, axis: tuple[int, ...] | None) -> tuple[Any, ...]:
        return (self.scalar_op, axis, self.dtype, self.acc_dtype)

    def _with(self, axis: tuple[int, ...] | None, x: Any) -> CAReduce:
        """Return this op with axes and both dtypes settled for an input."""
        dtype = _resolve(self.dtype, x.type.dtype, sum_dtype)
        acc = _resolve(self.acc_dtype, x.type.dtype, lambda d: _widest(_WIDE.get(d, d), dtype))
        _check_conversion(self, x.type.dtype, acc, "acc_dtype")
        if (axis, dtype, acc) == (self.axis, self.dtype, self.acc_dtype):
            return self
        key = (type(self), *self._arguments(axis), dtype, acc)
        settled = _settled.get(key)
        if settled is None:
            settled = type(self)(*self._arguments(axis))
            settled.dtype, settled.acc_dtype = dtype, acc
            _settled[key] = settled
        return settled

    def _output_dtype(self, idtype: str) -> str:
        assert self.dtype is not None
        return self.dtype


def _resolve(given: str | None, idtype: str, default: Callable[[str], str]) -> str:
    if given is None:
        return default(idtype)
    return dtype_name(given)


def _widest(acc: str, dtype: str) -> str:
    """Return the accumulator for a result of ``dtype``: never narrower than the result itself."""
    return scal.upcast(acc, dtype) if dtype[0] in "fc" or acc[0] in "fc" else acc


def _check_conversion(op: CAReduceDtype, idtype: str, acc: str, what: str) -> None:
    widens = scal.upcast(idtype, acc) == acc
    # Any float counts as wide enough for whole numbers, as everywhere.
    if not widens and not (idtype in scal.discrete_dtypes and acc in scal.continuous_dtypes):
        raise TypeError(f"{op}: {what}={acc} cannot hold values of dtype {idtype}. Cast the input, or give another.")


class Sum(CAReduceDtype):
    """The sum of the elements along the axes.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Sum(axis=0)(T.fmatrix("m")).owner
    Sum{axis=[0], acc_dtype=float64}(m)
    """

    __props__ = ("axis", "dtype", "acc_dtype")
    nfunc_spec = ("sum", 1, 1)

    def __init__(self, axis: Axis = None, dtype: str | None = None, acc_dtype: str | None = None):
        super().__init__(scal.add, axis, dtype, acc_dtype)

    def _arguments(self, axis: tuple[int, ...] | None) -> tuple[Any, ...]:
        return (axis, self.dtype, self.acc_dtype)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient, the same for each element of a sum."""
        (x,) = inputs
        if outputs[0].type.dtype[0] in "biu":
            return [x.zeros_like(dtype=gradient_dtype(outputs[0].type.dtype))]
        g = restore_axes(output_grads[0], x, self.axes_of(x.type.ndim))
        if x.type.dtype in scal.float_dtypes and g.type.dtype in scal.float_dtypes:
            g = cast(g, x.type.dtype)  # a sum may be wider than what it sums
        return [second(x, g)]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the sum of the direction; a sum of whole numbers does not move."""
        whole = inputs[0].type.dtype in scal.discrete_dtypes
        return [None if eval_points[0] is None or whole else self(eval_points[0])]


class Prod(CAReduceDtype):
    """The product of the elements along the axes.

    Parameters
    ----------
    axis, dtype, acc_dtype
        As for :class:`CAReduceDtype`.
    no_zeros_in_input : bool
        A promise that no element is 0, which makes the gradient a plain division.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Prod(1)(T.constant([[1, 9], [7, 5]])).eval()
    array([ 9, 35])
    """

    __props__ = ("axis", "dtype", "acc_dtype", "no_zeros_in_input")
    nfunc_spec = ("prod", 1, 1)

    def __init__(
        self, axis: Any = None, dtype: str | None = None, acc_dtype: str | None = None, no_zeros_in_input: bool = False
    ):
        super().__init__(scal.mul, axis, dtype, acc_dtype)
        self.no_zeros_in_input = no_zeros_in_input

    def _arguments(self, axis: tuple[int, ...] | None) -> tuple[Any, ...]:
        return (axis, self.dtype, self.acc_dtype, self.no_zeros_in_input)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return for each element the gradient times the product of the others, also where some elements are 0."""
        (x,) = inputs
        if outputs[0].type.dtype[0] in "biu":
            return [x.zeros_like(dtype=gradient_dtype(outputs[0].type.dtype))]
        axes = self.axes_of(x.type.ndim)
        g = restore_axes(output_grads[0], x, axes)
        product = restore_axes(outputs[0], x, axes)
        if self.no_zeros_in_input:
            return [g * conjugate(product) / conjugate(x)]
        return [g * conjugate(ProductOfOthers(axes, self.dtype, self.acc_dtype)(x, product))]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the gradient dotted with the direction."""
        if eval_points[0] is None:
            return [None]
        out = self(inputs[0])
        (gradient,) = self.L_op(inputs, [out], [out.ones_like()])
        return [(conjugate(gradient) * eval_points[0]).sum(axis=self.axes_of(inputs[0].type.ndim))]


class ProdWithoutZeros(CAReduceDtype):
    """The product of the elements along the axes that are not 0.

    It is what the gradient of a product with one zero is made of.

    Examples
    --------
    >>> import theano.tensor as T
    >>> ProdWithoutZeros(1)(T.constant([[0, 9], [7, 5]])).eval()
    array([ 9, 35])
    """

    __props__ = ("axis", "dtype", "acc_dtype")

    def __init__(
        self, axis: int | tuple[int, ...] | None = None, dtype: str | None = None, acc_dtype: str | None = None
    ):
        super().__init__(mul_without_zeros, axis, dtype, acc_dtype)

    def _arguments(self, axis: tuple[int, ...] | None) -> tuple[Any, ...]:
        return (axis, self.dtype, self.acc_dtype)

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Multiply with NumPy, a 1 standing for each 0."""
        (x,) = inputs
        ones = np.where(x == 0, np.ones((), dtype=x.dtype), x)
        out = np.multiply.reduce(ones, axis=self.axes_of(x.ndim), dtype=self.acc_dtype)
        output_storage[0][0] = np.asarray(out, dtype=node.outputs[0].type.dtype)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient; an element that is 0 has none."""
        (x,) = inputs
        if outputs[0].type.dtype[0] in "biu":
            return [x.zeros_like(dtype=gradient_dtype(outputs[0].type.dtype))]
        axes = self.axes_of(x.type.ndim)
        g, product = restore_axes(output_grads[0], x, axes), restore_axes(outputs[0], x, axes)
        zero = eq(x, 0)
        return [switch(zero, x.zeros_like(), g * conjugate(product) / switch(zero, x.ones_like(), conjugate(x)))]

    R_op = Prod.R_op


class ProductOfOthers(Compound):
    """For each element, the product of the others along the axes: the derivative of a product.

    It divides the product by the element, and knows what to do where that is 0. Its own derivative cannot be read off
    such a choice of cases: a case that is worth 0 need not stay 0 when an element leaves 0. So that is taken from
    :meth:`smooth`, which is worth the same.
    """

    __props__ = ("axis", "dtype", "acc_dtype")

    def __init__(self, axis: tuple[int, ...], dtype: str | None = None, acc_dtype: str | None = None):
        self.axis, self.dtype, self.acc_dtype = axis, dtype, acc_dtype

    def expression(self, x: Tensor, product: Tensor) -> Variable:
        """Return the products, given that of all elements."""
        zero = eq(x, 0)
        zeros = restore_axes(zero.sum(axis=self.axis), x, self.axis)
        rest = restore_axes(ProdWithoutZeros(self.axis, self.dtype, self.acc_dtype)(x), x, self.axis)
        # With one zero only that element has a gradient; with two or more, none has.
        return switch(eq(zeros, 0), product / x, switch(eq(zeros, 1) & zero, rest, product.zeros_like()))

    def smooth(self, x: Tensor) -> Variable:
        """Return the same products in a form that can be differentiated twice more where elements are 0.

        The others that are not 0 make a product that one may divide by. The others that are 0 make an elementary
        symmetric polynomial: 1 if none of them is, their sum if one is, and so on.
        """
        zero = eq(x, 0)
        safe = switch(zero, x.ones_like(), x)
        rest = restore_axes(Prod(self.axis, self.dtype, self.acc_dtype, no_zeros_in_input=True)(safe), x, self.axis)
        few = switch(zero, x, x.zeros_like())  # worth 0 everywhere, but not constant

        def of_others(v: Any) -> Tensor:
            return restore_axes(v.sum(axis=self.axis), x, self.axis) - v

        others = of_others(cast(zero, "int64"))
        pairs = (sqr(of_others(few)) - of_others(sqr(few))) / 2
        third = switch(eq(others, 2), pairs, x.zeros_like())
        return rest / safe * switch(eq(others, 0), x.ones_like(), switch(eq(others, 1), of_others(few), third))

    def connection_pattern(self, node: Node) -> list[list[bool]]:
        """Return that the product of all is only a help."""
        return [[True], [False]]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient of the smooth form."""
        return [grad(None, inputs[0], known_grads={self.smooth(inputs[0]): output_grads[0]}), DisconnectedType()()]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the direction of the smooth form."""
        x, along = inputs[0], eval_points[0]
        return [None if along is None else Rop(self.smooth(x), x, along)]


def reduced(op: CAReduce, x: Variable, axis: Axis, keepdims: bool, initial: TensorLike | None = None) -> Tensor:
    """Return what a reduction makes of ``x`` and of ``initial``, a number that counts as one more element."""
    out = kept(x, op(x), axis, keepdims)
    if initial is None:
        return out
    first = _in_dtype(initial, out.type.dtype)
    if isinstance(first, Constant) and first.data == neutral(op.scalar_op, out.type.dtype):
        return out
    return Elemwise(op.scalar_op)(first, out)


def _in_dtype(initial: TensorLike, dtype: str) -> Tensor:
    """Return an initial number in the dtype of a result, if that has it."""
    v = as_tensor_variable(initial)
    if v.type.ndim:
        raise ArgumentError(f"initial is a number, not a tensor of {v.type.ndim} dimensions")
    if isinstance(v, Constant):
        limits = np.iinfo(dtype) if dtype in scal.integer_dtypes else None
        if limits is None or (limits.min <= v.data <= limits.max and v.data == int(v.data)):
            return constant(v.data.astype(dtype))
    elif scal.upcast(v.type.dtype, dtype) == dtype:
        return cast(v, dtype)
    raise TypeError(f"initial={v} is no number of dtype {dtype}, which the reduction has")
