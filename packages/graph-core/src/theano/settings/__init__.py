"""Flags: `config`, which THEANO_FLAGS and the rc file set once at import, and `change_flags`.

Nothing below ``theano.compile`` reads `config`: what it needs is passed down to it.

Examples
--------
>>> from theano.settings import config
>>> config.linker
'cvm'
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from theano.errors import (
    FlagError,
    FlagSyntaxError,
    FlagValueError,
    ImmutableFlagError,
    TheanoConfigWarning,
    UnknownFlagError,
)
from theano.settings.config import Changes, Config, load_config
from theano.settings.kinds import (
    BoolParam,
    ConfigParam,
    EnumStr,
    FloatParam,
    IntParam,
    OpenEnum,
    StrParam,
    TypedParam,
)

__all__ = [
    "AddConfigVar",
    "BoolParam",
    "Changes",
    "Config",
    "ConfigParam",
    "EnumStr",
    "FlagError",
    "FlagSyntaxError",
    "FlagValueError",
    "FloatParam",
    "ImmutableFlagError",
    "IntParam",
    "OpenEnum",
    "StrParam",
    "TheanoConfigWarning",
    "TypedParam",
    "UnknownFlagError",
    "change_flags",
    "config",
    "load_config",
]

if TYPE_CHECKING:
    from theano.settings.declared import Flags  # a stub, of the table of flags

    config: Flags
else:
    config = load_config()


def change_flags(args: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), **kwargs: object) -> Changes:
    """Set flags of `theano.config` for a while; see `Config.change_flags`.

    Parameters
    ----------
    args : mapping or list of pairs
        Names with dots and their values.
    **kwargs
        Names and their values; ``gcc__cxxflags`` stands for ``gcc.cxxflags``.

    Returns
    -------
    context manager
        ``with theano.change_flags(floatX="float32"):`` sets it in the block; it is a decorator, too.

    See Also
    --------
    theano.config

    Examples
    --------
    >>> import theano
    >>> with theano.change_flags(on_unused_input="ignore"):
    ...     print(theano.config.on_unused_input)
    ignore
    """
    return config.change_flags(args, **kwargs)


# Programs pickle objects that keep these. Flags belong to a process: an unpickled one changes those of its own process.
copyreg.pickle(Changes, lambda changes: (change_flags, (changes.flags,)))


def AddConfigVar(name: str, doc: str, configparam: ConfigParam, root: Config = config, in_c_key: bool = True) -> None:
    """Add a flag of a program's own to `theano.config`; see `Config.add`.

    Parameters
    ----------
    name, doc : str
        Its name and its help.
    configparam : ConfigParam
        Its kind and default.
    root : Config
        Where to add it.
    in_c_key : bool
        See `Config.add`.

    Examples
    --------
    >>> AddConfigVar("example.depth", "How deep to look.", IntParam(3))
    >>> config.example.depth
    3
    """
    root.add(name, doc, configparam, in_c_key)
