"""What nodes of this layer become: C generated per expression, and C built with this layer.

Each module has the functions for a family of ops, and below them the family's entries of the lowering table. It is
loaded when the first of its ops is lowered (`theano.layers.tensor`), so nothing that defines ops imports it,
but for the limits that `reduction` declares.
"""
