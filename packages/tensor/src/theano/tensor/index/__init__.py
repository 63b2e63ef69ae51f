"""Reading and writing parts of tensors."""
