// The dialogs: paste data; save the data, the model and the code; the list of keys. And sharing by address.

import { element } from "../draw/shapes.js";
import { codeOfPoints, codeOfTexts } from "../learn/code.js";
import { PasteError, pointsOf, textsOfPaste, toCsv, toTabbed } from "../learn/csv.js";
import { chosenFeatures } from "../learn/features.js";
import { modelFile } from "../learn/modelfile.js";
import { toAddress } from "../url.js";
import * as words from "../words.js";

const byId = (id) => document.getElementById(id);

export const KEYS = [
  ["→  ←", "one step forward or back"],
  ["Space", "play or pause"],
  ["Home  End", "to the start or the end"],
  ["M", "to the next mistake"],
  ["Enter", "in guided mode: go on"],
  ["P  R", "choose the data; choose the rule"],
  ["N", "add a point, and select it"],
  ["Tab", "to the points, one after the other"],
  ["arrows", "on a point: move it; with Shift, further"],
  ["Enter", "on a point: change its class"],
  ["Delete", "on a point: remove it"],
  ["1 … 8", "the class of new points"],
  ["A", "averaged weights"],
  ["X", "mark the points of the certificate"],
  ["V", "paste your own data"],
  ["C", "save the data, the model or the code"],
  ["U", "share by address"],
  ["G  F", "guided or free"],
  ["D", "dark or light"],
  ["?", "this list"],
];

function download(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

export function mountDialogs(store, say, viewNow) {
  const paste = byId("paste-dialog");
  byId("paste").onclick = () => {
    const isText = store.get().tab === "text";
    byId("paste-help").textContent = isText
      ? "One text per line: a label, a tab or a comma, and the text."
      : "One point per line: x1, x2 and a label, separated by commas, semicolons or tabs. The first line may have names. Up to 2,000 lines.";
    const { points, classes, texts } = store.get();
    byId("paste-text").value = isText ? toTabbed(texts.lines, texts.classes) : toCsv(points, classes, chosenFeatures(["x1", "x2"]));
    byId("paste-error").textContent = "";
    paste.showModal();
  };
  byId("paste-use").onclick = () => {
    try {
      const text = byId("paste-text").value;
      if (store.get().tab === "text") {
        const { classes, lines } = textsOfPaste(text);
        store.dispatch({ type: "lines", classes, lines });
        say(words.PASTED(lines.length, classes.length));
      } else {
        const found = pointsOf(text);
        store.dispatch({ type: "points", ...found });
        say(words.PASTED(found.points.length, found.classes.length));
      }
      paste.close();
    } catch (error) {
      if (!(error instanceof PasteError)) throw error;
      byId("paste-error").textContent = words.PASTE_ERRORS[error.kind](error.facts);
    }
  };

  const save = byId("save-dialog");
  const codeNow = () => {
    const { run, examples, state } = viewNow();
    const given = { examples, settings: run.settings, averaged: state.average, lines: state.texts.lines };
    return state.tab === "text" ? codeOfTexts(given) : codeOfPoints(given);
  };
  byId("code").onclick = () => {
    byId("code-text").value = codeNow();
    byId("save-note").textContent = "";
    const { run } = viewNow();
    byId("save-model").disabled = run.stopped === "diverged" || run.length === 0 || run.examples.names.length === (run.examples.bias ? 1 : 0) || new Set(run.examples.rows.map((row) => row.y)).size < run.examples.classes.length;
    save.showModal();
  };
  const saved = (name, content, type) => {
    download(name, content, type);
    byId("save-note").textContent = words.SAVED(name);
  };
  byId("save-data").onclick = () => {
    const { state, prepared } = viewNow();
    if (state.tab === "text") saved("texts.txt", toTabbed(state.texts.lines, state.texts.classes), "text/plain");
    else saved("points.csv", toCsv(prepared, state.classes, chosenFeatures(state.features)), "text/csv");
  };
  byId("save-model").onclick = () => {
    const { state, run, now } = viewNow();
    const numbers = state.average && !run.isNetwork ? now.average : now.after;
    saved("playground.model", modelFile(run, numbers, { averaged: state.average, ofTexts: state.tab === "text" }), "application/octet-stream");
  };
  byId("save-code").onclick = () => saved("playground.py", codeNow(), "text/x-python");

  byId("keys").onclick = () => {
    const keys = store.get().tab === "machine" ? words.MARK1.keys : KEYS;
    byId("keys-list").replaceChildren(...keys.flatMap(([key, text]) => [element("dt", { textContent: key }), element("dd", { textContent: text })]));
    byId("keys-dialog").showModal();
  };

  byId("share").onclick = async () => {
    const address = toAddress(store.get());
    if (address === null) return say(words.TOO_LONG, true);
    history.replaceState(null, "", `#${address}`);
    try {
      await navigator.clipboard.writeText(location.href);
      say(words.COPIED, true);
    } catch {
      say(words.COPY_BY_HAND, true);
    }
  };
}
