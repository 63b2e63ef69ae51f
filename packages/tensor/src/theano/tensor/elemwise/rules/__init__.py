"""Rules of element-wise ops."""
