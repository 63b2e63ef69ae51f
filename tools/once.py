"""Files that several processes of a test run share: one process makes a file, and the others find it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let no other process make a file at the same time.

    Parameters
    ----------
    path : Path
        The file. Its lock is a file of its own beside it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = Path(folder, "made")
    ...     with alone(made):
    ...         _ = made.write_text("once")
    ...     sorted(each.name for each in Path(folder).iterdir())
    ['made', 'made.lock']
    """
    with open(f"{path}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
