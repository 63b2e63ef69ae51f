"""What is measured on a machine: where values come from, that kernels see them at once, and that results do not depend on them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.cache.store import CacheSettings, open_cache
from theano.settings import config
from theano.tensor import calibration
from theano.tensor.blas.choice import ALWAYS, products_text, size_text
from theano.tensor.kernels import tuning
from theano.tensor.kernels.parameters import Tuning


@pytest.fixture
def place(tmp_path):
    """A cache of this test's own; what it measures is forgotten afterwards."""
    before, words = tuning.current(), tuning.source()
    with config.change_flags(calibration="measured"):
        yield open_cache(CacheSettings(root=str(tmp_path / "cache")))
    tuning._state().write(before)
    tuning._state().source = words


def test_values_are_named_once():
    assert list(tuning.CAREFUL) == list(Tuning.fields)
    for values in tuning.FAMILIES.values():
        assert values.keys() <= Tuning.fields.keys()


def test_sizes_of_products_are_said_as_sides():
    """Of matrices as large as takes so many multiplications."""
    assert [size_text(n) for n in (-1, 0, 1, 16**3, 500**3, ALWAYS)] == ["no size", "no size"] + [
        " x ".join([side] * 3) for side in ("1", "16", "500")] + ["any size"]  # fmt: skip
    values = tuning.CAREFUL | {"own_float32": 100**3, "small_above_float32": 16**3, "small_up_to_float32": 64**3}
    assert products_text(values, "float64") == f"ours up to {size_text(500**3)}"
    both = f"ours up to {size_text(100**3)}, but not the square ones above {size_text(16**3)} up to {size_text(64**3)}"
    assert products_text(values, "float32") == both


def test_what_was_measured_last_is_found(place, monkeypatch):
    unmeasured = tuning.chosen(place)
    assert "measured" not in unmeasured.source
    for at, own in ((1_000_000_000, 7), (1_700_000_000, 8), (1_600_000_000, 9)):
        monkeypatch.setattr(tuning.time, "time", lambda at=at: float(at))
        tuning.keep(tuning.CAREFUL | {"own_float64": own}, place)
    found = tuning.chosen(place)
    assert found.values["own_float64"] == 8 and "measured here on 2023-11-1" in found.source
    with config.change_flags(calibration="stored"):
        assert tuning.chosen(place) == unmeasured


@pytest.mark.parametrize("text", ["", "no json", "[1]", '{"time": 1}', json.dumps({"time": 2, "values": {"own_float64": 3}})])
def test_notes_of_another_make_are_passed_over(place, text):
    place.add_note(tuning._key(), text)
    assert "measured" not in tuning.chosen(place).source


def test_another_machine_or_number_of_threads_is_measured_anew(place, monkeypatch):
    tuning.keep(tuning.CAREFUL, place)
    assert "measured" in tuning.chosen(place).source
    with config.change_flags(threads=config.threads + 3):
        assert "measured" not in tuning.chosen(place).source
    for model, values in (("26 2", {"row_by_row": False}), ("25 1", {"row_by_row": False, "own_float64": 1200**3, "own_float32": 2500**3})):
        monkeypatch.setattr(tuning, "cpu_description", lambda model=model: f"x86_64 AuthenticAMD {model} AMD EPYC")
        assert tuning.chosen(place) == tuning.Found(tuning.CAREFUL | values, "known for this family of CPU")
    for model, side in ((207, 1000), (167, 2500)):
        monkeypatch.setattr(tuning, "cpu_description", lambda model=model: f"x86_64 GenuineIntel 6 {model} Xeon(R) avx512_fp16 fma")
        assert tuning.chosen(place).values["own_float64"] == side**3
    for unknown in ("AuthenticAMD 25 17 AMD EPYC", "GenuineIntel 6 167 Core(TM) avx512f fma"):
        monkeypatch.setattr(tuning, "cpu_description", lambda unknown=unknown: f"x86_64 {unknown}")
        assert tuning.chosen(place).values == tuning.CAREFUL


def test_an_error_while_values_are_tried_leaves_the_others():
    before = tuning.current()
    with pytest.raises(ZeroDivisionError), tuning.tuned(own_float32=3, row_by_row=True):
        assert tuning.current()["own_float32"] == 3
        raise ZeroDivisionError
    assert tuning.current() == before


def test_everything_is_measured_and_kept(place, monkeypatch):
    monkeypatch.setattr(calibration, "SIDES", (8, 16))
    monkeypatch.setattr(calibration, "SHAPES", (((4, 5, 6), 1), ((7, 8), 0)))
    monkeypatch.setattr(tuning, "_cache", lambda: place)
    lines = list(calibration.calibrate())
    assert all(line.ok and line.topic == "calibrated" for line in lines) and len(lines) >= 3
    assert tuning.chosen(place) == tuning.Found(tuning.current(), tuning.source())
    assert tuning.source().startswith("measured here on")
    assert tuning.current()["own_float64"] in {8**3, ALWAYS, tuning.stored().values["own_float64"]}


def test_of_two_the_faster_is_chosen(monkeypatch):
    """Of our products and the library's, of both orders of a reduction."""
    times = {"own_float64": {ALWAYS: [1, 1, 3], -1: [2, 2, 1]}}
    asked = []

    def shortest(call, name, values, rounds):
        (value,) = values
        asked.append(name)
        return {value: float(times[name][value][(len(asked) - 1) % 3])}

    monkeypatch.setattr(calibration, "shortest", shortest)
    monkeypatch.setattr(calibration, "SIDES", (8, 16, 24))
    monkeypatch.setattr(calibration, "REST", 0)
    monkeypatch.setattr(tuning, "stored", lambda: tuning.Found(tuning.CAREFUL, ""))

    def own():
        asked.clear()
        return tuple(calibration.own_products("float64").values())

    assert own() == (16**3, 0, 0)
    times["own_float64"] = {ALWAYS: [2, 2, 2], -1: [1, 1, 1]}
    assert own() == (8**3, 0, 0)
    times["own_float64"] = {ALWAYS: [1, 2, 1], -1: [2, 1, 2]}
    assert own() == (ALWAYS, 8**3, 16**3)
    times["own_float64"] = {ALWAYS: [1, 1, 1], -1: [2, 2, 2]}
    assert own() == (500**3, 0, 0), "all of these are ours already"
    with monkeypatch.context() as patch:
        patch.setattr(tuning, "stored", lambda: tuning.Found(tuning.CAREFUL | {"own_float64": 8**3}, ""))
        assert own() == (ALWAYS, 0, 0)
        patch.setattr(tuning, "stored", lambda: tuning.Found(tuning.CAREFUL | {"small_above_float64": 8**3, "small_up_to_float64": 16**3}, ""))
        assert own() == (ALWAYS, 0, 0), "the small ones of the table are slower here"
    times["own_float64"] = {ALWAYS: [1, 1, 1], -1: [0.99, 0.99, 0.99]}
    assert own() == (500**3, 0, 0), "so little is noise"
    with config.change_flags(threads=2):
        monkeypatch.setattr(calibration, "SMALL_WITH_THREADS", 15)
        times["own_float64"] = {ALWAYS: [1, 2, 1], -1: [2, 1, 2]}
        assert own() == (500**3, 0, 0), "the library would start threads"
    for slow, fast in ((True, False), (False, True)):
        monkeypatch.setattr(calibration, "shortest", lambda call, name, values, slow=slow, fast=fast: {slow: 2.0, fast: 1.0})
        assert calibration.row_by_row("float32", "row_by_row_widened") is fast


def test_no_other_alternative_runs_while_one_is_measured():
    seen = []
    with tuning.tuned(own_float64=3):
        calibration.shortest(lambda: seen.append(tuning.current()["own_float64"]), "own_float64", (7,), 2)
    assert len(seen) > 3 and set(seen) == {7}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_compiled_functions_see_values_at_once(dtype):
    """The same function computes a product with another routine, whose result is another one in its last digits."""
    x = T.matrix(dtype=dtype)
    f = theano.function([x], T.dot(x, x.T))
    value = np.random.default_rng(0).normal(size=(151, 151)).astype(dtype)
    results = []
    for own in (ALWAYS, -1, ALWAYS):
        with tuning.tuned(own_float64=own, own_float32=own):
            results.append(f(value))
    np.testing.assert_array_equal(results[0], results[2])
    for result in results:
        np.testing.assert_allclose(result, value @ value.T, rtol=2e-4 if dtype == "float32" else 1e-10, atol=1e-4)


@pytest.mark.parametrize("op", [T.sum, T.prod, T.max, T.min])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32"])
def test_results_from_memory_do_not_depend_on_the_order(op, dtype):
    """Arrays on both sides of the size from which rows come from memory."""
    x = T.tensor3(dtype=dtype)
    f = theano.function([x], op(x, axis=1))
    rng = np.random.default_rng(1)
    for n in (3, 190, 420):
        value = rng.integers(1, 3, size=(40, n, 61)) if op is T.prod and n < 40 else rng.integers(-1, 2, size=(40, n, 61))
        results = []
        for row_by_row in (0, 1):
            with tuning.tuned(row_by_row=row_by_row, row_by_row_widened=row_by_row):
                results.append(f(value.astype(dtype)))
        want = {T.sum: np.sum, T.prod: np.prod, T.max: np.max, T.min: np.min}[op](value, axis=1)
        for result in results:
            np.testing.assert_array_equal(result, want)
