// All sentences of the page, so that they can be read and translated in one place.

/** A number for readers: at most four significant digits, with a real minus sign. */
export function number(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  let text;
  if (Number.isInteger(value) && size < 1e6) text = String(size);
  else if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
    const [digits, exponent] = size.toExponential(2).split("e");
    text = `${Number(digits)}·10${superscript(Number(exponent))}`;
  } else text = String(Number(size.toPrecision(4)));
  return value < 0 && text !== "0" ? `−${text}` : text;
}

function superscript(exponent) {
  return String(exponent).replace(/[-\d]/g, (sign) => ({ "-": "⁻" })[sign] ?? "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign]);
}

const inBrackets = (value) => (value < 0 ? `(${number(value)})` : number(value));
export const share = (value) => (value === null ? "–" : `${number(Math.round(value * 1000) / 10)} %`);
export const whole = (value) => value.toLocaleString("en");
export const counted = (count, what) => `${whole(count)} ${what}${count === 1 ? "" : "s"}`;
const clipped = (text, most = 40) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
export const label = (text) => clipped(text === "" ? "(empty)" : text);

export const PRESET_NAMES = {
  "three-points": "three points",
  and: "AND",
  or: "OR",
  xor: "XOR",
  moons: "two moons",
  barely: "barely separable",
  outlier: "one outlier",
  "three-classes": "three classes",
  own: "your points",
  file: "your file",
  headlines: "headlines",
  mail: "spam and ham",
};
export const RULE_NAMES = {
  perceptron: "perceptron",
  mira: "MIRA",
  logistic: "logistic regression",
  hinge: "hinge loss",
  mlp: "two-layer network",
};

// ---- a step

/** "1·(−2) + (−1)·(−3) = 1", with at most `most` products. */
export function sumInWords(weights, row, score, most = 8) {
  const parts = row.at.map((i, place) => `${inBrackets(weights[i])}·${inBrackets(row.value[place])}`);
  const shown = parts.length > most ? [...parts.slice(0, most), "…"] : parts;
  return `${shown.join(" + ") || "0"} = ${number(score)}`;
}

/** "x1: 3 + (−2) = 1" */
export const changeInWords = (name, before, after) =>
  `${label(name)}: ${number(before)} ${after < before ? "−" : "+"} ${number(Math.abs(after - before))} = ${number(after)}`;

export function vectorInWords(values, most = 8) {
  const shown = Array.from(values.slice(0, most), number);
  return `(${shown.join(", ")}${values.length > most ? ", …" : ""})`;
}

export const TURNS = {
  left: "The line turns left, against the clock.",
  right: "The line turns right, with the clock.",
  stays: "The line stays.",
  shifts: "The line keeps its direction and shifts.",
  first: "There is a line for the first time.",
  flips: "The line stays, but its sides change places.",
  gone: "All weights are 0 again, so there is no line.",
  bends: "The boundary changes.",
};

/** The sentence that a screen reader says after each step. */
export function stepInWords({ step, number: count, run, turn }) {
  if (!step) return "Before the first step. All weights are at their start.";
  const { examples } = run;
  const said = label(examples.classes[step.said]);
  const right = label(examples.classes[examples.rows[step.row].y]);
  const scores = step.scores.length === 2 ? number(step.scores[1]) : step.scores.map(number).join(", ");
  const isTie = step.margin === 0;
  const tie = isTie ? " a tie," : "";
  const verdict = isTie && run.settings.tie === "error" ? `which is a mistake: it is ${right}` : step.wrong ? `wrong: it says ${said}, but it is ${right}` : `right: ${right}`;
  return `Step ${whole(count)}: example ${whole(examples.numbers[step.row] + 1)}, score ${scores},${tie} ${verdict}. ${TURNS[turn]}`;
}

export const WHERE = ({ step, number: count, run }) =>
  step
    ? `Step ${whole(count)} of ${whole(run.length)} · pass ${whole(step.pass)} · example ${whole(run.examples.numbers[step.row] + 1)} of ${whole(run.examples.rows.length + run.examples.held.length)}`
    : `Before the first of ${counted(run.length, "step")}`;

export const STOPPED = {
  converged: "The last pass changed nothing, so the run has converged.",
  passes: "All passes are done.",
  steps: "The page shows the first 6,000 steps.",
  "no rows": "There are no points to learn from. Click in the plane to add some.",
  diverged:
    "Training diverged: a number became too large for the computer (NaN or infinity), so the run stops here. A smaller learning rate or smaller values help.",
};
export const ONE_CLASS = "All points have the same class. Add a point of another class, so that there is something to separate.";
export const RATE_WORDS = {
  zero: "With a learning rate of 0, no weight ever changes.",
  scale: "For the perceptron from zero weights, the learning rate only scales w: the predictions stay the same.",
};
export const STEP_RULES = {
  perceptron: "On a mistake: w ← w + η·y·x",
  "perceptron-many": "On a mistake: w of the right class + η·x, w of the winner − η·x",
  mira: "Below a margin of 1, the shortest step that reaches it, at most C: τ = min(C, (1 − margin) / |change|²)",
  "mira-mistake": "On a mistake, the shortest step that wins by a margin of 1, at most C: τ = min(C, (1 − margin) / |change|²)",
  logistic: "Always: w ← w + η·(y − p)·x, where p is the probability",
  hinge: "While the margin is below 1: w ← w + η·y·x",
  mlp: "Always: a step of length η against the gradient of the loss, by backpropagation",
};
export const RIGHT_OR_WRONG = (step, run) => {
  const said = label(run.examples.classes[step.said]);
  const right = label(run.examples.classes[run.examples.rows[step.row].y]);
  if (step.wrong && step.margin === 0 && run.settings.tie === "error") return `A tie, which counts as a mistake here: the class is ${right}.`;
  return step.wrong ? `It says ${said}, but the class is ${right}: a mistake.` : `It says ${said}, and the class is ${right}: right.`;
};
export const NOTHING_CHANGES = "Nothing changes.";

// ---- the certificate

export function certificateInWords(found, rule) {
  if (found === null) return "There are not two classes yet, so there is nothing to separate.";
  if (found.separable === null) return "There are too many examples and features for a certificate in the page. The command markone certify decides it.";
  if (!found.separable) {
    const count = counted(found.proof.length, "point");
    return `Not separable: ${count} prove it. With positive weights, they balance each other, so no w can be right on all of them. A perceptron never stops here.`;
  }
  const bound = Math.floor(found.bound * (1 + 1e-12));
  const mistakes = rule === "perceptron" ? ` A perceptron makes at most R²/γ² = ${whole(bound)} ${bound === 1 ? "mistake" : "mistakes"}, in any order.` : "";
  return `Separable: the best margin is γ = ${number(found.margin)}, with R = ${number(found.radius)}.${mistakes}`;
}
export const SHOW_PROOF = { true: "Hide the points of the proof", false: "Show the points of the proof" };
export const SHOW_SUPPORT = { true: "Hide the best line", false: "Show the best line" };

// ---- data

export const PASTE_ERRORS = {
  empty: () => "There is nothing to read. Paste lines such as 1.5,2,spam.",
  fields: ({ number: line, count, wanted }) => `Line ${line} has ${counted(count, "field")} instead of ${wanted ?? 3}: x1, x2 and a label.`,
  number: ({ number: line, field }) => `Line ${line}: “${clipped(field)}” is not a number.`,
  large: ({ number: line, field }) => `Line ${line}: ${clipped(field)} is too large to draw.`,
  label: ({ number: line }) => `Line ${line} has no label.`,
  text: ({ number: line }) => `Line ${line} has no label. Write a label, a comma or a tab, and the text.`,
  "one-class": ({ label: only }) => `All rows have the label “${label(only)}”. There must be at least two.`,
  "many-classes": ({ count, most }) => `There are ${count} different labels, but the page shows at most ${most} classes.`,
  "many-rows": ({ count, most }) => `There are ${whole(count)} rows, but the page reads at most ${whole(most)}. The command markone play takes a sample of a large file.`,
};
export const PASTED = (count, classes) => `${counted(count, "row")} with ${classes} classes.`;
export const POINT = (i, p, classes) => `Point ${i + 1}: ${number(p.x1)}, ${number(p.x2)}, class ${label(classes[p.y])}${p.held ? ", held out" : ""}`;
export const MANY_POINTS = "With more than 200 points, edit single points as CSV, or with the mouse.";
export const MOVED = (p) => `Moved to ${number(p.x1)}, ${number(p.x2)}.`;
export const RELABELLED = (name) => `Now of class ${label(name)}.`;
export const REMOVED = (count) => `Removed. ${counted(count, "point")} left.`;
export const ADDED = (p, name) => `Added a point at ${number(p.x1)}, ${number(p.x2)} of class ${label(name)}.`;
export const TOO_MANY = "There are 2,000 points, and the page has no room for more.";
export const COPIED = "The address of this page, with all settings and points, is in the clipboard.";
export const COPY_BY_HAND = "The address bar now contains all settings and points: copy it from there.";
export const TOO_LONG = "There are too many points for an address. Save the data instead.";
export const SAVED = (name) => `Saved ${name}.`;
export const DARK = { dark: "Light", light: "Dark" };
export const PLAY = { true: "Pause", false: "Play" };
export const BAD_ADDRESS = "Part of the address could not be read, so the page uses its defaults for it.";

// ---- charts

export const CHARTS = {
  mistakes: "Mistakes",
  norm: "|w|²",
  angle: "Angle between w and the best w",
  accuracy: "Accuracy",
  bound: "bound R²/γ²",
  upper: "k·R²",
  lower: "k²·γ²",
  last: "training, last w",
  average: "training, averaged w",
  heldLast: "held out, last w",
  heldAverage: "held out, averaged w",
  other: (name) => `${name} (second)`,
  boundFar: (bound) => `The bound, ${whole(bound)}, is far above the chart.`,
  noBound: "No bound: the data are not separable.",
  onlyPerceptron: "The bound holds for the perceptron.",
  noAngle: "There is no best w: the data are not separable.",
  noBest: "The best w is not known without a certificate.",
  described: (name, series) => `${name}: ${series.map((one) => `${one.name} ${one.text}`).join("; ")}`,
};

// ---- the file behind the page

export const ENGINE = { core: "Computed by Markone’s core (C++, 32-bit weights)", page: "Computed in the page" };
export const WHOLE = ({ rows, accuracy }) => `Trained on all ${whole(rows)} rows, the rule classifies ${share(accuracy)} of them correctly. Its boundary is dotted.`;
export const NO_CORE = (reason) => `The core did not answer (${reason}), so the page computes.`;

// ---- the Mark I

export const CELL = (i) => `Row ${Math.floor(i / 20) + 1}, column ${(i % 20) + 1}`;
const FIGURES = { left: "a bar on the left", right: "a bar on the right", lying: "a lying bar", standing: "a standing bar", square: "a square", circle: "a circle" };
const lit = (cells) => cells.reduce((sum, one) => sum + one, 0);
const wiredTo = (cells, all) => `${counted(cells.length, "cell")} (${cells.filter((i) => all[i]).length} lit)`;
export const MARK1 = {
  lesson: ([a, b]) => (FIGURES[a] ? (a === "square" ? "a square or a circle" : `a bar: ${a} or ${b}`) : `the letters ${a} and ${b}`),
  seen: ({ shown, y, cells }, names) => {
    if (y !== null) return `Figure ${whole(shown)} is ${FIGURES[names[y]] ?? `the letter ${names[y]}`}.`;
    return lit(cells) ? `Your drawing: ${counted(lit(cells), "cell")} lit.` : "The retina is dark. Draw on it, or show a figure.";
  },
  painted: (cell, value, answer) => `${CELL(cell)}: ${value ? "lit" : "dark"}. ${answer}`,
  answer: ({ score, said, activity }, names) => {
    if (activity.at.length === 0) return "No unit is active, so neither lamp lights.";
    return said === null ? "The sum of the active weights is 0, so neither lamp lights." : `The sum of the active weights is ${number(score)}, so the machine says “${names[said]}”.`;
  },
  taught: ({ last: { y, said, wrong, turned } }, names) => {
    const told = said === null ? "The machine said nothing" : `The machine said “${names[said]}”`;
    if (!wrong) return `${told}, which is correct. Nothing turns.`;
    const turns = turned ? `${counted(turned, "potentiometer")} ${turned === 1 ? "turns" : "turn"} one step ${y ? "up" : "down"}, towards “${names[y]}”.` : "No unit is active, so nothing can turn.";
    return `${told}, but it is “${names[y]}”. ${turns}`;
  },
  counts: ({ taught, mistakes }) => `${counted(taught, "figure")} taught, ${counted(mistakes, "mistake")}.`,
  run: (count) => `Run a lesson of ${count}`,
  stop: "Stop the lesson",
  started: (count) => `A lesson of ${count} figures begins.`,
  finished: (machine) => `${MARK1.counts(machine)} ${MARK1.result(machine.curve)}`,
  isReset: "All weights are 0 again.",
  range: (title, [least, most]) => `${title}: a whole number from ${least} to ${whole(most)}.`,
  wires: ({ wiring }, { units }, active) => (wiring === "straight" ? `${whole(active)} of ${units.length} units are active. Each cell has its own unit.` : `${whole(active)} of ${units.length} units are active. Ten wires excite each unit, ten inhibit it.`),
  scale: (most) => `full scale ±${most}`,
  noUnit: "Point at a potentiometer, or choose one, to see its wires.",
  unit: (i, { w, cells, settings }, { units, threshold }, active) => {
    const { plus, minus } = units[i];
    const state = `Unit ${i + 1}: weight ${number(w[i])}, ${active ? "active" : "not active"}.`;
    if (settings.wiring === "straight") return `${state} Its cell: ${CELL(plus[0]).toLowerCase()}.`;
    return `${state} Excited by ${wiredTo(plus, cells)}, inhibited by ${wiredTo(minus, cells)}, threshold ${threshold}.`;
  },
  chart: "Correct on 100 figures that it has never seen",
  kinds: { fresh: ["like the lesson’s", "s-main"], shifted: ["moved up to 2 cells further", "s-held"], noisy: ["20 more cells changed", "s-average"] },
  result: (curve) => {
    const [first, now] = [curve[0], curve.at(-1)];
    if (curve.length === 1) return `Before teaching, it is correct on ${share(first.fresh)} of new figures, as by guessing.`;
    return `New figures like the lesson’s: ${share(first.fresh)} correct before, ${share(now.fresh)} now.`;
  },
  history: [
    "Frank Rosenblatt, Charles Wightman and their colleagues built the Mark I Perceptron at the Cornell Aeronautical Laboratory in Buffalo, and it was shown to the public in June 1960.",
    "Its retina had 400 cadmium sulfide photocells in 20 rows of 20, and wires on a patchboard connected them, often at random, to 512 association units.",
    "The weights between these units and the eight response units were potentiometers, which electric motors turned while the machine learned.",
    "The machine now belongs to the Smithsonian Institution.",
  ],
  keys: [
    ["N", "show the next figure"],
    ["1  2", "say that the first or the second lamp is correct"],
    ["L", "run or stop a lesson"],
    ["E", "erase the retina"],
    ["W", "set all weights to 0"],
    ["P", "choose the lesson"],
    ["arrows", "on the retina: move; with Shift, draw"],
    ["Space", "on the retina: light or darken a cell"],
    ["arrows", "on the potentiometers: choose one and see its wires"],
    ["Escape", "on the potentiometers: choose none"],
    ["U", "share by address"],
    ["D", "dark or light"],
    ["?", "this list"],
  ],
};

// ---- guided

export const GUIDE = {
  question: "Before the next step: which way will the line turn?",
  firstQuestion: "There is no line yet. Will the next example make one?",
  bendQuestion: "Before the next step: will the boundary change?",
  answers: { left: "Left", right: "Right", stays: "Not at all", yes: "Yes", no: "No" },
  good: "That is right.",
  other: "Not this time.",
  next: "Next",
  step: "Take the step",
  play: "Play to the end",
  free: "Explore freely",
  again: "Start again",
  ended: "The run has ended.",
  progress: (card, cards) => `Card ${card} of ${cards}`,
};

const ASK = (say) => ({ say, then: "step" });
const SAY = (say, set) => ({ say, then: "next", set });
const PLAY_ALL = (say, button, set) => ({ say, then: "play", button, set });

/** A short story for each data set. */
export const STORIES = {
  "three-points": [
    SAY("Three points, two classes. A perceptron starts with w = (0, 0) and looks at one point after the other. It changes w only on a mistake."),
    ASK("The first point has the score w·x = 0. A score of 0 counts as −1 here, but the point is +1."),
    ASK("Now w = (3, 2) points at the first example. The second example is on the other side."),
    ASK("The third point is +1, but its score is −12."),
    ASK("w = (1, −1). The second pass begins."),
    PLAY_ALL("Let the second pass finish.", GUIDE.play),
    SAY("No mistake in a whole pass: the perceptron has converged. Two mistakes were enough, and the bound R²/γ² allowed 26. Drag a point, and the run starts again."),
  ],
  and: [
    SAY("AND is +1 only if both inputs are 1. The feature that is always 1 (the bias) lets the line leave the origin."),
    ASK("All weights are 0, so the first example is a tie. A tie counts as a mistake."),
    ASK("Watch the bias: it moves the line without turning it."),
    ASK("Each mistake adds the example to w, or subtracts it."),
    PLAY_ALL("AND is separable, so the mistakes must end. Watch them stay below the bound.", GUIDE.play),
    SAY("Done. Try the next data set, OR, or plug out the bias in the patchboard: then no line works, and the certificate shows the proof."),
  ],
  or: [
    SAY("OR is −1 only if both inputs are 0."),
    ASK("The first step is a tie again."),
    ASK("The score of this example comes from the bias and one input."),
    PLAY_ALL("Play the rest, and watch |w|² between its two bounds.", GUIDE.play),
    SAY("The lower bound k²γ² grows faster than the upper bound kR². They meet at k = R²/γ²: this is the proof that mistakes must end."),
  ],
  xor: [
    SAY("XOR is +1 if exactly one input is 1. Minsky and Papert showed in 1969 what a perceptron cannot do with it."),
    ASK("Take some steps."),
    ASK("The weights move back and forth."),
    PLAY_ALL("Play on. The perceptron never stops.", GUIDE.play, { proof: true }),
    SAY("The marked points are the proof: the two +1 corners and the two −1 corners have the same middle, so no line separates them."),
    PLAY_ALL("Now plug the feature x1·x2 into the patchboard.", "Plug in x1·x2 and play", { features: ["x1", "x2", "x12"], proof: false }),
    SAY("With one more feature XOR is separable. The boundary is a curve in the plane, but a plane in the space of three features."),
    PLAY_ALL("Or keep the two features and use a network with one hidden layer.", "Use a two-layer network", { features: ["x1", "x2"], learner: { rule: "mlp", eta: 0.2, hidden: 4, passes: 400 } }),
  ],
  moons: [
    SAY("Two moons bend around each other. No straight line separates them."),
    ASK("The perceptron starts as always."),
    PLAY_ALL("Play on. The last w thrashes; the averaged w, the thin line, is calmer.", GUIDE.play, { average: true, holdout: 0.3 }),
    SAY("Compare the two held-out curves: averaging helps when the data are not separable."),
    PLAY_ALL("A network bends the boundary.", "Use a two-layer network", { average: false, learner: { rule: "mlp", eta: 0.2, hidden: 8, passes: 75 } }),
    SAY("Change the number of hidden units or the learning rate, and watch the held-out accuracy."),
  ],
  barely: [
    SAY("These points are separable, but barely: the best margin is small, so the bound R²/γ² is large."),
    ASK("Take a step."),
    PLAY_ALL("Play the run, and count the mistakes.", GUIDE.play),
    SAY("Many mistakes, but far fewer than the bound allows. The line that it found barely separates the points. The best line is in the certificate."),
    PLAY_ALL("Compare with MIRA, which takes the shortest step that gains a margin.", "Show both side by side", { second: { rule: "mira", show: "last" } }),
  ],
  outlier: [
    SAY("Two clouds and one point that lies far away, on the wrong side."),
    ASK("Take a step."),
    PLAY_ALL("Play on, and watch what the outlier does: its long vector turns the line each time.", GUIDE.play, { average: true }),
    SAY("The averaged w hardly notices it. Drag the outlier home, and the perceptron converges."),
    PLAY_ALL("Logistic regression moves at every example, but never further than η·|x|.", "Show both side by side", { second: { rule: "logistic", show: "last" }, learner: { eta: 0.1 } }),
  ],
  "three-classes": [
    SAY("Three classes have one weight vector each. The highest score wins."),
    ASK("On a mistake the right class gains the example, and the winner loses it."),
    ASK("Two arrows move at each mistake, in opposite directions."),
    PLAY_ALL("Play to the end.", GUIDE.play),
    SAY("Where two regions meet, two classes have the same score. Drag a point into another region to see which arrows it moves."),
  ],
  headlines: [
    SAY("Each word is a feature. Each class has a weight for each word. All weights are 0, so the first headline is a tie."),
    ASK("On a mistake, all words of the headline gain weight for the right class and lose it for the winner."),
    ASK("Common words such as “the” move with every mistake."),
    PLAY_ALL("Play to the end, and see which words decide.", GUIDE.play),
    SAY("Change the headlines, or write your own, one per line."),
  ],
  mail: [
    SAY("Two classes share one weight for each word: positive is evidence for spam, negative for ham."),
    ASK("The first mail is “free money”."),
    ASK("A ham follows. Its score comes from the bias, which is part of every mail."),
    PLAY_ALL("Play to the end.", GUIDE.play),
    SAY("Four mistakes were enough. The word “you” is in both classes, and ends at 0. Tick “averaged w” to see the mean of all weights."),
  ],
};

/** For data without a story of their own. */
export const ANY_STORY = [
  SAY("These are your data. The rule looks at one example after the other."),
  ASK("Take a step."),
  ASK("And another."),
  PLAY_ALL("Play to the end.", GUIDE.play),
  SAY("The certificate says whether a line can separate the classes, and proves it."),
];
