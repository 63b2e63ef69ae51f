"""Element-wise functions against NumPy and SciPy: each one, over dtypes and layouts.

Where a statement of the scalar layer names one of NumPy's universal functions, that is the reference, and the cases
follow from the statement; what has a form of its own has a reference here.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special as sp
from arrays import LAYOUTS, lay, sample
from oracle import run
from scipy.stats import chi2

import theano
import theano.tensor as T
from theano import scalar as scal
from theano.tensor.elemwise import Elemwise
from theano.tensor.elemwise.functions import elementwise_functions
from theano.tensor.elemwise.lowering import elemwise_kernel

FLOAT = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INT = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
REAL = INT + FLOAT
ALL = ("bool", *REAL, *COMPLEX)


def _away(x):
    return np.trunc(x + np.copysign(0.5, x)).astype(x.dtype)


# name: (NumPy's function, dtypes, intervals)
UNARY = {
    "sgn": (np.sign, REAL, (-4, 4)),
    "round_half_away_from_zero": (_away, FLOAT, (-4, 4)),
    "inv": (np.reciprocal, FLOAT + COMPLEX, (0.5, 4)),
    "erf": (sp.erf, FLOAT[1:], (-4, 4)),
    "erfc": (sp.erfc, FLOAT[1:], (-4, 4)),
    "erfcx": (sp.erfcx, FLOAT[1:], (-2, 4)),
    "erfinv": (sp.erfinv, FLOAT[1:], (-0.9, 0.9)),
    "erfcinv": (sp.erfcinv, FLOAT[1:], (0.1, 1.9)),
    "gamma": (sp.gamma, FLOAT[1:], (0.5, 5)),
    "gammaln": (sp.gammaln, FLOAT[1:], (0.5, 5)),
    "psi": (sp.psi, FLOAT[1:], (0.5, 5)),
    "tri_gamma": (lambda x: sp.polygamma(1, x), FLOAT[1:], (0.5, 5)),
    "j0": (sp.j0, FLOAT[1:], (0.1, 5)),
    "j1": (sp.j1, FLOAT[1:], (0.1, 5)),
    "i0": (sp.i0, FLOAT[1:], (0.1, 5)),
    "i1": (sp.i1, FLOAT[1:], (0.1, 5)),
    "ndtri_exp": (sp.ndtri_exp, FLOAT[1:], (-5, -0.8)),
    "log1mexp": (lambda x: np.log(-np.expm1(x)), FLOAT[1:], (-5, -0.1)),
    "real": (np.real, REAL + COMPLEX, (-4, 4)),
    "imag": (np.imag, COMPLEX, (-4, 4)),
    "angle": (lambda x: np.angle(x.astype("complex128")), COMPLEX, (-4, 4)),
}
BINARY = {
    "add": (np.add, ALL, (-4, 4)),
    "mul": (np.multiply, ALL, (-4, 4)),
    "pow": (np.power, FLOAT, (0.5, 3)),
    "second": (lambda a, b: b.copy(), ALL, (-4, 4)),
    "complex": (lambda a, b: (a + 1j * b).astype("c8" if a.dtype.itemsize < 8 else "c16"), FLOAT[1:], (-4, 4)),
    "chi2sf": (lambda x, k: sp.chdtrc(k, x), FLOAT[1:], (1, 4)),
    "gammainc": (sp.gammainc, FLOAT[1:], (1, 4)),
    "gammaincc": (sp.gammaincc, FLOAT[1:], (1, 4)),
    "jv": (sp.jv, FLOAT[1:], (1, 4)),
    "iv": (sp.iv, FLOAT[1:], (1, 4)),
    "ive": (sp.ive, FLOAT[1:], (1, 4)),
    "kve": (sp.kve, FLOAT[1:], (1, 4)),
    "gammaincinv": (sp.gammaincinv, FLOAT[1:], (0.1, 0.9)),
    "gammainccinv": (sp.gammainccinv, FLOAT[1:], (0.1, 0.9)),
    "owens_t": (sp.owens_t, FLOAT[1:], (-4, 4)),
}
TERNARY = {
    "betainc": (sp.betainc, FLOAT[1:], (0.1, 0.9)),
    "betaincinv": (sp.betaincinv, FLOAT[1:], (0.1, 0.9)),
}
ELSEWHERE = {"switch", "clip", "polygamma", "gammau", "gammal", "complex_from_polar", "tensor_copy"}


FUNCTIONS = elementwise_functions()
UFUNCS = {name: f for name, op in FUNCTIONS.items() if isinstance(f := op.scalar_op.numpy_function, np.ufunc)}


def test_every_function_is_compared():
    assert not set(UFUNCS) & (set(UNARY) | set(BINARY) | set(TERNARY) | ELSEWHERE)
    assert set(FUNCTIONS) == set(UFUNCS) | set(UNARY) | set(BINARY) | set(TERNARY) | ELSEWHERE


def dtypes_of(name):
    """Yield the dtypes for which NumPy's function gives the dtype that the statement says."""
    for dtype in ALL:
        try:
            theirs = UFUNCS[name](*[np.ones(0, dtype)] * UFUNCS[name].nin).dtype
            ours = FUNCTIONS[name](*[T.TensorType(dtype, ())()] * UFUNCS[name].nin).dtype
        except TypeError:
            continue
        if ours == theirs:
            yield dtype


def close(actual, expected):
    assert actual.shape == expected.shape
    if actual.dtype.kind in "fc":
        rtol = {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5}.get(actual.dtype.name, 1e-11)
        np.testing.assert_allclose(actual.astype("c16"), expected.astype("c16"), rtol=rtol, atol=rtol)
    else:
        np.testing.assert_array_equal(actual, expected)


def cases():
    for arity, table in (1, UNARY), (2, BINARY), (3, TERNARY):
        for name, (reference, dtypes, domain) in table.items():
            for dtype in dtypes:
                yield pytest.param(name, reference, dtype, [domain] * arity, id=f"{name}-{dtype}")
    for name, reference in UFUNCS.items():
        for dtype in dtypes_of(name):
            domains = FUNCTIONS[name].scalar_op.domains(reference.nin)
            yield pytest.param(name, reference, dtype, domains, id=f"{name}-{dtype}")


@pytest.mark.parametrize(("name", "reference", "dtype", "domains"), list(cases()))
def test_against_numpy(name, reference, dtype, domains):
    rng, arity = np.random.default_rng(7), len(domains)
    symbols = [T.TensorType(dtype, (False, False))(f"x{i}") for i in range(arity)]
    out = getattr(T, name)(*symbols)
    for layout in LAYOUTS:
        values = [lay(sample(dtype, (3, 4), rng, *domain), layout) for domain in domains]
        with np.errstate(all="ignore"):
            expected = np.asarray(reference(*[v.astype(dtype) for v in values]))
        close(run(out, dict(zip(symbols, values))), expected)
    scalars = [T.TensorType(dtype, ())(f"x{i}") for i in range(arity)]
    values = [sample(dtype, (), rng, *domain) for domain in domains]
    with np.errstate(all="ignore"):
        expected = np.asarray(reference(*[v[None] for v in values]))[0]
    close(run(getattr(T, name)(*scalars), dict(zip(scalars, values))), expected)


@pytest.mark.parametrize(
    "pair", [((False, False), (False,)), ((True, False), (False, True)), ((), (False, True, False))]
)
def test_broadcasting(pair):
    rng = np.random.default_rng(0)
    lengths = (3, 4, 5)
    a, b = (T.TensorType("float64", p)() for p in pair)
    values = [rng.normal(size=[1 if one else n for one, n in zip(p, lengths[3 - len(p) :])]) for p in pair]
    out = a + b
    np.testing.assert_array_equal(run(out, {a: values[0], b: values[1]}), values[0] + values[1])
    assert out.broadcastable == tuple(n == 1 for n in (values[0] + values[1]).shape)


@pytest.mark.parametrize("left", ALL)
@pytest.mark.parametrize("right", ALL)
def test_dtypes_meet_as_in_numpy(left, right):
    a, b = T.TensorType(left, (False,))(), T.TensorType(right, (False,))()
    assert (a + b).dtype == np.promote_types(left, right).name
    assert T.eq(a, b).dtype == "bool"


def test_switch_clip_and_others():
    rng = np.random.default_rng(1)
    c, x, y = rng.integers(0, 2, (3, 4)), rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    np.testing.assert_array_equal(run(T.switch(T.constant(c), x, y), {}), np.where(c, x, y))
    np.testing.assert_array_equal(run(T.clip(T.constant(x), -0.5, 0.5), {}), np.clip(x, -0.5, 0.5))
    np.testing.assert_allclose(run(T.complex_from_polar(T.constant(abs(x)), y), {}), abs(x) * np.exp(1j * y))
    k = abs(x) + 1
    np.testing.assert_allclose(run(T.gammal(T.constant(k), abs(y)), {}), sp.gammainc(k, abs(y)) * sp.gamma(k))
    np.testing.assert_allclose(run(T.gammau(T.constant(k), abs(y)), {}), sp.gammaincc(k, abs(y)) * sp.gamma(k))
    np.testing.assert_allclose(run(T.polygamma(T.constant(2.0), k), {}), sp.polygamma(2, k))


def test_copy_is_no_view():
    x = T.dvector("x")
    value = np.arange(3.0)
    assert not np.may_share_memory(run(x.copy(), {x: value}), value)


def test_in_place_writes_into_the_input():
    x = T.dvector("x")
    value = np.arange(3.0)
    out = Elemwise(scal.exp, {0: 0})(x)
    assert out.owner.op.destroy_map == {0: [0]}
    assert run(out, {x: value}) is value
    np.testing.assert_array_equal(value, np.exp(np.arange(3.0)))
    assert str(out.owner.op) == "Elemwise{Exp}[(0, 0)]"


def test_several_outputs():
    a, b = scal.float64("a"), scal.float64("b")
    both = Elemwise(scal.Composite([a, b], [a + b, a * b]))
    x, y = T.dmatrix("x"), T.dvector("y")
    outs = both(x, y)
    value = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    total, product = run(outs, {x: value[0], y: value[1]})
    np.testing.assert_array_equal(total, value[0] + value[1])
    np.testing.assert_array_equal(product, value[0] * value[1])


def test_output_info_of_no_inputs_is_refused():
    for op in (T.add, T.exp):
        for ask in (op, lambda op=op: op.get_output_info(T.DimShuffle)):
            with pytest.raises(TypeError, match="takes one input or more, got none"):
                ask()


def test_lengths_of_vectors_that_are_known_without_computing_them():
    m, v, one = T.dmatrix("m"), T.lvector("v"), T.TensorType("int64", (True,))("one")
    assert T.get_vector_length(m.shape * 2) == 2 and T.get_vector_length(v + T.constant([1, 2, 3])) == 3
    assert T.get_vector_length(T.dtensor3().shape + one) == 3 and T.get_vector_length(one * 2) == 1
    assert T.get_vector_length((one * 2)[:1]) == 1 and T.get_vector_length(one[1:]) == 0
    assert T.get_vector_length(T.join(0, one, m.shape * 2, one * 3, T.constant([1, 2, 3]))) == 7
    assert T.get_vector_length((m.shape * 2)[1:]) == 1
    for unknown in (v * 2, v + one, v[:1], T.join(0, one, v)):
        with pytest.raises(ValueError, match="known only at run time"):
            T.get_vector_length(unknown)


def test_cast():
    for source in ALL:
        for target in ALL:
            x = T.TensorType(source, (False,))("x")
            if source in COMPLEX and target not in COMPLEX:
                with pytest.raises(TypeError, match="real"):
                    T.cast(x, target)
                continue
            value = sample(source, (5,), np.random.default_rng(3), 0, 4)
            np.testing.assert_array_equal(run(T.cast(x, target), {x: value}), value.astype(target))
    assert T.cast(T.dvector(), "floatX").dtype == "float64"


def test_documentation_is_derived():
    for name, op in elementwise_functions().items():
        assert "Parameters" in op.__doc__, name


def test_a_shuffle_of_no_dimensions_is_an_array():
    x = T.dscalar("x")
    assert type(run(T.DimShuffle((), ())(x), {x: np.array(2.0)})) is np.ndarray


def test_one_over_a_root_after_other_steps():
    """The root's argument is its only one, whichever step of the expression the root is."""
    x, y = T.dvectors("x", "y")
    f = theano.function([x, y], 1 / T.sqrt(T.exp(x) * y + x))
    a, b = np.array([0.5, 1.0, 2.0]), np.array([3.0, 0.1, 1.0])
    np.testing.assert_allclose(f(a, b), 1 / np.sqrt(np.exp(a) * b + a), 1e-14)


def test_a_loop_over_rows_is_written_where_an_operand_is_stretched_along_some_axes():
    """It takes time to compile."""
    m, row, column, number = T.dmatrix(), T.drow(), T.dcol(), T.TensorType("float64", (True, True))()
    x, y = scal.float64("x"), scal.float64("y")
    op = Elemwise(scal.Composite([x, y], [x * y - x]))
    for operands, wanted in (((m, m), False), ((m, number), False), ((m, row), True), ((column, m), True), ((row, column), True)):
        assert ("KERNEL_rows" in elemwise_kernel(op, op.make_node(*operands)).source) == wanted, operands


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
def test_no_chi_squared_variable_is_negative(mode):
    x, k = T.dvectors("x", "k")
    values = np.array([-1, -np.inf, -2, 0, 3, -1, np.nan, -1, -1e-300]), np.array([2, 3, 0, 2, 2.5, -1, 1, np.nan, 0.5])
    found, *slopes = theano.function([x, k], [T.chi2sf(x, k), *T.grad(T.chi2sf(x, k).sum(), [x, k])], mode=mode)(*values)
    np.testing.assert_allclose(found, chi2.sf(*values), rtol=1e-12)
    for slope in slopes:
        assert not slope[[0, 1, 8]].any()


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
def test_special_functions_of_complex_numbers_are_those_of_scipy(mode):
    z, value = T.zvector("z"), np.array([1 + 2j, 0.5, -1j, -2.5 + 0.25j])
    f, wanted = (T.erf, T.gamma, T.psi), (sp.erf, sp.gamma, sp.psi)
    slopes = [T.grad(T.real(each(z)).sum(), z) for each in f[:2]]
    found = theano.function([z], [each(z) for each in f] + slopes, mode=mode)(value)
    step = 1e-6
    differences = [(g(value + step) - g(value - step)) / (2 * step) for g in wanted[:2]]
    expected = [g(value) for g in wanted] + [d.conj() for d in differences]
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_allclose(a, b, rtol=1e-12 if k < 3 else 1e-6, atol=1e-15 if k < 3 else 1e-6)
    assert T.erf(T.cscalar()).dtype == "complex64"
