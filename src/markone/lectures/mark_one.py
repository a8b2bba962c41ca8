"""Topics on the Mark I Perceptron: a retina of 20×20 photocells, and a patchboard for combinations of features."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from markone.lectures.topic import Shown, Table, Topic, grid
from markone.reporting.charts import Chart, Pixels

SIZE = 20
"""The photocells in a row and in a column."""
NOISE = 0.01
SHOWN, TESTED = 60, 400
"""The number of images for training and for testing."""

Image = list[list[int]]


def bar(chance: random.Random, *, upright: bool, places: Sequence[int]) -> Image:
    """Return a bar at one of the columns, or rows if it is not upright, with some noise."""
    long, place = chance.randint(8, 14), chance.choice(places)
    start = chance.randint(0, SIZE - long)
    image = [[int(chance.random() < NOISE) for _ in range(SIZE)] for _ in range(SIZE)]
    for i in range(start, start + long):
        for j in (place, place + 1):
            image[i if upright else j][j if upright else i] = 1
    return image


def sides(count: int, seed: int) -> list[tuple[Image, str]]:
    """Return images of an upright bar in the left or the right half."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        side = chance.choice(("left", "right"))
        places = range(9) if side == "left" else range(10, SIZE - 1)
        found.append((bar(chance, upright=True, places=places), side))
    return found


def directions(count: int, seed: int) -> list[tuple[Image, str]]:
    """Return images of an upright or a level bar, which can be anywhere."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        upright = chance.random() < 0.5
        image = bar(chance, upright=upright, places=range(SIZE - 1))
        found.append((image, "upright" if upright else "level"))
    return found


def photocells(image: Image) -> list[int]:
    """Return the state of each photocell."""
    return [cell for row in image for cell in row]


def patchboard(image: Image) -> list[int]:
    """Return for each place whether a column, and whether a row, of three photocells is lit and its "
    "neighbour is dark."""
    span = range(SIZE - 2)
    upright = [int(all(image[i + k][j] for k in range(3)) and not image[i][j + 2]) for i in span for j in span]
    level = [int(all(image[i][j + k] for k in range(3)) and not image[i + 2][j]) for i in span for j in span]
    return upright + level


def accuracies(
    make: Callable[[int, int], list[tuple[Image, str]]], inputs: Callable[[Image], list[int]], count: int
) -> tuple[float, float, list[float]]:
    """Return the accuracy on the training and the test images, and the weights for the second class."""
    import numpy as np

    from markone import train

    learned, tested = make(count, 1), make(TESTED, 2)
    model = train(
        np.array([inputs(image) for image, _ in learned], np.float32),
        target=[label for _, label in learned],
        rule="perceptron",
        epochs=30,
        features={"numeric": {"scale": "none"}, "unit": False},
    )
    scores = [
        model.accuracy(np.array([inputs(image) for image, _ in images], np.float32), [label for _, label in images])
        for images in (learned, tested)
    ]
    return scores[0], scores[1], [float(one) for one in model.weight_arrays()[0][:, 0]]


def show_machine() -> Shown:
    train_share, test_share, weights = accuracies(sides, photocells, SHOWN)
    image, label = sides(1, 3)[0]
    halves = [0.0, 0.0]
    for i, weight in enumerate(weights):
        halves[i % SIZE >= SIZE // 2] += weight
    rows = [
        ["photocells", SIZE * SIZE],
        ["training images", SHOWN],
        ["accuracy in training", train_share],
        [f"accuracy on {TESTED} new images", test_share],
        ["sum of the weights of the left half", halves[0]],
        ["sum of the weights of the right half", halves[1]],
    ]
    return Shown(
        grid(["", "number"], rows),
        (
            Chart((Pixels(image),), title=f"What the photocells see: {label}"),
            Chart(
                (Pixels([weights[i : i + SIZE] for i in range(0, SIZE * SIZE, SIZE)]),),
                title="The weights: dark means right, light means left",
            ),
        ),
    )


def show_patchboard() -> Shown:
    kinds = {"400 photocells": photocells, f"{2 * (SIZE - 2) ** 2} combinations": patchboard}
    rows, boards = [], []
    for task, make in (("left or right", sides), ("upright or level", directions)):
        for name, inputs in kinds.items():
            trained, tested, weights = accuracies(make, inputs, 3 * SHOWN)
            rows.append([task, name, trained, tested])
            boards.append(weights)
    span = SIZE - 2
    upright = boards[-1][: span * span]
    return Shown(
        grid(["task", "inputs", "training", f"{TESTED} new images"], rows),
        (
            Chart((Pixels(directions(1, 4)[0][0]),), title=f"An image: {directions(1, 4)[0][1]}"),
            Chart(
                (Pixels([upright[i : i + span] for i in range(0, span * span, span)]),),
                title="Weights of the upright combinations, by place",
            ),
        ),
    )


def images() -> Table:
    names = [f"p{i}_{j}" for i in range(SIZE) for j in range(SIZE)]
    return Table([*names, "side"], [[*photocells(image), side] for image, side in sides(SHOWN, 1)])


TOPICS = (
    Topic(
        name="mark-one",
        title="Frank Rosenblatt's Mark I Perceptron machine",
        claim="The first machine that ran the perceptron algorithm saw through 20×20 photocells, so each example had "
        "400 pixels. Its weights were potentiometers, which motors turned. Here a perceptron learns on such a retina "
        "whether a bar is on the left or on the right.",
        show=show_machine,
        question="Why are some pixels of the weights neither dark nor light?",
        answer="Their weight is close to 0: no mistake has involved them, or mistakes of both classes have.",
        terms=(
            "Mark I Perceptron",
            "Rosenblatt",
            "photocells",
            "400-pixel image",
            "potentiometers",
            "adaptive weights",
        ),
        data=images,
        commands=("markone train {data} --target side --rule perceptron",),
    ),
    Topic(
        name="patchboard",
        title="The patchboard: different combinations of input features",
        claim="The patchboard of the Mark I connected photocells with each other, so that its weights could use "
        "combinations of them. Some tasks need this: a single photocell says nothing about whether a bar is "
        "upright or level.",
        show=show_patchboard,
        question="Why can single photocells decide between left and right, but not between upright and level?",
        answer="Every photocell is on one side. But each one is lit as often by upright bars as by level ones.",
        terms=("patchboard", "combinations of input features", "feature conjunctions", "Mark I"),
    ),
)
