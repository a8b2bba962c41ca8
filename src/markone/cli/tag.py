"""`markone tag`: learn to tag words, tag them, and measure how well."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from markone.cli.messages import tell
from markone.cli.models import check_kind
from markone.cli.options import FileName, Flag, given
from markone.cli.training import (
    Checkpoint,
    Json,
    Minutes,
    Quiet,
    Resume,
    check_path,
    default_name,
    learn_and_save,
    progress,
)
from markone.cli.treebanks import (
    File,
    Files,
    Out,
    Output,
    ReadingSentences,
    Test,
    check_given,
    facts_of,
    library_options,
    measure,
    open_files,
    open_to_use,
    read_to_learn,
    tell_training,
    usual_output,
    write_all,
    written,
)
from markone.errors import DataError
from markone.structured.tagger import Tagger

FOR_PYTHON = {"source", "templates", "checkpoint", "resume", "callback", "progress"}

if TYPE_CHECKING:
    Tagging = dict[str, Any]
else:
    Tagging = library_options("Tagging", Tagger.train, FOR_PYTHON, "Learning to tag")


def train(
    *data: Files,
    out: Annotated[FileName | None, Parameter(name=["--out", "-o"])] = None,
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

    Examples:

    `markone tag train treebank.conllu`

    `markone tag train treebank.conllu --column xpos --test test.conllu -o xpos.tagger`

    `markone tag train phrases.iob --columns form,pos,chunk --column chunk --inputs pos --rule perceptron`

    Parameters
    ----------
    out
        The file of the tagger: named like the data, with the ending .tagger, by default.
    templates
        A file that says what is looked at, a template on each line, such as "lower[-1] lower[0]". A line "usual" stands
        for those that are taken by default; lines that begin with # are passed over.
    final
        Leave out of the file what is needed only to make more passes.
    """
    from markone.cli.report import print_json

    check_given(data, "markone tag train treebank.conllu")
    path = out or default_name(data, "tagger")
    check_path(path, [*data, *filter(None, [templates, test])])
    settings: dict[str, Any] = given(learning)
    if templates is not None:
        settings["templates"] = lines_of(templates)
    sentences = read_to_learn(data, given(reading), settings, heads=False)
    tagger = learn_and_save(
        lambda checkpoints, going_on: Tagger.train(
            sentences, checkpoint=checkpoints, resume=going_on, progress=progress(quiet), **settings
        ),
        path,
        kind="tagger",
        checkpoint=checkpoint,
        minutes=minutes,
        resume=resume,
        final=final,
        quiet=quiet,
    )
    if tagger.repairs is not None:
        tell(f"{tagger.repairs}. --strict refuses such tags")
    tested = None if test is None else open_files([test], given(reading), heads=False, usual=tagger.columns).read()
    evaluation = None if tested is None else tagger.evaluate(tested)
    about, features = tagger.settings, len(tagger.weights)
    if json:
        repairs = None if tagger.repairs is None else asdict(tagger.repairs)
        learned = {
            "column": about.column,
            "rule": about.rule,
            "tags": tagger.tags,
            "features": features,
            "scheme": about.scheme,
            "repairs": repairs,
        }
        print_json(facts_of(path, sentences, tagger.history, learned, evaluation))
    elif not quiet:
        lines = [f"Learned {len(tagger.tags)} tags of {about.column} ({about.rule}, {features:,} features)."]
        tell_training(path, sentences, tagger.history, lines, evaluation, test)


def run(
    model: FileName,
    data: File,
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

    Examples:

    `markone tag run treebank.tagger test.conllu -o tagged.conllu`

    `echo "The dog barks." | markone tag run treebank.tagger -`

    `markone tag run treebank.tagger test.conllu --output jsonl`

    Parameters
    ----------
    model
        The file of the tagger.
    output
        How to write: conllu, columns or jsonl; as it was read by default.
    """
    from markone.cli.output import check_not_read

    check_not_read(out, model, data)
    check_kind(model, "tagger", "use", data)
    tagger = Tagger.load(model)
    corpus = open_to_use(data, given(reading), tagger.columns)
    format = output or usual_output(corpus)
    write_all(
        corpus, out, format, lambda batch: written(batch, tagger.settings.column, tagger.tag_columns(batch), format)
    )


def evaluate(
    model: FileName,
    /,
    *data: Files,
    json: Flag = False,
    reading: ReadingSentences | None = None,
) -> None:
    """Measure a tagger on sentences whose tags are known.

    Tells how many words have the right tag, those that occur in the training data and those that do not, how many
    sentences are all right, which tags are taken for which others and, where tags are parts of spans, their precision,
    recall and F1 as in the shared tasks.

    Examples:

    `markone tag evaluate treebank.tagger test.conllu`

    `markone tag evaluate treebank.tagger test.conllu --json`

    Parameters
    ----------
    model
        The file of the tagger.
    json
        Print one JSON object instead of the lines.
    """
    measure(Tagger.load, "tagger", model, data, given(reading), json=json)


def lines_of(path: str) -> list[str]:
    """The templates in a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the templates in {path} cannot be read: {error}") from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
