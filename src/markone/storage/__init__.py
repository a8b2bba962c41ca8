"""Storage: the one safe file, its container, atomic writing, and learned state as facts and arrays."""
