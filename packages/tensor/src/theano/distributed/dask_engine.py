"""Workers of Dask as an engine."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from theano.distributed.combining import FAN_IN, Combination, Node, tree
from theano.distributed.data import Made, mapped
from theano.distributed.direct import DirectCalls, run_stage
from theano.distributed.engines import Stage
from theano.distributed.workers import Packed, pack
from theano.records import NamedTuple


class _Held(NamedTuple):
    """A shard that workers of Dask have: its arrays, or what makes them anew each time, and what stages have kept."""

    arrays: Any
    lazy: bool
    kept: tuple[Any, ...] = ()

    @property
    def there(self) -> bool:
        """Whether all of it is the result of one task."""
        return not self.lazy and not self.kept and not isinstance(self.arrays, list)


class DaskEngine:
    """Workers of a `dask.distributed.Client`; what a lost worker had computed is computed again, since stages are pure.

    An array that `numpy.memmap` maps is not sent: workers open the file, for as long as a task needs it. A dask array
    is made anew by each step and dropped, unless it was persisted. So the data may be larger than the memory of all.

    Workers that hold their shards are called without tasks; see `theano.distributed.direct`.

    Parameters
    ----------
    client : dask.distributed.Client
    """

    #: Of how many shards the results go to the client one by one, which is quicker than that workers send them to each
    #: other; those of data that are made anew would pile up.
    FEW = FAN_IN**2

    def __init__(self, client: Any):
        self.client = client
        self._calls = DirectCalls(client)
        self._packed: dict[Stage, Packed] = {}
        self._sent: dict[Stage, Any] = {}

    def scatter(self, shards: Sequence[Sequence[Any]]) -> list[Any]:
        """Send each shard to a worker, as the result of a task, which can be repeated where a worker is lost."""
        return [self._held([mapped(a) for a in s]) for s in shards]

    def _held(self, arrays: list[Any]) -> _Held:
        if not any(isinstance(a, (np.ndarray, Made)) for a in arrays):
            return _Held(arrays, False)  # numbers, and names of files
        lazy = any(isinstance(a, Made) and a.lazy for a in arrays)
        given = [a.source if isinstance(a, Made) else a for a in arrays]
        # In one task: the arrays of one shard stay on one worker.
        return _Held(_delayed(list)(given) if lazy else self.client.submit(list, given, pure=False), lazy)

    def run(
        self, stage: Stage, shards: Sequence[Any], values: Sequence[Any], combination: Combination | None = None
    ) -> tuple[list[Any], list[list[Any]]]:
        """Run a stage where each shard is; results of many shards are combined where they are, too."""
        many = len(shards) > self.FEW or any(s.lazy for s in shards)
        nodes: list[Node] = list(range(len(shards))) if combination is None or not many else tree(len(shards))
        found: dict[int, Any] = {}
        kept = list(shards)
        if not stage.keeps and all(s.there for s in shards):
            found = self._calls.found(self._pack(stage), [s.arrays for s in shards], values, nodes, combination)
        left = [i for i in range(len(nodes)) if i not in found]
        if left:
            kept, tasks = self._tasks(stage, shards, list(values), [nodes[i] for i in left], combination)
            found.update(zip(left, self.client.gather(tasks), strict=True))
        results = [found[i] for i in range(len(nodes))]
        if combination is None:
            return kept, results
        whole = combination.several(results) if many else combination.at(tree(len(shards)), results.__getitem__)
        return kept, [whole]

    def _tasks(
        self, stage: Stage, shards: Sequence[_Held], values: list[Any], nodes: Sequence[Node], combination: Any
    ) -> tuple[list[_Held], list[Any]]:
        """Return the shards with what stays there, and the futures of what a stage finds for some nodes."""
        there, keeps, lazy = self._submitted(stage), bool(stage.keeps), any(s.lazy for s in shards)
        ran: dict[int, Any] = {}

        def task(function: Any, *args: Any) -> Any:
            return _delayed(function)(*args) if lazy else self.client.submit(function, *args, pure=False)

        def result(node: Node) -> Any:
            if isinstance(node, list):
                return task(_several, combination, [result(child) for child in node])
            s = shards[node]
            ran[node] = task(run_stage, there, s.arrays, list(s.kept), values, keeps)
            return task(_item, ran[node], 1) if keeps else ran[node]

        found = [result(node) for node in nodes]
        stay = [task(_item, ran[i], 0) for i in range(len(shards))] if keeps else []
        if lazy:
            # One graph: Dask works on one shard to its end before it makes the next.
            futures = self.client.compute([*found, *stay], optimize_graph=False)
            found, stay = futures[: len(found)], futures[len(found) :]
        kept = [s._replace(kept=(*s.kept, k)) for s, k in zip(shards, stay, strict=True)] if keeps else list(shards)
        return kept, found

    def _pack(self, stage: Stage) -> Packed:
        if stage not in self._packed:
            self._packed[stage] = pack(stage)
        return self._packed[stage]

    def _submitted(self, stage: Stage) -> Any:
        """Return the stage as the result of a task."""
        if stage not in self._sent or self._sent[stage].status in ("error", "cancelled", "lost"):
            self._sent[stage] = self.client.submit(same, self._pack(stage), pure=False)
        return self._sent[stage]


def same(thing: Any) -> Any:
    """Return the argument: as a task of Dask's, it is sent once, and goes from worker to worker as any result does."""
    return thing


def _delayed(function: Any) -> Any:
    return importlib.import_module("dask").delayed(function, pure=False)  # there is a client of Dask's


def _several(combination: Combination, results: Sequence[Any]) -> list[Any]:
    return combination.several(results)


def _item(pair: Sequence[Any], i: int) -> Any:
    return pair[i]


def is_client(on: object) -> bool:
    """Tell whether something is a client of Dask's."""
    return hasattr(on, "submit") and hasattr(on, "gather")
