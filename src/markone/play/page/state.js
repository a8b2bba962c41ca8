// One state that is never changed, one reducer that makes the next state, and what follows from a state.

import { certify } from "./learn/certificate.js";
import { MOST_ROWS } from "./learn/csv.js";
import { examplesOfPoints, examplesOfTexts } from "./learn/features.js";
import { changeMachine, newMachine } from "./learn/machine.js";
import { presetOf, textsOf } from "./learn/presets.js";
import { RandomBits, mixedSeed, shuffled } from "./learn/random.js";
import { makeRun, runOfTrace } from "./learn/run.js";

export const LEARNER = {
  rule: "perceptron",
  eta: 1,
  C: 1,
  tie: "error",
  form: "label",
  update: "margin",
  order: "given",
  seed: 0,
  passes: 50,
  hidden: 4,
  activation: "tanh",
};
const TEXT_PASSES = 20;

/** A part of the plane that contains the points and the origin, with a rim. */
export function domainOf(points) {
  const bounds = (values) => {
    const low = Math.min(0, ...values);
    const high = Math.max(0, ...values);
    return low === high ? [-1, 1] : [low, high];
  };
  const x = bounds(points.map((p) => p.x1));
  const y = bounds(points.map((p) => p.x2));
  // Both axes have the same scale, so that angles and distances are true, unless the columns differ very much.
  const sizes = [x[1] - x[0], y[1] - y[0]];
  const wide = Math.max(...sizes) / Math.min(...sizes) > 5 ? sizes : [Math.max(...sizes), Math.max(...sizes)];
  const around = ([low, high], size) => [(low + high) / 2 - 0.62 * size, (low + high) / 2 + 0.62 * size];
  return { x: around(x, wide[0]), y: around(y, wide[1]) };
}

function withPoints(state, { points, classes, columns = ["x1", "x2"], preset }) {
  return { ...state, points, classes, columns, preset, domain: domainOf(points), brush: Math.min(state.brush, classes.length - 1) };
}

function ofPreset(state, id) {
  const preset = presetOf(id);
  const { features, bias, learner } = preset;
  const { rule, eta, C, order, seed, hidden, activation, form, update } = state.learner;
  const kept = rule === "mlp" ? {} : { rule, eta, C, order, seed, hidden, activation, form, update };
  return {
    ...withPoints(state, { points: preset.points(), classes: preset.classes, preset: id }),
    features,
    bias,
    learner: { ...LEARNER, ...kept, ...learner },
    noise: 0,
    proof: false,
  };
}

function ofTexts(state, id) {
  const { lines, classes } = textsOf(id);
  return { ...state, texts: { preset: id, classes, lines: lines.map(([text, y]) => ({ text, y })) } };
}

export function startState() {
  const empty = {
    tab: "points",
    points: [],
    classes: [],
    learner: LEARNER,
    second: null,
    average: false,
    noise: 0,
    holdout: 0,
    step: 0,
    playing: false,
    speed: 2,
    guided: true,
    card: 0,
    answer: null,
    brush: 1,
    tool: "move",
    proof: false,
    file: null,
    traces: null,
    whole: null,
    machine: null, // made when its tab is first opened
    revision: 0,
  };
  return ofTexts(ofPreset(empty, "three-points"), "headlines");
}

/** The state with another tab. Making a machine takes a moment, so it is made when it is first wanted. */
export function withTab(state, tab) {
  if (state.tab === tab) return state;
  return { ...state, tab, card: 0, machine: state.machine ?? (tab === "machine" ? newMachine() : null) };
}

/** Actions after which the run begins again, because something else is learned. */
const RESTARTS = new Set(["preset", "texts", "lines", "points", "add", "remove", "learner", "features", "noise", "holdout", "tab", "file", "set"]);

export function reduce(state, action) {
  const next = change(state, action);
  if (next === state || !RESTARTS.has(action.type)) return next;
  return { ...next, step: 0, answer: null, playing: action.playing ?? false };
}

function change(state, action) {
  switch (action.type) {
    case "preset":
      return { ...ofPreset(state, action.id), card: 0, second: null, average: false, holdout: 0 };
    case "texts":
      return { ...ofTexts(state, action.id), card: 0 };
    case "lines":
      return { ...state, texts: { preset: "own", classes: action.classes, lines: action.lines }, card: 0 };
    case "points":
      return { ...withPoints(state, { preset: "own", ...action }), bias: true, card: 0 };
    case "add":
      if (state.points.length >= MOST_ROWS) return state;
      return { ...state, preset: "own", points: [...state.points, action.point] };
    case "move":
      return { ...state, preset: "own", points: state.points.map((p, i) => (i === action.i ? { ...p, x1: action.x1, x2: action.x2 } : p)) };
    case "relabel":
      return { ...state, preset: "own", points: state.points.map((p, i) => (i === action.i ? { ...p, y: action.y } : p)) };
    case "remove":
      return { ...state, preset: "own", points: state.points.filter((_, i) => i !== action.i) };
    case "learner":
      return { ...state, learner: { ...state.learner, ...action.change } };
    case "features":
      return { ...state, features: action.features ?? state.features, bias: action.bias ?? state.bias };
    case "set": // several settings at once, as the guide does it
      return { ...state, ...action.change, learner: { ...state.learner, ...action.change.learner } };
    case "second":
      return { ...state, second: action.second };
    case "file":
      // Rows of a file are often sorted by class, so they are shuffled.
      return {
        ...withPoints(state, { ...action.file, preset: "file" }),
        file: action.file,
        features: ["x1", "x2"],
        bias: true,
        learner: { ...state.learner, tie: "error", order: "each" },
        card: 0,
      };
    case "machine":
      return { ...state, machine: changeMachine(state.machine, action) };
    case "traced":
      return { ...state, traces: action.traces };
    case "tab":
      return withTab(state, action.value);
    case "noise":
    case "holdout":
    case "average":
    case "proof":
    case "whole":
    case "brush":
    case "tool":
    case "speed":
      return state[action.type] === action.value ? state : { ...state, [action.type]: action.value };
    case "guided":
      return { ...state, guided: action.value, playing: false, ...(action.value ? { card: 0, step: 0, answer: null } : {}) };
    case "card":
      return { ...state, card: action.value, answer: null };
    case "answer":
      return { ...state, answer: action.value };
    case "go":
      return { ...state, step: Math.max(0, Math.min(action.last, action.step)), playing: action.playing ?? false };
    case "playing":
      return { ...state, playing: action.value };
    case "restore":
      return { ...state, ...action.state };
    default:
      throw new Error(`unknown action ${action.type}`);
  }
}

// ---- what follows from a state

/** Remembers the last result of a function, while its arguments are the same objects. */
function remembered(compute) {
  let before = null;
  let result;
  return (...given) => {
    if (before === null || given.some((one, i) => one !== before[i])) {
      result = compute(...given);
      before = given;
    }
    return result;
  };
}

/** The points with noise in their labels, and with some of them held out. */
export function preparedPoints(points, classes, noise, holdout, seed) {
  let prepared = points;
  if (noise > 0) {
    const random = new RandomBits(mixedSeed([seed, 3]));
    prepared = prepared.map((p) => {
      const flipped = random.uniform() < noise;
      const other = random.below(classes.length - 1);
      return flipped ? { ...p, y: (p.y + 1 + other) % classes.length } : p;
    });
  }
  if (holdout > 0) {
    const held = new Set();
    classes.forEach((_, k) => {
      const own = prepared.map((p, i) => i).filter((i) => prepared[i].y === k);
      for (const i of shuffled(own, seed, 4, k).slice(0, Math.round(holdout * own.length))) held.add(i);
    });
    prepared = prepared.map((p, i) => (held.has(i) ? { ...p, held: true } : p));
  }
  return prepared;
}

const CURVE = 150;

/** The angle of a cosine in degrees. A cosine is rounded, so smaller parts of a degree mean nothing. */
function degrees(cosine) {
  return Math.round((Math.acos(Math.max(-1, Math.min(1, cosine))) * 18000) / Math.PI) / 100;
}

/** Curves over a run: at about 150 steps, or at every step of a short run. */
function curvesOf(run, certificate) {
  const places = run.length <= CURVE ? Array.from({ length: run.length + 1 }, (_, i) => i) : Array.from({ length: CURVE + 1 }, (_, i) => Math.round((i * run.length) / CURVE));
  const curves = { places, mistakes: [], norm: [], angle: [], last: [], average: [], heldLast: [], heldAverage: [] };
  const { rows, held } = run.examples;
  for (const place of places) {
    const step = run.steps[place - 1];
    const { numbers, average } = run.after(place);
    const vector = run.vector(numbers);
    curves.mistakes.push(step?.mistakes ?? 0);
    curves.norm.push(step?.norm2 ?? 0);
    curves.last.push(run.accuracy(rows, numbers));
    curves.heldLast.push(run.accuracy(held, numbers));
    if (!run.isNetwork) {
      curves.average.push(run.accuracy(rows, average));
      curves.heldAverage.push(run.accuracy(held, average));
    }
    if (certificate?.separable && !run.isNetwork) {
      let product = 0;
      for (let i = 0; i < vector.length; i++) product += vector[i] * certificate.w[i];
      const size = Math.sqrt(step?.norm2 ?? 0);
      curves.angle.push(size > 0 ? degrees(product / size) : null);
    }
  }
  return curves;
}

const points = remembered(preparedPoints);
const examplesP = remembered(examplesOfPoints);
const examplesT = remembered((texts) => examplesOfTexts(texts.lines, true, texts.classes));
const certificateOf = remembered((examples) => certify(examples.rows, examples.classes.length, examples.names.length));
const settingsOf = remembered((learner, tab) => (tab === "text" ? { ...learner, rule: learner.rule === "mlp" ? "perceptron" : learner.rule, passes: Math.min(learner.passes, TEXT_PASSES) } : learner));
const secondSettings = remembered((settings, rule) => ({ ...settings, rule, ...(rule === "mlp" ? { eta: Math.min(settings.eta, 0.2) } : {}) }));
const traced = (examples, settings, traces) => {
  const trace = traces?.examples === examples && traces.bySettings.get(settings);
  return trace ? runOfTrace(examples, settings, trace) : makeRun(examples, settings);
};
const firstRun = remembered(traced);
const secondRun = remembered(traced);
const firstCurves = remembered(curvesOf);
const secondCurves = remembered(curvesOf);

/** Everything that the panels show. Nothing is computed again while only the step changes. */
export function derive(state) {
  const isText = state.tab === "text";
  const prepared = points(state.points, state.classes, state.noise, state.holdout, state.learner.seed);
  const examples = isText ? examplesT(state.texts) : examplesP(prepared, state.features, state.bias, state.classes);
  const settings = settingsOf(state.learner, state.tab);
  const run = firstRun(examples, settings, state.traces);
  const certificate = certificateOf(examples);
  const other = state.second && !isText ? secondSettings(settings, state.second.rule) : null;
  const second = other ? secondRun(examples, other, state.traces) : null;
  const last = Math.max(run.length, second?.length ?? 0);
  return {
    state,
    prepared,
    examples,
    run,
    second,
    certificate,
    curves: firstCurves(run, certificate),
    secondCurves: second ? secondCurves(second, certificate) : null,
    last,
    fromCore: Boolean(state.traces?.examples === examples && state.traces.bySettings.get(settings)),
    now: momentOf(run, Math.min(state.step, run.length)),
    secondNow: second ? momentOf(second, Math.min(state.step, second.length)) : null,
  };
}

/** A moment of a run: the step that was just made, and the weights before and after it. */
export function momentOf(run, count) {
  const step = count > 0 ? run.steps[count - 1] : null;
  const before = Float64Array.from(run.after(Math.max(0, count - 1)).numbers);
  const { numbers, average } = run.after(count);
  return { run, number: count, step, before, after: Float64Array.from(numbers), average };
}

/** How the line between two classes moves: the direction of w before and after, for a straight line in the plane. */
export function turnOf(run, before, after, straight) {
  if (before.every((value, i) => value === after[i])) return "stays";
  if (run.isNetwork || run.learner.classes > 2 || !straight) return "bends";
  const names = run.examples.names;
  const direction = (numbers) => {
    const w = run.vector(numbers);
    const at = (name) => (names.includes(name) ? w[names.indexOf(name)] : 0);
    return [at("x1"), at("x2")];
  };
  const [a1, a2] = direction(before);
  const [b1, b2] = direction(after);
  if (a1 === 0 && a2 === 0) return b1 === 0 && b2 === 0 ? "shifts" : "first";
  if (b1 === 0 && b2 === 0) return "gone";
  const cross = a1 * b2 - a2 * b1;
  const small = 1e-12 * Math.hypot(a1, a2) * Math.hypot(b1, b2);
  if (Math.abs(cross) > small) return cross > 0 ? "left" : "right";
  if (a1 * b1 + a2 * b2 < 0) return "flips";
  const bias = (numbers, size) => (names.at(-1) === "BIAS" ? run.vector(numbers).at(-1) / size : 0);
  const moved = bias(after, Math.hypot(b1, b2)) - bias(before, Math.hypot(a1, a2));
  return Math.abs(moved) > 1e-12 ? "shifts" : "stays";
}

/** A store: the state, those who listen, and the way to change it. */
export function createStore(initial, onChange) {
  let state = initial;
  return {
    get: () => state,
    dispatch(action) {
      const next = reduce(state, action);
      if (next !== state) {
        state = next;
        onChange(state);
      }
    },
  };
}
