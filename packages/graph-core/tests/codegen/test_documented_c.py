"""The C of the documentation: "Implementing double in C" block by block as written, and the C of "How to Make Ops"."""

# ruff: noqa: C408, UP031 -- as the documentation writes it.

import pytest
from c_toys import Double, add, mul
from c_toys import double as final

from theano import Mode, function
from theano.errors import MethodNotDefined
from theano.graph import Apply
from theano.graph.op import COp
from theano.graph.type import Generic
from theano.runtime.link import Performed, Thunked


class double(Generic):
    def c_declare(self, name, sub, check_input=True):
        return """
        double %(name)s;
        """ % dict(name = name)  # fmt: skip


def c_init(self, name, sub):
    return """
    %(name)s = 0.0;
    """ % dict(name = name)  # fmt: skip


def c_extract(self, name, sub, check_input=True, **kwargs):
    return """
    if (!PyFloat_Check(py_%(name)s)) {
        PyErr_SetString(PyExc_TypeError, "expected a float");
        %(fail)s
    }
    %(name)s = PyFloat_AsDouble(py_%(name)s);
    """ % dict(name = name, fail = sub['fail'])  # fmt: skip


def c_sync(name, sub):
    return """
    Py_XDECREF(py_%(name)s);
    py_%(name)s = PyFloat_FromDouble(%(name)s);
    if (!py_%(name)s) {
        printf("PyFloat_FromDouble failed on: %%f\\n", %(name)s);
        Py_XINCREF(Py_None);
        py_%(name)s = Py_None;
    }
    """ % dict(name = name)  # fmt: skip


double.c_sync = c_sync


def c_cleanup(name, sub):
    return ""


double.c_cleanup = c_cleanup
# The page shows these two as functions, and means methods.
double.c_init, double.c_extract = c_init, c_extract


class Halved(COp):
    """Half of a number of the class that the page builds up."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def c_code(self, node, name, inputs, outputs, sub):
        return f"{outputs[0]} = {inputs[0]} / 2;"


@pytest.mark.parametrize("linker", ["c", "c|py", "cvm", "vm"])
def test_the_class_that_the_page_builds_up(linker):
    x = double()("x")
    f = function([x], Halved()(Halved()(x)), mode=Mode(linker=linker))
    assert f(3.0) == 0.75 and all(isinstance(how, Thunked) for how in f.maker.linked.how)
    with pytest.raises(TypeError, match="expected a float"):
        f("no float")


def test_the_program_of_the_page():
    double = final
    x, y, z = double('x'), double('y'), double('z')  # fmt: skip
    a = add(x, y)
    b = mul(a, z)
    f = function([x, y, z], b)
    assert f(1.0, 2.0, 3.0) == 9.0


def test_what_the_final_version_says_of_itself():
    double = Double()
    assert str(double) == "double" and double.filter(3) == 3.0
    with pytest.raises(TypeError, match="Expected a float!"):
        double.filter(3, strict=True)
    assert double.values_eq_approx(1.0, 1.00001) and not double.values_eq_approx(1.0, 1.1)


class MyOp(COp):
    """The parametrised op of "How to Make Ops": it prints when told to, and has no C when told so."""

    __props__ = ("debug", "allow_c")

    def __init__(self, debug=False, allow_c=True):
        self.debug, self.allow_c = debug, allow_c

    def make_node(self, x):
        return Apply(self, [x], [final()])

    def perform(self, node, inputs, output_storage):
        if self.debug:
            print("computing in Python")
        output_storage[0][0] = inputs[0] + 1

    def c_code(self, node, name, inputs, outputs, sub):
        if not self.allow_c:
            raise MethodNotDefined("c_code", type(self), "MyOp")
        shown = 'printf("computing in C\\n"); fflush(stdout);' if self.debug else ""
        return f"{shown} {outputs[0]} = {inputs[0]} + 1;"


def test_an_op_that_prints_in_c_when_told_so(capfd):
    x = final("x")
    assert function([x], MyOp(debug=True)(x))(1.0) == 2.0
    assert capfd.readouterr().out == "computing in C\n"
    assert function([x], MyOp()(x))(1.0) == 2.0 and capfd.readouterr().out == ""


def test_an_op_that_refuses_to_run_in_c():
    x = final("x")
    refusing = function([x], MyOp(allow_c=False)(x), mode=Mode(linker="c|py"))
    willing = function([x], MyOp()(x), mode=Mode(linker="c|py"))
    assert isinstance(refusing.maker.linked.how[0], Performed) and isinstance(willing.maker.linked.how[0], Thunked)
    assert refusing(1.0) == willing(1.0) == 2.0
    with pytest.raises(NotImplementedError):
        function([x], MyOp(allow_c=False)(x), mode=Mode(linker="c"))
