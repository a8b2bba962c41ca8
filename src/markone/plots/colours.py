"""The colours of all plots."""

# Okabe & Ito (2008): people with any kind of colour vision can distinguish these. Yellow is left out: it is too pale.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
INK, QUIET, FAINT = "#222222", "#767676", 0.12
"""Ink becomes light on dark pages. Quiet grey is seen on light and on dark ones. Faint is the opacity of a grid."""
