"""Short texts that say what a variable is: for error messages and for comparing runs."""

from __future__ import annotations

from typing import Any

from theano.graph.apply import Apply
from theano.graph.text import printable
from theano.graph.variable import Variable
from theano.printing.tree import LAST_LEVELS, MOST_LEVELS, letters


def min_informative_str(
    obj: Variable, indent_level: int = 0, _prev_obs: dict[Any, str] | None = None, _tag_generator: Any = None
) -> str:
    """Return a tree that goes down to what has a name, and no further.

    In a graph that several users' code has put together, that is where one's own part ends. Deep levels are indented
    as :func:`debugprint` does it.

    Parameters
    ----------
    obj : Variable or object
    indent_level : int
        How far to the right the tree begins.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> class Not(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> print(min_informative_str(Not()(Not()(generic("x")))))
    A. Not
     B. Not
      C. x
    """
    seen = {} if _prev_obs is None else _prev_obs
    tags = iter(map(letters, range(10**9))) if _tag_generator is None else _tag_generator
    lines: list[str] = []
    stack = [(obj, indent_level)]
    while stack:
        thing, level = stack.pop()
        indent = " " * level
        if level > MOST_LEVELS:
            indent = f"[+{level - LAST_LEVELS}]" + " " * LAST_LEVELS
        if thing in seen:
            lines.append(f"{indent}<{seen[thing]}>")
            continue
        tag = seen[thing] = next(tags)
        name, inputs = _name(thing)
        lines.append(f"{indent}{tag}. {name}")
        stack.extend((v, level + 1) for v in reversed(inputs))
    return printable("\n".join(lines))


def _name(thing: Any) -> tuple[str, list[Variable]]:
    """Return what to call ``thing``, and what it is made of if it has no name of its own."""
    name = getattr(thing, "name", None)
    if name is not None:
        return str(name), []
    owner = thing if isinstance(thing, Apply) else getattr(thing, "owner", None)
    if owner is not None:
        return str(owner.op), owner.inputs
    return str(thing), []


def var_descriptor(obj: Variable, _prev_obs: dict[Any, str] | None = None, _tag_generator: Any = None) -> str:
    """Return one (long) line that is the same for the same graph in each run of a program.

    Examples
    --------
    >>> from theano.graph import generic
    >>> var_descriptor(generic("x"))
    'A=x'
    """
    seen = {} if _prev_obs is None else _prev_obs
    tags = iter(map(letters, range(10**9))) if _tag_generator is None else _tag_generator
    parts: list[str] = []
    stack: list[Any] = [obj]
    while stack:
        thing = stack.pop()
        if isinstance(thing, _Literally):
            parts.append(thing)
            continue
        key: Any = thing if isinstance(thing, Variable) else id(thing)
        if key in seen:
            parts.append(f"<{seen[key]}>")
            continue
        tag = seen[key] = next(tags)
        if hasattr(thing, "__array__") and not isinstance(thing, Variable):
            parts.append(f"{tag}=<ndarray:strides=[{','.join(map(str, thing.strides))}],digest={hex_digest(thing)}>")
            continue
        name, inputs = _name(thing)
        if not inputs:
            parts.append(f"{tag}={position_independent_str(thing) if name.startswith('<') else name}")
            continue
        pieces: list[Any] = [_Literally(f"{tag}={name}(")]
        for v in inputs:
            pieces += [v, _Literally(",")]
        pieces[-1] = _Literally(")")
        stack.extend(reversed(pieces))
    return printable("".join(parts))


class _Literally(str):
    """Text among things to describe."""


def position_independent_str(obj: Any) -> str:
    """Return a text of a variable without a name that does not depend on its address."""
    return f"theano_var{{type={obj.type}}}" if isinstance(obj, Variable) else str(obj)


def hex_digest(x: Any) -> str:
    """Return a text that tells two arrays apart: a hash of the numbers, the strides and the shape.

    Parameters
    ----------
    x : numpy.ndarray
    """
    import hashlib  # OpenSSL, which takes longer than all else that is imported here

    data = hashlib.sha256(x.tobytes()).hexdigest()
    return f"{data}|strides=[{','.join(map(str, x.strides))}]|shape=[{','.join(map(str, x.shape))}]"
