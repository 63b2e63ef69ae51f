"""Rules of parts of tensors, read and written."""
