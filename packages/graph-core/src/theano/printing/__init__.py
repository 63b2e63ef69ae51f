"""Graphs for users: as a tree (``debugprint``), as a formula (``pp``), as a picture (``pydotprint``).

``Print`` is the op that shows a value while a function runs.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from theano.graph.notebook import as_latex, as_svg
from theano.layers import lazily
from theano.printing.formula import (
    VALID_ASSOC,
    DefaultPrinter,
    FunctionPrinter,
    IgnorePrinter,
    LeafPrinter,
    OperatorPrinter,
    PatternPrinter,
    PPrinter,
    PrinterState,
    default_printer,
    greek,
    leaf_printer,
    one_line,
    pp,
    pprint,
    special,
)
from theano.printing.picture import default_colorCodes, pydot_imported_msg, pydotprint
from theano.printing.print_op import Print
from theano.printing.tree import debugprint


@as_svg.register
def _picture(thing: Any) -> str | None:
    # Drawing is for notebooks: `import theano` does without.
    from theano.printing.drawing import notebook_svg

    return notebook_svg(thing)


@as_latex.register
def _formula(v: Any) -> str | None:
    # As above; and the layers' tables are read for the first formula.
    from theano.printing.tex import notebook_latex

    return notebook_latex(v)


pydot_imported = importlib.util.find_spec("pydot") is not None
use_ascii = True

__all__ = [
    "VALID_ASSOC",
    "DefaultPrinter",
    "FunctionPrinter",
    "IgnorePrinter",
    "LeafPrinter",
    "OperatorPrinter",
    "PPrinter",
    "PatternPrinter",
    "Print",
    "PrinterState",
    "debugprint",
    "default_colorCodes",
    "default_printer",
    "greek",
    "leaf_printer",
    "one_line",
    "pp",
    "pprint",
    "pydot_imported",
    "pydot_imported_msg",
    "pydotprint",
    "special",
    "use_ascii",
]

__getattr__, __dir__ = lazily(globals(), {"latex": "theano.printing.tex:latex"})
