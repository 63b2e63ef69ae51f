"""Names of Theano's sandbox: what programs import from here is the same as elsewhere."""
