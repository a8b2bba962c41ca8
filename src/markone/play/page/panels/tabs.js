// The tabs. An element with data-tabs="points text" is shown in these tabs only; a new tab is a line in TABS and such an
// element with the id `tab-NAME`.

import { element } from "../draw/shapes.js";

export const TABS = [
  { id: "points", name: "Points" },
  { id: "text", name: "Text" },
  { id: "machine", name: "Mark I" },
];

export function mountTabs(store) {
  const root = document.getElementById("tabs");
  const buttons = TABS.map(({ id, name }) =>
    element("button", { type: "button", id: `tabs-${id}`, textContent: name, onclick: () => store.dispatch({ type: "tab", value: id }) }),
  );
  buttons.forEach((button, i) => {
    button.setAttribute("role", "tab");
    button.setAttribute("aria-controls", `tab-${TABS[i].id}`);
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (i + step + TABS.length) % TABS.length;
      store.dispatch({ type: "tab", value: TABS[next].id });
      buttons[next].focus();
      event.preventDefault();
      event.stopPropagation();
    });
  });
  root.append(...buttons);
  let shown = null;
  return ({ state }) => {
    if (shown === state.tab) return;
    shown = state.tab;
    buttons.forEach((button, i) => {
      const chosen = TABS[i].id === state.tab;
      button.setAttribute("aria-selected", chosen);
      button.tabIndex = chosen ? 0 : -1;
    });
    for (const one of document.querySelectorAll("[data-tabs]")) one.hidden = !one.dataset.tabs.split(" ").includes(state.tab);
  };
}
