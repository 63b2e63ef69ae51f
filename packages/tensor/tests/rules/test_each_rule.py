"""Each rule alone: it applies, keeps its promise about values (special ones included), and says nothing twice."""

import numpy as np
import pytest
from interpret import apply_rule, compute, run
from left_sides import AFTER, CASES, c, classes, i, k, m, n, psd, s, square, v, w

from theano.graph.traverse import explicit_inputs
from theano.rewriting import phases
from theano.scan.op import Scan

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-300, -1e-300, 1e300, 1e-17, np.inf, -np.inf, np.nan])

rng = np.random.default_rng(7)
VALUES = {
    v: [SPECIAL[:4], SPECIAL[4:8], SPECIAL[8:12], SPECIAL[9:13], rng.normal(size=4), rng.uniform(0.1, 3, 4)],
    w: [np.ones(4), SPECIAL[[4, 5, 2, 3]], rng.normal(size=4)],
    m: [rng.normal(size=(3, 4)), rng.normal(size=(3, 4)) * 30],
    n: [rng.normal(size=(3, 4))],
    i: [np.array([-3, 0, 1, 7])], k: [np.array([1, 2, -1, 3])], c: [np.array([0, 1, 1, 0], "int8")],
    s: [np.array(0.5)], square: [rng.normal(size=(3, 3))], psd: [np.eye(3) + 0.2], classes: [np.array([0, 3, 1])],
}  # fmt: skip


SAMPLES = 50
#: What is left of 1 - sigmoid(x) for larger x has too few digits to be compared with: it is what these rules mend.
UP_TO = {"log1msigm_to_softplus": 16, "log1p_neg_sigmoid": 16}


def samples(inputs, seed=7):
    """Yield combinations of values of the inputs: of special ones first, then drawn at random."""
    for turn in range(max(len(VALUES[x]) for x in inputs)):
        for x0 in VALUES[inputs[0]] if turn == 0 else VALUES[inputs[0]][turn % len(VALUES[inputs[0]]) :][:1]:
            yield [x0, *(VALUES[x][turn % len(VALUES[x])] for x in inputs[1:])]
    draw = np.random.default_rng(seed)
    for _ in range(SAMPLES):
        yield [drawn(x, draw) for x in inputs]


def drawn(x, draw):
    """Return a random value of an input: numbers of several sizes, one in four of those of reals a special one."""
    like = VALUES[x][0]
    if x is psd:
        root = draw.normal(size=(3, 3))
        return root @ root.T + 0.1 * np.eye(3)
    if like.dtype.kind in "iu":
        low, high = {classes: (0, 4), c: (0, 2)}.get(x, (-9, 10))
        found = draw.integers(low, high, like.shape).astype(like.dtype)
        return np.where(found == 0, np.ones_like(found), found) if x is k else found
    found = draw.normal(size=like.shape) * draw.choice([1e-3, 1.0, 30.0])
    special = draw.random(like.shape) < (0.25 if x in (v, w, s) else 0)
    return np.asarray(np.where(special, draw.choice(SPECIAL, like.shape), found))


RULES = phases.all_rules()  # those of the layer: another test may import the one above, which brings its own


def _is_of_loops(rule):
    return any(isinstance(op, type) and issubclass(op, Scan) for op in rule.tracks or ())


@pytest.mark.parametrize("name", sorted(CASES))
def test_rule(name):
    output = CASES[name]
    inputs = explicit_inputs([output])
    fgraph, used, rule = apply_rule(name, inputs, output, AFTER.get(name, ()))
    assert used, f"{name} does not apply to {fgraph}"
    again, used_again, _ = apply_rule(name, fgraph.inputs, fgraph.outputs[0])
    assert not used_again, f"{name} applies to its own result: {again}"
    compared = 0
    for values in samples(inputs):
        given = dict(zip(inputs, values, strict=True))
        if any(np.any(np.isfinite(x) & (x > UP_TO.get(name, np.inf))) for x in values):
            continue
        with np.errstate(all="ignore"):
            try:
                (wanted,) = run([output], given)
            except ValueError:
                continue  # a shape that the expression refuses
            (found,) = compute(fgraph, values)
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        hold_to_promise(rule.keeps, wanted, found, name)
        compared += 1
    assert compared >= SAMPLES // 2


def hold_to_promise(keeps, wanted, found, name):
    """Compare two arrays under a contract."""
    if wanted.dtype.kind not in "fc" or keeps == "exact":
        np.testing.assert_array_equal(found, wanted, err_msg=name)
        return
    where = np.isfinite(wanted) if keeps == "finite" else np.ones(wanted.shape, bool)
    if keeps == "approximate":
        assert np.nanmax(np.abs(found[where] - wanted[where]), initial=0) <= 0.1, name
        return
    # Near 0 and near overflow the unrewritten form is the one that is wrong: that is why the rule exists.
    where &= ~(np.isfinite(wanted) & ((np.abs(wanted) > 1e150) | (np.abs(wanted) < 1e-15)))
    np.testing.assert_allclose(found[where], wanted[where], rtol=1e-6, atol=1e-9, err_msg=name)


def test_every_rule_has_a_case():
    # Rules of loops are tried on loops: tests/scan/test_rules.py.
    rules = {name for name, rule in RULES.items() if not _is_of_loops(rule)}
    assert rules == set(CASES), "the proof and these tests start from a case: add it to left_sides.py"
