"""Pickles that older versions wrote: objects with the state that they had there, and what is made of them here."""

from __future__ import annotations

import io
import lzma
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pickled_programs
import pytest

import theano
import theano.tensor as T
from theano.compile.inputs import In, SymbolicOutput
from theano.compile.shared import Container
from theano.legacy.functions import _constructor_Function, _constructor_FunctionMaker
from theano.legacy.gone import MergeFeature
from theano.legacy.gone_in_tensor import Link
from theano.misc.ordered_set import OrderedSet
from theano.rewriting import Query
from theano.scalar.define import DefinedOp
from theano.scalar.output_types import transfer_type, upcast_out
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.pool.op import AveragePoolGrad, MaxPoolGrad, Pool, _Windows
from theano.tensor.type import TensorConstantSignature
from theano.tensor.var import TensorConstant


def _written(value: Any) -> Any:
    """Return the class and the state of an object as older versions wrote them, or None for those written as today."""
    if isinstance(value, TensorConstant):
        state = {"type": value.type, "index": None, "name": value.name, "tag": value.tag, "data": value.data, "cached": True}
        return type(value), state
    if isinstance(value, DefinedOp):
        preference = value.__dict__.get("output_types_preference", upcast_out)
        return type(value), {"name": value.name, "output_types_preference": preference}
    if isinstance(value, Elemwise):
        return type(value), {
            "scalar_op": value.scalar_op, "name": value.name, "inplace_pattern": dict(value.inplace_pattern),
            "destroy_map": {}, "nfunc_spec": None, "openmp": False,
        }  # fmt: skip
    if isinstance(value, DimShuffle):
        names = ("input_broadcastable", "new_order", "shuffle", "drop", "augment")
        return type(value), {**{name: getattr(value, name) for name in names}, "inplace": False}
    if isinstance(value, transfer_type):
        return type(value), {"transfer": value.parameters}
    if isinstance(value, OrderedSet):
        return type(value), {"_OrderedSet__root": None, "_OrderedSet__map": dict.fromkeys(value)}
    if isinstance(value, theano.Mode):
        return type(value), ("cvm", value.optimizer)
    if isinstance(value, Query):
        return type(value), {
            "include": OrderedSet(["fast_run"]), "exclude": None, "require": None, "subquery": {}, "position_cutoff": None,
        }  # fmt: skip
    if isinstance(value, Container):
        state = {name: getattr(value, name) for name in Container.__slots__}
        return type(value), {**state, "provided": 0, "required": True, "implicit": False}
    if isinstance(value, _Windows):
        state = {"ds": (2, 2), "st": (2, 1), "padding": (0, 0), "mode": value.mode, "ignore_border": True}
        return type(value), state
    return None


class Older(pickle.Pickler):
    """Writes as an older version did."""

    def reducer_override(self, value: Any) -> Any:
        """Return how a value is made again."""
        if isinstance(value, theano.graph.Apply) and isinstance(value.op, _Windows):
            inputs = value.inputs[: len(value.op.arrays)]  # the sizes were in the op
            state = {"op": value.op, "inputs": inputs, "outputs": value.outputs, "tag": value.tag}
            return object.__new__, (type(value),), state
        found = _written(value)
        return NotImplemented if found is None else (object.__new__, (found[0],), found[1])


def read(value: Any) -> Any:
    to = io.BytesIO()
    Older(to, protocol=2).dump(value)
    return pickle.loads(to.getvalue())


class _Function:
    """A function as older versions wrote it."""

    def __init__(self, inputs: Any, outputs: Any, containers: Any):
        self.parts = (
            _Maker(inputs, outputs, theano.Mode("cvm", "fast_run")), containers, [c.storage[0] for c in containers], True
        )  # fmt: skip

    def __reduce__(self) -> Any:
        return _constructor_Function, self.parts


class _Maker:
    def __init__(self, inputs: Any, outputs: Any, mode: Any):
        self.given = {
            "inputs": inputs, "outputs": outputs, "mode": mode, "accept_inplace": False, "on_unused_input": None,
            "profile": None, "function_builder": None, "fgraph": None,
        }  # fmt: skip

    def __reduce__(self) -> Any:
        return _constructor_FunctionMaker, (self.given,)


X = np.random.default_rng(3).normal(size=(4, 5))


@pytest.mark.parametrize("expression", [
    lambda x: x * 2 + 1, lambda x: T.exp(-x).sum(axis=0), lambda x: x.T - x.mean(), lambda x: T.fill(x, 3.0) / (x * x + 1),
    lambda x: T.switch(T.gt(x, 0), x, 0.5), lambda x: theano.grad(T.nnet.sigmoid(x * 3).sum(), x),
    lambda x: T.maximum(x, 0).max(axis=1).dimshuffle(0, "x"), lambda x: T.concatenate([x[:1], x[1:] ** 2]),
])  # fmt: skip
def test_expressions(expression: Any) -> None:
    x = T.dmatrix("x")
    again_x, again = read((x, expression(x)))
    np.testing.assert_allclose(again.eval({again_x: X}), expression(x).eval({x: X}))
    # What was read meets the rules as what was just made does.
    here, there = (theano.function([v], e).maker.fgraph.toposort() for v, e in ((x, expression(x)), (again_x, again)))
    assert sorted(str(node.op) for node in here) == sorted(str(node.op) for node in there)


@pytest.mark.parametrize("mode", ["max", "sum", "average_exc_pad"])
def test_pooling_with_sizes_in_the_op(mode: str) -> None:
    x = T.dmatrix("x")
    y = Pool(True, mode)(x, (2, 2), (2, 1))
    again_x, again, slope = read((x, y, theano.grad(y.sum(), x)))
    assert type(slope.owner.op) in (AveragePoolGrad, MaxPoolGrad) and len(again.owner.inputs) == 4
    for old, new in ((again, y), (slope, theano.grad(y.sum(), x))):
        np.testing.assert_allclose(old.eval({again_x: X}), new.eval({x: X}))


def test_functions() -> None:
    x, n = T.dvector("x"), T.dscalar("n")
    kept = Container(n, [np.array(2.0)])
    inputs = [In(x), In(n, value=kept, update=n + 1, implicit=True)]
    written = _Function(inputs, [SymbolicOutput(x * n), SymbolicOutput(n)], [Container(x, [None]), kept])
    f = read(written)
    assert [[v.tolist() for v in f([1.0, 2.0])] for _ in range(2)] == [[[2.0, 4.0], 2.0], [[3.0, 6.0], 3.0]]
    assert f.trust_input
    with theano.change_flags(unpickle_function=False):
        assert read(written) is None


def test_parts() -> None:
    mode = read(theano.Mode("py", "fast_run"))
    assert mode == theano.Mode("cvm", "fast_run") and mode.optimizer.position_cutoff == float("inf")
    assert list(read(OrderedSet(["b", "a"]))) == ["b", "a"]
    signature = TensorConstantSignature((T.dvector, np.zeros(3)))
    assert signature == TensorConstantSignature.of(np.zeros(3)) and hash(signature) == hash(TensorConstantSignature(signature))
    signature.__setstate__({"no_nan": True})
    for gone in (MergeFeature, Link):
        kept = object.__new__(gone)
        kept.__setstate__([1, 2])
        assert isinstance(kept, gone) and not vars(kept)


WRITTEN = pickle.loads(lzma.decompress(Path(pickled_programs.FILE).read_bytes()), encoding="latin1")


def _loaded(name: str) -> Any:
    text = WRITTEN[name]
    return pickle.loads(text if isinstance(text, bytes) else text.encode("latin1"))


@pytest.mark.parametrize("name", sorted({*pickled_programs.PROGRAMS} - {"gradient of a loop"}))
def test_programs_that_theano_1_0_5_has_pickled(name: str) -> None:
    expression, values = pickled_programs.PROGRAMS[name]
    inputs = pickled_programs.variables(values)
    wanted = theano.function(inputs, expression(*inputs))(*values)
    for pickled in (_loaded(name), pickle.loads(pickle.dumps(_loaded(name)))):
        np.testing.assert_allclose(theano.function(*pickled)(*values), wanted, rtol=1e-12)
    if name in pickled_programs.FUNCTIONS:
        (found,) = _loaded(f"function: {name}")(*values)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_a_function_with_updates() -> None:
    f = _loaded("updates")
    assert [float(f([[1.0, 2.0]])) for _ in range(3)] == [3, 4, 5]


def test_the_gradient_of_a_loop_says_what_to_do() -> None:
    inputs, slope = _loaded("gradient of a loop")
    with pytest.raises(NotImplementedError, match="take its gradient again"):
        theano.function(inputs, slope)
