// This step, as arithmetic with numbers.

import { element } from "../draw/shapes.js";
import * as words from "../words.js";

const MOST_CHANGES = 8;

/** The name of the rule's formula, which depends on the classes and on when MIRA takes a step. */
function ruleName({ rule, update }, many) {
  if (rule === "perceptron" && many) return "perceptron-many";
  return rule === "mira" && update === "mistake" ? "mira-mistake" : rule;
}

export function mountArithmetic() {
  const root = document.getElementById("now");
  const where = element("p", { className: "where" });
  const score = element("p", { className: "numbers", id: "now-score" });
  const verdict = element("p", { className: "verdict", id: "now-verdict" });
  const change = element("p", { className: "numbers", id: "now-change" });
  const facts = element("p", { className: "facts numbers", id: "now-facts" });
  const rule = element("p", { className: "quiet", id: "now-rule" });
  root.append(element("h2", { textContent: "This step" }), where, score, verdict, change, facts, rule);

  return ({ now, run, last, state }) => {
    const { step, before, after, number: count } = now;
    const { examples, settings, learner } = run;
    const many = examples.classes.length > 2;
    where.textContent = words.WHERE(now);
    rule.textContent = words.STEP_RULES[ruleName(settings, many)];
    const ended = count === run.length && (count === last || run.stopped !== "passes");
    verdict.className = "verdict";
    score.textContent = change.textContent = "";
    if (!step) verdict.textContent = run.stopped === "no rows" ? words.STOPPED["no rows"] : new Set(examples.rows.map((row) => row.y)).size < 2 ? words.ONE_CLASS : "";
    else {
      const row = examples.rows[step.row];
      const size = examples.names.length;
      const weightsOf = (numbers, k) => numbers.subarray(k * size, (k + 1) * size);
      if (run.isNetwork) score.textContent = `scores ${step.scores.map(words.number).join(", ")}; loss ${words.number(step.loss)}`;
      else if (many) {
        score.textContent = examples.classes.map((name, k) => `${words.label(name)}: ${words.sumInWords(weightsOf(before, k), row, step.scores[k], 4)}`).join("\n");
      } else score.textContent = `w·x = ${words.sumInWords(weightsOf(before, 1), row, step.scores[1])}`;
      verdict.textContent = words.RIGHT_OR_WRONG(step, run);
      verdict.classList.add(step.wrong ? "wrong" : "right");
      if (step.at.length === 0) change.textContent = words.NOTHING_CHANGES;
      else if (!run.isNetwork) {
        const places = step.at.filter((place) => before[place] !== after[place]);
        const shown = places.slice(0, MOST_CHANGES).map((place) => {
          const k = Math.floor(place / size);
          const name = examples.names[place % size];
          return words.changeInWords(many ? `${examples.classes[k]} ${name}` : name, before[place], after[place]);
        });
        change.textContent = shown.join("   ") + (places.length > MOST_CHANGES ? `   and ${places.length - MOST_CHANGES} more` : "");
      }
      if (ended && run.stopped in words.STOPPED) verdict.textContent += ` ${words.STOPPED[run.stopped]}`;
    }
    const fact = (name, value) => element("span", {}, `${name} `, element("b", { textContent: value }));
    const vector = run.vector(after);
    const shown = [];
    if (!run.isNetwork && !many && vector.length <= 8) shown.push(fact("w =", words.vectorInWords(vector)));
    if (state.average && !run.isNetwork && !many && vector.length <= 8) shown.push(fact("average =", words.vectorInWords(run.vector(now.average))));
    shown.push(fact("|w|² =", words.number(step?.norm2 ?? vector.reduce((sum, value) => sum + value * value, 0))));
    shown.push(fact("mistakes", words.whole(step?.mistakes ?? 0)));
    if (run.isNetwork) shown.push(fact("units", String(learner.hidden)));
    facts.replaceChildren(...shown);
  };
}

/** The certificate, and the button that shows its points. */
export function mountCertificate(store) {
  const root = document.getElementById("certificate");
  const text = element("p", { id: "certificate-text" });
  const button = element("button", { type: "button", id: "proof", title: "Mark the points of the certificate (key X)", onclick: () => store.dispatch({ type: "proof", value: !store.get().proof }) });
  root.append(element("h2", { textContent: "Certificate" }), text, button);
  return ({ certificate, run, state }) => {
    text.textContent = words.certificateInWords(certificate, run.settings.rule);
    button.hidden = !certificate || certificate.separable === null || state.tab !== "points";
    button.textContent = (certificate?.separable ? words.SHOW_SUPPORT : words.SHOW_PROOF)[state.proof];
    button.setAttribute("aria-pressed", state.proof);
  };
}
