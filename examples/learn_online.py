"""Learn from a stream of images, one at a time. A digit that was never seen before becomes a new class on the way."""

from sklearn.datasets import load_digits

from markone import Perceptron

images, digits = load_digits(return_X_y=True)
learner = Perceptron()
right = 0
for number, (image, digit) in enumerate(zip(images, digits, strict=True), start=1):
    if number > 1:
        right += int(learner.predict([image])[0] == digit)  # test, then train
    learner.partial_fit([image], [digit])
    if number in (100, 500, len(images)):
        print(f"{right / number:.1%} of {number:,} images were right before they were learned.")
