"""The HTTP service: models that answer over the network, are replaced without a pause, and learn from examples."""
