"""What older programs took from inside the flags: the folder of compiled code, sources of values, checks of values."""

from __future__ import annotations

import hashlib
import operator
import os
from collections.abc import Sequence
from typing import Any

from theano.settings import config
from theano.settings.kinds import ConfigParam
from theano.settings.sources import from_flags, from_rc, rc_files

_BOOLEANS = {"False": False, "True": True, "None": None}
_PREALLOCATED = {"initial", "previous", "c_contiguous", "f_contiguous", "strided", "wrong_size", "ALL", ""}


def floatX_convert(s: str) -> str:
    """Return the dtype of floats that a number of bits stands for.

    Examples
    --------
    >>> floatX_convert("32"), floatX_convert("float64")
    ('float32', 'float64')
    """
    return f"float{s}" if s in ("16", "32", "64") else s


def split_version(version: str) -> tuple[int, ...]:
    """Return the numbers of a version.

    Examples
    --------
    >>> split_version("1.0.5")
    (1, 0, 5)
    """
    return tuple(int(part) for part in version.split("."))


def warn_default(version: str) -> bool:
    """Return whether to warn of what was mended in a version, by the flag ``warn.ignore_bug_before``.

    Examples
    --------
    >>> warn_default("0.0") or warn_default("999.0")  # the flag is 0.9 unless it was set
    True
    """
    ignored = config.warn.ignore_bug_before
    if ignored in ("None", "all"):
        return bool(ignored == "None")
    return split_version(ignored) < split_version(version)


def good_seed_param(seed: Any) -> bool:
    """Return whether something can be a seed: a number, or the word ``random``.

    Examples
    --------
    >>> good_seed_param("12"), good_seed_param("random"), good_seed_param("any")
    (True, True, False)
    """
    try:
        return seed == "random" or int(seed) is not None
    except (TypeError, ValueError):
        return False


def is_valid_check_preallocated_output_param(param: Any) -> bool:
    """Return whether a text names kinds of memory that DebugMode lets ops write to.

    Examples
    --------
    >>> is_valid_check_preallocated_output_param("initial:strided"), is_valid_check_preallocated_output_param("all")
    (True, False)
    """
    return isinstance(param, str) and _PREALLOCATED.issuperset(param.split(":"))


def filter_vm_lazy(val: Any) -> bool | None:
    """Return what a text says of the flag ``vm.lazy``.

    Raises
    ------
    ValueError
        It is none of True, False and None.

    Examples
    --------
    >>> filter_vm_lazy("None"), filter_vm_lazy(True)
    (None, True)
    """
    if str(val) not in _BOOLEANS:
        raise ValueError(f"the flag vm.lazy is True, False or None, not {val!r}")
    return _BOOLEANS[str(val)]


def filter_mode(val: Any) -> Any:
    """Return a mode, or its name, as the flag ``mode`` takes it.

    Examples
    --------
    >>> filter_mode("FAST_RUN")
    'FAST_RUN'
    """
    with config.change_flags(mode=val):
        return config.mode


def get_home_dir() -> str:
    """Return the user's home directory.

    Examples
    --------
    >>> get_home_dir() == os.path.expanduser("~")
    True
    """
    return os.path.expanduser("~")


def default_compiledirname() -> str:
    """Return the name of the folder of compiled code, inside that of the flag ``base_compiledir``.

    Examples
    --------
    >>> os.path.normpath(os.path.join(config.base_compiledir, default_compiledirname())) == default_compiledir()
    True
    """
    return os.path.relpath(default_compiledir(), config.base_compiledir)


def default_compiledir() -> str:
    """Return the folder of compiled code.

    Examples
    --------
    >>> default_compiledir() == config.compiledir
    True
    """
    return str(config.compiledir)


def parse_config_string(config_string: str, issue_warnings: bool = True) -> dict[str, str]:
    """Return what a text such as ``THEANO_FLAGS`` sets; the last value of a flag counts.

    Raises
    ------
    theano.errors.FlagSyntaxError
        A part has no value.

    Examples
    --------
    >>> parse_config_string("floatX=float32,device=cpu")
    {'floatX': 'float32', 'device': 'cpu'}
    """
    return {name: value for name, value, _ in from_flags(config_string)}


def config_files_from_theanorc() -> list[str]:
    """Return the configuration files that are read, the least important first.

    Examples
    --------
    >>> all(isinstance(path, str) for path in config_files_from_theanorc())
    True
    """
    return rc_files(os.environ)


#: What ``THEANO_FLAGS`` and rc files say of flags that the program has yet to add.
THEANO_FLAGS_DICT = config._waiting


def fetch_val_for_key(key: str, delete_key: bool = False) -> str:
    """Return the text that ``THEANO_FLAGS``, or else a configuration file, gives a flag.

    Parameters
    ----------
    key : str
        The flag.
    delete_key : bool
        Taken for older programs: nothing is deleted.

    Raises
    ------
    KeyError
        Neither does.

    Examples
    --------
    >>> fetch_val_for_key("no.flag")
    Traceback (most recent call last):
     ...
    KeyError: 'no.flag'
    """
    found = {name: value for path in rc_files(os.environ) for name, value, _ in from_rc(path, os.environ)}
    return (found | parse_config_string(os.environ.get("THEANO_FLAGS", "")))[key]


class FlagDescriptor:
    """A flag that is read and set without its name: ``__get__`` and ``__set__`` take the place of ``config.name``.

    PyMC3 3.8, as those before it, enters each of its models so.

    Parameters
    ----------
    param : ConfigParam
        The flag.

    Attributes
    ----------
    fullname : str
        Its name, with those of its sections.
    doc : str
        What it does.

    Examples
    --------
    >>> flag = next(flag for flag in _config_var_list if flag.fullname == "floatX")
    >>> before = flag.__get__(True, None)
    >>> flag.__set__(None, "float32")
    >>> config.floatX
    'float32'
    >>> flag.__set__(None, before)
    """

    def __init__(self, param: ConfigParam) -> None:
        self.fullname, self.doc = param.name, param.doc

    def __get__(self, cls: Any, type_: Any = None) -> Any:
        return self if cls is None else operator.attrgetter(self.fullname)(config)

    def __set__(self, cls: Any, val: Any) -> None:
        section, _, name = self.fullname.rpartition(".")
        setattr(operator.attrgetter(section)(config) if section else config, name, val)


class _AllFlags(Sequence[FlagDescriptor]):
    """All flags there are when it is looked through: a program may have added some."""

    def __len__(self) -> int:
        return len(list(config.flags()))

    def __getitem__(self, index: Any) -> Any:
        return [FlagDescriptor(param) for param in config.flags()][index]


_config_var_list = _AllFlags()


def get_config_hash() -> str:
    """Return a hash of the values of all flags.

    Examples
    --------
    >>> with config.change_flags(floatX="float32"):
    ...     single = get_config_hash()
    >>> with config.change_flags(floatX="float64"):
    ...     single == get_config_hash()
    False
    """
    known = [f"{flag.name} = {operator.attrgetter(flag.name)(config)}" for flag in config.flags()]
    return hashlib.sha256("\n".join(sorted(known)).encode()).hexdigest()
