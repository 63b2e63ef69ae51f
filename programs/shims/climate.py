"""What theanets asks of the package climate, which the index has no more under that name: a logger."""

from logging import getLogger as get_logger

__all__ = ["get_logger"]
