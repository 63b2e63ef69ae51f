"""Programs that start by a fork of a process which has imported what they need."""

from __future__ import annotations

import time
from typing import Any

import pytest

import warm


@pytest.mark.skipif(not warm.FORKS, reason="programs start as any other here")
def test_who_a_program_is_and_how_it_ended_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it has ended before its process id is read, as on a busy machine."""
    starting = warm.Child.__init__

    def late(child: warm.Child, *arguments: Any) -> None:
        time.sleep(0.1)
        starting(child, *arguments)

    monkeypatch.setattr(warm.Child, "__init__", late)
    assert warm.Warm("import math").run("raise SystemExit(3)").returncode == 3
