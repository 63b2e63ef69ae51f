"""What C is compiled with: the user's wishes, and a compiler with its options."""

from __future__ import annotations

import os
import shlex
from functools import cache
from typing import Any, Protocol

from theano.records import field, record
from theano.toolchain import flags as options
from theano.toolchain.find import Compiler

NOT_HERE = "elsewhere"
"""The origin of a compiler that is not on this machine but has filled a cache that is read here."""
UNIT_LIMIT = 600.0
QUESTION_LIMIT = 60.0


class Notes(Protocol):
    """Where small texts are kept between processes; `theano.cache.store.Cache` is one."""

    def notes(self, key: str) -> list[str]:
        """Return the texts kept under a key."""

    def add_note(self, key: str, text: str) -> None:
        """Keep a text."""


@record(frozen=True)
class ToolchainSettings:
    """The user's wishes about compiling. A value, passed down by ``theano.compile``.

    Parameters
    ----------
    compiler : str, optional
        A command; "" to use no compiler; None to search.
    extra_flags : tuple of str
        Options put after ours.
    timeout : float
        Seconds for one unit.
    question_timeout : float
        Seconds for all that compilers are asked until one has been seen to work.
    jobs : int, optional
        Units compiled side by side; the cores this process may use unless given.
    progress : {'auto', 'always', 'never'}
        Whether to show a line while compilers work.
    show_warnings : bool
        Print what the compiler says about a unit that it accepts.
    keep_failed : bool
        Keep the C text that the compiler refuses, with what it said; the error says where.
    """

    compiler: str | None = None
    extra_flags: tuple[str, ...] = ()
    timeout: float = UNIT_LIMIT
    jobs: int | None = None
    progress: str = "auto"
    show_warnings: bool = False
    keep_failed: bool = False
    question_timeout: float = QUESTION_LIMIT

    @classmethod
    def from_config(cls, config: object) -> ToolchainSettings:
        """Build the settings from an object with the attributes of ``theano.config``.

        ``cxx`` is a command, "" for no compiler, None or ``"auto"`` to search; ``gcc.cxxflags`` are options;
        ``compile.jobs`` says how many compilers run side by side, 0 for one per core; ``compile.unit_timeout`` and
        ``compile.question_timeout`` are seconds.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> ToolchainSettings.from_config(SimpleNamespace(cxx="clang")).compiler
        'clang'
        """
        # `theano.config.cxx` always has a value, for users to read; what counts is whether they set it.
        given = getattr(config, "given", None)
        compiler = given("cxx", None) if given is not None else getattr(config, "cxx", None)
        words = str(getattr(getattr(config, "gcc", None), "cxxflags", "") or "")
        extra = tuple(shlex.split(words, posix=os.name == "posix"))
        cmodule = getattr(config, "cmodule", None)
        if getattr(cmodule, "debug", False):
            extra = ("-DDEBUG", *extra)
        if getattr(cmodule, "remove_gxx_opt", False):
            extra = ("-O0", "-g", *extra)
        own = getattr(config, "compile", None)
        return cls(
            None if compiler is None or compiler == "auto" else str(compiler).strip(),
            extra,
            timeout=float(getattr(own, "unit_timeout", UNIT_LIMIT)),
            question_timeout=float(getattr(own, "question_timeout", QUESTION_LIMIT)),
            jobs=int(getattr(own, "jobs", 0) or 0) or None,
            progress=str(getattr(own, "progress", "auto")),
            show_warnings=bool(getattr(cmodule, "compilation_warning", False)),
            keep_failed=bool(getattr(config, "nocleanup", False)),
        )


@cache
def c_library() -> str:
    """Name the C library of this process and its version; "" where it does not say.

    Examples
    --------
    >>> c_library() == c_library()
    True
    """
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):
        return ""


@record(frozen=True)
class Toolchain:
    """A compiler with its options, as described exactly enough to be part of a key.

    Parameters
    ----------
    compiler : Compiler
        The program.
    flags : tuple of str
        The options it is given.
    cpu_class : str
        What this machine's CPU is to the compiler; "" if the code is not made for this CPU alone.
    settings : ToolchainSettings
        The requested settings.
    libc : str
        The C library that code is linked with here: a newer one's symbols would not be found by an older one.
    proven : bool
        Whether it has compiled something. Otherwise it has only said that it could.

    Examples
    --------
    >>> gcc = Compiler(("/usr/bin/cc",), "PATH", "gcc version 12.2.0", "x86_64-linux-gnu", fingerprint="e3b0c4")
    >>> Toolchain(gcc, ("-O3",), "-march=znver4", libc="glibc 2.36").identity
    'gcc version 12.2.0|x86_64-linux-gnu|e3b0c4|-O3|-march=znver4|glibc 2.36'
    """

    compiler: Compiler
    flags: tuple[str, ...]
    cpu_class: str
    settings: ToolchainSettings = ToolchainSettings()
    libc: str = field(default_factory=c_library)
    proven: bool = True

    def __eq__(self, other: object) -> bool:
        """Whether both compile alike, whatever has been seen of either."""
        return isinstance(other, Toolchain) and self._description == other._description

    def __hash__(self) -> int:
        return hash(self._description)

    @property
    def _description(self) -> tuple[Any, ...]:
        return self.compiler, self.flags, self.cpu_class, self.settings, self.libc

    @property
    def can_compile(self) -> bool:
        """Whether it is here; otherwise only what it has compiled elsewhere can be found and loaded."""
        return self.compiler.origin != NOT_HERE

    @property
    def identity(self) -> str:
        """All of it that can change the machine code."""
        return "|".join([self.compiler.identity, shlex.join(self.flags), self.cpu_class, self.libc])

    def command(
        self,
        source: str,
        output: str,
        include: tuple[str, ...] = (),
        language: str = "c",
        extra: tuple[str, ...] = (),
        without: tuple[str, ...] = (),
    ) -> list[str]:
        """Return the argument list that compiles one file to a library.

        Parameters
        ----------
        source, output : str
        include : tuple of str
            Folders of header files.
        language : {'c', 'c++'}
        extra, without : tuple of str
            Options to add after all others, and to leave out.
        """
        flags = self.flags if language == "c" else options.for_cxx(self.flags)
        kept = [flag for flag in flags if flag not in without]
        folders = [f"-I{folder}" for folder in include]
        given = ("-x", language) if (language == "c") == self.compiler.is_cxx_driver else ()
        rest = ("-x", "none") if given else ()
        head = [*self.compiler.argv, *kept, *folders, *given, source, *rest, "-o", output]
        own = (options.COMPILERS_OWN,) if options.KERNELS_ALONE in kept else ()
        library = () if language == "c" or self.compiler.is_cxx_driver else ("-lstdc++",)
        return [*head, *(flag for flag in extra if flag not in without), *options.LIBRARIES, *own, *library]
