"""Ahead of time: functions as C that runs without Python.

`export.py` has the function that users call. `plan.py` makes tables of the programs of some functions, `model_text.py`
the C text of the tables, the header and the loader, `sources.py` finds the C files of layers that the kernels need,
`build.py` compiles what was written. What runs the tables is in ``c/``, with the loader's own loops and copies. What
layers answer, they say by `exports.py`.
"""
