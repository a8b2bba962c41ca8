"""`markone tag`: learn to tag words, tag them, and measure how well."""

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
    """Learn to tag words from sentences whose words have tags, and save the tagger.

    Parts of speech, phrases, names: any column of CoNLL-U or of a file of columns, or the tags of JSON lines. Tags of
    spans (IOB1, IOB2, IOBES) are noticed, and no sequence that makes no sense is ever given. Tags that are not valid in
    their scheme are taken for the nearest that are, and it is said how many there were and where the first is. The
    tagger keeps the names of columns for the other commands. Ctrl-C keeps what was learned so far, and --resume goes on
    from there as if nothing had happened.

    For example:

    `markone tag train treebank.conllu`

    `markone tag train treebank.conllu --column xpos --test test.conllu -o xpos.tagger`

    `markone tag train phrases.iob --columns form,pos,chunk --column chunk --inputs pos --rule perceptron`

    Parameters
    ----------
    templates
        A file that says what is looked at, a template on each line, such as "lower[-1] lower[0]". A line "usual" stands
        for those that are taken by default; lines that begin with # are passed over.
    final
        Leave out of the file what is needed only to make more passes.
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
    """Tag the words of files, or of plain text, with a tagger that `markone tag train` has saved.

    Sentences are written as they were read, with the tags in their column: CoNLL-U with all its comments and lines, a
    file of columns with one column more, JSON lines with lists of tags. Plain text is cut into sentences and words
    first, and written as columns. Of an empty file nothing is written.

    For example:

    `markone tag run treebank.tagger test.conllu -o tagged.conllu`

    `echo "The dog barks." | markone tag run treebank.tagger -`

    `markone tag run treebank.tagger test.conllu --output jsonl`

    Parameters
    ----------
    output
        How to write: conllu, columns or jsonl; as it was read by default.
    """

    def writing(tagger: Tagger, corpus: Corpus) -> tuple[Output, Callable[[Sentences], bytes]]:
        format, column = output or usual_output(corpus), tagger.settings.column
        return format, lambda batch: written(batch, column, tagger.tag_columns(batch), format)

    write_found(TAGGERS, model, data, reading, out, writing)


def evaluate(
    model: ModelFile, /, *data: SentenceFiles, json: Json = False, reading: ReadingSentences | None = None
) -> None:
    """Measure a tagger on sentences whose tags are known.

    Tells how many words have the right tag, those that occur in the training data and those that do not, how many
    sentences are all right, which tags are taken for which others and, where tags are parts of spans, their precision,
    recall and F1 as in the shared tasks.

    For example:

    `markone tag evaluate treebank.tagger test.conllu`

    `markone tag evaluate treebank.tagger test.conllu --json`
    """
    measure(TAGGERS, model, data, reading, json=json)


# ---- what is told of a tagger


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
    return [f"Learned {len(tagger.tags)} tags of {about.column} ({about.rule}, {features:,} features)."]


def remark(tagger: Tagger) -> str | None:
    return None if tagger.repairs is None else f"{tagger.repairs}. --strict refuses such tags"


TAGGERS = Craft("tagger", Tagger, facts=facts_of, lines=lines_about, remark=remark)


# ---- reading and writing


def lines_of(path: str) -> list[str]:
    """The templates in a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the templates in {path} cannot be read: {error}", file=path) from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def usual_output(corpus: Corpus) -> Output:
    """The format that sentences are in, if they can be written so."""
    formats: dict[str, Output] = {one: one for one in get_args(Output)}
    return formats.get(corpus.format, "columns")


def written(batch: Sentences, column: str, found: Strings, format: Output) -> bytes:
    """A batch with a column that was found."""
    if format == "columns" and batch.source is not None and batch.source.format == "columns":
        return append_column(batch, found)
    if format == "conllu":
        if column not in COLUMNS_OF_CONLLU:
            raise DataError(f"CoNLL-U has no column for {column!r}; say --output columns or jsonl")
        return write_conllu(batch, {column: found})
    name = column if column in COLUMNS_OF_CONLLU else TAG
    write = write_columns if format == "columns" else write_json
    return write(batch.with_columns({name: found}), [FORM, name])
