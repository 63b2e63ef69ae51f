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

#: The sets of inputs for which something in an expression has no rule, and is computed in a loop.
LOOPS: dict[str, set[tuple[int, ...]]] = {
    # how long a row of the result is depends on values
    **dict.fromkeys(["repeat_each", "mask_symbolic", "mask_and_slice", "slice_symbolic", "slice_step", "Tile"], {(1,), (0, 1)}),
    **dict.fromkeys(["arange", "Bartlett", "nonzero_values", "unique", "unique_inverse", "Bincount"], {(0,)}),
    **dict.fromkeys(["ARangeLength", "Bincount_weights"], {(0,), (1,), (0, 1)}),
}
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
