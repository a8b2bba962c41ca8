"""Features: columns, texts and images -> rows of named numbers, as a spec says; the feature map of a model."""
