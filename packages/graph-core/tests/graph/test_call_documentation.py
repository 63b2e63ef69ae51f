"""Docstrings of instances that programs call: those of a call, not of the constructor."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any

from theano.graph import Apply, Op, generic
from theano.graph.documentation import SharedSections
from theano.graph.type import Generic


class Repeat(SharedSections, Op):
    """Something several times.

    Parameters
    ----------
    times : int
        How often.

    Examples
    --------
    >>> repeat(generic("x"))
    """

    __props__ = ("times",)

    def __init__(self, times: int = 2) -> None:
        self.times = times

    def make_node(self, x: Any, gap: Any = None) -> Apply:
        """Return the node.

        Parameters
        ----------
        x : Variable
            What is repeated.
        gap : Variable, optional
            What is between.

        Returns
        -------
        Variable
            All of it.
        """
        return Apply(self, [x], [generic()])


class Twice(Repeat):
    """Something twice."""


class Plain(Op):
    """An op that does not say how it is called.

    Parameters
    ----------
    size : int
    """

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [generic()])


class Word(Generic):
    """The type of words."""


repeat, twice = Repeat(), Twice()


def test_an_instance_shows_what_a_call_takes_and_returns() -> None:
    text = pydoc.plain(pydoc.render_doc(repeat))
    expected = ["repeat(x, gap=None)", "Something several times.", "x : Variable", "All of it.", '>>> repeat(generic("x"))']
    assert [line for line in expected if line not in text] == [] and "times : int" not in text


def test_its_class_shows_the_constructor() -> None:
    assert "times : int" in (inspect.getdoc(Repeat) or "") and "gap" not in (Repeat.__doc__ or "")


def test_a_subclass_adds_its_sentence() -> None:
    lines = (twice.__doc__ or "").splitlines()
    assert lines[:3] == ["twice(x, gap=None)", "", "Something twice."] and "gap : Variable, optional" in lines


def test_an_op_that_says_nothing_of_calls_shows_its_class() -> None:
    assert Plain().__doc__ == Plain.__doc__ and "size : int" in (Plain.__doc__ or "")


def test_a_type_shows_how_variables_are_made() -> None:
    assert "name : str, optional" in (Word().__doc__ or "") and Word.__doc__ == "The type of words."
