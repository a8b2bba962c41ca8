"""Models: weights, features and classes, with how they were trained; what they predict, why, and their file."""
