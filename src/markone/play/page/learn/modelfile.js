// Writes a model file that `markone.load` opens: a safetensors file whose parts have checksums (docs/model-file.md).

import { OF_NUMBERS, OF_TEXTS, VERSION } from "./spec.js";

const MASK = (1n << 64n) - 1n;
const SECRET = Uint8Array.from(
  (
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248e" +
    "e03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d" +
    "8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc" +
    "8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
  ).match(/../g),
  (pair) => parseInt(pair, 16),
);
const P32 = [0x9e3779b1n, 0x85ebca77n, 0xc2b2ae3dn];
const P64 = [0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n, 0x27d4eb2f165667c5n];

function littleEndian(bytes, at, size) {
  let value = 0n;
  for (let i = size - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[at + i]);
  return value;
}
const secret = (at) => littleEndian(SECRET, at, 8);
const rotated = (value, bits) => ((value << bits) | (value >> (64n - bits))) & MASK;
const folded = (a, b) => {
  const wide = a * b;
  return (wide & MASK) ^ (wide >> 64n);
};
const mixed = (h) => {
  h ^= h >> 37n;
  h = (h * 0x165667919e3779f9n) & MASK;
  return h ^ (h >> 32n);
};
const mixedShort = (h) => {
  h ^= h >> 33n;
  h = (h * P64[1]) & MASK;
  h ^= h >> 29n;
  h = (h * P64[2]) & MASK;
  return h ^ (h >> 32n);
};

/** XXH3 with 64 bits, in hexadecimal digits. */
export function xxh3(bytes) {
  return hash(bytes).toString(16).padStart(16, "0");
}

function hash(bytes) {
  const size = bytes.length;
  const word = (at) => littleEndian(bytes, at, 8);
  const half = (at) => littleEndian(bytes, at, 4);
  const pair = (at, from) => folded(word(at) ^ secret(from), word(at + 8) ^ secret(from + 8));
  const length = BigInt(size);
  if (size === 0) return mixedShort(secret(56) ^ secret(64));
  if (size <= 3) {
    const value = (bytes[0] << 16) | (bytes[size >> 1] << 24) | bytes[size - 1] | (size << 8);
    return mixedShort(BigInt(value >>> 0) ^ littleEndian(SECRET, 0, 4) ^ littleEndian(SECRET, 4, 4));
  }
  if (size <= 8) {
    let h = (half(size - 4) + (half(0) << 32n)) ^ secret(8) ^ secret(16);
    h ^= rotated(h, 49n) ^ rotated(h, 24n);
    h = (h * 0x9fb21c651e98df25n) & MASK;
    h ^= (h >> 35n) + length;
    h = (h * 0x9fb21c651e98df25n) & MASK;
    return h ^ (h >> 28n);
  }
  if (size <= 16) {
    const low = word(0) ^ secret(24) ^ secret(32);
    const high = word(size - 8) ^ secret(40) ^ secret(48);
    const turned = littleEndian(Uint8Array.from({ length: 8 }, (_, i) => Number((low >> BigInt(8 * (7 - i))) & 255n)), 0, 8);
    return mixed((length + turned + high + folded(low, high)) & MASK);
  }
  let sum = (length * P64[0]) & MASK;
  if (size <= 128) {
    for (let i = Math.ceil(size / 32) - 1; i >= 0; i--) {
      sum += pair(16 * i, 32 * i) + pair(size - 16 * (i + 1), 32 * i + 16);
    }
    return mixed(sum & MASK);
  }
  if (size <= 240) {
    for (let i = 0; i < 8; i++) sum += pair(16 * i, 16 * i);
    sum = mixed(sum & MASK);
    for (let i = 8; i < Math.floor(size / 16); i++) sum += pair(16 * i, 16 * (i - 8) + 3);
    return mixed((sum + pair(size - 16, 119)) & MASK);
  }
  const sums = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]];
  const add = (at, from) => {
    for (let i = 0; i < 8; i++) {
      const value = word(at + 8 * i);
      const key = value ^ secret(from + 8 * i);
      sums[i ^ 1] = (sums[i ^ 1] + value) & MASK;
      sums[i] = (sums[i] + (key & 0xffffffffn) * (key >> 32n)) & MASK;
    }
  };
  const stripes = Math.floor((size - 1) / 64);
  for (let stripe = 0; stripe < stripes; stripe++) {
    add(64 * stripe, 8 * (stripe % 16));
    if (stripe % 16 === 15) sums.forEach((s, i) => (sums[i] = ((s ^ (s >> 47n) ^ secret(128 + 8 * i)) * P32[0]) & MASK));
  }
  add(size - 64, 121);
  for (let i = 0; i < 4; i++) sum += folded(sums[2 * i] ^ secret(11 + 16 * i), sums[2 * i + 1] ^ secret(19 + 16 * i));
  return mixed(sum & MASK);
}

const bytesOf = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const ascii = (json) => json.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The file as bytes. `arrays` is a list of {name, type, shape, array}; the largest types come first. */
function container(facts, unordered) {
  const widthOf = (one) => one.array.BYTES_PER_ELEMENT;
  const arrays = [...unordered].sort((a, b) => widthOf(b) - widthOf(a) || (a.name < b.name ? -1 : 1));
  const tensors = {};
  const header = {};
  let end = 0;
  for (const { name, type, shape, array } of arrays) {
    tensors[name] = { dtype: type, shape, xxh3: xxh3(bytesOf(array)) };
    header[name] = { dtype: type, shape, data_offsets: [end, (end += array.byteLength)] };
  }
  const told = ascii(JSON.stringify({ format: 1, version: VERSION, facts, tensors }));
  const encoder = new TextEncoder();
  const checksum = xxh3(encoder.encode(told));
  let text = ascii(JSON.stringify({ __metadata__: { markone: told, checksum }, ...header }));
  text += " ".repeat((8 - (text.length % 8)) % 8);
  const size = new Uint8Array(8);
  new DataView(size.buffer).setBigUint64(0, BigInt(text.length), true);
  const pieces = [size, encoder.encode(text), ...arrays.map((one) => bytesOf(one.array))];
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  pieces.reduce((at, piece) => (whole.set(piece, at), at + piece.length), 0);
  return whole;
}

/** Names as bytes, one after the other, and where each begins. */
function blob(names) {
  const pieces = names.map((name) => new TextEncoder().encode(name));
  const starts = new Int32Array(names.length + 1);
  pieces.forEach((piece, i) => (starts[i + 1] = starts[i] + piece.length));
  const bytes = new Uint8Array(starts.at(-1));
  pieces.forEach((piece, i) => bytes.set(piece, starts[i]));
  return { bytes, starts };
}

const labelOf = (name) => (/^[+−-]?\d{1,15}$/.test(name) ? Number(name.replace("−", "-")) : name);

/** A model with the given numbers of a run. Numbers in the file have 32 bits, as all weights of Markone's models. */
export function modelFile(run, numbers, { averaged = false, ofTexts = false } = {}) {
  const { examples, settings } = run;
  const names = examples.bias ? examples.names.slice(0, -1) : examples.names;
  const width = names.length;
  const classes = examples.classes.length;
  const columns = classes === 2 ? 1 : classes;
  const counts = examples.classes.map((_, k) => examples.rows.filter((row) => row.y === k).length);
  const f32 = (name, shape, of) => ({ name, type: "F32", shape, array: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, of) });
  let own, scorer = null, special;
  if (run.isNetwork) {
    const { hidden, inputs } = run.learner;
    const second = hidden * (inputs + 1);
    own = [
      f32("scorer.bias0", [hidden], (_, j) => numbers[j * (inputs + 1) + inputs]),
      f32("scorer.bias1", [columns], (_, k) => numbers[second + k * (hidden + 1) + hidden]),
      f32("scorer.weights0", [inputs, hidden], (_, i) => numbers[(i % hidden) * (inputs + 1) + Math.floor(i / hidden)]),
      f32("scorer.weights1", [hidden, columns], (_, i) => numbers[second + (i % columns) * (hidden + 1) + Math.floor(i / columns)]),
    ];
    scorer = { kind: "network", activation: settings.activation };
    special = { eta: settings.eta, hidden: [hidden], activation: settings.activation, optimizer: "sgd", batch: 1 };
  } else {
    const at = (k, i) => numbers[(classes === 2 ? 1 : k) * examples.names.length + i];
    own = [
      f32("bias", [columns], (_, k) => (examples.bias ? at(k, width) : 0)),
      f32("weights", [width, columns], (_, i) => at(i % columns, Math.floor(i / columns))),
    ];
    special = {
      ...(settings.rule === "mira" ? { C: settings.C } : { eta: settings.eta }),
      ...(settings.form !== "label" && ["perceptron", "mira"].includes(settings.rule) ? { form: settings.form } : {}),
      ...(settings.update !== "margin" && settings.rule === "mira" ? { update: settings.update } : {}),
      ...(settings.rule === "logistic" ? { solver: "online", schedule: "constant" } : {}),
      average: averaged,
      tie: settings.tie,
      bias: examples.bias,
    };
  }
  const passes = [];
  run.steps.forEach((step) => {
    const one = (passes[step.pass - 1] ??= { epoch: step.pass, mistakes: 0, updates: 0, loss: 0, norm2: 0 });
    one.mistakes += step.wrong ? 1 : 0;
    one.updates += step.at.length ? 1 : 0;
    one.loss += step.loss;
    one.norm2 = step.norm2;
  });
  const none = { holdout_last: null, holdout_averaged: null, objective: null, gap: null };
  const facts = {
    kind: "classifier",
    settings: { rule: settings.rule, epochs: settings.passes, order: settings.order, seed: settings.seed, ...special },
    classes: examples.classes.map(labelOf),
    history: {
      passes: passes.map((one) => ({ ...one, ...none })),
      stopped: run.stopped === "converged" ? "converged" : "epochs",
      best_epoch: null,
      rows: examples.rows.length,
      held_out: examples.held.length,
      unlabelled: 0,
      majority: Math.max(...counts) / examples.rows.length,
      bounds: null,
    },
    target: "label",
    reading: {},
    features: {
      spec: ofTexts ? OF_TEXTS : OF_NUMBERS,
      unit: false,
      columns: ofTexts ? [["text", "text"]] : names.map((name) => [name, "numeric"]),
      widths: [width],
      part0: ofTexts ? { features: width } : {},
    },
    counts: null,
    resume: null,
    scorer,
  };
  return container(facts, ofTexts ? [...wordArrays(names), ...own] : [...numberArrays(width), ...own]);
}

/** What the feature map of words has learned. The first of each pair says that nothing stands before the word. */
function wordArrays(names) {
  const { bytes, starts } = blob(names);
  const grams = Uint32Array.from({ length: 2 * names.length }, (_, i) => (i % 2 ? (i - 1) / 2 : 2 ** 32 - 1));
  return [
    { name: "features.part0.grams", type: "U32", shape: [names.length, 2], array: grams },
    { name: "features.part0.words_offsets", type: "I32", shape: [starts.length], array: starts },
    { name: "features.part0.words", type: "U8", shape: [bytes.length], array: bytes },
  ];
}

/** What the feature map of numbers has learned: no shift, no scaling, and 0 for a missing number. */
function numberArrays(width) {
  const f64 = (name, value) => ({
    name: `features.part0.${name}`, type: "F64", shape: [width], array: new Float64Array(width).fill(value),
  });
  const none = { name: "features.part0.indicators", type: "I64", shape: [0], array: new BigInt64Array(0) };
  return [f64("center", 0), f64("spread", 1), f64("fill", 0), none];
}
