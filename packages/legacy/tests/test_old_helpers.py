"""Small functions of old rewriting and loop code, against NumPy and plain Python."""

import io
import pickle
import zipfile

import numpy as np
import pytest

import theano
import theano.tensor as T


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("shape", [(0, 3), (2, 3), (1, 3)])
def test_a_value_like_a_template(dtype, shape):
    from theano.tensor.opt import broadcast_like

    x = T.TensorType(dtype, (shape[0] == 1, False))("x")
    made = broadcast_like(T.constant(3), x, None)
    assert made.type == x.type
    given = np.zeros(shape, dtype)
    assert np.array_equal(theano.function([x], made)(given), np.full_like(given, 3))


def test_expressions_by_their_inputs_shapes():
    from theano.scan_module.scan_utils import infer_shape

    x, y, n, m = T.dmatrix("x"), T.dvector("y"), T.lscalar("n"), T.lscalar("m")
    shapes = infer_shape([T.dot(x, y), T.exp(x).T, x[2:].sum()], [x, y], [(n, m), (m,)])
    assert [len(shape) for shape in shapes] == [1, 2, 0]
    lengths = theano.function([n, m], [*shapes[0], *shapes[1]], on_unused_input="ignore")
    assert [int(length) for length in lengths(5, 7)] == [5, 7, 5]
    # What depends on values asks the inputs themselves.
    (rows,) = infer_shape([x[: T.cast(y[0], "int64")]], [x, y], [(n, m), (m,)])
    assert int(theano.function([n, y], rows[0])(4, [3.0])) == 3


def test_expressions_anew():
    from theano.scan_module.scan_utils import expand_empty, forced_replace, reconstruct_graph, safe_new

    x, y = T.dvectors("x", "y")
    x.tag.test_value = np.ones(2)
    new = safe_new(x, "_new", "float32")
    assert (new.name, new.dtype, new.tag.test_value.tolist()) == ("x_new", "float32", [1.0, 1.0])
    assert safe_new(T.constant(3)).data == 3 and safe_new(2.5).ndim == 0
    (a, b), (out,) = reconstruct_graph([x, y], [x * 2 + y])
    assert a is not x and theano.function([a, b], out)([1, 2], [3, 4]).tolist() == [5, 8]
    replaced = forced_replace(T.tanh(x) * (1 - T.tanh(x)), T.tanh(x), y)
    assert theano.function([y], replaced)([2.0, 3.0]).tolist() == [-2.0, -6.0]
    assert forced_replace(y, x, y) is y and forced_replace(None, x, y) is None
    longer = theano.function([y], expand_empty(y, 2)[:-2])
    assert longer([1, 2, 3]).tolist() == [1, 2, 3]


def test_variables_are_mapped_inside_loops_and_ops_made_of_graphs():
    from theano.scan_module.scan_utils import map_variables

    x, w = T.dvector("x"), T.dscalar("w")

    def marked(v):
        v.tag.squared = True
        return v

    def replacer(v):
        return v * v if getattr(v.tag, "squared", False) else v

    rows, _ = theano.scan(lambda a: marked(a + 1), sequences=x)
    op = theano.OpFromGraph([w], [marked(T.exp(w))])
    before = [rows.sum() + marked(w), op(w)]
    after = theano.function([x, w], map_variables(replacer, before))([1, 2, 3], 2.0)
    assert np.allclose(after, [4 + 9 + 16 + 4, np.exp(4) ** 2])
    assert map_variables(lambda v: v, before) == before
    with pytest.raises(NotImplementedError, match="not one of its inputs"):
        map_variables(lambda v: getattr(v.tag, "other", v), [theano.OpFromGraph([w], [foreign(w)])(w)])


def foreign(w):
    v = T.exp(w)
    v.tag.other = T.dscalar("elsewhere")
    return v


def test_what_a_validator_knows():
    from theano.scan_module.scan_utils import Validator

    x, y, z = T.dscalars("xyz")
    known = Validator(valid=[x], invalid=[y, z], valid_equivalent={y: x})
    v = T.exp(x * y)
    made, same = known.check(v)
    assert not same and theano.function([x], made)(2.0) == np.exp(4.0)
    assert known.check(x) == (x, True) and known.check(z + x) is None and known.check(T.constant(1))[1]


@pytest.mark.parametrize(
    ("value", "wanted"), [(None, True), (np.inf, True), (np.nan, True), ("text", True), (0, False), (np.ones(2), False)]
)
def test_what_is_no_number(value, wanted):
    from theano.scan_module.scan_utils import isNaN_or_Inf_or_None

    assert isNaN_or_Inf_or_None(value) == wanted
    if isinstance(value, float):
        assert isNaN_or_Inf_or_None(T.constant(value)) == wanted


def test_what_a_step_returns_is_sorted():
    from theano.scan_module.scan_utils import get_updates_and_outputs, until

    x, state = T.dscalar("x"), theano.shared(1.0)
    condition, outputs, updates = get_updates_and_outputs(([x, x + 1], {state: x}, until(x > 3)))
    assert condition is not None and outputs[0] is x and len(outputs) == 2 and dict(updates) == {state: x}


def test_hints_and_lengths_of_graphs():
    from theano.sandbox.linalg import ops
    from theano.tensor.opt import ShapeOptimizer, UnShapeOptimizer

    A = T.dmatrix("A")
    assert ops.hints(ops.psd(A)) == {"psd": True, "symmetric": True} and ops.hints(A) == {}
    A.tag.symmetric = True
    assert ops.is_symmetric(A) and not ops.is_symmetric(T.dmatrix()) and not ops.is_hint_node(T.exp(A).owner)
    assert ops.is_positive(A**2) and ops.is_positive(T.sqr(A)) and not ops.is_positive(A**3)
    fgraph = theano.FunctionGraph([A], [T.exp(A)])
    ShapeOptimizer().optimize(fgraph)
    assert [str(n.owner.op) for n in fgraph.shape_feature.lengths(fgraph.outputs[0])] == ["Shape_i{0}", "Shape_i{1}"]
    UnShapeOptimizer().optimize(fgraph)
    assert fgraph.shape_feature is None


def test_archives_and_pickles_of_python_2():
    from theano.misc.pkl_utils import CompatUnpickler, zipadd

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        zipadd(lambda stream: np.save(stream, np.arange(3)), archive, "rows.npy")
    file.seek(0)
    assert np.load(file)["rows"].tolist() == [0, 1, 2]
    # An array as NumPy wrote it under Python 2: its bytes are a text there.
    array = np.arange(3, dtype="<i2")
    head = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n(I3\ntcnumpy\ndtype\n(S'i2'\nI0\nI1\ntR"
    data = "".join(f"\\x{byte:02x}" for byte in array.tobytes()).encode()
    old = head + b"(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\nS'" + data + b"'\ntb."
    assert CompatUnpickler(io.BytesIO(old)).load().tolist() == [0, 1, 2]
    with pytest.raises(UnicodeDecodeError):
        pickle.loads(old.replace(b"\\x01", b"\\xff"))


@pytest.mark.parametrize(
    "name", ["theano.tensor.opt.FusionOptimizer", "theano.scan_module.scan_opt.make_equiv", "theano.gof.vm.Stack"]
)
def test_what_is_gone_says_what_takes_its_place(name):
    module, _, attribute = name.rpartition(".")
    found = getattr(__import__(module, fromlist=[attribute]), attribute)
    assert not isinstance(3, found)
    with pytest.raises(NotImplementedError, match=f"^{attribute} is not part of this Theano: [a-z].*theano"):
        found(1, 2)


def test_a_function_that_is_gone_and_its_module():
    # Packages showed the function; the module of its name can be called instead.
    with pytest.raises(NotImplementedError, match="inc_code is not part of this Theano"):
        T.inc_code()


def test_the_rule_of_products_by_itself():
    x, y = T.dvectors("x", "y")
    graph = theano.graph.FunctionGraph([x, y], [(x * y) / y + T.exp(0 * x)])
    tensor_opt = theano.tensor.opt
    tensor_opt.mul_canonizer.optimize(graph)
    product, _ = graph.outputs[0].owner.inputs
    assert product is graph.inputs[0]
    assert tensor_opt.make_vector(T.lscalar(), 3).type == T.lvector and theano.compile.mode.optdb is theano.compile.optdb


@pytest.mark.parametrize("seed", range(20))
def test_products_as_trees_keep_their_value(seed):
    from theano.tensor.nnet.sigm import compute_mul, parse_mul_tree, perform_sigm_times_exp, sigmoid, simplify_mul

    rng = np.random.default_rng(seed)
    x, y = T.dvectors("x", "y")
    leaves = [x, y, sigmoid(x), sigmoid(-x), T.exp(x), T.exp(-x), sigmoid(y), T.exp(-y), T.constant(-1.0), x + y]

    def product(depth):
        if not depth:
            v = leaves[rng.integers(len(leaves))]
        else:
            v = T.mul(*(product(depth - 1) for _ in range(rng.integers(1, 4))))
        return -v if rng.integers(2) else v

    whole = product(2)
    tree = parse_mul_tree(whole)
    same = compute_mul(tree)
    count = str(tree).count("exp")
    changed = perform_sigm_times_exp(tree)
    assert changed == (str(tree).count("exp") < count)
    values = theano.function([x, y], [whole, same, compute_mul(simplify_mul(tree))], mode=theano.Mode("py", None),
                             on_unused_input="ignore")([0.5, -2.0], [1.0, 0.25])  # fmt: skip
    np.testing.assert_allclose(values[1], values[0], rtol=1e-12)
    np.testing.assert_allclose(np.broadcast_to(values[2], np.shape(values[0])), values[0], rtol=1e-12)


def test_one_plus_an_exponential():
    from theano.tensor.nnet.sigm import is_1pexp

    x = T.dvector("x")
    for total in (1 + T.exp(x), T.exp(x) + 1):
        assert is_1pexp(total) == (False, x)
    assert is_1pexp(T.ones_like(x) + T.exp(x)) is None
    assert is_1pexp(T.ones_like(x) + T.exp(x), only_process_constants=False) == (False, x)
    for total in (1 - T.exp(x), 2 + T.exp(x), 1 + 2 * T.exp(x), T.exp(x), x):
        assert is_1pexp(total, only_process_constants=False) is None
