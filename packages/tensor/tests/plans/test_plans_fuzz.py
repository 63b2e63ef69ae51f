"""Random graphs and random changes to them: keys are equal exactly where the graphs are.

The oracle is a text of the graph's tables, written here without the code that writes keys.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from plan_keys import key_of
from test_fuzz import Writer

import theano
from theano.compile.pickling import flatten, unflatten
from theano.graph.canonical import NoCanonicalForm
from theano.tensor.elemwise import functions as F

PAIRS = 300
OTHER = {F.add: F.sub, F.sub: F.add, F.mul: F.true_div, F.maximum: F.minimum, F.exp: F.tanh, F.lt: F.ge}


def tables(seed):
    writer = Writer(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = writer.write()
    return flatten(writer.inputs, outputs), writer


def described(flat):
    """Return the oracle's text: everything about leaves and nodes, by their places."""
    lines = []
    for (cls, kind, name, _), value in flat.leaves:
        data = None if value is None else (value.dtype.str, value.shape, value.strides, value.tobytes())
        lines.append(f"{cls.__name__} {kind.dtype} {kind.broadcastable} {name!r} {data}")
    for op, inputs, looks in flat.nodes:
        props = getattr(type(op), "__props__", None)
        parameters = {p: repr(getattr(op, p)) for p in props or ()}
        outputs = [(cls.__name__, kind.dtype, kind.broadcastable, name) for cls, kind, name, _ in looks]
        lines.append(f"{type(op).__module__} {type(op).__qualname__} {op} {parameters} {inputs} {outputs}")
    return "\n".join([*lines, str(flat.n_inputs), str(flat.outputs)])


def key(flat):
    inputs, outputs = unflatten(flat)
    return key_of(inputs, outputs)


# -- changes: each returns whether it found something to change --------------------------------------------------


def nothing(flat, rng):
    return True


def other_constant(flat, rng):
    places = [i for i, leaf in enumerate(flat.leaves) if leaf[1] is not None and leaf[1].size]
    if not places:
        return False
    i = int(rng.choice(places))
    look, value = flat.leaves[i]
    changed = value.copy()
    raw = changed.reshape(-1).view(np.uint8)
    raw[int(rng.integers(raw.size)) if changed.dtype != bool else 0] ^= 1
    flat.leaves[i] = (look, changed)
    return True


def other_name(flat, rng):
    i = int(rng.integers(flat.n_inputs))
    (cls, kind, name, line), value = flat.leaves[i]
    flat.leaves[i] = ((cls, kind, f"{name}_", line), value)
    return True


def other_op(flat, rng):
    places = [i for i, node in enumerate(flat.nodes) if node[0] in OTHER]
    if not places:
        return False
    i = int(rng.choice(places))
    flat.nodes[i] = (OTHER[flat.nodes[i][0]], *flat.nodes[i][1:])
    return True


def expressions(flat):
    """Return for each variable what it computes: two nodes of one op and the same inputs compute the same."""
    found = {~k: ~k for k in range(len(flat.leaves))}
    ids = {}
    for op, inputs, looks in flat.nodes:
        made = (op, tuple(found[v] for v in inputs))
        for k in range(len(looks)):
            found[len(found) - len(flat.leaves)] = ids.setdefault((made, k), len(ids))
    return found


def other_operand(flat, rng):
    what = expressions(flat)
    # Operands that compute the same can change places, and the graph is the one that it was.
    places = [i for i, node in enumerate(flat.nodes) if len({what[v] for v in node[1]}) > 1]
    if not places:
        return False
    i = int(rng.choice(places))
    op, inputs, *rest = flat.nodes[i]
    flat.nodes[i] = (op, inputs[::-1], *rest)
    return True


def other_outputs(flat, rng):
    flat.outputs = flat.outputs[::-1] if len(flat.outputs) > 1 else [*flat.outputs, flat.outputs[0]]
    return True


def other_order_of_inputs(flat, rng):
    n = flat.n_inputs
    flat.leaves[:n] = flat.leaves[:n][::-1]
    moved = {~k: ~(n - 1 - k) for k in range(n)}
    flat.nodes[:] = [(op, [moved.get(v, v) for v in inputs], looks) for op, inputs, looks in flat.nodes]
    flat.outputs = [moved.get(v, v) for v in flat.outputs]
    return True


def equal_constants_apart(flat, rng):
    """Let one constant that is used twice be two equal ones."""
    for i, leaf in enumerate(flat.leaves):
        uses = [(n, k) for n, node in enumerate(flat.nodes) for k, v in enumerate(node[1]) if v == ~i]
        if leaf[1] is not None and len(uses) > 1:
            flat.leaves.append(leaf)
            n, k = uses[-1]
            flat.nodes[n][1][k] = -len(flat.leaves)
            return True
    return False


CHANGES = [nothing, other_constant, other_name, other_op, other_operand, other_outputs, other_order_of_inputs,
           equal_constants_apart]  # fmt: skip


@pytest.mark.parametrize("block", range(5))
def test_keys_are_equal_where_graphs_are(block):
    equal = different = 0
    for seed in range(block * PAIRS // 5, (block + 1) * PAIRS // 5):
        rng = np.random.default_rng([seed, 7])
        (one, _), (two, _) = tables(seed), tables(seed)
        change = CHANGES[seed % len(CHANGES)]
        if not change(two, rng):
            continue
        same = described(one) == described(two)
        assert (key(one) == key(two)) == same, f"seed {seed}, {change.__name__}"
        equal, different = equal + same, different + (not same)
    assert equal >= 5 and different >= 30


def test_no_two_of_many_graphs_share_a_key():
    found = {}
    for seed in range(200):
        flat, _ = tables(seed)
        other = found.setdefault(key(flat), described(flat))
        assert other == described(flat)
    assert len(found) > 190


@pytest.mark.parametrize("seed", range(8))
def test_random_functions_warm_as_cold(seed):
    flat, writer = tables(1000 + seed)
    inputs, outputs = unflatten(flat)
    with theano.config.change_flags({"cache.plans": False}):
        cold = theano.function(inputs, outputs, on_unused_input="ignore")
    theano.function(inputs, outputs, on_unused_input="ignore")
    warm = theano.function(inputs, outputs, on_unused_input="ignore")
    assert warm.maker.plan is not None, warm.maker.lookup.reason
    for a, b in zip(cold(*writer.values), warm(*writer.values), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape and np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_random_things_have_forms_or_say_that_they_have_none():
    for seed in range(50):
        flat, _ = tables(seed)
        for op, *_ in flat.nodes:
            try:
                theano.graph.canonical.form_of(op)
            except NoCanonicalForm as problem:
                raise AssertionError(f"{op} has no form") from problem
