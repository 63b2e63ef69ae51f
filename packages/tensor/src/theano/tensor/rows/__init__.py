"""An expression for each row of some tensors."""
