"""From a node to its kernel: one table says which ops are compiled for which target, on what operands, into what.

``targets.py`` has the targets, ``accepts.py`` the conditions on operands as data, ``table.py`` the entries and `lower`,
which everything asks that wants a node in compiled form.
"""
