// The patchboard and the bank of potentiometers of the Mark I, on canvases.

import { CELLS, SIDE } from "../learn/machine.js";
import { colourOf, element, fitted } from "./shapes.js";

const DIAL = 18; // the largest size of a potentiometer, and the smallest that can be read
const SMALL_DIAL = 15;
const TURN = (3 / 4) * Math.PI; // from the middle to the end of the scale
const STEPS = { ArrowLeft: () => -1, ArrowRight: () => 1, ArrowUp: (columns) => -columns, ArrowDown: (columns) => columns, Home: () => -Infinity, End: () => Infinity };
const still = matchMedia("(prefers-reduced-motion: reduce)");

class Drawing {
  constructor(root, names) {
    this.root = root;
    this.names = names;
    this.canvas = element("canvas");
    root.append(this.canvas);
    new ResizeObserver(() => root.clientWidth !== this.width && this.again()).observe(root);
  }

  forgetColours() {
    this.colours = null;
    this.again();
  }

  again() {
    if (this.last && this.root.clientWidth > 0) this.update(this.last);
  }

  /** The context of the canvas, empty, at the given size. */
  prepare(height) {
    this.colours ??= Object.fromEntries(this.names.map((name) => [name, colourOf(name, this.root)]));
    if (this.width !== this.root.clientWidth || this.height !== height) {
      [this.width, this.height] = [this.root.clientWidth, height];
      this.canvas.style.height = `${height}px`;
      this.context = fitted(this.canvas, this.width, height);
    }
    this.context.clearRect(0, 0, this.width, height);
    return this.context;
  }
}

/** Sockets of the cells on the left and of the units on the right. A thin cable goes to each active unit from one of
 * the lit cells that excite it. The chosen unit shows all of its cables; those that inhibit it are dashed. */
export class Patchboard extends Drawing {
  constructor(root) {
    super(root, ["quiet", "line", "accent", "wrong", "class4"]);
  }

  update(what) {
    this.last = what;
    const { machine, wires, activity } = what;
    const height = this.root.clientHeight;
    const context = this.prepare(height);
    const { colours, width } = this;
    const field = width * 0.3;
    const count = wires.units.length;
    const columns = count === CELLS ? SIDE : 16;
    const rows = count / columns;
    const ofCell = (i) => [6 + ((i % SIDE) / (SIDE - 1)) * field, 8 + (Math.floor(i / SIDE) / (SIDE - 1)) * (height - 16)];
    const ofUnit = (i) => [width - 6 - field + ((i % columns) / (columns - 1)) * field, 8 + (Math.floor(i / columns) / (rows - 1)) * (height - 16)];
    const dots = (total, placeOf, isOn) => {
      for (let i = 0; i < total; i++) {
        const [x, y] = placeOf(i);
        context.fillStyle = isOn(i) ? colours.accent : colours.line;
        context.fillRect(x - 1, y - 1, isOn(i) ? 2.5 : 2, isOn(i) ? 2.5 : 2);
      }
    };
    const cable = (cell, unit) => {
      const [x1, y1] = ofCell(cell);
      const [x2, y2] = ofUnit(unit);
      const low = Math.max(y1, y2) + 0.06 * height;
      context.beginPath();
      context.moveTo(x1, y1);
      context.bezierCurveTo(x1 + (x2 - x1) / 3, low, x2 - (x2 - x1) / 3, low, x2, y2);
      context.stroke();
    };
    const active = new Set(activity.at);
    context.strokeStyle = colours.class4;
    context.globalAlpha = machine.unit === null ? 0.4 : 0.12;
    context.lineWidth = 1;
    for (const i of activity.at) cable(wires.units[i].plus.find((cell) => machine.cells[cell]), i);
    context.globalAlpha = 1;
    dots(CELLS, ofCell, (i) => machine.cells[i]);
    dots(count, ofUnit, (i) => active.has(i));
    if (machine.unit === null) return;
    context.lineWidth = 1.6;
    context.strokeStyle = colours.accent;
    for (const cell of wires.units[machine.unit].plus) cable(cell, machine.unit);
    context.strokeStyle = colours.wrong;
    context.setLineDash([4, 3]);
    for (const cell of wires.units[machine.unit].minus) cable(cell, machine.unit);
    context.setLineDash([]);
  }
}

/** A dial for each weight: its pointer stands upright at 0 and turns by 135° to `scale` or −`scale`. Active units have
 * a ring. `chosen()` is the chosen unit or null; `onChoose` is called with the next one, and `onPoint` with the unit
 * under the mouse. */
export class Bank extends Drawing {
  constructor(root, { chosen, onChoose, onPoint }) {
    super(root, ["quiet", "line", "card", "ink", "accent", "class0", "class1"]);
    this.angles = [];
    const unitAt = (event) => {
      const { left, top } = this.canvas.getBoundingClientRect();
      const column = Math.floor((event.clientX - left - this.margin) / this.size);
      const unit = Math.floor((event.clientY - top) / this.size) * this.columns + column;
      return column >= 0 && column < this.columns && unit >= 0 && unit < this.count ? unit : null;
    };
    root.addEventListener("pointermove", (event) => onPoint(unitAt(event)));
    root.addEventListener("pointerleave", () => onPoint(null));
    root.addEventListener("click", (event) => {
      const unit = unitAt(event);
      onChoose(unit === chosen() ? null : unit);
    });
    root.addEventListener("keydown", (event) => {
      const unit = chosen();
      if (STEPS[event.key]) onChoose(unit === null ? 0 : Math.max(0, Math.min(this.count - 1, unit + STEPS[event.key](this.columns))));
      else if (event.key === "Escape") onChoose(null);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  update(what) {
    this.last = what;
    const { w } = what.machine;
    if (this.count !== w.length) {
      this.count = w.length;
      this.angles = new Float64Array(w.length);
    }
    this.draw();
  }

  /** Draws the dials; pointers that have not arrived yet turn a part of their way in each frame. */
  draw() {
    const { machine, activity, scale } = this.last;
    const { clientWidth } = this.root;
    const { count, angles } = this;
    this.columns = count === CELLS ? SIDE : Math.min(32, Math.floor(clientWidth / SMALL_DIAL));
    const size = (this.size = Math.min(DIAL, clientWidth / this.columns));
    this.margin = (clientWidth - size * this.columns) / 2;
    const context = this.prepare(Math.ceil(count / this.columns) * size);
    const { colours } = this;
    const active = new Set(activity.at);
    const turned = machine.last?.turned ? active : new Set();
    const radius = size * 0.41;
    let moving = false;
    for (let i = 0; i < count; i++) {
      const target = (machine.w[i] / scale) * TURN;
      const rest = target - angles[i];
      const arrived = still.matches || Math.abs(rest) < 0.01;
      angles[i] = arrived ? target : angles[i] + 0.2 * rest;
      moving ||= !arrived;
      const x = this.margin + ((i % this.columns) + 0.5) * size;
      const y = (Math.floor(i / this.columns) + 0.5) * size;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fillStyle = colours.card;
      context.fill();
      context.globalAlpha = Math.min(0.75, Math.abs(angles[i]) / TURN);
      context.fillStyle = angles[i] < 0 ? colours.class0 : colours.class1;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = active.has(i) ? colours.accent : colours.line;
      context.lineWidth = active.has(i) ? 1.6 : 1;
      context.stroke();
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + radius * Math.sin(angles[i]), y - radius * Math.cos(angles[i]));
      context.strokeStyle = machine.w[i] || turned.has(i) ? colours.ink : colours.quiet;
      context.lineWidth = turned.has(i) ? 2.2 : 1.2;
      context.stroke();
      if (i !== machine.unit) continue;
      context.strokeStyle = colours.ink;
      context.lineWidth = 2;
      context.strokeRect(x - size / 2 + 1, y - size / 2 + 1, size - 2, size - 2);
    }
    if (!moving || this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }
}
