"""Graphs with batch axes: each expression of the tables for each set of its inputs, against a loop over the rows."""

import numpy as np
import pytest
from cases import CASES
from cases_ops import OP_CASES
from oracle import run

import theano
import theano.tensor as T
from portion import portion
from theano.tensor.rows.op import MapRows

BY_NAME = [pytest.param(c, id=c.name) for c in [*CASES, *OP_CASES]]

#: The sets of inputs for which something in an expression has no rule, and is computed in a loop.
LOOPS: dict[str, set[tuple[int, ...]]] = {
    # how long a row of the result is depends on values
    **{name: {(1,), (0, 1)} for name in ("repeat_each", "mask_symbolic", "mask_and_slice", "slice_symbolic", "slice_step", "Tile")},
    **{name: {(0,)} for name in ("arange", "Bartlett", "nonzero_values", "unique", "unique_inverse", "Bincount")},
    **{name: {(0,), (1,), (0, 1)} for name in ("ARangeLength", "Bincount_weights")},
    # each row has filters of its own
    **{name: {(1,), (0, 1)} for name in ("Conv2d", "Conv2d_full", "Conv2d_unshared", "ConvElemwise", "Conv3d", "CorrMM", "Corr3dMM")},
    **{name: {(0,), (0, 1)} for name in ("Conv2d_gradInputs", "CorrMM_gradInputs", "Corr3dMM_gradInputs")},
    **{name: {(0,), (1,), (0, 1)} for name in ("Conv2d_gradWeights", "CorrMM_gradWeights", "Corr3dMM_gradWeights")},
    # a row of the result would lie between those of others; blocks of their own for each row; a batch in the middle
    "Images2Neibs": {(0,)}, "ctc": {(0,)},
    **{name: {(0,), (1,), (2,), (0, 1, 2)} for name in ("SparseBlockGemv", "SparseBlockOuter")},
}  # fmt: skip
#: Expressions whose shape depends on values, of which there are none where there are no rows.
BY_VALUE = {
    "mask_symbolic", "mask_and_slice", "nonzero_values", "repeat_each", "unique", "unique_inverse", "Bincount_weights",
    "arange", "Bartlett", "slice_symbolic", "slice_step", "Tile",
}  # fmt: skip


def subsets(count):
    """Yield each input alone, then all together."""
    yield from ([i] for i in range(count))
    if count > 1:
        yield list(range(count))


def rows_of(case, places, n, rng):
    """Return the values of each input, and stacked rows for those in ``places``, different from row to row."""
    values = case.values(rng)
    for i in places:
        spec = case.inputs[i]
        if case.name == "Tile" and i:
            made = [spec] * n
        elif isinstance(spec, np.ndarray):
            # The same numbers in another order, so that what they count stays equal.
            made = [np.roll(spec.ravel(), k).reshape(spec.shape) for k in range(n)]
        else:
            made = [case.values(rng)[i] for _ in range(n)]
        values[i] = np.stack(made) if n else np.empty((0, *values[i].shape), values[i].dtype)
    return values


def batched(case, places):
    """Return the variables of a case, those that stand for many rows in their places, its expression and that of all."""
    rows = case.variables()
    out = case.build(*rows)
    many = list(rows)
    for i in places:
        kind = rows[i].type
        many[i] = T.TensorType(kind.dtype, (False, *kind.broadcastable))(f"{rows[i].name}s")
    replace = {rows[i]: many[i] for i in places}
    return rows, many, out, theano.vectorize_graph(out, replace)


def row_by_row(rows, out, values, places, n):
    return [run(out, dict(zip(rows, [v[k] if i in places else v for i, v in enumerate(values)], strict=True))) for k in range(n)]


@pytest.mark.parametrize("case", BY_NAME)
def test_all_rows_at_once(case):
    looped = set()
    for places in subsets(len(case.inputs)):
        rows, many, out, all_rows = batched(case, places)
        depends = any(v in set(theano.graph.traverse.inputs([out])) for v in (rows[i] for i in places))
        if not depends:
            assert all_rows is out
            continue
        assert all_rows.type == T.TensorType(out.type.dtype, (False, *out.type.broadcastable))
        for n in (3, 1, 0):
            values = rows_of(case, places, n, np.random.default_rng(3))
            found = run(all_rows, dict(zip(many, values, strict=True)))
            expected = row_by_row(rows, out, values, places, n)
            if n:
                np.testing.assert_allclose(found, np.stack(expected), rtol=1e-9, atol=1e-12, err_msg=f"{places} {n}")
            else:
                one = run(out, dict(zip(rows, case.values(np.random.default_rng(3)), strict=True)))
                assert found.shape == (0, *one.shape) or case.name in BY_VALUE and found.shape[0] == 0, places
        if any(isinstance(node.op, MapRows) for node in theano.graph.traverse.toposort([all_rows])):
            looped.add(tuple(places))
    assert looped == LOOPS.get(case.name, set())


SMOOTH = [p for p in BY_NAME if p.values[0].smooth]


@pytest.mark.parametrize("case", portion(SMOOTH, always=0))
def test_gradients_of_all_rows(case):
    """The gradient of the batched graph is that of each row, and for inputs without rows the sum of these."""
    floats = [i for i, v in enumerate(case.variables()) if v.dtype == "float64"]
    for places in subsets(len(case.inputs)):
        rows, many, out, all_rows = batched(case, places)
        if all_rows is out:
            continue
        values = rows_of(case, places, 3, np.random.default_rng(4))
        weights = np.random.default_rng(5).normal(size=run(all_rows, dict(zip(many, values, strict=True))).shape)

        def gradients(expression, w, variables, given):
            cost = (expression * T.constant(w, ndim=w.ndim)).sum()
            return run(theano.grad(cost, [variables[i] for i in floats], disconnected_inputs="ignore"), given)

        found = gradients(all_rows, weights, many, dict(zip(many, values, strict=True)))
        steps = []
        for k in range(3):
            given = [v[k] if i in places else v for i, v in enumerate(values)]
            steps.append(gradients(out, weights[k], rows, dict(zip(rows, given, strict=True))))
        for j, i in enumerate(floats):
            each = np.stack([step[j] for step in steps])
            expected = each if i in places else each.sum(axis=0)
            np.testing.assert_allclose(found[j], expected, rtol=1e-8, atol=1e-10, err_msg=f"{places}, input {i}")


#: Every fourth case compiled: the rules of rewriting meet the forms that batching makes.
@pytest.mark.parametrize("case", portion(BY_NAME[::4], always=0))
def test_compiled(case):
    places = list(range(len(case.inputs)))
    rows, many, out, all_rows = batched(case, places)
    if all_rows is out:
        return
    f = theano.function(many, all_rows, on_unused_input="ignore")
    for n in (3, 1):
        values = rows_of(case, places, n, np.random.default_rng(6))
        expected = np.stack(row_by_row(rows, out, values, places, n))
        np.testing.assert_allclose(f(*values), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", portion(BY_NAME, always=0))
def test_two_batch_axes(case):
    """The first input has two batch axes, the others one, which lies along the second of these."""
    rows = case.variables()
    out = case.build(*rows)
    many = []
    for i, v in enumerate(rows):
        flags = (False, False) if i == 0 else (False,)
        many.append(T.TensorType(v.type.dtype, (*flags, *v.type.broadcastable))())
    all_rows = theano.vectorize_graph(out, dict(zip(rows, many, strict=True)))
    nested = out
    for k in range(2):  # the same in two steps, the inner axis first
        inner = [v if i else T.TensorType(v.type.dtype, (False, *v.type.broadcastable))() for i, v in enumerate(rows)]
        if k == 0:
            inner = [inner[0], *many[1:]]
            nested = theano.vectorize_graph(out, dict(zip(rows, inner, strict=True)))
            step = inner[0]
        else:
            nested = theano.vectorize_graph(nested, {step: many[0]})
    values = rows_of(case, list(range(len(rows))), 2, np.random.default_rng(7))
    values[0] = np.stack([values[0]] * 3)
    if all_rows is out:
        return
    reached = rows[0] in theano.graph.traverse.inputs([out])
    assert all_rows.type == nested.type == T.TensorType(out.type.dtype, (*[False] * (1 + reached), *out.type.broadcastable))
    given = dict(zip(many, values, strict=True))
    expected = np.stack(row_by_row(rows, out, [values[0][0], *values[1:]], list(range(len(rows))), 2))
    for graph in (all_rows, nested):
        found = run(graph, given)
        np.testing.assert_allclose(found, np.stack([expected] * 3) if reached else expected, rtol=1e-9, atol=1e-12)
