"""What an engine is, which has the shards and computes on them, and the one that is this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from theano.distributed.combining import Combination, tree
from theano.distributed.data import opened

if TYPE_CHECKING:
    import numpy as np



class Stage(Protocol):
    """What is computed for a shard.

    Attributes
    ----------
    keeps : int
        How many arrays it makes that stay with the shard for later stages.
    """

    keeps: int

    def __call__(self, arrays: Sequence[Any], values: Sequence[Any], /) -> tuple[list[Any], list[Any]]:
        """Return the shard's arrays, those that stay behind the others, and the results that are sent back.

        It is given the shard's arrays, and values that are the same everywhere.
        """


class Engine(Protocol):
    """What a distributed function asks of an engine."""

    def scatter(self, shards: Sequence[Sequence[Any]]) -> list[Any]:
        """Return a handle for each shard, whose arrays are stored where they will be worked on."""

    def run(
        self, stage: Stage, shards: Sequence[Any], values: Sequence[Any], combination: Combination | None = None
    ) -> tuple[list[Any], list[list[Any]]]:
        """Run a stage on each shard; return handles of the shards with what stays there, and the results.

        The results are those of each shard, in their order; with a combination, only what it makes of them, in the
        tree of `theano.distributed.combining`.
        """


class SerialEngine:
    """One shard after the other, in this process.

    Only one shard is worked on at a time: with arrays that `numpy.memmap` maps, the data may be larger than the memory.
    """

    def scatter(self, shards: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the shards as they are."""
        return [list(s) for s in shards]

    def run(
        self, stage: Stage, shards: Sequence[Any], values: Sequence[object], combination: Combination | None = None
    ) -> tuple[list[Any], list[list[Any]]]:
        """Run a stage on each shard."""
        kept: list[Any] = []

        def found(i: int) -> list[np.ndarray]:
            arrays, results = stage([opened(a) for a in shards[i]], values)
            kept.append([*shards[i], *arrays[len(shards[i]) :]])
            return results

        if combination is not None:
            return kept, [combination.at(tree(len(shards)), found)]  # each shard before the next
        return kept, [found(i) for i in range(len(shards))]
