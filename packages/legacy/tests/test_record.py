"""A function's results are recorded node by node, and compared with what another run gives."""

from __future__ import annotations

import io

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tests.record import MismatchError, Record, RecordMode


def program(mode):
    x, steps = T.dmatrix("x"), theano.shared(0)
    rng = T.shared_randomstreams.RandomStreams(3)
    results = [T.dot(x, x).sum(axis=0) + T.exp(x[0]), rng.uniform((2,)), theano.scan(lambda r: r * 2, x)[0]]
    return theano.function([x], results, updates=[(steps, steps + 1)], mode=mode)


def test_a_replay_compares_each_node(tmp_path):
    path = tmp_path / "record.txt"
    values = [np.eye(3), np.full((3, 3), np.nan)]
    f = program(RecordMode(linker="py", file_path=str(path)))
    plain = program(None)
    for value in values:
        for found, wanted in zip(f(value), plain(value), strict=True):
            np.testing.assert_array_equal(found, wanted)
    lines = path.read_text().splitlines()
    assert len(lines) > 10 and all(line.startswith("node ") for line in lines)

    again = program(RecordMode(linker="py", file_path=str(path), replay=True))
    for value in values:
        again(value)
    with pytest.raises(MismatchError, match=f"line {len(lines) + 1} was '', and is 'node 0"):
        again(values[0])
    again = program(RecordMode(Record(io.StringIO(path.read_text()), replay=True), linker="py").including("fast_run"))
    again(values[0])
    with pytest.raises(MismatchError, match=f"line {len(lines) // 2 + 1} was"):
        again(values[0])


def test_one_way_to_say_where():
    with pytest.raises(ValueError, match="give one of them"):
        Record(io.StringIO(), "here")
    with pytest.raises(ValueError, match="replay"):
        RecordMode(Record(), replay=True)
    mode, other = RecordMode(), Record()
    mode.set_record(other)
    theano.function([], T.constant(1) * 1, mode=mode)()
    assert mode.record is other
