"""What the tests of tensors make up at random, for attacks as well."""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[2] / "packages" / "tensor" / "tests"
for _folder in (_TESTS, _TESTS / "rules"):
    if str(_folder) not in sys.path:
        sys.path.append(str(_folder))

from arrays import LAYOUTS, lay  # noqa: E402  (the path is known only now)
from interpret import compare, run  # noqa: E402
from random_graphs import Writer, well_behaved  # noqa: E402

__all__ = ["LAYOUTS", "Writer", "compare", "lay", "rule_cases", "run", "well_behaved"]


def rule_cases():
    """Return an expression for each rule, by the rule's name."""
    from test_each_rule import CASES  # its import builds all of them

    return CASES
