"""Types, variables, constants, shared variables; what is refused; pickles, modes, names."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from samples import FORMATS, matrix, plain

import theano
from theano import sparse as S
from theano import tensor as T
from theano.graph.canonical import form_of, object_of
from theano.sparse import compressed
from theano.sparse.type import SparseType
from theano.tensor.testing import check_op

# -- values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_what_becomes_a_value(format):
    kind = SparseType(format, "float64")
    m = matrix(format)
    assert kind.filter(m) is m
    for value in (
        matrix("csr"),
        matrix("csc"),
        sp.csr_array(m),
        sp.coo_matrix(m),
        plain(m),
        matrix(format, wide=True),
        m.astype("float32").astype("int8"),
    ):
        found = kind.filter(value)
        assert kind.is_valid_value(found) and type(found) is compressed.CLASSES[format]
    twice = matrix(format, form="twice")
    assert kind.filter(twice).nnz == twice.nnz - 1
    np.testing.assert_array_equal(plain(kind.filter(twice)), plain(twice))
    longer = m.copy()
    longer.data, longer.indices = np.append(m.data, 7.0), np.append(m.indices, 0).astype("int32")
    np.testing.assert_array_equal(kind.filter(longer).toarray(), m.toarray())
    assert kind.filter(longer).data.size == m.nnz
    for refused in (m.astype("complex128"), "text", np.zeros((2, 2, 2)), None):
        with pytest.raises(TypeError):
            kind.filter(refused)
    with pytest.raises(TypeError, match="strict"):
        kind.filter(m.astype("float32"), strict=True)
    assert SparseType(format, "float32").filter(m, allow_downcast=True).dtype == "float32"


#: How many malformed matrices are tried; a run under the address sanitizer tries 10,000.
MALFORMED = int(os.environ.get("THEANO_SPARSE_MALFORMED", "300"))


def malformed(rng, format):
    """Return a matrix one of whose arrays is not what it should be, and whether SciPy would notice."""
    m = matrix(format, (6, 5), seed=int(rng.integers(5)), wide=bool(rng.integers(2)))
    which = rng.integers(9)
    if which == 0:
        m.indices[rng.integers(m.nnz)] = rng.choice([-1, 6, 2**30, -(2**31)])
    elif which == 1:
        m.indptr[rng.integers(1, len(m.indptr))] = rng.choice([-5, 2**31 - 1, m.nnz + 1 + rng.integers(9)])
    elif which == 2:
        m.indptr[0] = rng.choice([1, -1, 100])
    elif which == 3:
        m.indptr = m.indptr[:-1] if rng.integers(2) else np.append(m.indptr, m.indptr[-1])
    elif which == 4:
        m.indices = m.indices[: m.nnz // 2]
    elif which == 5:
        m.data = m.data[: m.nnz // 2]
    elif which == 6:
        m.indices = m.indices.astype("float64")
        m.indices[0] = np.nan
    elif which == 7:
        m._shape = (2, 2)
    else:
        m.indptr = m.indptr.reshape(1, -1)
    return m


@pytest.mark.parametrize("format", FORMATS)
def test_malformed_matrices_are_refused(format):
    """As arguments of products, sums and conversions, constants, shared values, and parts, in either format."""
    rng = np.random.default_rng(0)
    x, d, v, i, p = S.matrix(format, "x", "float64"), T.dmatrix("d"), T.dvector(), T.ivector(), T.ivector()
    f = theano.function([x, d], S.dot(x, d))
    others = [theano.function([x], out) for out in (S.dot(x, np.ones(5)), x.toarray(), x.sum(axis=0), x.T + x.T)]
    g = theano.function([v, i, p, d], S.dot(S.CSM(format)(v, i, p, [6, 5]), d))
    w = theano.shared(matrix(format, (6, 5)))
    dense = np.ones((5, 3))
    other = SparseType(FORMATS[format == "csr"], "float64")
    for number in range(MALFORMED):
        m, another = malformed(rng, format), others[number % len(others)]
        for attempt in (
            lambda m=m: f(m, dense),
            lambda m=m, another=another: another(m),
            lambda m=m: w.set_value(m),
            lambda m=m: SparseType(format, "float64").filter(m, strict=True),
            lambda m=m: other.filter(m),
        ):
            with pytest.raises((ValueError, TypeError)) as caught:
                attempt()
            assert len(str(caught.value).splitlines()) <= 12
        if m.indices.dtype.kind == "i" and m.indptr.ndim == 1 and m.shape == (6, 5):
            with pytest.raises((ValueError, TypeError)):
                g(m.data, m.indices, m.indptr, dense)
    ends = [0, 1, 1, 1, 1, 1, 1] if format == "csr" else [0, 0, 1, 1, 1, 1]
    np.testing.assert_allclose(g([2.0], [1 if format == "csr" else 0], ends, dense)[0], 2.0)


@pytest.mark.parametrize("format", ["coo", "bsr"])
def test_malformed_matrices_of_other_formats_are_refused(format):
    """Before SciPy converts them, which would write where their indices lead."""
    x = S.csr_dmatrix("x")
    f = theano.function([x], x.toarray())
    good = sp.csr_matrix(np.kron(plain(matrix("csr")), np.ones((2, 2)))).asformat(format)
    np.testing.assert_array_equal(f(good), plain(good))
    for array, wrong in (("row", 999), ("col", -7)) if format == "coo" else (("indices", 999), ("indptr", -7)):
        m = good.copy()
        getattr(m, array)[1] = wrong
        with pytest.raises(ValueError):
            f(m)
        m = good.copy()
        setattr(m, array, getattr(m, array)[:-2])
        with pytest.raises(ValueError):
            f(m)


def test_both_ways_to_examine_agree():
    rng = np.random.default_rng(1)
    for k in range(300):
        format = FORMATS[k % 2]
        m = malformed(rng, format) if k % 3 else matrix(format, form=("sorted", "unsorted", "twice")[k // 3 % 3])
        if m.indices.dtype.kind != "i" or m.indptr.ndim != 1 or m.indices.dtype != m.indptr.dtype:
            continue
        sizes = m.shape if format == "csr" else m.shape[::-1]
        numbers = [
            f(m.indices, m.indptr, len(m.data), *sizes)
            for f in (compressed.number_of_problem, compressed._examine_slowly)
        ]
        assert numbers[0] == numbers[1], (m.indices, m.indptr, m.shape)


def test_values_are_compared_by_value():
    kind = SparseType("csr", "float64")
    m = matrix("csr")
    other = matrix("csr", form="unsorted")
    assert (
        kind.values_eq(m, other) and kind.values_eq_approx(m, other * (1 + 1e-9)) and not kind.values_eq(m, other * 2)
    )
    assert kind.may_share_memory(m, m.T) and not kind.may_share_memory(m, m.copy())
    assert object_of(form_of(m)).shape == m.shape


# -- variables ---------------------------------------------------------------------------------------------------------


def test_variables():
    x = S.csr_matrix("x", dtype="float32")
    assert (x.format, x.dtype, x.ndim, str(x)) == ("csr", "float32", 2, "x")
    assert S.as_sparse(x) is x
    c = S.constant(matrix("csc"))
    assert c.type == SparseType("csc", "float64") and c.equals(S.constant(matrix("csc")))
    assert S.as_sparse_or_tensor_variable(np.ones(2)).type.ndim == 1
    for make in (
        lambda: S.as_sparse_variable(T.dmatrix()),
        lambda: S.as_sparse_variable(3),
        lambda: SparseType("csr", "bool"),
        lambda: bool(x),
        lambda: list(x),
        lambda: T.as_tensor_variable(x),
    ):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(NotImplementedError):
        SparseType("lil", "float64")
    assert S.bsr_matrix("b").type.filter(sp.bsr_matrix(np.eye(4))).format == "bsr"
    f = theano.function([S.bsr_dmatrix("b")], [], on_unused_input="ignore")
    f(sp.bsr_matrix(np.eye(4)))


def test_shared():
    m = matrix("csr")
    w = theano.shared(m, name="w")
    assert w.get_value() is not m and theano.shared(m, borrow=True).get_value(borrow=True) is m
    step = theano.function([], [], updates=[(w, w * 2.0)])
    step()
    np.testing.assert_allclose(w.get_value().toarray(), 2 * m.toarray())
    step()
    np.testing.assert_allclose(w.get_value().toarray(), 4 * m.toarray())
    w.set_value(sp.csc_matrix(m))
    assert w.get_value().format == "csr"
    with pytest.raises(ValueError, match="is outside"):
        w.set_value(_outside())


def _outside():
    m = matrix("csr")
    m.indices[0] = 77
    return m


def test_results_belong_to_the_caller():
    x = S.csr_dmatrix("x")
    f = theano.function([x], [x, x.T, x * 2.0])
    m = matrix("csr")
    same, turned, twice = f(m)
    again = f(m)[2]
    for found in (same, turned, twice):
        found.data[...] = 0
    assert m.nnz == np.count_nonzero(m.data) and np.count_nonzero(again.data) == m.nnz


# -- the rest of the system --------------------------------------------------------------------------------------------


def logistic():
    x, t, w = S.csr_dmatrix("x"), T.dvector("t"), theano.shared(np.linspace(-1, 1, 4), "w")
    cost = T.nnet.binary_crossentropy(T.nnet.sigmoid(S.dot(x, w)), t).mean()
    return [x, t], cost, [(w, w - 0.5 * theano.grad(cost, w))], w


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "DebugMode", "NanGuardMode"])
def test_modes(mode):
    inputs, cost, updates, w = logistic()
    if mode == "NanGuardMode":
        mode = theano.compile.nanguardmode.NanGuardMode(nan_is_error=True, inf_is_error=True, big_is_error=True)
    f = theano.function(inputs, cost, updates=updates, mode=mode)
    x, t = plain(matrix("csr")), np.array([0, 1, 0, 1, 1.0])
    here = np.linspace(-1, 1, 4)
    p = 1 / (1 + np.exp(-x @ here))
    np.testing.assert_allclose(f(matrix("csr"), t), -(t * np.log(p) + (1 - t) * np.log(1 - p)).mean())
    np.testing.assert_allclose(w.get_value(), here - 0.5 * x.T @ (p - t) / 5)


def test_debug_mode_on_all_kinds():
    x, y, d = S.csr_dmatrix("x"), S.csc_dmatrix("y"), T.dmatrix("d")
    made = [
        x + y,
        x * d,
        S.true_dot(x, y.T),
        S.sampling_dot(d, T.dot(d.T, d), x),
        S.clean(x),
        S.sp_sum(x, 0),
        S.usmm(2.0, x, d.T, T.dot(d, d.T)),
        S.structured_exp(x) * 2,
        x[1:3],
    ]
    f = theano.function([x, y, d], made, mode="DebugMode")
    m, n, dense = matrix("csr", form="unsorted"), matrix("csc", seed=4), np.random.default_rng(0).normal(size=(5, 4))
    np.testing.assert_allclose(f(m, n, dense)[0].toarray(), plain(m) + plain(n))


def test_pickles():
    inputs, cost, updates, w = logistic()
    f = theano.function(inputs, cost, updates=updates)
    g = pickle.loads(pickle.dumps(f))
    args = matrix("csr"), np.ones(5)
    np.testing.assert_allclose(f(*args), g(*args))
    x = S.csr_dmatrix("x")
    out = pickle.loads(pickle.dumps(S.structured_dot(x, x.T)))
    assert out.type == SparseType("csr", "float64")
    assert pickle.loads(pickle.dumps(S.constant(matrix("csr")))).equals(S.constant(matrix("csr")))


def test_contract_of_ops():
    check_op(S.SquareDiagonal(), [np.array([1.0, 2.0, 3.0])], differentiable=[])
    check_op(S.SparseFromDense("csr"), [np.arange(6.0).reshape(2, 3)], differentiable=[])


def test_random():
    from theano.sparse.random.op import Binomial, multinomial, poisson

    x = S.csr_dmatrix("x")
    means = sp.csr_matrix(np.full((50, 40), 4.0))
    drawn = theano.function([x], poisson(x))(means)
    assert abs(drawn.toarray().mean() - 4) < 0.3
    counts = theano.function([x], multinomial(30, x))(sp.csr_matrix(np.full((50, 4), 0.25)))
    assert (counts.toarray().sum(axis=1) == 30).all()
    made = theano.function([], Binomial("csc", "float32")(5, 0.5, [30, 20]))()
    assert made.shape == (30, 20) and abs(made.toarray().mean() - 2.5) < 0.3


def test_sparse_gradient_of_rows():
    x, places = T.dmatrix("x"), T.lvector("places")
    g = theano.grad(theano.sparse_grad(x[places]).sum(), x)
    f = theano.function([x, places], g)
    assert S.is_sparse(g)
    np.testing.assert_array_equal(f(np.ones((4, 2)), [1, 1, 3]).toarray(), [[0, 0], [2, 2], [0, 0], [1, 1]])
    with pytest.raises(TypeError, match="only the gradient of a matrix"):
        theano.grad(theano.sparse_grad(x[0][places]).sum(), x)


def test_theano_dot():
    x, d = S.csr_dmatrix("x"), T.dmatrix("d")
    f = theano.function([x, d], [theano.dot(x, d), T.dot(d.T, x.T)])
    for found, wanted in zip(
        f(matrix("csr"), np.ones((4, 2))), (plain(matrix("csr")) @ np.ones((4, 2)),) * 2, strict=True
    ):
        np.testing.assert_allclose(found if found.shape == wanted.shape else found.T, wanted)


def test_shapes_without_values():
    """No matrix is made to tell how long it is."""
    x, y = S.csr_dmatrix("x"), S.csr_dmatrix("y")
    for out in (
        x + y,
        x.T,
        S.hstack([x, y]),
        S.structured_dot(x, y.T),
        S.structured_exp(x),
        S.dense_from_sparse(x),
        S.dot(x, y.T),
    ):
        f = theano.function([x, y], out.shape, on_unused_input="ignore")
        names = {type(n.op).__name__ for n in f.maker.fgraph.toposort()}
        assert names <= {"CSMProperties", "MakeVector", "Subtensor", "Elemwise", "Shape_i", "DimShuffle"}, (out, names)
        given = {v: matrix("csr") for v in theano.graph.traverse.inputs([out]) if v in (x, y)}
        assert tuple(f(matrix("csr"), matrix("csr"))) == out.eval(given).shape


# -- rules -------------------------------------------------------------------------------------------------------------


def ops(f):
    return [type(n.op).__name__ for n in f.maker.fgraph.toposort()]


def test_a_chain_of_maps_is_one_loop():
    x = S.csr_dmatrix("x")
    f = theano.function([x], S.structured_exp(-S.sqr(x) * 2.0))
    assert ops(f).count("Elemwise") == 1 and ops(f).count("CSM") == 1
    np.testing.assert_allclose(f(matrix("csr")).data, np.exp(-2 * matrix("csr").data ** 2))


def test_documented_rules():
    x, y, d, z = S.csr_dmatrix("x"), S.csc_dmatrix("y"), T.dmatrix("d"), T.dmatrix("z")
    assert "MulSD" not in ops(theano.function([x, d], x * d))
    assert "AddedProduct" in ops(theano.function([y, d, z], z - 2 * S.dot(y, d)))
    f = theano.function([y, d, z], T.exp(z).dot(T.exp(z).T) - 2 * S.dot(y, d))
    assert any(getattr(n.op, "inplace", False) for n in f.maker.fgraph.toposort())
    np.testing.assert_allclose(
        f(matrix("csc"), np.ones((4, 5)), np.zeros((5, 2))), 2 - 2 * plain(matrix("csc")) @ np.ones((4, 5))
    )
    assert any(
        getattr(n.op, "inplace", False)
        for n in theano.function([d], S.remove0(S.csr_from_dense(d))).maker.fgraph.toposort()
    )
    assert ops(theano.function([d], S.dense_from_sparse(S.csr_from_dense(d)))) == ["DeepCopyOp"]
    off = theano.function(
        [x, d], S.structured_dot(x, d), mode=theano.compile.get_default_mode().excluding("local_structured_dot")
    )
    assert "StructuredDot" in ops(off)


def test_a_gradient_at_the_very_places_is_not_looked_up():
    """Where the places come from a matrix; those that somebody gives are compared."""
    y, data, m = S.csr_dmatrix("y"), T.dvector("data"), matrix("csr")
    _, indices, indptr, shape = S.csm_properties(y)
    for given in ([], [indices], [indptr], [indices, indptr]):
        own = {v: v.type() for v in given}
        x = S.CSM("csr")(data, own.get(indices, indices), own.get(indptr, indptr), shape)
        cost = S.sp_sum(S.structured_exp(x), sparse_grad=True)
        f = theano.function([data, y, *own.values()], theano.grad(cost, data), on_unused_input="ignore")
        assert ("CSMGrad" in ops(f)) == bool(given)
        values = [getattr(m, "indices" if v is indices else "indptr") for v in given]
        np.testing.assert_allclose(f(m.data, m, *values), np.exp(m.data))


def test_numbers_at_places_that_are_given_twice_are_added():
    """Unless both matrices store at the same places in the same order: then each number belongs to one."""
    y, g, m = S.csr_dmatrix("y"), T.dvector("g"), matrix("csr")
    of_x, of_g = T.ivectors("of_x", "of_g")
    _, _, indptr, shape = S.csm_properties(y)
    outputs = S.CSMGrad()(g, of_x, indptr, shape, g, of_g, indptr, shape)
    lines, zeros = np.repeat(np.arange(5), np.diff(m.indptr)), np.zeros_like(m.indices)
    sums = plain(m).sum(axis=1)[lines]
    for mode in ("FAST_RUN", theano.Mode("py", None)):
        f = theano.function([y, g, of_x, of_g], outputs, mode=mode)
        np.testing.assert_allclose(f(m, m.data, m.indices, zeros), np.where(m.indices == 0, sums, 0))
        np.testing.assert_allclose(f(m, m.data, zeros, zeros), m.data)
        elsewhere = zeros.copy()
        elsewhere[-1] = 1
        np.testing.assert_allclose(f(m, m.data, zeros, elsewhere), sums - np.where(lines == lines[-1], m.data[-1], 0))


# -- documented names --------------------------------------------------------------------------------------------------


def test_parts_of_a_matrix():
    x = S.csc_dmatrix("x")
    m = matrix("csc")
    f = theano.function([x], [S.csm_data(x), S.csm_indices(x), S.csm_indptr(x), S.csm_shape(x)])
    for found, wanted in zip(f(m), (m.data, m.indices, m.indptr, m.shape), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert S.hash_from_sparse(m) == S.hash_from_sparse(m.copy()) != S.hash_from_sparse(m * 2)


def test_ops_made_of_their_classes():
    """With the parameters that are documented, by name."""
    x = S.csr_dmatrix("x")
    m = matrix("csr")
    for op, wanted in (
        (S.DenseFromSparse(structured=False), plain(m)),
        (S.SpSum(axis=1, sparse_grad=True), plain(m).sum(1)),
        (S.EnsureSortedIndices(inplace=False), plain(m)),
        (S.Remove0(inplace=False), plain(m)),
        (lambda v: S.HStack(format="csc", dtype="float64")(v, v), np.hstack([plain(m)] * 2)),
        (lambda v: S.TrueDot(grad_preserves_dense=False)(v, v.T), plain(m) @ plain(m).T),
        (lambda v: S.CSMGrad(kmap=None)(*S.csm_properties(v), *S.csm_properties(v)), m.data),
    ):
        found = theano.function([x], op(x))(m)
        np.testing.assert_allclose(plain(found) if sp.issparse(found) else found, wanted)


def test_structured_functions_by_name():
    x = S.csr_dmatrix("x")
    m, n = plain(matrix("csr")), matrix("csr")
    for name, wanted in (("pow", m**3), ("minimum", np.minimum(m, 3)), ("maximum", np.maximum(m, 3)), ("add", m + 3)):
        function = getattr(S, f"structured_{name}")
        for out in (function(x, 3.0), function(x, y=3.0), function(x=x, y=3.0)):
            np.testing.assert_allclose(plain(out.eval({x: n})), np.where(m != 0, wanted, 0))
        with pytest.raises(TypeError, match=rf"structured_{name}\(x.*'[yz]'"):
            function(x, z=1)
    with pytest.raises(TypeError, match=r"structured_pow\(.*: missing a required argument: 'y'"):
        S.structured_pow(x)

    @S.structured_monoid(T.mul)
    def structured_mul(x, factor):
        """Not what is here, but the numbers times a factor."""

    np.testing.assert_allclose(plain(structured_mul(x, factor=2.0).eval({x: n})), 2 * m)


def test_gradient_of_a_structured_product_by_name():
    x, d, g = S.csr_dmatrix("x"), T.dmatrix("d"), T.dmatrix("g")
    found = S.structured_dot_grad(sparse_A=x, dense_B=d, ga=g)
    m, b, of = matrix("csr"), np.ones((4, 2)), np.arange(10.0).reshape(5, 2)
    np.testing.assert_allclose(plain(found.eval({x: m, d: b, g: of})), (of @ b.T) * (plain(m) != 0))


@pytest.mark.parametrize("formats", [("bsr", "csr"), ("csc", "bsr"), ("bsr", "bsr")])
def test_products_of_bsr(formats):
    x, y = (SparseType(f, "float64")(n) for f, n in zip(formats, "xy", strict=True))
    f = theano.function([x, y], [theano.dot(x, y), x.shape])
    found, shape = f(matrix("csr", (6, 4)), matrix("csc", (4, 6)))
    assert found.format == formats[0] and tuple(shape) == (6, 4)
    np.testing.assert_allclose(plain(found), plain(matrix("csr", (6, 4))) @ plain(matrix("csc", (4, 6))))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "eq", "lt"])
def test_operands_of_more_dimensions_are_refused(name):
    x, cube = S.csr_dmatrix("x"), T.tensor3("cube")
    for pair in ((x, cube), (cube, x))[: 1 if name == "div" else 2]:
        with pytest.raises(TypeError, match="3 dimensions, .*: at most 2 are possible"):
            getattr(S, name)(*pair)


def test_dir_has_what_is_called_and_no_parts():
    parts = "convert elemwise index inspection kernels operations parts product reduce structure".split()
    assert all(hasattr(S, name) for name in [*parts, *dir(S)])
    assert not {*parts, "annotations", "lazily"} & {*dir(S)} and len(dir(S)) > 50


def test_specify_shape():
    x = S.csr_dmatrix("x")
    f = theano.function([x], [T.specify_shape(x, (5, x.shape[1])), T.specify_shape(x, (5, 4)).shape])
    same, shape = f(matrix("csr"))
    assert tuple(shape) == (5, 4) and x.type.is_valid_value(same)
    with pytest.raises(AssertionError, match="another shape|expected shape"):
        f(matrix("csr", (6, 6)))
    slope = theano.grad(S.sp_sum(T.specify_shape(x, (5, 4)) * x, sparse_grad=True), x)
    np.testing.assert_allclose(plain(slope.eval({x: matrix("csr")})), 2 * plain(matrix("csr")))


def test_lengths_are_asked_of_the_matrix():
    """Where nothing else is wanted; its index arrays may be wide, and are not looked at."""
    x = S.csr_dmatrix("x")
    f = theano.function([x], x.shape)
    assert sorted(ops(f)) == ["MakeVector", "Shape_i", "Shape_i"]
    assert tuple(f(matrix("csr", wide=True))) == (5, 4)
    assert ops(theano.function([x], x.shape[1])) == ["Shape_i"]
    assert "Shape_i" not in ops(theano.function([x], [x.shape, x * 2]))


@pytest.mark.parametrize("other", ["row", "col"])
def test_products_keep_what_is_known_of_lengths(other):
    x, d = S.csr_fmatrix("x"), getattr(T, "f" + other)("d")
    for out, dense in ((theano.dot(x, d), T.dot(T.fmatrix(), d)), (S.dot(d, x), T.dot(d, T.fmatrix()))):
        assert out.broadcastable == dense.broadcastable
    m, value = matrix("csr", (1, 6), "float32"), np.ones((1, 3) if other == "row" else (6, 1), "float32")
    pair = (m.T.tocsr(), value) if other == "row" else (m, value)
    found = theano.function([x, d], S.dot(x, d))(*pair)
    np.testing.assert_allclose(found, plain(pair[0]) @ value, 1e-5)
