"""What holds for every op: someone tests it, it keeps its contract, shapes are what is inferred, derivatives are right.

The nodes come from ``every_op.py``, which collects them from the tables of cases: a new op without a case fails here.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from every_op import copied, samples

import theano
from theano import sparse as S
from theano import tensor as T
from theano.errors import MethodNotDefined
from theano.gradient import DisconnectedType, NullType
from theano.graph import Apply, Constant
from theano.graph.op_contract import answers
from theano.sparse.parts.op import csm_data
from theano.tensor.testing import check_op
from theano.tensor.testing.classes import op_classes
from theano.tensor.testing.values import layouts

#: Classes without a case in the tables, and what tests them instead.
ELSEWHERE = dict.fromkeys(("Poisson", "Binomial", "Multinomial"), "draws: test_language")

#: Ops of which no shape can be inferred, since it depends on values.
NO_SHAPE = {"CSMProperties", "Recompressed", "CheckedParts", "Union"}

#: Ops without a derivative, since rules make them when there are no gradients to be taken any more.
NO_GRADIENT = {"Union", "SumOfParts", "ProductOfParts", "SparseProduct", "AddedProduct"}

#: Ops on parts of matrices whose index arrays have been looked at before: others than these are never given to them.
TRUSTING = {
    "ElementsAt", "Scattered", "Recompressed", "Union", "SumOfParts", "ProductOfParts", "SparseProduct", "AddedProduct",
    "CSMGrad",
}  # fmt: skip

#: The gradient of a sampled product with respect to the places is not implemented.
NO_GRADIENT_OF = {("SamplingDot", 2)}

#: The mode in which an op is what it is: compiled where there is a kernel, not rewritten.
KERNELS = theano.Mode(optimizer=None)
PLAIN = theano.Mode(linker="py", optimizer=None)

BY_CLASS = samples()
EACH = pytest.mark.parametrize("name", sorted(c.__name__ for c in BY_CLASS))


def of(name):
    return next(found for cls, found in BY_CLASS.items() if cls.__name__ == name)


def alone(node):
    """Return new inputs (constants as they are) and the node on them."""
    fresh = [v if isinstance(v, Constant) else v.type(f"v{i}") for i, v in enumerate(node.inputs)]
    return fresh, on(node, fresh)


def on(node, inputs):
    """Return the node on other inputs of the same types; not all ops take what their nodes have."""
    return Apply(node.op, inputs, [v.type() for v in node.outputs])


def free(variables, values):
    """Return the variables that are no constants, and their values."""
    pairs = [(v, copied(x)) for v, x in zip(variables, values, strict=True) if not isinstance(v, Constant)]
    return [v for v, _ in pairs], [x for _, x in pairs]


def test_every_class_has_a_case():
    missing = {c.__name__ for c in op_classes("theano.sparse") if c not in BY_CLASS and c.__name__ not in ELSEWHERE}
    assert not missing, f"add a case to cases.py or every_op.py for {sorted(missing)}"
    assert not {c.__name__ for c in BY_CLASS} & set(ELSEWHERE)


@EACH
def test_compiled_code_computes_what_perform_does(name):
    for node, inputs, outputs, case in of(name):
        fresh, here = alone(node)
        variables, values = free(fresh, inputs)
        ins = [theano.In(v, mutable=True) for v in variables] if node.op.destroy_map else variables
        f = theano.function(ins, here.outputs, mode=KERNELS, accept_inplace=True)
        for v, found, wanted in zip(here.outputs, f(*values), outputs, strict=True):
            if sp.issparse(wanted):
                assert v.type.values_eq_approx(found, wanted), f"{node} in {case}"
            else:
                np.testing.assert_allclose(found, wanted, 1e-5, 1e-6, err_msg=f"{node} in {case}")


@EACH
def test_contract(name):
    """`check_op` of the first node of each op; derivatives are tried below, through what is stored."""
    for node, inputs, *_ in {s.node.op: s for s in reversed(of(name))}.values():
        op = node.op
        if all(not isinstance(v, Constant) for v in node.inputs):
            indices = [i for i, x in enumerate(inputs) if isinstance(x, np.ndarray) and x.dtype.kind == "i"]
            fixed = indices if name in TRUSTING else []
            report = check_op(op, [copied(x) for x in inputs], differentiable=[], fixed=fixed, raises=False)
            assert not report.faults, str(report)


@EACH
def test_layouts_of_parts(name):
    for node, inputs, outputs, case in of(name) if name in TRUSTING else ():
        fresh, here = alone(node)
        variables, values = free(fresh, inputs)
        f = theano.function(variables, here.outputs, mode=KERNELS, accept_inplace=True) if not node.op.destroy_map else None
        for i, x in enumerate(values if f else ()):
            for layout, other in layouts(x):
                for found, wanted in zip(f(*values[:i], other, *values[i + 1 :]), outputs, strict=True):
                    np.testing.assert_allclose(found, wanted, 1e-5, 1e-6, err_msg=f"{node} in {case}, input {i} {layout}")


@EACH
def test_inferred_shapes_are_real(name):
    for node, inputs, outputs, case in of(name):
        if not answers(node.op, "infer_shape"):
            assert name in NO_SHAPE, f"{name} has no infer_shape"
            continue
        fresh, here = alone(node)
        asked = [tuple(T.shape(v)[i] for i in range(getattr(v.type, "ndim", 0))) for v in fresh]
        said = here.op.infer_shape(here, asked)
        known = [(shape, np.shape(x)) for shape, x in zip(said, outputs, strict=True) if shape is not None]
        assert known, f"{node} in {case}"
        variables, values = free(fresh, inputs)
        f = theano.function(
            variables, [T.as_tensor_variable(n) for shape, _ in known for n in shape], mode=PLAIN, on_unused_input="ignore"
        )
        assert [int(n) for n in f(*values)] == [n for _, shape in known for n in shape], f"{node} in {case}"


def real(v):
    return getattr(v.type, "dtype", "") == "float64"


def through_what_is_stored(node, inputs):
    """Return the numbers that can be moved, the outputs as arrays, and the values: sparse inputs are made of their data."""
    moved, made, others = [], [], []
    for i, (v, x) in enumerate(zip(node.inputs, inputs, strict=True)):
        if isinstance(v, Constant) or not real(v) or (type(node.op).__name__, i) in NO_GRADIENT_OF:
            made.append(v if isinstance(v, Constant) else v.type(f"v{i}"))
            others += [] if isinstance(v, Constant) else [(made[-1], x)]
        elif S.is_sparse(v):
            moved.append((T.dvector(f"data{i}"), x.data))
            made.append(S.CSM(v.type.format)(moved[-1][0], x.indices, x.indptr, np.array(x.shape)))
        else:
            made.append(v.type(f"v{i}"))
            moved.append((made[-1], x))
    outputs = on(node, made).outputs
    dense = [S.dense_from_sparse(v) if S.is_sparse(v) else v for v in outputs if real(v)]
    return moved, others, dense


@EACH
def test_derivatives(name):
    """Backwards and forwards against finite differences, along one direction of each input, all at once.

    Forwards along one input alone is what backwards says of it.
    """
    for node, inputs, _, case in of(name):
        if not any(map(real, node.outputs)) or not any(map(real, node.inputs)) or node.op.destroy_map:
            continue
        what = f"{node} in {case}"
        if name in NO_GRADIENT:
            refused(node)
            continue
        moved, others, dense = through_what_is_stored(node, inputs)
        if not moved:
            continue
        rng = np.random.default_rng(11)
        point = [np.asarray(x, "float64") for _, x in moved]
        fixed = [v for v, _ in others], [copied(x) for _, x in others]
        variables = [v for v, _ in moved]
        f = theano.function([*variables, *fixed[0]], dense, mode=PLAIN, on_unused_input="ignore")
        weights = [rng.normal(size=np.shape(r)) for r in f(*point, *fixed[1])]
        cost = sum((out * w).sum() for out, w in zip(dense, weights, strict=True))
        directions = [rng.normal(size=np.shape(x)) for x in point]
        slopes = theano.grad(cost, variables, disconnected_inputs="ignore")
        assert not any(isinstance(g.type, (NullType, DisconnectedType)) for g in slopes), what
        slopes = [S.dense_from_sparse(g) if S.is_sparse(g) else g for g in slopes]
        numbers, ways = range(len(point)), [T.constant(d, ndim=d.ndim) for d in directions]
        along = [
            T.Rop(cost, [variables[i] for i in which], [ways[i] for i in which], disconnected_outputs="ignore")
            for which in (numbers, *([i] for i in numbers))
        ]
        every = theano.function([*variables, *fixed[0]], [*slopes, *along], on_unused_input="ignore")(*point, *fixed[1])
        found, (forwards, *alone) = every[: len(point)], every[len(point) :]
        assert [g.shape for g in found] == [x.shape for x in point], what
        step = 1e-6
        ends = [
            sum((r * w).sum() for r, w in zip(f(*(x + h * d for x, d in zip(point, directions, strict=True)), *fixed[1]), weights, strict=True))
            for h in (step, -step)
        ]
        wanted = (ends[0] - ends[1]) / (2 * step)
        backwards = [(g * d).sum() for g, d in zip(found, directions, strict=True)]
        np.testing.assert_allclose(sum(backwards), wanted, 1e-5, 1e-6, err_msg=what)
        np.testing.assert_allclose(alone, backwards, 1e-5, 1e-6, err_msg=f"{what}, one input forwards")
        np.testing.assert_allclose(forwards, wanted, 1e-5, 1e-6, err_msg=f"{what}, forwards")


def refused(node):
    """See that a node without derivative says so."""
    seeds = [v.type() for v in node.outputs]
    try:
        terms = node.op.L_op(node.inputs, node.outputs, seeds)
    except MethodNotDefined:
        return
    assert all(isinstance(t.type, (NullType, DisconnectedType)) for t in terms), node


def test_planted_faults_are_found(monkeypatch):
    """A wrong gradient, and a wrong length, of an op of the layer."""
    neg = type(S.neg)
    monkeypatch.setattr(neg, "grad", lambda self, inputs, output_grads: [output_grads[0] * 2.0])
    with pytest.raises(AssertionError):
        test_derivatives("Neg")
    monkeypatch.setattr(neg, "infer_shape", lambda self, node, shapes: [shapes[0][::-1]])
    with pytest.raises(AssertionError):
        test_inferred_shapes_are_real("Neg")
    assert csm_data(S.csr_dmatrix()).type.ndim == 1
