r"""Processes that start warm: one process imports what all of them need, and forks for each program.

A program that starts so has no start of its own: this is not for tests of what Python or a layer does when it starts.
What has been imported has read the environment: ``theano.config.load(os.environ)`` reads the flags again.

Examples
--------
>>> numbers = Warm("import math")
>>> numbers.run("import sys; print(math.gcd(*map(int, sys.argv[1:])))", "12", "18").stdout
'6\n'
>>> numbers.run("raise SystemExit(3)").returncode
3
"""

from __future__ import annotations

import array
import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import IO

MOST = 200_000
"""Bytes of a request, at most."""
FORKS = sys.platform.startswith("linux")
"""Whether programs start by a fork; elsewhere each is a process of its own."""


class Child:
    """A program that runs, as far as tests need `subprocess.Popen`.

    Parameters
    ----------
    args : sequence of str
        For messages.
    status : socket
        Where its parent says who it is, and how it ended.
    stdout, stderr : text files
        What it writes.
    """

    def __init__(self, args: tuple[str, ...], status: socket.socket, stdout: IO[str], stderr: IO[str]) -> None:
        self.args, self._status, self.stdout, self.stderr = args, status, stdout, stderr
        self.returncode: int | None = None
        self.pid = int(status.recv(20))

    def poll(self) -> int | None:
        """Return how it ended, or None."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = int(self._status.recv(20))
            self._status.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to it, if it runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end, and return what it wrote."""
        said = ["", ""]

        def read(number: int, file: IO[str]) -> None:
            with file:
                said[number] = file.read()

        pipes = enumerate((self.stdout, self.stderr))
        readers = [threading.Thread(target=read, args=each, daemon=True) for each in pipes]
        for reader in readers:
            reader.start()
        try:
            self.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():  # another process holds the pipe
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return said[0], said[1]


class Warm:
    """A process that forks for each program; it starts with the first one, and again after a fork of this process.

    Parameters
    ----------
    prepare : str
        What it runs once. Programs begin with the names that this defines.
    each : str
        What each program begins with.
    """

    def __init__(self, prepare: str, each: str = "") -> None:
        self._prepare, self._each = prepare, each
        self._owner = 0
        self._server: socket.socket

    def start(self, code: str, *arguments: str, env: Mapping[str, str] | None = None) -> Child | subprocess.Popen[str]:
        """Start a program, a session of its own that nothing reads from.

        Parameters
        ----------
        code : str
            Its text.
        *arguments : str
            What ``sys.argv`` holds after its first element.
        env : mapping, optional
            Its environment.
        """
        code = f"{self._each}\n{code}"
        if not FORKS:
            command = [sys.executable, "-c", f"{self._prepare}\n{code}", *arguments]
            pipe = subprocess.PIPE
            return subprocess.Popen(command, env=env, text=True, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe,
                                    start_new_session=True)  # fmt: skip
        if self._owner != os.getpid():
            self._serve()
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        # Of packets, or who it is and how it ended come as one number where it ends before they are read.
        status, status_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ends = array.array("i", [out_end, err_end, status_end.fileno()])
        request = json.dumps([code, ["-c", *arguments], dict(os.environ if env is None else env), os.getcwd()]).encode()
        self._server.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, ends)])
        os.close(out_end)
        os.close(err_end)
        status_end.close()
        return Child(arguments, status, open(out, encoding="utf-8"), open(err, encoding="utf-8"))

    def run(
        self, code: str, *arguments: str, env: Mapping[str, str] | None = None, timeout: float | None = 300
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end."""
        child = self.start(code, *arguments, env=env)
        out, err = child.communicate(timeout)
        return subprocess.CompletedProcess(child.args, child.wait(), out, err)

    def _serve(self) -> None:
        self._server, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, __file__, str(theirs.fileno())]
        server = subprocess.Popen(command, pass_fds=[theirs.fileno()], start_new_session=True)
        theirs.close()
        self._server.send(self._prepare.encode())
        self._owner = os.getpid()
        atexit.register(self._end, server, self._owner)

    def _end(self, server: subprocess.Popen[bytes], owner: int) -> None:
        if os.getpid() == owner:
            self._server.close()
            server.wait()


# -- the process that forks ------------------------------------------------------------------------


def _told(ends: dict[int, int]) -> None:
    """Say of each child that has ended how it did."""
    while ends:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            break
        end = ends.pop(pid)
        with suppress(OSError):
            os.write(end, b"%d" % os.waitstatus_to_exitcode(status))
        os.close(end)


def _become(request: bytes, handles: list[int], connection: socket.socket, ends: dict[int, int]) -> str:
    """Make a child what was asked for, and return its program."""
    connection.close()
    for end in (*ends.values(), handles[2]):
        os.close(end)
    for place, handle in enumerate(handles[:2], 1):
        os.dup2(handle, place)
        os.close(handle)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    os.setsid()
    code, sys.argv, environment, folder = json.loads(request)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    return str(code)


def _serve(connection: socket.socket) -> str:
    """Fork for each request; return in each child its program, and nothing at the end."""
    ends: dict[int, int] = {}
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGCHLD, lambda number, frame: _told(ends))
    while True:
        request, [*rights], _, _ = connection.recvmsg(MOST, socket.CMSG_SPACE(12))
        if not request:
            return ""
        handles = array.array("i", rights[0][2]).tolist()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        with warnings.catch_warnings():  # threads of libraries are there
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if not pid:
            return _become(request, handles, connection, ends)
        ends[pid] = handles.pop()
        os.write(ends[pid], b"%d" % pid)
        for handle in handles:
            os.close(handle)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def _main(number: int) -> None:
    connection = socket.socket(fileno=number)
    names = {"__name__": "__main__"}
    sys.path[0] = ""  # as for any program that is no file
    exec(connection.recv(MOST).decode(), names)
    gc.collect()
    gc.freeze()
    exec(compile(_serve(connection), "<string>", "exec"), names)


if __name__ == "__main__":
    _main(int(sys.argv[1]))
