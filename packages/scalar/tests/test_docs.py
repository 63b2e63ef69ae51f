"""Every example of the documentation runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pickle
import pkgutil
from typing import Any

import pytest

import theano.scalar as ts
from theano.scalar.registry import OPS

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["theano.scalar"] + [m.name for m in pkgutil.walk_packages(ts.__path__, "theano.scalar.")]
DEFINED = {op.op_name: op for op in OPS.values() if isinstance(op, ts.DefinedOp) and op.module == "theano.scalar"}


@pytest.mark.parametrize("name", MODULES)
def test_module(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    failed, _ = doctest.testmod(module, optionflags=OPTIONS)
    assert failed == 0


@pytest.mark.parametrize("op", DEFINED.values(), ids=str)
def test_operation(op: Any) -> None:
    text = type(op).__doc__
    assert inspect.getdoc(type(op)) and ">>>" in text
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(doctest.DocTestParser().get_doctest(text, {}, op.op_name, None, 0))
    assert runner.summarize().failed == 0


@pytest.mark.parametrize("op", [*DEFINED.values(), ts.convert_to_int8], ids=str)
def test_pickle(op: Any) -> None:
    again = pickle.loads(pickle.dumps(op))
    assert again == op and hash(again) == hash(op) and str(again) == str(op)


def test_variants_are_other_operations() -> None:
    plus = ts.Add(ts.upcast_out, name="plus")
    assert plus(ts.int8("i"), ts.float32("x")).type == ts.float32 and str(plus) == "plus"
    assert plus == ts.Add(ts.upcast_out) and plus != ts.add
    assert pickle.loads(pickle.dumps(plus)) == plus
