"""Odds and ends: models on disk, ordered sets, other programs."""

from __future__ import annotations

import io
import pickle
import warnings
import zipfile

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.misc import check_blas, cpucount, ordered_set, pkl_utils, safe_asarray, windows


def test_a_model_in_a_zip_archive(tmp_path):
    W, b = theano.shared(np.arange(6.0).reshape(2, 3), name="W"), theano.shared(np.zeros(3, "float32"), name="b")
    x = T.dmatrix("x")
    model = {"params": [W, b], "again": W, "out": T.tanh(x.dot(W) + b), "plain": np.arange(3), "objects": np.array([None])}
    with open(tmp_path / "model.zip", "wb") as file:
        pkl_utils.dump(model, file)
    arrays = np.load(tmp_path / "model.zip")
    assert {"W", "b", "pkl", "array_0"} <= set(arrays)
    np.testing.assert_array_equal(arrays["W"], W.get_value())
    with open(tmp_path / "model.zip", "rb") as file:
        found = pkl_utils.load(file)
    assert found["again"] is found["params"][0] and found["params"][0].name == "W"
    assert found["plain"].tolist() == [0, 1, 2] and found["objects"].tolist() == [None]
    (y,) = [v for v in theano.graph.traverse.inputs([found["out"]]) if v.name == "x"]
    f = theano.function([y], found["out"])
    X = np.ones((1, 2))
    np.testing.assert_allclose(f(X), np.tanh(X @ W.get_value()))
    found["params"][0].set_value(np.zeros((2, 3)))
    assert not f(X).any()


def test_names_of_stored_variables():
    def ids(**options):
        return lambda archive: pkl_utils.PersistentSharedVariableID(archive, **options)

    two = [theano.shared(1.0, name="a"), theano.shared(2.0, name="a")]
    with pytest.raises(ValueError, match="two shared variables are called 'a'"):
        pkl_utils.dump(two, io.BytesIO(), persistent_id=ids(allow_duplicates=False))
    with pytest.raises(ValueError, match="no name"):
        pkl_utils.dump(theano.shared(1.0), io.BytesIO(), persistent_id=ids(allow_unnamed=False))
    with pytest.raises(ValueError, match="cannot be called 'pkl'"):
        pkl_utils.dump(theano.shared(1.0, name="pkl"), io.BytesIO())
    same = np.ones(2)
    file = io.BytesIO()
    pkl_utils.dump([same, same], file)
    assert sorted(zipfile.ZipFile(file).namelist()) == ["array_0", "pkl"]
    first, second = pkl_utils.load(file)
    assert first is second
    with pytest.raises(zipfile.BadZipFile):
        pkl_utils.load(io.BytesIO(b"nothing"))


def test_what_people_need_not_know_is_left_out():
    with theano.config.change_flags(compute_test_value="off"):
        x = T.dvector("x")
    x.tag.test_value = np.ones(100_000)
    y = x * 2
    long, short = pickle.dumps(y), io.BytesIO()
    pkl_utils.StripPickler(short).dump(y)
    found = pickle.loads(short.getvalue())
    assert len(short.getvalue()) < len(long) and not hasattr(found.owner.inputs[0].tag, "trace")
    assert found.owner.op == y.owner.op and x.tag.test_value.size == 100_000


def test_ordered_sets():
    s = ordered_set.OrderedSet("cab")
    assert list(s | ordered_set.OrderedSet("xa")) == list("cabx") and list(s & ordered_set.OrderedSet("bc")) == ["b", "c"]
    s.remove("a")
    assert list(s) == ["c", "b"] and s == {"b", "c"} and s != ["b", "c"] and list(reversed(s)) == ["b", "c"]
    assert s.pop(last=False) == "c" and s.pop() == "b" and not s
    with pytest.raises(KeyError):
        s.pop()
    with pytest.raises(TypeError, match="order of a set"):
        ordered_set.OrderedSet({1, 2})
    with pytest.raises(TypeError):
        hash(s)


def test_the_rest():
    assert cpucount.cpuCount() >= 1
    assert theano._asarray is safe_asarray._asarray
    assert safe_asarray._asarray(np.arange(3, dtype=np.longlong), "int64").dtype.num == np.dtype("int64").num
    assert check_blas.execute(execute=False, verbose=False, M=4, N=4, K=4)[0] == 0
    for function in (windows.call_subprocess_Popen, windows.output_subprocess_Popen):
        with pytest.raises(TypeError, match="stdout"):
            function("x", stdout=None)
    assert theano.misc.pkl_utils is pkl_utils


@pytest.mark.parametrize("names", [
    ["a", "a", "a_2"], ["a_2", "a", "a"], ["a", "a_2", "a", "a"], ["array_0", None], [None, "array_0"], ["array_1", None, None],
    ["a", "a", "a_2", "a_2", "a_2_2"],
])  # fmt: skip
def test_each_stored_array_has_a_name_of_its_own(names):
    """Two of one name would be read as the second of them."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pkl_utils.dump([theano.shared(float(k), name=name) for k, name in enumerate(names)], file)
    members = zipfile.ZipFile(file).namelist()
    assert len(set(members)) == len(members) == len(names) + 1 and {n for n in names if n} <= set(members)
    assert [v.get_value() for v in pkl_utils.load(file)] == list(range(len(names)))


@pytest.mark.parametrize("name", ["../x", "a/../../x", "..", "/x", "\\x", "..\\x", "C:x", "a\0b"])
def test_no_stored_name_leads_out_of_a_folder(name, tmp_path):
    variable, file = theano.shared(np.arange(3.0), name=name), io.BytesIO()
    pkl_utils.dump([variable], file)
    assert zipfile.ZipFile(file).namelist() == ["array_0", "pkl"]
    (found,) = pkl_utils.load(file)
    assert found.name == name and found.get_value().tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="no name"):
        pkl_utils.dump(variable, io.BytesIO(), persistent_id=lambda a: pkl_utils.PersistentSharedVariableID(a, allow_unnamed=False))
    for plain in ("layer/W", "n" * 300, "é.", "...", "W..b"):
        file = io.BytesIO()
        pkl_utils.dump([theano.shared(1.0, name=plain)], file)
        assert plain in zipfile.ZipFile(file).namelist() and pkl_utils.load(file)[0].get_value() == 1.0


def test_an_archive_is_read_in_memory_alone(tmp_path):
    """Members of any name, of somebody else's archive, become no files."""
    place = tmp_path / "deep" / "model.zip"
    place.parent.mkdir()
    with zipfile.ZipFile(place, "w") as archive:
        pickler = pickle.Pickler(buffer := io.BytesIO())
        pickler.persistent_id = lambda thing: "ndarray.../x" if isinstance(thing, np.ndarray) else None
        pickler.dump([np.arange(2)])
        for name, write in (("../x", lambda f: np.save(f, np.arange(2))), ("pkl", lambda f: f.write(buffer.getvalue()))):
            pkl_utils.zipadd(write, archive, name)
    with open(place, "rb") as file:
        assert pkl_utils.load(file)[0].tolist() == [0, 1]
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["deep", "model.zip"]
