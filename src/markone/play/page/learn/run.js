// A run: every step of a training as data, so that it can be played, rewound and scrubbed.

import { Learner, Network } from "./reference.js";
import { RandomBits, mixedSeed, shuffled } from "./random.js";

export const MOST_STEPS = 6000;
const BETWEEN_COPIES = 64;

/** The steps of a run, and the weights before and after each of them.
 *
 * A step is {pass, row, scores, said, wrong, margin, rate, pulls, loss, at, after, norm2, mistakes}: `at` are the
 * places of the changed numbers, and `after` their new values. Copies of all numbers are kept every 64 steps. */
export class Run {
  constructor(examples, settings, learner) {
    Object.assign(this, { examples, settings, learner });
    this.steps = [];
    this.stopped = null;
    this.passes = 0;
    this.start = Float64Array.from(learner.numbers);
    this.copies = [{ numbers: this.start, sums: new Float64Array(this.start.length) }];
    this.cursor = { step: 0, numbers: Float64Array.from(this.start), sums: new Float64Array(this.start.length) };
  }

  get isNetwork() {
    return this.settings.rule === "mlp";
  }

  get length() {
    return this.steps.length;
  }

  add(step) {
    const last = this.steps.at(-1);
    this.steps.push({ ...step, mistakes: (last?.mistakes ?? 0) + (step.wrong ? 1 : 0) });
  }

  /** The numbers after the first `step` steps, and their mean over these steps. Both are the run's: do not change. */
  after(step) {
    let { cursor } = this;
    const copy = Math.floor(step / BETWEEN_COPIES);
    if (cursor.step > step || copy * BETWEEN_COPIES > cursor.step) {
      const from = Math.min(copy, this.copies.length - 1);
      const { numbers, sums } = this.copies[from];
      cursor = { step: from * BETWEEN_COPIES, numbers: Float64Array.from(numbers), sums: Float64Array.from(sums) };
    }
    while (cursor.step < step) {
      const { at, after } = this.steps[cursor.step];
      for (let i = 0; i < at.length; i++) cursor.numbers[at[i]] = after[i];
      for (let i = 0; i < cursor.sums.length; i++) cursor.sums[i] += cursor.numbers[i];
      cursor.step += 1;
      if (cursor.step === this.copies.length * BETWEEN_COPIES) {
        this.copies.push({ numbers: Float64Array.from(cursor.numbers), sums: Float64Array.from(cursor.sums) });
      }
    }
    this.cursor = cursor;
    const average = step === 0 ? cursor.numbers : cursor.sums.map((value) => value / step);
    return { numbers: cursor.numbers, average };
  }

  /** The share of rows that these numbers classify correctly; null if there are none. */
  accuracy(rows, numbers) {
    if (rows.length === 0) return null;
    return rows.filter((row) => this.learner.predict(row, numbers) === row.y).length / rows.length;
  }

  /** The weights as one vector: with two classes, only those of the second. */
  vector(numbers) {
    const { learner } = this;
    return this.isNetwork || learner.classes > 2 ? numbers : numbers.subarray(learner.features);
  }
}

export function norm2Of(numbers) {
  let sum = 0;
  for (const value of numbers) sum += value * value;
  return sum;
}

/** The order of a pass, counted from 1: the same as in `markone train`. */
export function orderOf(rows, { order, seed }, pass) {
  const all = Array.from({ length: rows }, (_, i) => i);
  return order === "given" ? all : shuffled(all, seed, order === "once" ? 0 : pass - 1);
}

export function newLearner(examples, settings) {
  const classes = examples.classes.length;
  if (settings.rule !== "mlp") return new Learner({ ...settings, classes, features: examples.names.length });
  const inputs = examples.names.length - (examples.bias ? 1 : 0);
  const network = new Network({ ...settings, classes, inputs });
  const random = new RandomBits(mixedSeed([settings.seed, 2]));
  const { hidden } = settings;
  network.numbers.forEach((_, i) => {
    const inFirst = i < hidden * (inputs + 1);
    const place = inFirst ? i % (inputs + 1) : (i - hidden * (inputs + 1)) % (hidden + 1);
    const width = inFirst ? inputs : hidden;
    network.numbers[i] = place === width ? 0 : (2 * random.uniform() - 1) * Math.sqrt(6 / (width || 1));
  });
  return network;
}

/** Makes the whole run, until a pass changes nothing, the passes or steps are used up, or a weight overflows. */
export function makeRun(examples, settings) {
  const learner = newLearner(examples, settings);
  const run = new Run(examples, settings, learner);
  const linear = !run.isNetwork;
  const places = Array.from(learner.numbers, (_, i) => i);
  const all = examples.rows.length;
  const stops = settings.rule === "perceptron" || settings.rule === "mira";
  if (all === 0) run.stopped = "no rows";
  for (let pass = 1; run.stopped === null; pass++) {
    let changed = false;
    for (const row of orderOf(all, settings, pass)) {
      if (run.length >= MOST_STEPS) {
        run.stopped = "steps";
        break;
      }
      const x = examples.rows[row];
      const seen = learner.visit(x);
      let at = places;
      if (linear) {
        at = [];
        for (const [k, pull] of seen.pulls) {
          if (pull !== 0) for (const i of x.at) at.push(k * learner.features + i);
        }
      }
      const after = at.map((i) => learner.numbers[i]);
      changed ||= at.length > 0;
      const norm2 = norm2Of(run.vector(learner.numbers));
      run.add({ pass, row, ...seen, at, after, norm2 });
      if (!Number.isFinite(norm2) || !seen.scores.every(Number.isFinite)) {
        run.stopped = "diverged";
        break;
      }
    }
    run.passes = pass;
    if (run.stopped === null && stops && !changed) run.stopped = "converged";
    if (run.stopped === null && pass >= settings.passes) run.stopped = "passes";
  }
  return run;
}

/** A run from a trace of the core: {steps: [{pass, row, scores, said, wrong, at, after}], stopped}. */
export function runOfTrace(examples, settings, trace) {
  const learner = newLearner(examples, settings);
  const run = new Run(examples, settings, learner);
  for (const step of trace.steps) {
    const { y } = examples.rows[step.row];
    const others = step.scores.filter((_, k) => k !== y);
    const margin = step.scores[y] - Math.max(...others);
    step.at.forEach((place, i) => (learner.numbers[place] = step.after[i]));
    run.add({ ...step, margin, pulls: null, loss: learner.loss(step.scores, y, margin), norm2: norm2Of(run.vector(learner.numbers)) });
  }
  run.passes = run.steps.at(-1)?.pass ?? 0;
  run.stopped = trace.stopped;
  return run;
}
