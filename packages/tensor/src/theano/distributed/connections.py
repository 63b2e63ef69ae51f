"""Connections of Dask's that threads read and write, without an event loop.

A message that passes through an event loop of Python takes a millisecond or two until a thread has it, and as much of a
processor, which a block on the same processor then lacks. A thread that waits in a socket has it in a tenth of that.
So a connection is made as Dask makes its own (the address, encryption and timeouts are Dask's, and no port is opened),
and then the loop lets go of its socket.
"""

from __future__ import annotations

import asyncio
import importlib
import pickle
import socket
import ssl
import struct
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

import numpy as np

HANDLER = "theano_stage"
"""The name by which Dask finds in a worker what lets go of a socket."""
CONNECT = 3.0
"""How many seconds a worker that was not called before may take to be connected."""
_JOINED = 1 << 16
"""Messages up to this many bytes are copied and sent at once."""


class UnreachableError(Exception):
    """A worker cannot be connected from here."""


class NoHandlerError(Exception):
    """The worker has no stage handler: it belongs to another scheduler."""


class Pickled:
    """A thing as bytes, once for all whom it is sent to; its arrays are not copied."""

    def __init__(self, thing: object):
        buffers: list[pickle.PickleBuffer] = []
        data = _pickle().dumps(thing, buffer_callback=buffers.append)
        self.frames = [memoryview(data), *(b.raw() for b in buffers)]


def unpickled(frames: Sequence[Any]) -> Any:
    """Return a thing that came as frames, which its arrays are, and can be written to."""
    data, *buffers = frames
    return _pickle().loads(data, buffers=buffers)


def _pickle() -> Any:
    return importlib.import_module("distributed.protocol.pickle")  # there is a client or a worker of it


class Connection:
    """A connection of Dask's whose socket belongs to the thread that has this.

    It is made in the thread of the event loop, while the other end says nothing.

    Parameters
    ----------
    comm : distributed.comm.Comm
        Of TCP or TLS.
    plain : bool
        Whether `begin` ends the encryption. Both ends have then shown each other their keys.
    """

    def __init__(self, comm: Any, plain: bool = False):
        self._comm, self._plain, stream = comm, plain, comm.stream
        stream.io_loop.remove_handler(stream.fileno())
        self._socket: socket.socket = stream.socket
        self._socket.setblocking(True)

    def begin(self, *, second: bool = False) -> None:
        """End the encryption, if that is wanted, in the threads of both ends: first in the one that received "OK".

        Its event loop still reads until then, and would take the end of encryption for that of the connection.
        """
        if self._plain and isinstance(self._socket, ssl.SSLSocket):
            self._socket.settimeout(CONNECT)
            if second:
                self._socket.recv(1)  # nothing, once the other end has ended it
            self._socket = self._socket.unwrap()
            self._socket.setblocking(True)

    def send(self, *things: Pickled) -> None:
        """Send some things as one message."""
        frames = [frame for thing in things for frame in thing.frames]
        numbers = [len(things), len(frames), *(len(t.frames) for t in things), *(f.nbytes for f in frames)]
        joined = bytearray(struct.pack(f"<{len(numbers)}Q", *numbers))
        for frame in frames:
            if frame.nbytes > _JOINED:
                self._socket.sendall(joined)
                self._socket.sendall(frame)
                joined = bytearray()
            else:
                joined += frame
        self._socket.sendall(joined)

    def receive(self) -> list[list[Any]]:
        """Return the frames of each thing of a message; `EOFError` or `OSError` if the other end is gone."""
        things, frames = struct.unpack("<2Q", self._read(16))
        numbers = struct.unpack(f"<{things + frames}Q", self._read(8 * (things + frames)))
        sizes = iter(numbers[things:])
        return [[self._read(next(sizes)) for _ in range(count)] for count in numbers[:things]]

    def _read(self, size: int) -> memoryview:
        # Memory of NumPy's, since the first byte of an array in it must be aligned for its dtype.
        found = np.empty(size, np.uint8).data
        left = found
        while left:
            count = self._socket.recv_into(left)
            if not count:
                raise EOFError
            left = left[count:]
        return found

    def close(self) -> None:
        """Close it, from any thread: one that waits for a message gets an `EOFError` or an `OSError`."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is closed already
        self._comm.abort()  # not in the loop, which may have ended, and has nothing of it


class Connections:
    """Connections of this process to workers. One thread uses each at a time; idle ones are kept.

    Parameters
    ----------
    pool : distributed.core.ConnectionPool
        Connections are made with the arguments that it has.
    loop : asyncio.AbstractEventLoop
        In which connections are made; it runs in another thread.
    """

    def __init__(self, pool: Any, loop: asyncio.AbstractEventLoop):
        self._arguments, self._loop = pool.connection_args, loop
        self._idle: dict[str, list[Connection]] = {}
        self._lock = threading.Lock()
        weakref.finalize(self, _close, self._idle)

    def ask(
        self, addresses: Sequence[str], request: Callable[[str], Sequence[Pickled]],
        again: Callable[[str, Any], Sequence[Pickled] | None],
    ) -> list[Any]:  # fmt: skip
        """Send a request to each address; return the replies, or the exceptions of those that did not reply.

        Parameters
        ----------
        addresses : list of str
        request : callable
            What is sent to an address.
        again : callable
            What is sent to an address after its reply, if anything is.
        """
        taken = self._taken(addresses)
        requests = {a: request(a) for a in addresses}  # all before the first is sent: then workers begin together
        replies: list[Any] = []
        try:
            for address, connection in taken.items():
                taken[address] = _sent(connection, requests[address])
            for address, connection in taken.items():
                replies.append(_replied(connection, address, again))
                if not isinstance(replies[-1], Exception):
                    self._give(address, connection)
        finally:
            # In whatever way this ends, a connection of which a reply is not read is of no use.
            for connection in list(taken.values())[len(replies) :]:
                if isinstance(connection, Connection):
                    connection.close()
        return replies

    def _taken(self, addresses: Sequence[str]) -> dict[str, Connection]:
        """Return a connection to each address, or the exception that says why it failed."""
        with self._lock:
            taken: dict[str, Any] = {a: self._idle[a].pop() if self._idle.get(a) else None for a in addresses}
        new = [a for a, connection in taken.items() if connection is None]
        if new:
            opened = asyncio.run_coroutine_threadsafe(self._opened(new), self._loop)
            taken.update(zip(new, map(_begun, opened.result(3 * CONNECT)), strict=True))
        return taken

    async def _opened(self, addresses: Sequence[str]) -> list[Any]:
        return await asyncio.gather(*map(self._open, addresses), return_exceptions=True)

    async def _open(self, address: str) -> Connection:
        connect = importlib.import_module("distributed.comm").connect
        send_recv = importlib.import_module("distributed.core").send_recv
        try:
            comm = await connect(address, timeout=CONNECT, **self._arguments)
            plain = on_this_machine(comm)
            said = await asyncio.wait_for(send_recv(comm, op=HANDLER, plain=plain), CONNECT)
        except OSError as exc:
            raise UnreachableError(address) from exc
        if said != "OK":
            comm.abort()
            raise NoHandlerError(address)
        return Connection(comm, plain)

    def _give(self, address: str, connection: Connection) -> None:
        with self._lock:
            self._idle.setdefault(address, []).append(connection)


def on_this_machine(comm: Any) -> bool:
    """Tell whether only the administrator can read or change the data of a connection of Dask's.

    Encryption then only takes time: of a step of two workers with 131 kB each way 1.3 ms.
    """
    return ip_address(comm.stream.socket.getpeername()[0]).is_loopback


def _begun(connection: Any) -> Any:
    """Return a connection that has begun, or the exception that says why it failed."""
    if isinstance(connection, Connection):
        try:
            connection.begin()
        except OSError as exc:
            connection.close()
            return exc
    return connection


def _sent(connection: Connection, request: Sequence[Pickled]) -> Any:
    """Return the connection by which a request went, or the exception that says why it did not."""
    if isinstance(connection, Exception):
        return connection
    try:
        connection.send(*request)
    except OSError as exc:
        connection.close()
        return exc
    return connection


def _replied(connection: Any, address: str, again: Callable[[str, Any], Sequence[Pickled] | None]) -> Any:
    """Return the reply to a request, or the exception that says why it failed."""
    if isinstance(connection, Exception):
        return connection
    try:
        reply = unpickled(connection.receive()[0])
        more = again(address, reply)
        if more is None:
            return reply
        connection.send(*more)
        return unpickled(connection.receive()[0])
    except (OSError, EOFError) as exc:
        connection.close()
        return exc


def _close(idle: Mapping[str, Sequence[Connection]]) -> None:
    for some in idle.values():
        for connection in some:
            connection.close()
