"""Graphs with batch axes: each expression of the tables for each set of its inputs, against a loop over the rows."""

import numpy as np
import pytest
from cases import CASES
from cases_ops import OP_CASES
from oracle import run

import theano
import theano.tensor as T
from theano.tensor.rows import MapRows

BY_NAME = [pytest.param(c, id=c.name) for c in [*CASES, *OP_CASES]]

#: Expressions of which some set of inputs has no rule for many rows at once, by name with why.
LOOPS: dict[str, str] = {}


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
        if isinstance(spec, np.ndarray):
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
                assert found.shape == (0, *one.shape), places
        if any(isinstance(node.op, MapRows) for node in theano.graph.traverse.toposort([all_rows])):
            looped.add(tuple(places))
    assert bool(looped) == (case.name in LOOPS), looped
