"""Formulas of LaTeX: what is written, and that all of it can be read by LaTeX's rules."""

from __future__ import annotations

import re

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.printing.tex import MOST_CHARACTERS, PRODUCT, Latex, formulas, latex
from theano.tensor.elemwise.functions import elementwise_functions

x, y, w, s, k = T.dvector("x"), T.dvector("y"), T.dmatrix("W_out"), T.dscalar("alpha"), T.iscalar("k")
X, Y, W = r"\mathbf{x}", r"\mathbf{y}", r"\mathbf{W}_{\mathrm{out}}"

WRITTEN = {
    "sums": (x - (y - s), rf"{X} - \left({Y} - \alpha\right)"),
    "a negative term": (x + -y, f"{X} - {Y}"),
    "a sum within a product": (x * (y + 1), rf"{X} \odot \left({Y} + 1\right)"),
    "numbers and scalars": (2 * (s * x), rf"2 \, \alpha \, {X}"),
    "a quotient": (x / (1 + y), rf"\frac{{{X}}}{{1 + {Y}}}"),
    "powers": ((x + y) ** 2 + x**s, rf"{{\left({X} + {Y}\right)}}^{{2}} + {{{X}}}^{{\alpha}}"),
    "a power of a power": (T.sqr(x**s), rf"{{\left({{{X}}}^{{\alpha}}\right)}}^{{2}}"),
    "exponentials": (T.exp(-x), f"e^{{-{X}}}"),
    "a known function": (T.tanh(T.dot(x, w) + y), rf"\tanh\left({X} \, {W} + {Y}\right)"),
    "a transpose": (T.dot(w.T, x), rf"{{{W}}}^{{\top}} \, {X}"),
    "a reduction": (w.sum(axis=0), rf"\sum_{{\mathrm{{axis}}\,0}} {W}"),
    "a product of a sum": (2 * x.sum(), rf"2 \, \sum {X}"),
    "a case": (T.switch(T.gt(x, 0), x, y), rf"\begin{{cases}}{X} & {X} > 0 \\ {Y} & \text{{otherwise}}\end{{cases}}"),
    "parts": (w[1:3, k] + x[0], rf"{{{W}}}_{{1:3, k}} + {{{X}}}_{{0}}"),
    "a written part": (T.set_subtensor(x[1], s), rf"\operatorname{{set}}\left({X}_{{1}}, \alpha\right)"),
    "a cast": (T.cast(x, "float32") + 1, f"{X} + 1"),
    "no function of LaTeX's": (T.nnet.softmax(w), rf"\operatorname{{softmax}}\left({W}\right)"),
    "picked elements": (w[T.arange(k), :2], rf"{{{W}}}_{{\operatorname{{arange}}\left(0, k, 1\right), :2}}"),
    "picked rows": (w[T.ivector("i")], rf"{{{W}}}_{{\mathbf{{i}}}}"),
    "an index that a pattern could be": (T.dvector("b1") / T.dvector("b0"), r"\frac{\mathbf{b}_{1}}{\mathbf{b}_{0}}"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_formulas(name):
    v, wanted = WRITTEN[name]
    assert latex(v) == wanted


def is_balanced(text: str) -> bool:
    r"""Return whether each brace, ``\left`` and ``\begin`` has its other half, in order."""
    waiting = []
    halves = {"}": "{", r"\right": r"\left", r"\end": r"\begin"}
    for found in re.findall(r"\\\\|\\[{}]|[{}]|\\left(?![a-z])|\\right(?![a-z])|\\begin|\\end", text):
        if found in halves:
            if not waiting or waiting.pop() != halves[found]:
                return False
        elif found in halves.values():
            waiting.append(found)
    return not waiting


@pytest.mark.parametrize("name", sorted(elementwise_functions()))
def test_every_elementwise_function_is_written(name):
    function = elementwise_functions()[name]
    operands = [T.dvector(letter) for letter in "xyz"[: function.nin]]
    try:
        v = function(*operands)
    except TypeError:
        v = function(*(T.lvector(letter) for letter in "xyz"[: function.nin]))  # of whole numbers only
    v = v[0] if isinstance(v, list) else v
    around = T.sqr(T.cast(v, "complex128")) - x
    assert is_balanced(latex(v)) and is_balanced(latex(around)) and "@" not in latex(v)
    assert all(symbol in latex(v) for symbol in (r"\mathbf{x}", r"\mathbf{y}", r"\mathbf{z}")[: function.nin] if name != "second")


def test_names_are_symbols_and_nothing_else():
    assert latex(T.dvector("a_b{c}%")) == r"\mathrm{a\_b\{c\}\%}"
    assert latex(T.dscalar("loss")) == r"\mathrm{loss}" and latex(T.dvector("beta_2")) == r"\beta_{2}"
    assert latex(T.constant(-2.5) * s) == r"\left(-2.5\right) \, \alpha"
    assert latex(T.constant(np.eye(2)) + 1e-8) == r"\mathrm{constant}_{2 \times 2} + 10^{-8}"


def test_notebooks_show_formulas_and_draw_what_is_too_long():
    v = T.tanh(T.dot(x, w))
    assert v._repr_latex_() == f"${latex(v)}$" and v._repr_svg_() is None
    assert x._repr_latex_() is None and x._repr_svg_() is None  # a name says more
    long = v
    for _ in range(40):
        long = T.log(long + theano.shared(np.ones(3), "a_long_name_of_something"))
    assert len(latex(long)) > MOST_CHARACTERS and long._repr_latex_() is None


def test_ops_of_a_program_are_functions_unless_it_says_how():
    class Star(theano.Op):
        __props__ = ()

        def make_node(self, a, b):
            return theano.Apply(self, [a, b], [a.type()])

    v = T.exp(Star()(x + 1, y))
    assert latex(v) == rf"e^{{\operatorname{{Star}}\left({X} + 1, {Y}\right)}}"
    try:
        formulas.assign(Star, Latex(r"@0 \star @1", PRODUCT, PRODUCT))
        assert latex(v) == rf"e^{{\left({X} + 1\right) \star {Y}}}"
    finally:
        del formulas.printers_dict[Star]
