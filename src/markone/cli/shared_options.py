"""Arguments and options that several commands have, each with its help."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Number, WholeNumber

FILES = "Files of one format, a pattern, a folder, or - for standard input."

# ---- what is read

Files = Annotated[FileName, Parameter(help=FILES)]
HeldFiles = Annotated[FileName, Parameter(help=f"{FILES} Their rows are held in memory.")]
File = Annotated[FileName, Parameter(help="A file, a pattern, a folder, or - for standard input.")]
ModelFile = Annotated[FileName, Parameter(help="The file of the model.")]
Target = Annotated[
    str | None, Parameter(help="The column to be predicted. Formats that have labels of their own need none.")
]
Importance = Annotated[
    str | None,
    Parameter(help="A column that says how much each example counts in learning. In tests all count the same."),
]
Spec = Annotated[FileName | None, Parameter(help="A file of TOML that says what features are made of the columns.")]
Test = Annotated[
    FileName | None,
    Parameter(
        help="A labelled file in the same format: the model is measured on it, once, when everything else is done."
    ),
]

# ---- what is written

Out = Annotated[
    FileName | None, Parameter(name=["--out", "-o"], help="The file to write. It appears when all is written.")
]
SavedAs = Annotated[
    FileName | None,
    Parameter(
        name=["--out", "-o"],
        help="The file of the model: named like the data, with the ending .model, .tagger or .parser, by default.",
    ),
]
Json = Annotated[Flag, Parameter(help="Print one JSON object instead of the report.")]
Quiet = Annotated[Flag, Parameter(help="No progress and no report.")]
NoProgress = Annotated[Flag, Parameter(help="No progress.")]

# ---- how the work is done

Threads = Annotated[
    WholeNumber | None,
    Parameter(help="How many threads to use; as many as there are cores by default. The result is the same."),
]
Memory = Annotated[
    str | None, Parameter(help='How much memory the rows may need: "2 GB"; half of the machine\'s by default.')
]
Checkpoint = Annotated[
    Flag,
    Parameter(
        help="Keep the training in a file beside the model's, with the ending .checkpoint, after every pass; it is "
        "always kept when it is interrupted."
    ),
]
Minutes = Annotated[Number | None, Parameter(help="Also save a checkpoint every N minutes.")]
Resume = Annotated[
    Flag,
    Parameter(
        help="Go on with a training that was interrupted, to the same model, bit for bit; or with one that has ended, "
        "for more passes."
    ),
]

# ---- how rows are divided into those to learn from and those to be tested

Method = Annotated[
    Literal["kfold", "holdout", "loo"],
    Parameter(
        help="How rows are divided: `kfold` tests each row once, together with a fold of others, `holdout` a share of "
        "them, and `loo` each row alone. All classes have their share of every test."
    ),
]
Folds = Annotated[WholeNumber, Parameter(help="How many folds `kfold` has.")]
Repeats = Annotated[
    WholeNumber, Parameter(help="How often `kfold` or `holdout` is done, each time with other divisions.")
]
Share = Annotated[Number, Parameter(help="The share of rows that `holdout` tests.")]
