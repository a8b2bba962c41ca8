"""Learning: the weights that change, and the passes over the data that change them."""
