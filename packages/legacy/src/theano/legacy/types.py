"""Small classes and functions of types, checks and printing that only older programs ask for."""

from __future__ import annotations

import importlib.util
import json
import linecache
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from theano.errors import DebugModeError
from theano.graph.cdata_type import CDataType
from theano.graph.op import Op
from theano.graph.type import Type
from theano.graph.variable import Constant, Variable


class SingletonType(Type):
    """A singleton type: every call returns the same instance.

    Examples
    --------
    >>> class Ticket(SingletonType):
    ...     def filter(self, value, strict=False, allow_downcast=None):
    ...         return value
    >>> Ticket() is Ticket()
    True
    """

    __props__ = ()
    _instance: ClassVar[Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Return the instance of this class."""
        if "_instance" not in vars(cls):
            cls._instance = super().__new__(cls)
        made: Self = cls._instance
        return made

    def __str__(self) -> str:
        return type(self).__name__


class _IsPointer(type):
    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, Constant) and isinstance(thing.type, CDataType)


class CDataTypeConstant(metaclass=_IsPointer):
    """The class of constants that are pointers, for ``isinstance``.

    Examples
    --------
    >>> from theano.graph import Constant, generic
    >>> isinstance(Constant(generic, 3), CDataTypeConstant)
    False
    """


#: Programs append the ``make_thunk`` of their ops, so that DebugMode compares these in C and in Python. Here it runs a
#: thunk of an op's own as it is in either case.
default_make_thunk: list[Callable[..., Any]] = [Op.make_thunk]


class DataDestroyed(DebugModeError):
    """An array was read after a node had overwritten it; `BadDestroyMap` is what DebugMode raises."""


class NoDuplicateOptWarningFilter(logging.Filter):
    """Lets one message about a failed rewriter through, and none of those that are like it.

    Examples
    --------
    >>> import logging
    >>> once = NoDuplicateOptWarningFilter()
    >>> record = logging.makeLogRecord({"msg": "Optimization Warning: rule"})
    >>> once.filter(record), once.filter(record)
    (True, False)
    """

    def __init__(self) -> None:
        super().__init__()
        self.prev_msgs: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a message is new, or not about a rewriter."""
        said = record.getMessage()
        if not said.startswith("Optimization Warning: "):
            return True
        new = said not in self.prev_msgs
        self.prev_msgs.add(said)
        return new


def char_from_number(number: int) -> str:
    """Return a number in capital letters, to the base of 26.

    Examples
    --------
    >>> char_from_number(0), char_from_number(25), char_from_number(26)
    ('A', 'Z', 'BA')
    """
    number, last = divmod(number, 26)
    return (char_from_number(number) if number else "") + chr(ord("A") + last)


def check_eq(var: Variable, val1: Any, val2: Any) -> bool:
    """Return whether two values of a variable are equal, as far as its type wants it.

    Examples
    --------
    >>> from theano.graph import generic
    >>> check_eq(generic(), 1, 1)
    True
    """
    own = getattr(var.tag, "values_eq_approx", None)
    return bool((own or var.type.values_eq_approx)(val1, val2))


def maybe_add_to_os_environ_pathlist(var: str, newpath: str) -> None:
    """Put a folder first in a variable of the environment that lists folders.

    Parameters
    ----------
    var : str
    newpath : str
        An absolute path; nothing is done with others, nor with one that is there.

    Examples
    --------
    >>> import os
    >>> maybe_add_to_os_environ_pathlist("SOME_FOLDERS", os.sep)
    >>> os.environ.pop("SOME_FOLDERS") == os.sep
    True
    """
    known = [path for path in os.environ.get(var, "").split(os.pathsep) if path]
    if os.path.isabs(newpath) and newpath not in known:
        os.environ[var] = os.pathsep.join([newpath, *known])


# -- pictures ----------------------------------------------------------------------------------------------------

_PATTERNS = {
    (): "scalar",
    (False,): "vector",
    (False, True): "col",
    (True, False): "row",
    (False, False): "matrix",
}  # fmt: skip
_LETTERS = {
    "complex64": "c", "complex128": "z", "float32": "f", "float64": "d", "int8": "b", "int16": "w", "int32": "i",
    "int64": "l",
}  # fmt: skip


def broadcastable_to_str(b: tuple[bool, ...]) -> str:
    """Return the name of a broadcast pattern; nothing if it has none.

    Examples
    --------
    >>> broadcastable_to_str((True, False)), broadcastable_to_str((True, True))
    ('row', '')
    """
    return _PATTERNS.get(tuple(b), "")


def dtype_to_char(dtype: str) -> str:
    """Return the letter of a dtype; X if it has none.

    Examples
    --------
    >>> dtype_to_char("float64"), dtype_to_char("uint8")
    ('d', 'X')
    """
    return _LETTERS.get(dtype, "X")


def type_to_str(t: Any) -> str:
    """Return a short name of a type: of arrays as constructors have it, or the dtype.

    Examples
    --------
    >>> from theano.graph import generic
    >>> type_to_str(generic) == str(generic)
    True
    """
    if not hasattr(t, "broadcastable"):
        return str(t)
    name = broadcastable_to_str(t.broadcastable)
    return dtype_to_char(t.dtype) + name if name else str(t.dtype)


def var_label(var: Variable, precision: int = 3) -> str:
    """Return the name of a variable, the value of a constant, or its type.

    Examples
    --------
    >>> from theano.graph import Constant, generic
    >>> var_label(generic("x")), var_label(Constant(generic, 3))
    ('x', '3')
    """
    if var.name is not None:
        return var.name
    if not isinstance(var, Constant):
        return type_to_str(var.type)
    shown = getattr(var.data, "round", lambda digits: var.data)(precision)
    return str(shown).partition("\n")[0]


def var_tag(var: Variable) -> list[Any] | None:
    """Return the file, the number and the text of the line that made a variable, if that is known.

    Examples
    --------
    >>> from theano.graph import generic
    >>> var_tag(generic("x")) is None or len(var_tag(generic("x")))
    3
    """
    trace = getattr(var.tag, "trace", None)
    if not trace or not trace[0]:
        return None
    path, number, *_ = trace[0][-1] if isinstance(trace[0][0], (tuple, list)) else trace[0]
    return [os.path.basename(path).strip("<>"), number, linecache.getline(path, number).strip().encode()]


def apply_label(node: Any) -> str:
    """Return the name of the class of a node's op.

    Examples
    --------
    >>> import theano
    >>> apply_label(theano.compile.view_op(theano.generic("x")).owner)
    'ViewOp'
    """
    return type(node.op).__name__


def apply_profile(node: Any, profile: Any) -> list[float] | None:
    """Return how many seconds a node and its function took; nothing without a profile of calls.

    Examples
    --------
    >>> apply_profile(None, None)
    """
    if not profile or not profile.fct_call_time:
        return None
    return [profile.apply_time.get(node, 0), profile.fct_call_time]


def replace_patterns(x: str, replace: Mapping[Any, Any]) -> str:
    """Return a text in which each key is replaced by its value.

    Examples
    --------
    >>> replace_patterns("x + y", {"x": 1, "y": 2})
    '1 + 2'
    """
    for old, new in replace.items():
        x = x.replace(str(old), str(new))
    return x


def safe_json(obj: Any) -> str:
    r"""Return an object as JSON that may stand in a page.

    Examples
    --------
    >>> safe_json("<b>")
    '"\\u003cb>"'
    """
    return json.dumps(obj).replace("<", "\\u003c")


#: Whether graphs can be drawn.
pydot_imported = importlib.util.find_spec("pydot") is not None


def dict_to_pdnode(d: Mapping[str, Any]) -> Any:
    """Return a node of pydot with some attributes; lists become texts with tabs between.

    Raises
    ------
    ImportError
        pydot is not installed.
    """
    import pydot  # optional

    texts = {key: "\t".join(map(str, v)) if isinstance(v, list) else str(v) for key, v in d.items() if v is not None}
    attributes: Any = {key: text.replace('"', "'") for key, text in texts.items()}
    return pydot.Node(**attributes)


def __getattr__(name: str) -> Any:
    """Return pydot's class of nodes, which ``theano.printing`` had among its names; None where pydot is missing."""
    if name != "Node":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not pydot_imported:
        return None
    import pydot  # optional

    return pydot.Node
