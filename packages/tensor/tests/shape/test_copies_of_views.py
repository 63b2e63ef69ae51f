"""Copies that a function owes its caller: one for each value, by the layer's own kernel, which turns matrices in tiles."""

import subprocess
import sys

import numpy as np
import pytest
from arrays import LAYOUTS, lay

import theano
import theano.tensor as T
from theano.compile import DeepCopyOp
from theano.lowering.table import lower

DTYPES = ("bool", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128")
VIEWS = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.dimshuffle(2, 1, 0),
    "reversed": lambda x: x[::-1, :, ::-1],
    "a part": lambda x: x[:, 1:, ::2],
    "in one piece": lambda x: T.extra_ops.cpu_contiguous(x.dimshuffle(1, 2, 0)),
    "reshaped": lambda x: x.dimshuffle(1, 2, 0).reshape((-1, x.shape[0])),
}


def copies(f):
    return [node for node in f.maker.fgraph.toposort() if isinstance(node.op, DeepCopyOp)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_are_the_callers_own(layout, dtype):
    x = T.TensorType(dtype, (False,) * 3)("x")
    f = theano.function([x], [view(x) for view in VIEWS.values()])
    values = (np.arange(7 * 9 * 18) % 120).reshape(7, 9, 18).astype(dtype)
    given = lay(values, layout)
    kept = given.copy()
    expected = [
        kept, kept.transpose(2, 1, 0), kept[::-1, :, ::-1], kept[:, 1:, ::2], kept.transpose(1, 2, 0),
        kept.transpose(1, 2, 0).reshape(-1, kept.shape[0]) if kept.size else None,
    ]  # fmt: skip
    if expected[-1] is None:  # nobody can tell -1 of nothing
        f = theano.function([x], [view(x) for name, view in VIEWS.items() if name != "reshaped"])
    results = f(given)
    for result, wanted in zip(results, expected, strict=False):
        np.testing.assert_array_equal(result, wanted)
        assert result.flags.c_contiguous and not np.shares_memory(result, given)
        result[...] = 0
    np.testing.assert_array_equal(given, kept)


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_one_copy_by_the_kernel_of_the_layer(name):
    x = T.dtensor3("x")
    (node,) = copies(theano.function([x], VIEWS[name](x)))
    assert lower(node).symbol == "th_kernel_copy"


def test_a_process_that_lowers_nothing_else_knows_the_kernel():
    program = (
        "import theano.tensor as T; from theano.compile import deep_copy_op; from theano.lowering.table import lower;"
        " print(lower(deep_copy_op(T.fmatrix('x')).owner).symbol)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "th_kernel_copy\n"
