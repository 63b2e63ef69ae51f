"""What machine code is made for."""

from __future__ import annotations

from theano.records import record


@record(frozen=True)
class Target:
    """A processor, with a language of its own and perhaps memory of its own.

    Parameters
    ----------
    name : str
        In lower case; entries of the table are found by it.

    Examples
    --------
    >>> CPU
    Target(name='cpu')
    >>> Target("cpu") == CPU
    True
    """

    name: str


CPU = Target("cpu")
"""The processor that runs this program."""
