"""What an installation weighs is added up rightly, and the table is put where it belongs."""

from __future__ import annotations

from pathlib import Path

import pytest

import measure_installs as m


def test_the_wheels_of_a_system_and_of_others():
    ours = ["theano_tensor-2.0.0a1-cp311-cp311-linux_x86_64.whl", "theano_graph_core-2.0.0a1-cp311-cp311-linux_x86_64.whl"]
    assert all(m.own("theano", wheel) for wheel in ours)
    assert m.own("jax", "jax-0.5.whl") and m.own("jax", "jaxlib-0.5.whl") and not m.own("jax", "jaxtyping-0.2.whl")
    assert not m.own("numpy", "numpydoc-1.8.whl")


def test_a_table_has_a_row_for_each_that_was_installed():
    place = m.Installed(Path("python"), "jax 0.5", m.MIB, 2 * m.MIB, 3 * m.MIB)
    text = m.table({"jax": place}, {"jax": m.Cost(0.25, 100 * m.MIB)}, 15)
    assert "| jax 0.5 | 1.0 MiB | 2.0 MiB | 3.0 MiB | 250 ms | 100 MiB |" in text
    assert "15 processes" in text and "`import jax, jax.numpy`." in text and "torch" not in text


def test_costs_are_medians_without_the_first(monkeypatch):
    found = iter([9.0, 3.0, 1.0, 2.0])
    monkeypatch.setattr(m, "cost", lambda python, statement: m.Cost(next(found), 7))
    assert m.measure({"numpy": m.Installed(Path("python"), "", 0, 0, 0)}, 3) == {"numpy": m.Cost(2.0, 7)}


def test_the_page_has_the_marks():
    page = m.PAGE.read_text(encoding="utf-8")
    assert m.written(m.written(page, "x\n"), "x\n") == m.written(page, "x\n")
    with pytest.raises(ValueError, match="has no lines"):
        m.written("a page", "x")
