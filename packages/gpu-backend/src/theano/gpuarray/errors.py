"""What goes wrong with devices."""

from __future__ import annotations

from theano.errors import DeviceError as DeviceError
from theano.errors import DeviceMemoryError as DeviceMemoryError


class GpuUnavailableError(RuntimeError):
    """A device cannot be used: its name is unknown, or its driver or compiler is missing."""


class ContextNotDefined(ValueError):
    """No device was started under that name."""


class DeviceCompileError(RuntimeError):
    """A device's compiler refused a kernel; the message has the expression and what the compiler said.

    Parameters
    ----------
    message : str
    text : str
        The program.
    """

    def __init__(self, message: str, text: str = ""):
        super().__init__(message)
        self.text = text
