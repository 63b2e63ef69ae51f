"""What holds for every op: someone tests it, shapes are what is inferred, memory is used as declared, derivatives are right.

The nodes come from ``every_op.py``, which collects them from the tables of cases: a new op without a case fails here.
"""

from __future__ import annotations

import numpy as np
import pytest
from every_op import Sample, samples
from oracle import numeric_slope, run, shapes

import theano.tensor as T
from portion import portion
from theano.errors import MethodNotDefined
from theano.gradient import DisconnectedType, NullType
from theano.gradient.forward import _through
from theano.graph import Apply, Constant, Op
from theano.graph.kernel import Kernel
from theano.graph.op_contract import answers
from theano.lowering.table import find, lower
from theano.scalar import ScalarOp
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.random import basic
from theano.tensor.testing.classes import op_classes

#: Ops whose results are numbers drawn.
RANDOM_VARIABLES = {type(op).__name__ for op in vars(basic).values() if isinstance(op, basic.RandomVariable)}

#: Classes without a case in the tables, and what tests them instead.
ELSEWHERE = {
    "Compound": "base class", "BaseAdvancedSubtensor": "base class", "BaseAdvancedIncSubtensor": "base class",
    "BNComposite": "nnet/test_normalization", "BaseAbstractConv": "base class", "AbstractConv": "base class", "AbstractConv_gradInputs": "base class",
    "AbstractConv_gradWeights": "base class", "PoolGrad": "base class",
    "MatrixOp": "base class", "Labelled": "base class", "AllocEmpty": "its content is undefined: test_named", "MakeSlice": "no number: test_documented",
    "lstsq": "linalg/test_linalg", "LUFactor": "linalg/test_elimination", "CholeskyGrad": "linalg/test_linalg", "EighGrad": "linalg/test_linalg",
    "EigvalshGrad": "linalg/test_linalg", "ExpmGrad": "linalg/test_linalg", "LoadFromDisk": "test_io", "MPIRecv": "test_io",
    "MPIRecvWait": "test_io", "MPISend": "test_io", "MPISendWait": "test_io", "MapRows": "test_rows",
    "Hint": "rules/test_each_rule", "ToDevice": "fake_target/test_placement",
    "FromDevice": "fake_target/test_placement", "Draw": "base class", "RandomFunction": "random/test_numpy_streams",
    **dict.fromkeys(("RandomVariable", "Observed", *RANDOM_VARIABLES), "random/test_random_variables"),
    "mrg_uniform_base": "base class", "mrg_uniform": "random/test_mrg",
    "MultinomialFromUniform": "random/test_mrg", "ChoiceFromUniform": "random/test_mrg", "PhiloxDraw": "random/test_philox",
    "CheckedParameter": "random/test_ranges",
}  # fmt: skip

#: Ops of which no shape can be inferred, because it depends on values.
NO_SHAPE = {"Unique", "MakeSlice"}

#: Ops of a real input and a real output that have no derivative, and say so.
NO_GRADIENT = {"Unique", "Default", "Eig", "MapReduce", "MapReduceOfNumbers", "ConvElemwise"}

#: Ops some forms of which have a derivative, and the others say so.
SOME_GRADIENT = {"QRFull", "SVD", "ConnectionistTemporalClassification"}

#: Cases of an op whose derivative is that of what it stands for, not its own.
ROUGH = {"ultra_fast_sigmoid"}

#: Ops whose inputs cannot be moved alone: proved by their cases as a whole.
TOGETHER = {
    "ProductOfOthers": "the second is the product of the first",
    "IfElse": "differences of its large numbers are rounded; test_ifelse has its derivatives",
}

#: The classes that have a case: those of this layer, and these of the layers below. To make the samples takes seconds,
#: so the names come from the classes, and the samples when a test asks for them.
NAMES = sorted(
    {c.__name__ for c in op_classes("theano.tensor") if not issubclass(c, ScalarOp)} - set(ELSEWHERE)
    | {"IdentityOp", "Add", "Exp", "Mul"}
)
EACH = pytest.mark.parametrize("name", NAMES)


def of(name: str) -> list[Sample]:
    return next((found for cls, found in samples().items() if cls.__name__ == name), [])


def real(v) -> bool:
    return getattr(v.type, "dtype", "") == "float64"


def alone(node):
    """Return new inputs (constants as they are) and the node on them."""
    fresh = [v if isinstance(v, Constant) else v.type(f"v{i}") for i, v in enumerate(node.inputs)]
    return fresh, node.op.make_node(*fresh)


# -- completeness ------------------------------------------------------------------------------------------------------


def test_every_class_has_a_case():
    scalars = {type(s.node.op.scalar_op) for s in of("Elemwise")}
    covered = set(samples()) | scalars
    missing = {f"{c.__module__}.{c.__name__}" for c in op_classes("theano.tensor") if c not in covered and c.__name__ not in ELSEWHERE}
    assert not missing, f"add a case to cases_ops.py for {sorted(missing)}"
    found = {c.__name__ for c in samples()}
    stale = found & set(ELSEWHERE)
    assert not stale, f"{stale} are in the tables now"
    assert found == set(NAMES), found ^ set(NAMES)


# -- shapes ------------------------------------------------------------------------------------------------------------


@EACH
def test_inferred_shapes_are_real(name):
    for node, inputs, outputs, case in of(name):
        if not answers(node.op, "infer_shape"):
            assert name in NO_SHAPE or isinstance(node.op, ScalarOp), node
            continue
        fresh, here = alone(node)
        given = {v: np.copy(x) if node.op.destroy_map else x for v, x in zip(fresh, inputs, strict=True) if not isinstance(v, Constant)}
        found = shapes(here, given)
        assert found == [np.shape(x) for x in outputs], f"{node} in {case}"


# -- derivatives -------------------------------------------------------------------------------------------------------


def moved(x, rng):
    """Return a point near by where no two numbers are equal, and none is 0 that was not far from it."""
    noise = np.abs(rng.normal(size=np.shape(x))) + 0.1
    return np.asarray(np.where(x == 0, 0.01 * noise, x * (1 + 0.01 * noise)))


@EACH
@pytest.mark.parametrize("seed", portion(range(3), always=0))
def test_derivatives_of_a_node(name, seed):
    """Backwards and forwards against finite differences, for each real input and output of each node."""
    for node, inputs, _, case in of(name):
        if not any(map(real, node.outputs)) or not any(map(real, node.inputs)) or node.op.destroy_map:
            continue
        if name in TOGETHER or case in ROUGH:
            continue
        rng = np.random.default_rng([seed, 17])
        if name not in NO_GRADIENT:
            prove(node, inputs, rng, case)
        elif seed == 0:
            refused(node)


def refused(node):
    """See that a node without derivative says so."""
    try:
        terms = node.op.L_op(node.inputs, node.outputs, [T.zeros_like(v) for v in node.outputs])
    except MethodNotDefined:
        return
    assert all(isinstance(t.type, (NullType, DisconnectedType)) for t in terms), node


def prove(node, inputs, rng, case):
    symmetric = case.startswith(("eig", "cholesky", "solve_symmetric"))
    fresh, here = alone(node)
    values = [moved(x, rng) if real(v) and not symmetric else x for v, x in zip(fresh, inputs, strict=True)]
    given = {v: x for v, x in zip(fresh, values, strict=True) if not isinstance(v, Constant)}
    outputs = list(here.outputs)
    results = run(outputs, given)
    weights = [np.asarray(rng.normal(size=np.shape(r))) if real(v) else None for v, r in zip(outputs, results, strict=True)]
    seeds = [DisconnectedType()() if w is None else v.type(f"w{i}") for i, (v, w) in enumerate(zip(outputs, weights, strict=True))]
    what = f"{node} in {case}"
    try:
        terms = here.op.L_op(fresh, outputs, seeds)
    except NotImplementedError:
        assert type(node.op).__name__ in SOME_GRADIENT, what
        return
    assert len(terms) == len(fresh), what
    given |= {s: w for s, w in zip(seeds, weights, strict=True) if w is not None}
    wrt = [i for i, (v, t) in enumerate(zip(fresh, terms, strict=True)) if real(v) and not isinstance(t.type, (NullType, DisconnectedType)) and not isinstance(v, Constant)]
    for i, t in enumerate(terms):
        if isinstance(t.type, (NullType, DisconnectedType)) and real(fresh[i]) and not isinstance(fresh[i], Constant):
            assert not moves(here, fresh, values, i, rng), f"{what}: input {i} has an influence, and no gradient"
    if not wrt:
        return
    directions = {i: np.asarray(rng.normal(size=np.shape(values[i]))) for i in wrt}
    for i in wrt:
        assert terms[i].type.ndim == fresh[i].type.ndim, what

    def cost(*point):
        at = {**given, **{fresh[i]: p for i, p in zip(wrt, point, strict=True)}}
        found = run(outputs, at)
        return sum((f * w).sum() for f, w in zip(found, weights, strict=True) if w is not None)

    point, along = [values[i] for i in wrt], [directions[i] for i in wrt]
    wanted = numeric_slope(cost, point, along)
    backwards = sum((run(terms[i], given) * directions[i]).sum() for i in wrt)
    np.testing.assert_allclose(backwards, wanted, rtol=2e-5, atol=2e-6, err_msg=what)
    # Forwards, by the op's own rule (or twice backwards, where it has none).
    steps = [T.constant(directions[i], ndim=directions[i].ndim) if i in wrt else None for i in range(len(fresh))]
    forwards = _through(here, steps)
    found = sum((run(d, given) * w).sum() for d, w in zip(forwards, weights, strict=True) if d is not None and w is not None and not isinstance(d.type, DisconnectedType))
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6, err_msg=f"{what}, forwards")


def moves(node, fresh, values, i, rng):
    """Return whether the real outputs of a node change with its input ``i``."""
    given = {v: x for v, x in zip(fresh, values, strict=True) if not isinstance(v, Constant)}
    wanted = [v for v in node.outputs if real(v)]
    step = 1e-4 * np.asarray(rng.normal(size=np.shape(values[i])))
    try:
        one, other = run(wanted, given), run(wanted, {**given, fresh[i]: values[i] + step})
    except (ValueError, IndexError):
        return False
    return any(a.shape == b.shape and not np.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(one, other, strict=True))


# -- memory ------------------------------------------------------------------------------------------------------------


def held(x):
    """Return a copy of a value inside a larger buffer whose edges are marked, and that buffer."""
    if not isinstance(x, np.ndarray) or x.dtype == object:
        return x, None
    buffer = np.frombuffer(bytearray(b"\xa5" * (x.nbytes + 128)), "uint8")
    inside = buffer[64 : 64 + x.nbytes].view(x.dtype).reshape(x.shape)
    inside[...] = x
    return inside, buffer


def variants(node):
    """Yield a node, and each form of it that works in place."""
    yield node
    op = node.op
    if isinstance(op, Elemwise) and not op.inplace_pattern:
        for o, out in enumerate(node.outputs):
            for i, v in enumerate(node.inputs):
                if v.type == out.type:
                    yield Elemwise(op.scalar_op, {o: i}).make_node(*node.inputs)
    elif getattr(op, "inplace", True) is False:
        yield in_place(op).make_node(*node.inputs)


def in_place(op):
    """Return the form of an op that works in place, made as users make it: with ``inplace=True``."""
    if hasattr(op, "in_place"):
        return op.in_place()
    props = {p: getattr(op, p) for p in type(op).__props__ if p not in ("inplace", "index_key")}
    first = [op.idx_list] if hasattr(op, "idx_list") else []
    return type(op)(*first, inplace=True, **props)


def check_memory(node, before, given, buffers, results, wanted, shared, what):
    """See that inputs are what they were unless destroyed, and that outputs lie where they are declared to lie."""
    destroyed = {i for places in node.op.destroy_map.values() for i in places}
    for i, (old, new, buffer) in enumerate(zip(before, given, buffers, strict=True)):
        if buffer is None:
            continue
        edges = np.concatenate([buffer[:64], buffer[-64:]])
        assert (edges == 0xA5).all(), f"{what}: wrote beyond input {i}"
        assert i in destroyed or new.tobytes() == old.tobytes(), f"{what}: changed input {i} without saying so"
    for o, (found, right) in enumerate(zip(results, wanted, strict=True)):
        allowed = {*node.op.view_map.get(o, ()), *node.op.destroy_map.get(o, ())}
        assert shared[o] <= allowed, f"{what}: output {o} lies in inputs {shared[o] - allowed} without saying so"
        for i in node.op.destroy_map.get(o, ()):
            assert i in shared[o] or not np.size(found), f"{what}: output {o} is not in the memory of input {i}"
        of_its_own = getattr(node.outputs[o].tag, "values_eq_approx", None)
        if of_its_own is not None:  # several answers are right, as for eigenvectors, or infinities are let off
            assert of_its_own(np.asarray(found), np.asarray(right)), f"{what}: output {o} is {found}, not {right}"
        else:
            np.testing.assert_allclose(found, right, rtol=1e-7, atol=1e-10, err_msg=what)


@EACH
def test_memory_of_perform(name):
    for node, inputs, outputs, case in of(name):
        for variant in variants(node):
            given, buffers = zip(*map(held, inputs), strict=True) if inputs else ((), ())
            cells = [[None] for _ in variant.outputs]
            with np.errstate(all="ignore"):
                variant.op.perform(variant, list(given), cells)
            results = [c[0] for c in cells]
            shared = [{i for i, x in enumerate(given) if isinstance(x, np.ndarray) and isinstance(r, np.ndarray) and np.may_share_memory(x, r)} for r in results]
            check_memory(variant, inputs, given, buffers, results, outputs, shared, f"{variant} in {case}, perform")
            arrays = [r for r in results if isinstance(r, np.ndarray) and r.size]
            for a in range(len(arrays)):
                for b in range(a):
                    views = variant.op.view_map or variant.op.destroy_map
                    assert views or not np.shares_memory(arrays[a], arrays[b]), f"{variant}: outputs share memory"


# -- what nodes become ---------------------------------------------------------------------------------------------------


def becomes(node):
    """Return all that a kernel says, but for what the node is called."""
    found = lower(node)
    place = (found.source, found.support, found.plain_loops) if isinstance(found, Kernel) else found and (found.library, found.symbol)
    return found and (place, found.packed, found.work, found.lazy)


@EACH
def test_nodes_that_may_share_a_kernel_differ_in_nothing_that_it_depends_on(name):
    """An entry that says that op and types are all: for the node as it stands, and for new variables of its types."""
    for sample in of(name):
        entry = find(sample.node)
        if entry is not None and entry.by_types:
            node = Apply(sample.node.op, [v.type() for v in sample.node.inputs], [v.type() for v in sample.node.outputs])
            assert becomes(node) == becomes(sample.node), sample.case


# -- the proofs themselves ---------------------------------------------------------------------------------------------


class Planted(Op):
    """An op with a fault on request."""

    __props__ = ("fault",)

    def __init__(self, fault):
        self.fault = fault
        if fault == "copies although in place":
            self.destroy_map = {0: [0]}

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        (x,) = inputs
        out = 2 * x
        if self.fault == "writes to its input":
            x[0] = 7
        elif self.fault == "writes beyond its input":
            np.lib.stride_tricks.as_strided(x, (len(x) + 1,))[-1] = 7
        elif self.fault == "hands its input out":
            x *= 2
            out = x
        output_storage[0][0] = out[:-1] if self.fault == "shorter" else out

    def infer_shape(self, node, shapes):
        return shapes

    def grad(self, inputs, output_grads):
        return [3 * output_grads[0] if self.fault == "gradient" else 2 * output_grads[0]]

    def R_op(self, inputs, eval_points):
        return [(-2 if self.fault == "direction" else 2) * eval_points[0]]


FAULTS = {
    None: ("shapes", "derivatives", "memory"), "shorter": ("shapes",), "gradient": ("derivatives",), "direction": ("derivatives",),
    "writes to its input": ("memory",), "writes beyond its input": ("memory",), "hands its input out": ("memory",),
    "copies although in place": ("memory",),
}  # fmt: skip
PROOFS = {"shapes": test_inferred_shapes_are_real, "derivatives": lambda name: test_derivatives_of_a_node(name, 0), "memory": test_memory_of_perform}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault, monkeypatch):
    value = np.array([1.0, -2.0, 3.0])
    node = Planted(fault).make_node(T.dvector("x"))
    out = 2 * value[:-1] if fault == "shorter" else 2 * value
    monkeypatch.setitem(samples(), Planted, [Sample(node, [value], [out], "planted")])
    for proof in FAULTS[fault]:
        if fault is None:
            PROOFS[proof]("Planted")
        else:
            with pytest.raises(AssertionError):
                PROOFS[proof]("Planted")
