"""The broadcast patterns of results, as text: the calls of `theano_patterns.json` evaluated by the Theano that runs this.

``python patterns.py`` under Theano 1.0.5 and Python 3.8 writes the recorded patterns anew (the flag ``cxx=`` will do).
"""

import itertools
import json
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np

import theano
import theano.tensor as T

FILE = Path(__file__).with_name("theano_patterns.json")
LETTERS = {"?": "bool", "b": "int8", "w": "int16", "i": "int32", "l": "int64", "B": "uint8", "f": "float32", "d": "float64",
           "z": "complex128"}  # fmt: skip
MODULES = """compile.ops gradient ifelse printing sandbox.rng_mrg scalar tensor.blas tensor.extra_ops tensor.fft tensor.nlinalg
    tensor.nnet.abstract_conv tensor.nnet.bn tensor.nnet.conv tensor.nnet.conv3d2d tensor.nnet.corr tensor.nnet.corr3d
    tensor.nnet.neighbours tensor.opt tensor.shared_randomstreams tensor.signal.conv tensor.signal.pool tensor.slinalg"""
for name in MODULES.split():
    import_module("theano." + name)


def variable(text):
    """Return a variable of the dtype and pattern that a text such as ``d01`` says."""
    return T.TensorType(LETTERS[text[0]], [c == "1" for c in text[1:]])()


def names():
    """Return what the texts call by short names: kinds of entries of an index."""
    return {
        "np": np, "theano": theano, "T": T, "i": T.iscalar(), "k": T.lscalar(), "s": T.scalar(dtype="int8"),
        "u": T.scalar(dtype="uint8"), "v": T.ivector(), "v1": variable("l1"), "uv": T.vector(dtype="uint16"), "m": T.imatrix(),
        "mk": T.vector(dtype="bool"), "mk2": T.matrix(dtype="bool"), "n0": np.array(1), "ni": np.int32(1),
        "nu": np.array(1, "uint8"), "sc": theano.scalar.int64(), "suc": theano.scalar.uint8(), "si": theano.shared(np.int64(1)),
    }  # fmt: skip


def pattern(result, first):
    """Return the pattern of a result as recorded: ``=`` that of the first operand, ``s`` that of a number."""
    if isinstance(result, (tuple, list)):
        return ",".join(_flags(r) or "s" for r in _flat(result))
    found = _flags(result)
    return "=" if found and found == first else found or "s"


def _flat(result):
    return [result] if not isinstance(result, (tuple, list)) else itertools.chain(*map(_flat, result))


def _flags(v):
    return "".join("01"[bool(b)] for b in v.type.broadcastable)


def evaluate(text, group, operands):
    """Return the patterns of a call, or of an index, for some operands: ``-`` where it raises."""
    code = compile(f"a[{text}]" if group == "index" else text, text, "eval")
    found = []
    for each in operands:
        short = names()
        if group != "index":
            short.update(v=T.dvector())
        short.update(zip("ab", map(variable, each.split())))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(pattern(eval(code, short), each.split()[0][1:]))
        except Exception:
            found.append("-")
    return found


def recorded():
    """Yield the text of each call, its group, its operands and their patterns."""
    data = json.loads(FILE.read_text())
    for group, row, texts in data["facts"]:
        for text in texts:
            yield text, group, data["operands"][group].split(" | "), row.split(" ")


def record():
    """Write the patterns of the Theano that runs this."""
    rows = {}
    for text, group, operands, _ in recorded():
        rows.setdefault((group, " ".join(evaluate(text, group, operands))), []).append(text)
    operands = json.loads(FILE.read_text())["operands"]
    lines = [",\n".join(f' "{group}": {json.dumps(texts)}' for group, texts in operands.items()), '}, "facts": [']
    known = sorted((key, texts) for key, texts in rows.items() if set(key[1]) != set("- "))
    lines.append(",\n".join(json.dumps([*key, sorted(texts)]) for key, texts in known))
    FILE.write_text("\n".join(['{"operands": {', *lines, "]}\n"]))


if __name__ == "__main__":
    record()
