"""The ONNX export: a graph of standard operators in 64-bit floats, for tables of numbers and categories."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.errors import DataError, shorten
from markone.exporting.document import Document, as_table
from markone.exporting.interpreter import Answer, narrow
from markone.exporting.options import Options, Ran
from markone.exporting.parts import ExportError, cell_of, columns_of, first_name, places_on
from markone.exporting.samples import Row
from markone.exporting.texts import in_json

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
"""Old enough for every runtime of the last years."""
MOST_CELLS = 2_000_000
ROWS = "rows"
"""The name of the only input of a model of given rows."""
UNKNOWN = "\x01"
"""Stands for an empty text in the check. An empty text means a missing value, so it cannot be a category."""
INSTALL = "run pip install 'markone[onnx]'"


class Graph:
    """Collects the nodes and constants of a graph. Each value has a name, which its methods return."""

    def __init__(self) -> None:
        import onnx

        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"markone:{self.count}"

    def constant(self, values: Any, kind: Any = np.float64) -> str:
        name = self.name()
        if kind is str:
            array = np.array([one.encode() for one in values], object)
            made = self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, [len(array)], array.tolist())
        else:
            made = self.onnx.numpy_helper.from_array(np.asarray(values, kind), name)
        self.constants.append(made)
        return name

    def add(self, operator: str, *inputs: str, to: str | None = None, domain: str = "", **attributes: Any) -> str:
        name = to or self.name()
        node = self.onnx.helper.make_node(operator, [*inputs], [name], domain=domain, **attributes)
        self.nodes.append(node)
        return name

    def cast(self, value: str, kind: str) -> str:
        name = self.name()
        to = getattr(self.onnx.TensorProto, kind)
        self.nodes.append(self.onnx.helper.make_node("Cast", [value], [name], to=to))
        return name

    def narrow(self, value: str) -> str:
        """Round to 32 bits."""
        return self.cast(self.cast(value, "FLOAT"), "DOUBLE")

    def sum(self, values: Sequence[str]) -> str:
        return values[0] if len(values) == 1 else self.add("Sum", *values)


class Writer:
    """Makes the graph of a document."""

    def __init__(self, document: Document) -> None:
        self.given = [column["kind"] for column in document["columns"]] == ["rows"]
        self.document = as_table(document)
        self.graph = Graph()
        check_parts(self.document)
        self.exactly = narrow if document["bits"] == 32 else float

    def scores(self) -> str:
        """Return the scores, of the second class alone if there are two."""
        graph = self.graph
        parts = [
            self.numbers(part) if part["part"] == "numbers" else self.cells(part) for part in self.document["parts"]
        ]
        if self.document["unit"]:
            squares = [
                graph.add("ReduceSum", graph.add("Mul", value, value), graph.constant([1], np.int64), keepdims=1)
                for value, _, _ in parts
            ]
            total = graph.sum(squares)
            length = graph.add("Sqrt", total)
            safe = graph.add(
                "Where", graph.add("Equal", total, graph.constant([[0.0]])), graph.constant([[1.0]]), length
            )
            parts = [(graph.narrow(graph.add("Div", value, safe)), weigh, once) for value, weigh, once in parts]
        terms = []
        for value, weigh, once in parts:
            if once:
                zero = graph.add("Equal", value, graph.constant([[0.0]]))
                value = graph.cast(graph.add("Not", zero), "DOUBLE")
            terms.append(weigh(value))
        bias = graph.constant([[self.exactly(one) for one in self.document["bias"]]])
        total = graph.add("Add", graph.sum(terms), bias)
        return graph.narrow(total) if self.document["bits"] == 32 else total

    def weights(self, features: Sequence[Mapping[str, Any]]) -> NDArray[np.float64]:
        return np.array([[self.exactly(one) for one in feature["weights"]] for feature in features])

    def scaled(self, facts: Mapping[str, Any]) -> str:
        """Return a column of scaled numbers."""
        graph = self.graph
        number: str = facts["column"]
        if facts["fill"] is not None:
            number = graph.add("Where", graph.add("IsNaN", number), graph.constant([[facts["fill"]]]), number)
        if facts["spread"] is None:
            return graph.add("Mul", number, graph.constant([[0.0]]))
        moved = graph.add("Sub", number, graph.constant([[facts["center"]]]))
        return graph.add("Div", moved, graph.constant([[facts["spread"]]]))

    def numbers(self, part: Mapping[str, Any]) -> tuple[str, Any, bool]:
        """Return the values of numbers, of which ones are missing, and of products, and how they become scores."""
        graph, features, columns = self.graph, part["features"], part["columns"]
        given = ROWS if self.given else graph.add("Concat", *(column["column"] for column in columns), axis=1)
        missing = graph.add("IsNaN", given)
        fills = [math.nan if column["fill"] is None else column["fill"] for column in columns]
        filled = graph.add("Where", missing, graph.constant([fills]), given)
        moved = graph.add("Sub", filled, graph.constant([[column["center"] for column in columns]]))
        spreads = [math.inf if column["spread"] is None else column["spread"] for column in columns]
        values, known = graph.narrow(graph.add("Div", moved, graph.constant([spreads]))), len(columns)
        gaps = [feature["missing"] for feature in features if "missing" in feature]
        if gaps:
            has = graph.add("Gather", graph.cast(missing, "DOUBLE"), graph.constant(gaps, np.int64), axis=1)
            values, known = graph.add("Concat", values, has, axis=1), known + len(gaps)
        while known < len(features):  # products of what is known so far
            more = [feature["product"] for feature in features[known:] if max(feature["product"]) < known]
            sides = [
                graph.add("Gather", values, graph.constant([one[i] for one in more], np.int64), axis=1) for i in (0, 1)
            ]
            values = graph.add("Concat", values, graph.narrow(graph.add("Mul", *sides)), axis=1)
            known += len(more)
        weights = graph.constant(self.weights(features))
        return values, lambda value: graph.add("MatMul", value, weights), part["presence"]

    def place(self, facts: Mapping[str, Any]) -> tuple[str, str | None]:
        """Return the place of a row on an axis, and whether it has one."""
        graph = self.graph
        if "cuts" in facts:
            number = facts["column"]
            above = graph.add("GreaterOrEqual", number, graph.constant([facts["cuts"]]))
            place = graph.add("ReduceSum", graph.cast(above, "INT64"), graph.constant([1], np.int64), keepdims=1)
            there = graph.cast(graph.add("Not", graph.add("IsNaN", number)), "DOUBLE")
            return place, there
        values = facts["values"]
        if "" in values:
            raise ExportError(f"{facts['column']}=", "is of an empty text, which means a missing value in ONNX")
        place = graph.add(
            "LabelEncoder",
            facts["column"],
            domain="ai.onnx.ml",
            keys_strings=[*map(checked_text, values), ""],
            values_int64s=[*range(len(values)), facts["missing"]],
            default_int64=facts["other"],
        )
        return place, None

    def cells(self, part: Mapping[str, Any]) -> tuple[str, Any, bool]:
        graph, features = self.graph, part["features"]
        places = [self.place(axis) for axis in part["axes"]]
        sizes = [*map(places_on, part["axes"])]
        total = math.prod(sizes)
        if total > MOST_CELLS:
            raise ExportError(features[0]["name"], f"is of more than {MOST_CELLS:,} combinations of categories")
        weights, there = np.zeros((total, len(self.document["bias"]))), np.zeros((total, 1))
        own = self.weights(features)
        for i, feature in enumerate(features):
            at = cell_of(feature["at"], sizes)
            weights[at], there[at] = own[i], 1.0
        factors = [self.scaled(column) for column in part["factors"]]
        value = factors[0] if factors else None
        for factor in factors[1:]:
            value = graph.add("Mul", str(value), factor)
        value = None if value is None else graph.narrow(value)
        if not places:
            assert value is not None  # a product of numbers
            constant = graph.constant(weights)
            return value, lambda one: graph.add("MatMul", one, constant), part["presence"]
        cell = places[0][0]
        for (place, _), size in zip(places[1:], sizes[1:], strict=True):
            cell = graph.add("Add", graph.add("Mul", cell, graph.constant([[size]], np.int64)), place)
        flat = graph.add("Squeeze", cell, graph.constant([1], np.int64))
        present = graph.add("Gather", graph.constant(there), flat, axis=0)
        for _, has in places:
            present = present if has is None else graph.add("Mul", present, has)
        of_cell = graph.add("Gather", graph.constant(weights), flat, axis=0)
        values = present if value is None else graph.add("Mul", present, value)
        return values, lambda one: graph.add("Mul", of_cell, one), part["presence"]


OTHERS = {"ngrams": "text", "document": "text", "set": "set", "given": "row that is given as features"}
"""What the parts are made of that a graph does not have."""


def check_parts(document: Document) -> None:
    """Check that all features are of numbers and categories."""
    for part in document["parts"]:
        used = columns_of(part)
        if part["part"] not in ("numbers", "cells"):
            raise ExportError(
                first_name(part), f"is of a {OTHERS[part['part']]}; the graph has only numbers and categories"
            )
        dated = next((one["column"] for one in used if "date" in one), None)
        if dated is not None:
            raise ExportError(dated, "is of a date; the graph has only numbers and categories")
    for column in document["columns"]:
        name = checked_text(column["name"])
        if name == "" or "\0" in name or name.startswith("markone:") or name in OUTPUTS:
            raise ExportError(name, "is of a column whose name ONNX does not allow, or uses itself; rename it")


OUTPUTS = ("label", "prediction", "scores", "probabilities", ROWS)


def checked_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ExportError(text, "contains half of a surrogate pair, which is no text in ONNX") from None
    return text


# ---- what follows from scores


def labels_in(document: Document) -> tuple[list[Any], Any]:
    """Return the labels as the graph has them, and their type: whole numbers, or texts. If the model may make no
    prediction, the last one, an empty text, stands for that."""
    labels = document["classes"]
    whole = {type(one) for one in labels} == {int} and all(-(2**63) <= one < 2**63 for one in labels)
    if document["decision"]["margin"] is None and whole:
        return [*labels], np.int64
    texts = [checked_text(one if isinstance(one, str) else in_json(one)) for one in labels]
    return (texts if document["decision"]["margin"] is None else [*texts, ""]), str


def decided(document: Document, graph: Graph, scores: str, each: str) -> None:
    """Add the output `label`."""
    decision = document["decision"]
    if len(document["classes"]) == 2:
        threshold = graph.constant([[0.0 if decision["threshold"] is None else decision["threshold"]]])
        least = decision["threshold"] is not None or decision["tie"] == "second"
        wins = graph.add("GreaterOrEqual" if least else "Greater", scores, threshold)
        best = graph.add("Squeeze", graph.cast(wins, "INT64"), graph.constant([1], np.int64))
    else:
        best = graph.add("ArgMax", each, axis=1, keepdims=0, select_last_index=int(decision["tie"] == "second"))
    if decision["margin"] is not None:
        top = graph.add("ReduceMax", each, axes=[1], keepdims=1)
        if decision["threshold"] is not None:
            column = graph.add("Unsqueeze", best, graph.constant([1], np.int64))
            top = graph.add("GatherElements", each, column, axis=1)
        near = graph.add("LessOrEqual", graph.add("Sub", top, each), graph.constant([[decision["margin"]]]))
        count = graph.add("ReduceSum", graph.cast(near, "INT64"), graph.constant([1], np.int64), keepdims=0)
        nothing = graph.constant([len(document["classes"])], np.int64)
        best = graph.add("Where", graph.add("Greater", count, graph.constant([1], np.int64)), nothing, best)
    labels, kind = labels_in(document)
    graph.add("Gather", graph.constant(labels, kind), best, to="label", axis=0)


def probable(document: Document, graph: Graph, scores: str) -> None:
    """Add the output `probabilities`."""
    how = document["probabilities"]
    if how["offsets"]:
        raised = graph.add("Mul", scores, graph.constant([how["slopes"]]))
        raised = graph.add("Add", raised, graph.constant([how["offsets"]]))
        best, top = (graph.add("ReduceMax", each, axes=[1], keepdims=1) for each in (scores, raised))
        below = graph.add("Min", raised, graph.add("Sub", top, graph.constant([[how["lead"]]])))
        odds = graph.add("Where", graph.add("Less", scores, best), below, top)
    elif how["knots"]:
        below = graph.add("Less", graph.constant([how["knots"]]), scores)
        at = graph.add("ReduceSum", graph.cast(below, "INT64"), graph.constant([1], np.int64), keepdims=0)
        nearest = graph.add("Max", graph.add("Sub", at, graph.constant([1], np.int64)), graph.constant([0], np.int64))

        def found(numbers: Sequence[float], place: str) -> str:
            return graph.add("Gather", graph.constant([[one] for one in numbers]), place, axis=0)

        away = graph.add("Sub", scores, found(how["knots"], nearest))
        odds = graph.add("Add", found(how["heights"], nearest), graph.add("Mul", found(how["slopes"], at), away))
    else:
        odds = graph.add("Mul", scores, graph.constant([[how["slopes"][0]]]))
    graph.add("Softmax", of_each_class(document, graph, odds), to="probabilities", axis=1)


def of_each_class(document: Document, graph: Graph, scores: str, to: str | None = None) -> str:
    """With two classes, add a score of 0 for the first."""
    if len(document["classes"]) != 2:
        return graph.add("Identity", scores, to=to)
    zero = graph.add("Sub", scores, scores)
    return graph.add("Concat", zero, scores, to=to, axis=1)


# ---- the file


def write(document: Document, _: Options) -> bytes:
    if find_spec("onnx") is None:
        raise DataError("an export to ONNX needs the library onnx", advice=INSTALL)
    import onnx
    from onnx import TensorProto, helper

    writer = Writer(document)
    graph, labels = writer.graph, document["classes"]
    scores = writer.scores()
    double = TensorProto.DOUBLE
    if labels:
        each = of_each_class(document, graph, scores, to="scores")
        decided(document, graph, scores, each)
        kind = TensorProto.INT64 if labels_in(document)[1] is np.int64 else TensorProto.STRING
        outputs = [helper.make_tensor_value_info("label", kind, ["N"])]
        outputs.append(helper.make_tensor_value_info("scores", double, ["N", len(labels)]))
        if document["probabilities"] is not None:
            probable(document, graph, scores)
            outputs.append(helper.make_tensor_value_info("probabilities", double, ["N", len(labels)]))
    else:
        graph.add("Identity", scores, to="prediction")
        outputs = [helper.make_tensor_value_info("prediction", double, ["N", 1])]
    inputs = [
        helper.make_tensor_value_info(name, double if kind == "number" else TensorProto.STRING, ["N", width])
        for name, kind, width in inputs_of(document)
    ]
    made = helper.make_graph(graph.nodes, "markone", inputs, outputs, graph.constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    model = helper.make_model(made, opset_imports=opsets, ir_version=IR_VERSION, producer_name="markone")
    model.doc_string = "Numbers: NaN is a missing value. Categories: an empty text is a missing value."
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def inputs_of(document: Document) -> Iterator[tuple[str, str, int]]:
    """The name, the kind and the width of each input."""
    if [column["kind"] for column in document["columns"]] == ["rows"]:
        yield ROWS, "number", len(as_table(document)["columns"])
        return
    used = {one["column"] for part in document["parts"] for one in columns_of(part)}
    for column in document["columns"]:
        if column["name"] in used:
            yield column["name"], "text" if column["kind"] == "categorical" else "number", 1


# ---- the check


def run(content: bytes, document: Document, rows: Sequence[Row], _: Options) -> Ran:
    """Run the graph with ONNX Runtime or, without it, with the reference implementation of the library onnx."""
    feed: dict[str, Any] = {}
    for name, kind, _width in inputs_of(document):
        if name == ROWS and kind == "number" and document["columns"][0]["kind"] == "rows":
            names = [column["name"] for column in as_table(document)["columns"]]
            feed[name] = np.array([[row.get(one, 0.0) for one in names] for row in rows], np.float64)
        elif kind == "text":
            feed[name] = np.array([[text_in(row[name])] for row in rows], object)
        else:
            feed[name] = np.array([[math.nan if row[name] is None else float(row[name])] for row in rows])
    engine, outputs = computed(content, feed)
    labels = document["classes"]
    if not labels:
        return Ran(engine, [Answer(None, [float(one)], None) for one in outputs["prediction"][:, 0]])
    shown, _kind = labels_in(document)
    numbers = {label: number for number, label in enumerate(shown)}
    scores = outputs["scores"][:, 1:] if len(labels) == 2 else outputs["scores"]
    shares = outputs["probabilities"].tolist() if "probabilities" in outputs else [None] * len(rows)
    found = [numbers[plain(label)] for label in outputs["label"].tolist()]
    return Ran(
        engine,
        [
            Answer(None if number == len(labels) else number, some, share)
            for number, some, share in zip(found, scores.tolist(), shares, strict=True)
        ],
    )


def text_in(value: Any) -> str:
    return "" if value is None else UNKNOWN if value == "" else str(value)


def plain(label: Any) -> Any:
    return label.decode() if isinstance(label, bytes) else label


def computed(content: bytes, feed: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    if find_spec("onnxruntime") is not None:
        import onnxruntime

        try:
            session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
            names = [one.name for one in session.get_outputs()]
            return "ONNX Runtime", dict(zip(names, session.run(names, dict(feed)), strict=True))
        except Exception as error:  # it has no base class of its errors
            raise DataError(f"nothing was written: ONNX Runtime does not run it: {shorten(str(error))}") from None
    import onnx
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(onnx.load_from_string(content))
    return "ONNX's reference", dict(zip(evaluator.output_names, evaluator.run(None, dict(feed)), strict=True))
