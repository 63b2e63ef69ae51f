"""``theano.link.vm``: see :mod:`theano.runtime.link`."""

from __future__ import annotations

from theano.runtime.link import VM_Linker

VMLinker = VM_Linker

__all__ = ["VMLinker", "VM_Linker"]
