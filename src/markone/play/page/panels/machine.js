// The Mark I: show a figure or draw one, say which lamp is right, and watch the potentiometers turn.

import { Chart } from "../draw/charts.js";
import { Bank, Patchboard } from "../draw/machine.js";
import { Retina } from "../draw/retina.js";
import { element, swatch } from "../draw/shapes.js";
import { LESSONS, LIMITS, answerOf, partsOf } from "../learn/machine.js";
import * as words from "../words.js";

const { MARK1 } = words;
const byId = (id) => document.getElementById(id);
const LESSON = 100;
const PAUSE = 80; // milliseconds between the figures of a lesson
const FIRST_SCALE = 4;
const KEYS = { n: "machine-next", 1: "machine-teach-0", 2: "machine-teach-1", l: "machine-run", e: "machine-erase", w: "machine-reset" };
const NUMBERS = ["threshold", "seed", "shift", "noise"];
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Returns {update, press, forgetColours}: `press` handles a key and says whether it did. */
export function mountMachine(store, say) {
  const machineNow = () => store.get().machine;
  const act = (what) => store.dispatch({ type: "machine", ...what });
  const namesNow = () => LESSONS[machineNow().settings.lesson];
  let shown = null;
  let pointed = null;

  const retina = new Retina(
    byId("retina"),
    () => machineNow().cells,
    (cells, value) => {
      act({ do: "paint", cells, value });
      say(MARK1.painted(cells.at(-1), value, answer()));
    },
  );
  const board = new Patchboard(byId("wires"));
  const bank = new Bank(byId("bank"), {
    chosen: () => machineNow().unit,
    onChoose: (unit) => act({ do: "unit", unit }),
    onPoint(unit) {
      if (pointed === unit) return;
      pointed = unit;
      tellUnit();
    },
  });
  const chart = new Chart(MARK1.chart);
  byId("machine-chart").append(chart.root);
  byId("machine-history").textContent = MARK1.history.join(" ");

  // ---- settings

  byId("machine-lesson").append(...LESSONS.map((pair, i) => element("option", { value: i, textContent: MARK1.lesson(pair) })));
  byId("machine-lesson").onchange = ({ target }) => act({ do: "set", change: { lesson: Number(target.value) } });
  byId("machine-wiring").onchange = ({ target }) => act({ do: "set", change: { wiring: target.value } });
  for (const name of NUMBERS) {
    const input = byId(`machine-${name}`);
    [input.min, input.max] = LIMITS[name];
    input.onchange = () => {
      const fits = input.value !== "" && input.validity.valid;
      if (fits) act({ do: "set", change: { [name]: Number(input.value) } });
      else {
        input.value = machineNow().settings[name];
        say(MARK1.range(input.title, LIMITS[name]), true);
      }
    };
  }

  // ---- teaching

  const answer = () => MARK1.answer(answerOf(machineNow()), namesNow());
  const teach = (y) => {
    act({ do: "teach", y });
    say(MARK1.taught(machineNow(), namesNow()));
  };
  const finished = () => say(MARK1.finished(machineNow()));
  byId("machine-next").onclick = () => {
    act({ do: "next" });
    say(`${MARK1.seen(machineNow(), namesNow())} ${answer()}`);
  };
  for (const y of [0, 1]) byId(`machine-teach-${y}`).onclick = () => teach(y);
  byId("machine-erase").onclick = () => {
    act({ do: "erase" });
    say(MARK1.seen(machineNow(), namesNow()));
  };
  byId("machine-reset").onclick = () => {
    act({ do: "reset" });
    say(MARK1.isReset);
  };
  byId("machine-run").onclick = () => {
    if (machineNow().left > 0) {
      act({ do: "stop" });
      finished();
    } else if (still.matches) {
      act({ do: "lesson", count: LESSON, left: 0 });
      finished();
    } else {
      act({ do: "lesson", count: 1, left: LESSON - 1 });
      say(MARK1.started(LESSON));
      setTimeout(goOn, PAUSE);
    }
  };
  function goOn() {
    const left = machineNow()?.left ?? 0;
    if (left === 0) return;
    if (store.get().tab !== "machine") return act({ do: "stop" });
    act({ do: "lesson", count: 1, left: left - 1 });
    if (left > 1) setTimeout(goOn, PAUSE);
    else finished();
  }

  // ---- drawing

  function tellUnit() {
    const machine = machineNow();
    const unit = pointed ?? machine.unit;
    const { wires } = partsOf(machine.settings);
    byId("unit-text").textContent = unit === null ? MARK1.noUnit : MARK1.unit(unit, machine, wires, answerOf(machine).activity.at.includes(unit));
  }

  function drawSettings({ settings }) {
    byId("machine-lesson").value = settings.lesson;
    byId("machine-wiring").value = settings.wiring;
    for (const name of NUMBERS) byId(`machine-${name}`).value = settings[name];
    byId("machine-threshold").disabled = settings.wiring === "straight";
    namesNow().forEach((name, k) => {
      byId(`machine-teach-${k}`).replaceChildren(swatch(k), name);
      byId(`lamp-${k}`).replaceChildren(element("i"), element("span", {}, swatch(k), name));
    });
    pointed = null;
  }

  function drawChart({ curve, taught }) {
    // At most about 200 places, and always the last.
    const every = Math.ceil(curve.length / 200);
    const thin = curve.filter((_, i) => i % every === 0 || i === curve.length - 1);
    const series = Object.entries(MARK1.kinds).map(([kind, [name, style]]) => ({ name, style, percent: true, values: thin.map((one) => one[kind]) }));
    chart.update({ key: curve, places: thin.map((one) => one.taught), last: Math.max(1, taught), series, at: taught, top: 1.04 });
    byId("machine-result").textContent = MARK1.result(curve);
  }

  function update(state) {
    const { machine } = state;
    if (shown === machine) return;
    const before = shown;
    shown = machine;
    if (before?.settings !== machine.settings) drawSettings(machine);
    if (before?.curve !== machine.curve) drawChart(machine);
    const { wires } = partsOf(machine.settings);
    const { activity, score, said } = answerOf(machine);
    let scale = FIRST_SCALE;
    for (const weight of machine.w) while (Math.abs(weight) > scale) scale *= 2;
    retina.update(machine.cells, machine.unit === null ? null : wires.units[machine.unit]);
    board.update({ machine, wires, activity });
    bank.update({ machine, activity, scale });
    const names = namesNow();
    [0, 1].forEach((k) => byId(`lamp-${k}`).classList.toggle("lit", said === k));
    byId("score").textContent = `w·a = ${words.number(score)}`;
    byId("retina-text").textContent = MARK1.seen(machine, names);
    byId("wires-text").textContent = MARK1.wires(machine.settings, wires, activity.at.length);
    byId("scale").textContent = MARK1.scale(scale);
    byId("machine-verdict").textContent = machine.last ? MARK1.taught(machine, names) : MARK1.answer({ score, said, activity }, names);
    byId("machine-verdict").className = machine.last ? `verdict ${machine.last.wrong ? "wrong" : "right"}` : "verdict";
    byId("machine-counts").textContent = MARK1.counts(machine);
    byId("machine-run").textContent = machine.left > 0 ? MARK1.stop : MARK1.run(LESSON);
    tellUnit();
    const slider = byId("bank");
    slider.ariaValueMax = wires.units.length;
    slider.ariaValueNow = (machine.unit ?? 0) + 1;
    slider.ariaValueText = machine.unit === null ? MARK1.noUnit : byId("unit-text").textContent;
  }

  return {
    update,
    press(key) {
      const id = KEYS[key.toLowerCase()];
      if (key.toLowerCase() === "p") byId("machine-lesson").focus();
      else if (id) byId(id).click();
      else return false;
      return true;
    },
    forgetColours() {
      for (const one of [board, bank]) one.forgetColours();
    },
  };
}
