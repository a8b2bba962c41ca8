"""`POST /learn`: teaches a model examples that a client sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from markone.model.explaining import plain_label
from markone.server.examples import of_model, of_rows, of_texts
from markone.server.messages import LabelledExamples, Learned
from markone.server.predicting import model_of
from markone.server.problems import Problem
from markone.server.requests import JSON, Answer, Asked, in_json

if TYPE_CHECKING:
    from markone.server.service import Service

LABELLED = msgspec.json.Decoder(LabelledExamples)


def learn(service: Service, asked: Asked) -> Answer:
    """Learn labelled examples: they are on disk before the answer, and new words and classes are learned, too."""
    if service.learning is None:
        raise Problem(403, "The service does not learn; start it with --learn.")
    asked.gives((JSON,))
    wanted = LABELLED.decode(asked.body)
    served = service.find(asked, wanted, "classifier")
    examples: list[Any] | None = wanted.texts if wanted.rows is None else wanted.rows
    if examples is None or (wanted.texts is not None and wanted.rows is not None):
        raise Problem(422, "Either texts or rows must be given.")
    (of_texts if wanted.rows is None else of_rows)(examples, service.settings)
    if not examples or len(examples) != len(wanted.labels):
        raise Problem(422, f"There are {len(examples):,} examples and {len(wanted.labels):,} labels.")
    step = service.learning.learn(served, of_model(model_of(served), examples), wanted.labels)
    answer = Learned(
        model=step.served.name,
        version=step.served.version,
        learned=step.tally.learned,
        predictions=[plain_label(label) for label in step.predicted],
        accuracy=step.tally.accuracy,
        drift=step.drift,
    )
    return in_json(answer, len(examples))
