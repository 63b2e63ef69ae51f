"""What older programs read of a profile: sums one by one, and the parts of the summary."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from theano.runtime import summary
from theano.runtime.profile import ProfileStats, settings, totals


class Members:
    """What a profile shows besides its own members.

    Parameters
    ----------
    profile : ProfileStats

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> f = theano.function([x], theano.compile.view_op(x), profile=True)
    >>> f(3), set(f.profile.op_nodes().values())
    (3, {1})
    """

    def __init__(self, profile: ProfileStats):
        self._profile = profile

    @property
    def vm_call_time(self) -> float:
        """Seconds in calls: the machine takes the arguments, too."""
        return self._profile.fct_call_time

    @property
    def fct_call(self) -> dict[Any, int]:
        """Number of calls, by function."""
        return {f: f.profile_counts()[0] for f in self._profile.functions}

    def class_time(self) -> dict[type, float]:
        """Return seconds by class of op."""
        return {cls: sums.seconds for cls, sums in self._profile.by_class().items()}

    def class_callcount(self) -> dict[type, int]:
        """Return runs by class of op."""
        return {cls: sums.calls for cls, sums in self._profile.by_class().items()}

    def class_nodes(self) -> dict[type, int]:
        """Return numbers of nodes by class of op."""
        return {cls: sums.nodes for cls, sums in self._profile.by_class().items()}

    def class_impl(self) -> dict[type, str]:
        """Return ``C`` or ``Py`` by class of op."""
        return {cls: sums.implementation for cls, sums in self._profile.by_class().items()}

    def op_time(self) -> dict[Any, float]:
        """Return seconds by op."""
        return {op: sums.seconds for op, sums in self._profile.by_op().items()}

    def op_nodes(self) -> dict[Any, int]:
        """Return numbers of nodes by op."""
        return {op: sums.nodes for op, sums in self._profile.by_op().items()}

    def op_impl(self) -> dict[Any, str]:
        """Return ``C`` or ``Py`` by op."""
        return {op: sums.implementation for op, sums in self._profile.by_op().items()}

    def summary_function(self, file: TextIO) -> None:
        """Print the part about calls and compiling."""
        summary.write_function(self._profile, file, settings)

    def summary_class(self, file: TextIO | None = None, N: int | None = None) -> None:
        """Print the times by class of op."""
        summary.write_classes(self._profile, file or sys.stderr, settings, N or settings.n_ops)

    def summary_ops(self, file: TextIO | None = None, N: int | None = None) -> None:
        """Print the times by op."""
        summary.write_ops(self._profile, file or sys.stderr, settings, N or settings.n_ops)

    def summary_nodes(self, file: TextIO | None = None, N: int | None = None) -> None:
        """Print the times by node."""
        summary.write_nodes(self._profile, file or sys.stderr, settings, 0, N or settings.n_apply)

    def summary_memory(self, file: TextIO, N: int | None = None) -> None:
        """Print what values take, where memory was profiled."""
        summary.write_memory(self._profile, file, settings, 0, N or settings.n_apply)

    def summary_globals(self, file: TextIO) -> None:
        """Print times of the whole process."""
        summary.write_globals(totals, file)
