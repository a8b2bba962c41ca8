// The patchboard: which features a point has. Each feature is a function of the two coordinates.

export const FEATURES = [
  { id: "x1", name: "x1", of: (x1) => x1, code: "x1" },
  { id: "x2", name: "x2", of: (x1, x2) => x2, code: "x2" },
  { id: "x11", name: "x1²", of: (x1) => x1 * x1, code: "x1 * x1" },
  { id: "x22", name: "x2²", of: (x1, x2) => x2 * x2, code: "x2 * x2" },
  { id: "x12", name: "x1·x2", of: (x1, x2) => x1 * x2, code: "x1 * x2" },
];
export const BIAS = "BIAS";

export function chosenFeatures(ids) {
  return FEATURES.filter((one) => ids.includes(one.id));
}

/** The row of a point: the values of the chosen features and, with a bias, a 1 at the end. */
export function rowOf(x1, x2, y, features, bias) {
  const value = features.map((one) => one.of(x1, x2));
  if (bias) value.push(1);
  return { at: value.map((_, i) => i), value, y };
}

/** Whether the boundary is a straight line in the plane. */
export function isStraight(ids) {
  return ids.every((id) => id === "x1" || id === "x2");
}

/** Examples for a run, from points {x1, x2, y, held}. */
export function examplesOfPoints(points, ids, bias, classes) {
  const features = chosenFeatures(ids);
  const rows = points.map((p) => rowOf(p.x1, p.x2, p.y, features, bias));
  return {
    names: [...features.map((one) => one.name), ...(bias ? [BIAS] : [])],
    bias,
    classes,
    rows: rows.filter((_, i) => !points[i].held),
    numbers: rows.map((_, i) => i).filter((i) => !points[i].held),
    held: rows.filter((_, i) => points[i].held),
  };
}

// ---- texts

const UNSPACED = ["Han", "Hiragana", "Katakana", "Bopomofo", "Thai", "Lao", "Khmer", "Myanmar"].map((name) => `\\p{Script=${name}}`).join("");
const EMOJI = "\\p{Extended_Pictographic}\\p{EMod}?";
const WORD = new RegExp(
  `(?=\\p{L})[${UNSPACED}]\\p{M}*|(?:(?![${UNSPACED}])[\\p{L}\\p{N}])+|\\p{RI}{2}|${EMOJI}(?:\u200d${EMOJI})*|[^\\s\\p{L}\\p{N}]`,
  "gu",
);

/** The words of a text, in lower case, each once. Punctuation marks, emoji, and letters of scripts without spaces are
 * words. */
export function wordsOf(text) {
  return [...new Set(text.toLowerCase().replaceAll("ß", "ss").replaceAll("\ufe0f", "").match(WORD) ?? [])];
}

/** Examples from lines {text, y}: a feature for each word, whose value is 1. */
export function examplesOfTexts(lines, bias, classes) {
  const numbers = new Map();
  const words = lines.map((line) => wordsOf(line.text));
  for (const word of words.flat()) if (!numbers.has(word)) numbers.set(word, numbers.size);
  const names = [...numbers.keys(), ...(bias ? [BIAS] : [])];
  const rows = lines.map((line, i) => {
    const at = words[i].map((word) => numbers.get(word));
    if (bias) at.push(numbers.size);
    return { at, value: at.map(() => 1), y: line.y };
  });
  return { names, bias, classes, rows, numbers: rows.map((_, i) => i), held: [] };
}
