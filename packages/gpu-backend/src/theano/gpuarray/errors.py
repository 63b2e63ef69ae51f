"""What goes wrong with devices."""

from __future__ import annotations


class GpuUnavailableError(RuntimeError):
    """A device cannot be used: there is none of that name, or what drives it or compiles for it is missing."""


class ContextNotDefined(ValueError):
    """No device was started under that name."""


class DeviceCompileError(RuntimeError):
    """A device's compiler refused a kernel; the message has the expression, what it said, and the text."""
