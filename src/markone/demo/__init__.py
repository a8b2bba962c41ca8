"""The data that `markone demo` makes for itself."""
