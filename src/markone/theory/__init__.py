"""Computes the theory of the perceptron on any data: certificates of separability, margins, and traces of runs."""
