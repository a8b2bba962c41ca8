"""`markone tag`: trains, uses and evaluates taggers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from markone.cli.options import FileName, Flag, given
from markone.cli.sentences import (
    Craft,
    ReadingSentences,
    SentenceFile,
    SentenceFiles,
    learn_and_tell,
    library_options,
    measure,
    write_found,
)
from markone.cli.shared_options import Checkpoint, Json, Minutes, ModelFile, Out, Quiet, Resume, SavedAs, Test
from markone.cli.training import Keeping
from markone.data.strings import Strings
from markone.errors import DataError
from markone.structured.corpora import COLUMNS_OF_CONLLU, Corpus
from markone.structured.sentences import FORM, TAG, Sentences
from markone.structured.tagger import Tagger
from markone.structured.writing import append_column, write_columns, write_conllu, write_json

FOR_PYTHON = {"source", "templates", "checkpoint", "resume", "callback", "progress"}
Output = Literal["conllu", "columns", "jsonl"]

if TYPE_CHECKING:
    Tagging = dict[str, Any]
else:
    Tagging = library_options("Tagging", Tagger.train, FOR_PYTHON, "Learning to tag")


def train(
    *data: SentenceFiles,
    out: SavedAs = None,
    templates: FileName | None = None,
    test: Test = None,
    checkpoint: Checkpoint = False,
    minutes: Minutes = None,
    resume: Resume = False,
    final: Flag = False,
    json: Json = False,
    quiet: Quiet = False,
    learning: Tagging | None = None,
    reading: ReadingSentences | None = None,
) -> None:
    """Train a tagger on sentences whose words have tags, and save it.

    Tags can be parts of speech, phrases or names. They come from any column of CoNLL-U or of a file of columns, or from
    JSON lines. If the tags mark spans (IOB1, IOB2, IOBES), the tagger recognises the scheme and only predicts valid
    sequences. Invalid tags in the data are replaced by the nearest valid ones, and a message says how many there are
    and where the first one is. The tagger remembers the names of the columns for the other commands. Ctrl-C saves a
    checkpoint, from which --resume continues the training.

    For example:

    `markone tag train treebank.conllu`

    `markone tag train treebank.conllu --column xpos --test test.conllu -o xpos.tagger`

    `markone tag train phrases.iob --columns form,pos,chunk --column chunk --inputs pos --rule perceptron`

    Parameters
    ----------
    templates
        A file of feature templates, one per line, such as "lower[-1] lower[0]". The line "usual" stands for the default
        templates. Lines that begin with # are ignored.
    final
        Save a smaller file, without the data that only --resume needs.
    """
    settings = given(learning) | ({} if templates is None else {"templates": lines_of(templates)})
    keeping = Keeping(checkpoint, minutes, resume, final, quiet)
    learn_and_tell(TAGGERS, data, settings, reading, keeping, out=out, test=test, spec=templates, json=json)


def run(
    model: ModelFile,
    data: SentenceFile,
    /,
    *,
    out: Out = None,
    output: Output | None = None,
    reading: ReadingSentences | None = None,
) -> None:
    """Tag the words of files or of plain text with a tagger that `markone tag train` has saved.

    The output has the format of the input: CoNLL-U keeps its comments and other columns, a file of columns gets one
    more column, and JSON lines get lists of tags. Plain text is split into sentences and words first, and written
    as columns. For an empty file, nothing is written.

    For example:

    `markone tag run treebank.tagger test.conllu -o tagged.conllu`

    `echo "The dog barks." | markone tag run treebank.tagger -`

    `markone tag run treebank.tagger test.conllu --output jsonl`

    Parameters
    ----------
    output
        The output format: conllu, columns or jsonl. The default is the format of the input.
    """

    def writing(tagger: Tagger, corpus: Corpus) -> tuple[Output, Callable[[Sentences], bytes]]:
        format, column = output or usual_output(corpus), tagger.settings.column
        return format, lambda batch: written(batch, column, tagger.tag_columns(batch), format)

    write_found(TAGGERS, model, data, reading, out, writing)


def evaluate(
    model: ModelFile, /, *data: SentenceFiles, json: Json = False, reading: ReadingSentences | None = None
) -> None:
    """Measure a tagger on sentences whose tags are known.

    The report shows the accuracy for all words, for words that occur in the training data and for new words; the share
    of sentences without a mistake; and the most frequent confusions. If the tags mark spans, it also shows their
    precision, recall and F1, computed as in the CoNLL shared tasks.

    For example:

    `markone tag evaluate treebank.tagger test.conllu`

    `markone tag evaluate treebank.tagger test.conllu --json`
    """
    measure(TAGGERS, model, data, reading, json=json)


# ---- reports about a tagger


def facts_of(tagger: Tagger) -> dict[str, Any]:
    return {
        "column": tagger.settings.column,
        "rule": tagger.settings.rule,
        "tags": tagger.tags,
        "features": len(tagger.weights),
        "scheme": tagger.settings.scheme,
        "repairs": None if tagger.repairs is None else asdict(tagger.repairs),
    }


def lines_about(tagger: Tagger) -> list[str]:
    about, features = tagger.settings, len(tagger.weights)
    return [f"Trained a tagger with {len(tagger.tags)} tags of {about.column} ({about.rule}, {features:,} features)."]


def remark(tagger: Tagger) -> str | None:
    return None if tagger.repairs is None else f"{tagger.repairs}. With --strict, such tags are an error"


TAGGERS = Craft("tagger", Tagger, facts=facts_of, lines=lines_about, remark=remark)


# ---- reading and writing


def lines_of(path: str) -> list[str]:
    """Return the templates in a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the templates in {path} cannot be read: {error}", file=path) from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def usual_output(corpus: Corpus) -> Output:
    """Return the format of the input, or `columns` if that format cannot be written."""
    formats: dict[str, Output] = {one: one for one in get_args(Output)}
    return formats.get(corpus.format, "columns")


def written(batch: Sentences, column: str, tags: Strings, format: Output) -> bytes:
    """Return a batch as text, with the predicted column."""
    if format == "columns" and batch.source is not None and batch.source.format == "columns":
        return append_column(batch, tags)
    if format == "conllu":
        if column not in COLUMNS_OF_CONLLU:
            raise DataError(f"CoNLL-U has no column for {column!r}; use --output columns or --output jsonl")
        return write_conllu(batch, {column: tags})
    name = column if column in COLUMNS_OF_CONLLU else TAG
    write = write_columns if format == "columns" else write_json
    return write(batch.with_columns({name: tags}), [FORM, name])
