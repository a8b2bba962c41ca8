// The page: it makes the store, mounts the panels, and draws at most once per frame.

import { fileOf, hasCore, traceOf, wholeOf } from "./core.js";
import { mountCharts } from "./draw/charts.js";
import { Plane } from "./draw/plane.js";
import { element } from "./draw/shapes.js";
import { isStraight } from "./learn/features.js";
import { mountArithmetic, mountCertificate } from "./panels/arithmetic.js";
import { mountControls } from "./panels/controls.js";
import { mountDialogs } from "./panels/dialogs.js";
import { mountGuide } from "./panels/guide.js";
import { mountLog } from "./panels/log.js";
import { mountMachine } from "./panels/machine.js";
import { mountTabs } from "./panels/tabs.js";
import { mountText } from "./panels/text.js";
import { createStore, derive, startState, turnOf } from "./state.js";
import { fromAddress } from "./url.js";
import * as words from "./words.js";

const byId = (id) => document.getElementById(id);
const FAST = 4;

let view = null;
let wanted = false;
const draw = () => {
  if (wanted) return;
  wanted = true;
  requestAnimationFrame(() => {
    wanted = false;
    render();
  });
};
const { state: initial, wrong } = fromAddress(location.hash.slice(1), startState());
const store = createStore(initial, draw);

/** Says a sentence to screen readers and, if asked, shows it. */
let hiding = null;
function say(sentence, shown = false) {
  byId("live").textContent = sentence;
  if (!shown) return;
  byId("notice").textContent = sentence;
  byId("notice").hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => (byId("notice").hidden = true), 8000);
}

// ---- panels

const plane = new Plane(byId("plane"), { onEdit: edit });
const secondPlane = new Plane(byId("plane-second"));
const guide = mountGuide(store);
const machine = mountMachine(store, say);
const showTab = mountTabs(store);
const updates = [mountControls(store, say), mountArithmetic(), mountCertificate(store), guide.update, mountCharts(byId("charts")), mountText(), mountLog(store)];
mountDialogs(store, say, () => view);

function edit(action) {
  const { points, classes, brush } = store.get();
  if (action.type === "add") {
    const point = { ...action.at, y: brush };
    store.dispatch({ type: "add", point });
    say(store.get().points.length === points.length ? words.TOO_MANY : words.ADDED(point, classes[brush]));
  } else if (!points[action.i]) return;
  else if (action.type === "move") {
    store.dispatch({ type: "move", i: action.i, ...action.at });
    if (action.said) say(words.MOVED(action.at));
  } else if (action.type === "relabel") {
    const y = action.next ? (points[action.i].y + 1) % classes.length : brush;
    store.dispatch({ type: "relabel", i: action.i, y });
    say(words.RELABELLED(classes[y]));
  } else if (action.type === "remove") {
    store.dispatch({ type: "remove", i: action.i });
    say(words.REMOVED(points.length - 1));
    if (action.focus !== undefined) requestAnimationFrame(() => plane.focusSpot(action.focus));
  }
}

// ---- drawing

let said = { number: 0, run: null, time: 0 };
function render() {
  const state = store.get();
  showTab({ state });
  if (state.tab === "machine") {
    machine.update(state);
    view ??= derive(state);
    return;
  }
  view = derive(state);
  if (state.step > view.last) {
    store.dispatch({ type: "go", step: view.last, last: view.last, playing: state.playing });
    return;
  }
  const { second } = view;
  byId("plane-second").hidden = !second;
  document.querySelector(".columns").classList.toggle("two", Boolean(second));
  for (const update of updates) update(view);
  if (state.tab === "points") {
    const name = (run, show) => `${words.RULE_NAMES[run.settings.rule]}${show === "average" ? ", averaged" : ""}`;
    plane.measure();
    plane.update({ view, moment: view.now, show: "last", caption: second ? name(view.run, "last") : "", whole: state.whole?.numbers });
    if (second) {
      secondPlane.measure();
      secondPlane.update({ view, moment: view.secondNow, show: state.second.show, caption: name(second, state.second.show) });
    }
  }
  tellStep(state);
  followCore(state);
}

function tellStep(state) {
  const { now, run } = view;
  const time = performance.now();
  const isNew = said.number !== now.number || (said.run !== run && said.run !== null);
  if (!isNew || (state.playing && state.speed > FAST && time - said.time < 1000 && now.number < view.last)) return;
  const turn = turnOf(run, now.before, now.after, state.tab === "points" && isStraight(state.features));
  if (said.number !== now.number) byId("live").textContent = words.stepInWords({ ...now, turn: state.tab === "text" && turn === "bends" ? "bends" : turn });
  said = { number: now.number, run, time };
}

let clock = null;
let due = 0;
function tick(time) {
  requestAnimationFrame(tick);
  const { playing, speed, step } = store.get();
  if (!playing || !view) {
    clock = null;
    return;
  }
  due += clock === null ? 1 : ((time - clock) / 1000) * speed;
  clock = time;
  const steps = Math.floor(due);
  if (steps === 0) return;
  due -= steps;
  const next = Math.min(view.last, step + steps);
  store.dispatch({ type: "go", step: next, last: view.last, playing: next < view.last });
}
requestAnimationFrame(tick);

// A key or a click must not meet a page that is a frame behind.
const catchUp = () => wanted && render();
for (const kind of ["keydown", "pointerdown", "click"]) document.addEventListener(kind, catchUp, true);

// ---- keys

const CLICKS = { p: "preset", r: "rule", a: "average", x: "proof", v: "paste", c: "code", u: "share", g: "mode-guided", f: "mode-free", d: "theme", m: "mistake", "?": "keys", ArrowRight: "step", ArrowLeft: "back", Home: "first", End: "last", " ": "play" };
const controlOf = (id, tab) => (id === "preset" && tab === "text" ? byId("texts") : id ? byId(id) : null);
document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const name = target.tagName;
  const typing = name === "TEXTAREA" || name === "SELECT" || (name === "INPUT" && target.type !== "checkbox");
  if (typing) return;
  const state = store.get();
  const control = controlOf(CLICKS[key] ?? CLICKS[key.toLowerCase()], state.tab);
  if (state.tab === "machine") {
    if (!machine.press(key)) {
      if (!["share", "theme", "keys"].includes(control?.id)) return;
      control.click();
    }
  } else if (key === "Enter" && state.guided && name !== "BUTTON" && name !== "SUMMARY") guide.forward();
  else if (key === " " && (name === "BUTTON" || name === "SUMMARY" || name === "INPUT")) return;
  else if ((key === "Home" || key === "End") && target.id === "log") return;
  else if (/^[1-8]$/.test(key)) {
    if (Number(key) <= state.classes.length) store.dispatch({ type: "brush", value: Number(key) - 1 });
  } else if (key.toLowerCase() === "n" && state.tab === "points") {
    const { x, y } = state.domain;
    const middle = ([low, high]) => Number(((low + high) / 2).toPrecision(3));
    edit({ type: "add", at: { x1: middle(x), x2: middle(y) } });
    requestAnimationFrame(() => requestAnimationFrame(() => plane.focusSpot(store.get().points.length - 1)));
  } else {
    if (!control || control.disabled || control.hidden) return;
    if (control.tagName === "SELECT") control.focus();
    else control.click();
  }
  event.preventDefault();
});

// ---- light and dark

const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
function themeChanged() {
  byId("theme").textContent = words.DARK[isDark() ? "dark" : "light"];
  for (const one of [plane, secondPlane, machine]) one.forgetColours();
  draw();
}
// The address after the # is the state, so this link must not change it.
document.querySelector(".skip").onclick = (event) => {
  event.preventDefault();
  byId(store.get().tab === "machine" ? "tab-machine" : "stage").focus();
};
byId("theme").onclick = () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  themeChanged();
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);

// ---- the core behind the page

let asked = null;
async function followCore(state) {
  if (!hasCore()) return;
  const { examples, run, second } = view;
  byId("engine").textContent = `${view.fromCore ? words.ENGINE.core : words.ENGINE.page}. ${state.whole ? words.WHOLE(state.whole) : ""}`;
  const runs = [run, second].filter((one) => one && !one.isNetwork && one.length > 0 && new Set(examples.rows.map((row) => row.y)).size === examples.classes.length);
  const key = [examples, ...runs.map((one) => one.settings)];
  if (asked && key.length === asked.length && key.every((one, i) => one === asked[i])) return;
  asked = key;
  try {
    const pairs = await Promise.all(runs.map(async (one) => [one.settings, await traceOf(examples, one.settings)]));
    if (asked !== key) return;
    store.dispatch({ type: "traced", traces: { examples, bySettings: new Map(pairs) } });
  } catch (error) {
    byId("engine").textContent = words.NO_CORE(error.message);
  }
  if (state.file?.kind === "points" && state.preset === "file" && state.file.rows > state.file.shown) {
    try {
      const { chosen } = state.file;
      const whole = await wholeOf(chosen, state.features, state.bias, run.settings);
      if (asked === key) store.dispatch({ type: "whole", value: whole });
    } catch (error) {
      store.dispatch({ type: "whole", value: null });
    }
  } else store.dispatch({ type: "whole", value: null });
}

let opening = 0;
async function openFile(columns) {
  opening += 1;
  const mine = opening;
  try {
    const file = await fileOf(columns);
    if (file.kind === "none" || mine !== opening) return; // meanwhile, other columns were chosen
    const numbered = file.kind === "text" ? null : { ...file, points: file.points.map(([x1, x2, y]) => ({ x1, x2, y })) };
    if (file.kind === "text") {
      store.dispatch({ type: "tab", value: "text" });
      store.dispatch({ type: "lines", classes: file.classes, lines: file.lines.map(([text, y]) => ({ text, y })) });
    } else store.dispatch({ type: "file", file: numbered });
    byId("notice").textContent = file.sentence;
    byId("notice").hidden = false;
    if (file.kind === "points") {
      byId("file-columns").hidden = file.choices.length < 2;
      for (const [id, chosen] of [["file-x", file.chosen.x], ["file-y", file.chosen.y]]) {
        byId(id).replaceChildren(...file.choices.map((name) => element("option", { value: name, textContent: words.label(name) })));
        byId(id).value = chosen;
        byId(id).onchange = () => openFile({ x: byId("file-x").value, y: byId("file-y").value });
      }
    }
  } catch (error) {
    say(words.NO_CORE(error.message), true);
  }
}

// ---- start

byId("not-loaded").remove();
byId("main").hidden = false;
byId("settings").open = !initial.guided;
themeChanged();
window.addEventListener("hashchange", () => {
  const { state, wrong: unread } = fromAddress(location.hash.slice(1), startState());
  store.dispatch({ type: "restore", state });
  if (unread.length) say(words.BAD_ADDRESS, true);
});
if (wrong.length) say(words.BAD_ADDRESS, true);
if (hasCore()) openFile();
window.markonePlay = { store, view: () => view, render };
draw();
