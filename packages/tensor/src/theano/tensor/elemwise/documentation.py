"""The docstrings of element-wise functions, from the statements of their scalar ops.

Parameters, dtypes, derivatives, what NaN gives and the example follow from a statement; what is related is in a table
here. A docstring is written on first access.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from theano import scalar as scal
from theano.graph import Constant, Variable
from theano.scalar.output_types import accepts
from theano.scalar.registry import OPS

if TYPE_CHECKING:
    from theano.scalar.output_types import Types
    from theano.tensor.elemwise.op import Elemwise

#: Each name refers to the others of its line.
RELATED = """
exp expm1 exp2 log
log log1p log2 log10
log1mexp log1p expm1
log1p expm1
sqrt sqr pow
add sub mul true_div
true_div int_div mod
neg abs_ sgn
inv true_div
sin cos tan arcsin
cos arccos
tan arctan arctan2
arcsin arccos arctan
hypot arctan2 complex_from_polar
sinh cosh tanh arcsinh
arccosh cosh
arctanh tanh
deg2rad rad2deg
real imag conj angle
complex complex_from_polar real imag
erf erfc erfcx erfinv
erfcinv erfc
gamma gammaln psi
psi tri_gamma polygamma
gammainc gammaincc gammaincinv gammainccinv
gammal gammau gammainc
chi2sf gammaincc
j0 j1 jv
i0 i1 iv ive
kve ive
betainc betaincinv
owens_t erf
ndtri_exp erfcinv
ceil floor trunc round_half_to_even round_half_away_from_zero
and_ or_ xor invert
lt le gt ge eq neq
isnan isinf
maximum minimum fmax fmin
clip maximum minimum
switch maximum
second tensor_copy
sigmoid softplus tanh
softsign tanh
ultra_fast_sigmoid sigmoid
"""

#: Operators of NumPy, by the scalar op: their strength as Python has it.
INFIX = {
    "add": ("+", 4), "sub": ("-", 4), "mul": ("*", 5), "true_div": ("/", 5), "int_div": ("//", 5), "lt": ("<", 1),
    "le": ("<=", 1), "gt": (">", 1), "ge": (">=", 1), "eq": ("==", 1), "neq": ("!=", 1), "and_": ("&", 3),
    "or_": ("|", 2),
}  # fmt: skip
POWER, ATOM = 7, 9
LONGEST = 90  #: characters of a derivative that is shown


def document(op: Elemwise) -> str:
    """Return the docstring of an element-wise function."""
    scalar_op = op.scalar_op
    statement = type(scalar_op).__dict__.get("__doc__")
    sentence = str(getattr(statement, "doc", statement) or f"{scalar_op}, element by element.").strip().splitlines()[0]
    names = list(scalar_op.arguments) if scalar_op.nin >= 0 else ["x", "y", "*more"]
    if isinstance(scalar_op, scal.DefinedOp):
        taken, returned, notes = _dtypes(scalar_op), _results(scalar_op), _notes(scalar_op)
    else:
        taken, returned, notes = "", "", []
    shapes = "Of shapes that broadcast against each other." if len(names) > 1 else "Of any shape."
    lines = [sentence, "", "Parameters", "----------", f"{', '.join(names)} : tensor_like"]
    lines += [*_wrapped(f"{shapes}{taken}"), "", "Returns", "-------", "TensorVariable"]
    lines += _wrapped(f"The result for each element.{returned}")
    if see := _see_also(op):
        lines += ["", "See Also", "--------", *see]
    if notes:
        lines += ["", "Notes", "-----", *"\n\n".join(notes).splitlines()]
    if example := _example(op, [name.lstrip("*") for name in names]):
        lines += ["", "Examples", "--------", *example]
    return "\n".join(lines) + "\n"


def _wrapped(text: str, indent: str = "    ") -> list[str]:
    return textwrap.wrap(text, 100, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _count(op: scal.DefinedOp) -> int:
    return op.nin if op.nin >= 0 else 2


def _accepted(op: scal.DefinedOp) -> list[Types]:
    return [] if op.type_rule is None else list(accepts(op.type_rule, _count(op)))


def _dtypes(op: scal.DefinedOp) -> str:
    """Return which kinds of numbers an operation takes."""
    found = [types[0].dtype for types in _accepted(op)]
    kinds = {"bool": "bool", "int": "integer", "float": "float", "complex": "complex"}
    named = [shown for start, shown in kinds.items() if any(dtype.startswith(start) for dtype in found)]
    return f" Dtypes: {', '.join(named)}." if named else ""


def _results(op: scal.DefinedOp) -> str:
    """Return the dtypes of results, for some dtypes of inputs."""
    given = {types[0].dtype: types for types in _accepted(op)}
    shown = [dtype for dtype in ("int32", "int64", "float32", "float64", "complex128") if dtype in given]
    made = [OPS[op.op_name].output_types(given[dtype])[0].dtype for dtype in shown]
    if not made or len(set(made)) == 1:
        return f" Its dtype is {made[0]}." if made else ""
    others = [f"{b} for {a}" for a, b in zip(shown, made, strict=True) if a != b]
    same = "that of the input" if _count(op) == 1 else "the least that holds those of the inputs"
    return f" Its dtype is {', '.join([same, *others])}."


def _notes(op: scal.DefinedOp) -> list[str]:
    """Return paragraphs: the derivative, and what special values give."""
    found = [derivative(op), _special(op)]
    return ["\n".join(_wrapped(text, "")) for text in found if text]


def _special(op: scal.DefinedOp) -> str:
    """Return what an operation of floats gives at limits of its domain, and what NaN does."""
    count = _count(op)
    if not any(types[0].dtype == "float64" for types in _accepted(op)) or count > 2:
        return ""
    name, nan = _called(op.op_name), float("nan")
    arguments: list[tuple[float, ...]] = [(float(x),) for x in ("-inf", "-1", "0", "inf", "nan")]
    if count == 2:
        arguments = [(nan, 1.0), (1.0, nan)]
    try:
        with np.errstate(all="ignore"):
            values = [np.asarray(op.impl(*map(np.float64, given))) for given in arguments]
    except (TypeError, ValueError):
        return ""
    shown = [f"``{name}({', '.join(f'{x:g}' for x in given)})`` is {_number(value.item())}"
             for given, value in zip(arguments, values, strict=True)]  # fmt: skip
    return f"{', '.join(shown[:-1])}; {shown[-1]}."


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _called(name: str) -> str:
    """Return how programs call an operation."""
    return {"switch": "where", "identity": "tensor_copy"}.get(name, name)


def derivative(op: scal.DefinedOp) -> str:
    """Return a sentence about the derivative of an operation, from the rule in its statement.

    Examples
    --------
    >>> from theano import scalar as ts
    >>> derivative(ts.tanh), derivative(ts.mul)
    ('Derivative: ``1 - tanh(x)**2``.', 'Derivatives: ``y`` for x, ``x`` for y.')
    >>> derivative(ts.floor)
    'Derivative: 0 everywhere.'
    """
    if op.gradient_rule is None or not op.holomorphic:
        return ""
    names = list(op.arguments) if op.nin >= 0 else ["x", "y"]
    inputs, g = [scal.float64(name) for name in names], scal.float64("g")
    out = scal.float64(f"{_called(op.op_name)}({', '.join(names)})")
    try:
        rules = op.gradient_rule(*inputs, out, g) if op.nin >= 0 else op.gradient_rule(inputs, out, g)
    except (TypeError, ValueError, AttributeError):
        return ""
    terms = [_term(rule, g) for rule in (rules if isinstance(rules, (list, tuple)) else [rules])]
    if set(terms) == {"0"}:
        return f"Derivative{'s' * (len(terms) > 1)}: 0 everywhere."
    shown = [f"``{term}`` for {name}" for name, term in zip(names, terms, strict=True) if len(term) < LONGEST and term]
    if len(names) == 1 and shown:
        return f"Derivative: ``{terms[0]}``."
    return f"Derivatives: {', '.join(shown)}." if shown else ""


def _term(rule: object, g: Variable) -> str:
    """Return what a gradient rule gives for an input, with the gradient of the output taken as 1."""
    if rule is scal.base.flat:
        return "0"
    return _text(rule, g)[0] if isinstance(rule, Variable) else ""


def _text(x: Variable, g: Variable) -> tuple[str, int]:
    """Return an expression of numbers as Python writes it, and how strongly its last operator binds."""
    if x is g:
        return "1", ATOM
    if x.owner is None:
        return (_number(float(x.data)) if isinstance(x, Constant) else str(x)), ATOM
    name, parts = getattr(x.owner.op, "op_name", "cast"), [_text(part, g) for part in x.owner.inputs]
    texts = [text for text, _ in parts]
    if name == "cast":
        return parts[0]
    if name == "mul" and texts[0] in ("1", "-1"):
        return parts[1] if texts[0] == "1" else _negative(parts[1])
    if name == "mul" and texts[1] == "1":
        return parts[0]
    if name == "true_div" and texts[0] == "-1":
        return f"-1 / {_inside(parts[1], 6)}", 5
    if name == "neg":
        return _negative(parts[0])
    if name == "sqr" or (name == "mul" and texts[0] == texts[1]):
        return f"{_inside(parts[0], POWER + 1)}**2", POWER
    if name == "inv":
        return f"1 / {_inside(parts[0], 6)}", 5
    if name in INFIX and len(parts) == 2:
        sign, strength = INFIX[name]
        right = strength + (name in ("sub", "true_div", "int_div"))
        return f"{_inside(parts[0], strength)} {sign} {_inside(parts[1], right)}", strength
    return f"{_called(name)}({', '.join(texts)})", ATOM


def _negative(part: tuple[str, int]) -> tuple[str, int]:
    return f"-{_inside(part, 5)}", 5


def _inside(part: tuple[str, int], strength: int) -> str:
    text, own = part
    return text if own >= strength else f"({text})"


@cache
def _related() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in RELATED.strip().splitlines():
        for name in line.split():
            known = found.setdefault(name, [])
            known += [other for other in line.split() if other != name and other not in known]
    return found


def _see_also(op: Elemwise) -> Iterable[str]:
    """Yield entries of related functions, and NumPy's or SciPy's of the same name."""
    own = getattr(op.scalar_op, "op_name", "")
    for name in _related().get(own, []):
        said = type(OPS[name]).__dict__["__doc__"].doc if name in OPS else ""
        yield f"{_called(name)} : {' '.join(str(said).split('. ')[0].split()).rstrip('.')}."
    function = getattr(op.scalar_op, "numpy_function", None)
    if isinstance(function, str):
        yield f"{function} : The function of the same values."
    elif getattr(np, name := getattr(function, "__name__", ""), None) is function and name:
        yield f"numpy.{name} : NumPy's function."


def _example(op: Elemwise, names: Sequence[str]) -> list[str]:
    path = op.shown_as or f"T.{op.name.removeprefix('Elemwise{').split(',')[0] if op.name else op.scalar_op}"
    lines = [">>> import theano.tensor as T"]
    if isinstance(op.scalar_op, scal.DefinedOp) and not op.inplace_pattern:
        values = [[value] for value in scal.example_arguments(type(op.scalar_op))]
        with np.errstate(all="ignore"):
            found = np.asarray(op.scalar_op.impl(*map(np.array, values)))
        # Fewer digits than are exact: the last ones differ between versions of NumPy.
        rounded, shown = (".round(6)", found.round(6)) if found.dtype.kind in "fc" else ("", found)
        return [*lines, f">>> {path}({', '.join(map(str, values))}).eval(){rounded}", repr(shown)]
    names = [name for name in names if name != "more"]
    for kind, dtype in (("dmatrix", "float64"), ("lmatrix", "int64"), ("zmatrix", "complex128")):
        try:
            (out,) = op.scalar_op.output_types([scal.get_scalar_type(dtype)] * len(names))
        except (TypeError, ValueError):
            continue
        call = ", ".join(f"T.{kind}({n!r})" for n in names)
        return [*lines, f">>> {path}({call}).type", f"TensorType({out.dtype}, matrix)"]
    return []
