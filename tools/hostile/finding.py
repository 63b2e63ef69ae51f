"""What an attack found, and the program that repeats it."""

from __future__ import annotations

from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent

PROGRAM = """\
import sys

sys.path.insert(0, {tools!r})

from hostile.attacker import repeat

{comment}

if __name__ == "__main__":
    sys.exit(repeat({kind!r}, {seed}))
"""


class Finding(AssertionError):
    """Something that must not happen did.

    Parameters
    ----------
    what : str
        One line without numbers that vary, so that equal faults read alike.
    details : str
        Values, expressions, messages.

    Examples
    --------
    >>> Finding("an output is wrong", "1 instead of 2").what
    'an output is wrong'
    """

    def __init__(self, what: str, details: str = "") -> None:
        super().__init__(what, details)
        self.what, self.details = what, details

    def __str__(self) -> str:
        return f"{self.what}\n{self.details}".rstrip()


def expect(right: object, what: str, details: object = "") -> None:
    """Raise a finding unless something is right."""
    if not right:
        raise Finding(what, str(details))


def printable(text: str) -> str:
    r"""Return text with escapes for all that an editor or a compiler would stumble over.

    Examples
    --------
    >>> print(printable(chr(0)))
    \x00
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def write(folder: Path, kind: str, seed: int, found: Finding, stderr: str) -> Path:
    """Write a program that repeats a finding, with all that is known of it in comments."""
    lines = [printable(line)[:1000] for line in f"{found}\n\n{stderr}".rstrip().splitlines()[:400]]
    comment = "\n".join(f"# {line}".rstrip() for line in lines)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}-{seed}.py"
    path.write_text(PROGRAM.format(tools=str(TOOLS), comment=comment, kind=kind, seed=seed), encoding="utf-8")
    return path
