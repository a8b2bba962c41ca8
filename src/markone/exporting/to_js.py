"""The JavaScript export: one ES module without dependencies, for browsers and Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from markone.errors import DataError, shorten
from markone.exporting.document import Document
from markone.exporting.interpreter import Answer
from markone.exporting.options import Options, Ran
from markone.exporting.samples import Row
from markone.exporting.texts import in_lines, in_script

HEAD = """\
// A model, exported by Markone. Use it in a browser or in Node:
//
//     import {{ predict, probabilities, scores, explain }} from "./{name}";
//     predict({example});
//
// A row is an object with the values of the columns{columns}; null is a missing value.{texts}

const MODEL = """
ANSWER = """
const answer = (row) => {
    const sums = addUp(valuesOf(row));
    return [classes.length === 0 ? null : winner(ofEachClass(sums)), sums, sharesOf(sums)];
};
const answers = (rows) => JSON.stringify(JSON.parse(rows).map(answer));
"""
"""Added to the module for the check only: the numbers of labels are compared, not the labels."""
IN_NODE = """
import { readFileSync, writeFileSync } from "node:fs";
writeFileSync(process.argv[3], answers(readFileSync(process.argv[2], "utf8")));
"""
IN_QUICKJS = "globalThis.answers = answers;"
INSTALL = "install Node, or run pip install 'markone[js]'"


def write(document: Document, _: Options) -> bytes:
    columns = document["columns"]
    text = [column["kind"] for column in columns] == ["text"]
    head = HEAD.format(
        name="model.mjs",
        example='"a text"' if text else "row",
        columns=" that have the model's names",
        texts=" A text can be given alone." if text else "",
    )
    model = in_lines(document, write=in_script)
    program = (files("markone.exporting") / "runtime.mjs").read_text(encoding="utf-8")
    return f"{head}{model};\n\n{program}".encode()


def run(content: bytes, _: Document, rows: Sequence[Row], __: Options) -> Ran | None:
    """Run the module with Node or with QuickJS; None if there is neither."""
    for engine in (in_node, in_quickjs):
        found = engine(content.decode() + ANSWER, json.dumps(rows))
        if found is not None:
            name, answers = found
            return Ran(name, [Answer(*one) for one in json.loads(answers)])
    return None


def in_node(program: str, rows: str) -> tuple[str, str] | None:
    node = shutil.which("node")
    if node is None:
        return None
    with TemporaryDirectory() as folder:
        module, given, made = (Path(folder) / name for name in ("check.mjs", "rows.json", "answers.json"))
        module.write_text(program + IN_NODE, encoding="utf-8")
        given.write_text(rows, encoding="utf-8")
        command = [node, "--max-old-space-size=8192", *map(str, (module, given, made))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise DataError(f"nothing was written: the module fails in Node: {shorten(done.stderr)}")
        return "Node", made.read_text(encoding="utf-8")


def in_quickjs(program: str, rows: str) -> tuple[str, str] | None:
    if find_spec("quickjs") is None:
        return None
    import quickjs

    context = quickjs.Context()
    context.module(program + IN_QUICKJS)
    while context.execute_pending_job():
        pass
    return "QuickJS", context.get("answers")(rows)
