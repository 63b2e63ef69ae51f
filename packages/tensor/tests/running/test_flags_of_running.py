"""Flags about running and compiling, each as it is documented."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from forked import TENSORS

import theano
import theano.tensor as T
from theano.errors import KernelCompileError


def environment(flags):
    return {**os.environ, "THEANO_FLAGS": os.environ.get("THEANO_FLAGS", "") + "," + flags}


def forked(flags, code):
    return TENSORS.run(code, env=environment(flags))


def fresh(flags, code):
    """Run a process whose import of Theano sees the flags."""
    return subprocess.run([sys.executable, "-c", code], env=environment(flags), capture_output=True, text=True)


# -- exception_verbosity ----------------------------------------------------------------------------------------


@pytest.fixture
def wrong():
    """A product of shapes that do not fit, inside a larger expression."""
    x, y = T.matrix("x"), T.matrix("y")
    kept = theano.shared(np.zeros((50, 3)), name="kept")
    return theano.function([x, y], T.dot(x, y) + T.dot(kept, T.exp(y)).sum())


@pytest.mark.parametrize("level", ["low", "high"])
def test_errors_show_as_much_as_was_asked_for(wrong, level):
    with theano.config.change_flags(exception_verbosity=level), pytest.raises(ValueError) as caught:
        wrong(np.ones((2, 4)), np.ones((3, 2)))
    text = str(caught.value)
    assert "dot" in text
    assert ("Debugprint of the apply node" in text) == (level == "high") == ("Storage map footprint" in text)
    if level == "high":
        assert "[id A] <TensorType(float64, matrix)>" in text and "kept, Input, float64, shape (50, 3)" in text
        assert "ElemSize: 8 Byte(s), TotalSize: 1200 Byte(s)" in text
        sizes = [int(line.split("TotalSize: ")[1].split()[0]) for line in text.splitlines() if " - " in line]
        assert sizes == sorted(sizes, reverse=True) and f" TotalSize: {sum(sizes)} Byte(s)" in text


# -- vm.lazy --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lazy", [None, True, False])
def test_programs_run_as_asked(lazy):
    x = T.vector("x")
    total = theano.shared(np.zeros(()), name="total")
    with theano.config.change_flags({"vm.lazy": lazy}):
        f = theano.function([x], [T.exp(x).sum(), x.mean()], updates=[(total, total + x.sum())])
    value = np.array([1.0, 2.0, 4.0])
    for _ in range(3):
        np.testing.assert_allclose(f(value)[0], np.exp(value).sum())
    assert total.get_value() == 21.0 and f.lazy == (lazy is True)


# -- numpy.seterr_* ---------------------------------------------------------------------------------------------

DIVIDE = """
import numpy as np, theano, theano.tensor as T
x = T.vector("x")
print(np.geterr()["divide"])
print(theano.function([x], 1 / x, mode="FAST_COMPILE")(np.zeros(1)))
print(theano.function([x], T.exp(x * 1000), mode="FAST_COMPILE")(np.ones(1)))
"""


@pytest.mark.parametrize(
    "flags, numpys, done, complaint",
    [
        ("floatX=float64", "warn", ["[inf]", "[inf]"], ""),
        ("numpy.seterr_all=raise", "raise", [], "FloatingPointError: divide by zero"),
        ("numpy.seterr_divide=raise", "raise", [], "FloatingPointError: divide by zero"),
        ("numpy.seterr_over=raise", "ignore", ["[inf]"], "FloatingPointError: overflow"),
        ("numpy.seterr_all=warn,numpy.seterr_over=ignore", "warn", ["[inf]", "[inf]"], "RuntimeWarning: divide"),
        ("numpy.seterr_all=None", "warn", ["[inf]", "[inf]"], "RuntimeWarning: divide"),
    ],
)
def test_numpy_is_told_what_to_do_about_errors(flags, numpys, done, complaint):
    result = fresh(flags, DIVIDE)
    assert result.stdout.split() == [numpys, *done], result.stderr
    assert complaint in result.stderr if complaint else "Warning" not in result.stderr


# -- the compiler -----------------------------------------------------------------------------------------------

BLOCK = """
import theano, theano.tensor as T, numpy as np
from theano import gof

class Mine(gof.Op):
    __props__ = ()
    itypes, otypes = [gof.generic], [gof.generic]
    def c_code(self, node, name, inputs, outputs, sub):
        return '''%(body)s
        Py_XDECREF(py_%%(z)s); Py_INCREF(py_%%(x)s); py_%%(z)s = py_%%(x)s;
        ''' %% dict(x=inputs[0], z=outputs[0], fail=sub["fail"])
    %(version)s
x = gof.generic("x")
print(theano.function([x], Mine()(x))(3.0))
"""


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("flag", [False, True])
def test_code_without_a_version_is_told_of(versioned, flag):
    version = "def c_code_cache_version(self): return (1,)" if versioned else ""
    done = forked(f"cmodule.warn_no_version={flag}", BLOCK % {"body": "", "version": version})
    assert done.returncode == 0, done.stderr
    assert ("no c_code_cache_version" in done.stderr) == (flag and not versioned)


@pytest.mark.parametrize("flag", [False, True])
def test_warnings_of_the_compiler_are_shown(flag):
    done = forked(f"cmodule.compilation_warning={flag}", BLOCK % {"body": "int never_used;", "version": ""})
    assert done.returncode == 0, done.stderr
    assert ("never_used" in done.stderr) == flag


@pytest.mark.parametrize("keep", [False, True])
def test_what_the_compiler_refused_is_kept(keep, tmp_path, monkeypatch):
    from theano.compile.compiling import compile_kernels
    from theano.graph.kernel import Kernel

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    kernel = Kernel("refused", "int KERNEL(th_ctx *ctx) { this is no C; }")
    with theano.config.change_flags(nocleanup=keep), pytest.raises(KernelCompileError) as caught:
        compile_kernels([kernel])
    kept = [path for path in tmp_path.rglob("theano-refused-*/*") if path.is_file()]
    assert (str(tmp_path) in str(caught.value)) == keep == bool(kept)
    if keep:
        assert any("this is no C;" in path.read_text() for path in kept) and any(".log" in path.name for path in kept)
