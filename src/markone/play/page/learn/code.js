// The Python code that does the same as the page.

import { plainLabel } from "./csv.js";

const python = (value) => {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "string") return /^-?\d{1,15}$/.test(plainLabel(value)) ? plainLabel(value) : JSON.stringify(value);
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : String(value).replace("e+", "e");
};
const text = (value) => JSON.stringify(value);

/** The settings as arguments: those of the rule, and none that it does not use. */
function argumentsOf({ rule, passes, order, seed, tie, eta, C, form, update, hidden, activation }, bias) {
  const shared = { rule: text(rule), epochs: passes, order: text(order), seed };
  if (rule === "mlp") return { ...shared, eta, hidden, activation: text(activation), optimizer: '"sgd"', batch: 1 };
  const own = rule === "mira" ? { C } : { eta };
  if ((rule === "perceptron" || rule === "mira") && form !== "label") own.form = text(form);
  if (rule === "mira" && update !== "margin") own.update = text(update);
  if (rule === "logistic") Object.assign(own, { solver: '"online"', schedule: '"constant"' });
  return { ...shared, ...own, tie: text(tie), bias };
}

const call = (given) => Object.entries(given).map(([name, value]) => `${name}=${typeof value === "string" ? value : python(value)}`).join(", ");

function ending(settings, bias, averaged, what, features) {
  const given = argumentsOf(settings, bias);
  const network = settings.rule === "mlp";
  const trained = { ...given, holdout: 0, ...(network ? {} : { average: averaged }) };
  return `features = ${features}
${network ? "\n# Markone's network starts from other random weights than the page, so its numbers differ." : ""}
# every step, as in the page
run = markone.trace(${what}, features=features, steps=None, ${call(given)})
print(run)

# the model
model = markone.train(${what.replace(", ", ", target=")}, features=features, ${call(trained)})
model.save("playground.model")
${network ? "" : "print(model.explain())\n"}`;
}

export function codeOfPoints({ examples, settings, averaged }) {
  const names = examples.bias ? examples.names.slice(0, -1) : examples.names;
  const columns = names.map((name, i) => `    ${text(name)}: ${python(examples.rows.map((row) => row.value[i]))},`);
  const labels = python(examples.rows.map((row) => examples.classes[row.y]));
  return `import markone

points = {
${columns.join("\n")}
    "label": ${labels},
}
${ending(settings, examples.bias, averaged, 'points, "label"', '{"unit": False, "numeric": {"scale": "none"}}')}`;
}

export function codeOfTexts({ examples, lines, settings, averaged }) {
  const spec = '{"unit": False, "text": {"words": [1, 1], "weight": "none", "min_count": 1}}';
  return `import markone

texts = [
${lines.map((line) => `    ${text(line.text)},`).join("\n")}
]
labels = ${python(lines.map((line) => examples.classes[line.y]))}
${ending(settings, examples.bias, averaged, "texts, labels", spec)}`;
}
