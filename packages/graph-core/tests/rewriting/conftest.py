import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # the toy layer of these tests

from arith import add, div, mul, neg, sub

from theano.graph import Constant
from theano.rewriting import P, literals, pattern


@pytest.fixture
def arithmetic(monkeypatch):
    """Enter the toy's ops as what Python's operators mean in patterns."""
    monkeypatch.setattr(pattern, "operators", pattern.operators)
    monkeypatch.setattr(literals, "literal_readers", [lambda v: v.data if isinstance(v, Constant) else None])
    monkeypatch.setattr(literals, "conformers", [])
    monkeypatch.setattr(literals, "literal_writers", [])
    for name, op in {"add": add, "mul": mul, "sub": sub, "truediv": div, "neg": neg}.items():
        monkeypatch.setitem(pattern.operators, name, P(op))
