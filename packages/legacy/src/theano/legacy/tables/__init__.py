"""Tables of old spellings, for `theano.layers.spellings`: for each layer its names, and those that it only imported."""
