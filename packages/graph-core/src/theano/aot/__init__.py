"""Ahead of time: functions as C that runs without Python.

`export.py` has the function that users call. `plan.py` makes tables of the programs of some functions, `model_text.py`
the C text of the tables, the header and the loader, `sources.py` reads C files of layers with their headers,
`build.py` links what was written with the archives of layers, and compiles the rest. What runs the tables is in
`theano.loader`. What layers answer, they say by `exports.py`.
"""
