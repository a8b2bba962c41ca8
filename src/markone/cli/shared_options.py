"""Arguments and options that several commands share, with their help texts."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Number, WholeNumber

FILES = "One or more files of the same format, a pattern such as data/*.csv, a folder, or - for standard input."

# ---- what is read

Files = Annotated[FileName, Parameter(help=FILES)]
HeldFiles = Annotated[FileName, Parameter(help=f"{FILES} All rows must fit in memory.")]
File = Annotated[FileName, Parameter(help="A file, a pattern, a folder, or - for standard input.")]
ModelFile = Annotated[FileName, Parameter(help="The model file.")]
Target = Annotated[str | None, Parameter(help="The column to predict. Not needed for formats that contain labels.")]
Positive = Annotated[
    str | None,
    Parameter(
        help="The label of the positive class, if there are two. By default a label such as +, yes, positive or spam; "
        "or the label that the other one negates, as `not spam` negates `spam`; or else the second in the order of "
        "sorting.",
        allow_leading_hyphen=True,
    ),
]
Classes = Annotated[
    str | None,
    Parameter(
        help="The labels of all classes in their order, written as ham,spam. With two classes, the second is positive. "
        "By default the labels of the data, sorted.",
        allow_leading_hyphen=True,
    ),
]
Importance = Annotated[
    str | None,
    Parameter(help="A column with the weight of each example in training. In tests, all examples count the same."),
]
Spec = Annotated[
    FileName | None,
    Parameter(
        help="A TOML file that says which features to make from which columns; or `email`, for mails in columns such "
        "as sender, to, subject and body."
    ),
]
Scaled = Annotated[
    Flag,
    Parameter(
        help="Scale numeric columns as `markone train` does. By default, numbers are used as they are, unless "
        "--features says how to scale them."
    ),
]
Plain = Annotated[
    Flag,
    Parameter(
        help="For a table without --rule: use the rule `mira` and straight lines, as in the lectures. By default it is "
        "`logistic`, and columns have curves and pairs if that is better on held-out training rows. For --rule "
        "regression: no curves and pairs."
    ),
]
Test = Annotated[
    FileName | None,
    Parameter(help="A labelled test file in the same format. It is used only once, to evaluate the final model."),
]

# ---- what is written

Out = Annotated[
    FileName | None, Parameter(name=["--out", "-o"], help="The file to write. It appears when it is complete.")
]
SavedAs = Annotated[
    FileName | None,
    Parameter(
        name=["--out", "-o"],
        help="The file to save the model in. The default is the name of the data with .model, .tagger or .parser.",
    ),
]
Plot = Annotated[
    FileName | None,
    Parameter(
        help="Also draw the result in this file: a .png image, an .svg drawing or an .html page; from `trace`, also an "
        "animated .gif. Needs matplotlib: pip install 'markone[plot]'."
    ),
]
Json = Annotated[Flag, Parameter(help="Print one JSON object instead of the report.")]
Quiet = Annotated[Flag, Parameter(help="Show neither progress nor a report.")]
NoProgress = Annotated[Flag, Parameter(help="Do not show progress.")]

# ---- how the work is done

Threads = Annotated[
    WholeNumber | None,
    Parameter(help="The number of threads; by default one per core. The result does not depend on it."),
]
Memory = Annotated[
    str | None, Parameter(help='How much memory the rows may use, such as "2 GB"; by default half of the memory.')
]
Checkpoint = Annotated[
    Flag,
    Parameter(
        help="Save a checkpoint after every pass, in a file beside the model that ends in .checkpoint. An interrupted "
        "training always saves one."
    ),
]
Minutes = Annotated[Number | None, Parameter(help="Also save a checkpoint every N minutes.")]
Resume = Annotated[
    Flag,
    Parameter(
        help="Resume an interrupted training, which gives the same model bit for bit; or continue a finished one with "
        "more passes."
    ),
]

Cluster = Annotated[
    str | None,
    Parameter(
        help="Work on a cluster: the address of a Dask scheduler, such as tcp://host:8786, or of a Ray cluster, such "
        "as ray://host:10001. Files must have the same path on all machines. The result does not depend on it."
    ),
]

# ---- how rows are split into training rows and test rows

SPLITS = (
    "How to split the rows: `kfold` divides them into folds and tests each fold once, `holdout` tests a random share, "
    "and `loo` (leave-one-out) tests each row alone. The first two keep the shares of the classes."
)
Splits = Literal["kfold", "holdout", "loo"]
Method = Annotated[Splits, Parameter(help=SPLITS)]
FOLDS = "The number of folds of `kfold`."
Folds = Annotated[WholeNumber, Parameter(help=FOLDS)]
Repeats = Annotated[
    WholeNumber, Parameter(help="How often to repeat `kfold` or `holdout`, each time with another random split.")
]
Share = Annotated[Number, Parameter(help="The share of rows that `holdout` tests.")]
