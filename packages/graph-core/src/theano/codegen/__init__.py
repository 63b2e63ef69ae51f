"""From kernels to machine code: the generated C, its keys and the units it is compiled in."""
