"""The words of a command: as `shlex` finds them, which reads each character in Python."""

import shlex
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from theano.toolchain.environment import words_of


@given(st.text(st.sampled_from("ab=/-\"'\\ \t\r\n#\f\xa0é"), max_size=30))
@example('cc -D"A B" -x')
@example('"" a')
@example('"unclosed')
@example("it's")
@example('a"b c"d "e')
def test_words_are_those_of_shlex(line):
    try:
        wanted = shlex.split(line)
    except ValueError:
        wanted = line.split()
    assert words_of(line) == wanted


def test_what_a_compiler_says_of_its_commands():
    try:
        said = subprocess.run(["cc", "-###", "-x", "c", "-c", "-O3", '-DA="b c"', "nothing.c"], capture_output=True, text=True).stderr
    except FileNotFoundError:
        pytest.skip("there is no compiler")
    for line in said.splitlines():
        if line.startswith(" "):
            assert words_of(line) == shlex.split(line)
