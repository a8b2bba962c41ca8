"""Exports: a linear model as a file that works without Markone.

A model first becomes a document (`document.py`): plain facts and numbers, from which every target is written. Each
target is a file of this room and a record in `targets.py`. Before a file is written, it is run or interpreted on sample
rows, and must give the labels and scores of the model (`checking.py`).
"""
