// The retina: 20×20 photocells to draw on, with the mouse, a finger or the keyboard.

import { SIDE } from "../learn/machine.js";
import * as words from "../words.js";
import { element } from "./shapes.js";

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-SIDE, 0], End: [SIDE, 0] };
const inside = (place) => Math.max(0, Math.min(SIDE - 1, place));

/** A table of cells, of which one can have the focus. `cellsNow()` are the cells; `onPaint(cells, value)` is called with
 * those that change. */
export class Retina {
  constructor(root, cellsNow, onPaint) {
    Object.assign(this, { root, cellsNow, onPaint });
    this.at = 0;
    this.cells = [];
    for (let y = 0; y < SIDE; y++) {
      const row = element("div", { role: "row" });
      for (let x = 0; x < SIDE; x++) {
        const cell = element("div", { role: "gridcell", tabIndex: -1, ariaLabel: words.CELL(y * SIDE + x), ariaSelected: "false" });
        this.cells.push(cell);
        row.append(cell);
      }
      root.append(row);
    }
    this.cells[0].tabIndex = 0;
    this.lit = new Uint8Array(this.cells.length);
    this.marked = [];
    this.listen();
  }

  update(cells, unit) {
    this.cells.forEach((cell, i) => {
      if (cells[i] !== this.lit[i]) cell.ariaSelected = String(Boolean(cells[i]));
    });
    this.lit = cells;
    for (const cell of this.marked) delete cell.dataset.wire;
    const mark = (sign) => (i) => {
      this.cells[i].dataset.wire = sign;
      return this.cells[i];
    };
    this.marked = unit ? [...unit.plus.map(mark("+")), ...unit.minus.map(mark("−"))] : [];
  }

  focus(to) {
    this.cells[this.at].tabIndex = -1;
    this.at = to;
    this.cells[to].tabIndex = 0;
    this.cells[to].focus();
  }

  listen() {
    const { root } = this;
    root.addEventListener("keydown", (event) => {
      const { key } = event;
      const [x, y] = [this.at % SIDE, Math.floor(this.at / SIDE)];
      if (STEPS[key]) {
        this.focus(inside(y + STEPS[key][1]) * SIDE + inside(x + STEPS[key][0]));
        if (event.shiftKey) this.onPaint([this.at], 1);
      } else if (key === " " || key === "Enter") this.onPaint([this.at], 1 - this.cellsNow()[this.at]);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });

    let brush = null;
    const placeOf = ({ clientX, clientY }) => {
      const box = root.getBoundingClientRect();
      return [inside(Math.floor(((clientX - box.left) / box.width) * SIDE)), inside(Math.floor(((clientY - box.top) / box.height) * SIDE))];
    };
    root.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      root.setPointerCapture(event.pointerId);
      const [x, y] = placeOf(event);
      brush = { x, y, value: 1 - this.cellsNow()[y * SIDE + x] };
      this.onPaint([y * SIDE + x], brush.value);
      this.focus(y * SIDE + x);
      event.preventDefault();
    });
    root.addEventListener("pointermove", (event) => {
      if (!brush) return;
      // A fast pointer skips cells: paint all cells on the way.
      const [x, y] = placeOf(event);
      const steps = Math.max(Math.abs(x - brush.x), Math.abs(y - brush.y));
      const way = Array.from({ length: steps }, (_, i) => {
        const part = (i + 1) / steps;
        return Math.round(brush.y + part * (y - brush.y)) * SIDE + Math.round(brush.x + part * (x - brush.x));
      });
      if (steps) this.onPaint(way, brush.value);
      Object.assign(brush, { x, y });
    });
    for (const end of ["pointerup", "pointercancel"]) root.addEventListener(end, () => (brush = null));
  }
}
