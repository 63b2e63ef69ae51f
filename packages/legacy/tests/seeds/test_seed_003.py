"""The page "Creating a new Op: Python implementation" (extending_theano): its blocks as they stand, in their order.

Names that the page leaves to the reader (``DoubleOp``, ``DoubleRop``) are its ``DoubleOp1``. Two slips: the ``grad`` of
``AXPBOp`` says ``a`` and ``b`` for ``self.a`` and ``self.b``, and is not called there; ``infer_shape`` of the skeleton
``MyOp`` has no ``self``.
"""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import textwrap
import unittest
from contextlib import redirect_stdout

import numpy
import pytest
from warm import Warm

import theano
from theano import config
from theano.tests import unittest_tools as utt
from theano.tests.test_rop import RopLop_checker

# -- Op's basic methods ---------------------------------------------------------------------------------------


class MyOp(theano.Op):
    # Properties attribute
    __props__ = ()

    #itypes and otypes attributes are
    #compulsory if make_node method is not defined.
    #They're the type of input and output respectively
    itypes = None
    otypes = None

    #Compulsory if itypes and otypes are not defined
    def make_node(self, *inputs):
        pass

    # Python implementation:
    def perform(self, node, inputs_storage, output_storage):
        pass

    # Other type of implementation
    # C implementation: [see theano web site for other functions]
    def c_code(self, node, inputs, outputs, sub):
        pass

    # Other implementations (pycuda, ...):
    def make_thunk(self, node, storage_map, _, _2):
        pass

    # optional:
    check_input = True

    def __init__(self, *args):
        pass

    def grad(self, inputs, g):
        pass

    def R_op(self, inputs, eval_points):
        pass

    def infer_shape(node, input_shapes):
        pass


def test_skeleton():
    op = MyOp()
    assert op == MyOp() and hash(op) == hash(MyOp()) and str(op) == "MyOp"
    assert op.make_node() is None


# -- Example: Op definition -------------------------------------------------------------------------------------


#Using make_node


class DoubleOp1(theano.Op):
    __props__ = ()

    def make_node(self, x):
        x = theano.tensor.as_tensor_variable(x)
        # Note: using x_.type() is dangerous, as it copies x's broadcasting
        # behaviour
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        x = inputs[0]
        z = output_storage[0]
        z[0] = x * 2

    def infer_shape(self, node, i0_shapes):
        return i0_shapes

    def grad(self, inputs, output_grads):
        return [output_grads[0] * 2]

    def R_op(self, inputs, eval_points):
        # R_op can receive None as eval_points.
        # That mean there is no diferientiable path through that input
        # If this imply that you cannot compute some outputs,
        # return None for those.
        if eval_points[0] is None:
            return eval_points
        return self.grad(inputs, eval_points)

doubleOp1 = DoubleOp1()

#Using itypes and otypes


class DoubleOp2(theano.Op):
    __props__ = ()

    itypes = [theano.tensor.dmatrix]
    otypes = [theano.tensor.dmatrix]

    def perform(self, node, inputs, output_storage):
        x = inputs[0]
        z = output_storage[0]
        z[0] = x * 2

    def infer_shape(self, node, i0_shapes):
        return i0_shapes

    def grad(self, inputs, output_grads):
        return [output_grads[0] * 2]

    def R_op(self, inputs, eval_points):
        # R_op can receive None as eval_points.
        # That mean there is no diferientiable path through that input
        # If this imply that you cannot compute some outputs,
        # return None for those.
        if eval_points[0] is None:
            return eval_points
        return self.grad(inputs, eval_points)

doubleOp2 = DoubleOp2()

DoubleOp = DoubleRop = DoubleOp1


@pytest.mark.parametrize("cls", [DoubleOp1, DoubleOp2])
@pytest.mark.parametrize("mode", [None, "DebugMode"])
def test_you_can_try_the_new_op(cls, mode):
    said = io.StringIO()
    with config.change_flags(mode=mode or config.mode), redirect_stdout(said):
        x = theano.tensor.matrix()
        f = theano.function([x], cls()(x))
        inp = numpy.random.rand(5, 4)
        out = f(inp)
        assert numpy.allclose(inp * 2, out)
        print(inp)
        print(out)
    # The page shows one run of it: two tables of five rows of four numbers, the second twice the first.
    assert len(said.getvalue().splitlines()) == 10 and said.getvalue().count("[[") == 2


# -- Example: __props__ definition ------------------------------------------------------------------------------


class AXPBOp(theano.Op):
    """
    This creates an Op that takes x to a*x+b.
    """
    __props__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b
        super(AXPBOp, self).__init__()

    def make_node(self, x):
        # check that the theano version has support for __props__.
        assert hasattr(self, '_props'), ("Your version of theano is too"
                                         "old to support __props__.")
        x = theano.tensor.as_tensor_variable(x)
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        x = inputs[0]
        z = output_storage[0]
        z[0] = self.a * x + self.b

    def infer_shape(self, node, i0_shapes):
        return i0_shapes

    def grad(self, inputs, output_grads):
        return [a * output_grads[0] + b]


def test_props():
    mult4plus5op = AXPBOp(4, 5)
    another_mult4plus5op = AXPBOp(4, 5)
    mult2plus3op = AXPBOp(2, 3)

    assert mult4plus5op == another_mult4plus5op
    assert mult4plus5op != mult2plus3op

    x = theano.tensor.matrix()
    f = theano.function([x], mult4plus5op(x))
    g = theano.function([x], mult2plus3op(x))

    inp = numpy.random.rand(5, 4).astype(numpy.float32)
    assert numpy.allclose(4 * inp + 5, f(inp))
    assert numpy.allclose(2 * inp + 3, g(inp))

    # "It also generates a default __str__ method that prints the attribute names and their values."
    assert str(mult4plus5op) == "AXPBOp{a=4, b=5}"
    assert hash(mult4plus5op) == hash(another_mult4plus5op)


# -- How To Test it -----------------------------------------------------------------------------------------------


class test_Double(utt.InferShapeTester):
    def setUp(self):
        super(test_Double, self).setUp()
        self.op_class = DoubleOp
        self.op = DoubleOp()

    def test_basic(self):
        x = theano.tensor.matrix()
        f = theano.function([x], self.op(x))
        inp = numpy.asarray(numpy.random.rand(5, 4), dtype=config.floatX)
        out = f(inp)
        # Compare the result computed to the expected value.
        utt.assert_allclose(inp * 2, out)

    def test_infer_shape(self):
        x = theano.tensor.matrix()
        self._compile_and_check([x],  # theano.function inputs
                                [self.op(x)],  # theano.function outputs
                                # Always use not square matrix!
                                # inputs data
                                [numpy.asarray(numpy.random.rand(5, 4),
                                               dtype=config.floatX)],
                                # Op that should be removed from the graph.
                                self.op_class)

    def test_grad(self):
        theano.tests.unittest_tools.verify_grad(self.op,
                                                [numpy.random.rand(5, 7, 2)])


class test_DoubleRop(RopLop_checker):
    def setUp(self):
        super(test_DoubleRop, self).setUp()
    def test_double_rop(self):
        self.check_rop_lop(DoubleRop()(self.x), self.in_shape)


def test_in_file():
    t = test_DoubleRop("test_double_rop")
    t.setUp()
    t.test_double_rop()


def test_unittest_main():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(test_Double)
    assert unittest.TextTestRunner(stream=io.StringIO()).run(suite).wasSuccessful()


# -- Running Your Tests ---------------------------------------------------------------------------------------------

MODULE = '''
import numpy
import theano
from theano import config
from theano.tests import unittest_tools as utt
from theano.tests.test_rop import RopLop_checker


class DoubleOp(theano.Op):
    __props__ = ()

    def make_node(self, x):
        x = theano.tensor.as_tensor_variable(x)
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * 2

    def R_op(self, inputs, eval_points):
        return [None if eval_points[0] is None else eval_points[0] * 2]

    def grad(self, inputs, output_grads):
        return [output_grads[0] * 2]


class test_Double(utt.InferShapeTester):
    def test_basic(self):
        x = theano.tensor.matrix()
        f = theano.function([x], DoubleOp()(x))
        utt.assert_allclose(numpy.full((2, 3), 4), f(numpy.full((2, 3), 2)))


class test_DoubleRop(RopLop_checker):
    def test_double_rop(self):
        self.check_rop_lop(DoubleOp()(self.x), self.in_shape)

    def test_double_op(self):
        assert config.floatX == "float64"
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a_persons")
    (folder / "folder_name").mkdir()
    for path in (folder / "test_file.py", folder / "folder_name" / "test_inner.py"):
        path.write_text(textwrap.dedent(MODULE), encoding="utf-8")
    return folder


NOSE = Warm("import numpy, pytest, theano, theano.tensor\nfrom theano.tests.main import main")


def theano_nose(folder, *words):
    code = f"import os, sys; os.chdir({str(folder)!r}); sys.exit(main(sys.argv[1:]))"
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COV_"))}
    plain["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the import of hypothesis takes longer than all else
    return NOSE.run(code, *words, "-p", "no:cacheprovider", env=plain)


@pytest.mark.parametrize(("word", "passed"), [
    ("folder_name", 3),
    ("test_file.py", 3),
    ("test_file.py:test_DoubleRop", 2),
    ("test_file.py:test_DoubleRop.test_double_op", 1),
])  # fmt: skip
def test_theano_nose(folder, word, passed):
    done = theano_nose(folder, word)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{passed} passed" in done.stdout


def test_theano_nose_help():
    done = theano_nose(".", "--help")
    assert done.returncode == 0
    for word in ("--theano", "folder", "test_file.py:Class", "test_file.py:Class.method"):
        assert word in done.stdout


# -- Random numbers in tests ------------------------------------------------------------------------------------------


def test_random_numbers_are_seeded():
    first, second = test_DoubleRop("test_double_rop"), test_DoubleRop("test_double_rop")
    first.setUp()
    one = numpy.random.rand(3)
    second.setUp()
    numpy.testing.assert_array_equal(one, numpy.random.rand(3))
    assert first.in_shape == second.in_shape and utt.fetch_seed() == config.unittests.rseed == 666


# -- as_op -------------------------------------------------------------------------------------------------------------


def test_as_op():
    from theano import function
    from theano.compile.ops import as_op

    def infer_shape_numpy_dot(node, input_shapes):
        ashp, bshp = input_shapes
        return [ashp[:-1] + bshp[-1:]]

    @as_op(itypes=[theano.tensor.fmatrix, theano.tensor.fmatrix],
           otypes=[theano.tensor.fmatrix], infer_shape=infer_shape_numpy_dot)
    def numpy_dot(a, b):
       return numpy.dot(a, b)

    x = theano.tensor.fmatrix()
    y = theano.tensor.fmatrix()
    f = function([x, y], numpy_dot(x, y))
    inp1 = numpy.random.rand(5, 4).astype('float32')
    inp2 = numpy.random.rand(4, 7).astype('float32')
    out = f(inp1, inp2)
    numpy.testing.assert_allclose(out, inp1 @ inp2, rtol=1e-6)

    # "Not providing the infer_shape method prevents shape-related optimizations from working with this op."
    def is_computed(f):
        return any("FromFunctionOp" in type(n.op).__name__ for n in f.maker.fgraph.toposort())

    shape = function([x, y], numpy_dot(x, y).shape)
    assert tuple(shape(inp1, inp2)) == (5, 7) and not is_computed(shape)
    without = as_op(itypes=[theano.tensor.fmatrix] * 2, otypes=[theano.tensor.fmatrix])(lambda a, b: a @ b)
    assert is_computed(function([x, y], without(x, y).shape))

    # "As no grad is defined, this means you won't be able to differentiate paths that include this op."
    with pytest.raises((NotImplementedError, theano.gradient.NullTypeGradError)):
        theano.grad(numpy_dot(x, y).sum(), x)

    # "needs to return a new data allocation, no views or in place modification of the input"
    view = as_op(itypes=[theano.tensor.fmatrix], otypes=[theano.tensor.fmatrix])(lambda a: a.T)
    with pytest.raises(theano.compile.debugmode.BadViewMap):
        function([x], view(x), mode="DebugMode")(inp1)


def test_exercises():
    from theano.compile.ops import as_op

    v = theano.tensor.fvector

    @as_op(itypes=[v, v], otypes=[v, v], infer_shape=lambda node, shapes: shapes)
    def both(a, b):
        return numpy.add(a, b), numpy.subtract(a, b)

    x, y = v("x"), v("y")
    f = theano.function([x, y], both(x, y), mode="DebugMode")
    a, b = numpy.float32([1, 2]), numpy.float32([3, 5])
    total, difference = f(a, b)
    numpy.testing.assert_array_equal([total, difference], [a + b, a - b])


# -- Documentation -------------------------------------------------------------------------------------------------------


def test_docstring():
    class DoubleOp(theano.Op):
        """ Double each element of a tensor.

        :param x: input tensor.

        :return: a tensor of the same shape and dtype as the input with all
        values doubled.

        :note:
            this is a test note

        :seealso:
            You can use the elemwise op to replace this example.
            Just execute `x * 2` with x being a Theano variable.

        .. versionadded:: 0.6
        """

    assert DoubleOp.__doc__.strip().startswith("Double each element")


def test_ops_can_be_pickled():
    assert pickle.loads(pickle.dumps(AXPBOp(4, 5))) == AXPBOp(4, 5)


# -- NanGuardMode and AllocEmpty ----------------------------------------------------------------------------------------


def test_variable_that_is_not_checked():
    x = theano.tensor.dvector("x")
    variable = theano.tensor.log(x + 1) * 3
    f = theano.function([x], variable, mode=theano.compile.nanguardmode.NanGuardMode())
    with pytest.raises(AssertionError):
        f([-2.0])
    variable.tag.nan_guard_mode_check = False
    f = theano.function([x], variable, mode=theano.compile.nanguardmode.NanGuardMode())
    # "this tag automatically follow that variable during optimization": the one that is computed is another.
    assert f.maker.fgraph.outputs[0].owner.op != variable.owner.op
    assert numpy.isnan(f([-2.0])[0])
