"""Each family of the documented rules by examples: what an expression becomes, and that it is worth the same."""

import numpy as np
import pytest
from interpret import run

import theano
import theano.tensor as T
from theano.compile import DeepCopyOp
from theano.graph.traverse import explicit_inputs
from theano.tensor import nnet

x, y, z = T.dvectors("x", "y", "z")
m, n = T.dmatrices("m", "n")
s, i, j = T.dscalar("s"), T.lscalar("i"), T.lscalar("j")
c, k = T.bvector("c"), T.lvector("k")

#: By family: an expression, and what is left of it before loops are joined and memory is taken over.
FAMILIES = {
    "sums and products": [
        (x/x, "alloc(TensorConstant{(1,) of 1.0}, Shape_i{0}(x))"),
        ((x*y)/x, "y"),
        ((x*y)/y, "x"),
        (x+y-x, "y"),
        (-(-x), "x"),
        (2*x*3*y*4, "(TensorConstant{(1,) of 24.0} * x * y)"),
        (1+x+2+y+3, "(TensorConstant{(1,) of 6.0} + x + y)"),
        (x*x/x, "x"),
        ((x/y+z)*y, "(x + (z * y))"),
        ((-x)*(-y), "(x * y)"),
        ((x/y)/z, "(x / (y * z))"),
        (x+0, "x"),
        (x*1, "x"),
        (x*0, "alloc(TensorConstant{(1,) of 0.0}, Shape_i{0}(x))"),
        (x/1, "x"),
        (-(x-y), "(y - x)"),
        (x-(-y), "(x + y)"),
        (x*(y/x), "y"),
        (1/(1/x), "x"),
        (i//1, "i"),
        (T.exp(T.constant(1.))*x, "(TensorConstant{(1,) of 2...9843292236} * x)"),
    ],
    "powers": [
        (x**2, "sqr(x)"),
        (x**1, "x"),
        (x**0, "alloc(TensorConstant{(1,) of 1.0}, Shape_i{0}(x))"),
        (x**.5, "sqrt(x)"),
        (x**-1, "inv(x)"),
        (x**-2, "inv(sqr(x))"),
    ],
    "exponentials and logarithms": [
        (T.log(T.exp(x)), "x"),
        (T.log(1+x), "log1p(x)"),
        (T.log(1-x), "log1p((-x))"),
        (T.exp(x)-1, "expm1(x)"),
        (T.log(1+T.exp(x)), "softplus(x)"),
        (T.log1p(T.expm1(x)), "x"),
        (T.expm1(T.log1p(x)), "x"),
        (T.log(x**2), "(TensorConstant{(1,) of 2.0} * log(|x|))"),
        (T.log(T.sum(T.exp(m),axis=1)), "LogSumExp{axis=(1,)}(m)"),
        (1/(1+T.exp(-x)), "sigmoid(x)"),
        (T.log(nnet.sigmoid(x)), "(-softplus((-x)))"),
        (T.log(1-nnet.sigmoid(x)), "(-softplus(x))"),
        (1-nnet.sigmoid(x), "sigmoid((-x))"),
        (T.exp(x)/(1+T.exp(x)), "sigmoid(x)"),
        (T.exp(m)/T.sum(T.exp(m),axis=1,keepdims=True), "Softmax(m)"),
        (T.log(nnet.softmax(m)), "LogSoftmax(m)"),
        (1-T.erf(x), "erfc(x)"),
        (1-T.erfc(x), "erf(x)"),
    ],
    "choices and comparisons": [
        (T.switch(T.lt(x,x),x,y), "y"),
        (T.ge(x.shape[0],0), "TensorConstant{True}"),
        (T.switch(c,x,x), "x"),
        (T.switch(1,x,y), "x"),
        (T.switch(c,T.switch(c,x,y),z), "switch(c, x, z)"),
        (T.switch(c,x,0)*y, "switch(c, (x * y), TensorConstant{(1,) of 0.0})"),
        (T.invert(T.invert(i)), "i"),
        (T.maximum(x,x), "x"),
        (abs(-x), "|x|"),
        (T.xor(i,i), "TensorConstant{0}"),
    ],
    "reductions": [
        (m.sum(1).sum(), "sum(m)"),
        (T.alloc(s,i,j).sum(), "Assert{msg='negative length in a shape. Lengths are 0 or more.'}((s * Elemwise{Cast{float64}}((i * j))), ge(i, TensorConstant{0}), ge(j, TensorConstant{0}))"),
        (m.T.sum(axis=0), "sum(m, axis=(1,))"),
        (m.T.sum(), "sum(m)"),
        (m.max(1).max(), "max(m)"),
        ((3*m).sum(), "(TensorConstant{3.0} * sum(m))"),
        ((-m).sum(), "(-sum(m))"),
        (m.prod(0).prod(), "prod(m)"),
        ((m/s).sum(), "(sum(m) / s)"),
        (x.dimshuffle("x",0).sum(axis=0), "x"),
        (T.ones_like(m).sum(), "Elemwise{Cast{float64}}((Shape_i{0}(m) * Shape_i{1}(m)))"),
        (T.any(T.any(m>0,axis=0)), "or_(gt(m, TensorConstant{(1, 1) of 0}), axis=(0, 1))"),
    ],
    "dimensions": [
        (m.T.T, "m"),
        (T.exp(m).T, "exp(m).T"),
        (m.dimshuffle(0,1), "m"),
        (x.dimshuffle("x",0).dimshuffle(1), "x"),
        (m.flatten().reshape((i,j)), "reshape(m, stack(i, j))"),
        (m.reshape(m.shape), "m"),
        (T.exp(m).reshape((6,)), "exp(reshape(m, TensorConstant{(1,) of 6}))"),
        (T.tile(m,(1,1)), "m"),
        (x.flatten(), "x"),
    ],
    "parts": [
        (x[2:][3:], "x[5:]"),
        (x[::-1][::-1], "x"),
        (m[:,:], "m"),
        (x[0:x.shape[0]], "x"),
        (T.alloc(s,5,6)[1:3,2], "alloc(s, TensorConstant{2})"),
        (T.exp(x)[1:3], "exp(x[1:3])"),
        ((x+y)[2], "(x[2] + y[2])"),
        ((m+1)[i], "(TensorConstant{(1,) of 1.0} + m[i])"),
        (T.dot(m,n)[i], "(m[i] \\dot n)"),
        (T.dot(m,n)[:,1:], "(m \\dot n[:, 1:])"),
        (T.stack([s,s+1])[0], "s"),
        (T.set_subtensor(x[i],s)[i], "s"),
        (T.inc_subtensor(T.zeros_like(x)[i],s), "set_subtensor(alloc(TensorConstant{(1,) of 0.0}, Shape_i{0}(x))[i], s)"),
        (T.inc_subtensor(x[i],0), "x"),
        (T.constant(np.arange(5.))[2], "TensorConstant{2.0}"),
        (x[1:i][2:], "x[3:i]"),
        (x.dimshuffle(0,"x")[:,0], "x"),
        (T.switch(c,x,y)[2], "switch(c[2], x[2], y[2])"),
    ],
    "joints": [
        (T.join(0,x), "x"),
        (T.join(0,x,T.zeros((0,))), "x"),
        (T.join(0,x,y).shape, "stack((Shape_i{0}(x) + Shape_i{0}(y)))"),
    ],
    "repetitions": [
        (T.fill(x,2)*x, "(TensorConstant{(1,) of 2.0} * x)"),
        (T.fill(x,y), "y"),
        (T.alloc(2.,x.shape[0])*x, "(TensorConstant{(1,) of 2.0} * x)"),
        (T.ones_like(x)*y, "y"),
        (T.zeros_like(x)+x, "x"),
        (T.alloc(T.alloc(s,1),3), "alloc(s, TensorConstant{3})"),
    ],
    "shapes": [
        ((x+y).shape, "stack(Shape_i{0}(x))"),
        (T.dot(m,n).shape, "stack(Shape_i{0}(m), Shape_i{1}(n))"),
        (m[i].shape, "stack(Shape_i{1}(m))"),
    ],
    "matrices": [
        (T.dot(m,n), "(m \\dot n)"),
        (s*T.dot(m,n)+2*m, "Gemm{no_inplace}(m, s, m, n, TensorConstant{2.0})"),
        (T.dot(m,x)+y, "CGemv{no_inplace}(y, TensorConstant{1.0}, m, x, TensorConstant{1.0})"),
        (m+T.outer(x,y), "CGer{non-destructive}(m, TensorConstant{1.0}, x, y)"),
        (T.dot(m,T.zeros_like(n)), "alloc(Assert{msg='dot: the inner lengths of the factors differ'}(TensorConstant{0.0}, eq(Shape_i{1}(m), Shape_i{0}(n))), Shape_i{0}(m), Shape_i{1}(n))"),
        (T.dot(m.T,n.T).T, "(n \\dot m)"),
        (T.dot(T.nlinalg.matrix_inverse(m),n), "Solve{A_structure=general, lower=False, overwrite_A=False, overwrite_b=False, on_error=raise}(m, n)"),
        (T.argmax(nnet.softmax(m),axis=1), "Argmax{axis=(1,)}(m)"),
    ],
    "casts": [
        (T.cast(T.cast(c,"int32"),"float64"), "Elemwise{Cast{float64}}(c)"),
        (T.cast(x,"float64"), "x"),
        (T.real(x), "x"),
        (T.conj(x), "x"),
        (T.opt.assert_op(x,T.constant(1)), "x"),
        (T.repeat(x,1), "x"),
    ],
}

rng = np.random.default_rng(5)
VALUES = {
    x: rng.uniform(0.1, 0.9, 6), y: rng.uniform(0.1, 2, 6), z: rng.normal(size=6), m: rng.uniform(0.5, 1, (6, 6)),
    n: rng.normal(size=(6, 6)), s: np.array(1.5), i: np.array(4), j: np.array(3), k: np.array([3, 1, 5]),
    c: np.array([0, 1, 1, 0, 0, 1], "i1"),
}  # fmt: skip
# Where six elements are given another shape.
SMALL = {**VALUES, m: rng.normal(size=(2, 3)), i: np.array(6), j: np.array(1)}
EXAMPLES = [(family, k) for family, examples in FAMILIES.items() for k in range(len(examples))]
MODE = theano.Mode("cvm", "fast_run").excluding("elemwise_fusion", "inplace")


@pytest.mark.parametrize("family, number", EXAMPLES)
def test_what_is_left(family, number):
    expression, wanted = FAMILIES[family][number]
    inputs = explicit_inputs([expression])
    lent = [theano.In(v, borrow=True) for v in inputs]  # so that nothing is copied for the caller
    f = theano.function(lent, theano.Out(expression, borrow=True), mode=MODE)
    (out,) = f.maker.fgraph.outputs
    copied = out.owner is not None and isinstance(out.owner.op, DeepCopyOp)  # a constant, which is never lent
    assert theano.pp(out.owner.inputs[0] if copied else out) == wanted
    # The oracle computes node by node, in Python, without a rule.
    given = {v: (SMALL if "reshape" in wanted else VALUES)[v] for v in inputs}
    (plain,) = run([expression], given)
    np.testing.assert_allclose(f(*given.values()), plain, rtol=1e-12, atol=1e-12)


def test_nested_choices_by_one_condition():
    for expression, wanted in [
        (T.switch(c, x, y) + T.switch(c, y, z), np.where(VALUES[c], VALUES[x] + VALUES[y], VALUES[y] + VALUES[z])),
        (T.lt(T.switch(c, x, y), T.switch(c, x, z)), np.where(VALUES[c], False, VALUES[y] < VALUES[z])),
    ]:
        f = theano.function([c, x, y, z], expression, mode=MODE)
        assert sum(str(node.op).startswith("Elemwise{switch") for node in f.maker.fgraph.toposort()) == 1
        np.testing.assert_array_equal(f(VALUES[c], VALUES[x], VALUES[y], VALUES[z]), wanted)


@pytest.mark.parametrize("n_", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("first", [slice(None, None, -1), slice(2, None), slice(1, 4), slice(0, -1), slice(1, -1), slice(None, 3)])
@pytest.mark.parametrize("second", [slice(None, None, -1), slice(1, None), slice(1, None, 2), slice(None, 2), slice(-2, None), 0, 1, -1, -3])
def test_a_part_of_a_part(n_, first, second):
    values = np.arange(float(n_))
    f = theano.function([x], x[first][second], mode=MODE)
    try:
        wanted = values[first][second]
    except IndexError:
        with pytest.raises(IndexError):
            f(values)
        return
    np.testing.assert_array_equal(f(values), wanted)


def test_an_element_of_joined_pieces():
    pairs = [(T.stack([x, 2 * x]), 1), (T.stack([x, 2 * x]), -2), (T.concatenate([m[:2], m[:2] + 1])[:, :3], 0)]
    for joined, place in pairs:
        inputs = explicit_inputs([joined])
        given = {v: VALUES[v] for v in inputs}
        f = theano.function(inputs, joined[place], mode=MODE)
        (plain,) = run([joined[place]], given)
        np.testing.assert_allclose(f(*given.values()), plain)
    assert "Join" not in str(theano.function([x], pairs[0][0][1], mode=MODE).maker.fgraph.toposort())
    # Pieces that may not fit are still joined, which finds it out.
    f = theano.function([x, y], T.stack([x, y])[0], mode=MODE)
    with pytest.raises(ValueError):
        f([1.0], [1.0, 2.0])


def test_reductions_of_what_was_turned():
    t = T.dtensor3("t")
    value = rng.normal(size=(2, 3, 4))
    for order in [(2, 0, 1), (1, "x", 0, 2), ("x", 2, 1, 0)]:
        for axes in [(0,), (1, 2), None, (0, 2), (-1,)]:
            for reduced in (T.sum, T.max, T.prod):
                out = reduced(t.dimshuffle(*order), axis=axes)
                f = theano.function([t], out, mode=MODE)
                (plain,) = run([out], {t: value})
                np.testing.assert_allclose(f(value), plain, rtol=1e-12)
    f = theano.function([m], m.T.sum(axis=0), mode=MODE)
    assert [str(node.op) for node in f.maker.fgraph.toposort()] == ["Sum{axis=[1], acc_dtype=float64}"]


b, d = T.bvector("b"), T.bvector("d")
zc, row = T.zvector("zc"), T.row("row", dtype="float64")
REALS = [[0.5, 1.7, -2.3, -0.0, np.inf, np.nan], [1.0, -2.0, 0.25, 3.0, 7.5, -1.0]]

#: What rules once took for something else, for a dtype or a pattern that they did not ask for.
OTHER_DTYPES = {
    "a float over 1": (x // 1, REALS),
    "a float over 1.0": (x // 1.0, REALS),
    "a float over ones": (T.int_div(x, T.ones_like(x)), REALS),
    "divmod of a float and 1": (divmod(x, 1)[0], REALS),
    "narrow numbers in a choice of wide ones": (T.switch(c, 0.0, b) * d, [[0, 1, 0], [-40, 3, 100], [-121, 5, 100]]),
    "a sum of choices between narrow and wide": (
        T.switch(c, b, 0.5) + T.switch(c, d, 1.5), [[1, 0, 1], [100, 3, 90], [100, 5, 90]]
    ),
    "the negative of an unsigned factor": (-(T.constant(np.array([2], "uint8")) * x), REALS),
    "a complex 1 more": (T.log(T.constant(np.complex64(1)) + x), REALS),
    "a complex 1 less": (T.log(T.constant(np.complex64(1)) - x), REALS),
    "a product of complex squares": (T.log(T.sqr(zc).prod()), [[1 + 2j, 0.5 - 1j, -3 + 0.5j]]),
    "the logarithm of a difference of complex numbers": (T.log(1 - zc), [[100.25 + 0j, 3 + 0j]]),
    "squares of what is repeated": (
        T.sqr(row.dimshuffle("x", 0, 1) * n.T.dimshuffle(0, 1, "x")).sum(axis=(1, 2)), [[[1.0, 2.0, 3.0]], rng.normal(size=(4, 2))],
    ),
    "the largest of complex pieces": (T.stack([x, y]).max(axis=0), REALS),
    "copies of a negative zero": (1 / T.tile(x, 2), REALS),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_DTYPES)
@pytest.mark.parametrize("mode", ["FAST_RUN", MODE], ids=["FAST_RUN", "plain"])
def test_dtypes_and_patterns_that_a_rule_is_not_for(name, mode):
    out, values = OTHER_DTYPES[name]
    inputs = explicit_inputs([out])
    given = [np.array(value, v.type.dtype) for v, value in zip(inputs, values, strict=False)]
    with np.errstate(all="ignore"):
        (plain,) = run([out], dict(zip(inputs, given, strict=True)))
    found = theano.function(inputs, out, mode=mode)(*given)
    assert found.dtype == plain.dtype
    np.testing.assert_allclose(found, plain, rtol=1e-12, equal_nan=True)
