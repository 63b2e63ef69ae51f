"""Loops under the names of the old Theano: their inputs and outputs by kind, and its optimizers of loops."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.graph import FunctionGraph
from theano.legacy import scan_passes
from theano.scan import until
from theano.scan.op import Scan

x, a, first = T.dvector("x"), T.dscalar("a"), T.dvector("first")
X, W = T.dmatrices("X", "W")


def loop(ends=False):
    """Return the node of a loop that has parts of each kind, two of most."""
    total = theano.shared(np.zeros(3), "total")
    count = theano.shared(np.int64(0), "count")

    def step(*given):
        u, v0, v1, p2, p1, q, r1, r3, w, s = given
        results = [p2 + u, q * w, u + s, r1 * r3 + v0, v1 + total]
        updates = {total: total + v1, count: count + 1}
        return (results, updates, until(u[0] > 3)) if ends else (results, updates)

    matrix = T.dmatrix("first")
    outputs_info = [{"initial": matrix, "taps": [-2, -1]}, x, None, {"initial": matrix, "taps": [-1, -3]}, None]
    sequences = [X, {"input": X * 2, "taps": [0, 1]}]
    outputs, _ = theano.scan(step, sequences, outputs_info, [first, x])
    return outputs[4].owner


@pytest.mark.parametrize("ends", [False, True])
def test_kinds_are_all_of_a_loop(ends):
    node = loop(ends)
    op = node.op
    numbers = (op.n_seqs, op.n_mit_mot, op.n_mit_sot, op.n_sit_sot, op.n_nit_sot, op.n_shared_outs, op.as_while)
    assert numbers == (2, 0, 2, 1, 2, 2, ends)
    assert op.tap_array == [[-2, -1], [-1], [-1, -3]] and op.mitsot_taps() == [[-2, -1], [-1, -3]]
    kinds = ("seqs", "mitmot", "mitsot", "sitsot", "shared", "non_seqs")
    inner = [v for kind in kinds for v in getattr(op, f"inner_{kind}")(op.inputs)]
    outer = [v for kind in kinds for v in getattr(op, f"outer_{kind}")(node)]
    assert sorted(map(id, inner)) == sorted(map(id, op.inputs))
    assert sorted(map(id, outer)) == sorted(map(id, node.inputs[1:]))
    assert [v for kind in kinds for v in getattr(op, f"outer_{kind}")(node.inputs)] == outer
    kinds = ("mitmot_outs", "mitsot_outs", "sitsot_outs", "nitsot_outs", "shared_outs")
    inner = [v for kind in kinds for v in getattr(op, f"inner_{kind}")(op.outputs)]
    outer = [v for kind in kinds for v in getattr(op, f"outer_{kind}")(node)]
    assert sorted(map(id, inner)) == sorted(map(id, op.outputs[: len(op.outputs) - ends]))
    assert sorted(map(id, outer)) == sorted(map(id, node.outputs))
    assert op.outer_nitsot(node) == []


@pytest.mark.parametrize("ends", [False, True])
def test_which_belong_together(ends):
    node = loop(ends)
    found = node.op.var_mappings
    assert len(found) == 12
    # Inputs: steps, 2 sequences (1 and 2 taps), states (2, 1 and 2 taps), 2 updated, 2 fixed.
    assert found["inner_inp_from_outer_inp"] == {
        0: [], 1: [0], 2: [1, 2], 3: [3, 4], 4: [5], 5: [6, 7], 6: [8], 7: [9], 8: [10], 9: [11],
    }  # fmt: skip
    assert list(found["inner_out_from_outer_inp"].values()) == [[], [], [], [0], [1], [2], [5], [6], [], []]
    assert found["outer_out_from_outer_inp"] == {0: -1, 1: -1, 2: -1, 3: 0, 4: 1, 5: 2, 6: 5, 7: 6, 8: -1, 9: -1}
    assert found["outer_inp_from_inner_inp"] == dict(enumerate([1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9]))
    assert found["outer_inp_from_outer_out"] == {0: 3, 1: 4, 2: 5, 3: -1, 4: -1, 5: 6, 6: 7}
    assert found["outer_inp_from_inner_out"] == found["outer_inp_from_outer_out"]
    assert found["inner_inp_from_inner_out"] == {0: [3, 4], 1: [5], 2: [6, 7], 3: [], 4: [], 5: [8], 6: [9]}
    assert found["inner_out_from_outer_out"] == {k: [k] for k in range(7)}
    own, made = node.op.inputs, node.op.outputs
    for i, o in found["outer_out_from_inner_inp"].items():
        if o >= 0:  # what stands for a past value is of the type of the new one
            assert own[i].type == made[found["inner_out_from_outer_out"][o][0]].type


def loops_in(fgraph):
    return [node for node in fgraph.toposort() if isinstance(node.op, Scan)]


def test_which_loops_can_be_one():
    def of(n, start=a, ends=False, **options):
        def step(u, v):
            return (u * v, until(u > 0)) if ends else u * v

        return theano.scan(step, x, start, n_steps=n, **options)[0].owner.inputs[0].owner

    merge = scan_passes.ScanMerge()
    one, other = of(5), of(5, a + 1)
    assert merge.belongs_to_set(one, [other]) and merge.belongs_to_set(one, [])
    for unlike in (of(4), of(5, ends=True), of(5, truncate_gradient=2), of(5, one.outputs[0][-1])):
        assert not merge.belongs_to_set(one, [unlike]) and not merge.belongs_to_set(unlike, [other, one])
    assert merge.belongs_to_set(of(5, ends=True), [of(5, a + 1, ends=True)])


def test_passes_by_hand():
    plain = theano.Mode("py", None)
    y, _ = theano.scan(lambda u, p, w: [u + p, T.dot(p, w)], X, [x, None], W)
    z, _ = theano.scan(lambda u, p, w: T.tanh(T.dot(u, w) + p + T.exp(a)), X, x, W)
    outputs = [*y, z]
    values = np.arange(12.0).reshape(4, 3) / 9, np.ones(3), np.eye(3) * 0.5, 0.1
    wanted = theano.function([X, x, W, a], outputs, mode=plain)(*values)
    fgraph, _ = FunctionGraph([X, x, W, a], outputs).clone_get_equiv()
    for name, loops in (
        ("PushOutNonSeqScan", 2), ("PushOutSeqScan", 2), ("PushOutScanOutput", 2), ("PushOutDot1", 2), ("ScanMerge", 1),
        ("ScanSaveMem", 1),
    ):  # fmt: skip
        getattr(scan_passes, name)().optimize(fgraph)
        assert len(loops_in(fgraph)) == loops, name
    (node,) = loops_in(fgraph)
    assert node.op.n_nit_sot == 0 and "dot" not in [str(n.op) for n in node.op.fn.maker.fgraph.toposort()]
    found = theano.function(list(fgraph.inputs), list(fgraph.outputs), mode=plain)(*values)
    for new, old in zip(found, wanted, strict=True):
        np.testing.assert_allclose(new, old)


def test_the_gradient_of_random_numbers_in_nested_loops():
    stream = T.shared_randomstreams.RandomStreams(7)

    def outer(_, x):
        def inner(_, x):
            return T.exp(x * stream.normal(size=x.shape)) ** 2

        rows, updates = theano.scan(inner, T.arange(3), non_sequences=x)
        return rows * stream.normal(size=rows.shape), updates

    rows, _ = theano.scan(outer, T.arange(2), non_sequences=x)
    f = theano.function([x], [rows.sum(), T.grad(rows.sum(), x)], no_default_updates=True)
    at, small = np.array([0.3, -0.2]), 1e-6
    _, slope = f(at)
    for i, step in enumerate(np.eye(2) * small):
        np.testing.assert_allclose(slope[i], (f(at + step)[0] - f(at - step)[0]) / (2 * small), rtol=1e-6)
