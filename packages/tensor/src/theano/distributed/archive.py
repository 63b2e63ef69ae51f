"""Files of checkpoints: zip archives of NumPy's own files, which are written whole or not at all.

``numpy.load(path)["w"]`` reads an array of one without this library. Nothing in it is a pickle. Its last bytes, which
are the comment of the archive, have the number of the format and the SHA-256 digest of all bytes before the digest: so
each byte that is missing or another one is noticed, before anything is made of the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

#: The format that is written. One that is older is read, one that is newer refused.
FORMAT = 1

#: The member that says what the arrays are.
HEADER = "theano.json"

_COMMENT = "theano checkpoint {:4d} sha256 "
_DIGEST = 64
_LENGTH = len(_COMMENT.format(FORMAT)) + _DIGEST
_FOOTER = re.compile(rb"theano checkpoint ([ \d]{4}) sha256 ([0-9a-f]{64})\Z")

#: What zipfile, NumPy and json raise for an archive that is not as it should be.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, ValueError, KeyError, TypeError, EOFError, NotImplementedError,
    RuntimeError,
)  # fmt: skip


class CheckpointError(ValueError):
    """A checkpoint is damaged, of a newer format, or not one of what it is to be loaded into."""


def write(
    path: Path,
    header: Mapping[str, int | Sequence[Sequence[str]] | Mapping[str, dict[str, int | str]]],
    arrays: Mapping[str, np.ndarray],
) -> str:
    """Write an archive, replacing an existing one; if that fails, the old one stays.

    Parameters
    ----------
    path : Path
    header : dict
        Of JSON.
    arrays : dict from str to ndarray

    Returns
    -------
    str
        The digest of the file.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        # Made as any file is, with the permissions that the user's mask says.
        with open(beside, "x+b") as file:
            _fill(file, header, arrays)
            digest = _seal(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(path.parent)
    return digest


def _fill(
    file: BinaryIO,
    header: Mapping[str, int | Sequence[Sequence[str]] | Mapping[str, dict[str, int | str]]],
    arrays: Mapping[str, np.ndarray],
) -> None:
    # ZipInfo has a fixed time: equal values make equal files.
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(HEADER), json.dumps(header))
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        archive.comment = _COMMENT.format(FORMAT).encode() + b"0" * _DIGEST


def _seal(file: BinaryIO) -> str:
    """Put the digest in its place."""
    size = file.seek(0, os.SEEK_END)
    digest = _digest(file, size - _DIGEST)
    file.seek(size - _DIGEST)
    file.write(digest.encode())
    return digest


def _digest(file: BinaryIO, size: int) -> str:
    found = hashlib.sha256()
    file.seek(0)
    while size and (data := file.read(min(size, 1 << 20))):
        found.update(data)
        size -= len(data)
    return found.hexdigest()


def _sync_folder(folder: Path) -> None:
    """Let the new name of a file last; systems on which folders cannot be opened do so by themselves."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read(path: Path, digest: str | None = None) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of an archive.

    Parameters
    ----------
    path : Path
    digest : str, optional
        Which digest the file must have, if another one says so.

    Raises
    ------
    CheckpointError
        The file is damaged, or of a newer format.
    OSError
        It is not there, or cannot be read.
    """
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _LENGTH))
        footer = _FOOTER.match(file.read())
        if footer is None:
            raise CheckpointError(f"{path} is no checkpoint, or its end is missing: it has {size} bytes")
        if int(footer[1]) > FORMAT:
            raise CheckpointError(
                f"{path} has the format {int(footer[1])} of checkpoints, and this version of Theano reads up to "
                f"{FORMAT}: load it with the version that wrote it, or a newer one"
            )
        if footer[2].decode() != _digest(file, size - _DIGEST):
            raise CheckpointError(f"{path} is damaged: its {size} bytes are not those that were written")
        if digest is not None and footer[2].decode() != digest:
            raise CheckpointError(f"{path} is not the file that was written with this checkpoint, but another one")
        try:
            return _contents(file)
        except _BROKEN as exc:
            raise CheckpointError(f"{path} is no checkpoint: {exc}") from exc


def _contents(file: BinaryIO) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    arrays = {}
    with zipfile.ZipFile(file) as archive:
        header: dict[str, Any] = json.loads(archive.read(HEADER))
        for name in archive.namelist():
            if name.endswith(".npy"):
                with archive.open(name) as member:
                    arrays[name.removesuffix(".npy")] = np.lib.format.read_array(member, allow_pickle=False)
    return header, arrays
