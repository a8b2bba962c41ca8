// What a model file says about its features and its version. A test compares it with the package's own.

export const VERSION = "1.0.0rc1";

const REST = {
  numeric: { scale: "none", missing: "mean" },
  categorical: { min_count: 1, max_features: [] },
  image: { pixels: "grey", threshold: 0.5, patches: 2 },
  rows: { scale: "none" },
};
const TEXT = {
  words: [1, 3], characters: [], subwords: "auto", case: "fold", signs: true, unspaced: "characters", emoji: "whole",
  negation: false, templates: [], lexicons: {}, document: [], value: "binary", weight: "odds", smoothing: [],
  discount: 0.5, shrinkage: [], min_count: [], max_features: [], hash_bits: [],
};

/** Columns of numbers, as they are: Features(unit=False, numeric={"scale": "none"}). */
export const OF_NUMBERS = { conjunctions: [], degree: 1, unit: false, text: TEXT, ...REST };
/** Single words whose value is 1: the same, and text={"words": [1, 1], "weight": "none", "min_count": 1}. */
export const OF_TEXTS = {
  conjunctions: [], degree: 1, unit: false, text: { ...TEXT, words: [1, 1], weight: "none", min_count: 1 }, ...REST,
};
