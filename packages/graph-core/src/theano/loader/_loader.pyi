"""The compiled half of theano.loader; :mod:`theano.loader.schema` declares the entries of a program."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Self, TypeVar

_F = TypeVar("_F", bound=type[Function])

ABI_VERSION: int

class KernelShapeError(ValueError):
    """A compiled kernel was given arrays whose shapes do not go together."""

class NativeThunk:
    """A compiled thunk and its cells."""

    cthunk: Any
    failed: int
    inputs: list[list[Any]]
    outputs: list[list[Any]]
    lazy: bool
    def __init__(
        self,
        new: int,
        run: int,
        failed: int,
        delete: int,
        cells: tuple[list[Any], ...],
        computed: tuple[list[Any], ...] = (),
        keep: Any = None,
        names: tuple[str, ...] = (),
    ) -> None: ...
    @classmethod
    def of_capsule(cls, capsule: Any, computed: tuple[list[Any], ...] = (), keep: Any = None) -> NativeThunk: ...
    def __call__(self) -> list[int] | None: ...

def run_cthunk(capsule: Any) -> int: ...

class Library:
    """A shared object, opened with RTLD_NOW and RTLD_LOCAL, closed with its last reference.

    With a key, the unit must export it as ``theano_unit_key``: else ValueError. OSError when it cannot be loaded.
    """

    def __init__(self, path: str | bytes | PathLike[str], key: str = "") -> None: ...
    def symbol(self, name: str) -> int:
        """Return the address of a symbol; LookupError when there is none."""
    @property
    def path(self) -> str: ...

class Function:
    """A program that can be called. Entries come as a mapping, as keywords, or both (keywords win)."""

    def __init__(self, program: Mapping[str, Any] | None = None, /, **entries: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def profile_counts(self) -> tuple[int, int, list[tuple[int, int]]] | None:
        """Return (calls, ns, [(calls, ns) of each instruction]), or None without profiling.

        Calls are counted, all of them; times are estimated where not each call was timed.
        """
    def profile_timed(self) -> int | None:
        """Return how many of the calls were timed, or None without profiling."""
    def profile_shapes(self) -> list[list[tuple[int, tuple[int, ...], tuple[int, ...]] | None]] | None:
        """Return (bytes, shape, strides) of the largest value of each output, or None where that is not noted."""
    def profile_reset(self) -> None: ...
    def loop(
        self,
        n: int,
        sequences: tuple[tuple[Any, int], ...],
        states: tuple[tuple[Any, int, tuple[int, ...]], ...],
        carried: tuple[Any, ...],
        fixed: tuple[Any, ...],
        mapped: tuple[int, ...],
        until: bool,
    ) -> tuple[int, list[Any], list[Any]]:
        """Run for each of at most ``n`` steps; return how many were run, the results stacked, and the carried values.

        The program's inputs are rows of the sequences, rows of the states for each of their taps, the carried values,
        and what stays the same; its outputs a row of each state, then the results, the carried values, and with
        ``until`` whether this was the last step. It has no updates.

        Parameters
        ----------
        n : int
            At least one.
        sequences : tuple of (array, int)
            For each such input an array with a dimension more, on the left, and the row that the first step sees.
        states : tuple of (array, int, tuple of int)
            A buffer, the row that the first step writes, and the taps: which rows are read, counted from the one that
            is written. After the last row of the buffer comes its first one.
        carried : tuple
            Their first values, which are not written over.
        fixed : tuple
        mapped : tuple of int
            How many rows of each result are stored; after the last one comes the first. Those that no step wrote hold
            anything.
        until : bool

        Raises
        ------
        Exception
            What a step raises has an attribute ``step``, the number of that step.
        """
    def direct(self, kind: str) -> tuple[Any, Any]: ...
    def free(self) -> None:
        """Drop the memory kept for the next call."""
    @property
    def lazy(self) -> bool:
        """Whether evaluation is driven by demand."""
    @property
    def frames_at_rest(self) -> int:
        """How many frames wait for the next call."""

def enable_vectorcall(cls: _F) -> _F:
    """Give a Python subclass of Function the fast call that Python 3.11 does not inherit; returns it.

    Usable as a decorator. The class must not define ``__call__``, now or later.
    """

def set_threads(n: int) -> None:
    """Set how many threads parallel_for uses at most; 0: as many as this process may use."""

def get_threads() -> int:
    """Return how many threads parallel_for uses: the lesser of setting and affinity."""

def set_threads_least(elements: int) -> None:
    """Set how many elements the largest array of an instruction must have for parallel_for to use other threads."""

def cpu_level() -> int:
    """Return the x86-64 level (1 to 4) that this CPU and its system support; 0 on other architectures."""

def numpy_sort(dtype: str, kind: int, places: bool) -> int:
    """Return the address of NumPy's sort of a dtype, or of the places that order it; 0 if there is none."""

def store(cell: list[Any], value: Any) -> None:
    """Put a value into a one-element list, when no call in another thread is updating it."""

def locks_after_fork() -> None:
    """Let go, in a child process, what calls in threads of its parent had locked."""

class DeviceArray:
    """An array in the memory of a device: a window on a block of it, made by `empty` or by a function."""

    @classmethod
    def empty(cls, device: str, dtype: str, shape: Sequence[int], /) -> Self:
        """Return an array whose numbers are anything."""
    @classmethod
    def adopt(cls, device: str, address: int, size: int, owner: object, /) -> Self:
        """Return foreign memory of a device as an array of bytes, without a copy; it keeps ``owner``."""
    def capsule(
        self, device_type: int, device_id: int, data: int, offset: int, owner: object, versioned: bool, /
    ) -> Any:
        """Return the array as a capsule of DLPack, which keeps ``owner``."""
    def window(self, offset: int, shape: Sequence[int], strides: Sequence[int], dtype: str | None = None, /) -> Self:
        """Return other elements of the same memory, the first of them ``offset`` bytes behind this one's."""
    def packed(self) -> Self:
        """Return the same numbers in memory of their own, in C order."""
    def copy_from(self, other: DeviceArray, /) -> bool:
        """Copy all numbers from an array on another device, both in one piece; False: not without the host."""
    def assign(self, other: DeviceArray, /) -> None:
        """Copy all numbers of an array of the same shape and dtype on the same device, which is no part of this one."""
    def read_into(self, buffer: Any, /) -> None:
        """Copy all numbers to the host; the array lies in one piece."""
    def write_from(self, buffer: Any, /) -> None:
        """Copy all numbers from the host; the array lies in one piece."""
    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths."""
    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in bytes."""
    @property
    def dtype_name(self) -> str:
        """The name of its dtype."""
    @property
    def device(self) -> str:
        """The name of the device."""
    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
    @property
    def size(self) -> int:
        """How many elements it has."""
    @property
    def address(self) -> int:
        """Where its first element is, to kernels of the device."""
    @property
    def memory(self) -> tuple[int, int]:
        """The address and the bytes of the memory that it is a part of."""
    @property
    def in_one_piece(self) -> bool:
        """Whether its elements lie one after the other, row by row."""

def add_device(name: str, address: int, array_class: type[DeviceArray] | None = None) -> None:
    """Let slots be in the memory of a device, from the address of its ``th_device``; all of it stays for good.

    Results of functions that lie there are of ``array_class``.
    """

def direct_message(capsule: Any) -> str | None: ...
def device_array_class(name: str) -> type[DeviceArray]:
    """Return the class of a device's arrays; ValueError if there is no such device."""

def read_capsule(capsule: Any) -> tuple[int, int, int, int, str, tuple[int, ...], tuple[int, ...], int, Any]:
    """Take the tensor of a capsule of DLPack.

    Returns device type, device number, data, offset of the first element in bytes, dtype, lengths, strides in bytes,
    flags, and an object that gives the tensor back to its producer when it is dropped. BufferError: it is used, or of
    another kind.
    """

def has_device(name: str) -> bool:
    """Return whether a device of that name was added."""

def empty(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array of numbers that hold anything; a big one lies in memory that is used again."""

def memory_cached() -> int:
    """Return how many bytes of big blocks wait to be used again."""

def memory_trim(keep: int = 0) -> None:
    """Give all but ``keep`` of those bytes back to the system."""

def memory_set_limit(n: int) -> None:
    """Set how many bytes may wait."""

def memory_get_limit() -> int:
    """Return how many bytes may wait: at first 256 MiB, or an eighth of the machine's memory if that is less."""

def runtime_address() -> int:
    """Return the address of the th_runtime table, for kernels that outlive a call."""

def profile_clock(counter: bool = True) -> bool:
    """Choose what functions made from now on read the time from, the counter of cycles or the system's clock.

    Returns whether it is the counter: a processor may have no steady one. For tests, and for machines whose counters
    are not in step; functions that are profiled already must not be called any more.
    """
