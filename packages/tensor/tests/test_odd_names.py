"""Names of any kind, through every interface at which text leaves: nothing fails, and nothing in a name is taken for code."""

from __future__ import annotations

import io
import os
import pickle
import tempfile
import traceback
from html.parser import HTMLParser

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.printing import debugprint, pp, pydotprint
from theano.tensor.control.checks import Assert

NAMES = {
    "surrogate": "a\ud800b",
    "surrogates": "\udcff" * 3,
    "nul": "a\0b",
    "quotes": "a'b\"c`d",
    "newlines": "a\nb\r\nc\u2028d",
    "script": "</script><script>alert(1)</script>",
    "comment": "*/ exit(1); /*",
    "trigraph": "??/\n#error\\",
    "percent": "%s %(x)s %n %",
    "braces": "{} {x} {0!r} }{",
    "backslash": "\\u0000 \\x \\",
    "right to left": "\u202eabc\u202c",
    "wide": "x\U0001f600y\u00e9",
    "empty": "",
    "long": "n" * 10_000,
    "html": "<img src=x onerror=alert(1)>&amp;",
}


class Named(theano.Op):
    """An op with a name of somebody's choice."""

    __props__ = ("name",)

    def __init__(self, name):
        self.name = name

    def make_node(self, x):
        return theano.Apply(self, [x], [x.type(self.name)])

    def perform(self, node, inputs, outputs):
        if np.isnan(inputs[0]).any():
            raise ValueError(f"not for {self.name}")
        outputs[0][0] = inputs[0] * 2

    def __str__(self):
        return self.name


class InC(Named):
    """The same in C."""

    def c_code(self, node, name, inputs, outputs, sub):
        copy = f"(PyArrayObject*)PyArray_NewCopy({inputs[0]}, NPY_CORDER)"
        return f"/* {node.op.__class__.__name__} */ Py_XDECREF({outputs[0]}); {outputs[0]} = {copy};"

    def c_code_cache_version(self):
        return (1,)


def program(name, op=Named):
    """Return a function in which everything bears a name, its variables and a value."""
    x, s = T.dvector(name), theano.shared(np.ones(2), name=name)
    y = T.exp(op(name)(x) + s)
    y.name = name
    f = theano.function([theano.In(x, name=name)], [y, (y * x).sum()], updates=[(s, s + 1)], name=name, profile=False)
    return f, x, y, s


class _Page(HTMLParser):
    """Counts the scripts of a page and notes attributes that run something."""

    def __init__(self):
        super().__init__()
        self.scripts, self.handlers = 0, []

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.handlers += [key for key, value in attrs if key == "onerror"]


@pytest.fixture(params=NAMES)
def name(request):
    return NAMES[request.param]


def test_compiling_calling_and_pickling(name):
    f, x, y, s = program(name)
    first = f(np.zeros(2))[0].tolist()
    s.set_value(np.ones(2))
    assert pickle.loads(pickle.dumps(f))(np.zeros(2))[0].tolist() == first
    assert f.copy(name=name)(np.zeros(2))[0].tolist() == first
    f[name] if f.finder[name] is not None and not isinstance(f.finder[name], list) else None


def test_c_of_people(name):
    f = program(name, InC)[0]
    np.testing.assert_allclose(f(np.zeros(2))[0], np.e)


def test_texts_can_be_written_to_any_stream(name):
    f, x, y, s = program(name)
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    for text in (
        debugprint(f, file="str", print_type=True, print_storage=True),
        debugprint([x, y, s], file="str"),
        pp(y), str(f.maker.fgraph), str(y.owner), repr(f), str(x), repr(s),
        theano.explain_compile(f), str(f.maker.rewriting),
    ):  # fmt: skip
        stream.write(text)
    debugprint(f, file=stream)
    theano.printing.Print(name)(x)
    stream.flush()


def test_pages_and_pictures(name):
    f = program(name)[0]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        theano.d3viz.d3viz(f, path)
        with open(path, encoding="utf-8") as file:
            page = _Page()
            page.feed(file.read())
        plain = os.path.join(folder, "plain.html")
        theano.d3viz.d3viz(T.dvector("x") * 2, plain)
        with open(plain, encoding="utf-8") as file:
            usual = _Page()
            usual.feed(file.read())
        assert page.scripts == usual.scripts and not page.handlers
        try:
            pydotprint(f, os.path.join(folder, "picture.dot"), format="dot", print_output_file=False)
        except RuntimeError as error:
            assert "pydot" in str(error)  # not installed here
    for thing in (f, f.maker.fgraph.outputs[0]):
        svg = thing._repr_svg_()
        if svg is not None:
            svg.encode()


def test_errors_name_them(name):
    f, x, y, s = program(name)
    with pytest.raises(ValueError) as caught:
        f(np.full(2, np.nan))
    "".join(traceback.format_exception(caught.value)).encode()
    theano.last_error.full().encode()
    with pytest.raises(TypeError) as caught:
        f("text")
    str(caught.value).encode()
    with pytest.raises(theano.graph.MissingInputError if hasattr(theano.graph, "MissingInputError") else Exception) as caught:
        theano.function([], x * 2)
    str(caught.value).encode()
    with pytest.raises(ValueError) as caught:
        theano.function([x], x + s)(np.ones(3))
    str(caught.value).encode()


def test_asserts_and_prints(name, capsys):
    x = T.dvector(name)
    f = theano.function([x], Assert(name)(x, T.gt(x.sum(), 0)), name=name)
    assert f(np.ones(1)).tolist() == [1.0]
    with pytest.raises(AssertionError) as caught:
        f(-np.ones(1))
    str(caught.value).encode()
    f = theano.function([x], theano.printing.Print(name)(x) * 2)
    assert f(np.ones(1)).tolist() == [2.0]
    assert "__str__ =" in capsys.readouterr().out


def test_profiles(name, capsys):
    x = T.dvector(name)
    f = theano.function([x], Named(name)(x) * 2, name=name, profile=True)
    f(np.ones(2))
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    f.profile.summary(file=stream)
    stream.flush()


def test_a_file_of_that_name(name):
    file = f"/nowhere/{name or 'x'}.py"
    try:
        code = compile("def f(T):\n    x = T.dvector('x')\n    return x, x + x.shape[0]\n", file.replace("\0", "0"), "exec")
    except (ValueError, UnicodeError):
        pytest.skip("no file can be called so")
    names = {}
    exec(code, names)
    x, y = names["f"](T)
    g = theano.function([x], Named("n")(y))
    with pytest.raises(ValueError) as caught:
        g(np.full(2, np.nan))
    str(caught.value).encode()
    theano.last_error.full().encode()
    debugprint(g, file="str").encode()


@pytest.mark.parametrize("mode", ["DebugMode", "NanGuardMode", "FAST_COMPILE"])
def test_modes(name, mode):
    x = T.dvector(name)
    y = Named(name)(x)
    f = theano.function([x], y / 0, mode=mode, name=name)
    try:
        f(np.ones(2))
    except (AssertionError, theano.compile.debugmode.DebugModeError) as error:
        str(error).encode()
    with pytest.raises(Exception) as caught:
        f(np.full(2, np.nan))
        raise ValueError
    str(caught.value).encode()
