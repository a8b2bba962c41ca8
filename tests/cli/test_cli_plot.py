"""`--plot`: what the pictures of the commands are, and what is checked before any work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import markone
from files_of import as_idx

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def points(folder: Path) -> Path:
    """Points in the plane of two classes that a line separates, of three classes, and of four features."""
    rng = np.random.default_rng(0)
    near, far = rng.normal(size=(20, 4)), rng.normal(size=(20, 4)) + 6
    rows = [*((*row, "cat") for row in near), *((*row, "dog") for row in far)]
    two = "height,weight,kind\n" + "".join(f"{a:.3f},{b:.3f},{kind}\n" for a, b, _, _, kind in rows)
    (folder / "two.csv").write_text(two)
    (folder / "three.csv").write_text(two + "".join(f"{a:.3f},{b + 9:.3f},owl\n" for a, b, _, _ in near))
    (folder / "four.csv").write_text(
        "a,b,c,d,kind\n" + "".join(",".join(f"{x:.3f}" for x in row[:4]) + f",{row[4]}\n" for row in rows)
    )
    return folder


def check_picture(path: str, *words: str) -> None:
    """The file is what its name says. A drawing or a page contains these words, and loads nothing from outside."""
    content = Path(path).read_bytes()
    if path.endswith(".png"):
        with Image.open(path) as image:
            assert image.format == "PNG" and min(image.size) > 150 and image.mode == "RGB"
            assert image.getpixel((0, 0)) == (255, 255, 255)
            assert len(image.getcolors(2**24) or []) > 10
    elif path.endswith(".gif"):
        with Image.open(path) as image:
            assert image.format == "GIF" and image.n_frames > 1
    else:
        text = content.decode()
        if path.endswith(".svg"):
            root = ET.fromstring(text)
            assert root.tag.endswith("svg") and root[0].tag.endswith("title") and root[0].text
            text = "".join(root.itertext())
        else:
            assert text.startswith("<!DOCTYPE html>") and "<svg " in text and 'name="viewport"' in text
            assert not re.search(r"""(?:src|href|action)\s*=\s*["'](?!\#|data:image/png;base64,)""", text)
            assert "@import" not in text and "url(http" not in text
        for word in words:
            assert word in text, word


ENDINGS = (".svg", ".png", ".html")
COMMANDS = {
    "train": (["train", "two.csv", "--target", "kind", "-o", "m.model"], ["mistakes in training", "evidence for dog"]),
    "train three": (["train", "three.csv", "--target", "kind", "--holdout", "0.2"], ["held-out accuracy", "owl"]),
    "train naive Bayes": (["train", "reviews.csv", "--target", "label", "--rule", "naive-bayes"], [" : 1"]),
    "train a network": (["train", "two.csv", "--target", "kind", "--rule", "mlp"], ["mistakes in training"]),
    "evaluate": (["evaluate", "reviews.model", "test.csv"], ["predicted", "AUC"]),
    "evaluate with probabilities": (["evaluate", "l.model", "test.csv"], ["predicted", "AUC", "calibration"]),
    "validate": (["validate", "two.csv", "--target", "kind", "--folds", "3"], ["accuracy of each fold", "predicted"]),
    "validate by leave-one-out": (["validate", "three.csv", "--target", "kind", "--method", "loo"], ["predicted"]),
    "compare": (
        ["compare", "two.csv", "--target", "kind", "--rules", "mira", "--folds", "2"],
        ["95% interval", "mira"],
    ),
    "validate by rows": (["validate", "two.csv", "--target", "kind", "--curve"], ["training rows", "held-out rows"]),
    "theory": (["trace", "two.csv", "--target", "kind", "--theory"], ["kR²", "the cosine is at least"]),
    "certify": (["certify", "two.csv", "--target", "kind"], ["A margin of", "support vectors", "height"]),
    "certify four": (["certify", "four.csv", "--target", "kind"], ["A margin of", "distance from the plane"]),
    "explain": (["explain", "reviews.model"], ["evidence for"]),
    "explain three": (["explain", "three.model"], ["owl", "cat"]),
    "explain a text": (["explain", "reviews.model", "--text", "a good film"], ["prediction: ", "value × weight"]),
    "explain a row": (["explain", "people.model", "--row", "1", "people.csv"], ["age", "prediction: "]),
    "trace": (["trace", "two.csv", "--target", "kind"], ["wrong", "height"]),
    "trace four": (["trace", "four.csv", "--target", "kind"], ["weights of dog", "step"]),
    "trace three": (["trace", "three.csv", "--target", "kind"], ["wrong", "owl"]),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("endings", [ENDINGS[:1], pytest.param(ENDINGS, marks=pytest.mark.slow)], ids=["one", "all"])
def test_every_command_draws_every_kind_of_picture(run, points, name, endings):
    arguments, words = COMMANDS[name]
    if "three.model" in arguments:
        run("train", "three.csv", "--target", "kind", "--quiet")
    plain = without_times(run(*arguments))
    for ending in ENDINGS if name == "train" else endings:
        assert without_times(run(*arguments, "--plot", f"picture{ending}")) == plain
        check_picture(f"picture{ending}", *words)
    if len(endings) > 1 and "train" not in name and "compare" not in name:  # which draw times or overwrite their model
        path = Path(f"picture{endings[0]}")
        first = path.read_bytes()
        run(*arguments, "--plot", str(path))
        assert path.read_bytes() == first


def without_times(text: str) -> str:
    return re.sub(r"\d+(\.\d+)?( s\b| seconds?)?", "", text)


def test_mistake_bounds_are_drawn_when_they_are_asked_for(run, points):
    arguments = ["train", "two.csv", "--target", "kind", "--rule", "perceptron", "--holdout", "0", "--quiet"]
    run(*arguments, "--plot", "without.svg")
    run(*arguments, "--bounds", "--plot", "with.svg")
    assert "kR²" in Path("with.svg").read_text() and "kR²" not in Path("without.svg").read_text()


def test_a_trace_is_an_animation(run, points):
    run("trace", "two.csv", "--target", "kind", "--steps", "30", "--plot", "steps.gif")
    run("trace", "two.csv", "--target", "kind", "--steps", "30", "--plot", "steps.html")
    changes = sum(bool(step.changes) for step in markone.trace("two.csv", "kind", steps=30))
    with Image.open("steps.gif") as image:
        assert image.n_frames == 1 + changes
    assert f'max="{changes}"' in Path("steps.html").read_text()
    check_picture("steps.html", "height")
    run("trace", "four.csv", "--target", "kind", "--plot", "four.gif")
    check_picture("four.gif")
    run("trace", "four.csv", "--target", "kind", "--plot", "four.html")
    assert "<script" not in Path("four.html").read_text() and "weights of dog" in Path("four.html").read_text()
    said = run("trace", "two.csv", "--target", "kind", "--rule", "mlp", "--plot", "no.gif", status=2)
    assert "those of mlp are not" in said and not Path("no.gif").exists()
    run("trace", "two.csv", "--target", "kind", "--rule", "mlp", "--plot", "paths.svg")
    check_picture("paths.svg", "weights of")


def test_the_weights_of_pixels_are_images(run, folder):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(256, size=(40, 6, 5)), np.arange(40) % 3
    (folder / "images-idx3-ubyte").write_bytes(as_idx(images))
    (folder / "labels-idx1-ubyte").write_bytes(as_idx(labels))
    run("train", "images-idx3-ubyte", "-o", "digits.model", "--quiet", "--plot", "training.svg")
    run("explain", "digits.model", "--plot", "weights.svg")
    for name in ("training.svg", "weights.svg"):
        check_picture(name, "weight", "0", "1", "2")
        assert Path(name).read_text().count("data:image/png;base64") >= 3
    assert "The weights of 6 × 5 pixels" in Path("weights.svg").read_text()
    run("explain", "digits.model", "--row", "1", "images-idx3-ubyte", "--plot", "one.svg")
    check_picture("one.svg", "pixel", "prediction: ")


def test_many_classes_are_drawn_in_part_and_the_picture_says_so(run, folder):
    rows = [f"word{i},{'rare' if i == 7 else f'class {i}'}" for i in range(30) for _ in range(1 if i == 7 else 3)]
    Path("many.csv").write_text("text,label\n" + "\n".join(rows) + "\n")
    run("train", "many.csv", "--target", "label", "--quiet", "--holdout", "0")
    run("explain", "many.model", "--plot", "many.svg", "--top", "3")
    text = "".join(ET.fromstring(Path("many.svg").read_text()).itertext())
    assert "The strongest weights of 24 of 30 classes" in text and "rare" not in text


def test_measurements_of_naive_bayes_are_drawn(run, points):
    run("train", "two.csv", "--target", "kind", "--rule", "naive-bayes", "--holdout", "0", "--plot", "bayes.svg")
    check_picture("bayes.svg", "height", "weight", "cat", "dog")


def test_names_cannot_break_a_picture(run, folder):
    rows = [(i, -i, "plain") for i in range(1, 9)] + [(-i, i, f'{HOSTILE}"&') for i in range(1, 9)]
    lines = "".join(f'{a},{b},"{label.replace(chr(34), chr(34) * 2)}"\n' for a, b, label in rows)
    Path("hostile.csv").write_text(f'{HOSTILE},"$x^2$&\'",kind\n{lines}')
    commands = {
        "train": ["train", "hostile.csv", "--target", "kind", "-o", "h.model", "--quiet"],
        "evaluate": ["evaluate", "h.model", "hostile.csv"],
        "explain": ["explain", "h.model", "--row", "1", "hostile.csv"],
        "trace": ["trace", "hostile.csv", "--target", "kind"],
        "certify": ["certify", "hostile.csv", "--target", "kind"],
        "validate": ["validate", "hostile.csv", "--target", "kind", "--folds", "2"],
    }
    for name, arguments in commands.items():
        run(*arguments, "--plot", f"{name}.html")
        check_picture(f"{name}.html")
        assert "<script>alert" not in Path(f"{name}.html").read_text()
    for ending in (".png", ".svg"):
        run(*commands["trace"], "--plot", f"trace{ending}")
        check_picture(f"trace{ending}")
    assert "<script" not in Path("trace.svg").read_text()
    assert "&lt;script" in Path("trace.html").read_text()


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("p.pdf", "--plot must end in .png, .svg or .html, not in .pdf"),
        ("p.pngg", "--plot must end in .png, .svg or .html, not in .pngg. Did you mean '.png'?"),
        ("picture", "--plot must end in .png, .svg or .html, and 'picture' does not"),
        ("p.gif", "--plot must end in .png, .svg or .html here, not in .gif: there is no animation of this"),
        ("no/p.png", "the folder no for the picture does not exist"),
        ("some.svg", "some.svg is a folder; name a file for the picture"),
    ],
)
def test_a_picture_that_cannot_be_saved_stops_the_command_before_any_work(run, folder, path, problem):
    Path("some.svg").mkdir()
    os.remove("reviews.model")
    assert run("train", "reviews.csv", "--target", "label", "--plot", path, status=2) == problem
    assert not Path("reviews.model").exists()


def test_a_trace_says_that_it_can_be_a_gif(run, points):
    said = run("trace", "two.csv", "--target", "kind", "--plot", "p.jpg", status=2)
    assert said == "--plot must end in .png, .svg, .html or .gif, not in .jpg. Did you mean '.png'?"


def test_a_picture_does_not_overwrite_what_is_read_or_written(run, folder):
    Path("data.svg").write_bytes(Path("reviews.csv").read_bytes())
    before = Path("data.svg").read_bytes()
    arguments = ["train", "data.svg", "--format", "csv", "--target", "label"]
    assert "is an input file" in run(*arguments, "--plot", "data.svg", status=2)
    assert Path("data.svg").read_bytes() == before
    said = run(*arguments, "-o", "both.png", "--plot", "./both.png", status=2)
    assert said == "--plot is ./both.png, which the command also writes something else to; name another file"
    said = run("explain", "reviews.model", "--html", "e.html", "--plot", "e.html", status=2)
    assert said.endswith("name another file")
    os.rename("reviews.model", "reviews.png")
    assert "is an input file" in run("explain", "reviews.png", "--plot", "reviews.png", status=2)


def test_an_old_picture_stays_if_the_work_fails(run, folder):
    Path("p.svg").write_text("old")
    run("validate", "reviews.csv", "--target", "no such column", "--plot", "p.svg", status=2)
    assert Path("p.svg").read_text() == "old"


def test_taggers_have_no_picture(run, folder):
    said = run("explain", "treebank.tagger", "--plot", "t.png", status=2)
    assert said == "--plot draws the weights of classifiers, and this is a tagger; use --html instead"


def test_given_weights_are_drawn_and_running_totals_are_not(run, folder):
    Path("spam.json").write_text('{"spam": {"BIAS": -3, "free": 4, "money": 2}}')
    run("train", "--start", "spam.json", "--classes", "ham,spam", "--plot", "given.svg")
    check_picture("given.svg", "evidence for spam", "free", "money", "BIAS")
    run("train", "reviews.csv", "--target", "label", "--rule", "naive-bayes", "-o", "nb.model", "--quiet")
    said = run("explain", "nb.model", "a good film", "--running", "--plot", "p.png", status=2)
    assert said == "--plot draws products and weights, but not running totals; leave out --running"
    run("train", "reviews.csv", "--target", "label", "--positive", "happy", "-o", "p.model", "--quiet")
    run("evaluate", "p.model", "test.csv", "--plot", "p.svg")
    check_picture("p.svg", "finding happy: AUC")


def test_without_matplotlib_a_sentence_names_the_extra(folder):
    os.remove("reviews.model")
    program = "import sys; sys.modules['matplotlib'] = None; from markone.cli import main; sys.exit(main())"
    arguments = ["train", "reviews.csv", "--target", "label"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments, "--plot", "p.png"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "markone: plots need matplotlib, which is not installed: pip install 'markone[plot]'\n"
    assert not Path("reviews.model").exists()
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and Path("reviews.model").exists()


def test_bad_lines_are_counted_once_when_the_data_are_read_again(run, folder):
    Path("bad.csv").write_text(Path("test.csv").read_text() + "1,2,3\n")
    run("evaluate", "l.model", "bad.csv", "--skip-bad", "--plot", "p.png")
    assert run.errors.startswith("markone: 1 bad line was skipped:")


def test_standard_input_is_drawn_too(run, folder):
    text = Path("test.csv").read_text()
    run("evaluate", "l.model", "-", "--format", "csv", "--plot", "piped.svg", given=text)
    run("evaluate", "l.model", "test.csv", "--plot", "named.svg")
    assert Path("piped.svg").read_bytes() == Path("named.svg").read_bytes()
