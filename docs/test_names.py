"""The table of Theano's names: true, explained, and nearly full."""

from __future__ import annotations

import json
import re
import sys

import functions
import pytest

import coverage_of_names as coverage


@pytest.fixture(scope="module")
def found():
    return coverage.measure()


@pytest.mark.parametrize("path", [coverage.RESULTS, coverage.PAGE], ids=lambda path: path.name)
def test_the_committed_table_is_up_to_date(found, path):
    if sys.version_info[:2] != (3, 11):
        pytest.skip("texts of Python's own objects in the table are those of 3.11")
    assert coverage.texts(found)[path] == path.read_text(encoding="utf-8"), "run python tools/coverage_of_names.py"


def test_every_name_that_is_missing_or_differs_has_a_reason(found):
    assert coverage.unexplained(found) == []


def test_no_reason_is_left_for_a_name_that_is_there(found):
    assert coverage.stale_reasons(found, json.loads(coverage.REASONS.read_text(encoding="utf-8"))) == []


def test_nearly_all_names_are_there(found):
    assert coverage.share(found) >= 0.95
    for package in ("theano.tensor", "theano.scalar", coverage.METHODS):
        assert coverage.share({package: found[package]}) >= 0.96


def test_every_public_name_has_an_entry_in_the_reference():
    # The build of the documentation looks again, at the inventory itself.
    text = "\n".join(functions.page_text(page) for page in functions.PAGES)
    there = set(re.findall(r"(?m)^(?:\.\. py:\w+::|  +) ?(theano(?:\.\w+)+)", text))
    some = "function shared scan grad tensor.grad tensor.where tensor.logsumexp tensor.full tensor.linalg.svd"
    assert {*functions.public(), *(f"theano.{name}" for name in some.split())} - there == set()


@pytest.mark.parametrize("packages", ["theano.tensor", "theano.scalar", "theano.sparse"])
def test_functions_are_tested(found, packages):
    assert coverage.untested(found, packages) == []


def f(x, axis=None, *, keepdims=False):
    return x, axis, keepdims


@pytest.mark.parametrize(
    ("listed", "note"),
    [
        ("(x)", ""),
        ("(x, axis=None)", ""),
        ("(x, axis=None, keepdims=False)", "takes keepdims by name only"),
        ("(x, axis=None, *, keepdims=False)", ""),
        ("(x, axis=None, *, dtype=None)", "dtype"),
        ("(y, axis=None)", "place 1 is x, not y"),
        ("(axis, x)", "axis is at another place"),
        ("(x, axis=0)", "default of axis is None"),
        ("(x, axis=SOME_NAME)", ""),
        ("(x, axis=None, dtype=None)", "dtype"),
        ("(x, *rest)", "does not take *rest"),
        ("(x, **options)", "does not take **options"),
        ("(*inputs, **kwargs)", ""),
        ("()", "also wants x"),
    ],
)
def test_parameters_are_compared_by_name_place_and_default(listed, note):
    found = coverage.parameters_differ(listed, f)
    assert note in found if note else found == ""


def test_operations_on_elements_are_compared_by_number():
    import theano.tensor as T

    assert coverage.parameters_differ("(a)", T.exp) == ""
    assert coverage.parameters_differ("(a, *other_terms)", T.add) == ""
    assert coverage.parameters_differ("(a, b)", T.exp) == "takes 1 inputs, not 2"


def test_what_is_missing_or_of_another_kind_is_said():
    older = {"no_such": "class", "loads": "module", "dumps": "(obj)", "decoder": "module"}
    newer = {"dump": "(obj, fp)", "decoder": "class"}
    facts = {coverage.VERSIONS[0]: {"json": older}, coverage.VERSIONS[1]: {"json": newer}}
    found = coverage.compare(facts, {"no_such": "never", "json.loads": "it is not", "decoder": "both"})["json"]
    assert {name: (f.status, f.note, f.why) for name, f in found.items()} == {
        "no_such": ("missing", "", "never"),
        "loads": ("differs", "is not a module", "it is not"),
        "dumps": ("present", "", ""),
        "dump": ("present", "", ""),
        "decoder": ("differs", "cannot be called", "both"),
    }
