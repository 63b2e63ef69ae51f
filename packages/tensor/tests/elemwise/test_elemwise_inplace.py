"""Element-wise functions that work in place: their dtypes, and that they are the ops that rewriting puts in.

They are apart from the tests that run on a target with memory of its own, where nothing of the caller is overwritten.
"""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano import scalar as scal
from theano.tensor.elemwise import Elemwise


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "true_div", "exp", "sqr", "lt"])
def test_in_place_the_dtype_is_that_of_what_is_overwritten(name, dtype):
    op, scalar_op = getattr(T.inplace, f"{name}_inplace"), getattr(scal, name)
    if np.dtype(dtype).kind == "c" and name == "lt":
        return  # no order
    x, y = T.TensorType(dtype, (False,))("x"), T.TensorType("float64", (False,))("y")
    inputs = [x, y][: scalar_op.nin if scalar_op.nin > 0 else 2]
    out = op(*inputs)
    assert out.type == x.type and str(op) == f"{name}_inplace" and out.owner.op.destroy_map == {0: [0]}
    value, other = np.array([1, 2, 3]).astype(dtype), np.array([0.5, 2.0, 4.0])
    f = theano.function(inputs, out, accept_inplace=True)
    given = [value.copy(), other][: len(inputs)]
    with np.errstate(all="ignore"):
        expected = {"sqr": np.square, "lt": np.less, "sub": np.subtract, "mul": np.multiply, "true_div": np.true_divide}
        reference = expected.get(name) or getattr(np, name)
        wanted = reference(*[value.astype("float64") if name == "exp" and dtype[0] == "i" else value, other][: len(inputs)])
        wanted = wanted.astype(dtype)
    result = f(*given)
    np.testing.assert_allclose(result, wanted, rtol=1e-6)
    assert np.shares_memory(result, given[0])


@pytest.mark.parametrize("ndim", [0, 1, 2])
@pytest.mark.parametrize("over", [0, 1])
def test_the_operand_that_is_overwritten_is_the_result(over, ndim):
    """Of ops that the layer has built, and of those that are generated."""
    x, y = scal.float64("x"), scal.float64("y")
    for scalar_op, wanted in ((scal.Sub(scal.transfer_type(over)), -2.0), (scal.Composite([x, y], [x * y - x]), 12.0)):
        a, b = T.TensorType("float64", (False,) * ndim)(), T.TensorType("float64", (False,) * ndim)()
        f = theano.function([a, b], Elemwise(scalar_op, {0: over})(a, b), accept_inplace=True)
        given = [np.full((2,) * ndim, 3.0), np.full((2,) * ndim, 5.0)]
        result = f(*given)
        assert np.shares_memory(result, given[over]) and not np.shares_memory(result, given[1 - over])
        assert (given[1 - over] == (5.0, 3.0)[over]).all() and (result == wanted).all()


def test_the_forms_in_place_are_those_that_rewriting_puts_in():
    x = T.dvector("x")
    f = theano.function([x], T.exp(T.sort(x)), mode=theano.compile.get_mode("FAST_RUN").excluding("fusion"))
    op = f.maker.fgraph.outputs[0].owner.op
    assert op == T.inplace.exp_inplace and T.inplace.exp_inplace == op and hash(op) == hash(T.inplace.exp_inplace)
    assert op != T.inplace.log_inplace and op != T.exp and T.inplace.exp_inplace != T.exp
    assert type(T.inplace.exp_inplace(x).owner.op) is Elemwise
