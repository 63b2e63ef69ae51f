"""Saves checkpoints without end, is killed, and looks at what is there: ``python killed_saves.py FOLDER KILLS``."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

import theano
from theano import distributed


def save_without_end(path: Path, per_shard: bool, start: int) -> None:
    a, b = theano.shared(np.zeros(3), "a"), theano.shared(np.zeros(20000), "b")
    i = start
    while True:
        a.set_value(np.full(3, float(i)))
        b.set_value(np.full(20000, float(i)))
        shards = [np.full(4000, float(i)) for _ in range(1 + i % 3)]
        distributed.save(path, {"a": a, "b": b, "s": distributed.ShardedArray(shards, 0)}, per_shard=per_shard)
        i += 1


def main(folder: str, kills: int) -> None:
    rng = random.Random(1)
    a, b = theano.shared(np.zeros(3), "a"), theano.shared(np.zeros(20000), "b")
    values = []
    for per_shard in (False, True):
        path, last = Path(folder) / f"checkpoint-{per_shard}", 1
        for _ in range(kills):
            child = os.fork()
            if child == 0:
                save_without_end(path, per_shard, last)
            time.sleep(0.1 * rng.random() if path.exists() else 0.5)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            found = distributed.load(path, [a, b])["s"]
            n = int(a.get_value()[0])
            whole = np.concatenate([a.get_value(), b.get_value(), found.gather()])
            assert n >= last and (whole == n).all() and len(found.shards) == 1 + n % 3, (n, last)
            values.append(n)
            last = n
    print(f"{len(values)} checkpoints are whole, {len(set(values))} of them different")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
