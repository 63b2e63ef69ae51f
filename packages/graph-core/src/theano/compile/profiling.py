"""``theano.compile.profiling``: see :mod:`theano.runtime.profile`; the flags are handed down to it from here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.layers import lazily
from theano.runtime.profile import ProfileStats, print_global_stats, settings, totals
from theano.settings import config


def _to(name: str) -> Callable[[Any], None]:
    return lambda value: setattr(settings, name, value)


config.watch("profiling.time_thunks", _to("time_thunks"))
config.watch("profiling.n_apply", _to("n_apply"))
config.watch("profiling.n_ops", _to("n_ops"))
config.watch("profiling.output_line_width", _to("output_line_width"))
config.watch("profiling.min_memory_size", _to("min_memory_size"))
config.watch("profiling.min_peak_memory", _to("min_peak_memory"))
config.watch("profiling.destination", _to("destination"))
config.watch("profiling.debugprint", _to("debugprint"))
config.watch("profiling.ignore_first_call", _to("ignore_first_call"))
config.watch("profile_memory", _to("memory"))
config.watch("profile_optimizer", _to("optimizer"))
config.watch("print_global_stats", _to("global_stats"))


def wanted_profile(wanted: bool | str | ProfileStats | None) -> ProfileStats | None:
    """Return the profile that the argument ``profile`` of ``theano.function`` asks for, or that the flags do.

    Parameters
    ----------
    wanted : bool, str, ProfileStats or None
    """
    if wanted is None:
        wanted = bool(config.profile)
    if isinstance(wanted, ProfileStats):
        return wanted
    if wanted is False:
        # Somebody may want to know at the end how long all calls took together.
        return ProfileStats(atexit_print=False, flag_time_thunks=False) if config.print_global_stats else None
    return ProfileStats(
        # What was asked for function by function is read with f.profile.summary().
        atexit_print=bool(config.profile),
        message=wanted if isinstance(wanted, str) else "",
    )


__all__ = ["ProfileStats", "print_global_stats", "totals", "wanted_profile"]


__getattr__, __dir__ = lazily(globals())
