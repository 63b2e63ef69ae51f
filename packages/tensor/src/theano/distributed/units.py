"""Machine code that goes along with functions to the workers of an engine, which run what they are sent anyway."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from theano.cache.store import CacheSettings
from theano.codegen.carried import Carried, collect, take
from theano.settings import config
from theano.toolchain.description import ToolchainSettings

if TYPE_CHECKING:
    from theano.compile.executable import Function


class Units:
    """What compiled functions need of machine code, as its pickle has it.

    It is pickled for workers only: they run all code of their client, so that this gives no additional power. A pickle
    of a function by itself has no machine code.

    Parameters
    ----------
    functions : iterable of Function
    carried : Carried, optional
        What came from elsewhere, and goes on from one worker to the next.
    """

    def __init__(self, functions: Iterable[Function], carried: Carried | None = None):
        self.functions, self.carried = list(functions), carried

    def __reduce__(self) -> tuple[object, ...]:
        carried = self.carried
        if carried is None:
            holders = [f.maker.keepalive for f in self.functions]
            carried = collect(holders, ToolchainSettings.from_config(config), CacheSettings.from_config(config))
        return Units, ((), carried)

    def receive(self) -> None:
        """Put what came from elsewhere into the cache of this process, as far as it fits."""
        if self.carried is not None:
            take(self.carried, ToolchainSettings.from_config(config), CacheSettings.from_config(config))
