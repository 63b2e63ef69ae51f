"""People's C over arrays and numbers: each linker, each dtype, each layout, against NumPy."""

import sys

import numpy as np
import pytest

import theano
import theano.scalar as ts
import theano.tensor as T
from portion import portion
from theano.errors import MethodNotDefined
from theano.graph import Apply, generic
from theano.graph.external_op import ExternalCOp as FileCOp
from theano.graph.op import COp
from theano.graph.type import CDataType, CEnumType, EnumList, EnumType, Generic, Params, ParamsType
from theano.scalar import c_values

LINKERS = ["c", "c|py", "cvm", "vm"]


class VectorTimesScalar(COp):
    """The op of the tutorial."""

    __props__ = ()

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type()])

    def c_code_cache_version(self):
        return (1, 0)

    def c_code(self, node, name, inp, out, sub):
        names = {"x": inp[0], "y": inp[1], "z": out[0], "fail": sub["fail"]}
        return """
        // Validate that the output storage exists and has the same dimension as x.
        if (NULL == %(z)s || PyArray_DIMS(%(x)s)[0] != PyArray_DIMS(%(z)s)[0])
        {
            Py_XDECREF(%(z)s);
            %(z)s = (PyArrayObject*)PyArray_EMPTY(1, PyArray_DIMS(%(x)s), PyArray_TYPE(%(x)s), 0);
            if (!%(z)s) {
                %(fail)s;
            }
        }
        {
            dtype_%(y)s y_value = ((dtype_%(y)s*)PyArray_DATA(%(y)s))[0];
            int x_stride = PyArray_STRIDES(%(x)s)[0] / sizeof(dtype_%(x)s);
            int z_stride = PyArray_STRIDES(%(z)s)[0] / sizeof(dtype_%(z)s);
            dtype_%(x)s* from = (dtype_%(x)s*)PyArray_DATA(%(x)s);
            dtype_%(z)s* to = (dtype_%(z)s*)PyArray_DATA(%(z)s);
            for (int i = 0; i < PyArray_DIMS(%(x)s)[0]; i++)
                to[i * z_stride] = from[i * x_stride] * y_value;
        }
        """ % names  # noqa: UP031


DTYPES = ["int8", "uint16", "float32", "complex64", "int32", "int64", "uint64", "float64", "complex128"]


@pytest.mark.parametrize("linker", LINKERS)
def test_arrays_of_all_layouts(linker):
    x, y = T.dvector("x"), T.dscalar("y")
    f = theano.function([x, y], VectorTimesScalar()(x, y), mode=theano.Mode(linker=linker))
    whole = np.arange(12.0)
    for value in (whole, whole[::-1], whole[::3], whole[2:9], whole[:0], np.broadcast_to(np.float64(2), 5)):
        result = f(value, 3.0)
        assert np.array_equal(result, value * 3) and result is not value


@pytest.mark.parametrize("dtype", portion(DTYPES, always=4))
def test_elements_of_all_dtypes(dtype):
    x, y = T.vector("x", dtype), T.scalar("y", dtype)
    f = theano.function([x, y], VectorTimesScalar()(x, y), mode="FAST_RUN")
    value = (np.arange(7) + (1j if dtype.startswith("c") else 0)).astype(dtype)
    assert np.array_equal(f(value, value[3]), value * value[3])


def test_between_our_kernels_and_each_other():
    x, y = T.dvector("x"), T.dscalar("y")
    op = VectorTimesScalar()
    f = theano.function([x, y], T.exp(op(op(x + 1, y), y)).sum())
    value = np.linspace(0, 1, 5)
    assert np.allclose(f(value, 0.5), np.exp((value + 1) * 0.25).sum())
    g = theano.function([x, y], op(op(x, y), y), mode=theano.Mode(linker="c"))
    assert len(g.maker.linked.how) == 1 and np.array_equal(g(value, 2.0), value * 4)


def test_nothing_is_leaked_and_inputs_keep_their_references():
    x, y = T.dvector("x"), T.dscalar("y")
    f = theano.function([x, y], VectorTimesScalar()(x, y))
    value, by = np.arange(5.0), np.asarray(2.0)
    f(value, by)
    before = sys.getrefcount(value), sys.getrefcount(by)
    results = [f(value, by) for _ in range(50)]
    assert (sys.getrefcount(value), sys.getrefcount(by)) == before
    assert len({r.ctypes.data for r in results}) == 50  # none of them is written over while it is held
    assert all(sys.getrefcount(r) <= 3 for r in results)


# -- C in a file ---------------------------------------------------------------------------------------------------


class VectorTimesVector(FileCOp):
    __props__ = ()
    func_file = "./vector_times_vector.c"
    func_name = "APPLY_SPECIFIC(vector_times_vector)"

    def __init__(self):
        super().__init__(self.func_file, self.func_name)

    def make_node(self, x, y):
        output_var = T.TensorType(dtype=ts.upcast(x.dtype, y.dtype), broadcastable=[False])()
        return Apply(self, [x, y], [output_var])


@pytest.mark.parametrize("linker", LINKERS)
def test_c_in_a_file(linker):
    x, y = T.fvector("x"), T.lvector("y")
    z = VectorTimesVector()(x, y)
    f = theano.function([x, y], z, mode=theano.Mode(linker=linker))
    assert np.array_equal(f(np.float32([1.5, 2]), [3, 4]), [4.5, 8.0]) and z.dtype == "float64"
    with pytest.raises(ValueError, match=r"Shape mismatch : x.shape\[0\] == 1"):
        f(np.float32([1]), [1, 2])


class Counting(FileCOp):
    __props__ = ("start",)
    params_type = ParamsType(start=ts.int64)

    def __init__(self, start):
        super().__init__("counting.c")
        self.start = start

    def make_node(self, x):
        return Apply(self, [x], [ts.int64()])


def test_all_sections_of_a_file():
    x = ts.int64("x")
    f = theano.function([x], Counting(10)(x))
    assert [f(1), f(1), f(5)] == [12, 13, 18]
    with pytest.raises(ValueError, match="a negative number"):
        f(-1)
    assert f(0) == 14  # the call that failed did not count
    with pytest.raises(ValueError, match="start is negative"):
        theano.function([x], Counting(-1)(x))


class FileQuadratic(FileCOp):
    __props__ = ("a", "b")
    params_type = ParamsType(a=T.TensorType("float32", ()), b=ts.int16)

    def __init__(self, a, b):
        super().__init__("quadratic.c", "APPLY_SPECIFIC(quadratic)")
        self.a, self.b = a, b

    def make_node(self, x):
        return Apply(self, [x], [x.type()])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_parameters_of_c_in_a_file(dtype):
    x = T.vector("x", dtype)
    f = theano.function([x], FileQuadratic(np.float32(2.5), 3)(x))
    value = np.arange(5, dtype=dtype)
    assert np.array_equal(f(value), 2.5 * value**2 + 3 * value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int x;", "no section"),
        ("int x;\n#section code\n", "before its first section"),
        ("#section kode\n", "section 'kode'"),
        ("#section support_code\n", "nothing computes"),
        ("THEANO_APPLY_CODE_SECTION\n", "old form"),
    ],
)
def test_files_that_are_wrong(tmp_path, text, said):
    path = tmp_path / "wrong.c"
    path.write_text(text)
    with pytest.raises(ValueError, match=said):
        FileCOp(str(path))


# -- parameters --------------------------------------------------------------------------------------------------------


class Quadratic(COp):
    """a*x^2 + b*x + c, with parameters of three kinds."""

    __props__ = ("a", "b", "c")
    params_type = ParamsType(a=T.TensorType("float64", ()), b=ts.float64, c=Generic())

    def __init__(self, a, b, c):
        self.a, self.b, self.c = a, b, c

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage, coefficients):
        (x,) = inputs
        output_storage[0][0] = np.asarray(coefficients.a * x**2 + coefficients.b * x + coefficients.c)

    def c_code_cache_version(self):
        return (1, 5)

    def c_code(self, node, name, inputs, outputs, sub):
        names = {"p": sub["params"], "x": inputs[0], "y": outputs[0], "fail": sub["fail"]}
        return """
        double a = *(npy_float64*)PyArray_DATA(%(p)s->a);
        double b = %(p)s->b;
        double c = PyFloat_AsDouble(%(p)s->c);
        Py_XDECREF(%(y)s);
        %(y)s = (PyArrayObject*)PyArray_NewLikeArray(%(x)s, NPY_CORDER, NULL, 0);
        if (!%(y)s) { %(fail)s }
        for (npy_intp i = 0; i < PyArray_SIZE(%(x)s); ++i) {
            double v = *(npy_float64*)PyArray_GETPTR1(%(x)s, i);
            *(npy_float64*)PyArray_GETPTR1(%(y)s, i) = a * v * v + b * v + c;
        }
        """ % names  # noqa: UP031


@pytest.mark.parametrize("linker", [*LINKERS, "py"])
def test_parameters_in_c_and_in_python(linker):
    x = T.dvector("x")
    value = np.linspace(-2, 2, 9)
    both = [Quadratic(2, 3, -7.0)(x), Quadratic(1, 0, 0.5)(x)]
    f = theano.function([x], both, mode=theano.Mode(linker=linker))
    wanted = [2 * value**2 + 3 * value - 7, value**2 + 0.5]
    assert all(np.allclose(got, want) for got, want in zip(f(value), wanted, strict=True))


def test_one_code_for_all_parameters():
    from theano.codegen.blocks import without_comments, write_block

    x = T.dvector("x")
    blocks = [write_block([(y := Quadratic(a, 1, 2.0)(x)).owner], [x], [y]) for a in (1, 2)]
    assert len({without_comments(block.text) for block in blocks}) == 1 and blocks[0].text != blocks[1].text
    assert theano.function([x], Quadratic(1, 0, 0.0)(x))([3.0]) == 9 and blocks[0].version


def test_params_are_compared_by_value_and_never_changed():
    kind = ParamsType(a=Generic(), array=T.lvector, number=ts.float64)
    same = ParamsType(array=T.lvector, number=ts.float64, a=Generic())
    assert kind == same and hash(kind) == hash(same) and kind.name == same.name and kind != ParamsType(a=Generic())
    one = Params(kind, a=1, array=np.array([1, 2]), number=-4.5)
    two = Params(same, a=1, array=np.array([1, 2]), number=-4.5)
    assert one == two and hash(one) == hash(two) and one != Params(kind, a=1, array=np.array([1, 3]), number=-4.5)
    with pytest.raises(AttributeError):
        one.a = 3
    with pytest.raises(TypeError):
        Params(kind, a=1)
    with pytest.raises(TypeError):
        kind.filter(Params(kind, a=1, array=np.array([1.5]), number=1.0), strict=False, allow_downcast=False)
    assert kind.extended(b=Generic()).fields == ("a", "array", "b", "number")
    assert kind.get_params(one, number=2).number == 2.0 and kind.get_field(T.lvector) == "array"
    assert kind.has_type(ts.float64) and kind.get_type("a") == Generic()


def test_enumerations():
    for wrong in ("a", "_A", "0"):
        with pytest.raises(AttributeError):
            EnumList(wrong)
        with pytest.raises(AttributeError):
            EnumType(**{wrong: 0})
    with pytest.raises(TypeError):
        EnumType(INVALID_VALUE="string is not allowed.")
    with pytest.raises(TypeError):
        EnumList(("A", "a"), ("B", "B"))
    one, two = EnumType(C1=True, C2=12, C4=-1, C6=0.0), EnumType(C1=1, C2=12, C4=-1.0, C6=0)
    assert one == two and hash(one) == hash(two) and one.C2 == 12
    named = EnumType(A=("alpha", 0), B=("beta", 1), C=2)
    assert named != EnumType(A=("a", 0), B=("beta", 1), C=2)
    assert named.filter("beta") == named.fromalias("beta") == named.B == 1
    assert named.filter("C") == named.fromalias("C") == named.C == 2
    with pytest.raises(AttributeError):
        ParamsType(enum1=EnumList("A", "B", "C"), enum2=EnumList("A", "B", "F"))
    w = ParamsType(enum1=EnumList("A", ("B", "beta"), "C"), enum2=EnumList(("D", "delta"), "E", "F"))
    assert (w.A, w.C, w.D, w.F) == (0, 2, 0, 2) and w.enum_from_alias("beta") == w.B and w.enum_from_alias("C") == w.C


class Chosen(COp):
    """One of four operations, by a constant of an enumeration."""

    __props__ = ("op_chosen",)
    params_type = EnumList("ADD", "SUB", "MULTIPLY", "DIVIDE", ctype="unsigned long long")

    def __init__(self, choose_op):
        self.op_chosen = self.params_type.filter(choose_op)

    def get_params(self, node):
        return self.op_chosen

    def make_node(self, a, b):
        return Apply(self, [ts.as_scalar(a), ts.as_scalar(b)], [ts.float64()])

    def perform(self, node, inputs, outputs, op):
        a, b = inputs
        outputs[0][0] = np.float64([a + b, a - b, a * b, a // b][op])

    def c_code_cache_version(self):
        return (1,)

    def c_code(self, node, name, inputs, outputs, sub):
        (o,), (a, b), op = outputs, inputs, sub["params"]
        return f"""
        switch ({op}) {{
            case ADD: {o} = {a} + {b}; break;
            case SUB: {o} = {a} - {b}; break;
            case MULTIPLY: {o} = {a} * {b}; break;
            case DIVIDE: {o} = {a} / {b}; break;
            default: {{{sub["fail"]}}} break;
        }}
        """


@pytest.mark.parametrize("linker", [*LINKERS, "py"])
def test_an_op_with_an_enumeration(linker):
    a, b = ts.int32(), ts.int32()
    f = theano.function([a, b], [Chosen(k)(a, b) for k in ("ADD", "SUB", 2, 3)], mode=theano.Mode(linker=linker))
    assert f(12, 15) == [27, -3, 180, 0]


class SizeOf(COp):
    __props__ = ("which",)
    params_type = CEnumType("SIZE_INT", "SIZE_FLOAT", "SIZE_LONG_LONG", ctype="size_t")

    def __init__(self, which):
        self.which = self.params_type.filter(which)

    def get_params(self, node):
        return self.which

    def c_support_code(self):
        return (
            "#define SIZE_INT sizeof(int)\n#define SIZE_FLOAT sizeof(float)\n"
            "#define SIZE_LONG_LONG sizeof(long long)\n"
        )

    def make_node(self):
        return Apply(self, [], [ts.uint32()])

    def c_code_cache_version(self):
        return (1,)

    def c_code(self, node, name, inputs, outputs, sub):
        return f"{outputs[0]} = {sub['params']};"


def test_constants_that_c_knows():
    f = theano.function([], [SizeOf(k)() for k in ("SIZE_INT", "SIZE_FLOAT", "SIZE_LONG_LONG")])
    assert f() == [4, 4, 8]


# -- pointers ---------------------------------------------------------------------------------------------------------

DECREF = "static void py_decref(void *p) { Py_XDECREF((PyObject *)p); }"


class ToPointer(COp):
    __props__ = ("fails",)

    def __init__(self, fails=False):
        self.fails = fails

    def make_node(self, i):
        return Apply(self, [i], [CDataType("void *", "py_decref", extra_support_code=DECREF)()])

    def c_code(self, node, name, inps, outs, sub):
        fail = f'PyErr_SetString(PyExc_ValueError, "told to"); {sub["fail"]}' if self.fails else ""
        return f"{outs[0]} = (void *){inps[0]}; Py_INCREF({inps[0]}); {fail}"

    def c_code_cache_version(self):
        return (0,)


class OfPointer(COp):
    __props__ = ()

    def make_node(self, c):
        return Apply(self, [c], [T.fvector()])

    def c_code(self, node, name, inps, outs, sub):
        return f"Py_XDECREF({outs[0]}); {outs[0]} = (PyArrayObject *){inps[0]}; Py_INCREF({outs[0]});"

    def c_code_cache_version(self):
        return (0,)


@pytest.mark.parametrize("linker", ["c|py", "cvm"])
def test_pointers_from_op_to_op_and_back_to_nobody(linker):
    i = T.fvector("i")
    f = theano.function([i], OfPointer()(ToPointer()(i)), mode=theano.Mode(linker=linker))
    value = np.random.default_rng(0).normal(size=9).astype("float32")
    before = sys.getrefcount(value)
    for _ in range(20):
        assert np.array_equal(f(value), value)
    assert sys.getrefcount(value) == before
    failing = theano.function([i], ToPointer(fails=True)(i), mode=theano.Mode(linker=linker))
    for _ in range(20):
        with pytest.raises(ValueError, match="told to"):
            failing(value)
    assert sys.getrefcount(value) == before


# -- numbers and objects ------------------------------------------------------------------------------------------


class Divided(COp):
    """x / y of complex numbers by the operators of C++."""

    __props__ = ()

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type()])

    def c_code(self, node, name, inputs, outputs, sub):
        x, y = inputs
        return f"{outputs[0]} = ({x} + 1) / -{y} - {x} * {y}; if ({x} == {y}) {outputs[0]} += 100;"

    def c_code_cache_version(self):
        return (1,)


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float32", "float64"])
def test_numbers(dtype):
    x, y = ts.get_scalar_type(dtype)("x"), ts.get_scalar_type(dtype)("y")
    f = theano.function([x, y], Divided()(x, y))
    kind = np.dtype(dtype).type
    for a, b in [(1.5, -2), (3, 3), *([(1 + 2j, 2 - 1j), (1e30j, 1e-20)] if dtype == "complex128" else [])]:
        a, b = kind(a), kind(b)
        got = f(a, b)
        assert type(got) is kind and np.isclose(got, (a + kind(1)) / -b - a * b + (100 if a == b else 0), rtol=1e-6)


VALUES = [("bool", True), ("int8", -128), ("int64", -(2**63)), ("uint64", 2**64 - 1), ("float16", 1.5),
          ("float32", 0.1), ("float64", 1e-310), ("float64", np.inf), ("float32", -np.inf), ("int32", -7)]  # fmt: skip


class Constant(COp):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def c_code(self, node, name, inputs, outputs, sub):
        return f"{outputs[0]} = {inputs[0]};"


def constant(dtype, value):
    kind = ts.get_scalar_type(dtype)
    return kind.make_constant(kind.filter(value, allow_downcast=True))


@pytest.fixture(scope="module")
def computed():
    """What one block of C gives for all constants; they are not folded, since there is no form in Python."""
    outputs = [Constant()(constant(*each)) for each in VALUES]
    return dict(zip(VALUES, theano.function([], outputs, mode=theano.Mode(linker="c"))(), strict=True))


@pytest.mark.parametrize("case", VALUES, ids=str)
def test_constants_are_written_into_the_code(case, computed):
    from theano.codegen.blocks import write_block

    wanted = constant(*case)
    y = Constant()(wanted)
    block = write_block([y.owner], [], [y])
    assert block.constants == [] and c_values.literal(wanted.data, case[0]) in block.text
    assert computed[case] == wanted.data and type(computed[case]) is type(wanted.data)


def test_complex_constants_are_kept_as_objects():
    constant = ts.complex128.make_constant(np.complex128(1 + 2j))
    with pytest.raises(MethodNotDefined):
        constant.type.c_literal(constant.data)
    assert theano.function([], Constant()(constant))() == 1 + 2j


def test_any_object():
    class Pair(COp):
        __props__ = ()

        def make_node(self, x, y):
            return Apply(self, [x, y], [generic()])

        def c_code(self, node, name, inputs, outputs, sub):
            z = outputs[0]
            return f"Py_XDECREF({z}); {z} = PyTuple_Pack(2, {inputs[0]}, {inputs[1]}); if (!{z}) {sub['fail']}"

    x = generic("x")
    f = theano.function([x], Pair()(x, generic.make_constant("kept")))
    mine = object()
    before = sys.getrefcount(mine)
    for _ in range(10):
        assert f(mine) == (mine, "kept")
    assert sys.getrefcount(mine) == before


# -- registered for a type ------------------------------------------------------------------------------------------


class Box(Generic):
    """Python lists, which have a copy and a length."""

    __props__ = ()
    ndim = 1


class Listed(list):
    shape = property(lambda self: (len(self),))


def test_types_bring_the_c_of_our_ops_along():
    from theano.compile import (
        DeepCopyOp,
        ViewOp,
        deep_copy_op,
        register_deep_copy_op_c_code,
        register_shape_c_code,
        register_shape_i_c_code,
        register_view_op_c_code,
        view_op,
    )
    from theano.tensor.shape.basic import Shape, Shape_i

    fill = "%(oname)s = {}; if (!%(oname)s) {{ %(fail)s }}"
    vector = """
    npy_intp one[1] = {1};
    Py_XDECREF(%(oname)s);
    %(oname)s = (PyArrayObject *)PyArray_EMPTY(1, one, NPY_INT64, 0);
    if (!%(oname)s) { %(fail)s }
    *(npy_int64 *)PyArray_DATA(%(oname)s) = PySequence_Size(%(iname)s);
    """
    number = """
    Py_XDECREF(%(oname)s);
    %(oname)s = (PyArrayObject *)PyArray_EMPTY(0, NULL, NPY_INT64, 0);
    if (!%(oname)s) { %(fail)s }
    *(npy_int64 *)PyArray_DATA(%(oname)s) = PySequence_Size(%(iname)s) + %(i)s;
    """
    check = 'if (!PyList_Check(%(iname)s)) { PyErr_SetString(PyExc_TypeError, "no list"); %(fail)s }'
    x = Box()("x")
    with pytest.raises(MethodNotDefined):
        deep_copy_op.c_code(deep_copy_op(x).owner, "n", ["a"], ["b"], {"fail": ""})
    try:
        register_deep_copy_op_c_code(
            Box, fill.format("PyList_GetSlice(%(iname)s, 0, PyList_Size(%(iname)s))"), version=(1,)
        )
        register_view_op_c_code(Box, "Py_INCREF(%(iname)s); " + fill.format("%(iname)s"), version=2)
        register_shape_c_code(Box, vector, version=(1,))
        register_shape_i_c_code(Box, number, check, version=(1,))
        assert deep_copy_op.c_code_cache_version_apply(deep_copy_op(x).owner) == (1,)
        assert view_op.c_code_cache_version_apply(view_op(x).owner) == (2,)
        mode = theano.Mode(linker="c", optimizer=None)
        f = theano.function([x], [x, view_op(x), Shape()(x), Shape_i(0)(x)], mode=mode)
        mine = Listed([1, 2, 3])
        copied, viewed, shape, length = f(mine)
        assert type(copied) is list and copied == mine and list(shape) == [3] and length == 3
        assert viewed == mine and all(type(how).__name__ == "Thunked" for how in f.maker.linked.how)
        with pytest.raises(TypeError, match="no list"):
            theano.function([x], Shape_i(0)(x), mode=mode)((1, 2))
    finally:
        for op in (DeepCopyOp, ViewOp, Shape, Shape_i):
            op.code_of.pop(Box, None)


def test_registered_checks_of_lengths():
    from theano.compile import register_rebroadcast_c_code, register_specify_shape_c_code
    from theano.tensor.shape.basic import Rebroadcast, SpecifyShape

    let = "Py_XDECREF(%(oname)s); %(oname)s = %(iname)s; Py_XINCREF(%(oname)s);"
    check = """
    if (PyArray_DIMS(%(iname)s)[%(axis)s] != 1) {
        PyErr_SetString(PyExc_ValueError, "axis %(axis)s is long"); %(fail)s
    }"""
    sizes = """
    if (!right_shape(%(iname)s, %(shape)s)) { PyErr_SetString(PyExc_AssertionError, "shape"); %(fail)s }
    """
    support = """
    static bool right_shape(PyArrayObject *x, PyArrayObject *shape) {
        for (int d = 0; d < PyArray_NDIM(x); ++d)
            if (PyArray_DIMS(x)[d] != *(npy_int64 *)PyArray_GETPTR1(shape, d)) return false;
        return true;
    }"""
    x = T.dmatrix("x")
    try:
        register_rebroadcast_c_code(T.TensorType, check, version=(1,))
        register_specify_shape_c_code(T.TensorType, sizes + let, version=(1,), c_support_code_apply=support)
        mode = theano.Mode(linker="c", optimizer=None)
        f = theano.function([x], Rebroadcast((0, True))(x), mode=mode)
        assert f(np.ones((1, 3))).shape == (1, 3)
        with pytest.raises(ValueError, match="axis 0 is long"):
            f(np.ones((2, 3)))
        n = T.lvector("n")
        g = theano.function([x, n], SpecifyShape()(x, n), mode=mode)
        assert g(np.ones((2, 3)), [2, 3]).shape == (2, 3)
        with pytest.raises(AssertionError, match="shape"):
            g(np.ones((2, 3)), [3, 2])
    finally:
        Rebroadcast.code_of.pop(T.TensorType, None)
        SpecifyShape.code_of.pop(T.TensorType, None)


def test_thunks_of_our_own_ops():
    x = T.dvector("x")
    node = T.exp(x).owner
    storage = {x: [np.arange(3.0)], node.outputs[0]: [None]}
    computed = {v: [0] for v in storage}
    for make in (node.op.make_thunk, node.op.make_c_thunk):
        storage[node.outputs[0]][0], computed[node.outputs[0]][0] = None, 0
        thunk = make(node, storage, computed, [])
        assert thunk() is None and computed[node.outputs[0]] == [True] and thunk.lazy is False
        assert np.allclose(storage[node.outputs[0]][0], np.exp(np.arange(3.0)))


def test_an_op_that_uses_openmp():
    from theano.graph.external_op import OpenMPOp

    class Total(OpenMPOp):
        __props__ = ("openmp",)

        def make_node(self, x):
            return Apply(self, [x], [ts.float64()])

        def c_code_cache_version(self):
            return (1,)

        def c_code(self, node, name, inputs, outputs, sub):
            pragma = "#pragma omp parallel for reduction(+ : total)" if self.openmp else ""
            return f"""
            double total = 0;
            {pragma}
            for (npy_intp i = 0; i < PyArray_SIZE({inputs[0]}); ++i)
                total += *(double *)PyArray_GETPTR1({inputs[0]}, i);
            {outputs[0]} = total;
            """

    x = T.dvector("x")
    assert Total().openmp is False and Total(True).c_compile_args() == ["-fopenmp"]
    with theano.config.change_flags(openmp=True):
        assert Total().openmp is True
    for openmp in (False, True):
        assert theano.function([x], Total(openmp)(x))(np.arange(100.0)) == 4950.0
