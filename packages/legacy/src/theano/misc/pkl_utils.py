"""Models on disk: a zip archive with a pickle, and beside it each array as a file that NumPy reads by itself.

An array of a shared variable is stored under the variable's name, so that ``numpy.load(path)["W"]`` reads it without
this library, and in any version of it.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from theano.compile import SharedVariable
from theano.graph.variable import Scratchpad
from theano.layers import lazily

PROTOCOL = pickle.DEFAULT_PROTOCOL
_PICKLE = "pkl"
_MARK = "ndarray."


class StripPickler(pickle.Pickler):
    """A pickler that leaves out what variables carry for users: where they were made, test values, notes of rewriting.

    Parameters
    ----------
    file : binary file
    protocol : int
    extra_tag_to_remove : str or list of str, optional
        More attributes of ``tag`` that stay out.

    Examples
    --------
    >>> import io, theano.tensor as T
    >>> x, file = T.dvector("x"), io.BytesIO()
    >>> x.tag.note = "long"
    >>> StripPickler(file, 2, "note").dump(x + 1)
    >>> hasattr(pickle.loads(file.getvalue()).owner.inputs[0].tag, "note")
    False
    """

    def __init__(self, file: BinaryIO, protocol: int = PROTOCOL, extra_tag_to_remove: Any = None):
        super().__init__(file, protocol)
        more = [extra_tag_to_remove] if isinstance(extra_tag_to_remove, str) else extra_tag_to_remove or []
        self.tag_to_remove = ["trace", "test_value", "replacement_of", "aggregate", *more]

    def reducer_override(self, obj: Any) -> Any:
        """Return a tag without those attributes."""
        if not isinstance(obj, Scratchpad):
            return NotImplemented
        kept = {name: value for name, value in vars(obj).items() if name not in self.tag_to_remove}
        return type(obj), (), kept


class PersistentNdarrayID:
    """Stores arrays in a zip archive, each once, and says which is where.

    Parameters
    ----------
    zip_file : zipfile.ZipFile
        Open for writing.
    """

    def __init__(self, zip_file: zipfile.ZipFile):
        self.zip_file = zip_file
        self.taken = {_PICKLE}
        self.count = 0
        # The arrays are kept: another one must not come to have the address of one that is gone.
        self.seen: dict[int, tuple[str, Any]] = {}

    def _resolve_name(self, obj: Any) -> str:
        while (name := f"array_{self.count}") in self.taken:
            self.count += 1
        self.taken.add(name)
        return name

    def __call__(self, obj: Any) -> str | None:
        """Return the name of an array that is stored, None for anything else."""
        if type(obj) is not np.ndarray or obj.dtype.hasobject:
            return None
        if id(obj) not in self.seen:
            name = self._resolve_name(obj)
            with self.zip_file.open(name, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, obj, allow_pickle=False)
            self.seen[id(obj)] = (name, obj)
        return _MARK + self.seen[id(obj)][0]


class PersistentSharedVariableID(PersistentNdarrayID):
    """Stores the arrays of shared variables under the variables' names.

    Parameters
    ----------
    zip_file : zipfile.ZipFile
        Open for writing.
    allow_unnamed : bool
        Whether a shared variable may have no name; it is numbered then, as are arrays of no variable. A name that would
        lead out of the folder in which the archive is unpacked, such as ``../W`` or ``/W``, counts as missing.
    allow_duplicates : bool
        Whether two may have one name; the second gets ``_2`` behind it.

    Raises
    ------
    ValueError
        A variable has no name, or that of another, where that is not allowed; or it is called ``pkl``.
    """

    def __init__(self, zip_file: zipfile.ZipFile, allow_unnamed: bool = True, allow_duplicates: bool = True):
        super().__init__(zip_file)
        self.allow_unnamed, self.allow_duplicates = allow_unnamed, allow_duplicates
        self.name_counter: dict[str, int] = {}
        self.ndarray_names: dict[int, str] = {}

    def _resolve_name(self, obj: Any) -> str:
        return self.ndarray_names.get(id(obj)) or super()._resolve_name(obj)

    def __call__(self, obj: Any) -> str | None:
        """Return the name of an array that is stored; remember that of a shared variable for its array."""
        if isinstance(obj, SharedVariable):
            value = obj.container.data
            if id(value) not in self.ndarray_names and isinstance(value, np.ndarray):
                self._remember(obj.name, value)
        return super().__call__(obj)

    def _remember(self, name: str | None, value: np.ndarray) -> None:
        if not name or _leads_out(name):
            if not self.allow_unnamed:
                raise ValueError("a shared variable has no name: give it one, or allow_unnamed")
            return
        if name == _PICKLE:
            raise ValueError(f"a shared variable cannot be called {_PICKLE!r}: that is the name of the pickle itself")
        count = self.name_counter[name] = self.name_counter.get(name, 0) + 1
        if count > 1 and not self.allow_duplicates:
            raise ValueError(f"two shared variables are called {name!r}: rename one, or allow_duplicates")
        free = name if count == 1 else f"{name}_{count}"
        while free in self.taken:  # by a variable of that very name
            count += 1
            free = f"{name}_{count}"
        self.taken.add(free)
        self.name_counter[name], self.ndarray_names[id(value)] = count, free


def _leads_out(name: str) -> bool:
    """Return whether a name in an archive is no path below the folder that it is unpacked in."""
    return "\0" in name or name[1:2] == ":" or name[:1] in "/\\" or ".." in name.replace("\\", "/").split("/")


class PersistentNdarrayLoad:
    """Reads the arrays of a zip archive, each once.

    Parameters
    ----------
    zip_file : zipfile.ZipFile
    """

    def __init__(self, zip_file: zipfile.ZipFile):
        self.zip_file = zip_file
        self.cache: dict[str, np.ndarray] = {}

    def __call__(self, persid: str) -> np.ndarray:
        """Return an array by what the pickle says about it."""
        name = persid.removeprefix(_MARK)
        if name not in self.cache:
            self.cache[name] = np.load(io.BytesIO(self.zip_file.read(name)), allow_pickle=False)
        return self.cache[name]


def dump(
    obj: Any, file_handler: BinaryIO, protocol: int = PROTOCOL, persistent_id: Any = PersistentSharedVariableID
) -> None:
    """Write an object into a zip archive: a pickle, and its arrays as files of their own.

    Parameters
    ----------
    obj : object
        Shared variables, or anything with some in it.
    file_handler : binary file
        Open for writing.
    protocol : int
        Of the pickle.
    persistent_id : callable
        From the archive to what says which objects are stored beside the pickle, as :mod:`pickle` has it.

    Raises
    ------
    ValueError
        The names of shared variables do not suit (see :class:`PersistentSharedVariableID`).

    Examples
    --------
    >>> import io, numpy as np, theano
    >>> file = io.BytesIO()
    >>> dump((theano.shared(0, name="foo"), theano.shared(1, name="foo"), np.array(2)), file)
    >>> _ = file.seek(0)
    >>> archive = np.load(file)
    >>> sorted(archive), int(archive["foo_2"])
    (['array_0', 'foo', 'foo_2', 'pkl'], 1)
    >>> [v.get_value().item() for v in load(file)[:2]]
    [0, 1]
    """
    with zipfile.ZipFile(file_handler, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        buffer = io.BytesIO()
        pickler = pickle.Pickler(buffer, protocol=protocol)
        pickler.persistent_id = persistent_id(archive)  # type: ignore[method-assign]
        pickler.dump(obj)
        archive.writestr(_PICKLE, buffer.getvalue())


def load(f: BinaryIO, persistent_load: Callable[[zipfile.ZipFile], Any] = PersistentNdarrayLoad) -> Any:
    """Return what :func:`dump` wrote. As with any pickle, load files of trusted origin only.

    Parameters
    ----------
    f : binary file
        Open for reading.
    persistent_load : callable
        From the archive to what reads the objects beside the pickle.

    Raises
    ------
    zipfile.BadZipFile
        It is no such archive.
    """
    with zipfile.ZipFile(f, "r") as archive:
        unpickler = pickle.Unpickler(io.BytesIO(archive.read(_PICKLE)))
        unpickler.persistent_load = persistent_load(archive)  # type: ignore[method-assign]
        return unpickler.load()


def load_reduce(self: Any) -> None:
    """Call what a pickle wants called; say what it was where that fails: an opcode of Python's own unpickler.

    Examples
    --------
    >>> import io, pickle
    >>> CompatUnpickler(io.BytesIO(pickle.dumps([1, 2], protocol=2))).load()
    [1, 2]
    """
    arguments = self.stack.pop()
    called = self.stack[-1]
    try:
        self.stack[-1] = called(*arguments)
    except Exception as error:
        raise pickle.UnpicklingError(f"{called} could not be called with {arguments}: {error}") from error


class CompatUnpickler(pickle.Unpickler):
    r"""Reads pickles that Python 2 wrote, arrays and Theano's objects among them.

    Parameters
    ----------
    file : binary file
    **kwargs
        For :class:`pickle.Unpickler`; texts are read as ``latin1`` unless they say otherwise.

    Examples
    --------
    >>> import io
    >>> CompatUnpickler(io.BytesIO(b"S'\\xe9t\\xe9'\n.")).load()
    'été'
    """

    def __init__(self, file: BinaryIO, **kwargs: Any):
        super().__init__(file, **{"encoding": "latin1", **kwargs})


def zipadd(func: Callable[[BinaryIO], Any], zip_file: zipfile.ZipFile, name: str) -> None:
    """Add a file to an archive, with what a function writes into it.

    Parameters
    ----------
    func : callable
        Called with a binary file.
    zip_file : zipfile.ZipFile
    name : str
        In the archive.

    Examples
    --------
    >>> import io
    >>> archive = zipfile.ZipFile(io.BytesIO(), "w")
    >>> zipadd(lambda file: file.write(b"text"), archive, "note")
    >>> archive.read("note")
    b'text'
    """
    buffer = io.BytesIO()
    func(buffer)
    zip_file.writestr(name, buffer.getvalue())


__getattr__, __dir__ = lazily(globals())
