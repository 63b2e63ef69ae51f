"""Write what the original gives: ``python -m conformance.record [GROUP ...]`` under Theano 1.0.5 and Python 3.8."""

import lzma
import sys
import time
from multiprocessing import Pool
from pathlib import Path

from conformance import evaluate
from conformance.calls import calls

FILE = Path(__file__).with_name("theano_1_0_5.txt.xz")


def row(job):
    """Return the facts of a text for all its operands."""
    text, operands, program = job
    return "\t".join(evaluate.evaluate(text, each, program) for each in operands)


def read(file=FILE):
    """Return the recorded facts: ``{group: (operands, {text: [fact, ...]})}``."""
    found = {}
    with lzma.open(str(file), "rt", encoding="utf-8") as recorded:
        lines = recorded.read().split("\n")
    for line in lines:
        if line.startswith("# "):
            group, operands = line[2:].split("\t", 1)
            rows = {}
            found[group] = operands.split("\t"), rows
        elif line:
            text, *facts = line.split("\t")
            rows[text] = facts
    return found


def main(only):
    """Write the facts of all groups, or of some."""
    import theano.sparse  # noqa: F401  (for its calls; tests of tensors read the facts without it)

    lines = []
    old = read() if FILE.exists() else {}
    with Pool(2) as pool:
        for group, texts, operands in calls():
            texts = list(dict.fromkeys(texts))
            lines.append("\t".join(["# " + group, *operands]))
            start = time.time()
            if only and group not in only and group in old:
                lines.extend("\t".join([text, *facts]) for text, facts in old[group][1].items())
                continue
            rows = pool.map(row, [(text, operands, group == "programs") for text in texts], chunksize=4)
            lines.extend(text + "\t" + facts for text, facts in zip(texts, rows))
            print(group, len(texts) * len(operands), "%.0f s" % (time.time() - start), flush=True)
    with lzma.open(str(FILE), "wt", encoding="utf-8", preset=9) as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
