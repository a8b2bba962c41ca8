// The Mark I as data and pure functions: figures on a retina of 20×20 photocells, fixed wires from the cells to
// association units, and weights that learn by the perceptron of reference.js.

import { RandomBits, mixedSeed } from "./random.js";
import { Learner } from "./reference.js";

export const SIDE = 20;
export const CELLS = SIDE * SIDE;
const UNITS = 512;
const WIRES = 10; // of each kind: these many excite a unit, and as many inhibit it
const TESTS = 100;
const STREAMS = { wires: 5, figures: 6, tests: 7 }; // each use of the seed has its own random numbers

// ---- figures

/** Lines in a unit square: x1, y1, x2, y2, with y downwards. */
const STROKES = {
  square: [[0, 0, 1, 0], [1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 0, 0]],
  E: [[0, 0, 0, 1], [0, 0, 1, 0], [0, 0.5, 0.8, 0.5], [0, 1, 1, 1]],
  X: [[0, 0, 1, 1], [1, 0, 0, 1]],
  T: [[0, 0, 1, 0], [0.5, 0, 0.5, 1]],
  L: [[0, 0, 0, 1], [0, 1, 1, 1]],
  N: [[0, 0, 0, 1], [0, 0, 1, 1], [1, 0, 1, 1]],
  Z: [[0, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 1]],
};
export const LESSONS = [["left", "right"], ["square", "circle"], ["E", "X"], ["T", "L"], ["N", "Z"], ["lying", "standing"]];

const between = (random, low, high) => low + random.below(high - low + 1);

function isNear(x, y, [x1, y1, x2, y2]) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const along = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy)));
  return (x1 + along * dx - x) ** 2 + (y1 + along * dy - y) ** 2 <= 1;
}

/** The size of a figure, the columns that it may use, and whether it covers a place in its box. */
function drawn(name, random) {
  const thick = between(random, 2, 4);
  const long = between(random, 8, 13);
  if (name === "left" || name === "right") return { width: thick, height: long, from: name === "left" ? 0 : SIDE / 2, to: name === "left" ? SIDE / 2 : SIDE, covers: () => true };
  const whole = { from: 0, to: SIDE };
  if (name === "lying") return { ...whole, width: long, height: thick, covers: () => true };
  if (name === "standing") return { ...whole, width: thick, height: long, covers: () => true };
  const box = { ...whole, width: long, height: long };
  const reach = (long - 2) / 2;
  if (name === "circle") return { ...box, covers: (x, y) => Math.abs(Math.sqrt((x - long / 2) ** 2 + (y - long / 2) ** 2) - reach) <= 1 };
  const lines = STROKES[name].map((line) => line.map((end) => 1 + end * (long - 2)));
  return { ...box, covers: (x, y) => lines.some((line) => isNear(x, y, line)) };
}

/** A figure as 400 cells of 0 or 1: of random size, moved from the middle by at most `shift` cells, and with `noise`
 * cells changed. */
export function figureOf(name, random, shift, noise) {
  const { width, height, from, to, covers } = drawn(name, random);
  const place = (low, high, size) => Math.max(low, Math.min(high - size, low + Math.floor((high - low - size) / 2) + between(random, -shift, shift)));
  const [left, top] = [place(from, to, width), place(0, SIDE, height)];
  const cells = new Uint8Array(CELLS);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) if (covers(x + 0.5, y + 0.5)) cells[(top + y) * SIDE + left + x] = 1;
  }
  for (const cell of distinct(random, noise)) cells[cell] = 1 - cells[cell];
  return cells;
}

/** Different cells, chosen at random. */
function distinct(random, count) {
  const chosen = new Set();
  while (chosen.size < count) chosen.add(random.below(CELLS));
  return [...chosen];
}

// ---- association units

/** The cells that excite and inhibit each unit. A unit is active if the lit cells that excite it outnumber the lit
 * cells that inhibit it by `threshold` or more. Straight wires give each cell its own unit. */
export function wiringOf({ wiring, threshold, seed }) {
  if (wiring === "straight") return { threshold: 1, units: Array.from({ length: CELLS }, (_, i) => ({ plus: [i], minus: [] })) };
  const random = new RandomBits(mixedSeed([seed, STREAMS.wires]));
  return {
    threshold,
    units: Array.from({ length: UNITS }, () => {
      const cells = distinct(random, 2 * WIRES);
      return { plus: cells.slice(0, WIRES), minus: cells.slice(WIRES) };
    }),
  };
}

/** The activity of the units as a row of reference.js: the numbers of the active units, each with the value 1. */
export function activityOf({ units, threshold }, cells, y) {
  const at = [];
  units.forEach(({ plus, minus }, i) => {
    let sum = 0;
    for (const cell of plus) sum += cells[cell];
    for (const cell of minus) sum -= cells[cell];
    if (sum >= threshold) at.push(i);
  });
  return { at, value: at.map(() => 1), y };
}

// ---- the machine

export const MACHINE = { lesson: 0, wiring: "random", threshold: 2, seed: 1, shift: 1, noise: 0 };
export const LIMITS = { lesson: [0, LESSONS.length - 1], threshold: [1, 5], seed: [0, 2 ** 32 - 1], shift: [0, 6], noise: [0, 80] };
export const FURTHER = { shift: 2, noise: 20 }; // how the harder tests differ from the lesson
const KINDS = { fresh: {}, shifted: { shift: FURTHER.shift }, noisy: { noise: FURTHER.noise } };

/** The parts that follow from the settings alone: the wires, and the test figures as activities, half of each class. */
const fixed = new WeakMap();
export function partsOf(settings) {
  if (fixed.has(settings)) return fixed.get(settings);
  const { lesson, seed, shift, noise } = settings;
  const wires = wiringOf(settings);
  const tests = Object.entries(KINDS).map(([kind, more], number) => {
    const rows = Array.from({ length: TESTS }, (_, i) => {
      const random = new RandomBits(mixedSeed([seed, STREAMS.tests, number, i]));
      return activityOf(wires, figureOf(LESSONS[lesson][i % 2], random, shift + (more.shift ?? 0), noise + (more.noise ?? 0)), i % 2);
    });
    return [kind, rows];
  });
  const parts = { wires, tests };
  fixed.set(settings, parts);
  return parts;
}

function learnerOf({ settings, w }) {
  const learner = new Learner({ classes: 2, features: partsOf(settings).wires.units.length });
  if (w) learner.numbers.set(w, learner.features);
  return learner;
}

/** The share of the test figures that the machine names correctly. A score of 0 counts as the first class. */
function measured(machine) {
  const learner = learnerOf(machine);
  return Object.fromEntries(partsOf(machine.settings).tests.map(([kind, rows]) => [kind, rows.filter((row) => learner.predict(row) === row.y).length / rows.length]));
}

/** A machine with all weights 0 that sees the first figure. `left` figures of a lesson are still to come. */
export function newMachine(settings = MACHINE) {
  const w = new Float64Array(partsOf(settings).wires.units.length);
  const machine = { settings, w, shown: 0, taught: 0, mistakes: 0, left: 0, last: null, unit: null };
  return showNext({ ...machine, curve: [{ taught: 0, ...measured(machine) }] });
}

/** Shows the next figure, which depends only on the settings and on its number. */
function showNext(machine) {
  const { lesson, seed, shift, noise } = machine.settings;
  const shown = machine.shown + 1;
  const random = new RandomBits(mixedSeed([seed, STREAMS.figures, shown]));
  const y = random.below(2);
  return { ...machine, shown, y, cells: figureOf(LESSONS[lesson][y], random, shift, noise), last: null };
}

/** What the machine says about the cells that it sees: the sign of w·a. At 0 it says nothing. */
export function answerOf(machine) {
  const activity = activityOf(partsOf(machine.settings).wires, machine.cells, machine.y);
  const score = learnerOf(machine).scores(activity)[1];
  return { activity, score, said: score === 0 ? null : score > 0 ? 1 : 0 };
}

/** One step of the perceptron: the teacher says that the figure is of class `y`. */
function teach(machine, y) {
  const { activity, score, said } = answerOf(machine);
  const learner = learnerOf(machine);
  const { wrong } = learner.visit({ ...activity, y });
  const w = learner.numbers.slice(learner.features);
  const next = { ...machine, w, taught: machine.taught + 1, mistakes: machine.mistakes + (wrong ? 1 : 0) };
  next.last = { y, score, said, wrong, turned: wrong ? activity.at.length : 0 };
  next.curve = [...machine.curve, { ...(wrong ? measured(next) : machine.curve.at(-1)), taught: next.taught }];
  return next;
}

/** The machine after an action. */
export function changeMachine(machine, action) {
  switch (action.do) {
    case "set":
      return newMachine({ ...machine.settings, ...action.change });
    case "reset":
      return newMachine(machine.settings);
    case "next":
      return { ...showNext(machine), left: 0 };
    case "paint": {
      const cells = machine.cells.slice();
      for (const cell of action.cells) cells[cell] = action.value;
      return { ...machine, cells, y: null, last: null, left: 0 };
    }
    case "erase":
      return { ...machine, cells: new Uint8Array(CELLS), y: null, last: null, left: 0 };
    case "teach":
      return { ...teach(machine, action.y), left: 0 };
    case "lesson": {
      // Figures are shown and taught with their true class; the first may already be there.
      let next = machine;
      for (let i = 0; i < action.count; i++) {
        if (next.last || next.y === null) next = showNext(next);
        next = teach(next, next.y);
      }
      return { ...next, left: action.left };
    }
    case "stop":
      return { ...machine, left: 0 };
    case "unit":
      return { ...machine, unit: action.unit };
    default:
      throw new Error(`unknown action ${action.do}`);
  }
}
