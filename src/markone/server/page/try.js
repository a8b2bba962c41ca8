// The page of the service: an example in a form, and what one or two models say about it, with the reasons.

import { element, svgElement } from "./draw/shapes.js";
import * as words from "./words.js";

const MOST_ROWS = 15;
const WIDTH = 200;
const byId = (id) => document.getElementById(id);
let models = [];

// ---- requests

async function ask(path, body) {
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  const token = byId("token").value;
  if (token) headers.Authorization = `Bearer ${token}`;
  const answer = await fetch(path, body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) });
  const content = await answer.json();
  if (answer.ok) return content;
  if (answer.status === 401) byId("token-label").hidden = false;
  throw new Error(content.detail);
}

function tell(error) {
  byId("notice").textContent = error ? error.message : "";
}

// ---- the form

const nameOf = (model) => `${model.name}, version ${model.version}`;
const chosen = (id) => models[byId(id).value];

function fieldsOf(model) {
  if (model.kind === "tagger" || model.kind === "parser") return [{ name: "text", kind: "text" }];
  return model.columns;
}

/** A field for each column that one of the chosen models has. What was typed stays. */
function drawFields() {
  const both = [chosen("first"), chosen("second")].filter(Boolean);
  const fields = new Map(both.flatMap(fieldsOf).map((field) => [field.name, field]));
  const before = new Map([...byId("fields").querySelectorAll("[name]")].map((one) => [one.name, one.value]));
  byId("fields").replaceChildren(
    ...[...fields.values()].map(({ name, kind }) => {
      const input = kind === "text" ? element("textarea", { name, rows: 5 }) : element("input", { name, inputMode: kind === "numeric" ? "decimal" : "text" });
      input.value = before.get(name) ?? "";
      return element("label", {}, words.label(name), input);
    }),
  );
  byId("fields").classList.toggle("grid", fields.size > 1);
}

/** The example as a model takes it: numbers as numbers, and no value for an empty field. */
function exampleFor(model) {
  const values = Object.fromEntries([...byId("fields").querySelectorAll("[name]")].map((one) => [one.name, one.value]));
  const fields = fieldsOf(model);
  if (fields.length === 1 && fields[0].kind === "text") return { text: values[fields[0].name] };
  const row = {};
  for (const { name, kind } of fields) {
    const value = values[name];
    if (value === "") row[name] = null;
    else if (kind === "numeric") row[name] = Number.isFinite(Number(value)) ? Number(value) : value;
    else if (kind === "boolean") row[name] = /^(true|yes|1)$/i.test(value);
    else row[name] = value;
  }
  return { row };
}

// ---- the answers

async function answerOf(model) {
  const wanted = { ...exampleFor(model), model: model.name, version: model.version };
  if (model.kind === "tagger") return drawSentences(model, await ask("tag", wanted));
  if (model.kind === "parser") return drawSentences(model, await ask("parse", wanted));
  const [predicted, explained] = await Promise.all([ask("predict", wanted), ask("explain", { ...wanted, top: MOST_ROWS })]);
  return drawPrediction(model, predicted, explained);
}

function drawPrediction(model, { predictions: [one], missing }, explained) {
  const isNumber = model.kind === "regression";
  const parts = [
    element("h2", { textContent: nameOf(model) }),
    element("p", { className: "verdict" }, `prediction: ${isNumber ? sixDigits(one.prediction) : namesOf(one.label)}`),
  ];
  if (!isNumber) parts.push(element("p", { className: "quiet", textContent: numbersOf(one) }));
  if (missing) parts.push(element("p", { className: "quiet", textContent: `without a value: ${missing.join(", ")}` }));
  const why = `Positive numbers support ${words.label(String(explained.supports))}, negative numbers ${words.label(String(explained.against))}.`;
  parts.push(element("p", { className: "quiet", textContent: why }), ...explained.texts.filter((text) => text.pieces.length > 0).map((text) => drawText(model, text)));
  parts.push(drawTable(model, explained.tables.at(-1)));
  return element("section", {}, ...parts);
}

/** A predicted number, as exact as on the command line. */
const sixDigits = (number) => (number === null ? "infinite" : String(Number(number.toPrecision(6))));

/** The probabilities of the best classes or, without them, their scores. */
function numbersOf({ probabilities, scores }) {
  const best = Object.entries(probabilities ?? scores).sort((a, b) => (b[1] ?? -Infinity) - (a[1] ?? -Infinity)).slice(0, 5);
  const said = best.map(([label, value]) => `${words.label(label)} ${value === null ? "impossible" : words.number(value)}`).join(", ");
  return `${probabilities ? "probability" : "score"}: ${said}`;
}

/** One label, or all of several labels. */
function namesOf(label) {
  if (!Array.isArray(label)) return words.label(String(label));
  return label.map((one) => words.label(String(one))).join(", ") || "no label";
}

/** The text, whose words are marked by how much they support one class or the other. */
function drawText(model, { column, pieces }) {
  const most = Math.max(1e-12, ...pieces.map((piece) => Math.abs(piece.mark ?? 0)));
  const drawn = pieces.map(({ text, mark }) => {
    const share = Math.abs(mark ?? 0) / most;
    if (share < 0.05) return text;
    const marked = element("mark", { textContent: text, title: words.number(mark) });
    marked.dataset.for = mark > 0 ? "yes" : "no";
    marked.style.setProperty("--strength", share.toFixed(2));
    return marked;
  });
  const box = element("div", { className: "marked", tabIndex: 0 }, ...drawn);
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", `The words of ${column}, marked by ${nameOf(model)}`);
  return box;
}

/** The largest contributions, each with a bar, and the score that they add up to. */
function drawTable(model, { rows, score, features }) {
  const most = Math.max(1e-12, ...rows.map((row) => Math.abs(row.product ?? 0)));
  const lines = rows.map((row) => {
    const length = (Math.abs(row.product ?? 0) / most) * (WIDTH / 2);
    const bar = svgElement("rect", { y: 2, height: 12, x: row.product < 0 ? WIDTH / 2 - length : WIDTH / 2, width: length, fill: `var(--class${row.product < 0 ? 1 : 0})` });
    const zero = svgElement("path", { class: "bar-zero", d: `M${WIDTH / 2} 0V16` });
    const svg = svgElement("svg", { viewBox: `0 0 ${WIDTH} 16`, preserveAspectRatio: "none", "aria-hidden": "true" }, zero, bar);
    const product = element("span", { textContent: words.number(row.product) });
    return element("tr", {}, element("th", { scope: "row", textContent: words.label(row.feature), title: row.feature }), element("td", {}, element("div", {}, svg, product)));
  });
  const head = element("tr", {}, element("th", { scope: "col", textContent: "feature" }), element("th", { scope: "col", textContent: "contribution" }));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...lines));
  const rest = features > rows.length ? ` The ${rows.length} largest of ${words.whole(features)} features are shown.` : "";
  const sum = element("p", { className: "quiet", textContent: `All contributions add up to ${words.number(score)}.${rest}` });
  const box = element("div", { className: "text-weights", tabIndex: 0 }, table, sum);
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", `The contributions of the features to the answer of ${nameOf(model)}`);
  return box;
}

function drawSentences(model, { sentences }) {
  const rows = sentences.flatMap((sentence) =>
    sentence.tokens.map((token, i) => {
      const head = sentence.heads ? [sentence.heads[i] ? sentence.tokens[sentence.heads[i] - 1] : "root", sentence.relations[i]] : [];
      return element("tr", {}, element("th", { scope: "row", textContent: token }), ...[sentence.tags[i], ...head].map((one) => element("td", { textContent: one })));
    }),
  );
  const names = ["word", "tag", ...(model.kind === "parser" ? ["head", "relation"] : [])];
  const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col", textContent: name })));
  const box = element("div", { className: "text-weights", tabIndex: 0 }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", `The words and their tags by ${nameOf(model)}`);
  return element("section", {}, element("h2", { textContent: nameOf(model) }), box);
}

// ---- the page

async function loadModels() {
  const before = [chosen("first"), chosen("second")].map((model) => model?.name);
  ({ models } = await ask("models"));
  const options = () => models.map((model, i) => element("option", { value: i, textContent: nameOf(model) }));
  byId("first").replaceChildren(...options());
  byId("second").replaceChildren(element("option", { value: "", textContent: "no other" }), ...options());
  byId("first").value = Math.max(0, models.findIndex((model) => model.name === before[0]));
  byId("second").value = before[1] === undefined ? "" : models.findIndex((model) => model.name === before[1]);
  drawFields();
}

async function predict() {
  tell(null);
  try {
    if (models.length === 0) await loadModels();
    const both = [...new Set([chosen("first"), chosen("second")].filter(Boolean))];
    byId("answers").replaceChildren(...(await Promise.all(both.map(answerOf))));
  } catch (error) {
    tell(error);
    if (/There is no model|has no version/.test(error.message)) await loadModels().catch(tell);
  }
}

byId("first").onchange = byId("second").onchange = drawFields;
byId("token").onchange = () => loadModels().then(() => tell(null), tell);
byId("entry").onsubmit = (event) => {
  event.preventDefault();
  predict();
};
await loadModels().catch(tell);
window.markoneService = { ready: true };
