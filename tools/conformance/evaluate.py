"""What a call gives, as text: its type, and a digest of its value, or the class of an error.

This runs under Theano 1.0.5 with Python 3.8 and under ours.
"""

import itertools
import math
import re
import warnings
from importlib import import_module

import numpy as np
import scipy.sparse

import theano
import theano.tensor as T
from conformance import programs
from conformance.calls import LETTERS

MODULES = """compile.ops gradient ifelse printing sandbox.rng_mrg scalar tensor.blas tensor.extra_ops tensor.fft tensor.nlinalg
    tensor.nnet.abstract_conv tensor.nnet.bn tensor.nnet.conv tensor.nnet.conv3d2d tensor.nnet.corr tensor.nnet.corr3d tensor.sort
    tensor.nnet.neighbours tensor.opt tensor.shared_randomstreams tensor.signal.conv tensor.signal.pool tensor.slinalg"""
for _name in MODULES.split():
    import_module("theano." + _name)

LETTER_OF = {name: letter for letter, name in LETTERS.items()}
#: What the texts call by short names, beside operands: their values where a function is called.
INPUTS = {
    "i": ("i", 1), "n": ("l", 2), "v": ("l0", [1, 0, 2]), "m": ("i00", [[0, 1], [2, 0]]), "mk": ("?0", [True, False, True]),
    "x": ("d", 0.5), "y": ("d", 2.0), "z": ("d", -1.5), "k": ("l", 1), "s": ("b", 1), "u": ("B", 1), "v1": ("l1", [1]), "uv": ("u0", [0, 1]),
    "mk2": ("?00", [[True, False, True], [False, True, True], [True, True, False]]),
}  # fmt: skip
OF_PROGRAMS = {
    "v": ("d0", [0.5, 1.5, 2.0]), "w": ("d0", [2.0, -1.0, 0.25]), "m": ("d00", [[1.0, 2.0], [3.0, 5.0]]), "iv": ("i0", [1, 2, 3]),
    "fv": ("f0", [0.5, 1.0, 2.0]), "col": ("d01", [[1.0], [2.0]]),
}  # fmt: skip


def value_of(kind, position=0):
    """Return the value that an operand of a kind has: small numbers of both signs, which differ by place."""
    shape = [3 if c == "0" else int(c) for c in kind[1:]]
    k = np.arange(int(np.prod(shape, dtype=int)))
    numbers = ((k * 7 + position * 5 + k // 11) % 11 - 4.0).reshape(shape)
    letter = kind[0]
    if letter in "BuUL":
        numbers = np.abs(numbers)
    elif letter == "?":
        numbers = numbers % 2
    elif letter in "efdcz":
        numbers = numbers / 2 + 0.25
    if letter in "cz":
        numbers = numbers + 1j * ((k * 3 + position) % 5 - 2.0).reshape(shape)
    return np.asarray(numbers, LETTERS[letter])


def operand(kind, position):
    """Return what an operand is, and the value to call a function with, or None."""
    sign = kind[0]
    if sign == "!":
        return eval(kind[1:], {}), None
    if sign in "%&":
        form = {"%": "csr", "&": "csc"}[sign]
        value = value_of(kind[1:], position)
        value.ravel()[1::3] = 0
        v = theano.sparse.SparseType(form, LETTERS[kind[1]])("ab"[position])
        return v, getattr(scipy.sparse, form + "_matrix")(value)
    if sign not in "$=#~":
        return T.TensorType(LETTERS[sign], [c == "1" for c in kind[1:]])("ab"[position]), value_of(kind, position)
    value = value_of(kind[1:], position)
    if sign == "$":
        return theano.shared(value, broadcastable=[c == "1" for c in kind[2:]]), None
    if sign == "=":
        return T.TensorConstant(T.TensorType(LETTERS[kind[1]], [c == "1" for c in kind[2:]]), value), None
    return value if sign == "#" else value[()], None


def named(operands, program):
    """Return what names mean in a text, and the values of those that are inputs."""
    names = {
        "np": np,
        "theano": theano,
        "T": T,
        "si": theano.shared(np.int64(1)),
        "sh": theano.shared(np.ones(3)),
        "MRG": _mrg,
        "RS": _streams,
        "n0": np.array(1),
        "nu": np.array(1, "uint8"),
        "ni": np.int32(1),
        "suc": theano.scalar.uint8(),
        "S": getattr(theano, "sparse", None),
    }
    given = {}
    for name, (kind, value) in dict(INPUTS, **(OF_PROGRAMS if program else {})).items():
        names[name] = T.TensorType(LETTERS[kind[0]], [c == "1" for c in kind[1:]])(name)
        given[names[name]] = np.asarray(value, LETTERS[kind[0]])
    names["sc"] = theano.tensor.scalar_from_tensor(names["n"])
    for position, kind in enumerate(operands.split(" ") if operands else ()):
        names["ab"[position]], value = operand(kind, position)
        if value is not None:
            given[names["ab"[position]]] = value
    names.update((name, getattr(programs, name)) for name in ("function", "state", "default", "restored", "as_op"))
    return names, given


def _mrg(seed):
    return theano.sandbox.rng_mrg.MRG_RandomStreams(seed)


def _streams(seed):
    return theano.tensor.shared_randomstreams.RandomStreams(seed)


def build(text, operands, program=False):
    """Return what a text gives, and the values of inputs; an error is a result."""
    given = {}
    try:
        names, given = named(operands, program)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = eval(compile(text, "call", "eval"), names)
    except Exception as error:  # whatever the call raises is its answer
        return error, given
    for v in theano.gof.graph.inputs(variables_of(result)):
        if isinstance(v.type, T.TensorType) and not isinstance(v, (theano.Constant, theano.compile.SharedVariable)):
            given.setdefault(v, value_of(type_of(v), 1))  # one that the text itself has made
    return result, given


def flat(result):
    """Return the variables and values that a result holds, in order."""
    if isinstance(result, dict):
        result = [result[key] for key in sorted(result, key=str)]
    if isinstance(result, (list, tuple)):
        return list(itertools.chain.from_iterable(map(flat, result)))
    return [result]


def type_of(v):
    """Return a type as text: ``d01``."""
    kind = v.type
    if isinstance(kind, T.TensorType):
        return LETTER_OF.get(kind.dtype, kind.dtype) + "".join("01"[bool(b)] for b in kind.broadcastable)
    if hasattr(kind, "format"):
        return "%s:%s" % (LETTER_OF[kind.dtype], kind.format)
    return "<%s>" % type(kind).__name__


def weights(n):
    """Return a weight for each of n elements, so that their order counts in a sum."""
    return 1 + (np.arange(n) * 0.6180339887498949) % 1


def digest(value):
    """Return a value as text: its shape, a weighted sum of its finite elements to 7 digits, and how many others it has."""
    value = dense(value)
    if not isinstance(value, (np.ndarray, np.generic, float, complex)) or getattr(value, "dtype", None) == np.dtype(object):
        return _text(value)
    value = np.asarray(value)
    if value.dtype.kind not in "biufc?":
        return str(value)
    return ".".join(map(str, value.shape)) + ":" + _sum(value)[0]


def dense(value):
    """Return a value, a sparse matrix as an array."""
    return value.toarray() if scipy.sparse.issparse(value) else value


def _text(value):
    if isinstance(value, np.ndarray):
        return "objects"
    return re.sub(r" at 0x[0-9a-f]+|<class '|'>|(?<=[0-9])L\b", "", str(value)).replace("\n", " ")[:60]


def _sum(value):
    numbers = value.ravel()
    if numbers.dtype.kind == "c":
        numbers = np.concatenate([numbers.real, numbers.imag])
    numbers = numbers.astype("float64")
    finite = np.isfinite(numbers)
    parts = np.where(finite, numbers, 0) * weights(len(numbers))
    others = "".join(
        "%s%d" % (sign, count)
        for sign, count in (
            ("n", np.isnan(numbers).sum()),
            ("p", np.isposinf(numbers).sum()),
            ("m", np.isneginf(numbers).sum()),
        )
        if count
    )
    return "%.7g" % parts.sum() + others, float(np.abs(parts).sum())


def same(recorded, value):
    """Return whether a value has a recorded digest, as far as its dtype tells."""
    found = digest(value)
    if found == recorded:
        return True
    parts = re.fullmatch(r"([0-9.]*):(-?[0-9.e+-]+)([npm0-9]*)", recorded)
    ours = re.fullmatch(r"([0-9.]*):(-?[0-9.e+-]+)([npm0-9]*)", found)
    if not parts or not ours or parts.group(1, 3) != ours.group(1, 3):
        return False
    value = np.asarray(dense(value))
    eps = {"e": 4e-3, "f": 2e-5, "F": 2e-5}.get(value.dtype.char, 2e-6 if value.dtype.kind in "fc" else 1e-6)
    size = _sum(value)[1]
    return abs(float(parts.group(2)) - float(ours.group(2))) <= eps * max(size, 1e-12) or math.isinf(size)


def computed(outputs, given):
    """Return the values of variables, without rewriting."""
    wanted = {}
    for v in outputs:
        wanted.update((i, given[i]) for i in theano.gof.graph.inputs([v]) if i in given)
    f = theano.function(list(wanted), list(outputs), mode=theano.Mode("py", None), on_unused_input="ignore")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f(*wanted.values())


def variables_of(result):
    """Return the variables that a result holds, in order."""
    return [v for v in flat(result) if isinstance(v, theano.Variable)]


def told(result, values):
    """Return a result as recorded: ``type=digest`` for each part; the types alone of variables without values (None)."""
    given = iter(values or ())
    parts = []
    for v in flat(result):
        if not isinstance(v, theano.Variable):
            parts.append("=" + digest(v))
        else:
            parts.append(type_of(v) if values is None else type_of(v) + "=" + digest(next(given)))
    return ";".join(parts)


def evaluate(text, operands, program=False):
    """Return what a call gives, as recorded: ``type=digest`` for each result, ``!Class`` for errors."""
    result, given = build(text, operands, program)
    if isinstance(result, Exception):
        return "!" + type(result).__name__
    variables = variables_of(result)
    try:
        values = computed(variables, given) if variables else []
    except Exception as error:  # whatever the call raises is its answer
        return told(result, None) + "!" + type(error).__name__
    return told(result, values)
