"""Models: weights, features and classes together, with how they were trained; what they predict, why, and their file."""
