"""Contestants, a file for each peer and one for ours. Those with scikit-learn's interface share one."""
