"""Whole numbers and booleans: exhaustive. Each rule's case in small dtypes, and all small expressions through all rules.

The values are all pairs from a few numbers of each dtype, the extremes among them: what wraps around must wrap around
in the same way after a rewrite, and the dtype must stay what it was. Of expressions of two ops a third of the usual
ones is tried, all of these with ``--cases all``. The environment's SIZES=sweep does all there are.
"""

from __future__ import annotations

import itertools
import os
import warnings

import numpy as np
import pytest
from interpret import apply_rule, compute, rewritten, run
from test_each_rule import AFTER, CASES, VALUES, c, i, k, m, n, s, v, w

import theano.tensor as T
from portion import portion
from theano.graph import Constant
from theano.graph.traverse import explicit_inputs, toposort
from theano.tensor.elemwise import functions as F

SWEEP = os.environ.get("SIZES") == "sweep"
DOMAINS = {
    "int8": np.array([-128, -1, 0, 1, 2, 127], "int8"),
    "uint8": np.array([0, 1, 2, 254, 255], "uint8"),
    "bool": np.array([False, True]),
}
NUMBERS = (v, w, m, n, s, i, k, c)
PAIRS = list(itertools.product(DOMAINS, repeat=2))
#: In the regular tests: each dtype with itself, and two mixtures.
SOME_PAIRS = PAIRS if SWEEP else [("int8", "int8"), ("uint8", "uint8"), ("bool", "bool"), ("int8", "uint8")]


def of_dtype(output, dtypes):
    """Return an expression with its inputs and constants in whole numbers, and the inputs; None if it cannot be."""
    known = {}
    for position, x in enumerate(x for x in explicit_inputs([output]) if x in NUMBERS):
        known[x] = T.TensorType(dtypes[position % len(dtypes)], x.type.broadcastable)(x.name)
    for node in toposort([output]):
        inputs = [known.get(x, small(x, dtypes[0])) for x in node.inputs]
        try:
            made = node.op.make_node(*inputs)
        except (TypeError, ValueError, NotImplementedError):
            return None
        known.update(zip(node.outputs, made.outputs, strict=True))
    made = known[output]
    return (made, explicit_inputs([made])) if known else None


def small(x, dtype):
    """Return a constant in a dtype that holds its value, anything else as it is."""
    if not isinstance(x, Constant) or getattr(x.type, "dtype", "")[:5] != "float":
        return x
    exact = x.data.astype(dtype)
    return T.constant(exact) if np.array_equal(exact, x.data) else x


def fillings(inputs, most):
    """Yield values of inputs in which all combinations of numbers, or all pairs if there is one input, come up."""
    domains = [DOMAINS.get(x.type.dtype) for x in inputs]
    arrays = [(x, d) for x, d in zip(inputs, domains, strict=True) if d is not None and x.type.ndim]
    scalars = [(x, d) for x, d in zip(inputs, domains, strict=True) if d is not None and not x.type.ndim]
    by_name = {x.name: VALUES[x][0] for x in VALUES}
    if len(arrays) == 1:
        columns = [np.array(list(itertools.product(arrays[0][1], repeat=2))).ravel()]
    else:
        rows = list(itertools.product(*(d for _, d in arrays)))
        columns = [np.array([row[j] for row in rows]) for j in range(len(arrays))]
    count = max((len(column) for column in columns), default=1)
    step = min((by_name[x.name].size for x, _ in arrays), default=1)
    places = [(at, point) for at in range(0, count, step) for point in itertools.product(*(d for _, d in scalars))]
    stride = max(1, -(-len(places) // most))
    for at, point in places[::stride]:
        given = dict(zip((x for x, _ in scalars), point, strict=True))
        for (x, d), column in zip(arrays, columns, strict=True):
            shape = by_name[x.name].shape
            given[x] = np.resize(np.roll(column, -at), shape).astype(d.dtype)
        yield [np.asarray(given.get(x, by_name[x.name]), x.type.dtype) for x in inputs]


def held(name, dtypes, most):
    """Apply one rule to its case in small dtypes; return whether it applied, having compared all values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = of_dtype(CASES[name], dtypes)
    if found is None:
        return False
    output, inputs = found
    fgraph, used, rule = apply_rule(name, inputs, output, AFTER.get(name, ()))
    if not used:
        return False
    compared = 0
    for values in fillings(inputs, most):
        with np.errstate(all="ignore"):
            try:
                (wanted,) = run([output], dict(zip(inputs, values, strict=True)))
            except (ValueError, TypeError):
                continue  # a shape that the expression refuses, or a dtype
            (got,) = compute(fgraph, values)
        assert got.dtype == wanted.dtype and got.shape == wanted.shape, (name, dtypes, got.dtype, wanted.dtype)
        if rule.keeps == "exact" or wanted.dtype.kind not in "f":
            np.testing.assert_array_equal(got, wanted, f"{name} {dtypes} {values}")
        elif rule.keeps != "approximate":
            where = np.isfinite(wanted)
            np.testing.assert_allclose(got[where], wanted[where], 1e-4, 1e-4, err_msg=f"{name} {dtypes} {values}")
        compared += 1
    return compared > 0


#: Rules that leave whole numbers alone, or whose case cannot be said in them.
NOT_FOR_THEM = set("""
    cond_lift_zeros crossentropy_to_crossentropy_with_softmax crossentropy_to_crossentropy_with_softmax_with_bias
    gemm_optimizer graph_merge_softmax_with_crossentropy_softmax local_advanced_indexing_crossentropy_onehot
    local_advanced_indexing_crossentropy_onehot_grad
    inline_ofg_expansion inv_as_solve local_inline_checkpoint local_abs_merge local_argmax_pushdown local_ctc_no_grad local_div_to_inv local_dot22_to_dot22scalar
    local_erfc_neg_minus_one local_subtensor_chain
    local_dot_to_dot22 local_dot_to_gemv local_gemm_to_gemv local_gemm_to_ger local_grad_log_erfc_neg local_greedy_distributor local_log1p local_log1p_plus
    local_exp_over_sum_exp local_log_erfc local_log_pow local_log_prod local_log_prod_sqr local_log_sum_exp local_log_sum_exp_shifted local_logsoftmax
    local_log_sum_exp_weighted local_logsoftmax_grad local_logsoftmax_with_bias local_map_rows_at_once local_map_rows_of_equal_rows local_max_to_min local_neg_div_neg
    local_opt_alloc local_power_over_itself local_root_of_power local_sigm_times_exp local_sigm_times_exp_neg local_softmax_grad_to_crossentropy_with_softmax_grad
    local_softmax_grad_over_softmax local_softmax_of_logsumexp local_softmax_of_shifted
    local_softmax_of_unused_crossentropy local_softmax_with_bias local_sum_dot local_sum_prod_div_dimshuffle local_sum_prod_mul_by_scalar local_sumsqr2dot
    local_unroll_map_rows local_upcast_elemwise_constant_inputs
    local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc softmax_simplifier
""".split())


@pytest.mark.parametrize("name", sorted(CASES))
def test_rule_in_whole_numbers(name):
    applied = [held(name, dtypes, 10**6 if SWEEP else 6) for dtypes in SOME_PAIRS]
    assert any(applied) == (name not in NOT_FOR_THEM)


# -- all small expressions ---------------------------------------------------------------------------------------

ONE = {
    "neg": F.neg, "abs": F.abs_, "sqr": F.sqr, "invert": F.invert, "sgn": F.sgn, "cast8": lambda a: F.cast(a, "int8"),
    "cast16": lambda a: F.cast(a, "int16"),
}  # fmt: skip
TWO = {
    "add": F.add, "sub": F.sub, "mul": F.mul, "int_div": F.int_div, "mod": F.mod, "true_div": F.true_div,
    "minimum": F.minimum, "maximum": F.maximum, "eq": F.eq, "neq": F.neq, "lt": F.lt, "le": F.le, "gt": F.gt, "ge": F.ge,
    "and": F.and_, "or": F.or_, "xor": F.xor, "pow": F.pow,
}  # fmt: skip


def chosen(expressions):
    """Return those that are tried: all in the sweep, else a part of every 61st."""
    return expressions if SWEEP else portion(expressions[::61])


def small_expressions(x, y):
    """Return expressions of one or two ops over two vectors and a few numbers, by name: of those of two ops, some."""
    leaves = {"x": x, "y": y, "0": T.constant(0), "1": T.constant(1), "-1": T.constant(-1), "2": T.constant(2)}
    first = built(combined(leaves, leaves))
    # (A quotient is left to the outside: what is not finite inside, rules need not keep.)
    inner = {name: e for name, e in first.items() if not name.startswith("true_div")}
    second = {**combined(inner, leaves), **combined(leaves, inner, unary=False)}
    return {**first, **built(dict(chosen(sorted(second.items()))))}


def combined(left, right, unary=True):
    """Return a function for each expression of one op, which writes it."""
    found = {}
    for (a, u), (b, v_) in itertools.product(left.items(), right.items()):
        for name, op in TWO.items():
            if name != "pow" or isinstance(v_, Constant):
                found[f"{name}({a},{b})"] = lambda op=op, u=u, v_=v_: op(u, v_)
    if unary:
        found |= {f"{name}({a})": lambda op=op, u=u: op(u) for name, op in ONE.items() for a, u in left.items()}
    return found


def built(several):
    """Return the expressions that exist: there is no negative of booleans, and there are no bits of reals."""
    made = {}
    for name, build in several.items():
        try:
            made[name] = build()
        except TypeError:
            continue
    return {name: e for name, e in made.items() if e.type.ndim}


@pytest.mark.parametrize("dtypes", SOME_PAIRS, ids="-".join)
def test_small_expressions_through_all_rules(dtypes):
    x, y = (T.TensorType(dtype, (False,))(name) for dtype, name in zip(dtypes, "xy", strict=True))
    rows = np.array(list(itertools.product(*(DOMAINS[d].tolist() for d in dtypes))))
    values = [rows[:, 0].astype(dtypes[0]), rows[:, 1].astype(dtypes[1])]
    several = list(small_expressions(x, y).items())
    for at in range(0, len(several), 50):
        names, outputs = zip(*several[at : at + 50], strict=True)
        fgraph, report = rewritten([x, y], list(outputs))
        assert report.complete, report
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = run(list(outputs), dict(zip((x, y), values, strict=True)))
            found = compute(fgraph, values)
        for name, a, b in zip(names, wanted, found, strict=True):
            assert a.dtype == b.dtype, (name, dtypes, a.dtype, b.dtype)
            where = np.isfinite(a)
            if a.dtype.kind == "f":
                np.testing.assert_allclose(b[where], a[where], 1e-6, err_msg=f"{name} {dtypes}")
            else:
                np.testing.assert_array_equal(b, a, f"{name} {dtypes}")
