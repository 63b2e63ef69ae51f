"""Steps of an expression that are computed together: one function or one instruction in C."""

from __future__ import annotations

from collections import Counter

from theano.records import record
from theano.scalar.c import symbol
from theano.scalar.program import Program, Ref, Step
from theano.settings import config

#: Two operations of one argument, the outer and the inner, that are one function in C, where it has a block.
_TOGETHER = {("inv", "sqrt"): "rsqrt"}
#: Products and sums of which are one instruction, by dtype.
_MULTIPLY_ADD = {"float32": "TH_FMAF", "float64": "TH_FMA"}


@record(frozen=True)
class Joined:
    """A step that is computed together with others, which only it uses.

    Attributes
    ----------
    text : str
        In C, with a place for each argument.
    arguments : tuple of (int, int)
        Of which step each argument is, and which of its arguments.
    block : str
        What the text calls.
    inner : tuple of int
        The other steps.
    """

    text: str
    arguments: tuple[tuple[int, int], ...]
    block: str
    inner: tuple[int, ...]


def joined_steps(program: Program) -> dict[int, Joined]:
    """Return the steps that are computed together with some that only they use."""
    uses = program.uses()
    found: dict[int, Joined] = {}
    for i, step in enumerate(program.steps):
        joined = _function_of_function(program, step, uses)
        if joined is None and config.fused_multiply_add:
            joined = _sum_with_products(program, i, uses)
        if joined is not None:
            found[i] = joined
    return found


def _function_of_function(program: Program, step: Step, uses: Counter[Ref]) -> Joined | None:
    ref = step.arguments[0] if len(step.arguments) == 1 else None
    if ref is None or ref.source != "step" or uses[ref] != 1:
        return None
    inner = program.steps[ref.place]
    names = (getattr(step.op, "op_name", ""), getattr(inner.op, "op_name", ""))
    called = symbol(_TOGETHER[names], step.dtype) if names in _TOGETHER else None
    same = {step.dtype, inner.dtype, program.dtype_of(inner.arguments[0])} == {step.dtype}
    if called is None or called[1] is None or not same:
        return None
    return Joined(f"{called[0]}({{}})", ((ref.place, 0),), called[1], (ref.place,))


def _sum_with_products(program: Program, i: int, uses: Counter[Ref]) -> Joined | None:
    """Return a sum or difference whose products are not rounded, or None.

    Of two products one would be rounded and one not, and ``x * x - y * y`` no longer 0 for equal numbers: what a
    product is added to is something else, or a sum already.
    """
    step = program.steps[i]
    minus = {"add": False, "sub": True}.get(getattr(step.op, "op_name", ""))
    if minus is None or step.dtype not in _MULTIPLY_ADD or len(step.arguments) < 2:
        return None
    arguments: list[tuple[int, int]] = []
    inner: list[int] = []

    def text_of(*places: tuple[int, int]) -> list[str]:
        arguments.extend(places)
        return [f"{{{len(arguments) - len(places) + k}}}" for k in range(len(places))]

    def fused(ref: Ref, factors: list[tuple[int, int]], sign: str, rest: str) -> str:
        inner.append(ref.place)
        a, b = text_of(*factors)
        return f"{_MULTIPLY_ADD[step.dtype]}({sign}({a}), {b}, {rest})"

    first, product = step.arguments[0], _factors(program, step, 0, uses)
    total = ""
    for k in range(1, len(step.arguments)):
        ref, factors = step.arguments[k], _factors(program, step, k, uses)
        if product and not factors:
            total = fused(first, product, "", f"{'-' * minus}({text_of((i, k))[0]})")
        else:
            total = total or text_of((i, 0))[0]
            if factors and not product:
                total = fused(ref, factors, "-" * minus, total)
            else:
                total = f"({total} {'-' if minus else '+'} {text_of((i, k))[0]})"
        product = None
    return Joined(total, tuple(arguments), "fma", tuple(inner)) if inner else None


def _factors(program: Program, step: Step, k: int, uses: Counter[Ref]) -> list[tuple[int, int]] | None:
    """Return the two factors of an argument that is a product of the same dtype and used only there."""
    ref = step.arguments[k]
    if ref.source != "step" or uses[ref] != 1:
        return None
    inner = program.steps[ref.place]
    places = {("mul", 2): [0, 1], ("sqr", 1): [0, 0]}.get((getattr(inner.op, "op_name", ""), len(inner.arguments)))
    numbers = [a for a in (*inner.arguments, *step.arguments) if a.source != "constant"]
    same = {inner.dtype, *map(program.dtype_of, numbers)} == {step.dtype}
    return [(ref.place, p) for p in places] if places and same else None
