"""Contains trained models: settings, weights, features and classes; prediction, explanation and evaluation."""
