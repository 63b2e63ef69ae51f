"""What serves only older programs: old spellings, and functions that nothing else calls.

The tables in `theano.legacy.tables` say for each old module what an older program finds in it; the modules beside them
have what is nowhere else. Names whose meaning is gone are in ``gone*.py``, with what takes their place.
"""
