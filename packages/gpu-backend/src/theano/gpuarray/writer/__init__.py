"""The writer for devices: loops that are described as data (`theano.tensor.kernels.nest`), as device functions.

What it writes has the form that ``elemwise.c`` and ``reduce.c`` of ``kernels/c`` launch: a pointer for each operand,
and a struct of numbers. The text says nothing of lengths, of strides or of constants, so it serves all of them.
"""
