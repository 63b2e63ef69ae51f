"""The body of a generated loop in vectors of 64 bytes, several of them at a time.

GCC takes one vector at a time, and calls the functions that have a form for such vectors (``c/wide.h`` of the scalar
layer). Of statements that stand there for two or four vectors, one after the other, more are ready to run at once, and
the functions are inline. (Granite Rapids, gcc 12: 0.80 to 0.88 of the time with a function, 0.90 to 0.96 without.)

The statements are C as the scalar layer writes it, with another type: GNU C has the operators for vectors, but for the
choice. What has other dtypes, calls or casts stays with the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from theano.records import NamedTuple
from theano.scalar.c import snippets, support
from theano.scalar.cbody import names_of_blocks
from theano.tensor.kernels.body import Body

_TYPES = {"float32": ("float", "f32", "th_f32x16", "th_i32x16"), "float64": ("double", "f64", "th_f64x8", "th_i64x8")}
_STATEMENT = re.compile(r"(?:const (float|double|uint8_t) )?(\w+) = (.+);")
_TOKEN = re.compile(r"(?:0x[\da-f.]+p[+-]?\d+|\d+\.?\d*(?:e[+-]?\d+)?)f?|[A-Za-z_]\w*|[-+*/<>=!]=?|[&|?:(),]")
_EXACT = {"float32": 1 << 24, "float64": 1 << 53}
"""Whole numbers up to here are numbers of the dtype."""
_INSTRUCTIONS = {
    "f32": {"fabsf": "TH_ABS", "sqrtf": "TH_SQRT", "TH_FMAF": "TH_FMA", "th_max_f32": "TH_MAX", "th_min_f32": "TH_MIN"},
    "f64": {"fabs": "TH_ABS", "sqrt": "TH_SQRT", "TH_FMA": "TH_FMA", "th_max_f64": "TH_MAX", "th_min_f64": "TH_MIN"},
}
_COMPARISONS = frozenset("< > <= >= == !=".split())
_CALL = re.compile(r"\bth_\w+(?=\()")
_FEWEST_OPERATORS, _MOST_STATEMENTS = 16, 80
"""Less is as fast as memory in the compiler's loop; more takes the compiler longer than one loop for all widths."""
_MOST_CALLS = 2
"""Of functions, whose text is there for each vector, where the compiler's loop calls them."""


class Vectors(NamedTuple):
    """Statements for some vectors at a time.

    Parameters
    ----------
    ctype : str
        The C type of a vector.
    together : int
        How many vectors are taken at a time.
    lines : tuple of str
        The statements. A value ``NAME`` of vector number ``u`` is called ``NAME_u``.
    plain : tuple of str
        The same for one number, for processors without such vectors.
    support : tuple of str
        Blocks of C that both need.
    """

    ctype: str
    together: int
    lines: tuple[str, ...]
    plain: tuple[str, ...]
    support: tuple[str, ...]


class _UnknownError(Exception):
    """A statement is nothing that vectors have."""


def in_vectors(body: Body, moving: Sequence[str], still: Sequence[str], dtypes: Set[str]) -> Vectors | None:
    r"""Return a loop's statements for vectors, or None where they are left to the compiler.

    Parameters
    ----------
    body : Body
    moving, still : sequence of str
        The inputs in the statements: those that are vectors, and those that are one number for the whole loop.
    dtypes : set of str
        Those of all operands.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> from theano.tensor.kernels.body import body_of
    >>> x, y = ts.float32("x"), ts.float32("y")
    >>> op = ts.Composite([x, y], [ts.exp(abs(x)) * y])
    >>> body = body_of(op, ["x_i", "y_i"], ["float32", "float32"], ["z_i"], ["float32"])
    >>> print("\n".join(in_vectors(body, ["x_i"], ["y_i"], {"float32"}).lines[::2]))
    const th_f32x16 abs_0_0 = TH_ABS_f32x16(x_i_0);
    const th_f32x16 exp_1_0 = th_exp_wide_f32_th_f32x16(abs_0_0, abs_0_0);
    const th_f32x16 mul_2_0 = exp_1_0 * y_i;
    z_i_0 = mul_2_0;
    """
    dtypes = {*dtypes, *(c.dtype for c in body.constants)}
    if not moving or len(dtypes) != 1 or not dtypes <= _TYPES.keys() or len(body.lines) > _MOST_STATEMENTS:
        return None
    writer = _Writer(next(iter(dtypes)), moving, {*still, *body.names})
    try:
        statements = [writer.statement(line) for line in body.lines]
    except _UnknownError:
        return None
    if writer.calls > _MOST_CALLS or not (writer.calls or writer.operators >= _FEWEST_OPERATORS):
        return None
    together = 2 if writer.calls else 4
    lines = tuple(text.replace("@", str(u)) for text in statements for u in range(together if "@" in text else 1))
    plain = tuple(_CALL.sub(writer.plain_name, line) for line in body.lines)
    blocks = [*writer.blocks, *names_of_blocks("\n".join(plain))]
    return Vectors(writer.vector, together, lines, plain, support(["wide", *blocks]))


class _Writer:
    """Writes statements with ``NAME_@`` for the vector of a number ``NAME``."""

    def __init__(self, dtype: str, moving: Sequence[str], scalars: Set[str]):
        self.dtype = dtype
        self.scalar, self.short, self.vector, self.mask = _TYPES[dtype]
        self.suffix = self.vector.removeprefix("th_")
        self.vectors, self.scalars = set(moving), set(scalars)
        self.masks: set[str] = set()
        self.calls = self.operators = 0
        self.blocks: dict[str, None] = {}

    def plain_name(self, call: re.Match[str]) -> str:
        """Return a called function's name in C that needs no form for vectors."""
        name = self._variant(call[0], "plain")
        return f"th_{name}" if name.replace("_plain_", "_wide_") in self.blocks else call[0]

    def _variant(self, name: str, which: str) -> str:
        return f"{name.removeprefix('th_').removesuffix(f'_{self.short}')}_{which}_{self.short}"

    def statement(self, line: str) -> str:
        """Return one statement; remember what it gives a name to."""
        found = _STATEMENT.fullmatch(line)
        if found is None:
            raise _UnknownError(line)
        ctype, name, text = found.groups()
        if ctype not in (None, self.scalar, "uint8_t"):
            raise _UnknownError(line)
        tokens = _Tokens(text)
        value, kind = self.choice(tokens)
        if tokens.now or (kind == "mask") != (ctype == "uint8_t"):
            raise _UnknownError(line)
        if kind == "number" and ctype:  # the same for all vectors
            self.scalars.add(name)
            return line
        if kind == "number":
            return f"{name}_@ = {self.as_vector(value, kind)};"
        (self.masks if kind == "mask" else self.vectors).add(name)
        head = f"const {self.mask if kind == 'mask' else self.vector} " if ctype else ""
        return f"{head}{name}_@ = {value};"

    # Each of these reads part of an expression, and returns it with its kind: vector, number or mask.

    def choice(self, tokens: _Tokens) -> tuple[str, str]:
        """Return ``c ? a : b``, or what is no choice."""
        text, kind = self.infix(tokens)
        if tokens.now != "?":
            return text, kind
        tokens.take()
        if kind != "mask":
            raise _UnknownError(text)
        a = self.as_vector(*self.choice(tokens))
        tokens.expect(":")
        b = self.as_vector(*self.choice(tokens))
        return f"TH_CHOOSE_{self.suffix}({text}, {a}, {b})", "vector"

    def infix(self, tokens: _Tokens) -> tuple[str, str]:
        """Return operands with the operators between them, in the order in which they are written."""
        parts, kinds, operators = [], set(), set()
        while True:
            if tokens.now == "-":
                tokens.take()
                parts.append("-")
            text, kind = self.operand(tokens)
            parts.append(text)
            kinds.add(kind)
            if tokens.now not in {"+", "-", "*", "/", "&", "|", *_COMPARISONS}:
                break
            operators.add(tokens.now)
            self.operators += 1
            parts.append(f" {tokens.take()} ")
        text = "".join(parts)
        compares = bool(operators & _COMPARISONS)
        if "mask" in kinds:
            if kinds != {"mask"} or not operators <= {"&", "|"} or "-" in parts:
                raise _UnknownError(text)
            return text, "mask"
        if operators & {"&", "|"} or (compares and (len(operators) > 1 or "vector" not in kinds)):
            raise _UnknownError(text)
        return text, "mask" if compares else "vector" if "vector" in kinds else "number"

    def operand(self, tokens: _Tokens) -> tuple[str, str]:
        """Return a name, a number, a call, or what stands between parentheses."""
        token = tokens.take()
        if token == "(":
            text, kind = self.choice(tokens)
            tokens.expect(")")
            return f"({text})", kind
        if token in self.scalars or token == "INFINITY" or (token[:1].isdigit() and self.is_exact(token)):
            return token, "number"
        if token in self.vectors or token in self.masks:
            return f"{token}_@", "vector" if token in self.vectors else "mask"
        if tokens.now != "(":
            raise _UnknownError(token)
        return self.call(token, tokens), "vector"

    def is_exact(self, literal: str) -> bool:
        """Return whether a literal is a number of the dtype; with others C computes in double, and vectors do not."""
        return int(literal) <= _EXACT[self.dtype] if literal.isdigit() else self.short == "f64" or literal[-1] == "f"

    def call(self, name: str, tokens: _Tokens) -> str:
        """Return the call of a function that vectors have."""
        arguments = []
        tokens.expect("(")
        while True:
            arguments.append(self.as_vector(*self.choice(tokens)))
            if tokens.now != ",":
                break
            tokens.take()
        tokens.expect(")")
        instruction = _INSTRUCTIONS[self.short].get(name)
        if instruction is not None:
            return f"{instruction}_{self.suffix}({', '.join(arguments)})"
        wide = self._variant(name, "wide")
        if wide not in snippets() or len(arguments) > 2:
            raise _UnknownError(name)
        self.calls += 1
        self.blocks[wide] = None
        return f"th_{wide}_{self.vector}({arguments[0]}, {arguments[-1]})"

    def as_vector(self, text: str, kind: str) -> str:
        """Return a vector, where it is to be one; a number minus zero keeps the sign of its zero."""
        if kind == "mask":
            raise _UnknownError(text)
        return text if kind == "vector" else f"({text} - ({self.vector}){{}})"


class _Tokens:
    """The words and signs of an expression, one after the other."""

    def __init__(self, text: str):
        tokens: list[str] = _TOKEN.findall(text)
        if "".join(tokens) != re.sub(r"\s", "", text):
            raise _UnknownError(text)
        self._rest = iter(tokens)
        self.now = next(self._rest, "")

    def take(self) -> str:
        """Return the present one and go on."""
        taken, self.now = self.now, next(self._rest, "")
        return taken

    def expect(self, token: str) -> None:
        """Go on, where the present one is `token`."""
        if self.take() != token:
            raise _UnknownError(token)
