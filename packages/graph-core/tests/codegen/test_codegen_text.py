"""User text inside C: nothing of it may reach the compiler."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theano.codegen.key import digest_parts
from theano.codegen.text import CText, comment_text
from theano.codegen.unit import current_toolchain
from theano.errors import NoCompilerError
from theano.graph.kernel import Kernel

NASTY = ["*/ #error x", "/* */", "a\\", "??/", "\0", '"', "\n#error x\n", "*", "/", "é\u202e", "\udc80", "x" * 1000, ""]


@given(st.text())
@settings(max_examples=300, deadline=None)
def test_comment_stays_one_comment(text: str) -> None:
    safe = comment_text(text)
    assert "*/" not in safe and "/*" not in safe and safe.isascii() and safe.isprintable()
    assert len(f"/* {safe} */".split("*/")) == 2


def test_c_reads_on_behind_a_comment(tmp_path: Path) -> None:
    try:
        tools = current_toolchain()
    except NoCompilerError:
        pytest.skip("no C compiler")
    c = CText()
    for number, text in enumerate(NASTY):
        c.comment(text)
        c(f"// {comment_text(text)}", f"const int after{number} = {number};")
    (tmp_path / "t.c").write_text(str(c) + "\n")
    command = [*tools.command("t.c", "t.so"), "-Wall", "-Wextra", "-Werror", "-Wcomment"]
    command.remove("-w")
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    library = ctypes.CDLL(str(tmp_path / "t.so"))
    for number in range(len(NASTY)):
        assert ctypes.c_int.in_dll(library, f"after{number}").value == number


def test_blocks_are_indented() -> None:
    c = CText()
    with c.block("int f(void)"):
        c("#if 1", "return 1;\n\nreturn 2;", "#endif")
    assert str(c) == "int f(void) {\n#if 1\n    return 1;\n\n    return 2;\n#endif\n}"
    assert c.line_count == 7


def test_a_kernel_must_define_itself() -> None:
    with pytest.raises(ValueError, match="`int KERNEL"):
        Kernel("x + 1", "int f(void) { return 0; }")


@given(st.lists(st.text()), st.lists(st.text()))
@settings(max_examples=200, deadline=None)
def test_different_parts_have_different_keys(one: list[str], two: list[str]) -> None:
    assert (digest_parts(one) == digest_parts(two)) == (one == two)
