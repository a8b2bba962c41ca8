// The plane: regions and points on canvases; lines, arrows and marks in SVG above them; a button for each point, so
// that the keyboard reaches it. Drawing computes no learning: it shows the numbers that it is given.

import { BIAS, chosenFeatures, isStraight, rowOf } from "../learn/features.js";
import * as words from "../words.js";
import { colourOf, cornersOf, element, fitted, svgElement } from "./shapes.js";

const CELLS = 72;
const MOST_SPOTS = 200;
const NEAR = 14;
const SHADE = 0.14;

export class Plane {
  constructor(root, { onEdit = null } = {}) {
    this.root = root;
    this.onEdit = onEdit;
    this.field = element("canvas");
    this.dots = element("canvas");
    this.small = element("canvas", { width: CELLS, height: CELLS });
    this.svg = svgElement("svg", { "aria-hidden": "true" });
    this.spots = element("div", { className: "spots" });
    this.caption = element("figcaption");
    root.append(this.field, this.dots, this.svg, this.spots, this.caption);
    this.parts = {};
    for (const name of ["all-rows", "best", "before", "averaged", "boundary"]) this.parts[name] = svgElement("path", { class: name });
    for (const name of ["arrows", "marks"]) this.parts[name] = svgElement("g");
    this.parts.reach = svgElement("line", { class: "reach" });
    this.parts.reachText = svgElement("text");
    this.parts.ring = svgElement("circle", { class: "ring", r: 12 });
    this.parts.right = svgElement("text", { class: "axis", "text-anchor": "end" });
    this.parts.top = svgElement("text", { class: "axis" });
    this.svg.append(...Object.values(this.parts));
    this.seen = {};
    this.width = this.height = 0;
    new ResizeObserver(() => this.measure()).observe(root);
    if (onEdit) this.listen();
  }

  measure() {
    const { clientWidth, clientHeight } = this.root;
    if (clientWidth === this.width && clientHeight === this.height) return;
    [this.width, this.height] = [clientWidth, clientHeight];
    for (const canvas of [this.field, this.dots]) fitted(canvas, clientWidth, clientHeight);
    this.seen = {};
    if (this.last) this.update(this.last);
  }

  forgetColours() {
    this.colours = this.rgb = null;
    this.seen = {};
  }

  // ---- places

  toX(x1) {
    const [low, high] = this.domain.x;
    return ((x1 - low) / (high - low)) * this.width;
  }

  toY(x2) {
    const [low, high] = this.domain.y;
    return this.height - ((x2 - low) / (high - low)) * this.height;
  }

  fromPixels(x, y) {
    const { x: across, y: up } = this.domain;
    const digits = (value, size) => Number(value.toFixed(Math.max(0, Math.min(12, 3 - Math.floor(Math.log10(size))))));
    return {
      x1: digits(across[0] + (x / this.width) * (across[1] - across[0]), across[1] - across[0]),
      x2: digits(up[0] + ((this.height - y) / this.height) * (up[1] - up[0]), up[1] - up[0]),
    };
  }

  // ---- drawing

  update(what) {
    this.last = what;
    if (this.width === 0 || this.root.hidden) return;
    const { view, moment, show, caption } = what;
    const { state, prepared, certificate } = view;
    this.domain = state.domain;
    this.colours ??= Array.from({ length: 8 }, (_, k) => colourOf(`class${k}`, this.caption));
    this.caption.textContent = caption;
    this.caption.hidden = !caption;
    const numbers = show === "average" ? moment.average : moment.after;
    const straight = isStraight(state.features) && !moment.run.isNetwork && moment.run.learner.classes === 2;
    this.nameAxes(state);
    this.drawField(moment.run, numbers, straight, state);
    this.drawDots(prepared, state.classes);
    const line = (run, values) => (values === null ? "" : straight ? this.straightLine(run, values) : this.contours(run, values, state));
    const set = (name, d) => this.parts[name].setAttribute("d", d);
    set("boundary", line(moment.run, numbers));
    set("before", show === "average" || moment.number === 0 || moment.step.at.length === 0 ? "" : line(moment.run, moment.before));
    set("averaged", state.average && show !== "average" && !moment.run.isNetwork && moment.number > 0 ? line(moment.run, moment.average) : "");
    const best = state.proof && certificate?.separable && !moment.run.isNetwork ? this.asNumbers(moment.run, certificate.w) : null;
    set("best", line(moment.run, best));
    const all = what.whole && !moment.run.isNetwork ? Float64Array.from(what.whole) : null;
    set("all-rows", line(moment.run, all));
    this.drawArrows(moment.run, numbers, state);
    this.drawExample(view, moment, straight);
    this.drawMarks(view);
    if (this.onEdit) this.placeSpots(prepared, state.classes);
  }

  /** The weights of a certificate in the form of a run. */
  asNumbers(run, w) {
    const numbers = new Float64Array(run.start.length);
    numbers.set(w, numbers.length - w.length);
    return numbers;
  }

  drawAxes(pen) {
    const [x, y] = [this.toX(0), this.toY(0)];
    pen.strokeStyle = colourOf("line", this.caption);
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(0, y);
    pen.lineTo(this.width, y);
    pen.moveTo(x, 0);
    pen.lineTo(x, this.height);
    pen.stroke();
  }

  nameAxes(state) {
    if (this.seen.axes === state.domain && this.seen.columns === state.columns) return;
    this.seen.axes = state.domain;
    this.seen.columns = state.columns;
    const x = this.toX(0);
    const y = this.toY(0);
    Object.entries({ right: [this.width - 6, Math.min(this.height - 6, Math.max(14, y - 5)), state.columns[0]], top: [Math.min(this.width - 60, Math.max(6, x + 5)), this.height - 8, state.columns[1]] }).forEach(
      ([name, [left, top, text]]) => {
        this.parts[name].setAttribute("x", left);
        this.parts[name].setAttribute("y", top);
        this.parts[name].textContent = words.label(text);
      },
    );
    this.parts.top.setAttribute("y", 28);
  }

  drawField(run, numbers, straight, state) {
    const key = [run, state.domain, state.features, this.width, this.height];
    const same = this.seen.field?.every((one, i) => one === key[i]) && this.seen.numbers.every((value, i) => value === numbers[i]);
    if (same) return;
    this.seen.field = key;
    this.seen.numbers = Float64Array.from(numbers);
    const pen = this.field.getContext("2d");
    pen.clearRect(0, 0, this.width, this.height);
    if (!numbers.every(Number.isFinite)) return;
    pen.globalAlpha = SHADE;
    if (straight) {
      const { a, b, c } = lineOf(run, numbers);
      if (a === 0 && b === 0 && c === 0) return;
      const corners = [[0, 0], [this.width, 0], [this.width, this.height], [0, this.height]];
      const score = ([x, y]) => {
        const p = this.exact(x, y);
        return a * p.x1 + b * p.x2 + c;
      };
      for (const [k, sign] of [[0, -1], [1, 1]]) {
        const shape = clip(corners, (corner) => sign * score(corner));
        if (shape.length < 3) continue;
        pen.fillStyle = this.colours[k];
        pen.beginPath();
        shape.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
        pen.fill();
      }
    } else if (numbers.some((value) => value !== 0)) {
      const scores = this.gridScores(run, numbers, state);
      const small = this.small.getContext("2d");
      const image = small.createImageData(CELLS, CELLS);
      const rgb = (this.rgb ??= this.colours.map(toRgb));
      for (let i = 0; i < CELLS; i++) {
        for (let j = 0; j < CELLS; j++) {
          const at = i * (CELLS + 1) + j;
          let best = 0;
          for (let k = 1; k < scores.length; k++) if (middle(scores[k], at) > middle(scores[best], at)) best = k;
          image.data.set([...rgb[best % 8], 255], 4 * (i * CELLS + j));
        }
      }
      small.putImageData(image, 0, 0);
      pen.imageSmoothingEnabled = true;
      pen.drawImage(this.small, 0, 0, this.width, this.height);
    }
    pen.globalAlpha = 1;
  }

  exact(x, y) {
    const { x: across, y: up } = this.domain;
    return { x1: across[0] + (x / this.width) * (across[1] - across[0]), x2: up[1] - (y / this.height) * (up[1] - up[0]) };
  }

  /** The scores of each class at the corners of a grid, row by row from the top. */
  gridScores(run, numbers, state) {
    const bias = run.examples.names.at(-1) === BIAS;
    if (this.seen.rows?.domain !== state.domain || this.seen.rows.features !== state.features || this.seen.rows.bias !== bias) {
      const features = chosenFeatures(state.features);
      const rows = [];
      for (let i = 0; i <= CELLS; i++) {
        for (let j = 0; j <= CELLS; j++) {
          const { x1, x2 } = this.exact((j * this.width) / CELLS, (i * this.height) / CELLS);
          rows.push(rowOf(x1, x2, 0, features, bias));
        }
      }
      this.seen.rows = { domain: state.domain, features: state.features, bias, rows };
    }
    const grids = run.examples.classes.map(() => new Float64Array((CELLS + 1) ** 2));
    this.seen.rows.rows.forEach((row, i) => run.learner.scores(row, numbers).forEach((score, k) => (grids[k][i] = score)));
    return grids;
  }

  straightLine(run, numbers) {
    const { a, b, c } = lineOf(run, numbers);
    if ((a === 0 && b === 0) || ![a, b, c].every(Number.isFinite)) return "";
    const ends = [];
    const [x, y] = [this.domain.x, this.domain.y];
    const reach = 1e-9;
    if (b !== 0) for (const x1 of x) ends.push([x1, -(a * x1 + c) / b]);
    if (a !== 0) for (const x2 of y) ends.push([-(b * x2 + c) / a, x2]);
    const inside = ends.filter(([x1, x2]) => x1 >= x[0] - reach * Math.abs(x[0]) && x1 <= x[1] + reach * Math.abs(x[1]) && x2 >= y[0] - reach * Math.abs(y[0]) && x2 <= y[1] + reach * Math.abs(y[1]));
    if (inside.length < 2) return "";
    const first = inside[0];
    const far = inside.reduce((best, one) => (Math.hypot(one[0] - first[0], one[1] - first[1]) > Math.hypot(best[0] - first[0], best[1] - first[1]) ? one : best));
    return `M${this.toX(first[0])} ${this.toY(first[1])}L${this.toX(far[0])} ${this.toY(far[1])}`;
  }

  /** Where the best two classes have the same score, by marching squares. */
  contours(run, numbers, state) {
    if (!numbers.every(Number.isFinite) || numbers.every((value) => value === 0)) return "";
    const scores = this.gridScores(run, numbers, state);
    const [w, h] = [this.width / CELLS, this.height / CELLS];
    const pieces = [];
    for (let a = 0; a < scores.length; a++) {
      for (let b = a + 1; b < scores.length; b++) {
        for (let i = 0; i < CELLS; i++) {
          for (let j = 0; j < CELLS; j++) {
            const at = i * (CELLS + 1) + j;
            const corners = [at, at + 1, at + CELLS + 2, at + CELLS + 1];
            const v = corners.map((corner) => scores[b][corner] - scores[a][corner]);
            if (v[0] > 0 === v[1] > 0 && v[0] > 0 === v[2] > 0 && v[0] > 0 === v[3] > 0) continue;
            const top = Math.max(middle(scores[a], at), middle(scores[b], at));
            if (scores.some((grid, k) => k !== a && k !== b && middle(grid, at) > top)) continue;
            const places = [[0, 0], [1, 0], [1, 1], [0, 1]];
            const crossings = [];
            for (let e = 0; e < 4; e++) {
              const f = (e + 1) % 4;
              if (v[e] > 0 === v[f] > 0) continue;
              const part = v[e] / (v[e] - v[f]);
              crossings.push([j + places[e][0] + part * (places[f][0] - places[e][0]), i + places[e][1] + part * (places[f][1] - places[e][1])]);
            }
            for (let e = 0; e + 1 < crossings.length; e += 2) {
              pieces.push([crossings[e], crossings[e + 1]].map(([x, y]) => `${(x * w).toFixed(1)} ${(y * h).toFixed(1)}`));
            }
          }
        }
      }
    }
    return joined(pieces);
  }

  drawDots(prepared, classes) {
    if (this.seen.prepared === prepared && this.seen.dots === this.domain) return;
    this.seen.prepared = prepared;
    this.seen.dots = this.domain;
    const pen = this.dots.getContext("2d");
    pen.clearRect(0, 0, this.width, this.height);
    this.drawAxes(pen);
    const radius = prepared.length > 400 ? 3.2 : prepared.length > 100 ? 4.5 : 6.5;
    pen.lineWidth = 1.6;
    for (const p of prepared) {
      const [x, y] = [this.toX(p.x1), this.toY(p.x2)];
      pen.beginPath();
      const corners = cornersOf(p.y);
      if (corners === null) pen.arc(x, y, radius, 0, 2 * Math.PI);
      else corners.forEach(([dx, dy], i) => (i ? pen.lineTo(x + radius * dx, y + radius * dy) : pen.moveTo(x + radius * dx, y + radius * dy)));
      pen.closePath();
      if (p.held) {
        pen.strokeStyle = this.colours[p.y % 8];
        pen.stroke();
      } else {
        pen.fillStyle = this.colours[p.y % 8];
        pen.fill();
      }
    }
  }

  drawArrows(run, numbers, state) {
    const { arrows } = this.parts;
    arrows.replaceChildren();
    if (run.isNetwork || !isStraight(state.features) || !numbers.every(Number.isFinite)) return;
    const names = run.examples.names;
    const size = names.length;
    const at = (k, name) => (names.includes(name) ? numbers[k * size + names.indexOf(name)] : 0);
    const vectors = run.learner.moving.map((k) => ({ k, w1: at(k, "x1"), w2: at(k, "x2"), c: at(k, BIAS) }));
    const pixels = ({ w1, w2 }) => [(w1 / (this.domain.x[1] - this.domain.x[0])) * this.width, (-w2 / (this.domain.y[1] - this.domain.y[0])) * this.height];
    const longest = Math.max(...vectors.map((v) => Math.hypot(...pixels(v))));
    if (!(longest > 0)) return;
    const most = 0.3 * Math.min(this.width, this.height);
    const scale = Math.min(1, most / longest) * Math.max(1, 26 / longest);
    for (const v of vectors) {
      const [dx, dy] = pixels(v).map((one) => one * scale);
      const length = Math.hypot(dx, dy);
      if (length < 1) continue;
      let [x1, x2] = [0, 0];
      if (vectors.length === 1) {
        const middleOf = ([low, high]) => (low <= 0 && high >= 0 ? 0 : (low + high) / 2);
        [x1, x2] = [middleOf(this.domain.x), middleOf(this.domain.y)];
        const far = (v.w1 * x1 + v.w2 * x2 + v.c) / (v.w1 * v.w1 + v.w2 * v.w2);
        x1 -= far * v.w1;
        x2 -= far * v.w2;
      }
      const [x, y] = [this.toX(x1), this.toY(x2)];
      const [ux, uy] = [dx / length, dy / length];
      const tip = `M${x + dx} ${y + dy}l${-9 * ux - 5 * uy} ${-9 * uy + 5 * ux}M${x + dx} ${y + dy}l${-9 * ux + 5 * uy} ${-9 * uy - 5 * ux}`;
      const colour = vectors.length === 1 ? "var(--ink)" : `var(--class${v.k % 8})`;
      arrows.append(svgElement("path", { class: "arrow", stroke: colour, d: `M${x} ${y}L${x + dx} ${y + dy}${tip}` }));
      const name = svgElement("text", { x: x + dx + 10 * ux - 4, y: y + dy + 12 * uy + 4 });
      name.textContent = vectors.length === 1 ? "w" : `w ${words.label(run.examples.classes[v.k])}`;
      arrows.append(name);
    }
  }

  drawExample({ prepared, examples }, moment, straight) {
    const { reach, reachText, ring } = this.parts;
    const p = moment.step ? prepared[examples.numbers[moment.step.row]] : null;
    ring.setAttribute("visibility", p ? "visible" : "hidden");
    for (const part of [reach, reachText]) part.setAttribute("visibility", "hidden");
    if (!p) return;
    const [x, y] = [this.toX(p.x1), this.toY(p.x2)];
    ring.setAttribute("cx", x);
    ring.setAttribute("cy", y);
    ring.setAttribute("stroke", moment.step.wrong ? "var(--wrong)" : "var(--right)");
    if (!straight) return;
    const { a, b, c } = lineOf(moment.run, moment.before);
    const size2 = a * a + b * b;
    if (!(size2 > 0) || !Number.isFinite(size2)) return;
    const far = (a * p.x1 + b * p.x2 + c) / size2;
    const [fx, fy] = [this.toX(p.x1 - far * a), this.toY(p.x2 - far * b)];
    for (const [name, value] of [["x1", x], ["y1", y], ["x2", fx], ["y2", fy]]) reach.setAttribute(name, value);
    reach.setAttribute("visibility", "visible");
    const margin = (p.y === 1 ? 1 : -1) * far * Math.sqrt(size2);
    const right = (x + fx) / 2 > this.width - 110;
    reachText.setAttribute("x", (x + fx) / 2 + (right ? -8 : 8));
    reachText.setAttribute("y", Math.min(this.height - 8, Math.max(30, (y + fy) / 2 - 8)));
    reachText.setAttribute("text-anchor", right ? "end" : "start");
    reachText.textContent = `margin ${words.number(margin)}`;
    reachText.setAttribute("visibility", "visible");
  }

  drawMarks({ state, certificate, prepared, examples }) {
    const { marks } = this.parts;
    const rows = state.proof && certificate ? (certificate.proof ?? certificate.support ?? []) : [];
    const name = certificate?.proof ? "proof-mark" : "support-mark";
    marks.replaceChildren(
      ...[...new Set(rows.map((one) => one.row))].map((row) => {
        const p = prepared[examples.numbers[row]];
        return svgElement("rect", { class: name, x: this.toX(p.x1) - 13, y: this.toY(p.x2) - 13, width: 26, height: 26, rx: 4 });
      }),
    );
  }

  // ---- editing

  placeSpots(prepared, classes) {
    const key = [prepared, this.domain, this.width];
    if (this.seen.spots?.every((one, i) => one === key[i])) return;
    this.seen.spots = key;
    const count = prepared.length > MOST_SPOTS ? 0 : prepared.length;
    while (this.spots.children.length > count) this.spots.lastChild.remove();
    while (this.spots.children.length < count) this.spots.append(element("button", { type: "button" }));
    for (let i = 0; i < count; i++) {
      const spot = this.spots.children[i];
      spot.style.left = `${this.toX(prepared[i].x1)}px`;
      spot.style.top = `${this.toY(prepared[i].x2)}px`;
      spot.setAttribute("aria-label", words.POINT(i, prepared[i], classes));
    }
  }

  focusSpot(i) {
    this.spots.children[Math.max(0, Math.min(i, this.spots.children.length - 1))]?.focus();
  }

  nearest(x, y) {
    let best = -1;
    let least = NEAR;
    this.last.view.prepared.forEach((p, i) => {
      const far = Math.hypot(this.toX(p.x1) - x, this.toY(p.x2) - y);
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }

  listen() {
    let drag = null;
    const place = (event) => {
      const box = this.root.getBoundingClientRect();
      return [event.clientX - box.left - this.root.clientLeft, event.clientY - box.top - this.root.clientTop];
    };
    this.root.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.last) return;
      const [x, y] = place(event);
      const { tool } = this.last.view.state;
      drag = { x, y, i: tool === "move" ? this.nearest(x, y) : -1, moved: false, tool };
      this.root.setPointerCapture(event.pointerId);
      if (tool === "paint") this.onEdit({ type: "add", at: this.fromPixels(x, y) });
      if (tool === "erase") this.onEdit({ type: "remove", i: this.nearest(x, y) });
      event.preventDefault();
    });
    this.root.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      if (!drag) {
        this.root.style.cursor = this.last && this.nearest(x, y) >= 0 ? "grab" : "crosshair";
        return;
      }
      if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
      drag.moved = true;
      if (drag.i >= 0) {
        const clamp = (value, most) => Math.max(0, Math.min(most, value));
        this.onEdit({ type: "move", i: drag.i, at: this.fromPixels(clamp(x, this.width), clamp(y, this.height)) });
      } else if (drag.tool === "paint" && Math.hypot(x - drag.x, y - drag.y) > 16) {
        [drag.x, drag.y] = [x, y];
        this.onEdit({ type: "add", at: this.fromPixels(x, y) });
      } else if (drag.tool === "erase") this.onEdit({ type: "remove", i: this.nearest(x, y) });
    });
    this.root.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved && drag.tool === "move") {
        if (drag.i >= 0) this.onEdit({ type: "relabel", i: drag.i });
        else this.onEdit({ type: "add", at: this.fromPixels(...place(event)) });
      }
      drag = null;
    });
    this.root.addEventListener("pointercancel", () => (drag = null));
    this.spots.addEventListener("keydown", (event) => {
      const i = [...this.spots.children].indexOf(event.target);
      if (i < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      const far = event.shiftKey ? 0.05 : 0.01;
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (steps) {
        const p = this.last.view.state.points[i];
        const [x, y] = [this.toX(p.x1) + steps[0] * far * this.width, this.toY(p.x2) + steps[1] * far * this.height];
        this.onEdit({ type: "move", i, at: this.fromPixels(x, y), said: true });
      } else if (event.key === "Enter") this.onEdit({ type: "relabel", i, next: true });
      else if (event.key === "Delete" || event.key === "Backspace") this.onEdit({ type: "remove", i, focus: i });
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
}

/** The line a·x1 + b·x2 + c = 0 of a run with two classes. */
function lineOf(run, numbers) {
  const w = run.vector(numbers);
  const { names } = run.examples;
  const at = (name) => (names.includes(name) ? w[names.indexOf(name)] : 0);
  return { a: at("x1"), b: at("x2"), c: at(BIAS) };
}

/** Pieces of lines, each of two points, as a path of long lines, so that dashes are not interrupted. */
function joined(pieces) {
  const ends = new Map();
  const add = (point, piece) => (ends.has(point) ? ends.get(point).push(piece) : ends.set(point, [piece]));
  for (const piece of pieces) piece.forEach((point) => add(point, piece));
  const used = new Set();
  const follow = (point) => {
    const line = [];
    for (;;) {
      const next = ends.get(point).find((piece) => !used.has(piece));
      if (!next) return line;
      used.add(next);
      point = next[0] === point ? next[1] : next[0];
      line.push(point);
    }
  };
  let path = "";
  for (const piece of pieces) {
    if (used.has(piece)) continue;
    used.add(piece);
    path += `M${[...follow(piece[0]).reverse(), ...piece, ...follow(piece[1])].join("L")}`;
  }
  return path;
}

/** The part of a polygon on which a linear function is positive (Sutherland and Hodgman). */
function clip(corners, score) {
  const kept = [];
  corners.forEach((corner, i) => {
    const next = corners[(i + 1) % corners.length];
    const [here, there] = [score(corner), score(next)];
    if (here >= 0) kept.push(corner);
    if (here >= 0 !== there >= 0) {
      const part = here / (here - there);
      kept.push([corner[0] + part * (next[0] - corner[0]), corner[1] + part * (next[1] - corner[1])]);
    }
  });
  return kept;
}

const middle = (grid, at) => grid[at] + grid[at + 1] + grid[at + CELLS + 1] + grid[at + CELLS + 2];

function toRgb(colour) {
  const pen = element("canvas", { width: 1, height: 1 }).getContext("2d");
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}
