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
#: Of an array with three axes, here and in NumPy.
VIEWS = {
    "as it is": (lambda x: x, lambda x: x),
    "transposed": (lambda x: x.dimshuffle(2, 1, 0), lambda x: x.transpose(2, 1, 0)),
    "reversed": (lambda x: x[::-1, :, ::-1],) * 2,
    "a part": (lambda x: x[:, 1:, ::2],) * 2,
    "in one piece": (lambda x: T.extra_ops.cpu_contiguous(x.dimshuffle(1, 2, 0)), lambda x: x.transpose(1, 2, 0)),
    "reshaped": (lambda x: x.dimshuffle(1, 2, 0).reshape((-1, x.shape[0])), lambda x: x.transpose(1, 2, 0).reshape(-1, len(x))),
}


def copies(f):
    return [node for node in f.maker.fgraph.toposort() if isinstance(node.op, DeepCopyOp)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_are_the_callers_own(layout, dtype):
    x = T.TensorType(dtype, (False,) * 3)("x")
    given = lay((np.arange(7 * 9 * 18) % 120).reshape(7, 9, 18).astype(dtype), layout)
    kept = given.copy()
    views = [pair for name, pair in VIEWS.items() if given.size or name != "reshaped"]  # nobody can tell -1 of nothing
    results = theano.function([x], [ours(x) for ours, _ in views])(given)
    for result, (_, numpys) in zip(results, views, strict=True):
        np.testing.assert_array_equal(result, numpys(kept))
        assert result.flags.c_contiguous and not np.shares_memory(result, given)
        result[...] = 0
    np.testing.assert_array_equal(given, kept)


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_one_copy_by_the_kernel_of_the_layer(name):
    x = T.dtensor3("x")
    (node,) = copies(theano.function([x], VIEWS[name][0](x)))
    assert lower(node).symbol == "th_kernel_copy"


def test_a_process_that_lowers_nothing_else_knows_the_kernel():
    program = (
        "import theano.tensor as T; from theano.compile import deep_copy_op; from theano.lowering.table import lower;"
        " print(lower(deep_copy_op(T.fmatrix('x')).owner).symbol)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "th_kernel_copy\n"
