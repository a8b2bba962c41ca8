"""Models: weights, features and classes together, how they were trained, what they predict, why, and their file."""
