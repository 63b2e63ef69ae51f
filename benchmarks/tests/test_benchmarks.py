"""The benchmark measures what it says: right results count, wrong ones do not, and nothing is lost on the way."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import rating, report, worker
from benchmarks.__main__ import main
from benchmarks.frameworks.base import Built
from benchmarks.frameworks.numpy import reference
from benchmarks.process import Worker, environment
from benchmarks.workload import SAMPLED, Workload, normal, registry
from benchmarks.workloads import GROUPS, WORKLOADS, networks
from portion import portion

ROOT = Path(__file__).resolve().parents[2]
SMALL = "a_ten_inputs a_shared_update b_poly_1e3 c_sum_1e3 d_dot_10 e_mlp_small_b32 g_xent_60x10 i_gather_small m_logp6_grad f_lenet_step".split()


def test_every_workload_belongs_to_a_group_and_has_the_state_it_says():
    for name, workload in WORKLOADS.items():
        assert name == workload.name and workload.group in GROUPS
    for workload in (WORKLOADS[name] for name in SMALL):
        first, again = workload.arrays("float32"), workload.arrays("float32")
        assert tuple(first[1]) == workload.state
        for one, other in zip(first, again):
            for key in one:
                np.testing.assert_array_equal(one[key], other[key])
                assert one[key].dtype != "float64"


def test_a_name_is_given_once():
    add = registry({})
    add("a_x", normal(x=1), lambda xp, x: [x])
    with pytest.raises(ValueError, match="two workloads are called a_x"):
        add("a_x", normal(x=1), lambda xp, x: [x])


@pytest.mark.parametrize("name", portion(SMALL))
def test_ours_gives_what_numpy_gives(name, tmp_path):
    server = worker.Server("theano")
    for dtype in WORKLOADS[name].dtypes:
        path = str(tmp_path / f"{dtype}.npz")
        assert worker.Server("numpy").answer({"do": "reference", "name": name, "dtype": dtype, "path": path}) == {}
        said = server.answer({"do": "build", "name": name, "dtype": dtype, "reference": path})
        assert said.get("right") is True, said
        assert server.answer({"do": "time", "seconds": 0.001})["median"] > 0


# NumPy takes seconds for all images of this one.
SMALLER = {"f_residual_fwdbwd": lambda rng: networks.block(rng, batch=2, size=14)}


@cache
def at_the_start(name: str) -> tuple[Workload, dict, list, dict]:
    """Return a workload, its arrays, and its results and new state by hand."""
    workload = WORKLOADS[name]
    workload = replace(workload, inputs=SMALLER.get(name, workload.inputs))
    inputs, state = workload.arrays("float64")
    everything = {**inputs, **state}
    return workload, everything, *workload.gives(workload.by_hand(**{k: v.copy() for k, v in everything.items()}))


def slopes(name: str, wrt: str) -> tuple[float, float]:
    """Return a derivative of a workload's first result along a random direction, by hand and by differences."""
    workload, everything, results, new = at_the_start(name)
    direction = np.random.default_rng(0).normal(size=everything[wrt].shape)

    def cost(step: float) -> float:
        moved = {**everything, wrt: everything[wrt] + step * direction}
        return float(workload.gives(workload.by_hand(**moved))[0][0])

    if wrt in new:
        gradient = (everything[wrt] - new[wrt]) / 0.01
    else:
        gradient = results[1 + [k for k in everything if k in GRADIENTS[name]].index(wrt)]
    return float((gradient * direction).sum()), (cost(1e-6) - cost(-1e-6)) / 2e-6


RESIDUAL = ["x", "w0", "gamma0", "beta0", "w1", "gamma1", "beta1"]
# The gradients that a workload gives as results, in their order.
GRADIENTS = {
    "g_xent_60x10": ["x"], "l_chain_grad": ["x", "w"], "i_gather_grad": ["x"], "g_maxpool_fwdbwd": ["x"], "f_conv_depthwise_fwdbwd": ["x", "w"],
    "f_batch_norm_fwdbwd": ["x", "gamma", "beta"], "f_pool_fwdbwd": ["x"],
    "f_residual_fwdbwd": RESIDUAL,
    "m_logp6_grad": [f"p{i:02d}" for i in range(6)], "f_conv_lenet_fwdbwd": ["x", "w"], "h_rnn_fwdbwd": ["w", "u"], "h_linear_1e5_grad": ["x", "h", "a"],
    "h_tanh_1e5_grad": ["x", "h", "a"], "h_net_1x64_grad": ["x", "h", "w"],
}  # fmt: skip
STEPS = {"f_lenet_step": ["w0", "b1", "w2"], "e_mlp_small_b32": ["W0", "b0", "W1", "b1"], "e_relu_deep_b64": ["W3", "b3"]}  # behind the kinks


@pytest.mark.parametrize("name, wrt", [(name, wrt) for table in (GRADIENTS, STEPS) for name in table for wrt in table[name]
                                       if table[name] is not RESIDUAL or wrt == "w1"])  # the others move what is cut off, a kink
def test_gradients_by_hand(name, wrt):
    by_hand, by_differences = slopes(name, wrt)
    assert by_hand == pytest.approx(by_differences, rel=1e-4, abs=1e-6)


TOY = Workload("b_toy", normal(x=4), lambda xp, x: [x * 2])


def test_wrong_results_are_seen(tmp_path):
    path = str(tmp_path / "reference.npz")
    wanted = reference(TOY, "float64")
    np.savez(path, **wanted)
    good = Built(lambda: None, (), [wanted["0"]], {}, {"total": 0.0})
    assert worker.judge(TOY, good, "float64", path) == {"right": True, "error_of_result": 0.0}
    assert not worker.judge(TOY, replace(good, results=[wanted["0"] * 1.001]), "float64", path)["right"]
    assert not worker.judge(TOY, replace(good, results=[wanted["0"] * np.nan]), "float64", path)["right"]
    with pytest.raises(AssertionError, match="shape"):
        worker.judge(TOY, replace(good, results=[wanted["0"][:2]]), "float64", path)
    with pytest.raises(AssertionError, match="in place of"):
        worker.judge(TOY, replace(good, results=[]), "float64", path)


def row(name: str = "b_toy", **milliseconds: float) -> dict:
    cells = {framework: {"median_ms": ms} for framework, ms in milliseconds.items()}
    return {"name": name, "group": name[0], "dtype": "float64", "threads": 1, "flops": 0, "cells": cells}


def test_ratios():
    slower = row(theano=2.0, numpy=4.0, jax=1.0, bandwidth=0.5)
    assert rating.best_peer(slower) == "jax" and rating.ratio(slower) == 0.5
    slower["cells"]["jax"]["right"] = False
    assert rating.best_peer(slower) == "numpy" and rating.ratio(slower) == 2.0
    assert rating.floor(slower) == (0.5, "bandwidth") and rating.share(slower) == 0.25
    slower["cells"]["peak"] = {"median_ms": 1.5, "build_s": {"flops": 3e6}}
    assert rating.share(slower) == 0.75 and rating.rate_of_machine(slower) == "2.0 GFLOP/s"
    slower["cells"]["theano"]["right"] = False
    assert rating.ratio(slower) is None and rating.share(slower) is None
    alone = row(theano=2.0)
    assert rating.best_peer(alone) is None and rating.ratio(alone) is None


def test_the_worst_losses_come_first():
    rows = [row("b_even", theano=1.0, numpy=1.0), row("b_bad", theano=1.0, numpy=0.9), row("b_worse", theano=1.0, numpy=0.2)]
    assert [r["name"] for _, r in rating.losses(rows)] == ["b_worse", "b_bad"]


def test_reasons_are_of_rows_that_there_are():
    found = tomllib.loads((ROOT / "benchmarks" / "tried.toml").read_text(encoding="utf-8"))
    names = [f"{name} {dtype} t{threads}" for name, workload in WORKLOADS.items() for dtype in workload.dtypes for threads in (1, 2)]
    assert [e["rows"] for e in found["slower"] if not any(re.match(e["rows"], name) for name in names)] == []
    assert all(e["because"].endswith(".") and len(e["because"]) < 140 for e in found["slower"])
    assert all(e.keys() == {"about", "what", "result"} and all(e.values()) for e in found["tried"])
    lost = row("i_sort_1e5", theano=1.0, numpy=0.5) | {"dtype": "float64", "threads": 1}
    assert "called by its address" in "".join(report._lost_rows({"rows": [lost]}))


def test_rows_that_are_measured_again_replace_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "DATA", tmp_path)
    monkeypatch.setattr(command, "run", lambda plan, chosen, measured, save: measured["rows"].append(row("c_sum", theano=2.0)))
    kept = [row("c_sum", theano=1.0), row("c_max", theano=1.0)]
    (tmp_path / "benchmark_here.json").write_text(json.dumps({"date": "before", "frameworks": {}, "rows": kept, "compile": []}))
    main(["-w", "^c_sum$", "-f", "theano", "--publish", "here"])
    found = json.loads((tmp_path / "benchmark_here.json").read_text())
    assert found["date"] == "before" and [r["cells"]["theano"]["median_ms"] for r in found["rows"]] == [2.0, 1.0]


def test_a_process_that_hangs_or_dies_is_a_failure_not_an_end(tmp_path):
    with open(tmp_path / "log", "w") as log:
        slow = Worker("numpy", sys.executable, 1, tmp_path / "cache", log)
        assert "version" in slow.hello
        assert slow.ask(0.05, do="time", seconds=0)["failure"]  # nothing was built
        assert slow.ask(0.2, do="build", name="b_poly_1e7", dtype="float64")["timeout"]
        assert "ended" in slow.ask(do="time", seconds=0)["failure"]
        nobody = Worker("nothing", sys.executable, 1, tmp_path / "cache", log)
        assert "ended" in nobody.hello["failure"]
        slow.stop()
        nobody.stop()


def test_from_the_command_line_to_the_tables(tmp_path):
    out = tmp_path / "out.json"
    command = [sys.executable, "-m", "benchmarks", "-w", "^a_vec1|c_sum_1e5|d_dot_100$", "-f", "theano,numpy,bandwidth,peak", "-t", "1", "-r", "1",
               "-s", "0.001", "-d", "float64", "--no-compile", "-o", str(out)]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert re.search(r"a_vec1_add1 +float64 +t1 +theano .* numpy .* ratio \d", done.stdout)
    measured = json.loads(out.read_text())
    assert {"a_vec1_add1", "c_sum_1e5", "d_dot_100"} == {r["name"] for r in measured["rows"]}
    assert all(r["cells"]["theano"]["right"] for r in measured["rows"])
    text = report.markdown(measured)
    assert "GFLOP/s" in text and "| calls | 1 |" in text and "`c_sum_1e5` float64" in text and "### One call, nanoseconds" in text


# -- on a device -------------------------------------------------------------------------------------------------------


def test_calls_of_a_device_are_waited_for_together(monkeypatch):
    """A call takes 0.2 ms of the device's time: so many are asked for that the host looks at the clock every 2 ms at most."""
    queue, waits, now = [], [], [0.0]

    def finish() -> None:
        waits.append(len(queue))
        now[0] += 2e-4 * len(queue)
        queue.clear()

    monkeypatch.setattr(worker, "clock", lambda: now[0])
    built = Built(lambda: queue.append(1), (), [], {}, {"total": 0.0}, finish=finish)
    wall, _ = worker.measure(built, 0.02)
    assert waits[:5] == [1, 2, 4, 8, 16] and set(waits[5:]) == {16}
    np.testing.assert_allclose(wall, 2e-4)
    assert len(wall) == len(waits[5:]) >= 3


@pytest.mark.parametrize("name", [name for name, workload in WORKLOADS.items() if workload.sample is not None])
def test_a_sample_is_rows_of_the_whole(name):
    large, size = WORKLOADS[name], 2 * SAMPLED

    def small(rng: np.random.RandomState) -> dict[str, np.ndarray]:
        cut = {key: value[tuple(slice(size) for _ in value.shape)] for key, value in large.inputs(rng).items()}
        return {key: value % size if key == "i" else value for key, value in cut.items()}

    workload = replace(large, inputs=small)
    whole = list(reference(replace(workload, sample=None), "float32").values())
    found = reference(workload, "float32")
    np.testing.assert_allclose(found["0"], whole[0][::SAMPLED])
    assert len(found["0"]) == 2 < len(whole[0])


def test_of_a_sampled_result_the_same_rows_are_compared(tmp_path):
    sampled = Workload("o_toy", normal(x=(4 * SAMPLED, 3)), lambda xp, x: [x * 2], sample=lambda arrays: {"x": arrays["x"][::SAMPLED]})
    path, whole = str(tmp_path / "reference.npz"), 2 * sampled.arrays("float64")[0]["x"]
    np.savez(path, **reference(sampled, "float64"))
    built = Built(lambda: None, (), [whole], {}, {"total": 0.0})
    assert worker.judge(sampled, built, "float64", path) == {"right": True, "error_of_result": 0.0}
    whole[SAMPLED] += 1
    assert not worker.judge(sampled, built, "float64", path)["right"]


def test_a_device_is_named_to_those_that_compute_there(tmp_path, monkeypatch):
    monkeypatch.setenv("THEANO_FLAGS", "")
    monkeypatch.setenv("BENCH_DEVICE", "opencl0:0")
    assert environment("jax", 1, tmp_path, {})["BENCH_DEVICE"] == "" and "device=" not in environment("theano", 1, tmp_path, {})["THEANO_FLAGS"]
    assert "device=opencl0:0,force_device=True" in environment("theano-gpu", 1, tmp_path, {})["THEANO_FLAGS"]
    assert environment("torch-gpu", 1, tmp_path, {"BENCH_DEVICE": "cpu"})["BENCH_DEVICE"] == "cpu"
    monkeypatch.delenv("BENCH_DEVICE")
    assert environment("jax-gpu", 1, tmp_path, {})["BENCH_DEVICE"] == "cuda"


def test_rows_of_devices_need_one():
    with pytest.raises(SystemExit, match="No workload matches"):
        main(["-w", "^o_", "-f", "numpy"])


# A device that each takes, without a card, and what has to be installed.
DEVICES = {"theano-gpu": ("opencl0:0", "theano.gpuarray pyopencl"), "jax-gpu": ("cpu", "jax"), "torch-gpu": ("cpu", "torch"),
           "torch-compile-gpu": ("cpu", "torch")}  # fmt: skip


@pytest.mark.parametrize("name", DEVICES)
def test_frameworks_on_a_device_give_what_numpy_gives(name, tmp_path, monkeypatch):
    device, modules = DEVICES[name]
    if not all(map(importlib.util.find_spec, modules.split())):
        pytest.skip(f"{modules} are not installed")
    monkeypatch.setenv("BENCH_DEVICE", device)
    with open(tmp_path / "log", "w") as log:
        there = Worker(name, sys.executable, 1, tmp_path / "cache", log)
        assert there.hello["device"]
        for row in ("o_tiny_add", "o_tiny_chain", "e_mlp_small_b32"):
            path = str(tmp_path / f"{row}.npz")
            np.savez(path, **reference(WORKLOADS[row], "float32"))
            said = there.ask(do="build", name=row, dtype="float32", reference=path)
            assert said.get("right") is True, said
            assert there.ask(do="time", seconds=0.001)["median"] > 0
        there.stop()


def test_the_tables_of_a_device():
    rows = [row("o_sum", **{"theano-gpu": 2.0, "torch-gpu": 1.5, "copy-gpu": 1.0}), row("o_dot", **{"theano-gpu": 2.0, "torch-gpu": 4.0})]
    rows[0]["cells"]["copy-gpu"]["build_s"] = {"bytes": 3e9, "total": 0.1}
    rows[0]["cells"]["theano-gpu"]["build_s"] = {"total": 0.25}
    rows[1]["flops"] = 4e9
    said = {name: {"version": "1", "device": "A card"} for name in ("theano-gpu", "torch-gpu", "copy-gpu")}
    machine = dict.fromkeys(("processor", "cores", "caches", "memory", "system", "compiler", "python"), "?")
    measured = {"date": "today", "machine": machine, "options": {"rounds": 1, "seconds": 1}, "frameworks": said, "rows": rows, "compile": []}
    text = report.markdown(measured)
    assert "today on A card, asked by" in text and "this Theano 1, torch-gpu 1." in text
    assert "| `o_sum` float64 | 2 ms | 1.5 ms | 0.75 | 1500 GB/s | 0.50 |" in text and "| 2.00 | 2 TFLOP/s |  |" in text
    assert "| `o_sum` float64 | 0.25 |" in text
    assert report.is_of_device(measured)


def test_a_framework_that_does_not_start_is_left_out(tmp_path):
    out, peers = tmp_path / "out.json", tmp_path / "peers.json"
    peers.write_text(json.dumps({"jax": {"python": sys.executable, "env": {"PYTHONHOME": str(tmp_path)}}}))
    command = [sys.executable, "-m", "benchmarks", "-w", "^a_vec1", "-f", "numpy,jax", "-p", str(peers), "-t", "1", "-r", "1",
               "-s", "0.001", "--no-compile", "-o", str(out)]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "not measured, because they do not start: jax" in done.stdout
    assert json.loads(out.read_text())["rows"][0]["cells"]["jax"] == {"not_available": "left out"}
