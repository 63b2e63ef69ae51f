"""ScalarOp: an operation on numbers, with a NumPy form, a C form and a gradient."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.errors import MethodNotDefined
from theano.gradient import DisconnectedType, grad_not_implemented
from theano.graph.apply import Apply
from theano.graph.op import CalledWith, Op
from theano.scalar import policy
from theano.scalar.c import support
from theano.scalar.cbody import CBody, CForm, choose, classic, estimate, expression, names_of_blocks
from theano.scalar.convert import as_scalar
from theano.scalar.ctypes import convert
from theano.scalar.dtypes import is_complex, is_discrete, promote
from theano.scalar.numpy_errors import NUMPY_ERRORS
from theano.scalar.registry import op as named_op
from theano.scalar.type import Scalar, ScalarApply, get_scalar_type

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Storage, Values
    from theano.graph.variable import Variable
    from theano.scalar.annotations import Number, NumberLike

ComputeRule = Callable[[tuple[str, ...], str], str]


def at_output(in_dtypes: tuple[str, ...], out_dtype: str) -> str:
    """Compute in the output's dtype: the inputs are converted to it first."""
    return out_dtype


def at_inputs(in_dtypes: tuple[str, ...], out_dtype: str) -> str:
    """Compute in the dtype in which the inputs meet: comparisons, real parts."""
    return promote(*in_dtypes)


def in_double(in_dtypes: tuple[str, ...], out_dtype: str) -> str:
    """Compute in float64: the C library's float versions are poor, or SciPy has none, or squares would overflow."""
    return "float64"


@lru_cache(maxsize=64)
def _name(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype, which NumPy puts together anew each time: it takes longer than to add two numbers."""
    return str(dtype.name)


def _signature(op: ScalarOp) -> inspect.Signature:
    """Return the arguments of an operation as its statement names them."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    named = [inspect.Parameter(name, kind) for name in op.arguments or "xyzabcdefgh"[: max(op.nin, 2)]]
    if op.nin < 0:
        named.append(inspect.Parameter("more", inspect.Parameter.VAR_POSITIONAL))
    return inspect.Signature(named)


class ScalarOp(Op):
    """An operation on numbers.

    Most are made by :func:`theano.scalar.scalar_op`, from one statement. A class derived by hand
    defines ``impl`` (on NumPy numbers), and ``grad`` or ``L_op``.

    Parameters
    ----------
    output_types_preference : callable, optional
        The rule from input types to output types, in place of the class's own.
    name : str, optional
        What the operation is called where graphs are printed.

    Attributes
    ----------
    nin, nout : int
        Numbers of inputs (-1: any) and outputs.
    commutative, associative : bool
    identity : number or None
        The value that changes nothing; what a reduction of no elements returns.
    ulp : float
        Bound on the distance between the C and the NumPy form, in units of the last place.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> class Twice(UnaryScalarOp):
    ...     def impl(self, x):
    ...         return x * 2
    ...     def grad(self, inputs, output_gradients):
    ...         return [output_gradients[0] * 2]
    >>> twice = Twice(ts.same_out, name="twice")
    >>> twice(ts.float64("x")).owner
    twice(x)
    >>> twice.numpy_form(["float64"])(np.array([1.0, 2.0]))
    array([2., 4.])
    """

    __signature__ = CalledWith(_signature)
    #: Also of a class whose constructor does not call this one's.
    name: str | None = None
    nin = -1
    nout = 1
    commutative = False
    associative = False
    identity: Any = None
    ulp: float = 4.0
    type_rule: Callable[..., tuple[Scalar, ...]] | None = None
    arguments: tuple[str, ...] = ()
    compute_rule: ComputeRule = staticmethod(at_output)
    numpy_function: Any = None
    c_form: CForm = None
    gradient_rule: Any = None
    holomorphic = True
    nfunc_spec: tuple[str, int, int] | None = None

    def __init__(self, output_types_preference: Callable[..., Any] | None = None, name: str | None = None):
        if output_types_preference is not None:
            if not callable(output_types_preference):
                raise TypeError(f"output_types_preference must be a function of types, not {output_types_preference!r}")
            self.output_types_preference = output_types_preference
        self.name = name

    # -- identity -----------------------------------------------------------------------------------

    def _key(self) -> tuple[Any, ...]:
        props = getattr(self, "__props__", ())
        return (self.__dict__.get("output_types_preference"), *[getattr(self, p) for p in props])

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self._key() == other._key())

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __str__(self) -> str:
        if self.name:
            return str(self.name)
        inside = ", ".join(f"{p}={getattr(self, p)}" for p in getattr(self, "__props__", ()) if p != "name")
        return type(self).__name__ + (f"{{{inside}}}" if inside else "")

    # -- types --------------------------------------------------------------------------------------

    def output_types(self, types: Sequence[Scalar]) -> list[Scalar]:
        """Return the types of the outputs for inputs of given types.

        Raises
        ------
        TypeError
            The operation does not take such inputs.
        """
        rule = self.__dict__.get("output_types_preference") or getattr(self, "output_types_preference", None)
        rule = rule or type(self).type_rule
        if rule is None:
            raise NotImplementedError(f"{self} says neither output_types_preference nor output_types")
        try:
            found = list(rule(*types))
        except TypeError as error:
            raise TypeError(f"{self} cannot take ({', '.join(map(str, types))}): {error}") from error
        return found

    def make_node(self, *inputs: NumberLike) -> Apply:
        """Return the node that applies this operation to numbers or scalar variables."""
        if self.nin >= 0 and len(inputs) != self.nin:
            raise TypeError(f"{self} takes {self.nin} input{'s' * (self.nin != 1)}, got {len(inputs)}: {list(inputs)}")
        scalars = [as_scalar(value) for value in inputs]
        outputs = [t() for t in self.output_types([s.type for s in scalars])]
        return Apply(self, scalars, outputs)

    # -- Python -------------------------------------------------------------------------------------

    def _numpy_callable(self) -> Any:
        function: Any = type(self).numpy_function
        if function is None and self.nfunc_spec is not None:
            function = self.nfunc_spec[0] if "." in self.nfunc_spec[0] else getattr(np, self.nfunc_spec[0])
        if isinstance(function, staticmethod):
            function = function.__func__
        if isinstance(function, str):
            # SciPy is named, not imported: only those who compute with it wait for it to load.
            module, _, attribute = function.rpartition(".")
            function = type(self).numpy_function = staticmethod(getattr(importlib.import_module(module), attribute))
            return function.__func__
        if function is None and type(self).impl is not ScalarOp.impl:
            return np.frompyfunc(self.impl, self.nin, self.nout) if self.nin >= 0 else self._fold_impl
        return function

    def _fold_impl(self, *arrays: Any) -> Any:
        return np.frompyfunc(self.impl, len(arrays), self.nout)(*arrays)

    def compute_dtype(self, in_dtypes: Sequence[str], out_dtype: str) -> str:
        """Return the dtype in which the operation computes: the inputs are converted to it ("": taken as they are)."""
        return type(self).compute_rule(tuple(in_dtypes), out_dtype)

    def numpy_form(self, out_dtypes: Sequence[str]) -> Callable[..., Any]:
        """Return the operation as a function of NumPy arrays that broadcast.

        Parameters
        ----------
        out_dtypes : list of str
            Dtypes of the outputs.

        Returns
        -------
        callable
            It returns a new array, or a tuple of them if there are several outputs. It warns of nothing:
            infinities and nan are values like others.

        Examples
        --------
        >>> import theano.scalar as ts
        >>> ts.int_div.numpy_form(["int8"])(np.int8([7, -7, 7]), np.int8([2, 2, 0]))
        array([ 3, -4,  0], dtype=int8)
        """
        function = self._numpy_callable()
        if function is None:
            raise MethodNotDefined("impl", type(self), str(self))
        by_statement = type(self).numpy_function is not None
        outs = tuple(np.dtype(d) for d in out_dtypes)
        conditions, ignored = type(self).conditions, type(self).ignored_inputs

        def convert_inputs(given: list[np.ndarray]) -> list[np.ndarray]:
            # float16 is a storage format: the result of several steps is rounded to it once, as in C.
            compute = self.compute_dtype([_name(a.dtype) for a in given], _name(outs[0])).replace("float16", "float32")
            for i, array in enumerate(given):
                if i in conditions or (compute and i not in ignored):
                    given[i] = array.astype("bool" if i in conditions else compute, copy=False)
            return given

        def form(*arrays: np.ndarray) -> Any:
            given = [np.asarray(a) for a in arrays]
            with np.errstate(**NUMPY_ERRORS):
                results = function(*(convert_inputs(given) if by_statement else given))
                results = (results,) if len(outs) == 1 else results
                converted = tuple(np.asarray(r).astype(d, copy=False) for r, d in zip(results, outs, strict=True))
            return converted[0] if len(outs) == 1 else converted

        return form

    def nfunc(self, *arrays: Any) -> Any:
        """Return the operation on arrays, with the output dtypes that their dtypes ask for."""
        types = [get_scalar_type(np.asarray(a).dtype.name) for a in arrays]
        return self.numpy_form([t.dtype for t in self.output_types(types)])(*arrays)

    def impl(self, *values: Any) -> Any:
        """Return the operation on NumPy numbers; a Python one counts as int64, float64 or complex128.

        Examples
        --------
        >>> import theano.scalar as ts
        >>> ts.add.impl(1.0, 2), ts.add.impl(np.int8(1), np.float32(2))
        (np.float64(3.0), np.float32(3.0))
        """
        numbers = [np.asarray(v) for v in values]
        outs = [t.dtype for t in self.output_types([get_scalar_type(n.dtype.name) for n in numbers])]
        results = self.numpy_form(outs)(*numbers)
        return results[()] if len(outs) == 1 else tuple(r[()] for r in results)

    def perform(self, node: ScalarApply, inputs: Values, output_storage: Storage) -> None:
        """Compute in Python."""
        dtypes = [output.type.dtype for output in node.outputs]
        if type(self).numpy_function is None and self.nfunc_spec is None:
            results = self.impl(*inputs)
            results = (results,) if len(dtypes) == 1 else results
        else:
            results = self.numpy_form(dtypes)(*inputs)
            results = (results,) if len(dtypes) == 1 else results
        for cell, value, dtype in zip(output_storage, results, dtypes, strict=True):
            cell[0] = np.asarray(value).astype(dtype, copy=False)[()]

    # -- C ------------------------------------------------------------------------------------------

    def c_statements(
        self,
        in_names: Sequence[str],
        in_dtypes: Sequence[str],
        out_names: Sequence[str],
        out_dtypes: Sequence[str],
    ) -> CBody | None:
        """Return the operation in C, or None where it has no C form for these dtypes.

        Parameters
        ----------
        in_names, out_names : list of str
            C expressions of the inputs and assignable C expressions of the outputs, of the compute
            types (:func:`theano.scalar.ctypes.compute_type`) of their dtypes.
        in_dtypes, out_dtypes : list of str

        Examples
        --------
        >>> import theano.scalar as ts
        >>> ts.add.c_statements(["x", "y"], ["int32", "float64"], ["z"], ["float64"]).lines
        ['z = (double)x + y;']
        """
        if type(self).c_code is not ScalarOp.c_code:
            node = Apply(self, [get_scalar_type(d)() for d in in_dtypes], [get_scalar_type(d)() for d in out_dtypes])
            halves_or_complex = any(d == "float16" or is_complex(d) for d in (*in_dtypes, *out_dtypes))
            return None if halves_or_complex else classic(self, node, in_names, out_names)
        compute = self.compute_dtype(in_dtypes, out_dtypes[0])
        template = choose(type(self).c_form, tuple(in_dtypes), compute)
        if template is None:
            return None
        given = list(zip(in_names, in_dtypes, strict=True))
        text: str | None
        if self.nin >= 0:
            truths = {self.arguments[i]: "bool" for i in type(self).conditions}
            own = {self.arguments[i]: in_dtypes[i] for i in type(self).ignored_inputs}
            text = expression(template, dict(zip(self.arguments, given, strict=True)), compute, truths | own)
        else:
            text = convert(*given[0], compute)
            for more in given[1:]:
                text = expression(template, {"x": (text, compute), "y": more}, compute) if text else None
        if text is None:
            return None
        line = f"{out_names[0]} = {text};"
        return CBody([line], support(names_of_blocks(line)))

    def work(self, in_dtypes: Sequence[str], out_dtypes: Sequence[str]) -> float:
        """Return about how many nanoseconds the C form takes for one element, for decisions about threads.

        Examples
        --------
        >>> import theano.scalar as ts
        >>> ts.add.work(["float64"] * 2, ["float64"]) < ts.exp.work(["float64"], ["float64"])
        True
        """
        names = [f"a{i}" for i in range(len(in_dtypes))]
        body = self.c_statements(names, in_dtypes, [f"z{i}" for i in range(len(out_dtypes))], out_dtypes)
        return 50.0 if body is None else estimate(body)

    def c_code(
        self, node: Apply, name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, Any]
    ) -> str:
        """Return the operation in C in the classic form: one string of statements.

        The blocks that it calls are in :meth:`c_support_code_apply`.
        """
        body = self._body(node, inputs, outputs)
        return "\n".join(body.lines)

    def c_support_code_apply(self, node: Apply, name: str) -> str:
        """Return the C blocks that :meth:`c_code` calls."""
        inputs = [f"i{i}" for i in range(len(node.inputs))]
        return "\n".join(self._body(node, inputs, [f"o{i}" for i in range(len(node.outputs))]).support)

    def _body(self, node: Node, inputs: Sequence[str], outputs: Sequence[str]) -> CBody:
        body = self.c_statements(
            inputs, [v.type.dtype for v in node.inputs], outputs, [v.type.dtype for v in node.outputs]
        )
        if body is None:
            raise MethodNotDefined("c_code", type(self), str(self))
        return body

    def supports_c_code(self, inputs: Sequence[Number], outputs: Sequence[Number]) -> bool:
        """Return whether there is a C form for scalar variables of these types."""
        ins, outs = [v.type.dtype for v in inputs], [v.type.dtype for v in outputs]
        names = [f"i{i}" for i in range(len(ins))]
        return self.c_statements(names, ins, [f"o{i}" for i in range(len(outs))], outs) is not None

    def c_code_cache_version(self) -> tuple[object, ...]:
        """Return the version of the C form; generated text is its own key, so it never changes."""
        return (1,)

    # -- gradient -----------------------------------------------------------------------------------

    def grad(self, inputs: Sequence[Number], output_gradients: Sequence[Number]) -> list[Variable]:
        if type(self).gradient_rule is None:
            raise MethodNotDefined("grad", type(self), str(self))
        return self.L_op(inputs, [self(*inputs)], output_gradients)

    def L_op(self, inputs: Operands, outputs: Operands, output_gradients: Operands) -> list[Any]:
        """Return the gradient with respect to each input, given the outputs.

        The inputs of an operation with discrete outputs get zeros, of ``floatX`` where they are discrete themselves.
        Other operations are differentiated with respect to discrete inputs as if those could be any number.
        The gradient of a real cost with respect to a complex number z is dC/d(re z) + i dC/d(im z).
        """
        rule = type(self).gradient_rule
        if rule is None:
            return list(self.grad(inputs, output_gradients))
        if all(is_discrete(output.type.dtype) for output in outputs):
            return [self._zero(x) for x in inputs]
        g = output_gradients[0]
        if isinstance(g.type, DisconnectedType):
            return [DisconnectedType()() for _ in inputs]
        with_complex = self.holomorphic and any(is_complex(v.type.dtype) for v in (*inputs, *outputs))
        if with_complex:
            g = named_op("conj")(g)
        found = rule(inputs, outputs[0], g) if self.nin < 0 else rule(*inputs, outputs[0], g)
        found = [found] if self.nin == 1 else list(found)
        return [self._finish(i, x, gx, with_complex) for i, (x, gx) in enumerate(zip(inputs, found, strict=True))]

    def _finish(self, index: int, x: Any, gx: Any, with_complex: bool) -> Any:
        """Turn what a gradient rule said about one input into a gradient."""
        if gx is disconnected:
            return DisconnectedType()()
        if gx is flat or (gx is not_implemented and is_discrete(x.type.dtype)):
            return self._zero(x)
        if gx is not_implemented:
            return grad_not_implemented(self, index, x)
        if with_complex:
            gx = named_op("conj")(gx) if is_complex(x.type.dtype) else named_op("real")(gx)
        return gx

    def _zero(self, x: Number) -> Number:
        return x.zeros_like(policy.floatx() if is_discrete(x.type.dtype) else None)

    def R_op(self, inputs: Operands, eval_points: Sequence[Number | None]) -> list[Variable | None]:
        """Return the derivative along a direction, from the gradient: each input's times its direction."""
        outputs: list[Any] = self.make_node(*inputs).outputs
        if all(point is None for point in eval_points):
            return [None] * len(outputs)
        directions: list[Any] = []
        for output in outputs:
            if is_discrete(output.type.dtype):
                directions.append(None)
                continue
            ones = [o.ones_like() if o is output else o.zeros_like() for o in outputs]
            slopes = [self._slope(s) for s in self.L_op(inputs, outputs, ones)]
            terms = [
                slope * point
                for slope, point in zip(slopes, eval_points, strict=True)
                if point is not None and not isinstance(slope.type, DisconnectedType)
            ]
            directions.append(reduce(lambda a, b: a + b, terms) if terms else output.zeros_like())
        return directions

    def _slope(self, gradient: Variable) -> Any:
        """Return the derivative whose conjugate a gradient is."""
        if not is_complex(getattr(gradient.type, "dtype", "")):
            return gradient
        if not self.holomorphic:
            raise MethodNotDefined("R_op", type(self), f"{self}, which is not complex differentiable,")
        return named_op("conj")(gradient)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        ignored = type(self).ignored_inputs
        return [[i not in ignored] * len(node.outputs) for i in range(len(node.inputs))]

    #: Indexes of inputs that lend only their form, as the first of ``second`` does.
    ignored_inputs: tuple[int, ...] = ()
    #: Indexes of inputs of which only the truth counts, as the first of ``switch``.
    conditions: tuple[int, ...] = ()


class _Mark:
    """What a gradient rule may say in place of an expression."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


flat = _Mark("flat")  # zero wherever it is defined
disconnected = _Mark("disconnected")  # the input's value is not used
not_implemented = _Mark("not_implemented")


class UnaryScalarOp(ScalarOp):
    """A scalar operation of one input.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> isinstance(ts.exp, UnaryScalarOp), isinstance(ts.add, UnaryScalarOp)
    (False, False)
    """

    nin = 1


class BinaryScalarOp(ScalarOp):
    """A scalar operation of two inputs.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> isinstance(ts.true_div, BinaryScalarOp)
    False
    """

    nin = 2
