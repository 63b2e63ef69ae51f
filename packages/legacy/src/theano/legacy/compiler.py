"""``GCC_compiler``: whether the C++ compiler takes options, or a program; ops in C that need a library ask it."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterable

from theano.legacy.gone import Compiler
from theano.settings import config
from theano.toolchain.run import ProcessResult, run_to_end

#: The time limit of a program on trial, in seconds.
_SECONDS = 60.0

#: Whether it compiles; whether it runs, if that is asked; what was printed, if that is asked.
_Answer = bool | tuple[bool | str, ...]


def _run(command: list[str], folder: str) -> ProcessResult | None:
    """Run a program to its end; None if it cannot be started."""
    try:
        return run_to_end(command, folder, _SECONDS)
    except OSError:
        return None


class GCC_compiler(Compiler):  # type: ignore[valid-type, misc]
    """The C++ compiler of the flag ``cxx``.

    Examples
    --------
    >>> GCC_compiler.try_compile_tmp("int main() { return 0; }", try_run=True)
    (True, True)
    >>> GCC_compiler.try_flags(["-lno_such_library"])
    False
    """

    @staticmethod
    def try_compile_tmp(
        src_code: str | bytes,
        tmp_prefix: str = "",
        flags: Iterable[str] = (),
        try_run: bool = False,
        output: bool = False,
    ) -> _Answer:
        """Return whether a program in C++ compiles; with ``try_run`` whether it also ends well.

        Parameters
        ----------
        src_code : str
        tmp_prefix : str
            How the temporary folder's name begins.
        flags : iterable of str
            Options of the compiler.
        try_run, output : bool
            Run the program, too; return what was printed to both streams as well.
        """
        command = shlex.split(config.cxx)
        compiled: ProcessResult | None = None
        ran: ProcessResult | None = None
        if command:
            with tempfile.TemporaryDirectory(prefix=tmp_prefix) as folder:
                source, program = os.path.join(folder, "test.cpp"), os.path.join(folder, "test.exe")
                with open(source, "wb") as file:
                    file.write(src_code if isinstance(src_code, bytes) else src_code.encode())
                compiled = _run([*command, source, "-o", program, *flags], folder)
                if try_run and compiled is not None and compiled.status == 0:
                    ran = _run([program], folder)
        answer: list[bool | str] = [compiled is not None and compiled.status == 0]
        if try_run:
            answer.append(ran is not None and ran.status == 0)
        if output:
            last = ran or compiled
            answer += ["", "" if last is None else last.output]
        return tuple(answer) if len(answer) > 1 else bool(answer[0])

    @staticmethod
    def try_flags(
        flag_list: Iterable[str], preambule: str = "", body: str = "", try_run: bool = False, output: bool = False
    ) -> _Answer:
        """Return whether the compiler takes options; ``preambule`` is put before ``main``, and ``body`` into it."""
        program = f"{preambule}\nint main(int argc, char** argv)\n{{\n{body}\nreturn 0;\n}}\n"
        return GCC_compiler.try_compile_tmp(program, "try_flags_", flag_list, try_run, output)
