"""Which learning algorithm suits a table? All of them on the same folds, with intervals and exact tests."""

from sklearn.datasets import load_breast_cancer

import markone

table = load_breast_cancer(as_frame=True).frame
table["target"] = table["target"].map({0: "malignant", 1: "benign"})
comparison = markone.compare(markone.read(table, target="target"), rules=["perceptron", "mira", "svm", "naive-bayes"])
print(comparison)
