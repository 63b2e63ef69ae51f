"""Messages to the user besides errors: the logger ``theano``.

Examples
--------
>>> from theano.messages import logger
>>> logger.name
'theano'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from logging import Logger


class _Later:
    """The logger, when there is something to tell: Python's logging takes as long to import as ten of our modules."""

    def __getattr__(self, name: str) -> Any:
        import logging  # as the class says

        return getattr(logging.getLogger("theano"), name)


logger: Logger = _Later()  # type: ignore[assignment]
