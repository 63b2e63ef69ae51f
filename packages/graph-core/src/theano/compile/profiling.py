"""``theano.compile.profiling``: see :mod:`theano.runtime.profile`; the flags are handed down to it from here."""

from __future__ import annotations

from functools import partial

from theano.layers import lazily
from theano.runtime.profile import ProfileStats, print_global_stats, settings, totals
from theano.settings import config

#: Where `settings` calls something as no flag does.
_CALLED = {"profile_memory": "memory", "profile_optimizer": "optimizer", "print_global_stats": "global_stats"}
_FLAGS = (
    "time_thunks n_apply n_ops output_line_width min_memory_size min_peak_memory destination debugprint "
    "ignore_first_call"
)
for _flag, _name in ({f"profiling.{name}": name for name in _FLAGS.split()} | _CALLED).items():
    config.watch(_flag, partial(setattr, settings, _name))


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
        # The total time of all calls may be printed at exit.
        return ProfileStats(atexit_print=False, flag_time_thunks=False) if config.print_global_stats else None
    return ProfileStats(
        # A profile requested for one function is read with f.profile.summary().
        atexit_print=bool(config.profile),
        message=wanted if isinstance(wanted, str) else "",
    )


__all__ = ["ProfileStats", "print_global_stats", "totals", "wanted_profile"]


__getattr__, __dir__ = lazily(globals())
