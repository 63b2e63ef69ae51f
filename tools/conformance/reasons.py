"""Why a call gives something else here than in Theano 1.0.5: ``reasons.toml``, and which differences each reason explains.

``python -m conformance.reasons`` lists the differences without a reason, and with ``--write`` how many each reason explains,
for the page of differences.
"""

import json
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

from conformance import compare

HERE = Path(__file__).parent
COUNTS = HERE.parent.parent / "docs" / "data" / "conformance.json"
#: What a reason may ask of a difference, beside its kind: regular expressions that are searched.
FIELDS = ("group", "text", "operands", "fact", "found")


@cache
def reasons():
    """Return the reasons in order: ``(sentence, kinds, ((field number, pattern), ...))``."""
    table = tomllib.loads((HERE / "reasons.toml").read_text(encoding="utf-8"))["reason"]
    unknown = {name for each in table for name in each} - {"kinds", "because", *FIELDS}
    if unknown:
        raise ValueError(f"reasons.toml: no such field: {', '.join(sorted(unknown))}")
    return [
        (
            each["because"],
            each["kinds"].split(", "),
            tuple((FIELDS.index(name), re.compile(each[name])) for name in FIELDS if name in each),
        )
        for each in table
    ]


def reason(group, kind, text, operands, fact, found):
    """Return the first reason that explains a difference, or None."""
    fields = (group, text, operands, fact, found)
    for because, kinds, patterns in reasons():
        if kind in kinds and all(pattern.search(fields[k]) for k, pattern in patterns):
            return because
    return None


@cache
def texts(of_sparse=None):
    """Return all texts of calls, or those of theano.sparse, or the others, with their cases.

    Each is ``(group, [(text, operands, fact, program), ...])``.
    """
    from conformance.record import read

    return [
        (group, [(text, each, fact, group == "programs") for each, fact in zip(operands, facts, strict=True)])
        for group, (operands, rows) in read().items()
        if of_sparse in (None, group.startswith("sparse"))
        for text, facts in rows.items()
    ]


def explained(chosen):
    """Yield the differences of chosen texts, each with its reason or None: ``(reason, group, kind, text, ...)``."""
    for group in dict.fromkeys(group for group, _ in chosen):
        cases = [case for each, cases in chosen if each == group for case in cases]
        for difference in compare.compare(cases):
            yield reason(group, *difference), group, *difference


def without_reason(chosen):
    """Return the differences of chosen texts without a reason, one a line, and what to do about them; else ``""``."""
    unknown = ["  ".join(difference) for because, *difference in explained(chosen) if because is None]
    return "\n".join(["mend these, or say why in tools/conformance/reasons.toml:", *unknown]) if unknown else ""


def main(write):
    """Print the differences without a reason; write how many each reason explains."""
    import theano.sparse  # noqa: F401  (for its calls)

    counts = dict.fromkeys((because for because, _, _ in reasons()), 0)
    for because, *difference in explained(texts()):
        if because is None:
            print(*difference, sep="\t", flush=True)
        else:
            counts[because] += 1
    calls = sum(len(cases) for _, cases in texts())
    print(f"{calls} calls, {sum(counts.values())} differences with a reason", file=sys.stderr)
    if write:
        COUNTS.write_text(json.dumps({"calls": calls, "reasons": counts}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main("--write" in sys.argv)
