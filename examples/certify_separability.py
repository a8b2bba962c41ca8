"""Is AND linearly separable? Is XOR? A plane or a proof, and what helps where there is no plane."""

import numpy as np

import markone

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
AND, XOR = [0, 0, 0, 1], [0, 1, 1, 0]

for name, labels in (("AND", AND), ("XOR", XOR)):
    certificate = markone.certify(X, labels)
    print(f"{name}: {certificate}\n")
    assert certificate.verify(X, labels)

products = np.column_stack([X, X[:, 0] * X[:, 1]])
assert markone.certify(products, XOR).separable
print("With the product of both columns as a third feature, a plane separates XOR, too.")
