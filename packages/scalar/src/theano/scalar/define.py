"""scalar_op: an operation is one statement.

From the statement follow the class, its instance, the documentation with an example that runs,
the comparisons of NumPy and C over dtypes, and the gradient tests.
"""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import canonical
from theano.scalar.base import ComputeRule, ScalarOp, at_output, flat
from theano.scalar.cbody import CForm
from theano.scalar.dtypes import float_dtypes
from theano.scalar.output_types import TypeRule, accepts
from theano.scalar.registry import OPS

if TYPE_CHECKING:
    from theano.graph.op import Op

Interval = tuple[float, float]


class _Documentation:
    """The docstring of an operation's class, written on first access: its example is computed."""

    def __init__(self, doc: str):
        self.doc = doc

    def __get__(self, instance: object, owner: type) -> str:
        return document(owner, self.doc)


def _sample(interval: Interval, position: int) -> float:
    low, high = interval
    return round(low + (high - low) * (0.7, 0.4, 0.55)[position % 3], 1)


def arguments(op_class: Any) -> list[Any]:
    """Return numbers that an operation can take, for its examples.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> arguments(ts.Add), arguments(ts.AND)
    ([1.6, -0.8], [6, 3])
    """
    count = op_class.nin if op_class.nin >= 0 else 2
    floating = any(types[0].dtype in float_dtypes for types in accepts(op_class.type_rule, count))
    values = [_sample(interval, i) for i, interval in enumerate(op_class.domains(count))]
    return [int(v) for v in values] if not floating or op_class.example_integers else values


def example(op_class: Any) -> tuple[str, str] | None:
    """Return a call of an operation on numbers and the text of its result.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> example(ts.Add)
    ('round(ts.add.impl(1.6, -0.8).item(), 6)', '0.8')
    """
    values = arguments(op_class)
    try:
        result = OPS[op_class.op_name].impl(*values)
    except TypeError:
        return None
    where = "ts." if op_class.module == "theano.scalar" else "ts.OPS"
    name = op_class.op_name if where == "ts." else f'["{op_class.op_name}"]'
    call = f"{where}{name}.impl({', '.join(map(str, values))})"
    if result.dtype.kind == "f":
        # Fewer digits than are exact: the last ones differ between versions of NumPy.
        return f"round({call}.item(), 6)", str(round(result.item(), 6))
    return (call, repr(result)) if result.dtype.kind == "c" else (f"{call}.item()", str(result.item()))


def document(op_class: Any, doc: str) -> str:
    """Return the NumPy-style docstring of an operation.

    Parameters
    ----------
    op_class : type
        A class made by :func:`scalar_op`.
    doc : str
        The sentence in its statement.
    """
    accepted = [types[0].dtype for types in accepts(op_class.type_rule, max(op_class.nin, 1))]
    kinds = ", ".join(accepted) if accepted else "depends on the combination"
    names = ", ".join(op_class.arguments) if op_class.nin >= 0 else "*xs"
    lines = [doc, "", "Parameters", "----------", f"{names} : number or scalar variable"]
    lines += textwrap.wrap(f"Dtypes accepted: {kinds}.", 90, initial_indent="    ", subsequent_indent="    ")
    returned = {
        a: OPS[op_class.op_name].output_types([t] * max(op_class.nin, 1))[0].dtype
        for a, t in [(types[0].dtype, types[0]) for types in accepts(op_class.type_rule, max(op_class.nin, 1))]
    }
    shown = [f"{a} gives {returned[a]}" for a in ("bool", "int8", "int64", "float32", "complex64") if a in returned]
    lines += ["", "Returns", "-------", "ScalarVariable"]
    lines += textwrap.wrap((", ".join(shown) or "depends on the combination").capitalize() + ".", 90,
                           initial_indent="    ", subsequent_indent="    ")  # fmt: skip
    shown_example = example(op_class)
    if shown_example is not None:
        call, result = shown_example
        lines += ["", "Examples", "--------", ">>> import theano.scalar as ts", f">>> {call}", result]
    return "\n".join(lines) + "\n"


class DefinedOp(ScalarOp):
    """Base of the operations that are one statement.

    Attributes
    ----------
    domain : tuple or list of tuples
        Interval(s) from which tests and examples draw the arguments: where the operation is smooth.
    specials : bool
        Whether the C form agrees with NumPy's at zeros, infinities, nan and subnormals.
    selects : bool
        Whether the result is one of the arguments: of a reduction, all of the gradient goes to the winners.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> isinstance(ts.and_, ts.BinaryBitOp)
    True
    """

    op_name = ""
    module = ""
    domain: Interval | Sequence[Interval] = (-4.0, 4.0)
    specials = True
    selects = False
    example_integers = False
    second_order = True

    @classmethod
    def domains(cls, count: int) -> list[Interval]:
        """Return one interval for each of ``count`` arguments."""
        domain: Any = cls.domain
        if isinstance(domain[0], (int, float)):
            return [domain] * count
        return list(domain)

    def __reduce__(self) -> tuple[object, ...]:
        preference = self.__dict__.get("output_types_preference")
        return _restore, (self.module, self.op_name, preference, self.name)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Of other versions, which wrote the rule of types of each operation, be it the usual one of its name.
        usual = OPS[self.op_name]
        self.name = state.get("name", usual.name)
        if self.name != usual.name and state.get("output_types_preference") is not None:
            self.output_types_preference = state["output_types_preference"]


def _restore(module: str, op_name: str, preference: object, name: str | None) -> Op:
    """Unpickle an operation: by name, as its class was made by a statement."""
    if op_name not in OPS:
        importlib.import_module(module)
    defined = OPS[op_name]
    if preference is None and name == defined.name:
        return defined
    return type(defined)(preference, name)


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.strip("_").split("_"))


def scalar_op(
    name: str,
    args: str,
    *,
    types: TypeRule,
    py: Any,
    c: CForm = None,
    grad: Any = None,
    doc: str,
    domain: Interval | Sequence[Interval] = (-4.0, 4.0),
    compute: ComputeRule = at_output,
    ulp: float = 0.0,
    commutative: bool = False,
    associative: bool = False,
    identity: Any = None,
    holomorphic: bool = True,
    specials: bool = True,
    ignores: tuple[int, ...] = (),
    conditions: tuple[int, ...] = (),
    class_name: str | None = None,
    aliases: str = "",
    attributes: Mapping[str, Any] | None = None,
) -> Any:
    """Define an operation on numbers.

    Parameters
    ----------
    name : str
        What it is called.
    args : str
        Names of its arguments, separated by spaces; ``"*xs"`` for any number of them, in which case
        ``py`` and ``c`` combine two, ``x`` and ``y``, from left to right.
    types : callable
        Rule from input types to output types (see :mod:`theano.scalar.output_types`).
    py : callable or str
        The operation on NumPy arrays; a dotted name is imported at its first use.
    c : str, dict, callable or None
        The C form (see :mod:`theano.scalar.cbody`). None: only ``py`` is used.
    grad : callable, ``flat`` or None
        From the arguments, the output and its gradient to the gradient of the argument, or to a tuple
        of them (for ``"*xs"``: from the list of arguments, the output and its gradient to a list).
        Discrete arguments and, by conjugation, complex ones are taken care of.
        ``flat``: zero everywhere. None: not implemented.
    doc : str
        One sentence.
    domain : (low, high), or a list of them
        Where the arguments are sampled by tests and examples; the operation must be smooth there.
    compute : callable
        The dtype computed with: ``at_output`` (default), ``at_inputs``, or a function like them.
    ulp : float
        How far the C form may be from NumPy's, in units of the last place.
    commutative, associative, identity
        What a reduction may count on.
    holomorphic : bool
        Whether complex gradients follow from ``grad`` by conjugation.
    specials : bool
        Whether the C form also agrees at infinities, nan, zeros of both signs and subnormals.
    ignores : tuple of int
        Arguments that lend only their form.
    conditions : tuple of int
        Arguments of which only the truth counts.
    class_name : str, optional
        The name of its class, where it is not the capitalised ``name``.
    aliases : str
        Other names, separated by spaces.
    attributes : dict, optional
        More attributes of the class.

    Returns
    -------
    ScalarOp
        The operation. Its class can be called for a variant: ``Add(upcast_out, name="plus")``.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> cube = scalar_op("example_cube", "x", types=ts.same_out, py=lambda x: x * x * x, c="{x} * {x} * {x}",
    ...                  grad=lambda x, out, g: g * 3 * x * x, doc="The third power.")
    >>> cube.impl(2.0), cube(ts.int32("i")).type
    (np.float64(8.0), int32)
    >>> cube.c_statements(["a"], ["float32"], ["b"], ["float32"]).lines
    ['b = a * a * a;']
    """
    variadic = args.startswith("*")
    names = () if variadic else tuple(args.split())
    module = sys._getframe(1).f_globals.get("__name__", __name__)
    built_in = module.startswith("theano.scalar.")
    body: dict[str, Any] = {
        "__doc__": _Documentation(doc),
        "__module__": "theano.scalar" if built_in else module,
        "op_name": name, "module": "theano.scalar" if built_in else module,
        "nin": -1 if variadic else len(names), "arguments": names,
        "type_rule": staticmethod(types), "compute_rule": staticmethod(compute),
        "numpy_function": py if isinstance(py, str) else staticmethod(_folded(py) if variadic else py),
        "c_form": staticmethod(c) if callable(c) else c,
        "gradient_rule": None if grad is None else staticmethod(grad if callable(grad) else _flat_rule(len(names))),
        "domain": domain, "ulp": ulp, "commutative": commutative, "associative": associative, "identity": identity,
        "holomorphic": holomorphic, "specials": specials, "ignored_inputs": ignores,
        "conditions": conditions, **(attributes or {}),
    }  # fmt: skip
    created = type(class_name or _class_name(name), (DefinedOp,), body)
    instance = created(None, name)
    for each in (name, *aliases.split()):
        if each in OPS and canonical.is_ours(type(OPS[each]).__module__):
            canonical.replaced.add(f"the scalar operation {each}")
        OPS[each] = instance
    return instance


def _folded(function: Any) -> Any:
    """Combine any number of arrays from left to right; one alone is copied."""

    def fold(*arrays: Any) -> Any:
        if len(arrays) == 1:
            return np.array(arrays[0])
        result = arrays[0]
        for array in arrays[1:]:
            result = function(result, array)
        return result

    return fold


def _flat_rule(count: int) -> Any:
    """The gradient rule of an operation that is flat wherever it is smooth."""

    def rule(*given: Any) -> Any:
        return flat if count == 1 else [flat] * count

    return rule
