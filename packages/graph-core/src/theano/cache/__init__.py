"""The cache of compiled modules: one entry is one file, and its name is its checksum."""
