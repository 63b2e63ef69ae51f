"""A flag's help tells the truth: what says that it has no effect is read by nobody, and all others are read."""

from __future__ import annotations

import re
from pathlib import Path

from theano.compile import profiling
from theano.settings.flags import TABLE

FLAGS = Path("packages/graph-core/src/theano/settings")
ROOT = Path(__file__).resolve().parents[2]
DEFAULTS = (ROOT / FLAGS / "defaults.py").read_text(encoding="utf-8")
TEXT = "\n".join(
    path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "packages").glob("*/src/**/*.py"))
    if FLAGS not in path.relative_to(ROOT).parents and "config" in path.read_text(encoding="utf-8")
)


def declared():
    """Return the name of each flag and whether it claims to have no effect."""
    return [(param.name, bool(param.inert)) for param in TABLE]


def is_read(name):
    section, _, leaf = name.rpartition(".")
    holders = rf"(?:{re.escape(section.rpartition('.')[2])}|own)" if section else "(?:config|self.config)"
    spellings = [
        rf"config\.{re.escape(name)}\b",
        rf"config\.{re.escape(name.replace('.', '__'))}\b",
        rf"getattr\({holders}, [\"']{leaf}[\"']",
        rf"getattr\(getattr\(\w+, [\"']{section}[\"'], \w+\), [\"']{leaf}[\"']",
        rf"given\([\"']{re.escape(name)}[\"']",
        rf"config\.watch\([\"']{re.escape(name)}[\"']",
    ]
    if name in ("optimizer_including", "optimizer_excluding", "optimizer_requiring"):
        spellings.append(r"getattr\(config, f[\"']optimizer_\{verb\}")
    if name in profiling._CALLED or section == "profiling" and leaf in profiling._FLAGS.split():
        return True  # in a loop over these
    return any(re.search(s, TEXT) for s in spellings) or (
        f'given("{name}")' in DEFAULTS and name == "compiledir_format"
    )


def test_help_tells_the_truth():
    wrong = [name for name, inert in declared() if is_read(name) == inert]
    assert wrong == []
