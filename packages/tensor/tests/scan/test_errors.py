"""What a wrong loop is told: ten lines at most, which name the argument, the step, and the line of this file."""

import inspect

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.errors import MissingInputError
from theano.scan import until
from theano.tensor.random.distributions import uniform
from theano.tensor.random.type import RandomStateType

x, X, n, z = T.dvector("x"), T.dmatrix("X"), T.lscalar("n"), T.dscalar("z")
f32 = T.fscalar("f32")
w = theano.shared(2.0, name="w")
ones = np.ones


def stream():
    return theano.shared(np.random.RandomState(1), name="stream")


# While it is written: the loop, the class of the error, and what its text has. The step is the first lambda of a line.
REFUSED = {
    "dtype": (lambda: theano.scan(lambda a, p: a + p, x, f32), ValueError, r"output 0, x\[t\] \+ f32.*float64.*outputs_info\[0\], f32.*float32"),
    "dimensions": (lambda: theano.scan(lambda a, p: X * p, x, z), ValueError, r"output 0, X \* z.*2 dimensions.*z, has 0.*outputs_info\[0\]"),
    "no tensor": (lambda: theano.scan(lambda r: uniform(r)[0], None, RandomStateType()("r"), n_steps=2), TypeError, "RandomState"),
    "second of two": (lambda: theano.scan(lambda a, p: [a, a > p], x, [None, z]), ValueError, r"output 1, .*bool.*outputs_info\[1\], z.*float64"),
    "fewer": (lambda: theano.scan(lambda a, p: [a, p], x, z), ValueError, "2 results.*outputs_info says of 1"),
    "more": (lambda: theano.scan(lambda a, p, q: p, x, [z, z]), ValueError, "1 results.*outputs_info says of 2"),
    "no outputs_info": (lambda: theano.scan(lambda a, p: a + p, x), TypeError, r"missing.*'p'.*given 1: \(x\[t\]\).*outputs_info"),
    "not for the past": (lambda: theano.scan(lambda a: a, x, [z]), TypeError, r"too many.*given 2: \(x\[t\], z\[t-1\]\).*outputs_info"),
    "initial": (lambda: theano.scan(lambda a: a, x, {"taps": [-1]}), ValueError, r"outputs_info\[0\] has taps.*initial"),
    "tap 0": (lambda: theano.scan(lambda a, p: a, x, {"initial": x, "taps": [0]}), ValueError, r"outputs_info\[0\].*below 0"),
    "tap twice": (lambda: theano.scan(lambda a, p: a, x, {"initial": x, "taps": [-1, -1]}), ValueError, r"outputs_info\[0\].*different"),
    "rows": (lambda: theano.scan(lambda a, p: a, x, {"initial": z, "taps": [-2]}), ValueError, r"outputs_info\[0\].*needs 2 rows"),
    "negative": (lambda: theano.scan(lambda p: p, None, z, n_steps=-2), IndexError, "n_steps is -2"),
    "fraction": (lambda: theano.scan(lambda p: p, None, z, n_steps=2.5), TypeError, "n_steps.*whole number"),
    "unknown": (lambda: theano.scan(lambda p: p, None, z), ValueError, "how many steps"),
    "strict": (lambda: theano.scan(lambda a: a * w, x, strict=True), MissingInputError, "uses the shared variable w.*strict=True.*non_sequences"),
    "scalar": (lambda: theano.scan(lambda a, b: a, [x, z]), TypeError, r"sequences\[1\], z.*no dimension"),
    "no input": (lambda: theano.scan(lambda a: a, {"taps": [0]}), ValueError, r"sequences\[0\].*no 'input'"),
    "update": (lambda: theano.scan(lambda a: {w: X}, x), TypeError, "updates w.*to X"),
    "no shared": (lambda: theano.scan(lambda a: {z: a}, x), TypeError, "updates shared variables, and z"),
    "same numbers": (lambda: theano.scan(lambda a: a + uniform(stream())[1], x), ValueError, "draws.*from the state stream, which has no update"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_while_it_is_written(name):
    call, error, match = REFUSED[name]
    with pytest.raises(error, match=f"(?s){match}") as info:
        call()
    line = inspect.getsourcelines(call)[1]
    text = str(info.value)
    assert f"in the step <lambda> of {__file__}:{line}" in text and f"written at {__file__}:{line}: " in text
    assert len(text.splitlines()) <= 10


def test_what_a_step_raises_itself_is_left_alone():
    def step(a):
        return a.no_such_method()

    def wrong(a):
        raise TypeError("as I say")

    with pytest.raises(AttributeError, match="no_such_method.?$"):
        theano.scan(step, x)
    with pytest.raises(TypeError, match="^as I say$"):
        theano.scan(wrong, x)
    with pytest.raises(TypeError, match="^until: the condition .*scalar"):
        theano.scan(lambda a: (a, until(X > 1)), x)


def test_the_same_numbers_in_each_step_may_be_wanted():
    for inside in (False, True):
        state = stream()
        rows, _ = theano.scan(lambda a, s: a + uniform(s)[1], x, non_sequences=[state], strict=inside)
        a, b = theano.function([x], rows)([0.0, 0.0])
        assert a == b
    state = stream()

    def step(a):
        following, drawn = uniform(state)
        return a + drawn, {state: following}

    rows, updates = theano.scan(step, x)
    a, b = theano.function([x], rows, updates=updates)([0.0, 0.0])
    assert a != b


def double(a, p):
    return T.concatenate([p, p]) * a


def add(a, p):
    return a + p + X[:, 0]


def map_of(step, **more):
    return theano.scan(step, {"input": x, "taps": [-2, 2]}, **more)[0]


def ahead(n_steps, rows=x):
    return theano.scan(lambda a, b: a * b, {"input": rows, "taps": [0, 1]}, n_steps=n_steps)[0]


# In a call: the result, the arguments, the class of the error, and what its text has.
FAILING = {
    "negative": (theano.scan(lambda p: p * 2, None, z, n_steps=n)[0], {z: 1.0, n: -1}, IndexError, "n_steps.* is -1"),
    "negative, in the machine": (theano.scan(lambda p: T.sort(p), None, x, n_steps=n)[0], {x: ones(2), n: -1}, IndexError, "n_steps.* is -1"),
    "negative, no states": (theano.scan(lambda: z * 2, n_steps=n)[0], {z: 1.0, n: -1}, ValueError, "-1|negative"),
    "too short": (theano.scan(lambda a, p: a * p, x, z, n_steps=n)[0], {x: [1.0], z: 1.0, n: 3}, ValueError, r"sequence 0 \(x\) has 1 rows, but 3 steps"),
    "too short, in the machine": (theano.scan(lambda a, p: T.sort(a * p), X, x, n_steps=n)[0], {X: ones((1, 2)), x: ones(2), n: 3}, ValueError, r"sequence 0 \(X\) has 1 rows, but 3 steps"),
    "taps": (map_of(lambda a, b, p: a * b * p, outputs_info=z), {x: [1.0], z: 1.0}, IndexError, r"sequence 0 \(x\) has 1 rows, shorter than its taps reach: that takes 5"),
    "taps, in the machine": (map_of(lambda a, b, p: T.sort(a * b * p), outputs_info=T.zeros(2)), {x: [1.0]}, IndexError, r"sequence 0 \(x\) has 1 rows, shorter.*that takes 5"),
    "too short, a map": (theano.scan(lambda a: a * 2, x, n_steps=n)[0], {x: [1.0], n: 3}, ValueError, "sequence 0 has fewer rows"),
    "taps of a map of all rows": (ahead(x.shape[0]), {x: [1.0, 2]}, ValueError, "sequence 0 has fewer rows"),
    "taps of a map of the fewer": (ahead(T.minimum(x.shape[0], n)), {x: [1.0, 2], n: 3}, ValueError, "sequence 0 has fewer rows"),
    "taps of a map of known rows": (ahead(3, T.constant(ones(3))), {}, ValueError, "sequence 0 has fewer rows"),
    "taps of a map": (map_of(lambda a, b: a * b), {x: [1.0]}, ValueError, "sequence 0 has fewer rows"),
    "past": (theano.scan(lambda a, p: a + p, x, {"initial": X, "taps": [-3]})[0], {x: [1.0], X: ones((2, 2))}, ValueError, r"output 0 \(outputs_info: X\[:3\]\) has 2 rows.*3 back"),
    "shape": (theano.scan(double, x, X[0])[0], {x: [1.0, 2], X: ones((1, 2))}, ValueError, "step 0.*output 0 has length 4.*outputs_info. has 2"),
    "shapes that do not fit": (theano.scan(lambda a, p: T.sort(add(a, p)), x, z * X[0])[0], {x: [1.0, 2], z: 1.0, X: ones((3, 2))}, ValueError, "step 0.*(3 but|2 but|length 3|length 2)"),
    "shapes, in C": (theano.scan(lambda a, p, v: a + p * v, x, X[0], X[:, 0])[0], {x: [1.0, 2], X: ones((3, 2))}, ValueError, "step 0.*(3|2)"),
    "in a step": (theano.scan(lambda row, p: T.nlinalg.matrix_inverse(T.diag(row))[0] + p, X, x)[0], {X: [[1.0, 2], [1, 0]], x: [0.0, 0]}, np.linalg.LinAlgError, "in step 1 of for.*Singular"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
def test_failing_calls(name):
    result, values, error, match = FAILING[name]
    count = theano.shared(0)
    f = theano.function(list(values), result, updates={count: count + 1}, on_unused_input="ignore")
    with pytest.raises(error, match=f"(?s){match}") as info:
        f(*values.values())
    text = str(info.value)
    assert len(text.splitlines()) <= 10 and f"written at {__file__}" in text, text
    assert count.get_value() == 0


def test_a_failing_step_names_its_own_line():
    result, _ = theano.scan(lambda a, p: T.sort(add(a, p)), x, z * X[0])
    f = theano.function([x, X, z], result)
    with pytest.raises(ValueError) as info:
        f([1.0, 2], ones((3, 2)), 1.0)
    text = str(info.value)
    assert "return a + p + X[:, 0]" in text.splitlines()[1], text
