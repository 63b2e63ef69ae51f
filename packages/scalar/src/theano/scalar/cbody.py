"""From the C form in an operation's definition to C statements.

A C form is an expression in which ``{x}`` stands for the argument ``x``, already converted to the
dtype in which the operation computes. A function is called by its NumPy name, ``log1p({x})``, and
becomes what C calls it for that dtype: our own ``th_log1p_f64``, or the C library's ``log1pf``. ``{T}``
is the C type computed with, ``{U}`` the unsigned type in which integers of that dtype wrap.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from theano.graph.c_contract import overrides
from theano.records import record
from theano.scalar import c
from theano.scalar.ctypes import compute_type, convert, parenthesised, unsigned_type
from theano.scalar.dtypes import all_dtypes, discrete_dtypes, kind

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.scalar.base import ScalarOp

_CALL = re.compile(r"\b([a-z]\w*)\(")
_OPERATOR = re.compile(r" ([-+*/%&|^?<>]|[<>=!]=|<<|>>|&&|\|\|) ")
_HELPER = re.compile(r"\bth_([a-z]\w*)\(")
_WHOLE = re.compile(r"\bth_[iu]\d\d_of_(f32|f64)\(")
# Functions that are one instruction, also of vectors; round and rint depend on the compiler.
_INSTRUCTIONS = frozenset(
    name + suffix
    for name in "sqrt fabs floor ceil trunc fma copysign fmin fmax rint nearbyint".split()
    for suffix in ("", "f")
)
#: Our functions that take one number after the other: as the C library's, no compiler widens them.
SEQUENTIAL = frozenset(
    ("gammainc gammaincc chi2sf gammal gammau gammainc_der polygamma jv iv ive kve betainc betainc_der_a betainc_der_b"
     " gammaincinv gammainccinv betaincinv owens_t ndtri_exp").split()
)  # fmt: skip
_OF_ONE_NUMBER = re.compile(r"^TH_INLINE (double|float) th_(\w+)\(\1 \w+\)", re.MULTILINE)
LIGHT_SUPPORT = 700
"""Characters of C that an operation may call and still cost little."""
MANY_CALLS = 8
"""A function that a kernel calls more often than this is compiled once. Written out, each tanh takes gcc 5 ms; called,
eight numbers take 0.9 to 1.1 of the time."""
_CALLED = """\
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
static __attribute__((noinline, simd("notinbranch"))) {T} th_{name}_called({T} x)
{{
    return th_{name}(x);
}}
#else
#define th_{name}_called th_{name}
#endif
"""
_COMPLEX_PARTS = re.compile(r"\bCMPLXF?\(")

# Marks of C that needs Python, NumPy or C++, and so cannot stand in a kernel.
_FOREIGN = re.compile(r"\bPy[A-Z_]|\bNPY_|\bnpy_(?!bool|u?int\d|float\d)|::|\btemplate\b|\bgoto\b|\breturn\b")
_FAIL = "THEANO_FAIL_HERE"

#: A C form: a template, templates by kinds of dtype ("iu" for integers, see dtypes.kind), or a
#: function from the input dtypes and the compute dtype to a template. None: it has no C form.
CForm = str | Mapping[str, str] | Callable[[tuple[str, ...], str], str | None] | None


@record(frozen=True)
class CBody:
    """C statements and the blocks of C that they call.

    Attributes
    ----------
    lines : list of str
        Statements. Each output is assigned; locals are declared by the lines themselves, which
        therefore belong in a block of their own.
    support : tuple of str
        Text to put once before all functions, in this order.
    """

    lines: list[str]
    support: tuple[str, ...]


def choose(form: CForm, in_dtypes: tuple[str, ...], compute: str) -> str | None:
    """Return the template of a C form for one combination of dtypes, or None.

    Examples
    --------
    >>> choose({"iu": "{x} / 2", "f": "{x} * 0.5"}, ("float32",), "float32")
    '{x} * 0.5'
    """
    if form is None or isinstance(form, str):
        return form
    if callable(form):
        return form(in_dtypes, compute)
    for kinds, template in form.items():
        if kind(compute) in kinds:
            return template
    return None


def names_of_blocks(text: str) -> list[str]:
    """Return the names of the blocks that a piece of C calls.

    Examples
    --------
    >>> names_of_blocks("y = th_exp_f64(x) + CMPLX(a, b);")
    ['cmplx', 'exp_f64']
    """
    known = c.snippets()
    found = {name for name in _HELPER.findall(text) if name in known}
    if "th_load_f16(" in text or "th_store_f16(" in text:
        found.add("half")
    found.update(f"cast_{source}" for source in _WHOLE.findall(text))
    if _COMPLEX_PARTS.search(text):
        found.add("cmplx")
    return sorted(found)


def classic(op: ScalarOp, node: Node, in_names: Sequence[str], out_names: Sequence[str]) -> CBody | None:
    """Return what a class derived by hand gives as ``c_code``, or None if it cannot stand in a kernel.

    Plain statements can; what uses ``sub['fail']``, Python's or NumPy's interface, or C++ cannot, and
    is computed by ``impl`` instead.
    """
    helpers: list[str] = []
    try:
        text = op.c_code(node, "op", list(in_names), list(out_names), {"fail": _FAIL})
        if overrides(op, "c_support_code"):
            given = op.c_support_code()
            helpers = [given] if isinstance(given, str) else list(given)
    except NotImplementedError:
        return None
    whole = "\n".join([text, *helpers])
    if _FAIL in whole or _FOREIGN.search(re.sub(r"\breturn\b", "", whole) if helpers else whole):
        return None
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    blocks = c.support(["npy_types", "inline", *names_of_blocks(text)])
    # In a block of its own: the class chose the names of its locals without knowing what stands around it.
    return CBody(["{", *lines, "}"], (*blocks, *helpers))


def calling(lines: Sequence[str], support: Sequence[str]) -> CBody:
    """Return statements that call the functions of one number which they need many times, where each held a copy.

    gcc compiles such a function for one number and for a vector, and calls the latter in loops.

    Parameters
    ----------
    lines, support : sequence of str
        As in `CBody`.

    Examples
    --------
    >>> from theano.scalar import c
    >>> many = [f"double y{i} = th_tanh_f64(x{i});" for i in range(MANY_CALLS + 1)]
    >>> calling(many, c.support(["tanh_f64"])).lines[0]
    'double y0 = th_tanh_f64_called(x0);'
    >>> calling(many[1:], c.support(["tanh_f64"])).lines[0]
    'double y1 = th_tanh_f64(x1);'
    """
    count = Counter(_HELPER.findall("\n".join(lines)))
    if max(count.values(), default=0) <= MANY_CALLS:  # most kernels; their blocks need not be read
        return CBody(list(lines), tuple(support))
    types = {name: ctype for block in support for ctype, name in _OF_ONE_NUMBER.findall(block)}
    often = [name for name in sorted(types) if count[name] > MANY_CALLS]
    if not often:
        return CBody(list(lines), tuple(support))
    one_of_them = re.compile(rf"\bth_({'|'.join(often)})\(")
    blocks = (_CALLED.format(T=types[name], name=name) for name in often)
    return CBody([one_of_them.sub(r"th_\1_called(", line) for line in lines], (*support, *blocks))


def estimate(body: CBody) -> float:
    """Return about how many nanoseconds statements take where they are vectorised: the C library's functions are not.

    Examples
    --------
    >>> estimate(CBody(["z = th_exp_f64(x) + sin(y);"], c.support(["exp_f64"]))) > estimate(CBody(["z = x + y;"], ()))
    True
    """
    text = "\n".join(body.lines)
    ours, operators = _HELPER.findall(text), _OPERATOR.findall(text)
    others = [name for name in _CALL.findall(text) if not name.startswith("th_")]
    called = sum(name not in _INSTRUCTIONS for name in others)
    slow = sum(_is_sequential(name) for name in ours)
    each = 0.05 if sum(map(len, body.support)) < LIGHT_SUPPORT else 0.5
    simple = 0.05 * (max(len(operators), text.count(";")) + operators.count("/"))
    roots = 0.4 * sum(name.startswith("sqrt") for name in others)
    return simple + roots + each * len(ours) + 10.0 * called + 1000.0 * slow


def _is_sequential(block: str) -> bool:
    return block.rpartition("_")[0] in SEQUENTIAL


def calls_c_library(text: str) -> bool:
    """Return whether C statements call a function that no compiler widens: the C library's, and a few of ours.

    Examples
    --------
    >>> calls_c_library("z = sin(x);"), calls_c_library("z = th_exp_f64(x) + sqrt(x) + (y);")
    (True, False)
    """
    if any(_is_sequential(name) for name in _HELPER.findall(text)):
        return True
    return any(not name.startswith("th_") and name not in _INSTRUCTIONS for name in _CALL.findall(text))


def expression(
    template: str,
    arguments: Mapping[str, tuple[str, str]],
    compute: str,
    wanted: Mapping[str, str] | None = None,
) -> str | None:
    """Return a template as a C expression, or None if a function in it has no form for the dtype.

    Parameters
    ----------
    template : str
    arguments : dict from name to (C expression, dtype)
    compute : str
        The dtype computed with; "" leaves the arguments as they are.
    wanted : dict from name to dtype, optional
        The dtype to which an argument is converted, where it is not ``compute``.

    Examples
    --------
    >>> expression("log1p({x}) * 2", {"x": ("a", "int32")}, "float64")
    'th_log1p_f64((double)a) * 2'
    """
    wanted = wanted or {}
    values = {
        name: parenthesised(convert(text, dtype, wanted.get(name, compute or dtype)))
        for name, (text, dtype) in arguments.items()
    }
    unsigned = unsigned_type(compute) if compute in discrete_dtypes else ""
    missing = False

    def spelled(call: re.Match[str]) -> str:
        nonlocal missing
        name = call.group(1)
        if name.startswith("th_"):
            return call.group(0)
        found = c.symbol(name, compute)
        if found is None:
            missing = True
            _warn_if_unknown(name, template)
            return call.group(0)
        return f"{found[0]}("

    text = _CALL.sub(spelled, template)
    own_type = compute_type(compute) if compute else ""
    return None if missing else text.format(T=own_type, U=unsigned, **values)


def _warn_if_unknown(name: str, template: str) -> None:
    """Warn of a function that C has for no dtype at all: a slip, where one that only some dtypes lack is none."""
    if any(c.symbol(name, dtype) for dtype in all_dtypes):
        return
    from difflib import get_close_matches  # only a mistake needs it

    near = get_close_matches(name, c.names(), n=1)
    warnings.warn(
        f"the C form {template!r} calls {name}, which is neither a function of theano.scalar.c nor of <math.h>: the op "
        f"runs in Python.{f' Did you mean {near[0]}?' if near else ''} Write the functions by NumPy's names (arctan).",
        stacklevel=2,
    )
