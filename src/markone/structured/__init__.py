"""Structured prediction: taggers, dependency parsers, and the structured perceptron for any other structure."""
