"""What a flag may hold: one class per kind of value, each turning a text or an object into a checked value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.errors import FlagValueError

Filter = Callable[[Any], Any]


class ConfigParam:
    """A flag with any value, or with the values that a function lets through.

    Parameters
    ----------
    default : object
        The value at the start; a callable without arguments is called at the first reading.
    filter : callable, optional
        Gets a candidate and returns the value to keep; raises ValueError or TypeError to refuse it.
    allow_override : bool
        Whether programs may assign it. False: only THEANO_FLAGS and the rc file can set it.

    Examples
    --------
    >>> percent = ConfigParam("50", filter=int)
    >>> percent.convert("70")
    70
    """

    __slots__ = ("choices", "default", "doc", "filter", "inert", "mutable", "name")

    def __init__(self, default: object, filter: Filter | None = None, allow_override: bool = True):
        self.default = default
        self.filter = filter
        self.mutable = allow_override
        self.name = ""
        self.doc = ""
        self.inert = ""
        self.choices: tuple[str, ...] = ()

    def accepts(self) -> str:
        """Say in words which values are taken."""
        return "a value of its own kind" if self.filter else "any value"

    def convert(self, value: object, origin: str = "") -> Any:
        """Return the checked value, or raise FlagValueError naming the flag and its choices.

        Parameters
        ----------
        value : object
            A text from the environment or the rc file, or what a program assigns.
        origin : str
            Where the value comes from, for the message.
        """
        try:
            return self._checked(value)
        except FlagValueError:
            raise
        except (ValueError, TypeError, OverflowError) as error:
            reason = str(error) if self.filter else ""  # int() and float() only repeat the value
            raise FlagValueError(self.name, value, self.accepts(), origin, self.choices, reason) from None

    def _checked(self, value: object) -> Any:
        return self.filter(value) if self.filter else value


class TypedParam(ConfigParam):
    """A flag whose value is made by a type.

    Parameters
    ----------
    default : object
        As for `ConfigParam`.
    mytype : callable
        Makes the value: ``int``, ``float``, ``str``, ...
    is_valid : callable, optional
        Tells whether a made value is allowed.
    allow_override : bool
        As for `ConfigParam`.

    Examples
    --------
    >>> TypedParam(1, int, is_valid=lambda v: v > 0).convert("12")
    12
    """

    __slots__ = ("is_valid", "make")

    def __init__(
        self,
        default: object,
        mytype: Filter,
        is_valid: Callable[[Any], bool] | None = None,
        allow_override: bool = True,
    ):
        super().__init__(default, allow_override=allow_override)
        self.make = mytype
        self.is_valid = is_valid

    def accepts(self) -> str:
        """Say in words which values are taken."""
        return _WORDS.get(self.make, getattr(self.make, "__name__", "a value"))

    def _checked(self, value: object) -> Any:
        made = self.make(value)
        if self.is_valid is not None and not self.is_valid(made):
            raise ValueError
        return made


class EnumStr(ConfigParam):
    """A flag with a fixed list of texts to choose from.

    Parameters
    ----------
    default : str
        The first choice.
    *options : str
        The other choices.
    allow_override : bool
        As for `ConfigParam`.

    Examples
    --------
    >>> EnumStr("warn", "raise").convert("raise")
    'raise'
    """

    __slots__ = ()

    def __init__(self, default: str, *options: str, allow_override: bool = True):
        super().__init__(default, allow_override=allow_override)
        self.choices = (default, *options)

    def accepts(self) -> str:
        """Say in words which values are taken."""
        return "one of " + ", ".join(self.choices)

    def _checked(self, value: object) -> Any:
        text = str(value)  # a program may write None or True where a file can only say so in letters
        if text not in self.choices:
            raise ValueError
        return text


class OpenEnum(EnumStr):
    """Texts to choose from, to which other modules may add, or an object that looks right.

    Parameters
    ----------
    default : str
        The first choice.
    *options : str
        The other choices.
    attributes : tuple of str
        An object with all these attributes is taken as it is.

    Examples
    --------
    >>> mode = OpenEnum("Mode", "FAST_RUN")
    >>> mode.allow("MyMode")
    >>> mode.convert("MyMode")
    'MyMode'
    """

    __slots__ = ("attributes",)

    def __init__(self, default: str, *options: str, attributes: tuple[str, ...] = ()):
        super().__init__(default, *options)
        self.attributes = attributes

    def allow(self, choice: str) -> None:
        """Add a choice; the old ones stay."""
        if choice not in self.choices:
            self.choices = (*self.choices, choice)

    def _checked(self, value: object) -> Any:
        if self.attributes and all(hasattr(value, attribute) for attribute in self.attributes):
            return value
        return super()._checked(value)


def BoolParam(
    default: object, is_valid: Callable[[Any], bool] | None = None, allow_override: bool = True
) -> TypedParam:
    """Make a flag that is True or False.

    Examples
    --------
    >>> BoolParam(False).convert("1")
    True
    """
    return TypedParam(default, _boolean, is_valid, allow_override)


def IntParam(default: object, is_valid: Callable[[Any], bool] | None = None, allow_override: bool = True) -> TypedParam:
    """Make a flag that holds a whole number.

    Examples
    --------
    >>> IntParam(8).convert("-1")
    -1
    """
    return TypedParam(default, int, is_valid, allow_override)


def FloatParam(
    default: object, is_valid: Callable[[Any], bool] | None = None, allow_override: bool = True
) -> TypedParam:
    """Make a flag that holds a number.

    Examples
    --------
    >>> FloatParam(8).convert("inf")
    inf
    """
    return TypedParam(default, float, is_valid, allow_override)


def StrParam(default: object, is_valid: Callable[[Any], bool] | None = None, allow_override: bool = True) -> TypedParam:
    """Make a flag that holds a text.

    Examples
    --------
    >>> StrParam("").convert("-O2")
    '-O2'
    """
    return TypedParam(default, str, is_valid, allow_override)


_TRUTH = {"True": True, "true": True, "1": True, "False": False, "false": False, "0": False}


def _boolean(value: object) -> bool:
    try:
        return _TRUTH[str(value)]
    except KeyError:
        raise ValueError from None


_WORDS: dict[Filter, str] = {_boolean: "True or False", int: "a whole number", float: "a number", str: "a text"}
