"""Shape, Shape_i, SpecifyShape, Rebroadcast: the lengths of dimensions, and statements about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile.expression import lengths
from theano.compile.registered_code import Code, CodeByType
from theano.gradient import DisconnectedType
from theano.graph import Apply, Constant, Variable
from theano.tensor.control.checks import CheckedLength, equal
from theano.tensor.convert import as_tensor_variable, static_int
from theano.tensor.messages import shape_error
from theano.tensor.type import TensorApply, TensorType, rebroadcaster

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Value, Values
    from theano.tensor.annotations import Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


class Shape(CodeByType):
    """The lengths of the dimensions of a value, as a vector of int64.

    It works for each type whose values have a ``shape``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Shape()(T.zeros((2, 3))).eval()
    array([2, 3])
    """

    __props__ = ()
    linear_in = ()

    def make_node(self, x: Variable) -> Apply:
        x = x if isinstance(x, Variable) else as_tensor_variable(x)
        return Apply(self, [x], [TensorType("int64", (False,)).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Ask the value."""
        output_storage[0][0] = np.asarray(np.shape(inputs[0]), dtype="int64")

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[tuple[Tensor, ...]]:
        """Return the number of dimensions."""
        return [(as_tensor_variable(np.int64(node.inputs[0].type.ndim)),)]

    def static_length(self, node: TensorApply, index: int) -> int:
        """Return the number of dimensions."""
        return node.inputs[0].type.ndim

    def static_element(self, node: TensorApply, k: int, ask: Callable[..., object]) -> Value:
        """Return 1 along a broadcastable dimension, or the length of a constant."""
        x: Tensor = node.inputs[0]
        if isinstance(x, Constant):
            return np.asarray(np.shape(x.data)[k], dtype="int64")
        return np.asarray(1, dtype="int64") if x.type.broadcastable[k] else None

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that lengths do not depend on elements."""
        return [[False]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return a disconnected gradient."""
        return [DisconnectedType()()]


shape_op = Shape()


def _with_lengths(x: Variable) -> Any:
    """Return ``x`` as a variable of a type with dimensions, which need not be that of tensors."""
    return x if isinstance(x, Variable) and hasattr(x.type, "ndim") else as_tensor_variable(x)


def shape(x: Variable) -> Tensor:
    """Return the lengths of the dimensions of ``x``, as a vector of int64.

    Parameters
    ----------
    x : tensor
        Of any shape.

    Returns
    -------
    TensorVariable
        A vector with an element for each dimension.

    See Also
    --------
    get_vector_length, reshape, specify_shape, numpy.shape

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.shape(T.dmatrix("m"))
    Shape.0
    """
    return shape_op(x)


class Shape_i(CodeByType):
    """The length of one dimension.

    Parameters
    ----------
    i : int
        Which dimension.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Shape_i(1)(T.zeros((2, 3))).eval()
    array(3)
    """

    __props__ = ("i",)
    is_length = True
    linear_in = ()
    shapes = "->"

    def __init__(self, i: Any):
        self.i = int(i.data) if isinstance(i, Constant) else int(i)

    def __str__(self) -> str:
        return f"Shape_i{{{self.i}}}"

    def make_node(self, x: Tensor) -> Apply:
        x = _with_lengths(x)
        if not 0 <= self.i < x.type.ndim:
            raise TypeError(f"{x} of type {x.type} has {x.type.ndim} dimensions, so no dimension {self.i}")
        return Apply(self, [x], [TensorType("int64", ()).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Ask the value."""
        output_storage[0][0] = np.asarray(inputs[0].shape[self.i], dtype="int64")

    def fill_in(self, code: Code, names: dict[str, Any], inputs: Sequence[str]) -> str:
        """Return the check of the input, unless it is not wanted, and the text."""
        names["i"] = self.i
        return (code.check % names + "\n" if self.check_input is not False else "") + code.text % names

    def static_value(self, node: TensorApply, index: int, ask: Callable[..., object]) -> Value:
        """Return 1 along a broadcastable dimension, or the length of a constant."""
        x: Tensor = node.inputs[0]
        if isinstance(x, Constant):
            return np.asarray(np.shape(x.data)[self.i], dtype="int64")
        return np.asarray(1, dtype="int64") if x.type.broadcastable[self.i] else None

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that lengths do not depend on elements."""
        return [[False]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return a disconnected gradient."""
        return [DisconnectedType()()]


def shape_i_op(i: int) -> Shape_i:
    """Return the op for the length of dimension ``i``."""
    return Shape_i(i)


def shape_i(var: Any, i: int, fgraph: object = None) -> Tensor:
    """Return the length of dimension ``i`` of ``var``, in the cheapest form that is known.

    Parameters
    ----------
    var : Variable
        The tensor.
    i : int
        The number of the dimension, from 0.
    fgraph : FunctionGraph, optional
        A graph with shape inference attached, asked first.

    Returns
    -------
    TensorVariable
        A scalar of dtype int64.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.row("x")
    >>> shape_i(x, 0).eval(), shape_i(x, 1).eval({x: np.zeros((1, 3))})
    (array(1), array(3))
    """
    feature = getattr(fgraph, "shape_feature", None)
    if feature is not None and var in feature.shape_of:
        return feature.shape_of[var][i]
    if var.type.broadcastable[i]:
        return as_tensor_variable(np.int64(1))
    return Shape_i(i)(var)


def shape_tuple(x: Any) -> tuple[Any, ...]:
    """Return the lengths of ``x`` one by one; 1 as a constant where the type knows it."""
    return tuple(shape_i(x, i) for i in range(x.type.ndim))


@lengths.register
def _lengths(x: Variable) -> tuple[Variable, ...] | None:
    return shape_tuple(x) if hasattr(x.type, "ndim") else None


class SpecifyShape(CodeByType):
    """The input itself, with lengths that it is checked to have.

    Parameters
    ----------
    x : tensor
        Of any shape.
    shape : sequence of int or int scalars, or vector of int
        The lengths that it has. Another length is an error of the call.

    Returns
    -------
    TensorVariable
        ``x`` itself.

    See Also
    --------
    shape, reshape, patternbroadcast

    Examples
    --------
    >>> import theano.tensor as T
    >>> m = T.dmatrix("m")
    >>> specify_shape(m, (2, 1)).eval({m: [[1.0], [2.0]]})
    array([[1.],
           [2.]])
    """

    __props__ = ()
    view_map = {0: [0]}
    linear_in = (0,)

    def make_node(self, x: Any, shape: Any) -> Apply:
        x, shape = _with_lengths(x), as_tensor_variable(shape)
        if isinstance(shape, Constant) and shape.type.ndim == 1 and len(shape.data) != x.type.ndim:
            raise AssertionError(f"specify_shape: {x} has {x.type.ndim} dimensions, but {len(shape.data)} are given")
        if shape.type.ndim != 1 or shape.type.dtype not in _INTEGERS:
            raise TypeError(f"specify_shape needs a whole number for each dimension, not {shape} of {shape.type}")
        return Apply(self, [x, shape], [x.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Check the lengths."""
        x, wanted = inputs
        if x.ndim != len(wanted) or tuple(x.shape) != tuple(wanted):
            raise AssertionError(
                str(shape_error(node, inputs, f"expected shape {tuple(map(int, wanted))}, got {x.shape}.",
                                "Pass a value of that shape, or correct the shape given to specify_shape."))
            )
        output_storage[0][0] = x

    def fill_in(self, code: Code, names: dict[str, str], inputs: Sequence[str]) -> str:
        """Return the text, in which ``%(shape)s`` is the vector of lengths."""
        return code.text % {**names, "shape": inputs[1]}

    def infer_shape(self, node: TensorApply, shapes: Sequence[Sequence[Tensor]]) -> list[tuple[Tensor, ...]]:
        """Return the lengths of the input, checked to be those given; as constants where these are known."""
        wanted = [node.inputs[1][i] for i in range(node.inputs[0].type.ndim)]
        known = [static_int(n) for n in wanted]
        open_ = [
            condition
            for n, k, own in zip(wanted, known, shapes[0], strict=True) if k is None or static_int(own) != k
            for condition in equal(n, own)
        ]  # fmt: skip
        lengths = [s if k is None else as_tensor_variable(np.int64(k)) for k, s in zip(known, shapes[0], strict=True)]
        if not open_:
            return [tuple(lengths)]
        check = _SpecifiedLength("specify_shape: the value has another shape.")
        return [tuple(check(n, *open_) for n in lengths)]

    def static_value(self, node: TensorApply, index: int, ask: Callable[..., object]) -> Value:
        """Return the input's value."""
        return ask(node.inputs[0])

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that the lengths given have no influence on the elements."""
        return [[True], [False]]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient, of the same shape."""
        return [self(output_grads[0], inputs[1]), DisconnectedType()()]


class _SpecifiedLength(CheckedLength):
    """A length of what :class:`SpecifyShape` lets through."""

    error = AssertionError


_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
specify_shape = SpecifyShape()


class Rebroadcast(CodeByType):
    """The input itself, known or no longer known to have length 1 along some axes.

    Parameters
    ----------
    *axis : (int, bool)
        Pairs of a dimension and whether it is broadcastable.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Rebroadcast((0, True))(T.dmatrix("m")).type
    TensorType(float64, row)
    """

    __props__ = ("items",)
    view_map = {0: [0]}
    linear_in = (0,)

    def __init__(self, *axis: tuple[int, bool]):
        self.axis = {int(i): bool(b) for i, b in axis}
        self.items = tuple(sorted(self.axis.items()))
        for i, b in axis:
            if int(i) < 0 or not isinstance(b, (bool, np.bool_)):
                raise TypeError(f"Rebroadcast needs pairs of a dimension and a bool, not {(i, b)!r}")

    def __setstate__(self, state: dict[str, Value]) -> None:
        Rebroadcast.__init__(self, *state["axis"].items())  # pickles may have the axes alone

    def __str__(self) -> str:
        if not self.items:
            shown = ""
        elif len({b for _, b in self.items}) == 1:
            shown = f"{','.join(str(i) for i, _ in self.items)}:{'1' if self.items[0][1] else '0'}"
        else:
            shown = ",".join(f"{i}:{int(b)}" for i, b in self.items)
        return f"Rebroadcast{{{shown}}}"

    def make_node(self, x: TensorLike) -> Apply:
        x = as_tensor_variable(x)
        if self.axis and x.type.ndim <= max(self.axis):
            raise ValueError(f"{self}: {x} has only {x.type.ndim} dimensions")
        pattern = [self.axis.get(i, b) for i, b in enumerate(x.type.broadcastable)]
        return Apply(self, [x], [x.type.clone(broadcastable=pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Check the lengths that must be 1."""
        (x,) = inputs
        for axis, one in self.items:
            if one and x.shape[axis] != 1:
                raise shape_error(
                    node, inputs, f"dimension {axis} was said to be broadcastable, but has length {x.shape[axis]}.",
                    "Remove the addbroadcast (or patternbroadcast), or pass a value of length 1 there.",
                )
        output_storage[0][0] = x

    def fill_in(self, code: Code, names: dict[str, str], inputs: Sequence[str]) -> str:
        """Return the text once for each ``%(axis)s`` whose length must be 1, then let the value through."""
        checks = [code.text % {**names, "axis": axis} for axis, one in self.items if one]
        let = "Py_XDECREF(%(oname)s);\n%(oname)s = %(iname)s;\nPy_XINCREF(%(oname)s);" % names  # noqa: UP031
        return "\n".join([*checks, let])

    def infer_shape(self, node: TensorApply, shapes: Sequence[Sequence[Tensor]]) -> list[tuple[Tensor, ...]]:
        """Return the lengths of the input, 1 where it is said so and checked."""
        one = as_tensor_variable(np.int64(1))
        lengths = [one if self.axis.get(i) else n for i, n in enumerate(shapes[0])]
        said = [n for i, n in enumerate(shapes[0]) if self.axis.get(i) and static_int(n) != 1]
        open_ = [condition for n in said for condition in equal(n, one)]
        if not open_:
            return [tuple(lengths)]
        check = CheckedLength("a dimension was said to be broadcastable, but has another length than 1.")
        return [tuple(check(n, *open_) for n in lengths)]

    def static_value(self, node: TensorApply, index: int, ask: Callable[..., object]) -> Value:
        """Return the input's value."""
        return ask(node.inputs[0])

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient under the input's pattern."""
        flags = zip(self.axis, (inputs[0].type.broadcastable[i] for i in self.axis), strict=True)
        return [Rebroadcast(*flags)(output_grads[0])]


def patternbroadcast(x: Any, broadcastable: Sequence[bool]) -> Tensor:
    """Return ``x`` with the given broadcast pattern.

    Parameters
    ----------
    x : tensor
        Of any shape.
    broadcastable : sequence of bool
        For each dimension, whether its length is known to be 1; checked at run time where that is new. Dimensions
        past its end stay as they are.

    Returns
    -------
    TensorVariable
        ``x`` under another type.

    See Also
    --------
    addbroadcast, unbroadcast

    Examples
    --------
    >>> import theano.tensor as T
    >>> patternbroadcast(T.dmatrix(), (True, False)).broadcastable
    (True, False)
    """
    x = as_tensor_variable(x)
    if len(broadcastable) > x.type.ndim:
        raise ValueError(f"{x} has {x.type.ndim} dimensions, the pattern {tuple(broadcastable)} {len(broadcastable)}")
    pairs = zip(broadcastable, x.type.broadcastable, strict=False)
    changed = [(i, bool(b)) for i, (b, old) in enumerate(pairs) if bool(b) != old]
    return Rebroadcast(*changed)(x) if changed else x


rebroadcaster.register(patternbroadcast)


def addbroadcast(x: TensorLike, *axes: int) -> Tensor:
    """Return ``x``, known to have length 1 along ``axes``.

    Parameters
    ----------
    x : tensor
        Of any shape.
    *axes : int
        Which axes.

    Returns
    -------
    TensorVariable
        ``x`` under another type. A length that is not 1 is an error of the call.

    See Also
    --------
    unbroadcast, patternbroadcast

    Examples
    --------
    >>> import theano.tensor as T
    >>> addbroadcast(T.dmatrix("m"), 0).type
    TensorType(float64, row)
    """
    return _with_flags(x, axes, True)


def unbroadcast(x: TensorLike, *axes: int) -> Tensor:
    """Return ``x`` with axes that no longer count as having length 1, so that they do not stretch.

    Parameters
    ----------
    x : tensor
        Of any shape.
    *axes : int
        Which axes.

    Returns
    -------
    TensorVariable
        ``x`` under another type.

    See Also
    --------
    addbroadcast, patternbroadcast

    Examples
    --------
    >>> import theano.tensor as T
    >>> unbroadcast(T.drow(), 0).broadcastable
    (False, False)
    """
    return _with_flags(x, axes, False)


def _with_flags(x: TensorLike, axes: Sequence[int], flag: bool) -> Tensor:
    x = as_tensor_variable(x)
    for axis in axes:
        if not -x.type.ndim <= axis < x.type.ndim:
            raise ValueError(f"{x} of type {x.type} has no axis {axis}")
    chosen = {axis % x.type.ndim for axis in axes}
    return patternbroadcast(x, [flag if i in chosen else b for i, b in enumerate(x.type.broadcastable)])



# -- the C of users' types ------------------------------------------------------------------------------------


def register_shape_c_code(type: type, code: str, version: tuple[int, ...] = ()) -> None:
    """Say in C what the shape of values of a class of types is: a vector of int64.

    Parameters
    ----------
    type : class of Type
        The class.
    code : str
        ``%(iname)s`` and ``%(oname)s`` stand for the variables, ``%(fail)s`` for what to do when something is wrong.
    version : tuple
        For the cache of compiled code; without one it is compiled in each process anew.

    Examples
    --------
    >>> from theano.graph import Type
    >>> class Words(Type):
    ...     "Tuples of words."
    >>> count = "npy_intp n = 1; %(oname)s = (PyArrayObject*)PyArray_SimpleNew(1, &n, NPY_INT64);"
    >>> count += "*(npy_int64*)PyArray_DATA(%(oname)s) = PyTuple_GET_SIZE(py_%(iname)s);"
    >>> register_shape_c_code(Words, count, version=(1,))
    """
    Shape.code_of[type] = Code(code, version)


def register_shape_i_c_code(typ: type, code: str, check_input: str, version: tuple[int, ...] = ()) -> None:
    """Say in C what the length ``%(i)s`` of values of a class of types is; ``check_input`` sees that there is one.

    Parameters
    ----------
    typ : class of Type
        The class.
    code : str
        ``%(iname)s`` and ``%(oname)s`` stand for the variables, ``%(fail)s`` for what to do when something is wrong.
    check_input : str
        C that refuses a dimension that is not there.
    version : tuple
        For the cache of compiled code; without one it is compiled in each process anew.

    Examples
    --------
    >>> from theano.graph import Type
    >>> class Words(Type):
    ...     "Tuples of words."
    >>> check = 'if (%(i)s != 0) { PyErr_SetString(PyExc_TypeError, "one dimension"); %(fail)s }'
    >>> count = "%(oname)s = (PyArrayObject*)PyArray_SimpleNew(0, NULL, NPY_INT64);"
    >>> count += "*(npy_int64*)PyArray_DATA(%(oname)s) = PyTuple_GET_SIZE(py_%(iname)s);"
    >>> register_shape_i_c_code(Words, count, check, version=(1,))
    """
    Shape_i.code_of[typ] = Code(code, version, check_input)


def register_specify_shape_c_code(
    typ: type, code: str, version: tuple[int, ...] = (), c_support_code_apply: str | None = None
) -> None:
    """Say in C how values of a class of types are let through if their lengths are those in ``%(shape)s``.

    Parameters
    ----------
    typ : class of Type
        The class.
    code : str
        ``%(iname)s`` and ``%(oname)s`` stand for the variables, ``%(fail)s`` for what to do when something is wrong.
    version : tuple
        For the cache of compiled code; without one it is compiled in each process anew.
    c_support_code_apply : str, optional
        C for before the function.

    Examples
    --------
    >>> from theano.graph import Type
    >>> class Words(Type):
    ...     "Tuples of words."
    >>> let_through = "Py_XDECREF(py_%(oname)s); py_%(oname)s = Py_NewRef(py_%(iname)s);"
    >>> register_specify_shape_c_code(Words, let_through, version=(1,))
    """
    SpecifyShape.code_of[typ] = Code(code, version, support=c_support_code_apply)


def register_rebroadcast_c_code(typ: type, code: str, version: tuple[int, ...] = ()) -> None:
    """Say in C what to check along ``%(axis)s`` that is said to have length 1.

    Parameters
    ----------
    typ : class of Type
        The class.
    code : str
        ``%(iname)s`` and ``%(oname)s`` stand for the variables, ``%(fail)s`` for what to do when something is wrong.
    version : tuple
        For the cache of compiled code; without one it is compiled in each process anew.

    Examples
    --------
    >>> from theano.graph import Type
    >>> class Words(Type):
    ...     "Tuples of words."
    >>> one = 'if (PyTuple_GET_SIZE(py_%(iname)s) != 1) { PyErr_SetString(PyExc_ValueError, "several"); %(fail)s }'
    >>> register_rebroadcast_c_code(Words, one, version=(1,))
    """
    Rebroadcast.code_of[typ] = Code(code, version)
