// Data to start with. All random points come from a fixed seed and have two decimals.

import { RandomBits, mixedSeed } from "./random.js";

const PLANE = { features: ["x1", "x2"], bias: true, learner: {} };
const SIGNS = ["−1", "+1"];
const round = (value) => Math.round(value * 100) / 100;

function corners(labels) {
  return [[0, 0], [0, 1], [1, 0], [1, 1]].map(([x1, x2], i) => ({ x1, x2, y: labels[i] }));
}

function cloud(random, count, y, [x1, x2], spread) {
  return Array.from({ length: count }, () => ({
    x1: round(x1 + spread * random.normal()),
    x2: round(x2 + spread * random.normal()),
    y,
  }));
}

/** Puts the classes in turn, so that a pass does not visit one class after the other. */
function inTurn(...groups) {
  const points = [];
  for (let i = 0; groups.some((group) => i < group.length); i++) {
    for (const group of groups) if (i < group.length) points.push(group[i]);
  }
  return points;
}

function moons() {
  const random = new RandomBits(mixedSeed([1]));
  const arc = (y) =>
    Array.from({ length: 40 }, (_, i) => {
      const angle = (Math.PI * (i * 17 % 40)) / 39;
      const x1 = y ? 1 - Math.cos(angle) : Math.cos(angle);
      const x2 = y ? 0.5 - Math.sin(angle) : Math.sin(angle);
      return { x1: round(x1 + 0.08 * random.normal()), x2: round(x2 + 0.08 * random.normal()), y };
    });
  return inTurn(arc(0), arc(1));
}

function barely() {
  const random = new RandomBits(mixedSeed([2]));
  const points = [];
  while (points.length < 40) {
    const x1 = round(4 * random.uniform() - 2);
    const x2 = round(4 * random.uniform() - 2);
    const side = 0.8 * x1 - 0.6 * x2 + 0.3;
    if (Math.abs(side) > 0.02) points.push({ x1, x2, y: side > 0 ? 1 : 0 });
  }
  return points;
}

function outlier() {
  const random = new RandomBits(mixedSeed([3]));
  const points = inTurn(cloud(random, 12, 0, [-1.5, -0.5], 0.5), cloud(random, 12, 1, [1.5, 0.5], 0.5));
  points.splice(10, 0, { x1: 3.5, x2: 3, y: 0 });
  return points;
}

function three() {
  const random = new RandomBits(mixedSeed([4]));
  return inTurn(
    cloud(random, 12, 0, [-1.6, -1], 0.5),
    cloud(random, 12, 1, [1.6, -1], 0.5),
    cloud(random, 12, 2, [0, 1.6], 0.5),
  );
}

export const PRESETS = [
  {
    ...PLANE,
    id: "three-points",
    classes: SIGNS,
    bias: false,
    learner: { tie: "negative" },
    points: () => [{ x1: 3, x2: 2, y: 1 }, { x1: -2, x2: 2, y: 0 }, { x1: -2, x2: -3, y: 1 }],
  },
  { ...PLANE, id: "and", classes: SIGNS, points: () => corners([0, 0, 0, 1]) },
  { ...PLANE, id: "or", classes: SIGNS, points: () => corners([0, 1, 1, 1]) },
  { ...PLANE, id: "xor", classes: SIGNS, points: () => corners([0, 1, 1, 0]) },
  { ...PLANE, id: "moons", classes: SIGNS, points: moons },
  { ...PLANE, id: "barely", classes: SIGNS, learner: { passes: 200 }, points: barely },
  { ...PLANE, id: "outlier", classes: SIGNS, points: outlier },
  { ...PLANE, id: "three-classes", classes: ["A", "B", "C"], points: three },
];

export const presetOf = (id) => PRESETS.find((one) => one.id === id);

/** Texts to start with: the lectures' headlines, and mail. */
export const TEXTS = [
  {
    id: "headlines",
    classes: ["POLITICS", "SPORTS", "TECH"],
    lines: [
      ["win the vote", 0],
      ["win the election", 0],
      ["win the game", 1],
      ["the game of the season", 1],
      ["new phone beats the old phone", 2],
      ["vote on phone data", 2],
    ],
  },
  {
    id: "mail",
    classes: ["ham", "spam"],
    lines: [
      ["free money", 1],
      ["lunch at noon ?", 0],
      ["win free money now !", 1],
      ["the money for lunch", 0],
      ["are you free at noon ?", 0],
      ["you win ! claim now", 1],
      ["see you at the game", 0],
      ["claim your free phone", 1],
    ],
  },
];
export const textsOf = (id) => TEXTS.find((one) => one.id === id);
