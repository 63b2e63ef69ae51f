"""Rules of dimensions and lengths."""
