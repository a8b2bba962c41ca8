// The log: one line for each step; a click goes there. Only the visible lines exist.

import { element } from "../draw/shapes.js";
import * as words from "../words.js";

const HEIGHT = 26;
const MORE = 4;

function lineOf(run, i) {
  const step = run.steps[i];
  const { classes, rows, numbers } = run.examples;
  const scores = step.scores.length === 2 ? words.number(step.scores[1]) : step.scores.map(words.number).join(", ");
  const isTie = step.margin === 0 && run.settings.tie === "error";
  const verdict = isTie ? `a tie, is ${words.label(classes[rows[step.row].y])}` : step.wrong ? `${words.label(classes[step.said])}, but is ${words.label(classes[rows[step.row].y])}` : words.label(classes[step.said]);
  return `${i + 1}   pass ${step.pass}, example ${numbers[step.row] + 1}: ${scores} → ${verdict}${step.wrong ? " ✕" : ""}`;
}

export function mountLog(store) {
  const root = document.getElementById("log");
  const list = root.firstElementChild;
  let run = null;
  let current = -1;
  const draw = () => {
    if (!run) return;
    const first = Math.max(0, Math.floor(root.scrollTop / HEIGHT) - MORE);
    const count = Math.ceil((root.clientHeight || 176) / HEIGHT) + 2 * MORE;
    const end = Math.min(run.length, first + count);
    const from = Math.min(first, Math.max(0, end - count));
    list.style.paddingTop = `${from * HEIGHT}px`;
    list.style.paddingBottom = `${(run.length - end) * HEIGHT}px`;
    while (list.children.length > end - from) list.lastChild.remove();
    while (list.children.length < end - from) list.append(element("li", {}, element("button", { type: "button", tabIndex: -1 })));
    for (let i = from; i < end; i++) {
      const button = list.children[i - from].firstChild;
      button.textContent = lineOf(run, i);
      button.dataset.step = i + 1;
      button.className = run.steps[i].wrong ? "wrong" : "";
      if (i + 1 === current) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
  };
  root.addEventListener("scroll", draw);
  root.addEventListener("click", (event) => {
    const { step } = event.target.dataset;
    if (step) store.dispatch({ type: "go", step: Number(step), last: Number(step) });
  });
  return (view) => {
    if (view.run === run && view.now.number === current) return;
    run = view.run;
    current = view.now.number;
    const top = (current - 1) * HEIGHT;
    draw();
    if (top < root.scrollTop || top + HEIGHT > root.scrollTop + root.clientHeight) root.scrollTop = top - 2 * HEIGHT;
    draw();
  };
}
