"""What decides what a compiler does: what it sees of the user's environment, and the files that it consists of."""

from __future__ import annotations

import os
import re
import shlex

Stamp = tuple[str, int, int]

KEPT_VARIABLES = (
    "PATH",
    "HOME",
    "LD_LIBRARY_PATH",  # compilers of environment modules need it to start
    "XDG_CACHE_HOME",
    "SYSTEMROOT",
    "COMSPEC",
    "USERPROFILE",
    "LOCALAPPDATA",
    "DEVELOPER_DIR",
    "SDKROOT",
    "CCACHE_DIR",
    "CCACHE_DISABLE",
)
"""All that a compiler sees of the user's environment: nothing that adds flags, files or libraries."""

FOR_PROGRAMS = ("LD_LIBRARY_PATH", "DEVELOPER_DIR", "SDKROOT")
"""What of it changes a compiler that is a program; a script may do something else for each value of each."""


def kept_environment(names: tuple[str, ...] = KEPT_VARIABLES) -> tuple[tuple[str, str], ...]:
    """Return the variables of the user's environment that a compiler receives.

    Examples
    --------
    >>> "CPATH" in dict(kept_environment())
    False
    """
    found = ((name, os.environ.get(name)) for name in names)
    return tuple((name, value) for name, value in found if value is not None)


def clean_environment(folder: str) -> dict[str, str]:
    """Return the environment for a program that works in `folder` and keeps its scratch there.

    Examples
    --------
    >>> environment = clean_environment("/tmp/x")
    >>> environment["LC_ALL"], "CPATH" in environment
    ('C', False)
    """
    kept = dict(kept_environment())
    kept.setdefault("PATH", os.defpath)
    if "HOME" not in kept and os.name == "posix":
        kept["ZIG_GLOBAL_CACHE_DIR"] = os.path.join(folder, "zig")
    return {**kept, "LC_ALL": "C", "TMPDIR": folder, "TMP": folder, "TEMP": folder, "ZIG_LOCAL_CACHE_DIR": folder}


def stamp(path: str) -> Stamp:
    """Return a file's path, size and time of change, (path, -1, -1) if it does not exist."""
    try:
        info = os.stat(path)
    except OSError:
        return (path, -1, -1)
    return (path, info.st_size, info.st_mtime_ns)


def is_script(path: str) -> bool:
    """Say whether a program is a text that another program runs.

    Examples
    --------
    >>> import os
    >>> is_script(os.devnull)
    False
    """
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def find_program(name: str, path: str | None = None) -> str | None:
    """Return the program that a command's name means, as ``shutil.which`` does."""
    if os.name != "posix" or os.path.dirname(name):
        import shutil  # brings in much, and this is rare

        return shutil.which(name, path=path)
    for folder in (os.environ.get("PATH", os.defpath) if path is None else path).split(os.pathsep):
        program = os.path.join(folder or os.curdir, name)
        if os.access(program, os.X_OK) and os.path.isfile(program):
            return program
    return None


# A word in which nothing but pairs of double quotes is special.
_WORD = re.compile(r'(?:[^ \t\r\n"]|"[^"]*")+')


def words_of(line: str) -> list[str]:
    """Return the words of a command as a shell reads them, or as spaces part them if it is not well quoted.

    Examples
    --------
    >>> words_of('cc -D"A B" -x')
    ['cc', '-DA B', '-x']
    """
    if "\\" not in line and "'" not in line and line.count('"') % 2 == 0:
        # What compilers say of their commands: thousands of characters, each of which `shlex` looks at in Python.
        return [word.replace('"', "") for word in _WORD.findall(line)]
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
