"""Compiled functions as callbacks of SciPy, held to what SciPy makes of plain Python functions."""

from __future__ import annotations

import gc
import math
import threading

import numpy as np
import pytest
from scipy.integrate import nquad, quad, solve_ivp
from scipy.ndimage import generic_filter, geometric_transform
from scipy.optimize import approx_fprime, minimize

import theano
import theano.tensor as T


def draws(seed=0):
    return np.random.default_rng(seed)


class TestIntegrands:
    """What `quad` and its neighbours call."""

    def test_of_one_number(self):
        x = T.dscalar("x")
        f = theano.scipy_callable(theano.function([x], T.sqrt(x) * T.sin(x)))
        assert f.signature == "double (double, void *)"
        assert quad(f, 0, 3)[0] == pytest.approx(quad(lambda v: math.sqrt(v) * math.sin(v), 0, 3)[0], rel=1e-12)

    def test_of_several_numbers_in_order(self):
        x, a, b = T.dscalars("x", "a", "b")
        f = theano.scipy_callable(theano.function([x, a, b], x**2 * a - b))
        assert quad(f, 0, 1, args=(3.0, 5.0))[0] == pytest.approx(1 - 5)
        assert nquad(f, [[0, 1], [0, 2], [0, 3]])[0] == pytest.approx(nquad(lambda x, a, b: x**2 * a - b, [[0, 1], [0, 2], [0, 3]])[0])

    def test_of_a_vector(self):
        v, w = T.dvector("v"), theano.shared(np.array([1.0, 10.0, 100.0]))
        f = theano.scipy_callable(theano.function([v], T.dot(v, w)))
        assert nquad(f, [[0, 1], [0, 2], [0, 3]])[0] == pytest.approx(6 * (0.5 + 10 + 150))

    def test_shared_values_are_those_when_it_is_made(self):
        x, a = T.dscalar("x"), theano.shared(2.0)
        function = theano.function([x], x * a)
        f = theano.scipy_callable(function)
        a.set_value(3.0)
        assert quad(f, 0, 1)[0] == pytest.approx(1.0) and quad(theano.scipy_callable(function), 0, 1)[0] == pytest.approx(1.5)

    def test_on_demand_and_with_products_and_parts(self):
        """Programs with lazy nodes, views, and memory that is used again."""
        x = T.dscalar("x")
        M = theano.shared(draws().normal(size=(3, 3)))
        v = T.stack([x, x**2, T.exp(x)])
        y = theano.ifelse.ifelse(T.gt(x, 0.5), T.dot(T.dot(M, v)[::-1], v), v.sum())
        function = theano.function([x], y)
        f = theano.scipy_callable(function)
        assert quad(f, 0, 1, points=[0.5])[0] == pytest.approx(quad(function, 0, 1, points=[0.5])[0], rel=1e-12)

    @pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
    def test_a_failure_is_nan_and_says_why(self):
        v, w = T.dvector("v"), theano.shared(np.ones(3))
        f = theano.scipy_callable(theano.function([v], T.sum(v + w)))
        with np.errstate(all="ignore"):
            value = nquad(f, [[0, 1], [0, 1]])[0]
        assert math.isnan(value)
        assert "mis-match" in f.failure and f.failure is None
        x, a = T.dscalars("x", "a")
        g = theano.scipy_callable(theano.function([x, a], x * a))
        assert math.isnan(quad(g, 0, 1)[0]) and g.failure == "it takes 2 numbers, and is given 1"

    def test_it_outlives_the_function(self):
        x = T.dscalar("x")
        f = theano.scipy_callable(theano.function([x], T.exp(x)))
        gc.collect()
        assert quad(f, 0, 1)[0] == pytest.approx(math.e - 1)


class TestByAddress:
    """What others call by ctypes."""

    def test_all_kinds(self):
        import ctypes

        x, a, v, place = T.dscalar("x"), T.dscalar("a"), T.dvector("v"), T.lvector("place")
        numbers = (ctypes.c_double * 2)(3.0, 4.0)
        call, data = (held := theano.scipy_callable(theano.function([x, a], x * a))).ctypes
        assert call(2, numbers, data) == 12 and held.failure is None
        call, data = (held := theano.scipy_callable(theano.function([v], v.sum()))).ctypes
        assert call(2, numbers, data) == 7
        call, data = (held := theano.scipy_callable(theano.function([v], v.max()), "filter")).ctypes
        result = (ctypes.c_double * 2)()
        assert call(numbers, 2, result, data) == 1 and result[0] == 4
        call, data = (held := theano.scipy_callable(theano.function([place], place / 2.0), "geometric_transform")).ctypes
        assert call((ctypes.c_ssize_t * 2)(5, 6), result, 2, 2, data) == 1 and list(result) == [2.5, 3]

    def test_a_function_of_ctypes_keeps_what_it_calls(self):
        import gc

        x = T.dscalar("x")
        call, data = theano.scipy_callable(theano.function([x], x**2)).ctypes
        gc.collect()
        others = [theano.scipy_callable(theano.function([x], x + k)) for k in range(3)]
        assert call(3.0, data) == 9 and others

    def test_in_code_of_numba(self):
        numba = pytest.importorskip("numba")
        x = T.dscalar("x")
        f = theano.scipy_callable(theano.function([x], x**2 + 1))
        call, data = f.ctypes

        @numba.njit
        def total(n, data):
            found = 0.0
            for k in range(n):
                found += call(float(k), data)
            return found

        assert total(10, data) == sum(k**2 + 1 for k in range(10))


class TestImages:
    """What `scipy.ndimage` calls, without the GIL."""

    def test_filter(self):
        v, image = T.dvector("v"), draws().random((12, 9))
        function = theano.function([v], v.max() - v.mean())
        f = theano.scipy_callable(function, "filter")
        np.testing.assert_array_equal(generic_filter(image, f, 3), generic_filter(image, function, 3))

    def test_geometric_transform(self):
        place, image = T.lvector("place"), draws().random((6, 5))
        f = theano.scipy_callable(theano.function([place], 0.5 * place[::-1] + 0.25), "geometric_transform")
        wanted = geometric_transform(image, lambda at: tuple(0.5 * k + 0.25 for k in at[::-1]))
        np.testing.assert_allclose(geometric_transform(image, f), wanted, rtol=1e-12)

    def test_errors_are_raised(self):
        v, w = T.dvector("v"), theano.shared(np.ones(3))
        f = theano.scipy_callable(theano.function([v], T.sum(v * w)), "filter")
        with pytest.raises(ValueError, match="mis-match"):
            generic_filter(np.ones((4, 4)), f, 2)
        place = T.lvector("place")
        g = theano.scipy_callable(theano.function([place], T.concatenate([place, place]) * 1.0), "geometric_transform")
        with pytest.raises(ValueError, match="a place of 4 numbers, where 2 are wanted"):
            geometric_transform(np.ones((4, 4)), g)

    def test_several_threads_with_one_callback(self):
        v, image = T.dvector("v"), draws().random((40, 40))
        function = theano.function([v], T.sum(v[::2]) * T.max(v))
        f = theano.scipy_callable(function, "filter")
        wanted, found = generic_filter(image, function, 3), {}
        threads = [threading.Thread(target=lambda k=k: found.update({k: generic_filter(image, f, 3)})) for k in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert all(np.array_equal(found[k], wanted) for k in range(4))

    def test_an_error_in_one_of_several_threads(self):
        """Whoever waits for the lock may have the GIL, and who fails wants it."""
        v, w, image = T.dvector("v"), theano.shared(np.ones(9)), draws().random((30, 30))
        f = theano.scipy_callable(theano.function([v], T.sum(v * w)), "filter")
        raised = []

        def filtered(size):
            try:
                generic_filter(image, f, size)
            except ValueError as error:
                raised.append(str(error))

        threads = [threading.Thread(target=filtered, args=(size,)) for size in (2, 3, 2, 3)]
        [t.start() for t in threads]
        [t.join(60) for t in threads]
        assert len(raised) == 2 and all("mis-match" in text or "has failed" in text for text in raised)


class TestRefusals:
    """What cannot be called from C."""

    @pytest.mark.parametrize(
        ("make", "purpose", "message"),
        [
            (lambda x, v: theano.function([v], v * 2), "integrand", "from one float64 number to a float64 number or several"),
            (lambda x, v: theano.function([x], T.cast(x, "float32")), "integrand", "x of type TensorType"),
            (lambda x, v: theano.function([x, v], x * v.sum()), "integrand", "v of type TensorType"),
            (lambda x, v: theano.function([x], [x, x]), "integrand", "cannot be called from C"),
            (lambda x, v: theano.function([v], v.sum()), "geometric_transform", "from one int64 vector to a float64 vector"),
            (lambda x, v: theano.function([x], x, updates=[(s := theano.shared(0.0), s + x)]), "integrand", "updates shared"),
            (lambda x, v: theano.function([v], theano.printing.Print("no")(v).sum()), "integrand", "some op is computed by Python"),
        ],
    )  # fmt: skip
    def test_functions_of_another_kind(self, make, purpose, message):
        with pytest.raises(TypeError, match=message):
            theano.scipy_callable(make(T.dscalar("x"), T.dvector("v")), purpose)

    def test_what_is_no_function(self):
        with pytest.raises(TypeError, match="what theano.function returns is wanted, not a builtin_function"):
            theano.scipy_callable(len)
        x = T.dscalar("x")
        with pytest.raises(ValueError, match="a purpose is one of integrand, filter"):
            theano.scipy_callable(theano.function([x], x), "minimum")


class TestObjectives:
    """What optimisers call."""

    def make(self, dtype="float64"):
        rng = draws(1)
        w = theano.shared(rng.normal(size=(3, 2)).astype(dtype), "w")
        b = theano.shared(np.zeros(2, dtype), "b")
        X, y = T.matrix("X", dtype), T.matrix("y", dtype)
        cost = T.mean((T.tanh(X.dot(w) + b) - y) ** 2) + T.sum(w**2) / 50
        values = rng.normal(size=(20, 3)).astype(dtype), rng.normal(size=(20, 2)).astype(dtype)
        return theano.scipy_objective(cost, [w, b], [X, y]), values, (w, b)

    def test_value_and_gradient(self):
        objective, values, (w, b) = self.make()
        x = draws(2).normal(size=8)
        value, slope = objective(x, *values)
        assert isinstance(value, float) and slope.dtype == "float64"
        by_hand = np.mean((np.tanh(values[0] @ x[:6].reshape(3, 2) + x[6:]) - values[1]) ** 2) + np.sum(x[:6] ** 2) / 50
        assert value == pytest.approx(by_hand, rel=1e-12)
        np.testing.assert_allclose(slope, approx_fprime(x, lambda v: objective(v, *values)[0], 1e-7), rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(objective.x0, np.concatenate([w.get_value().ravel(), b.get_value()]))

    def test_product_with_the_hessian(self):
        objective, values, _ = self.make()
        x, along = draws(2).normal(size=8), draws(3).normal(size=8)
        step = 1e-6
        wanted = (objective(x + step * along, *values)[1] - objective(x - step * along, *values)[1]) / (2 * step)
        np.testing.assert_allclose(objective.hessp(x, along, *values), wanted, rtol=1e-5, atol=1e-8)

    @pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS", "CG", "Newton-CG", "trust-krylov"])
    def test_minimize(self, method):
        objective, values, variables = self.make()
        more = {"hessp": objective.hessp} if method in ("Newton-CG", "trust-krylov") else {}
        found = minimize(objective, objective.x0, args=values, jac=True, method=method, **more)
        assert np.abs(objective(found.x, *values)[1]).max() < 1e-3
        objective.assign(found.x)
        np.testing.assert_array_equal(np.concatenate([v.get_value().ravel() for v in variables]), found.x)

    def test_float32_and_variables_that_are_not_shared(self):
        objective, values, (w, _) = self.make("float32")
        value, slope = objective(objective.x0, *values)
        assert slope.dtype == "float64" and objective.split(slope)[0].dtype == "float32"
        objective.assign(objective.x0 + 1)
        assert w.get_value().dtype == "float32"
        m, c = T.dmatrix("m"), T.dscalar("c")
        free = theano.scipy_objective(T.sum((m - c) ** 2) + c**2, [m, c], shapes=[(2, 2), ()])
        assert free.x0.tolist() == [0] * 5 and free([1, 1, 1, 1, 2])[0] == 8
        assert free([1, 1, 1, 1, 2])[1].tolist() == [-2, -2, -2, -2, 12]

    def test_a_vector_of_any_length(self):
        v = T.dvector("v")
        objective = theano.scipy_objective(((v - 1) ** 4).sum(), v)
        for n in (2, 5):
            found = minimize(objective, np.zeros(n), jac=True, method="Newton-CG", hessp=objective.hessp)
            np.testing.assert_allclose(objective.split(found.x)[0], np.ones(n), atol=0.05)
        with pytest.raises(AttributeError, match=r"the length of v is not known: .*numpy.zeros\(n\)"):
            print(objective.x0)

    def test_refusals(self):
        v, i = T.dvector("v"), T.ivector("i")
        with pytest.raises(TypeError, match="a cost is a real number, and v is of type"):
            theano.scipy_objective(v, v)
        with pytest.raises(TypeError, match="variables are arrays of real numbers, and i is of type"):
            theano.scipy_objective(T.sum(i) * 1.0, [i])
        with pytest.raises(ValueError, match="v is not a shared variable; pass its shape of 1 lengths"):
            theano.scipy_objective(v.sum() + i.sum(), [v, T.dscalar()])
        with pytest.raises(ValueError, match="the vector has 3 elements, and the variables 2"):
            theano.scipy_objective(v.sum(), v, shapes=[(2,)]).split(np.zeros(3))

    def test_solve_ivp_takes_functions_as_they_are(self):
        t, y = T.dscalar("t"), T.dvector("y")
        f = theano.function([t, y], T.stack([y[1], -y[0]]), on_unused_input="ignore")
        J = theano.function([t, y], theano.gradient.jacobian(T.stack([y[1], -y[0]]), y), on_unused_input="ignore")
        found = solve_ivp(f, (0, 3), [0.0, 1.0], method="Radau", jac=J, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(found.y[:, -1], [math.sin(3), math.cos(3)], rtol=1e-6)
