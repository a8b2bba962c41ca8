// The controls: data, rule, settings, patchboard, tools and the buttons that move through the steps.

import { element, swatch } from "../draw/shapes.js";
import { FEATURES } from "../learn/features.js";
import { PRESETS, TEXTS } from "../learn/presets.js";
import { inRange } from "../url.js";
import * as words from "../words.js";

const byId = (id) => document.getElementById(id);
const option = (value, text) => element("option", { value, textContent: text });
const SPEEDS = [1, 2, 5, 10, 30, 60, 300];
const TOOLS = { move: "Add, move", paint: "Paint", erase: "Erase" };
const NUMBERS = ["eta", "C", "seed", "passes", "hidden"];
const LISTS = ["tie", "form", "update", "order", "activation"];
const USUAL_RATES = { mlp: 0.2, logistic: 0.5, hinge: 0.5, perceptron: 1 };

/** The number of the step after which the next mistake has been made. */
function nextMistake(view) {
  const next = view.run.steps.findIndex((step, i) => i >= view.state.step && step.wrong);
  return next < 0 ? view.last : next + 1;
}

export function mountControls(store, say) {
  let view = null;
  const go = (step) => store.dispatch({ type: "go", step, last: view.last });

  // ---- lists

  byId("preset").append(...PRESETS.map(({ id }) => option(id, words.PRESET_NAMES[id])));
  byId("texts").append(...TEXTS.map(({ id }) => option(id, words.PRESET_NAMES[id])));
  byId("rule").append(...Object.entries(words.RULE_NAMES).map(([id, name]) => option(id, name)));
  byId("second").append(option("", "nothing"), option("average", "its averaged w"), ...Object.entries(words.RULE_NAMES).map(([id, name]) => option(id, name)));
  byId("speed").append(...SPEEDS.map((speed) => option(speed, `${speed} / s`)));
  byId("preset").onchange = ({ target }) => PRESETS.some(({ id }) => id === target.value) && store.dispatch({ type: "preset", id: target.value });
  byId("texts").onchange = ({ target }) => TEXTS.some(({ id }) => id === target.value) && store.dispatch({ type: "texts", id: target.value });
  byId("rule").onchange = ({ target }) => {
    const eta = USUAL_RATES[target.value];
    const passes = target.value === "mlp" ? { passes: Math.max(store.get().learner.passes, 400) } : {};
    store.dispatch({ type: "learner", change: { rule: target.value, ...(eta ? { eta } : {}), ...passes } });
  };
  byId("second").onchange = ({ target }) => {
    const { rule } = store.get().learner;
    const second = target.value === "" ? null : target.value === "average" ? { rule, show: "average" } : { rule: target.value, show: "last" };
    store.dispatch({ type: "second", second });
  };
  byId("average").onchange = ({ target }) => store.dispatch({ type: "average", value: target.checked });
  byId("speed").onchange = ({ target }) => store.dispatch({ type: "speed", value: Number(target.value) });

  // ---- settings

  for (const name of NUMBERS) {
    byId(name).onchange = ({ target }) => {
      const value = inRange(name, target.value);
      if (value === null) {
        say(`${target.title}.`);
        target.value = store.get().learner[name];
      } else store.dispatch({ type: "learner", change: { [name]: value } });
    };
  }
  for (const name of LISTS) byId(name).onchange = ({ target }) => store.dispatch({ type: "learner", change: { [name]: target.value } });
  for (const name of ["noise", "holdout"]) byId(name).oninput = ({ target }) => store.dispatch({ type: name, value: Number(target.value) });

  // ---- patchboard, tools

  const plugs = [...FEATURES, { id: "bias", name: "bias (1)" }].map(({ id, name }) =>
    element("button", {
      type: "button",
      textContent: name,
      title: `Plug the feature ${name} in or out`,
      onclick: () => {
        const { features, bias } = store.get();
        if (id === "bias") store.dispatch({ type: "features", bias: !bias });
        else {
          const chosen = FEATURES.map((one) => one.id).filter((one) => (one === id ? !features.includes(id) : features.includes(one)));
          store.dispatch({ type: "features", features: chosen });
        }
      },
    }),
  );
  byId("patchboard").append(element("span", { className: "quiet", textContent: "Features" }), ...plugs);
  const tools = Object.entries(TOOLS).map(([id, name]) =>
    element("button", { type: "button", textContent: name, title: `${name} points with the mouse or a finger`, onclick: () => store.dispatch({ type: "tool", value: id }) }),
  );
  byId("tools").append(...tools);
  let classes = null;
  const drawBrush = (state) => {
    classes = state.classes;
    byId("brush").replaceChildren(
      ...classes.map((name, k) => element("button", { type: "button", title: `New points are of this class (key ${k + 1})`, onclick: () => store.dispatch({ type: "brush", value: k }) }, swatch(k), words.label(name))),
    );
  };
  byId("clear").onclick = () => store.dispatch({ type: "points", points: [], classes: store.get().classes, columns: store.get().columns });

  // ---- steps

  byId("first").onclick = () => go(0);
  byId("back").onclick = () => go(store.get().step - 1);
  byId("step").onclick = () => go(store.get().step + 1);
  byId("last").onclick = () => go(view.last);
  byId("mistake").onclick = () => go(nextMistake(view));
  byId("play").onclick = () => {
    const { playing, step } = store.get();
    if (!playing && step >= view.last) go(0);
    store.dispatch({ type: "playing", value: !playing });
  };
  byId("scrub").oninput = ({ target }) => go(Number(target.value));
  byId("mode-guided").onclick = () => store.dispatch({ type: "guided", value: true });
  byId("mode-free").onclick = () => store.dispatch({ type: "guided", value: false });

  const press = (button, on) => button.setAttribute("aria-pressed", on);
  const choose = (id, value, name) => {
    const list = byId(id);
    if (![...list.options].some((one) => one.value === value)) list.append(option(value, name));
    list.value = value;
  };
  let settled = null;
  return (next) => {
    view = next;
    const { state, last } = next;
    const scrub = byId("scrub");
    scrub.max = last;
    scrub.value = state.step;
    scrub.setAttribute("aria-valuetext", `${state.step} of ${last}`);
    byId("scrub-text").textContent = `${words.whole(Math.min(state.step, last))} / ${words.whole(last)}`;
    byId("first").disabled = byId("back").disabled = state.step === 0;
    byId("last").disabled = byId("step").disabled = byId("mistake").disabled = state.step >= last;
    byId("play").disabled = last === 0;
    byId("play").textContent = words.PLAY[state.playing];
    const { step, playing, answer, ...rest } = state;
    const key = JSON.stringify([rest.tab, rest.preset, rest.texts.preset, rest.learner, rest.second, rest.features, rest.bias, rest.noise, rest.holdout, rest.average, rest.speed, rest.guided, rest.tool, rest.brush, rest.classes]);
    if (settled === key) return;
    settled = key;
    choose("preset", state.preset, words.PRESET_NAMES[state.preset]);
    choose("texts", state.texts.preset, words.PRESET_NAMES.own.replace("points", "texts"));
    byId("rule").value = next.run.settings.rule;
    byId("rule").querySelector('[value="mlp"]').disabled = state.tab === "text";
    byId("second").value = state.second ? (state.second.show === "average" ? "average" : state.second.rule) : "";
    byId("average").checked = state.average;
    byId("average").disabled = next.run.isNetwork;
    byId("speed").value = String(state.speed);
    for (const name of [...NUMBERS, ...LISTS]) if (document.activeElement !== byId(name) || byId(name).value === "") byId(name).value = state.learner[name];
    for (const name of ["noise", "holdout"]) {
      byId(name).value = state[name];
      byId(`${name}-text`).textContent = words.share(state[name]);
    }
    for (const one of document.querySelectorAll("[data-rules]")) one.hidden = !one.dataset.rules.split(" ").includes(next.run.settings.rule);
    plugs.forEach((plug, i) => press(plug, i < FEATURES.length ? state.features.includes(FEATURES[i].id) : state.bias));
    tools.forEach((tool, i) => press(tool, Object.keys(TOOLS)[i] === state.tool));
    if (classes !== state.classes) drawBrush(state);
    [...byId("brush").children].forEach((button, k) => press(button, k === state.brush));
    press(byId("mode-guided"), state.guided);
    press(byId("mode-free"), !state.guided);
    document.body.classList.toggle("guided", state.guided);
    byId("settings-note").textContent = state.learner.eta === 0 && next.run.settings.rule !== "mira" ? words.RATE_WORDS.zero : next.run.settings.rule === "perceptron" && state.learner.eta !== 1 ? words.RATE_WORDS.scale : "";
  };
}
