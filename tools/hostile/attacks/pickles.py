"""Pickles of functions, graphs and shared variables, some of their bytes changed.

Reading one ends in an exception, or in something that is what it says: a function that prints like the original answers
like it. (A pickle is a program; only damage is tried here, nothing made to do harm.)
"""

from __future__ import annotations

import io
import math
import pickle
import warnings

import numpy as np

import theano
import theano.tensor as T
from hostile import samples
from hostile.attacks.memory import limited
from hostile.finding import Finding, expect

PACKAGES = {"theano", "numpy", "builtins", "collections", "copyreg", "hostile", "_codecs"}
BUILTINS = {"getattr", "set", "frozenset", "list", "dict", "slice", "object", "complex"}
SIZE_LIMIT = 4 << 30  # bytes of address space beyond what is used: a damaged length must not take all there is


def attack(rng: np.random.Generator) -> Finding | None:
    """Damage a pickle several times."""
    name = samples.chosen(rng, 1)[0]
    x = samples.numbers(rng)
    f = samples.compiled(name)
    what = [f, f.maker.fgraph.outputs[0], theano.shared(x, "s"), [f, f.copy()], T.dmatrix("m") * 2][rng.integers(5)]
    with warnings.catch_warnings(), np.errstate(all="ignore"), limited(SIZE_LIMIT):
        warnings.simplefilter("ignore")
        data = pickle.dumps(what, protocol=int(rng.integers(2, 6)))
        same(what, pickle.loads(data), x, "unharmed")
        for _ in range(20):
            _try(damaged(data, rng), what, x)
    return None


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Return bytes with something cut, flipped, doubled or overwritten."""
    changed = bytearray(data)
    how, at = int(rng.integers(5)), int(rng.integers(len(data)))
    if how == 0:
        return bytes(changed[:at])
    if how == 1:
        changed[at] ^= 1 << int(rng.integers(8))
    elif how == 2:
        changed[at : at + int(rng.integers(1, 9))] = rng.bytes(int(rng.integers(0, 9)))
    elif how == 3:
        length = int(rng.integers(1, 40))
        changed[at:at] = changed[at : at + length]
    else:
        for k in rng.integers(0, len(data), 5):
            changed[k] = int(rng.integers(256))
    return bytes(changed)


class Careful(pickle._Unpickler):  # type: ignore[name-defined, misc]
    """Reads nothing but what Theano's own pickles name: damage could name something of Python's that does harm.

    The reader in C ends the process at some bytes, which is Python's fault and not the question.
    """

    def find_class(self, module: str, name: str) -> object:
        """Return what a pickle names."""
        allowed = BUILTINS if module == "builtins" else None
        if module.partition(".")[0] not in PACKAGES or (allowed is not None and name not in allowed):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return super().find_class(module, name)

    def load_build(self) -> None:
        """Give an object its state; NumPy's own only what they can be: at others they end the process."""
        state, thing = self.stack[-1], self.stack[-2]
        if isinstance(thing, np.dtype | np.ndarray) and not plain_state(thing, state):
            raise pickle.UnpicklingError("a state that no array has")
        super().load_build()

    dispatch = {**pickle._Unpickler.dispatch, pickle.BUILD[0]: load_build}  # type: ignore[attr-defined]


def plain_state(thing: object, state: object) -> bool:
    """Tell whether NumPy can have written the state of an array or a dtype of numbers."""
    if isinstance(thing, np.dtype):
        # Dates have more: without it NumPy reads memory that is not there.
        return thing.kind in "biufc" and state in [(3, order, None, None, None, -1, -1, 0) for order in "<>|"]
    kinds = (int, tuple, np.dtype, bool, bytes)
    if not isinstance(state, tuple) or len(state) != 5 or not all(map(isinstance, state, kinds)):
        return False
    _, shape, dtype, _, data = state
    return all(type(n) is int and 0 <= n < 2**20 for n in shape) and len(data) == math.prod(shape) * dtype.itemsize


def _try(data: bytes, what: object, x: np.ndarray) -> None:
    try:
        found = Careful(io.BytesIO(data)).load()
        if type(found) is not type(what):
            return
        text, other = theano.printing.debugprint(what, file="str"), theano.printing.debugprint(found, file="str")
    except Exception:  # noqa: BLE001  (whatever pickle says to bytes that are none of its own)
        return
    if text == other:
        same(what, found, x, "damaged")


def same(what: object, found: object, x: np.ndarray, state: str) -> None:
    """See that a function that was read answers as the one that was written."""
    pairs = zip(what, found, strict=False) if isinstance(what, list) else [(what, found)]
    for one, other in pairs:
        if not isinstance(one, type(samples.compiled("affine"))):
            continue
        try:
            answer = np.asarray(other(x))
        except Exception as error:  # noqa: BLE001  (the class is the question)
            expect(state == "damaged", "a pickled function fails", repr(error))
            continue
        expect(samples.same(answer, np.asarray(one(x))), f"a {state} pickle is another function", f"{answer!r}")
