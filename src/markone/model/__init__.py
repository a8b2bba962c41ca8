"""Models: weights, features and classes together; what they predict."""
