"""Values from files and from other processes."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor import io


@pytest.mark.parametrize("mode", [None, "c"])
def test_a_file_is_read_at_each_call(tmp_path, mode):
    path = tmp_path / "x.npy"
    f = theano.function([], T.load(str(path), "float32", (False, True), mmap_mode=mode) + 1)
    for values in ([[1], [2]], [[3]]):
        np.save(path, np.array(values, "float32"))
        np.testing.assert_array_equal(f(), np.array(values) + 1)
    assert f.maker.fgraph.outputs[0].type.dtype == "float32"


def test_a_path_can_be_an_argument_and_a_map_is_not_written_through(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(3.0))
    name = theano.generic("name")
    f = theano.function([name], T.inc_subtensor(T.load(name, "float64", (False,), mmap_mode="c")[1], 10))
    np.testing.assert_array_equal(f(str(path)), [0, 11, 2])
    np.testing.assert_array_equal(np.load(path), [0, 1, 2])


@pytest.mark.parametrize("values", [np.arange(3), np.ones((2, 2)), np.ones((2, 1)), np.float64(1)])
def test_a_file_of_another_kind_is_an_error(tmp_path, values):
    np.save(tmp_path / "x.npy", values)
    f = theano.function([], T.load(str(tmp_path / "x.npy"), "float64", (True,)))
    with pytest.raises(TypeError, match=r"holds (int|float)64 of shape .* Say its dtype and the pattern"):
        f()


def test_wrong_use_of_load(tmp_path):
    with pytest.raises(ValueError, match="must be None or 'c'"):
        T.load("x.npy", "float64", (), mmap_mode="r+")
    with pytest.raises(TypeError, match="a string or a theano.generic variable"):
        T.load(T.dscalar("x"), "float64", ())
    with pytest.raises(TypeError, match="no_dtype"):
        T.load("x.npy", "no_dtype", ())
    with pytest.raises(FileNotFoundError):
        theano.function([], T.load(str(tmp_path / "none.npy"), "float64", ()))()
    np.savez(tmp_path / "x.npz", np.ones(2))
    with pytest.raises(ValueError, match="several arrays"):
        theano.function([], T.load(str(tmp_path / "x.npz"), "float64", (False,)))()


class Post:
    """Stands for MPI's communicator: one process that writes to itself."""

    def __init__(self):
        self.letters, self.log = {}, []

    def Isend(self, data, dest, tag):
        assert data.flags.c_contiguous
        self.log.append(("send", dest, tag))
        self.letters[tag] = data
        return self

    def Irecv(self, data, source, tag):
        self.log.append(("receive", source, tag))
        post = self

        class Request:
            def wait(self):
                post.log.append(("arrived", source, tag))
                data[...] = post.letters[tag]

        return Request()

    def wait(self):
        self.log.append("sent")


@pytest.fixture
def post(monkeypatch):
    made = Post()
    monkeypatch.setattr(io, "communicator", lambda: made)
    return made


def test_an_array_goes_and_comes(post):
    x = T.dmatrix("x")
    send = theano.function([x], T.send(x.T + 1, 1, 7), mode=theano.Mode("vm", "fast_run"))
    receive = theano.function([], T.recv((2, 3), "float64", 0, 7) * 2)
    value = np.arange(6.0).reshape(3, 2)
    assert send(value) is True
    np.testing.assert_array_equal(receive(), (value.T + 1) * 2)
    np.testing.assert_array_equal(receive(), (value.T + 1) * 2)
    arrival = [("receive", 0, 7), ("arrived", 0, 7)]
    assert post.log == [("send", 1, 7), "sent", *arrival, *arrival]


def test_shapes_are_known_and_transfers_can_be_ordered():
    request, data = T.irecv((2, 3), "float32", 1, 5)
    got = T.recv((2, 3), "float32", 1, 6)
    assert data.type == T.fmatrix and tuple(theano.function([], got.shape)()) == (2, 3)
    sent = T.send(data, 0, 9)
    assert T.isend(data, 0, 9)[1].type == data.type
    plain = T.exp(got).owner
    nodes = [data.owner, got.owner, sent.owner, sent.owner.inputs[0].owner, plain]
    assert [io.mpi_send_wait_key(n) for n in nodes] == [-1, 1, 1, -1, 0]
    assert [io.mpi_tag_key(n) for n in nodes] == [5, 6, 9, 9, 0]
    assert io.mpi_cmps[0](nodes[0], nodes[1]) == -1 and io.mpi_cmps[1](nodes[2], nodes[0]) == 1
    assert T.MPISend(0, 9) == sent.owner.inputs[0].owner.op != T.MPISend(0, 8)


@pytest.mark.skipif(io.mpi_enabled, reason="mpi4py is here")
def test_without_mpi_the_error_says_what_to_install():
    assert T.mpi_enabled is False
    with pytest.raises(RuntimeError, match=r"pip install 'theano-tensor\[mpi\]'"):
        theano.function([], T.recv((2,), "float64", 0, 7))()
