"""Name the public functions and ops of tensors and numbers whose documentation has no example that runs.

    python tools/check_examples.py      print them; exit 1 if there are any

Public is what the packages below show of what is defined in this project: classes of ops, ops, and those functions that
Theano or NumPy documents, or that neural networks are made of. The
examples of functions and classes run with the doctests of the layers; those of ops are derived from their statements,
and run by :func:`run`.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FACTS = Path(__file__).resolve().parents[1] / "docs" / "data" / "names.json"

PACKAGES = (
    "theano.scalar",
    "theano.tensor",
    "theano.tensor.basic",
    "theano.tensor.elemwise",
    "theano.tensor.extra_ops",
    "theano.tensor.fft",
    "theano.tensor.io",
    "theano.tensor.linalg",
    "theano.tensor.nlinalg",
    "theano.tensor.nnet",
    "theano.tensor.slinalg",
    "theano.tensor.sort",
    "theano.tensor.subtensor",
    "theano.tensor.xlogx",
)
#: What needs a machine of several, which an example cannot have.
NEEDS_MORE = {
    "MPIRecv",
    "MPIRecvWait",
    "MPISend",
    "MPISendWait",
    "irecv",
    "isend",
    "mpi_send_wait_key",
    "mpi_tag_key",
    "recv",
    "send",
}


def public() -> Iterator[tuple[str, Any]]:
    """Yield the dotted name of each function and op, and what it is; what has several names has the first one.

    Examples
    --------
    >>> names = dict(public())
    >>> "theano.tensor.exp" in names and "theano.tensor.nlinalg.svd" in names
    True
    """
    from theano.graph import Op

    facts = json.loads(FACTS.read_text(encoding="utf-8")).values()
    documented = {name for version in facts for entries in version.values() for name in entries} | {"unique"}
    seen: set[int] = set()
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in sorted({*dir(module), *getattr(module, "__all__", ())}):
            thing = getattr(module, name)
            op_class = isinstance(thing, type) and issubclass(thing, Op)
            of_numpy = getattr(thing, "__module__", "").startswith("theano.tensor.composed.")
            function = inspect.isfunction(thing) and (
                name in documented or package == "theano.tensor.nnet" or of_numpy
            )
            if name.startswith("_") or not (op_class or function or isinstance(thing, Op)):
                continue
            where = str(getattr(thing, "__module__", "") or type(thing).__module__)
            ours = where.startswith(("theano.tensor", "theano.scalar"))
            if ours and id(thing) not in seen and name not in NEEDS_MORE:
                seen.add(id(thing))
                yield f"{package}.{name}", thing


def documentation(thing: Any) -> str:
    """Return the documentation of something itself; of an op without one, that of its class."""
    return inspect.getdoc(thing) or ""


def without_example() -> list[str]:
    """Return the names of what lacks an example."""
    return [name for name, thing in public() if ">>>" not in documentation(thing)]


def run(thing: Any, name: str) -> str:
    """Run the examples of something that doctest does not find by itself; return what went wrong."""
    # Examples of a class, which its instances have too, name what its module has, as doctest lets them.
    names = dict(vars(sys.modules[type(thing).__module__]))
    test = doctest.DocTestParser().get_doctest(documentation(thing), names, name, None, None)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False).run(test, out=said.append)
    return "".join(said)


def main() -> int:
    """Print the names; return how the process should end."""
    missing = without_example()
    print("\n".join([*missing, f"{len(missing)} of {len(dict(public()))} have no example"]))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
