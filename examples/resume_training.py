"""Stop a training after two passes and go on with it: the model is the same, byte for byte."""

import tempfile
from pathlib import Path

import numpy as np

import markone

numbers = np.random.default_rng(0)
X = numbers.normal(size=(2000, 20))
y = np.where(X @ numbers.normal(size=20) + numbers.normal(size=2000) > 0, "up", "down")
source = markone.read(X, target=y)

with tempfile.TemporaryDirectory() as folder:
    kept, resumed, whole = (Path(folder) / name for name in ("kept.model", "resumed.model", "whole.model"))
    markone.train(source, epochs=5, checkpoint=kept, callback=lambda one: one.epoch == 2)
    markone.train(source, epochs=5, resume=kept).save(resumed)
    markone.train(source, epochs=5).save(whole)
    assert resumed.read_bytes() == whole.read_bytes()
    print(f"Interrupted and resumed, or in one go: the same {whole.stat().st_size:,} bytes.")
