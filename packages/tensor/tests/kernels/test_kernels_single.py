"""Loops of single operations that the library has: bit for bit those that are generated."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from kernel_harness import C_SOURCES, compile_many, run
from test_kernels_elemwise import elemwise_node

import theano.scalar as ts
import theano.tensor as T
from theano.graph.kernel import Builtin, Kernel
from theano.settings import config
from theano.tensor.elemwise import lowering
from theano.tensor.elemwise.lowering import elemwise_kernel

TEXT = next(path for path in C_SOURCES if path.name == "single.c").read_text()
OPS = {name: 2 if kind == "BINARY" else 1 for kind, name in re.findall(r"^(UNARY|BINARY|(?:WIDE_)?FUNCTIONS)\((\w+)", TEXT, re.MULTILINE)}
FLOATS = ("float64", "float32")
EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 88.0, -104.0, 709.0, -745.0, 1e-310, 1e300, np.inf, -np.inf, np.nan)


def numbers(count: int, dtype: str, seed: int = 0) -> np.ndarray:
    """Return edges of the functions, then numbers of every size."""
    rng = np.random.default_rng(seed)
    many = np.concatenate([rng.permutation(EDGES), rng.normal(size=count) * 10.0 ** rng.integers(-9, 9, count), rng.normal(size=count)])
    with np.errstate(over="ignore"):
        return np.resize(many, count).astype(dtype)


def both(op, inputs, patterns, monkeypatch, **attributes):
    """Return the library's kernel, the one that is generated for the same node, and the node."""
    n = elemwise_node(op, inputs, patterns, **attributes)
    ready = elemwise_kernel(n.op, n)
    with monkeypatch.context() as m:
        m.setattr(lowering, "single_kernel", lambda nest, work: None)
        generated = elemwise_kernel(n.op, n)
    assert isinstance(ready, Builtin), n
    assert isinstance(generated, Kernel), n
    return ready, generated, n


@pytest.fixture(autouse=True)
def this_cpu():
    """Kernels of the level for which C is compiled here; those of lower ones round otherwise."""
    with config.change_flags(cpu_level="auto"):
        yield


def test_there_are_some():
    assert {"add", "mul", "tanh", "exp"} <= OPS.keys()
    assert len(OPS) > 15


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", OPS)
def test_as_generated(name, dtype, monkeypatch):
    """All lengths around whole vectors, strides, axes; whichever operand stands still."""
    made, op = [], getattr(ts, name)
    still = ((False,), (True,))
    for ones in [((False,),)] if OPS[name] == 1 else [((False,), (False,)), (still[1], still[0]), (still[0], still[1])]:
        # A matrix, and vectors that are overwritten.
        for axes, over in [(2, None), *((1, k) for k, o in enumerate(ones) if o == (False,))]:
            patterns = [o * axes for o in ones]
            attributes = {} if over is None else {"inplace_pattern": {0: over}, "destroy_map": {0: [over]}}
            inputs = [np.zeros((2,) * axes, dtype)] * len(patterns)
            made.append((*both(op, inputs, patterns, monkeypatch, **attributes), patterns, over))
    compile_many([generated for _, generated, *_ in made])
    for ready, generated, n, patterns, over in made:
        assert ready.work == generated.work
        for length, step in itertools.product((1, 7, 8, 17, 1100), (1, -1, 3)):
            shape = (length,) if len(patterns[0]) == 1 else (2, length)
            arrays = []
            for k, pattern in enumerate(patterns):
                whole = numbers(2 * 3 * length, dtype, k).reshape(2, 3 * length)
                part = whole[:, ::step][:, :length] if not pattern[0] else whole[:1, :1]
                arrays.append(part if len(shape) == 2 else part[0])
            results = []
            for kernel in (ready, generated):
                given = [a if k != over else a.copy() for k, a in enumerate(arrays)]
                results.append(run(kernel, n, given))
                assert results[-1].shares == (set() if over is None else {over},)
            np.testing.assert_array_equal(*(r[0].view(f"uint{8 * r[0].itemsize}") for r in results), err_msg=f"{patterns} {length} {step} {over}")
            assert results[0][0].shape == shape


@pytest.mark.parametrize("dtype", FLOATS)
def test_shapes_disagree(dtype):
    n = elemwise_node(ts.add, [np.zeros(2, dtype)] * 2)
    with pytest.raises(ValueError, match="axis 0, input 1 has length 4 but input 0 has 3"):
        run(elemwise_kernel(n.op, n), n, [np.zeros(3, dtype), np.zeros(4, dtype)])


def test_others_are_generated():
    """Other dtypes, operands along some axes only, no axis at all, and an operation of the user's that is called the same."""

    class Exp(ts.UnaryScalarOp):
        def impl(self, x):
            return x

        def c_code(self, node, name, inputs, outputs, sub):
            return f"{outputs[0]} = {inputs[0]};"

    x, i = T.dmatrix("x"), T.imatrix("i")
    own = T.Elemwise(Exp(ts.same_out, name="exp"))
    for y in (i + i, x + T.row("r"), T.dscalar("s") + T.dscalar("t"), own(x), x > x, x**x, T.add(x, x, x)):
        assert not isinstance(elemwise_kernel(y.owner.op, y.owner), Builtin), y
