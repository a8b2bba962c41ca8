// Texts: the lines, and the weight of each word as a bar for each class.

import { element, svgElement, swatch } from "../draw/shapes.js";
import * as words from "../words.js";

const MOST_WORDS = 60;
const WIDTH = 200;

export function mountText() {
  const lines = document.getElementById("text-lines");
  const weights = document.getElementById("text-weights");
  lines.tabIndex = weights.tabIndex = 0;
  lines.setAttribute("aria-label", "The texts");
  lines.setAttribute("role", "region");
  weights.setAttribute("aria-label", "The weights of the words");
  weights.setAttribute("role", "region");
  let texts = null;
  let table = null;

  function drawLines(state) {
    texts = state.texts;
    lines.replaceChildren(
      ...texts.lines.map((line) =>
        element("p", {}, element("span", { className: "of" }, swatch(line.y), words.label(texts.classes[line.y])), element("span", { textContent: line.text }), element("span", { className: "said" })),
      ),
    );
  }

  function drawTable(run, shown) {
    const { names, classes } = run.examples;
    const moving = run.learner.moving;
    const head = element("tr", {}, element("th", { textContent: "word", scope: "col" }), ...moving.map((k) => element("th", { scope: "col", textContent: words.label(classes[k]) })));
    const rows = shown.map((i) => {
      const cells = moving.map(() => {
        const bar = svgElement("rect", { y: 2, height: 12, x: WIDTH / 2, width: 0 });
        const text = element("span");
        const zero = svgElement("path", { class: "bar-zero", d: `M${WIDTH / 2} 0V16` });
        const svg = svgElement("svg", { viewBox: `0 0 ${WIDTH} 16`, preserveAspectRatio: "none", "aria-hidden": "true" }, zero, bar);
        return { bar, text, cell: element("td", {}, element("div", {}, svg, text)) };
      });
      return { i, cells, row: element("tr", {}, element("th", { textContent: words.label(names[i]), scope: "row" }), ...cells.map((one) => one.cell)) };
    });
    weights.replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows.map((one) => one.row))));
    if (names.length > shown.length) weights.append(element("p", { className: "quiet", textContent: `The ${shown.length} words with the largest weights of ${names.length}.` }));
    table = { rows, examples: run.examples, shown };
  }

  return ({ state, run, now }) => {
    if (state.tab !== "text") return;
    if (texts !== state.texts) drawLines(state);
    const { examples, learner } = run;
    const numbers = state.average ? now.average : now.after;
    const row = now.step ? examples.rows[now.step.row] : null;
    [...lines.children].forEach((line, i) => {
      const isCurrent = now.step?.row === i;
      if (isCurrent && !line.classList.contains("current")) lines.scrollTop = Math.max(0, line.offsetTop - lines.offsetTop - 60);
      line.classList.toggle("current", isCurrent);
      line.lastChild.textContent = isCurrent ? (now.step.wrong ? `said ${words.label(examples.classes[now.step.said])}` : "right") : "";
    });
    if (table?.examples !== examples) {
      let shown = examples.names.map((_, i) => i);
      if (shown.length > MOST_WORDS) {
        const end = run.after(run.length).numbers;
        const size = (i) => Math.max(...learner.moving.map((k) => Math.abs(end[k * examples.names.length + i])));
        shown = shown.sort((a, b) => size(b) - size(a)).slice(0, MOST_WORDS);
      }
      drawTable(run, shown);
    }
    let most = 1e-12;
    for (let i = 0; i < numbers.length; i++) most = Math.max(most, Math.abs(numbers[i]));
    const before = row ? now.before : numbers;
    for (const one of table.rows) {
      one.row.classList.toggle("current", Boolean(row?.at.includes(one.i)));
      one.cells.forEach(({ bar, text }, c) => {
        const place = learner.moving[c] * examples.names.length + one.i;
        const value = numbers[place];
        const length = (Math.abs(value) / most) * (WIDTH / 2);
        bar.setAttribute("x", value < 0 ? WIDTH / 2 - length : WIDTH / 2);
        bar.setAttribute("width", Number.isFinite(length) ? length : 0);
        const k = learner.moving.length === 1 ? (value < 0 ? 0 : 1) : learner.moving[c];
        bar.setAttribute("fill", `var(--class${k % 8})`);
        bar.setAttribute("opacity", before[place] !== value ? 1 : 0.55);
        text.textContent = words.number(value);
      });
    }
  };
}
