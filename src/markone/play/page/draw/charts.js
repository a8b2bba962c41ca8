// Small line charts over the steps of a run, with a cursor at the current step.

import * as words from "../words.js";
import { element, svgElement } from "./shapes.js";

export class Chart {
  constructor(title) {
    this.cursor = svgElement("line", { class: "cursor", y1: 0, y2: 100 });
    this.lines = svgElement("g");
    this.svg = svgElement("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img" });
    this.svg.append(svgElement("path", { class: "frame", d: "M0 100H100" }), this.lines, this.cursor);
    this.legend = element("ul", { className: "legend" });
    this.note = element("p", { className: "note" });
    this.root = element("figure", { className: "chart" }, element("figcaption", { textContent: title }), this.svg, this.legend, this.note);
    this.title = title;
  }

  /** `series` are {name, style, values, percent}; `key` says when the lines have to be drawn again. */
  update({ key, places, last, series, at, top, note = "" }) {
    const shown = series.filter((one) => one.values.some((value) => value !== null));
    this.root.classList.toggle("empty", shown.length === 0);
    const toX = (place) => (last > 0 ? (100 * place) / last : 0);
    if (this.key !== key || this.count !== shown.length) {
      this.key = key;
      this.count = shown.length;
      const most = top ?? 1.05 * Math.max(1e-12, ...shown.filter((one) => !one.free).flatMap((one) => one.values.filter((value) => value !== null && Number.isFinite(value))));
      this.lines.replaceChildren(
        ...shown.map((one) => {
          let d = "";
          one.values.forEach((value, i) => {
            if (value === null || !Number.isFinite(value)) return;
            const y = 100 - (100 * value) / most;
            d += `${d ? "L" : "M"}${toX(places[i]).toFixed(2)} ${Math.max(-2, y).toFixed(2)}`;
          });
          return svgElement("path", { class: one.style, d });
        }),
      );
      this.legend.replaceChildren(...shown.map((one) => element("li", {}, element("i", { className: one.style }), `${one.name} `, element("b"))));
    }
    let index = places.findIndex((place) => place >= at);
    if (index < 0) index = places.length - 1;
    const texts = shown.map((one) => {
      const value = one.values[index] ?? null;
      return value === null ? "–" : one.percent ? words.share(value) : words.number(value) + (one.unit ?? "");
    });
    [...this.legend.children].forEach((item, i) => (item.lastChild.textContent = texts[i]));
    this.cursor.setAttribute("x1", toX(Math.min(at, last)));
    this.cursor.setAttribute("x2", toX(Math.min(at, last)));
    this.note.textContent = note;
    this.svg.setAttribute("aria-label", words.CHARTS.described(this.title, shown.map((one, i) => ({ name: one.name, text: texts[i] }))));
  }
}

/** The four charts. Returns the function that updates them. */
export function mountCharts(root) {
  const { CHARTS } = words;
  const charts = Object.fromEntries(["mistakes", "norm", "angle", "accuracy"].map((name) => [name, new Chart(CHARTS[name])]));
  root.append(...Object.values(charts).map((chart) => chart.root));
  return (view) => {
    const { secondCurves, run, certificate, state, last } = view;
    const { places, curves } = together(view.curves, secondCurves);
    const isPerceptron = run.settings.rule === "perceptron";
    const bounded = isPerceptron && certificate?.separable && run.settings.form === "label" && run.settings.eta > 0;
    const bound = bounded ? Math.floor(certificate.bound * (1 + 1e-12)) : null;
    const most = Math.max(1, ...curves.mistakes);
    const isNear = bound !== null && bound <= 6 * most;
    const rate2 = run.settings.eta ** 2;
    const ofSecond = (name, more = {}) => (secondCurves ? [{ name: CHARTS.other(words.RULE_NAMES[view.second.settings.rule]), style: "s-second", values: atPlaces(secondCurves, places, name), ...more }] : []);
    const shared = { key: `${places.length}`, places, last, at: state.step };
    const keyed = (name) => {
      const key = [view.curves, secondCurves, certificate, state.average];
      if (!charts[name].from?.every((one, i) => one === key[i])) charts[name].revision = (charts[name].revision ?? 0) + 1;
      charts[name].from = key;
      return { ...shared, key: charts[name].revision };
    };
    charts.mistakes.update({
      ...keyed("mistakes"),
      series: [
        { name: words.RULE_NAMES[run.settings.rule], style: "s-main", values: curves.mistakes },
        ...ofSecond("mistakes"),
        ...(isNear ? [{ name: CHARTS.bound, style: "s-bound", values: places.map(() => bound) }] : []),
      ],
      note: bound !== null && !isNear ? CHARTS.boundFar(bound) : certificate?.separable === false ? CHARTS.noBound : isPerceptron ? "" : CHARTS.onlyPerceptron,
    });
    const upper = bounded ? curves.mistakes.map((k) => rate2 * k * certificate.radius ** 2) : [];
    charts.norm.update({
      ...keyed("norm"),
      series: [
        { name: CHARTS.norm, style: "s-main", values: curves.norm },
        ...(bounded
          ? [
              { name: CHARTS.upper, style: "s-bound", values: upper, free: Math.max(...upper) > 8 * Math.max(...curves.norm) },
              { name: CHARTS.lower, style: "s-low", values: curves.mistakes.map((k) => rate2 * k * k * certificate.margin ** 2), free: true },
            ]
          : []),
      ],
    });
    charts.angle.update({
      ...keyed("angle"),
      series: curves.angle.length ? [{ name: words.RULE_NAMES[run.settings.rule], style: "s-main", values: curves.angle, unit: "°" }, ...ofSecond("angle", { unit: "°" })] : [],
      note: curves.angle.length || !certificate ? "" : certificate.separable === false ? CHARTS.noAngle : CHARTS.noBest,
    });
    const rate = (name, style, values) => (values.length && values[0] !== null ? [{ name, style, values, percent: true }] : []);
    charts.accuracy.update({
      ...keyed("accuracy"),
      top: 1.04,
      series: [
        ...rate(CHARTS.last, "s-main", curves.last),
        ...(state.average ? rate(CHARTS.average, "s-average", curves.average) : []),
        ...rate(CHARTS.heldLast, "s-held", curves.heldLast),
        ...(state.average ? rate(CHARTS.heldAverage, "s-held-average", curves.heldAverage) : []),
        ...ofSecond("last", { percent: true }),
      ],
    });
  };
}

/** The curves of the first run at the places of both runs. */
function together(curves, second) {
  if (!second) return { places: curves.places, curves };
  const places = [...new Set([...curves.places, ...second.places])].sort((a, b) => a - b);
  const names = Object.keys(curves).filter((name) => name !== "places");
  return { places, curves: Object.fromEntries(names.map((name) => [name, curves[name].length ? atPlaces(curves, places, name) : []])) };
}

/** The values of a run at these places; after its end, its last value. */
function atPlaces(curves, places, name) {
  const values = curves[name];
  let i = 0;
  return places.map((place) => {
    while (i + 1 < curves.places.length && curves.places[i + 1] <= place) i += 1;
    return values[i] ?? null;
  });
}
