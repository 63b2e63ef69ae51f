"""Where values come from: THEANO_FLAGS and the rc files named by THEANORC."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

from theano.errors import FlagSyntaxError

Given = tuple[str, str, str]
"""Name of a flag, its text, and the place to name in messages."""


def from_flags(text: str) -> Iterator[Given]:
    """Yield what a text of the form ``name=value,name=value`` sets, in its order.

    Quotes protect commas: ``gcc.cxxflags="-O2,-g"``.

    Examples
    --------
    >>> [(name, value) for name, value, _ in from_flags("floatX=float32, device = cpu")]
    [('floatX', 'float32'), ('device', 'cpu')]
    """
    for part in _split(text):
        name, equals, value = part.partition("=")
        if not equals:
            raise FlagSyntaxError(
                f"THEANO_FLAGS: {part.strip()!r} has no value.\n  Write it as {part.strip()}=VALUE; it is now {text!r}."
            )
        yield name.strip(), value.strip(), "THEANO_FLAGS"


def _split(text: str) -> list[str]:
    if '"' in text or "'" in text or "\\" in text:
        import shlex  # not needed, and not paid for, where nothing is quoted

        splitter = shlex.shlex(text, posix=True)
        splitter.whitespace, splitter.commenters = ",", ""
        splitter.whitespace_split = True
        try:
            parts = list(splitter)
        except ValueError as error:
            raise FlagSyntaxError(f"THEANO_FLAGS: {error}.\n  It is now {text!r}.") from None
    else:
        parts = text.split(",")
    return [part for part in parts if part.strip()]


def rc_files(environ: Mapping[str, str]) -> list[str]:
    """Return the rc files to read, the least important first.

    They are those that THEANORC lists, separated as in PATH; without it ``~/.theanorc``, and on Windows
    ``~/.theanorc.txt`` too.
    """
    listed = environ.get("THEANORC")
    if listed is None:
        listed = os.pathsep.join(["~/.theanorc"] + (["~/.theanorc.txt"] if os.name == "nt" else []))
    return [os.path.expanduser(path) for path in listed.split(os.pathsep) if path]


def from_rc(path: str, environ: Mapping[str, str]) -> Iterator[Given]:
    """Yield the flags that one rc file sets; nothing if the file does not exist.

    Flags without a dot stand below ``[global]``; ``gcc.cxxflags`` is ``cxxflags`` below ``[gcc]``. The values may
    use ``%(USER)s``, ``%(TMPDIR)s`` and ``%(PID)s``.
    """
    if not os.path.isfile(path):
        return
    import configparser  # most users have no rc file, and its import takes longer than all the rest of this

    known = {name: environ.get(name, "") for name in ("USER", "LSCRATCH", "TMPDIR", "TEMP", "TMP")}
    parser = configparser.ConfigParser(default_section="\0values")
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as its documentation has it
    parser.read_dict({"\0values": known | {"PID": str(os.getpid())}})
    try:
        # As in the environment: bytes that are none of the locale's characters may be part of a path.
        with open(path, encoding=sys.getfilesystemencoding(), errors="surrogateescape") as stream:
            parser.read_file(stream)
    except (configparser.Error, UnicodeDecodeError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise FlagSyntaxError(f"{path} cannot be read as an rc file: {reason}") from None
    for section in parser.sections():
        prefix = "" if section == "global" else section + "."
        for name in parser[section]:
            if name in parser.defaults():
                continue
            try:
                value = parser.get(section, name)
            except configparser.InterpolationError:
                value = parser.get(section, name, raw=True)
            yield prefix + name, value, f"{path}, section [{section}]"
