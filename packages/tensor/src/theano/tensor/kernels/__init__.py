"""Compiled forms of tensor operations: C generated per expression, and C built with this layer.

Each ``*_kernel(op, node)`` reads the attributes of an op and the types of a node, and returns what
``Op.c_kernel`` returns: a `Kernel`, a `Builtin`, or None where only ``perform`` will do.
Nothing here imports the modules that define the ops.
"""
