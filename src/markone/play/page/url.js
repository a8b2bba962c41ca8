// The state in the address of the page, after the #, so that it can be shared without a server.

import { FEATURES } from "./learn/features.js";
import { LIMITS, MACHINE, newMachine } from "./learn/machine.js";
import { PRESETS, TEXTS } from "./learn/presets.js";
import { LEARNER, domainOf, reduce, withTab } from "./state.js";

const LONGEST = 8000;
const CHOICES = {
  rule: ["perceptron", "mira", "logistic", "hinge", "mlp"],
  tie: ["error", "negative", "positive"],
  form: ["label", "difference"],
  update: ["margin", "mistake"],
  order: ["given", "once", "each"],
  activation: ["tanh", "relu", "sigmoid"],
};
export const RANGES = { eta: [0, 1000], C: [1e-6, 1e6], seed: [0, 2 ** 32 - 1], passes: [1, 1000], hidden: [1, 16] };
const WHOLE = new Set(["seed", "passes", "hidden"]);

/** A number in its range, or null. */
export function inRange(name, text) {
  const value = Number(text);
  const [least, most] = RANGES[name];
  const fits = String(text).trim() !== "" && Number.isFinite(value) && value >= least && value <= most;
  return fits && (!WHOLE.has(name) || Number.isInteger(value)) ? value : null;
}

/** The part after the #; null if the points need too much room. */
export function toAddress(state) {
  const parts = new URLSearchParams();
  if (state.tab !== "points") parts.set("tab", state.tab);
  if (state.tab === "machine") {
    parts.set("machine", Object.keys(MACHINE).map((name) => state.machine.settings[name]).join(","));
    return parts.toString();
  }
  if (state.tab === "text") {
    if (state.texts.preset !== "own") parts.set("data", state.texts.preset);
    else parts.set("lines", JSON.stringify([state.texts.classes, state.texts.lines.map((line) => [line.text, line.y])]));
  } else if (state.preset !== "own" && state.preset !== "file") parts.set("data", state.preset);
  else {
    parts.set("points", state.points.map((p) => `${p.x1},${p.x2},${p.y}`).join(";"));
    parts.set("classes", JSON.stringify(state.classes));
  }
  parts.set("features", [...state.features, ...(state.bias ? ["bias"] : [])].join(","));
  for (const [name, value] of Object.entries(state.learner)) if (value !== LEARNER[name]) parts.set(name, value);
  if (state.second) parts.set("second", `${state.second.rule},${state.second.show}`);
  for (const name of ["noise", "holdout", "step"]) if (state[name]) parts.set(name, state[name]);
  if (state.average) parts.set("average", 1);
  parts.set("guided", state.guided ? 1 : 0);
  const text = parts.toString();
  return text.length > LONGEST ? null : text;
}

function pointsIn(text, classes) {
  const points = text.split(";").filter(Boolean).map((one) => {
    const [x1, x2, y] = one.split(",").map(Number);
    if (![x1, x2].every((value) => Math.abs(value) <= 1e100) || !(Number.isInteger(y) && classes[y] !== undefined)) throw new Error("points");
    return { x1, x2, y };
  });
  if (points.length > 2000) throw new Error("points");
  return points;
}

const isNames = (list) => Array.isArray(list) && list.length >= 2 && list.length <= 8 && list.every((one) => typeof one === "string");

/** The state that an address describes, and the parts that could not be read. */
export function fromAddress(text, start) {
  const parts = new URLSearchParams(text);
  const wrong = [];
  let state = start;
  const attempt = (name, use) => {
    if (!parts.has(name)) return;
    try {
      use(parts.get(name));
    } catch {
      wrong.push(name);
    }
  };
  const insist = (fits) => {
    if (!fits) throw new Error("address");
  };
  attempt("tab", (value) => {
    insist(["points", "text", "machine"].includes(value));
    state = withTab(state, value);
  });
  attempt("machine", (value) => {
    const given = value.split(",");
    insist(given.length === Object.keys(MACHINE).length);
    const settings = Object.keys(MACHINE).map((name, i) => {
      const [least, most] = LIMITS[name] ?? [];
      insist(name === "wiring" ? ["random", "straight"].includes(given[i]) : /^\d+$/.test(given[i]) && least <= given[i] && given[i] <= most);
      return [name, name === "wiring" ? given[i] : Number(given[i])];
    });
    state = { ...state, machine: newMachine(Object.fromEntries(settings)) };
  });
  attempt("data", (value) => {
    const ofText = TEXTS.some((one) => one.id === value);
    insist(ofText || PRESETS.some((one) => one.id === value));
    state = reduce(state, { type: ofText ? "texts" : "preset", id: value });
  });
  attempt("points", (value) => {
    const classes = JSON.parse(parts.get("classes") ?? '["−1","+1"]');
    insist(isNames(classes));
    const points = pointsIn(value, classes);
    state = { ...state, preset: "own", points, classes, domain: domainOf(points) };
  });
  attempt("lines", (value) => {
    const [classes, lines] = JSON.parse(value);
    insist(isNames(classes) && lines.length <= 2000 && lines.every(([line, y]) => typeof line === "string" && classes[y] !== undefined));
    state = { ...state, texts: { preset: "own", classes, lines: lines.map(([line, y]) => ({ text: line, y })) } };
  });
  attempt("features", (value) => {
    const ids = value.split(",").filter(Boolean);
    insist(ids.every((id) => id === "bias" || FEATURES.some((one) => one.id === id)));
    state = { ...state, features: FEATURES.map((one) => one.id).filter((id) => ids.includes(id)), bias: ids.includes("bias") };
  });
  for (const name of Object.keys(LEARNER)) {
    attempt(name, (value) => {
      const found = CHOICES[name] ? (CHOICES[name].includes(value) ? value : null) : inRange(name, value);
      insist(found !== null);
      state = { ...state, learner: { ...state.learner, [name]: found } };
    });
  }
  attempt("second", (value) => {
    const [rule, show] = value.split(",");
    insist(CHOICES.rule.includes(rule) && ["last", "average"].includes(show));
    state = { ...state, second: { rule, show } };
  });
  for (const [name, most] of [["noise", 0.5], ["holdout", 0.5], ["step", 1e6]]) {
    attempt(name, (value) => {
      insist(Number(value) >= 0 && Number(value) <= most);
      state = { ...state, [name]: name === "step" ? Math.floor(Number(value)) : Number(value) };
    });
  }
  attempt("average", (value) => (state = { ...state, average: value === "1" }));
  attempt("guided", (value) => (state = { ...state, guided: value === "1" }));
  return { state, wrong };
}
