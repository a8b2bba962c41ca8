// The connection to `markone play`: the file that it was started with, and runs of the real core.

async function ask(path, body) {
  const answer = await fetch(path, body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
}

export const hasCore = () => document.documentElement.dataset.server === "core";

/** What the file contains: points or texts, a sample if it is large. */
export const fileOf = (columns) => ask(`api/data${columns ? `?${new URLSearchParams(columns)}` : ""}`);

/** The steps of a run of the core, in the form of the page. */
export function traceOf(examples, settings) {
  const { names, bias, classes, rows } = examples;
  const width = names.length - (bias ? 1 : 0);
  return ask("api/trace", {
    names: names.slice(0, width),
    classes: classes.length,
    bias,
    settings,
    rows: rows.map((row) => ({ at: row.at.filter((i) => i < width), value: row.value.slice(0, row.at.filter((i) => i < width).length), y: row.y })),
  });
}

/** The weights after training on all rows of the file, and their accuracy. */
export const wholeOf = (columns, features, bias, settings) => ask("api/whole", { columns, features, bias, settings });
