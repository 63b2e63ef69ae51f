"""The line that is shown while compilers work."""

from __future__ import annotations

import io
import sys
import time

import pytest

from theano.toolchain.progress import ProgressLine
from theano.toolchain.run import Running


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_the_first_second_is_silent(clock):
    out = Terminal()
    with ProgressLine(3, "auto", out, clock) as progress:
        clock.now = 0.9
        progress.tick()
        progress.advance(3)
    assert out.getvalue() == ""


def test_a_terminal_shows_one_line_and_is_left_clean(clock):
    out = Terminal()
    with ProgressLine(37, "auto", out, clock) as progress:
        clock.now = 1.2
        progress.tick()
        progress.tick()
        assert out.getvalue() == "\rtheano: compiling 37 kernels, 0 done, 1 s"
        clock.now = 12.0
        progress.advance(12)
    lines = out.getvalue().split("\r")
    assert lines[2] == "theano: compiling 37 kernels, 12 done, 12 s"
    assert lines[3].strip() == "" and len(lines[3]) == len(lines[2]) and lines[4] == ""
    assert "\n" not in out.getvalue()


def test_a_shorter_line_covers_a_longer_one(clock):
    out = Terminal()
    progress = ProgressLine(1, "auto", out, clock)
    clock.now = 100.0
    progress.tick()
    clock.now = 2.0
    progress.tick()
    first, second = out.getvalue().split("\r")[1:]
    assert len(second) == len(first)


def test_files_get_nothing_unless_it_is_wanted(clock):
    for wanted, lines in (("auto", 0), ("never", 0), ("always", 2)):
        out, clock.now = io.StringIO(), 0.0
        with ProgressLine(2, wanted, out, clock) as progress:
            for clock.now in (0.5, 1.5, 2.5, 3.5):
                progress.tick()
            progress.advance(2)
        assert len(out.getvalue().splitlines()) == lines
    assert out.getvalue().endswith("2 of 2 done after 3.5 s\n")


@pytest.mark.parametrize("wanted", ["auto", "always"])
def test_a_closed_stream_is_borne_and_never_means_never(clock, wanted):
    out = Terminal()
    progress = ProgressLine(1, wanted, out, clock)
    out.close()
    clock.now = 2.0
    progress.tick()
    progress.finish()
    with ProgressLine(1, "never", silent := Terminal(), clock) as progress:
        clock.now = 9.0
        progress.tick()
    assert silent.getvalue() == ""


def test_waiting_ticks_and_still_ends(tmp_path):
    ticks = []
    running = Running([sys.executable, "-c", "import time; time.sleep(0.8); print('done')"], str(tmp_path), "log")
    outcome = running.wait(time.monotonic() + 60, lambda: ticks.append(1))
    assert outcome.status == 0 and outcome.output == "done\n" and len(ticks) >= 2
    running = Running([sys.executable, "-c", "import time; time.sleep(60)"], str(tmp_path), "log2")
    outcome = running.wait(time.monotonic() + 0.6, lambda: ticks.append(1))
    assert outcome.timed_out
