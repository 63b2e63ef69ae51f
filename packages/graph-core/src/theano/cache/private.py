"""A directory for one process, where the shared one cannot be used."""

from __future__ import annotations

import atexit
import errno
import os

from theano.cache import trust
from theano.cache.staging import remove_tree
from theano.graph.signals import let_signals_through


def private_directory() -> str:
    """Make a temporary directory that only this user can enter and that goes with this process.

    Raises
    ------
    OSError
        No directory can be made.
    """
    import tempfile  # brings in much, and is needed only where the cache cannot be used

    # TMPDIR is the user's word, which a privileged process does not take.
    first = [] if trust.process_is_privileged() else [tempfile.gettempdir()]
    problem: OSError | None = None
    for parent in dict.fromkeys([*first, "/tmp", "/var/tmp"] if os.name == "posix" else first):
        try:
            path = tempfile.mkdtemp(prefix="theano-", dir=parent)
        except OSError as error:
            let_signals_through(error)
            problem = error
            continue
        refusal = trust.directory_refusal(os.path.realpath(path)) or trust.mount_refusal(path)
        if refusal is None:
            atexit.register(_remove_own, path, os.getpid())
            return path
        remove_tree(path)
        problem = PermissionError(errno.EACCES, refusal.reason, refusal.path)
    raise problem or OSError(errno.ENOENT, "no temporary directory found; set TMPDIR to a writable one")


def _remove_own(path: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child leaves its parent's directory alone
        remove_tree(path)
