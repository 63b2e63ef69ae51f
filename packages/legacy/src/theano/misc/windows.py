"""Other programs, run in the background: as everywhere, and without a window on Windows."""

from __future__ import annotations

import os
import subprocess
from typing import Any


def subprocess_Popen(command: Any, **params: Any) -> subprocess.Popen[Any]:
    """Start a program; on Windows no window opens, and a command as one string is found as the shell would find it.

    Examples
    --------
    >>> import sys
    >>> subprocess_Popen([sys.executable, "-c", "raise SystemExit(3)"]).wait()
    3
    """
    if os.name == "nt":
        quiet = subprocess.STARTUPINFO()  # type: ignore[attr-defined]
        quiet.dwFlags |= subprocess.STARTF_USESHOWWINDOW  # type: ignore[attr-defined]
        params.setdefault("startupinfo", quiet)
        params.setdefault("shell", isinstance(command, str))
    params.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(command, **params)


def call_subprocess_Popen(command: Any, **params: Any) -> int:
    """Run a program without its output; return how it ended.

    Examples
    --------
    >>> import sys
    >>> call_subprocess_Popen([sys.executable, "-c", "print('unseen')"])
    0
    """
    if "stdout" in params or "stderr" in params:
        raise TypeError("don't use stderr or stdout with call_subprocess_Popen: its output is thrown away")
    process = subprocess_Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **params)
    return process.wait()


def output_subprocess_Popen(command: Any, **params: Any) -> tuple[bytes, bytes, int]:
    """Run a program; return what it wrote, its errors, and how it ended.

    Examples
    --------
    >>> import sys
    >>> output_subprocess_Popen([sys.executable, "-c", "print(1)"])[0].strip()
    b'1'
    """
    if "stdout" in params or "stderr" in params:
        raise TypeError("don't use stderr or stdout with output_subprocess_Popen: it returns both")
    process = subprocess_Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **params)
    out, errors = process.communicate()
    return out, errors, process.returncode
