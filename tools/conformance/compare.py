"""What differs between recorded facts and the Theano that runs this: ``python -m conformance.compare [GROUP ...]``.

A difference has a kind: what is accepted here and refused there (``more``), raised in another class (``class``), refused here
(``raises``), or another dtype, pattern, value or text.
"""

import re
import sys
import warnings

import numpy as np

import theano
from conformance import evaluate

#: How many calls go into one function.
BATCH = 150


def parts(fact):
    """Return the pairs of type and digest of a fact, and the class of its error or None."""
    body, _, error = fact.partition("!") if re.search(r"!\w+$", fact) else (fact, "", "")
    return [
        tuple(piece.split("=", 1)) if "=" in piece else (piece, None) for piece in body.split(";")
    ] if body else [], error or None


def difference(fact, result, values):
    """Return the kind of difference between a fact and what was built and computed here, or None."""
    wanted, error = parts(fact)
    failed = result if isinstance(result, Exception) else values if isinstance(values, Exception) else None
    if error:
        if failed is None:
            return "more"
        return None if error in {c.__name__ for c in type(failed).__mro__[:-2]} or error == "Exception" else "class"
    if isinstance(result, Exception):
        return "raises"
    results = evaluate.flat(result)
    if len(results) != len(wanted):
        return "count"
    kinds = [evaluate.type_of(v) if isinstance(v, theano.Variable) else "" for v in results]
    for kind, (theirs, _) in zip(kinds, wanted):
        if kind[:1] != theirs[:1]:
            return "dtype"
    for kind, (theirs, _) in zip(kinds, wanted):
        if kind != theirs:
            return "pattern"
    if failed is not None:
        return "raises when it runs"
    given = iter(values)
    for v, (_, text) in zip(results, wanted):
        variable = isinstance(v, theano.Variable)
        if not evaluate.same(text, next(given) if variable else v):
            return "value" if variable else "text"
    return None


def compute(outputs, given):
    """Return the values of the variables of each call, or its error: one function, or node by node what remains of failing ones."""
    many = [v for call in outputs for v in call]
    try:
        wanted = [v for v in theano.gof.graph.inputs(many) if v in given]
        f = theano.function(wanted, many, mode="FAST_COMPILE", on_unused_input="ignore")
        values = iter(f(*(given[v] for v in wanted)))
        return [[next(values) for _ in call] for call in outputs]
    except Exception as error:  # whatever a call raises is its answer
        if len(outputs) == 1:
            return [error]
    good = {k: call for k, call in enumerate(outputs) if not isinstance(_performed(call, given), Exception)}
    if not 0 < len(good) < len(outputs):
        return [value for call in outputs for value in compute([call], given)]
    values = iter(compute(list(good.values()), given))
    return [next(values) if k in good else compute([call], given)[0] for k, call in enumerate(outputs)]


def _performed(call, given):
    """Return the error that a call raises when its nodes are computed one by one, or None."""
    values = {}
    try:
        for node in theano.gof.graph.io_toposort(list(given), call):
            cells = [[None] for _ in node.outputs]
            inputs = [given[v] if v in given else values[v] if v in values else _known(v) for v in node.inputs]
            node.op.perform(node, inputs, cells)
            values.update(zip(node.outputs, (cell[0] for cell in cells)))
    except Exception as error:  # whatever a call raises is its answer
        return error
    return None


def _known(v):
    return v.data if isinstance(v, theano.Constant) else v.get_value(borrow=True)


def compare(cases):
    """Yield ``(kind, text, operands, fact, found)`` of each case ``(text, operands, fact, program)`` that differs."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = list(cases)
        for start in range(0, len(cases), BATCH):
            yield from _batch(cases[start : start + BATCH])


def _batch(cases):
    given, built, together = {}, [], []
    for text, operands, fact, program in cases:
        result, values = evaluate.build(text, operands, program)
        given.update(values)
        variables = evaluate.variables_of(result)
        built.append((result, variables))
        if variables and parts(fact)[1] is None:
            together.append(len(built) - 1)
    computed = dict(zip(together, compute([built[k][1] for k in together], given)))
    for k, (case, (result, variables)) in enumerate(zip(cases, built)):
        if variables and k not in computed:
            computed[k] = compute([variables], given)[0]
        kind = difference(case[2], result, computed.get(k, []))
        if kind:
            yield (kind, *case[:3], _said(result, computed.get(k, [])))


def _said(result, values):
    if isinstance(result, Exception):
        return _message(result)
    if isinstance(values, Exception):
        return evaluate.told(result, None) + _message(values)
    return evaluate.told(result, values)


def _message(error):
    return "!%s: %s" % (type(error).__name__, str(error)[:100].replace("\n", " "))


def main(only):
    """Print all differences of some groups or all."""
    from conformance.record import read

    for group, (operands, rows) in read().items():
        if only and group not in only:
            continue
        cases = [
            (text, each, fact, group == "programs")
            for text, facts in rows.items()
            for each, fact in zip(operands, facts)
        ]
        for each in compare(cases):
            print(group, *each, sep="\t", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
