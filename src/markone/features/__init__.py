"""Turns columns, texts and images into rows of named features; a specification says which features to make."""
