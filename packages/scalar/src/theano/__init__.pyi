"""A part of the package: `theano/__init__.py` of graph-core is all of it."""
